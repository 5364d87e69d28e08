/* Progress reports of long operations, and the shell's progress line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel.h"
#include "engine/evaluator/evaluator.h"
#include "engine/run/run.h"
#include "queries.h"
#include "repl/session/progress_bar.h"

#include <string.h>

struct listener {
    struct progress base;
    char what[100];
    int told, fell; /* fell: restarted for another step or pass */
    double part;
    struct progress_step last;
};

static void listen(struct progress *progress, const struct progress_step *advance)
{
    struct listener *listener = (struct listener *)progress;
    assert_true(advance->part >= 0 && advance->part <= 1);
    listener->told++;
    listener->fell += advance->part < listener->part;
    listener->part = advance->part;
    listener->last = *advance;
    (void)snprintf(listener->what, sizeof listener->what, "%s", advance->what);
}

static void run(struct queries *queries, struct backend *evaluator, const char *text, struct listener *listener)
{
    *listener = (struct listener){.base.report = listen};
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct runner runner = {.env = queries->env, .evaluator = evaluator, .fusion = true, .progress = &listener->base};
    struct result result;
    assert_int_equal(run_statement(&runner, query_parse(queries, text), arena, &result, &diags), STATUS_OK);
    result_release(&result);
    arena_free(arena);
}

static void tasks_tell_rising_parts(void **state)
{
    struct backend *evaluator = evaluator_open();
    struct listener listener;
    run(*state, evaluator, "range 1..2000000 | select x % 3 == 0 | sum", &listener);
    assert_true(listener.told > 0); /* only for this thread's chunks */
    assert_int_equal(listener.fell, 0);
    assert_true(listener.part == 1);
    assert_string_equal(listener.what, "range+select+sum");
    assert_int_equal(listener.last.rows, 2000000);
    assert_int_equal(listener.last.bytes, 0); /* a range reads no memory */

    run(*state, evaluator, "range 1..2000000 | select x % 3 == 0", &listener);
    assert_true(listener.told > 0 && listener.fell == 0 && listener.part == 1);

    run(*state, evaluator, "load ids.bin | zip amounts.bin | select ids == 42 | sum amounts", &listener);
    assert_true(listener.told > 0 && listener.part == 1);
    assert_int_equal(listener.last.rows, 10);
    assert_int_equal(listener.last.bytes, 2 * 10 * 4);
    evaluator->ops->close(evaluator);
}

static void breakers_tell_their_passes(void **state)
{
    struct backend *evaluator = evaluator_open();
    struct listener listener = {0};
    /* On a busy machine, other threads may do a whole pass, or the end of one, and this one reports nothing. */
    for (int i = 0; i < 20 && (listener.fell == 0 || listener.part < 1); i++)
        run(*state, evaluator, "range 1..1000000 | map x * 7919 % 1000003 as k | sort k desc", &listener);
    assert_string_equal(listener.what, "sort");
    assert_true(listener.fell > 0);
    assert_true(listener.part == 1);
    assert_int_equal(listener.last.rows, 1000000);
    evaluator->ops->close(evaluator);
}

static void nothing_to_tell_of_no_rows(void **state)
{
    struct backend *evaluator = evaluator_open();
    struct listener listener;
    run(*state, evaluator, "range 1..0 | sum", &listener);
    assert_int_equal(listener.told, 0);
    evaluator->ops->close(evaluator);
}

static void line(const struct progress_step *advance, int passes, int64_t ns, size_t width, const char *wanted)
{
    struct strbuf out = {0};
    const struct progress_bar bar = {.passes = passes, .whole = advance->part};
    progress_bar_line(&out, &bar, advance, ns, width);
    assert_string_equal(out.text, wanted);
    assert_true(text_width(out.text, out.length) <= width);
    strbuf_free(&out);
}

static void lines_fit(void **state)
{
    (void)state;
    const struct progress_step half = {"select+sum", 100000000, 800000000, 0.5, 1, 0, false};
    line(&half, 1, 500000000, 120,
         " 50 % ██████████░░░░░░░░░░  0.5 s left  select+sum  50.0 M of 100 M rows  100 M rows/s  0.80 GB/s");
    line(&half, 3, 500000000, 70, " 50 % ██████████░░░░░░░░░░  0.5 s left  select+sum, pass 3  0.80 GB/s");
    line(&half, 1, 500000000, 30, " 50 %   0.5 s left  select+sum");
    line(&half, 1, 500000000, 8, " 50 % ");
    const struct progress_step slow = {"read \033.csv", 0, 1000000000000, 0.01, 1, 0, false};
    line(&slow, 1, 100000000000, 80, "  1 % ▎░░░░░░░░░░░░░░░░░░░  165 min left  read ^[.csv  0.10 GB/s");
    const struct progress_step none = {"sort", 1000, 0, 0, 6, 0, false};
    line(&none, 1, 0, 80, "  0 % ▏░░░░░░░░░░░░░░░░░░░  sort  0 of 1.0 k rows  0 rows/s");
    const struct progress_step last = {"sum", 0, 0, 0.999, 1, 0, false};
    line(&last, 1, 1000000000, 80, " 99 % ████████████████████  sum");
    const struct progress_step loop = {"repeat", 1000000, 0, 0.25, 1, 250000, false};
    line(&loop, 1, 500000000, 120,
         " 25 % █████░░░░░░░░░░░░░░░  1.5 s left  repeat  round 250,000 of 1,000,000  500 k rounds/s");
    const struct progress_step load = {"load t.csv", 0, 120000000, 0.25, 1, 0, true};
    line(&load, 1, 500000000, 120, " 25 % █████░░░░░░░░░░░░░░░  1.5 s left  load t.csv  30.0 of 120.0 MB  60.0 MB/s");
    const struct progress_step endless = {"repeat", 0, 0, 0, 0, 1500, false};
    line(&endless, 1, 500000000, 120, "  0 % ▏░░░░░░░░░░░░░░░░░░░  repeat  round 1,500  3.0 k rounds/s");
}

/* Steps of any number of passes, also more than were expected: never back, and never done before the last is. */
static void the_whole_never_falls(void **state)
{
    (void)state;
    for (int expected = 0; expected <= 4; expected++) {
        struct progress_bar bar = {.base = {.later = 1}};
        double before = 0;
        for (int pass = 0; pass < 12; pass++) {
            bar.base.later = pass < 8;
            for (int k = 0; k <= 10; k++) {
                const struct progress_step step = {pass < 8 ? "sort" : "sum", 0, 0,    k / 10.0,
                                                   pass < 8 ? expected : 1,   0, false};
                progress_bar_note(&bar, &step, pass * 10 + k);
                assert_true(bar.whole >= before && bar.whole <= 1);
                assert_true(bar.whole < 1 || pass >= 8);
                before = bar.whole;
            }
        }
        assert_true(before == 1);
    }
    /* One pass is the whole. */
    struct progress_bar bar = {.base = {.later = 0}};
    const struct progress_step half = {"sum", 0, 0, 0.5, 1, 0, false};
    progress_bar_note(&bar, &half, 1);
    assert_true(bar.whole == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tasks_tell_rising_parts, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(breakers_tell_their_passes, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_tell_of_no_rows, queries_setup, queries_teardown),
        cmocka_unit_test(lines_fit),
        cmocka_unit_test(the_whole_never_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
