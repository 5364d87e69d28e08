#include "cl/compile/compile_client.h"

#include "base/cachedir.h"
#include "base/heap.h"
#include "base/strbuf.h"
#include "base/thread_pool.h"
#include "base/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POLL_MS = 50, /* between checks for an interrupt, which may arrive just before a wait begins */
    READ_BYTES = 1 << 16,
    MAX_ARGUMENTS = 6
};
static const uint64_t max_answer_bytes = UINT64_C(1) << 28;

struct compile_job {
    struct compile_job *next;
    enum compile_state state;
    struct blob key;
    struct blob program;
    char *problem;
    bool abandoned; /* freed while it was being compiled */
    bool retried;   /* already sent to a process that was exiting */
};

struct compiler {
    char *executable;
    char *arguments[MAX_ARGUMENTS + 1];
    int limit_ms;
    struct compile_job *first; /* being compiled; the others wait */

    pid_t process;     /* 0: none */
    int socket;        /* -1: none */
    struct strbuf out; /* the request of the first job, */
    size_t sent;       /* bytes of it that have been sent */
    bool sending;      /* the first job has been started */
    int64_t sending_since;
    struct strbuf in; /* its answer so far */
};

struct compiler *compiler_new(const char *executable, const char *const *arguments, int limit_ms)
{
    struct compiler *compiler = heap_array(1, sizeof *compiler);
    *compiler = (struct compiler){.executable = heap_text(executable), .limit_ms = limit_ms, .socket = -1};
    for (size_t k = 0; k < MAX_ARGUMENTS && arguments[k]; k++)
        compiler->arguments[k] = heap_text(arguments[k]);
    return compiler;
}

static void free_job(struct compile_job *job)
{
    free(job->key.bytes);
    free(job->program.bytes);
    free(job->problem);
    free(job);
}

static void reset_exchange(struct compiler *compiler)
{
    strbuf_clear(&compiler->out);
    strbuf_clear(&compiler->in);
    compiler->sent = 0;
    compiler->sending = false;
}

/* Removes the first job from the queue and sets its state. */
static void finish_job(struct compiler *compiler, enum compile_state state)
{
    struct compile_job *job = compiler->first;
    compiler->first = job->next;
    job->next = NULL;
    job->state = state;
    reset_exchange(compiler);
    if (job->abandoned)
        free_job(job);
}

static void fail_job(struct compiler *compiler, const char *problem)
{
    compiler->first->problem = heap_text(problem);
    finish_job(compiler, COMPILE_FAILED);
}

/* Starts the process with one end of a socket as its standard input. It inherits no other file, no blocked or ignored
 * signals, and has its own session, so that terminal keys do not reach it. */
static int spawn(struct compiler *compiler, int its_end)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, its_end, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
    int problem =
        posix_spawn(&compiler->process, compiler->executable, &files, &attributes, compiler->arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return problem;
}

static int start_process(struct compiler *compiler)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    const int problem = spawn(compiler, ends[1]);
    close(ends[1]);
    if (problem != 0) {
        close(ends[0]);
        compiler->process = 0;
        return problem;
    }
    compiler->socket = ends[0];
    return 0;
}

/* Kills the process and returns its exit status; -1 if unknown. */
static int end_process(struct compiler *compiler)
{
    int status = -1;
    pid_t ended;
    close(compiler->socket);
    compiler->socket = -1;
    kill(compiler->process, SIGKILL);
    do
        ended = waitpid(compiler->process, &status, 0);
    while (ended < 0 && errno == EINTR);
    compiler->process = 0;
    return ended < 0 ? -1 : status;
}

/* A compiler that cannot write its files ends without a reason: names the cache directory if its disk is full. */
static void add_full_disk(struct strbuf *problem)
{
    enum { LEAST_BYTES = 1 << 20 };
    struct strbuf path = {0};
    struct statvfs disk;
    (void)cachedir_create(&path);
    if (path.length > 0 && statvfs(path.text, &disk) == 0 &&
        (double)disk.f_bavail * (double)disk.f_frsize < LEAST_BYTES) {
        strbuf_puts(problem, ": no space left on the disk of ");
        strbuf_add_visible(problem, path.text, path.length);
    }
    strbuf_free(&path);
}

/* The process has closed its end of the socket. */
static void handle_exit(struct compiler *compiler)
{
    const int status = end_process(compiler);
    struct compile_job *job = compiler->first;
    struct strbuf problem = {0};
    /* It exits when idle, possibly just when a job arrives. */
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && compiler->in.length == 0 && !job->retried) {
        job->retried = true;
        reset_exchange(compiler);
        return;
    }
    if (status >= 0 && WIFSIGNALED(status))
        strbuf_printf(&problem, "the compiler process was killed by signal %d (%s)", WTERMSIG(status),
                      strsignal(WTERMSIG(status)));
    else
        strbuf_printf(&problem, "the compiler process exited with status %d",
                      status >= 0 ? WEXITSTATUS(status) : status);
    add_full_disk(&problem);
    fail_job(compiler, problem.text);
    strbuf_free(&problem);
}

