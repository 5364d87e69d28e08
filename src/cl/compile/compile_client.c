#include "cl/compile/compile_client.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "base/thread.h"
#include "base/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_MS = 50, /* between two looks at the interrupt, which may arrive just before a wait begins */
    READ_BYTES = 1 << 16,
    MAX_ARGUMENTS = 6
};
static const uint64_t answer_most_bytes = UINT64_C(1) << 28;

struct order {
    struct order *next;
    enum order_state state;
    struct blob key;
    struct blob program;
    char *problem;
    bool unwanted; /* freed while it was being done */
    bool again;    /* sent to a process that was about to end */
};

struct compiler {
    char *executable;
    char *arguments[MAX_ARGUMENTS + 1];
    int limit_ms;
    struct order *first; /* being done; the others wait for their turn */

    pid_t process;     /* 0: none */
    int socket;        /* -1: none */
    struct strbuf out; /* what is left to be sent of the first order, */
    size_t sent;       /* behind so many bytes that have been */
    bool sending;      /* the first order has been taken up */
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

static void free_order(struct order *order)
{
    free(order->key.bytes);
    free(order->program.bytes);
    free(order->problem);
    free(order);
}

static void end_exchange(struct compiler *compiler)
{
    strbuf_clear(&compiler->out);
    strbuf_clear(&compiler->in);
    compiler->sent = 0;
    compiler->sending = false;
}

/* Takes the order that was being done out of the line. */
static void settle(struct compiler *compiler, enum order_state state)
{
    struct order *order = compiler->first;

    compiler->first = order->next;
    order->next = NULL;
    order->state = state;
    end_exchange(compiler);
    if (order->unwanted)
        free_order(order);
}

static void settle_failed(struct compiler *compiler, const char *problem)
{
    compiler->first->problem = heap_text(problem);
    settle(compiler, ORDER_FAILED);
}

/* Starts the process with one end of a socket as its standard input; it has no other file of ours, no signal blocked or
 * ignored, and a session of its own, so that no terminal's keys reach it. */
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
    int problem = spawn(compiler, ends[1]);
    close(ends[1]);
    if (problem != 0) {
        close(ends[0]);
        compiler->process = 0;
        return problem;
    }
    compiler->socket = ends[0];
    return 0;
}

/* Ends the process if it has not ended, and returns its status; -1 if it had none to give. */
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

/* The process has closed its end of the socket. */
static void take_end(struct compiler *compiler)
{
    int status = end_process(compiler);
    struct order *order = compiler->first;
    struct strbuf problem = {0};

    /* It ends by itself when nothing is ordered for a while, perhaps just as something is. */
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && compiler->in.length == 0 && !order->again) {
        order->again = true;
        end_exchange(compiler);
        return;
    }
    if (status >= 0 && WIFSIGNALED(status))
        strbuf_printf(&problem, "the compiler ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        strbuf_printf(&problem, "the compiler ended with status %d", status >= 0 ? WEXITSTATUS(status) : status);
    settle_failed(compiler, problem.text);
    strbuf_free(&problem);
}

