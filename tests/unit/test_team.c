/* Teams: every part is done once, by no more members than asked for, also when a member asks its own team. Turns:
 * pieces that are finished in any order hand in their rows in one. */
#include "scratch.h"

#include "base/parallel.h"
#include "base/thread_pool.h"
#include "engine/evaluator/ordered_output.h"

#include <sched.h>

enum { THREADS = 4, PARTS = 1000, CALLS = 300 };

struct tally {
    struct team *team;
    _Atomic int parts[PARTS], next, most_member;
};

static void take_parts(void *context, int member)
{
    struct tally *tally = context;
    if (member > tally->most_member)
        tally->most_member = member;
    for (int part; (part = tally->next++) < PARTS;)
        tally->parts[part]++;
}

static void check_parts(struct tally *tally, int times)
{
    for (int part = 0; part < PARTS; part++)
        assert_int_equal(tally->parts[part], times);
    tally->next = 0;
}

static void test_all_done(void **context)
{
    (void)context;
    for (int threads = 1; threads <= THREADS; threads++) {
        static struct tally tally;
        tally = (struct tally){.team = team_new(threads)};
        assert_int_equal(team_threads(tally.team), threads);
        for (int call = 1; call <= CALLS; call++) {
            if (call % 3 == 0) /* whether or not anything comes */
                team_rouse(tally.team);
            if (call % 50 == 0) /* everybody has fallen asleep */
                usleep(2000);
            team_run(tally.team, call % (THREADS + 2), take_parts, &tally);
            check_parts(&tally, call);
        }
        assert_true(tally.most_member < threads);
        team_rouse(tally.team);
        team_free(tally.team);
    }
}

static void ask_again(void *context, int member)
{
    struct tally *tally = context;
    if (member == 0)
        team_run(tally->team, THREADS, take_parts, tally);
}

static void test_engaged(void **context)
{
    (void)context;
    static struct tally tally;
    tally.team = team_new(THREADS);
    team_run(tally.team, THREADS, ask_again, &tally);
    check_parts(&tally, 1);
    assert_int_equal(tally.most_member, 0); /* alone */
    team_run(tally.team, THREADS, take_parts, &tally);
    check_parts(&tally, 2);
    team_free(tally.team);
}

struct writing {
    struct turns turns;
    int64_t at[PARTS];
    _Atomic int64_t next;
    int64_t stop_at;
    _Atomic bool refused;
};

/* Piece k has k % 7 rows. */
static void write_pieces(void *context, int member)
{
    struct writing *writing = context;
    for (int64_t piece; (piece = writing->next++) < PARTS;) {
        for (int64_t pause = 0; pause < (piece * 2654435761 >> 8) % 50; pause++) /* any order */
            sched_yield();
        if (piece == writing->stop_at) {
            turns_stop(&writing->turns);
            return;
        }
        if (!turns_await(&writing->turns, piece)) {
            writing->refused = true;
            return;
        }
        writing->at[piece] = turns_hand_in(&writing->turns, piece % 7);
    }
    (void)member;
}

static void test_turns(void **context)
{
    (void)context;
    static struct writing writing;
    struct team *team = team_new(THREADS);
    for (int call = 0; call < 20; call++) {
        turns_init(&writing.turns, 5);
        writing.next = 0;
        writing.stop_at = PARTS;
        team_run(team, THREADS, write_pieces, &writing);
        int64_t rows = 5;
        for (int64_t piece = 0; piece < PARTS; piece++) {
            assert_int_equal(writing.at[piece], rows);
            rows += piece % 7;
        }
        assert_int_equal(writing.turns.rows, rows);
        assert_false(writing.refused);
        turns_destroy(&writing.turns);
    }
    team_free(team);
}

/* Whoever waits for a piece that never comes is let go. */
static void test_stopped(void **context)
{
    (void)context;
    static struct writing writing = {.stop_at = PARTS / 2};
    struct team *team = team_new(THREADS);
    turns_init(&writing.turns, 0);
    team_run(team, THREADS, write_pieces, &writing);
    assert_true(writing.turns.stopped);
    assert_true(writing.turns.turn <= PARTS / 2);
    turns_destroy(&writing.turns);
    team_free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_done),
        cmocka_unit_test(test_engaged),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
