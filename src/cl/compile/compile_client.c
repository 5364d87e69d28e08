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
    struct worker *worker;
    enum compile_state state;
    struct blob key;
    struct blob program;
    char *problem;
    bool abandoned; /* freed while it was being compiled */
    bool retried;   /* already sent to a process that was exiting */
};

/* A compiler process and its jobs. */
struct worker {
    const struct compiler *of;
    struct compile_job *first; /* being compiled; the others wait */

    pid_t process;     /* 0: none */
    int socket;        /* -1: none */
    struct strbuf out; /* the request of the first job, */
    size_t sent;       /* bytes of it that have been sent */
    bool sending;      /* the first job has been started */
    int64_t sending_since;
    struct strbuf in; /* its answer so far */
};

struct compiler {
    char *executable;
    char *arguments[MAX_ARGUMENTS + 1];
    int limit_ms;
    struct worker *workers;
    size_t count;
};

struct compiler *compiler_new(const char *executable, const char *const *arguments, int limit_ms, size_t processes)
{
    struct compiler *compiler =
        HEAP_NEW(struct compiler, .executable = heap_text(executable), .limit_ms = limit_ms, .count = processes);
    compiler->workers = heap_array(processes, sizeof *compiler->workers);
    for (size_t k = 0; k < processes; k++)
        compiler->workers[k] = (struct worker){.of = compiler, .socket = -1};
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

static void reset_exchange(struct worker *worker)
{
    strbuf_clear(&worker->out);
    strbuf_clear(&worker->in);
    worker->sent = 0;
    worker->sending = false;
}

/* Removes the first job from the queue and sets its state. */
static void finish_job(struct worker *worker, enum compile_state state)
{
    struct compile_job *job = worker->first;
    worker->first = job->next;
    job->next = NULL;
    job->state = state;
    reset_exchange(worker);
    if (job->abandoned)
        free_job(job);
}

static void fail_job(struct worker *worker, const char *problem)
{
    worker->first->problem = heap_text(problem);
    finish_job(worker, COMPILE_FAILED);
}

/* Starts the process with one end of a socket as its standard input. It inherits no other file, no blocked or ignored
 * signals, and has its own session, so that terminal keys do not reach it. */
static int spawn(struct worker *worker, int its_end)
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
        posix_spawn(&worker->process, worker->of->executable, &files, &attributes, worker->of->arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return problem;
}

static int start_process(struct worker *worker)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    const int problem = spawn(worker, ends[1]);
    close(ends[1]);
    if (problem != 0) {
        close(ends[0]);
        worker->process = 0;
        return problem;
    }
    worker->socket = ends[0];
    return 0;
}

/* Kills the process and returns its exit status; -1 if unknown. */
static int end_process(struct worker *worker)
{
    int status = -1;
    pid_t ended;
    close(worker->socket);
    worker->socket = -1;
    kill(worker->process, SIGKILL);
    do
        ended = waitpid(worker->process, &status, 0);
    while (ended < 0 && errno == EINTR);
    worker->process = 0;
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
static void handle_exit(struct worker *worker)
{
    const int status = end_process(worker);
    struct compile_job *job = worker->first;
    struct strbuf problem = {0};
    /* It exits when idle, possibly just when a job arrives. */
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && worker->in.length == 0 && !job->retried) {
        job->retried = true;
        reset_exchange(worker);
        return;
    }
    if (status >= 0 && WIFSIGNALED(status))
        strbuf_printf(&problem, "the compiler process was killed by signal %d (%s)", WTERMSIG(status),
                      strsignal(WTERMSIG(status)));
    else
        strbuf_printf(&problem, "the compiler process exited with status %d",
                      status >= 0 ? WEXITSTATUS(status) : status);
    add_full_disk(&problem);
    fail_job(worker, problem.text);
    strbuf_free(&problem);
}