static void send_order(struct compiler *compiler)
{
    while (compiler->sent < compiler->out.length) {
        ssize_t sent = send(compiler->socket, compiler->out.text + compiler->sent,
                            compiler->out.length - compiler->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return; /* full; or broken, which reading tells */
        compiler->sent += (size_t)sent;
    }
}

/* Whether the answer is complete; it then settles the order. */
static bool take_answer(struct compiler *compiler)
{
    struct answer answer;
    struct strbuf *in = &compiler->in;
    struct order *order = compiler->first;

    if (in->length < sizeof answer)
        return false;
    memcpy(&answer, in->text, sizeof answer);
    if (answer.size > answer_most_bytes || answer.built > 1) {
        (void)end_process(compiler);
        settle_failed(compiler, "the compiler answered with nonsense");
        return true;
    }
    if (in->length < sizeof answer + answer.size)
        return false;
    char *bytes = heap_array((size_t)answer.size + 1, 1);
    memcpy(bytes, in->text + sizeof answer, (size_t)answer.size);
    if (answer.built)
        order->program = (struct blob){bytes, (size_t)answer.size};
    else
        order->problem = bytes;
    settle(compiler, answer.built ? ORDER_DONE : ORDER_FAILED);
    return true;
}

/* Reads what has arrived, up to the end of the answer. */
static void receive(struct compiler *compiler)
{
    for (;;) {
        ssize_t got = recv(compiler->socket, strbuf_reserve(&compiler->in, READ_BYTES), READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            take_end(compiler);
            return;
        }
        strbuf_commit(&compiler->in, (size_t)got);
        if (take_answer(compiler))
            return;
    }
}

static void begin_order(struct compiler *compiler)
{
    const struct order *order = compiler->first;
    uint64_t size = order->key.size;
    int problem = compiler->socket < 0 ? start_process(compiler) : 0;

    if (problem != 0) {
        settle_failed(compiler, strerror(problem));
        return;
    }
    strbuf_add(&compiler->out, (const char *)&size, sizeof size);
    strbuf_add(&compiler->out, order->key.bytes, order->key.size);
    compiler->sending = true;
    compiler->sending_since = now_ns();
}

/* Moves everything as far as it goes without waiting. */
static void advance(struct compiler *compiler)
{
    while (compiler->first) {
        const struct order *order = compiler->first;
        if (!compiler->sending)
            begin_order(compiler);
        if (compiler->sending)
            send_order(compiler);
        if (compiler->sending)
            receive(compiler);
        if (compiler->first == order && compiler->sending)
            break;
    }
    if (compiler->first && now_ns() - compiler->sending_since > (int64_t)compiler->limit_ms * 1000000) {
        struct strbuf problem = {0};
        strbuf_printf(&problem, "the compiler had not finished after %.3g s", (double)compiler->limit_ms / 1e3);
        (void)end_process(compiler);
        settle_failed(compiler, problem.text);
        strbuf_free(&problem);
    }
}

struct order *compiler_order(struct compiler *compiler, const struct blob *key)
{
    struct order *order = heap_array(1, sizeof *order), **end = &compiler->first;

    order->key.bytes = heap_array(key->size + 1, 1);
    memcpy(order->key.bytes, key->bytes, key->size);
    order->key.size = key->size;
    while (*end)
        end = &(*end)->next;
    *end = order;
    advance(compiler);
    return order;
}

enum order_state compiler_ask(struct compiler *compiler, struct order *order)
{
    if (order->state == ORDER_UNDER_WAY)
        advance(compiler);
    return order->state;
}

enum order_state compiler_wait(struct compiler *compiler, struct order *order, const atomic_int *cancel)
{
    while (compiler_ask(compiler, order) == ORDER_UNDER_WAY && !(cancel && *cancel)) {
        bool unsent = compiler->sent < compiler->out.length;
        struct pollfd answer = {.fd = compiler->socket, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
        poll(&answer, 1, LOOK_MS);
    }
    return order->state;
}

struct blob order_program(struct order *order)
{
    struct blob program = order->program;

    order->program = (struct blob){0};
    return program;
}

const char *order_problem(const struct order *order)
{
    return order->problem;
}

void order_free(struct compiler *compiler, struct order *order)
{
    if (!order)
        return;
    if (order->state == ORDER_UNDER_WAY && order == compiler->first && compiler->sending) {
        order->unwanted = true;
        return;
    }
    for (struct order **at = &compiler->first; *at; at = &(*at)->next)
        if (*at == order) {
            *at = order->next;
            break;
        }
    free_order(order);
}

static void *wait_for_end(void *argument)
{
    pid_t *process = argument;

    while (waitpid(*process, NULL, 0) < 0 && errno == EINTR)
        ;
    free(process);
    return NULL;
}

/* The process finishes what it has begun, and is this one's child until then: somebody has to take note of its end, or
 * it stays as a zombie as long as the shell lives. */
static void let_go(pid_t process)
{
    pthread_t thread;

    if (waitpid(process, NULL, WNOHANG) != 0)
        return;
    pid_t *kept = heap_array(1, sizeof *kept);
    *kept = process;
    if (thread_start(&thread, wait_for_end, kept))
        pthread_detach(thread);
    else
        free(kept);
}

void compiler_free(struct compiler *compiler)
{
    if (!compiler)
        return;
    if (compiler->socket >= 0)
        close(compiler->socket);
    if (compiler->process > 0)
        let_go(compiler->process);
    while (compiler->first) {
        struct order *order = compiler->first;
        compiler->first = order->next;
        free_order(order);
    }
    for (size_t k = 0; compiler->arguments[k]; k++)
        free(compiler->arguments[k]);
    free(compiler->executable);
    strbuf_free(&compiler->out);
    strbuf_free(&compiler->in);
    free(compiler);
}
