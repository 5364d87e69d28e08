/* rql: reads the command line, sets up what belongs to the process as a whole, and starts the shell. */
#include "repl/session/session.h"
#include "repl/shell.h"

#include "base/heap.h"
#include "cl/cl.h"
#include "cl/compile/compile.h"
#include "engine/backend/multi_device.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Signal handlers reach these and nothing else does but through struct platform. Other threads look at `cancel` too, so
 * it has to be atomic, which handlers may use where it takes no lock. */
static struct mappings *mappings;
static atomic_int cancel;
static atomic_int leave;
static atomic_int interrupted_at; /* milliseconds, of the Ctrl-C that set cancel */
static int signal_pipe[2];

/* What OpenCL's backends and their threads share; their threads may still be at work when all else has ended. */
static struct opencl_process opencl_process;

/* A query that has not stopped this long after Ctrl-C is stuck, and the next Ctrl-C ends rql. Building a program for a
 * device cannot be broken off and may take seconds. Before that, a second Ctrl-C that no held key made is answered. */
enum { STUCK_MS = 5000, IMPATIENT_MS = 300 };

static int milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)((now.tv_sec % 1000000) * 1000 + now.tv_nsec / 1000000);
}

static void pass_on(int number)
{
    unsigned char byte = (unsigned char)number;
    ssize_t wrote = write(signal_pipe[1], &byte, 1); /* a full pipe has woken the reader already */
    (void)wrote;
}

static void on_interrupt(void)
{
    int now = milliseconds();
    if (!cancel) {
        interrupted_at = now;
    } else if (now - interrupted_at > STUCK_MS) {
        _exit(EXIT_INTERRUPTED);
    } else if (now - interrupted_at > IMPATIENT_MS) {
        static const char answer[] = "\nstopping; if it takes long, Ctrl-C ends rql\n";
        ssize_t wrote = write(STDERR_FILENO, answer, sizeof answer - 1);
        (void)wrote;
    }
}

static void on_signal(int number)
{
    int saved = errno;
    if (number == SIGINT)
        on_interrupt();
    if (number == SIGTERM || number == SIGHUP)
        leave = number;
    if (number != SIGCONT)
        cancel = 1;
    pass_on(number);
    errno = saved;
}

/* A page of a mapped file is gone: zeroes take its place and the query finds out (mapped_file.h). */
static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
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
    (void)sigaction(SIGINT, &action, NULL); /* blocked reads and writes return, so that they can be given up */
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGCONT, &action, NULL);
    action.sa_flags = (int)SA_RESETHAND; /* the second one ends rql whatever it does */
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGBUS, &action, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit on a file's size then fails, as on a full disk */
}

/* Were standard output closed, the next file opened would take its number, and results would be written into it. What
 * is put there instead cannot be used the way the stream is, so using it is an error as before. */
static void occupy_standard_streams(void)
{
    static const int unusable[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", unusable[fd]) != fd)
            _exit(EXIT_USAGE);
    }
}

static enum exit_status tell(const struct strbuf *text)
{
    struct printer out = {.fd = STDOUT_FILENO};
    strbuf_add(&out.text, text->text, text->length);
    bool told = printer_flush(&out);
    printer_free(&out);
    if (!told) {
        struct strbuf problem = {0};
        strbuf_printf(&problem, "rql: cannot write to standard output: %s\n", strerror(out.error));
        write_stderr(&problem);
        strbuf_free(&problem);
    }
    return told ? EXIT_FINE : EXIT_QUERY;
}

/* All devices as one; without any, what an automatic choice does without any. */
static struct backend *open_all(void)
{
    size_t numbers[MOST_MEMBERS], count = cl_numbers(numbers, MOST_MEMBERS, &opencl_process);
    struct backend *members[MOST_MEMBERS];
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

static enum exit_status run(const struct options *options)
{
    mappings = mappings_new();
    install_handlers();
    opencl_process_open(&opencl_process, "/proc/self/exe");
    struct platform platform = {.mappings = mappings,
                                .cancel = &cancel,
                                .leave = &leave,
                                .signals = signal_pipe[0],
                                .open_device = open_device,
                                .describe_devices = describe_devices};
    enum exit_status outcome = shell_main(options, &platform);
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
    heap_retain_freed();
    /* Only what characters are: numbers look the same everywhere. */
    (void)setlocale(LC_CTYPE, "");
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return EXIT_USAGE;
    struct options options;
    struct strbuf message = {0};
    enum exit_status outcome = EXIT_USAGE;
    switch (options_parse(&options, argc, argv, &message)) {
    case OPTIONS_RUN:
        outcome = run(&options);
        break;
    case OPTIONS_PRINT:
        outcome = tell(&message);
        break;
    case OPTIONS_BAD:
        write_stderr(&message);
        break;
    }
    strbuf_free(&message);
    options_free(&options);
    /* Ends as the signal asked, for whoever waits for rql: a shell's loop over queries stops only so. */
    int asked = leave ? leave : outcome == EXIT_INTERRUPTED ? SIGINT : 0;
    if (asked) {
        (void)signal(asked, SIG_DFL);
        (void)raise(asked);
    }
    if (opencl_process.starting > 0)
        _exit((int)outcome); /* everything of ours has been written and closed */
    return (int)outcome;
}
