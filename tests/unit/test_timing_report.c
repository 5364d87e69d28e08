/* The timing report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repl/session/timing_report.h"

static void lines_come_in_the_order_a_query_passes_them(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct timing timing;
    timing_init(&timing, arena);
    timing_add(&timing, PHASE_KERNEL, "select+sum", 4000000, 80000000);
    timing_add(&timing, PHASE_PARSE, "", 12345, 0);
    timing_add(&timing, PHASE_MAP, "ids\033.bin", 5000, 0);
    timing_add(&timing, PHASE_BUILD, "cached", 700, 0);
    timing_add(&timing, PHASE_KERNEL, "select+sum", 4000000, 80000000);
    struct strbuf out = {0};
    report_timing(&out, &timing, 1000, 123456789);
    assert_string_equal(out.text, "parsed          0.012 ms\n"
                                  "mapped          0.005 ms                ids^[.bin\n"
                                  "built           0.001 ms                cached\n"
                                  "kernel          8.000 ms    20.00 GB/s  select+sum\n"
                                  "printed         0.001 ms\n"
                                  "total         123.457 ms\n");
    strbuf_free(&out);
    arena_free(arena);
}

static void servers_are_named_if_they_were_asked(void **state)
{
    (void)state;
    struct strbuf out = {0};
    const struct table_traffic before = {2, 1000, 5, 100, 0, 0};
    struct table_traffic after = before;
    report_traffic(&out, &before, &after);
    assert_null(out.text);
    after = (struct table_traffic){3, 2001000, 6, 142, 0, 0};
    report_traffic(&out, &before, &after);
    after = (struct table_traffic){4, 2001000, 15, 142, 70000, 1};
    report_traffic(&out, &before, &after);
    assert_string_equal(out.text,
                        "servers         2.000 ms  1 query, 1 row and 42 bytes came over\n"
                        "servers         2.000 ms  2 queries, 70000 rows read there, 10 rows and 42 bytes came "
                        "over\n");
    strbuf_free(&out);
}

/* No measurable time: no rate; few bytes: a small one. */
static void cost_model_need_a_time(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct timing timing;
    timing_init(&timing, arena);
    timing_add(&timing, PHASE_KERNEL, "range", 51000, 24);
    timing_add(&timing, PHASE_UPLOAD, "i32", 0, 4096);
    struct strbuf out = {0};
    report_timing(&out, &timing, 0, 0);
    assert_string_equal(out.text, "uploaded        0.000 ms                i32\n"
                                  "kernel          0.051 ms     0.00 GB/s  range\n"
                                  "printed         0.000 ms\n"
                                  "total           0.000 ms\n");
    strbuf_free(&out);
    arena_free(arena);
}

static void repeats_report_minimum_and_median(void **state)
{
    (void)state;
    int64_t ns[] = {1000000, 2000000, 9000000};
    struct measurements runs = {.ns = ns, .count = 3, .build_ns = 500000};
    struct strbuf out = {0};
    report_repeats(&out, &runs, false);
    runs = (struct measurements){.ns = ns, .count = 1};
    report_repeats(&out, &runs, true);
    runs.count = 0;
    report_repeats(&out, &runs, true);
    assert_string_equal(out.text, "minimum         1.000 ms\n"
                                  "median          2.000 ms  of 3 more runs, excluding 0.500 ms of building\n"
                                  "minimum         1.000 ms\n"
                                  "median          1.000 ms  of 1 more run, then interrupted\n"
                                  "interrupted\n");
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_the_order_a_query_passes_them),
        cmocka_unit_test(servers_are_named_if_they_were_asked),
        cmocka_unit_test(cost_model_need_a_time),
        cmocka_unit_test(repeats_report_minimum_and_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