static void send_job(struct compiler *compiler)
{
    while (compiler->sent < compiler->out.length) {
        const ssize_t sent = send(compiler->socket, compiler->out.text + compiler->sent,
                                  compiler->out.length - compiler->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return; /* full, or broken, which receive reports */
        compiler->sent += (size_t)sent;
    }
}

/* Finishes the job if its answer is complete. */
static bool take_answer(struct compiler *compiler)
{
    struct answer answer;
    struct strbuf *in = &compiler->in;
    struct compile_job *job = compiler->first;
    if (in->length < sizeof answer)
        return false;
    memcpy(&answer, in->text, sizeof answer);
    if (answer.size > max_answer_bytes || answer.built > 1) {
        (void)end_process(compiler);
        fail_job(compiler, "invalid answer from the compiler process");
        return true;
    }
    if (in->length < sizeof answer + answer.size)
        return false;
    char *bytes = heap_array((size_t)answer.size + 1, 1);
    memcpy(bytes, in->text + sizeof answer, (size_t)answer.size);
    if (answer.built)
        job->program = (struct blob){bytes, (size_t)answer.size};
    else
        job->problem = bytes;
    finish_job(compiler, answer.built ? COMPILE_DONE : COMPILE_FAILED);
    return true;
}

/* Reads available data, up to the end of the answer. */
static void receive(struct compiler *compiler)
{
    for (;;) {
        const ssize_t got = recv(compiler->socket, strbuf_reserve(&compiler->in, READ_BYTES), READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            handle_exit(compiler);
            return;
        }
        strbuf_commit(&compiler->in, (size_t)got);
        if (take_answer(compiler))
            return;
    }
}

static void begin_job(struct compiler *compiler)
{
    const struct compile_job *job = compiler->first;
    uint64_t size = job->key.size;
    const int problem = compiler->socket < 0 ? start_process(compiler) : 0;
    if (problem != 0) {
        fail_job(compiler, strerror(problem));
        return;
    }
    strbuf_add(&compiler->out, (const char *)&size, sizeof size);
    strbuf_add(&compiler->out, job->key.bytes, job->key.size);
    compiler->sending = true;
    compiler->sending_since = now_ns();
}

/* Sends and receives as far as possible without blocking. */
static void make_progress(struct compiler *compiler)
{
    while (compiler->first) {
        const struct compile_job *job = compiler->first;
        if (!compiler->sending)
            begin_job(compiler);
        if (compiler->sending)
            send_job(compiler);
        if (compiler->sending)
            receive(compiler);
        if (compiler->first == job && compiler->sending)
            break;
    }
    if (compiler->first && now_ns() - compiler->sending_since > (int64_t)compiler->limit_ms * 1000000) {
        struct strbuf problem = {0};
        strbuf_printf(&problem, "the compiler timed out after %.3g s", (double)compiler->limit_ms / 1e3);
        (void)end_process(compiler);
        fail_job(compiler, problem.text);
        strbuf_free(&problem);
    }
}

struct compile_job *compiler_submit(struct compiler *compiler, const struct blob *key)
{
    struct compile_job *job = heap_array(1, sizeof *job), **end = &compiler->first;
    job->key.bytes = heap_array(key->size + 1, 1);
    memcpy(job->key.bytes, key->bytes, key->size);
    job->key.size = key->size;
    while (*end)
        end = &(*end)->next;
    *end = job;
    make_progress(compiler);
    return job;
}

enum compile_state compiler_poll(struct compiler *compiler, struct compile_job *job)
{
    if (job->state == COMPILE_PENDING)
        make_progress(compiler);
    return job->state;
}

enum compile_state compiler_wait(struct compiler *compiler, struct compile_job *job, const atomic_int *cancel)
{
    while (compiler_poll(compiler, job) == COMPILE_PENDING && !(cancel && *cancel)) {
        const bool unsent = compiler->sent < compiler->out.length;
        struct pollfd answer = {.fd = compiler->socket, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
        poll(&answer, 1, POLL_MS);
    }
    return job->state;
}

struct blob compile_job_program(struct compile_job *job)
{
    struct blob program = job->program;
    job->program = (struct blob){0};
    return program;
}

const char *compile_job_error(const struct compile_job *job)
{
    return job->problem;
}

void compile_job_free(struct compiler *compiler, struct compile_job *job)
{
    if (!job)
        return;
    if (job->state == COMPILE_PENDING && job == compiler->first && compiler->sending) {
        job->abandoned = true;
        return;
    }
    for (struct compile_job **at = &compiler->first; *at; at = &(*at)->next) {
        if (*at == job) {
            *at = job->next;
            break;
        }
    }
    free_job(job);
}

static void *wait_for_exit(void *argument)
{
    pid_t *process = argument;
    while (waitpid(*process, NULL, 0) < 0 && errno == EINTR)
        ;
    free(process);
    return NULL;
}

/* The process finishes its job as a child of this one; a thread waits for it, so that it does not stay a zombie. */
static void reap(pid_t process)
{
    pthread_t thread;
    if (waitpid(process, NULL, WNOHANG) != 0)
        return;
    pid_t *copy = heap_array(1, sizeof *copy);
    *copy = process;
    if (thread_start(&thread, wait_for_exit, copy))
        pthread_detach(thread);
    else
        free(copy);
}

void compiler_free(struct compiler *compiler)
{
    if (!compiler)
        return;
    if (compiler->socket >= 0)
        close(compiler->socket);
    if (compiler->process > 0)
        reap(compiler->process);
    while (compiler->first) {
        struct compile_job *job = compiler->first;
        compiler->first = job->next;
        free_job(job);
    }
    for (size_t k = 0; compiler->arguments[k]; k++)
        free(compiler->arguments[k]);
    free(compiler->executable);
    strbuf_free(&compiler->out);
    strbuf_free(&compiler->in);
    free(compiler);
}
