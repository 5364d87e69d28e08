#include "engine/storage/program_input.h"

#include "base/path.h"
#include "base/strbuf.h"
#include "engine/storage/growing_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP = 1 << 20,   /* bytes per read, and the requested pipe capacity */
    WAIT_MS = 50,     /* between looks at the cancellation */
    GRACE = 20,       /* of these until a program that was asked to end is killed */
    LAST_BYTES = 4096 /* of what it says */
};

struct program {
    const char *path; /* as shown in messages */
    pid_t process;
    int output, errors;           /* read ends; -1: closed */
    struct growing_buffer buffer; /* what it has printed */
    char said[LAST_BYTES];        /* the end of what it has written to its standard error */
    size_t said_length;
};

bool path_is_program(const char *path)
{
    return path[0] == '|';
}

static void close_end(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* Starts the shell in a session of its own: signals of the terminal do not reach it, and it cannot read from it. */
static int spawn(struct program *program, const char *command, int output, int errors)
{
    static const int reset[] = {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU};
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        sigaddset(&defaults, reset[i]);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = posix_spawn(&program->process, "/bin/sh", &files, &attributes, arguments, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

static enum status start(struct program *program, const char *command, struct span span, struct diags *diags)
{
    int output[2] = {-1, -1}, errors[2] = {-1, -1};
    int error = pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        (void)fcntl(output[0], F_SETPIPE_SZ, STEP); /* fewer switches between writer and reader; optional */
        (void)fcntl(output[0], F_SETFL, O_NONBLOCK);
        (void)fcntl(errors[0], F_SETFL, O_NONBLOCK);
        error = spawn(program, command, output[1], errors[1]);
    }
    close_end(&output[1]);
    close_end(&errors[1]);
    program->output = output[0];
    program->errors = errors[0];
    return error == 0 ? STATUS_OK : diag_error(diags, span, "cannot run `%s`: %s", program->path, strerror(error));
}

/* Takes what the program has said, of which the end is kept. */
static void read_errors(struct program *program)
{
    char piece[LAST_BYTES];
    ssize_t got;
    while (program->errors >= 0 && (got = read(program->errors, piece, sizeof piece)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        const size_t length = (size_t)got, room = sizeof program->said - length;
        const size_t kept = program->said_length < room ? program->said_length : room;
        memmove(program->said, program->said + program->said_length - kept, kept);
        memcpy(program->said + kept, piece, length);
        program->said_length = kept + length;
    }
    close_end(&program->errors);
}

static enum status read_output(struct program *program, struct span span, struct diags *diags)
{
    if (!growing_buffer_reserve(&program->buffer, STEP))
        return diag_no_memory(diags, span, "not enough memory for what `%s` prints", program->path);
    const ssize_t got = read(program->output, program->buffer.data + program->buffer.used, STEP);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return diag_error(diags, span, "cannot read from `%s`: %s", program->path, strerror(errno));
    program->buffer.used += got > 0 ? (size_t)got : 0;
    if (got == 0)
        close_end(&program->output);
    return STATUS_OK;
}

/* Reads until the output is closed. */
static enum status read_all(struct program *program, const struct workers *workers, struct span span,
                            struct diags *diags)
{
    enum status status = STATUS_OK;
    while (program->output >= 0 && status == STATUS_OK) {
        struct pollfd ready[] = {{.fd = program->output, .events = POLLIN}, {.fd = program->errors, .events = POLLIN}};
        progress_report(workers->progress, &workers->whole);
        if (workers_cancelled(workers))
            return STATUS_CANCELLED;
        if (poll(ready, 2, WAIT_MS) <= 0)
            continue;
        if (ready[1].revents)
            read_errors(program);
        if (ready[0].revents)
            status = read_output(program, span, diags);
    }
    return status;
}

static void pause_ms(int ms)
{
    const struct timespec time = {.tv_nsec = (long)ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Ends the program and what it has started. */
static void end(struct program *program)
{
    int how;
    (void)kill(-program->process, SIGTERM);
    for (int i = 0; i < GRACE && waitpid(program->process, &how, WNOHANG) == 0; i++)
        pause_ms(WAIT_MS);
    (void)kill(-program->process, SIGKILL);
    while (waitpid(program->process, &how, 0) < 0 && errno == EINTR) {
    }
}

/* Waits for the end of the program, which may come after that of its output. */
static enum status await(struct program *program, const struct workers *workers, int *how)
{
    for (int ms = 1;; ms = ms < WAIT_MS ? 2 * ms : ms) {
        read_errors(program);
        const pid_t ended = waitpid(program->process, how, WNOHANG);
        if (ended == program->process)
            break;
        if (ended < 0 && errno != EINTR) {
            *how = 0; /* another waits for all children */
            break;
        }
        if (workers_cancelled(workers))
            return STATUS_CANCELLED;
        pause_ms(ms);
    }
    read_errors(program);
    return STATUS_OK;
}

/* The last line of what the program has said, or "". */
static const char *last_line(const struct program *program, struct arena *arena)
{
    size_t last = program->said_length, first;
    while (last > 0 && strchr(" \t\r\n", program->said[last - 1]))
        last--;
    for (first = last; first > 0 && !strchr("\r\n", program->said[first - 1]); first--) {
    }
    struct strbuf text = {0};
    strbuf_add_visible(&text, program->said + first, last - first);
    return path_display(strbuf_take(&text, arena), arena);
}

static enum status judge(const struct program *program, int how, struct span span, struct diags *diags)
{
    const char *line = last_line(program, diags->arena), *colon = *line ? ": " : "";
    if (WIFSIGNALED(how))
        return diag_error(diags, span, "`%s` was ended by signal %d (%s)%s%s", program->path, WTERMSIG(how),
                          strsignal(WTERMSIG(how)), colon, line);
    if (WIFEXITED(how) && WEXITSTATUS(how) != 0)
        return diag_error(diags, span, "`%s` failed with status %d%s%s", program->path, WEXITSTATUS(how), colon, line);
    if (*line)
        diag_note(diags, (struct span){0}, "`%s`: %s", program->path, line);
    return STATUS_OK;
}

enum status program_read(const char *path, const struct workers *workers, struct span span, struct mapping **mapping,
                         struct diags *diags)
{
    struct program program = {
        .path = path_display(path, diags->arena), .output = -1, .errors = -1, .buffer = {.pool = workers->pool}};
    const char *command = path + 1 + strspn(path + 1, " \t");
    int how = 0;
    if (!*command)
        return diag_error_hint(diags, span, "as in `load \"|zcat old.csv.gz\" csv`",
                               "there is no command after the `|`");
    enum status status = start(&program, command, span, diags);
    const bool started = status == STATUS_OK;
    if (started)
        status = read_all(&program, workers, span, diags);
    const bool complete = started && status == STATUS_OK;
    if (complete)
        status = await(&program, workers, &how);
    if (started && (!complete || status == STATUS_CANCELLED))
        end(&program);
    else if (started)
        status = judge(&program, how, span, diags);
    close_end(&program.output);
    close_end(&program.errors);
    if (status == STATUS_OK) {
        const struct file_stamp stamp = {.device = UINT64_MAX, .inode = (uint64_t)program.process};
        *mapping = mapping_from_buffer(program.path, stamp, &program.buffer);
    }
    growing_buffer_free(&program.buffer);
    return status;
}