static void send_job(struct worker *worker)
{
    while (worker->sent < worker->out.length) {
        const ssize_t sent = send(worker->socket, worker->out.text + worker->sent, worker->out.length - worker->sent,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return; /* full, or broken, which receive reports */
        worker->sent += (size_t)sent;
    }
}

/* Finishes the job if its answer is complete. */
static bool take_answer(struct worker *worker)
{
    struct answer answer;
    struct strbuf *in = &worker->in;
    struct compile_job *job = worker->first;
    if (in->length < sizeof answer)
        return false;
    memcpy(&answer, in->text, sizeof answer);
    if (answer.size > max_answer_bytes || answer.built > 1) {
        (void)end_process(worker);
        fail_job(worker, "invalid answer from the compiler process");
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
    finish_job(worker, answer.built ? COMPILE_DONE : COMPILE_FAILED);
    return true;
}

/* Reads available data, up to the end of the answer. */
static void receive(struct worker *worker)
{
    for (;;) {
        const ssize_t got = recv(worker->socket, strbuf_reserve(&worker->in, READ_BYTES), READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            handle_exit(worker);
            return;
        }
        strbuf_commit(&worker->in, (size_t)got);
        if (take_answer(worker))
            return;
    }
}

static void begin_job(struct worker *worker)
{
    const struct compile_job *job = worker->first;
    uint64_t size = job->key.size;
    const int problem = worker->socket < 0 ? start_process(worker) : 0;
    if (problem != 0) {
        fail_job(worker, strerror(problem));
        return;
    }
    strbuf_add(&worker->out, (const char *)&size, sizeof size);
    strbuf_add(&worker->out, job->key.bytes, job->key.size);
    worker->sending = true;
    worker->sending_since = now_ns();
}

/* Sends and receives as far as possible without blocking. */
static void make_progress(struct worker *worker)
{
    while (worker->first) {
        const struct compile_job *job = worker->first;
        if (!worker->sending)
            begin_job(worker);
        if (worker->sending)
            send_job(worker);
        if (worker->sending)
            receive(worker);
        if (worker->first == job && worker->sending)
            break;
    }
    if (worker->first && now_ns() - worker->sending_since > (int64_t)worker->of->limit_ms * 1000000) {
        struct strbuf problem = {0};
        strbuf_printf(&problem, "the compiler timed out after %.3g s", (double)worker->of->limit_ms / 1e3);
        (void)end_process(worker);
        fail_job(worker, problem.text);
        strbuf_free(&problem);
    }
}

static size_t queued(const struct worker *worker)
{
    size_t count = 0;
    for (const struct compile_job *job = worker->first; job; job = job->next)
        count++;
    return count;
}

/* Gives a worker that has nothing to do the job that would be begun next of the longest queue, if there is one. */
static bool take_over(struct compiler *compiler, struct worker *worker)
{
    struct worker *busy = worker;
    for (size_t k = 0; k < compiler->count; k++)
        busy = queued(&compiler->workers[k]) > queued(busy) ? &compiler->workers[k] : busy;
    struct compile_job *job = busy->first ? busy->first->next : NULL;
    if (!job || worker->first || worker->socket < 0)
        return false;
    busy->first->next = job->next;
    job->next = NULL;
    job->worker = worker;
    worker->first = job;
    return true;
}

/* Of all processes. */
static void advance(struct compiler *compiler)
{
    for (size_t k = 0; k < compiler->count; k++) {
        do
            make_progress(&compiler->workers[k]);
        while (take_over(compiler, &compiler->workers[k]));
    }
}

/* How long a job would wait for this worker, in jobs: NVIDIA's driver starts in the time of ten programs, and several
 * that start at once wait for each other. */
static size_t wait_for(const struct worker *worker)
{
    enum { START_JOBS = 4 };
    return queued(worker) + (worker->socket < 0 ? START_JOBS : 0);
}

void compiler_start(struct compiler *compiler, size_t processes)
{
    for (size_t k = 0; k < processes && k < compiler->count; k++)
        (void)start_process(&compiler->workers[k]);
}

struct compile_job *compiler_submit(struct compiler *compiler, const struct blob *key)
{
    struct worker *worker = &compiler->workers[0];
    struct compile_job *job = heap_array(1, sizeof *job);
    job->key.bytes = heap_array(key->size + 1, 1);
    memcpy(job->key.bytes, key->bytes, key->size);
    job->key.size = key->size;
    advance(compiler);
    for (size_t k = 1; k < compiler->count; k++)
        worker = wait_for(&compiler->workers[k]) < wait_for(worker) ? &compiler->workers[k] : worker;
    struct compile_job **end = &worker->first;
    while (*end)
        end = &(*end)->next;
    *end = job;
    job->worker = worker;
    make_progress(worker);
    return job;
}

enum compile_state compiler_poll(struct compiler *compiler, struct compile_job *job)
{
    if (job->state == COMPILE_PENDING)
        advance(compiler);
    return job->state;
}

enum compile_state compiler_wait(struct compiler *compiler, struct compile_job *job, const atomic_int *cancel)
{
    while (compiler_poll(compiler, job) == COMPILE_PENDING && !(cancel && *cancel)) {
        const struct worker *worker = job->worker; /* another may have taken it over */
        const bool unsent = worker->sent < worker->out.length;
        struct pollfd answer = {.fd = worker->socket, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
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

void compile_job_free(struct compile_job *job)
{
    if (!job)
        return;
    if (job->state == COMPILE_PENDING && job == job->worker->first && job->worker->sending) {
        job->abandoned = true;
        return;
    }
    for (struct compile_job **at = &job->worker->first; *at; at = &(*at)->next) {
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

static void worker_free(struct worker *worker)
{
    if (worker->socket >= 0)
        close(worker->socket);
    if (worker->process > 0)
        reap(worker->process);
    while (worker->first) {
        struct compile_job *job = worker->first;
        worker->first = job->next;
        free_job(job);
    }
    strbuf_free(&worker->out);
    strbuf_free(&worker->in);
}

void compiler_free(struct compiler *compiler)
{
    if (!compiler)
        return;
    for (size_t k = 0; k < compiler->count; k++)
        worker_free(&compiler->workers[k]);
    for (size_t k = 0; compiler->arguments[k]; k++)
        free(compiler->arguments[k]);
    free(compiler->workers);
    free(compiler->executable);
    free(compiler);
}
