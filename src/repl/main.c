/* rql: parses the command line, sets up process-wide state and starts the shell. */
#include "repl/sandbox.h"
#include "repl/session/session.h"
#include "repl/shell.h"

#include "base/heap.h"
#include "base/secret.h"
#include "cl/cl.h"
#include "cl/compile/compile.h"
#include "engine/backend/multi_device.h"
#include "sql/table_reader.h"
#include "sql/wire/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* For signal handlers; everything else goes through struct platform. Atomic because other threads read `cancel`. */
static struct mappings *mappings;
static atomic_int cancel;
static atomic_int leave;
static atomic_int interrupted_at; /* ms, of the Ctrl-C that set cancel */
static int signal_pipe[2];

/* Shared by OpenCL backends and their threads, which may outlive everything else. */
static struct opencl_process opencl_process;

/* Building a program cannot be cancelled and may take seconds. If the query is still running STUCK_MS after Ctrl-C, the
 * next Ctrl-C ends rql; before that, a repeated Ctrl-C prints a message, unless within REPEAT_MS (a held key). */
enum { STUCK_MS = 5000, REPEAT_MS = 300 };

static int milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)((now.tv_sec % 1000000) * 1000 + now.tv_nsec / 1000000);
}

static void forward_signal(int number)
{
    unsigned char byte = (unsigned char)number;
    ssize_t wrote = write(signal_pipe[1], &byte, 1); /* if the pipe is full, the reader is awake */
    (void)wrote;
}

static void on_interrupt(void)
{
    const int now = milliseconds();
    if (!cancel) {
        interrupted_at = now;
    } else if (now - interrupted_at > STUCK_MS) {
        _exit(EXIT_INTERRUPTED);
    } else if (now - interrupted_at > REPEAT_MS) {
        static const char answer[] = "\nstopping; if this takes too long, Ctrl-C ends rql\n";
        const ssize_t wrote = write(STDERR_FILENO, answer, sizeof answer - 1);
        (void)wrote;
    }
}

static void on_signal(int number)
{
    const int saved = errno;
    if (number == SIGINT)
        on_interrupt();
    if (number == SIGTERM || number == SIGHUP)
        leave = number;
    if (number != SIGCONT && number != SIGWINCH)
        cancel = 1;
    forward_signal(number);
    errno = saved;
}

/* A page of a mapped file is gone: replaces it by zeroes; the query detects it (mapped_file.h). */
static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int saved = errno;
    if (info->si_code <= 0 || !mappings_repair(mappings, info->si_addr)) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    errno = saved;
}

static void install_handlers(void)
{
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, NULL); /* no SA_RESTART: blocked reads and writes must return */
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGCONT, &action, NULL);
    (void)sigaction(SIGWINCH, &action, NULL);
    action.sa_flags = (int)SA_RESETHAND; /* the second one ends rql */
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGBUS, &action, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit then fails like a full disk */
}

/* A folder may have thousands of files, each of which stays open while it is mapped. */
static void raise_file_limit(void)
{
    enum { FILES = 20000 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES)
        return;
    limit.rlim_cur = limit.rlim_max < FILES ? limit.rlim_max : FILES;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* If standard output is closed, the next file opened would take its descriptor and receive the results. Occupies closed
 * descriptors with /dev/null, opened in the wrong mode so that using it stays an error. */
static void occupy_standard_streams(void)
{
    static const int unusable[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", unusable[fd]) != fd)
            _exit(EXIT_USAGE);
    }
}

static enum exit_status print_message(const struct strbuf *text)
{
    struct printer out = {.fd = STDOUT_FILENO};
    strbuf_add(&out.text, text->text, text->length);
    const bool written = printer_flush(&out);
    printer_free(&out);
    if (!written) {
        struct strbuf problem = {0};
        strbuf_printf(&problem, "rql: cannot write to standard output: %s\n", strerror(out.error));
        write_stderr(&problem);
        strbuf_free(&problem);
    }
    return written ? EXIT_FINE : EXIT_QUERY;
}

/* All devices as one backend; without devices the same as `auto`. */
static struct backend *open_all(void)
{
    size_t numbers[MOST_CHILDREN], count = cl_numbers(numbers, MOST_CHILDREN, &opencl_process);
    struct backend *members[MOST_CHILDREN];
    for (size_t k = 0; k < count; k++) {
        char choice[24];
        (void)snprintf(choice, sizeof choice, "%zu", numbers[k]);
        members[k] = cl_open(choice, &opencl_process);
    }
    return count > 0 ? multi_device_open(members, count, 0) : cl_open("auto", &opencl_process);
}

static struct backend *open_device(const char *choice)
{
    return strcmp(choice, "all") == 0 ? open_all() : cl_open(choice, &opencl_process);
}

static void describe_devices(struct strbuf *out)
{
    cl_describe(out, &opencl_process);
}

/* A script may read the files that the command line names. */
static bool enter_sandbox(const struct options *options)
{
    struct strbuf problem = {0};
    (void)setenv("RQL_PAGER", "", 1);
    const bool entered =
        sandbox_enter(options->script, (const char *const *)options->files, options->file_count, &problem);
    if (!entered)
        write_stderr(&problem);
    strbuf_free(&problem);
    return entered;
}

static enum exit_status run(const struct options *options)
{
    if (options->safe && !enter_sandbox(options))
        return EXIT_USAGE;
    mappings = mappings_new();
    install_handlers();
    opencl_process_open(&opencl_process, "/proc/self/exe");
    struct servers *servers = servers_new();
    const struct table_source tables = table_source_of(servers);
    struct platform platform = {.mappings = mappings,
                                .cancel = &cancel,
                                .leave = &leave,
                                .signals = signal_pipe[0],
                                .open_device = open_device,
                                .tables = options->safe ? NULL : &tables,
                                .expects_gpu = cl_expects_gpu(),
                                .describe_devices = describe_devices};
    const enum exit_status outcome = shell_main(options, &platform);
    servers_free(servers);
    opencl_process_close(&opencl_process);
    mappings_free(mappings);
    mappings = NULL;
    return outcome;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], compile_role) == 0)
        return compile_serve(argc, argv);
    occupy_standard_streams();
    raise_file_limit();
    heap_retain_freed();
    heap_keep_reserve(&cancel);
    /* Character classes only: number formats do not depend on the locale. */
    (void)setlocale(LC_CTYPE, "");
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
        fprintf(stderr, "rql: cannot start: no pipe for signals: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    struct options options;
    struct strbuf message = {0};
    enum exit_status outcome = EXIT_USAGE;
    switch (options_parse(&options, argc, argv, &message)) {
    case OPTIONS_RUN:
        outcome = run(&options);
        break;
    case OPTIONS_PRINT:
        outcome = print_message(&message);
        break;
    case OPTIONS_BAD:
        secrets_mask(message.text, message.length, true);
        write_stderr(&message);
        break;
    }
    strbuf_free(&message);
    options_free(&options);
    /* Die by the signal, so that the parent sees it: a shell loop over queries stops only then. */
    const int asked = leave ? leave : outcome == EXIT_INTERRUPTED ? SIGINT : 0;
    if (asked) {
        (void)signal(asked, SIG_DFL);
        (void)raise(asked);
    }
    if (opencl_process.starting > 0)
        _exit((int)outcome); /* OpenCL is still starting on another thread; all files are closed */
    return (int)outcome;
}
