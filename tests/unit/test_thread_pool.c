/* Thread pool: every part runs once, on no more threads than requested, even if a worker calls its own pool. Ordered
 * output: pieces finished in any order commit in sequence. */
#include "scratch.h"

#include "base/ordered_parts.h"
#include "base/parallel.h"
#include "base/thread_pool.h"

#include <sched.h>

enum { THREADS = 4, PARTS = 1000, CALLS = 300 };

struct group_aggregate {
    struct thread_pool *thread_pool;
    _Atomic int parts[PARTS], next, most_member;
};

static void take_parts(void *context, int member)
{
    struct group_aggregate *group_agg = context;
    if (member > group_agg->most_member)
        group_agg->most_member = member;
    for (int part; (part = group_agg->next++) < PARTS;)
        group_agg->parts[part]++;
}

static void check_parts(struct group_aggregate *group_agg, int times)
{
    for (int part = 0; part < PARTS; part++)
        assert_int_equal(group_agg->parts[part], times);
    group_agg->next = 0;
}

static void test_all_done(void **context)
{
    (void)context;
    for (int threads = 1; threads <= THREADS; threads++) {
        static struct group_aggregate group_agg;
        group_agg = (struct group_aggregate){.thread_pool = thread_pool_new(threads)};
        assert_int_equal(thread_pool_threads(group_agg.thread_pool), threads);
        for (int call = 1; call <= CALLS; call++) {
            if (call % 3 == 0) /* whether or not work follows */
                thread_pool_wake(group_agg.thread_pool);
            if (call % 50 == 0) /* all workers are asleep */
                usleep(2000);
            thread_pool_run(group_agg.thread_pool, call % (THREADS + 2), take_parts, &group_agg);
            check_parts(&group_agg, call);
        }
        assert_true(group_agg.most_member < threads);
        thread_pool_wake(group_agg.thread_pool);
        thread_pool_free(group_agg.thread_pool);
    }
}

static void ask_again(void *context, int member)
{
    struct group_aggregate *group_agg = context;
    if (member == 0)
        thread_pool_run(group_agg->thread_pool, THREADS, take_parts, group_agg);
}

static void test_engaged(void **context)
{
    (void)context;
    static struct group_aggregate group_agg;
    group_agg.thread_pool = thread_pool_new(THREADS);
    thread_pool_run(group_agg.thread_pool, THREADS, ask_again, &group_agg);
    check_parts(&group_agg, 1);
    assert_int_equal(group_agg.most_member, 0); /* alone */
    thread_pool_run(group_agg.thread_pool, THREADS, take_parts, &group_agg);
    check_parts(&group_agg, 2);
    thread_pool_free(group_agg.thread_pool);
}

struct writing {
    struct ordered_parts order;
    int64_t rows; /* of all pieces passed */
    int64_t at[PARTS];
    _Atomic int64_t next;
    int64_t stop_at;
    bool apart; /* pieces are published, and nobody waits before the end */
    _Atomic bool refused;
};

/* Piece k has k % 7 rows. */
static void pass_piece(void *context, int64_t piece)
{
    struct writing *writing = context;
    writing->at[piece] = writing->rows;
    writing->rows += piece % 7;
}

static void write_pieces(void *context, int member)
{
    (void)member;
    struct writing *writing = context;
    for (int64_t piece; (piece = writing->next++) < PARTS;) {
        for (int64_t pause = 0; pause < (piece * 2654435761 >> 8) % 4; pause++) /* in any order */
            sched_yield();
        if (piece == writing->stop_at) {
            ordered_parts_stop(&writing->order);
            return;
        }
        const bool next = ordered_parts_is_next(&writing->order, piece);
        const int64_t rows = next ? writing->rows : 0;
        ordered_parts_publish(&writing->order, piece);
        if (!writing->apart && !ordered_parts_wait(&writing->order, piece)) {
            writing->refused = true;
            return;
        }
        if (next && writing->at[piece] != rows)
            writing->refused = true;
    }
}

static void test_order(void **context)
{
    (void)context;
    static struct writing writing;
    struct thread_pool *thread_pool = thread_pool_new(THREADS);
    for (int call = 0; call < 10; call++) {
        ordered_parts_init(&writing.order, PARTS, pass_piece, &writing);
        writing.next = 0;
        writing.rows = 5;
        writing.stop_at = PARTS;
        writing.apart = call % 2 == 1;
        thread_pool_run(thread_pool, THREADS, write_pieces, &writing);
        int64_t rows = 5;
        for (int64_t piece = 0; piece < PARTS; piece++) {
            assert_true(ordered_parts_is_passed(&writing.order, piece));
            assert_int_equal(writing.at[piece], rows);
            rows += piece % 7;
        }
        assert_int_equal(writing.rows, rows);
        assert_false(writing.refused);
        ordered_parts_destroy(&writing.order);
    }
    thread_pool_free(thread_pool);
}

/* Workers waiting for a piece that never comes stop. */
static void test_stopped(void **context)
{
    (void)context;
    static struct writing writing = {.stop_at = PARTS / 2};
    struct thread_pool *thread_pool = thread_pool_new(THREADS);
    ordered_parts_init(&writing.order, PARTS, pass_piece, &writing);
    thread_pool_run(thread_pool, THREADS, write_pieces, &writing);
    assert_true(writing.order.stopped);
    assert_true(writing.order.passed <= PARTS / 2);
    ordered_parts_destroy(&writing.order);
    thread_pool_free(thread_pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_done),
        cmocka_unit_test(test_engaged),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
