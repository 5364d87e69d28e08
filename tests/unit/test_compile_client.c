/* The compiler process, played by this program itself: it answers, aborts, hangs, sends garbage or does not exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cl/compile/compile_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, SHORT_LIMIT_MS = 300 };

/* The stand-in answers order "x" with "built x". */

static bool take(void *bytes, size_t size)
{
    return size == 0 || recv(STDIN_FILENO, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static void reply(uint32_t built, const char *text, size_t size, size_t sent)
{
    struct answer answer = {.built = built, .size = size};
    send(STDIN_FILENO, &answer, sizeof answer, MSG_NOSIGNAL);
    for (size_t done = 0; done < sent;) {
        ssize_t count = send(STDIN_FILENO, text + done, sent - done, MSG_NOSIGNAL);
        if (count <= 0)
            return;
        done += (size_t)count;
    }
}

static int stand_in(const char *role)
{
    uint64_t size;
    (void)alarm(3 * LIMIT_MS / 1000); /* like the real one, so as not to hang forever */
    while (take(&size, sizeof size)) {
        char *text = calloc(size + 10, 1);
        memcpy(text, "built ", 6);
        if (!take(text + 6, size))
            return 9;
        if (strcmp(role, "aborts") == 0)
            abort();
        if (strcmp(role, "exits") == 0)
            return 3;
        if (strcmp(role, "hangs") == 0)
            pause();
        if (strcmp(role, "goes silent") == 0) {
            close(STDIN_FILENO);
            pause();
        }
        if (strcmp(role, "talks nonsense") == 0)
            reply(7, text, 6, 6);
        if (strcmp(role, "boasts") == 0)
            reply(1, text, (size_t)1 << 60, 6);
        if (strcmp(role, "stops short") == 0) {
            reply(1, text, size + 6, 3);
            return 0;
        }
        if (strcmp(role, "refuses") == 0)
            reply(0, "no such thing", 13, 13);
        else if (strcmp(role, "is slow") == 0)
            usleep(200000);
        if (strcmp(role, "refuses") != 0)
            reply(1, text, size + 6, size + 6);
        free(text);
        if (strcmp(role, "leaves") == 0)
            return 0;
    }
    return 0;
}

static struct compiler *compilers_in(const char *role, int limit_ms, size_t processes)
{
    const char *const arguments[] = {"test_compiler", "--stand-in", role, NULL};
    return compiler_new("/proc/self/exe", arguments, limit_ms, processes);
}

static struct compiler *compiler_in(const char *role, int limit_ms)
{
    return compilers_in(role, limit_ms, 1);
}

static struct blob key_of(const char *text)
{
    return (struct blob){(void *)(uintptr_t)text, strlen(text)};
}

static struct compile_job *order(struct compiler *compiler, const char *text)
{
    const struct blob key = key_of(text);
    return compiler_submit(compiler, &key);
}

static void assert_built(struct compiler *compiler, struct compile_job *from, const char *wanted)
{
    assert_int_equal(compiler_wait(compiler, from, NULL), COMPILE_DONE);
    struct blob program = compile_job_program(from);
    assert_int_equal(program.size, strlen(wanted));
    assert_memory_equal(program.bytes, wanted, program.size);
    free(program.bytes);
    compile_job_free(from);
}

static void assert_fails(struct compiler *compiler, const char *wanted)
{
    struct compile_job *failing = order(compiler, "x");
    assert_int_equal(compiler_wait(compiler, failing, NULL), COMPILE_FAILED);
    if (!strstr(compile_job_error(failing), wanted))
        fail_msg("%s, not %s", compile_job_error(failing), wanted);
    compile_job_free(failing);
}

static void orders_are_done_in_turn(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("answers", LIMIT_MS);
    struct compile_job *orders[4];
    static const char *const texts[] = {"a", "bb", "", "dddd"}, *const wanted[] = {"built a", "built bb", "built ",
                                                                                   "built dddd"};
    for (int k = 0; k < 4; k++)
        orders[k] = order(compiler, texts[k]);
    assert_built(compiler, orders[3], wanted[3]); /* requires the others to be done */
    for (int k = 0; k < 3; k++) {
        assert_int_equal(compiler_poll(compiler, orders[k]), COMPILE_DONE);
        assert_built(compiler, orders[k], wanted[k]);
    }
    compiler_free(compiler);
}

/* Each of several processes has orders of its own. */
static void processes_share_orders(void **state)
{
    static const char *const roles[] = {"answers", "is slow", "leaves"};
    (void)state;
    for (size_t role = 0; role < sizeof roles / sizeof *roles; role++) {
        struct compiler *compiler = compilers_in(roles[role], LIMIT_MS, 3);
        struct compile_job *orders[7];
        char texts[7][16], wanted[7][24];
        for (int k = 0; k < 7; k++) {
            snprintf(texts[k], sizeof texts[k], "%d", k);
            snprintf(wanted[k], sizeof wanted[k], "built %d", k);
            orders[k] = order(compiler, texts[k]);
        }
        compile_job_free(orders[1]);
        for (int k = 6; k >= 0; k--) {
            if (k != 1)
                assert_built(compiler, orders[k], wanted[k]);
        }
        compiler_free(compiler);
    }
}

/* Exceeds socket buffers, both ways. */
static void large_orders_pass(void **state)
{
    (void)state;
    enum { BYTES = 3000000 };
    struct compiler *compiler = compiler_in("answers", LIMIT_MS);
    char *text = malloc(BYTES + 7);
    assert_non_null(text);
    memcpy(text, "built ", 6);
    memset(text + 6, 'k', BYTES);
    text[BYTES + 6] = '\0';
    assert_built(compiler, order(compiler, text + 6), text);
    free(text);
    compiler_free(compiler);
}

static void a_compiler_may_fail(void **state)
{
    (void)state;
    static const struct {
        const char *role, *problem;
        int limit_ms;
    } cases[] = {
        {"aborts", "signal 6", LIMIT_MS},
        {"exits", "status 3", LIMIT_MS},
        {"hangs", "timed out after 0.3 s", SHORT_LIMIT_MS},
        {"goes silent", "signal 9", LIMIT_MS},
        {"talks nonsense", "invalid answer", LIMIT_MS},
        {"boasts", "invalid answer", LIMIT_MS},
        {"stops short", "status 0", LIMIT_MS},
        {"refuses", "no such thing", LIMIT_MS},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct compiler *compiler = compiler_in(cases[k].role, cases[k].limit_ms);
        for (int again = 0; again < 2; again++) /* the second starts a new process */
            assert_fails(compiler, cases[k].problem);
        compiler_free(compiler);
    }
}

static void a_failure_concerns_one_order(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("aborts", LIMIT_MS);
    struct compile_job *first = order(compiler, "a"), *second = order(compiler, "b");
    assert_int_equal(compiler_wait(compiler, second, NULL), COMPILE_FAILED);
    assert_int_equal(compiler_poll(compiler, first), COMPILE_FAILED);
    compile_job_free(first);
    compile_job_free(second);
    compiler_free(compiler);
}

static void a_program_that_is_not_there(void **state)
{
    (void)state;
    const char *const arguments[] = {"rql", NULL};
    struct compiler *compiler = compiler_new("/nonexistent/rql", arguments, LIMIT_MS, 1);
    assert_fails(compiler, strerror(ENOENT));
    compiler_free(compiler);
}

/* A compiler that exits when idle is restarted. */
static void a_compiler_may_leave(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("leaves", LIMIT_MS);
    for (int k = 0; k < 3; k++) {
        assert_built(compiler, order(compiler, "x"), "built x");
        usleep((useconds_t)k * 50000); /* exited, or about to */
    }
    compiler_free(compiler);
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void nothing_but_waiting_waits(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("hangs", LIMIT_MS);
    int64_t began = milliseconds();
    struct compile_job *first = order(compiler, "a"), *second = order(compiler, "b");
    for (int k = 0; k < 100; k++) {
        assert_int_equal(compiler_poll(compiler, first), COMPILE_PENDING);
        assert_int_equal(compiler_poll(compiler, second), COMPILE_PENDING);
    }
    atomic_int cancel = 1;
    assert_int_equal(compiler_wait(compiler, first, &cancel), COMPILE_PENDING);
    compile_job_free(second);
    compile_job_free(first);
    compiler_free(compiler);
    assert_true(milliseconds() - began < LIMIT_MS / 2);
}

/* A dropped order's answer still arrives but is not taken for the next one's. */
static void an_order_can_be_dropped(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("is slow", LIMIT_MS);
    struct compile_job *first = order(compiler, "a"), *second = order(compiler, "b"), *third = order(compiler, "c");
    compile_job_free(first);
    compile_job_free(second);
    assert_built(compiler, third, "built c");
    compiler_free(compiler);
}

/* Whether a child exists, running or zombie; does not reap. */
static bool has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* A compiler freed in mid-order finishes it, then exits and is reaped. */
static void no_process_is_left(void **state)
{
    (void)state;
    struct compiler *compiler = compiler_in("is slow", LIMIT_MS);
    struct compile_job *first = order(compiler, "a");
    assert_int_equal(compiler_poll(compiler, first), COMPILE_PENDING);
    compile_job_free(first);
    compiler_free(compiler);
    assert_true(has_child());
    int64_t began = milliseconds();
    while (has_child() && milliseconds() - began < LIMIT_MS)
        usleep(10000);
    assert_false(has_child());
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--stand-in") == 0)
        _exit(stand_in(argv[2])); /* skips the leak check */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_process_is_left), /* first: others leave hung children */
        cmocka_unit_test(processes_share_orders),
        cmocka_unit_test(orders_are_done_in_turn),
        cmocka_unit_test(large_orders_pass),
        cmocka_unit_test(a_compiler_may_fail),
        cmocka_unit_test(a_failure_concerns_one_order),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(a_compiler_may_leave),
        cmocka_unit_test(nothing_but_waiting_waits),
        cmocka_unit_test(an_order_can_be_dropped),
    };
    return cmocka_run_group_tests_name("compiler", tests, NULL, NULL);
}
