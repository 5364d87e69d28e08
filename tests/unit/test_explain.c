/* explain: the queue before and after fusion, and its programs. */
#include "queries.h"

#include "engine/evaluator/evaluator.h"
#include "engine/explain/explain.h"

/* Runs one explain statement into `out`. */
static enum status explain(struct queries *queries, const char *text, bool fusion, struct strbuf *out)
{
    struct scratch *scratch = queries->scratch;
    struct runner runner = {.env = queries->env, .evaluator = evaluator_open_threads(1), .fusion = fusion};
    const struct stmt *stmt = query_parse(queries, text);
    assert_int_equal(stmt->kind, STMT_EXPLAIN);
    enum status status = explain_statement(out, &runner, stmt, scratch->arena, &scratch->diags);
    runner.evaluator->ops->close(runner.evaluator);
    return status;
}

static void assert_explains(struct queries *queries, const char *text, bool fusion, const char *expected)
{
    struct strbuf out = {0};
    assert_int_equal(explain(queries, text, fusion, &out), STATUS_OK);
    if (strcmp(out.text, expected) != 0)
        fail_msg("%s\n%s\nshould be\n%s", text, out.text, expected);
    strbuf_free(&out);
}

static void queues(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"explain load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum",
         "queue: 6 tasks\n"
         "  1 Load    ids.bin                   -> ids\n"
         "  2 Load    amounts.bin               -> amounts\n"
         "  3 Zip     amounts.bin               -> ids, amounts\n"
         "  4 Filter  ids == 42 && amounts > 0  -> amounts  drops ids\n"
         "  5 Snds                              -> amounts\n"
         "  6 Sum     amounts\n"
         "fused: 1 task\n"
         "  1 Filter+Sum\n"
         "      reads ids:i32, amounts:i32  10 rows\n"
         "      keep ids == 42 && amounts > 0\n"
         "      gives sum(amounts)\n"},
        {"explain load ids.bin | map x + 1 as a | where a > 8 | map a * row as b | take 3 | show",
         "queue: 5 tasks\n"
         "  1 Load    ids.bin      -> ids\n"
         "  2 Map     a = ids + 1  -> a\n"
         "  3 Filter  a > 8        -> a\n"
         "  4 Map     b = a * row  -> b\n"
         "  5 Take    3            -> b\n"
         "fused: 2 tasks\n"
         "  1 MappingFilter  reads ids:i32  10 rows  keep ids + 1 > 8  gives a = ids + 1\n"
         "  2 Map+Take  reads a:i64 of 1  at most 3 rows  gives b = a * row\n"},
        {"explain load ids.bin | select x > 3 | zip (load ids.bin | select x < 3) | count",
         "queue: 6 tasks\n"
         "  1 Load    ids.bin                        -> ids\n"
         "  2 Filter  ids > 3                        -> drops ids\n"
         "  3 Load    ids.bin                        -> ids\n"
         "  4 Filter  ids < 3                        -> drops ids\n"
         "  5 Zip     (load ids.bin | select x < 3)  -> drops ids, ids_2\n"
         "  6 Count\n"
         "fused: 3 tasks\n"
         "  1 Filter  reads ids:i32  10 rows  keep ids > 3  gives rows\n"
         "  2 Filter  reads ids:i32  10 rows  keep ids < 3  gives rows\n"
         "  3 Count  reads rows of 1  same row count as 2  gives count()\n"},
        {"explain [3, 1, 2]", "queue: 1 task\n"
                              "  1 List  [3, 1, 2]  -> c1\n"
                              "fused: 1 task\n"
                              "  1 List  reads c1:i64  3 rows  gives c1\n"},
        {"explain load ids.bin, amounts.bin | derive d = ids - amounts | tail 4 | select d > 0 || ids in [1, 2] | mean "
         "d",
         "queue: 5 tasks\n"
         "  1 Load    ids.bin, amounts.bin             -> ids, amounts\n"
         "  2 Map     d = ids - amounts                -> ids, d  drops amounts\n"
         "  3 Tail    4                                -> ids, d  drops amounts\n"
         "  4 Filter  d > 0 || (ids == 1 || ids == 2)  -> d  drops ids, amounts\n"
         "  5 Mean    d\n"
         "fused: 1 task\n"
         "  1 Map+Tail+Filter+Mean\n"
         "      reads ids:i32, amounts:i32  from row 6  4 rows\n"
         "      keep ids - amounts > 0 || (ids == 1 || ids == 2)\n"
         "      gives mean(ids - amounts)\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_explains(*state, cases[i].text, true, cases[i].expected);
    assert_explains(*state, "explain range 1..3 | sum", false,
                    "queue: 2 tasks\n"
                    "  1 Range  1..3  -> c1\n"
                    "  2 Sum    c1\n"
                    "fused: 1 task\n"
                    "  1 Sum  3 rows  gives sum(row + 1)\n"
                    "fusion is off: the queue runs as written\n");
}

/* Operators are separate tasks, between the producer of their operands and the reader. */
static void breakers(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"explain load ids.bin, amounts.bin | select amounts > 0 | sort -amounts, ids desc | take 3",
         "queue: 5 tasks\n"
         "  1 Load    ids.bin, amounts.bin  -> ids, amounts\n"
         "  2 Filter  amounts > 0           -> ids, amounts\n"
         "  3 Map     c3 = -amounts         -> ids, amounts, c3\n"
         "  4 Sort    by c3, ids desc       -> ids, amounts\n"
         "  5 Take    3                     -> ids, amounts\n"
         "fused: 3 tasks\n"
         "  1 Filter+Map\n"
         "      reads ids:i32, amounts:i32  10 rows\n"
         "      keep amounts > 0\n"
         "      gives ids, amounts, c3 = -amounts\n"
         "  2 Sort\n"
         "      reads ids:i32 of 1, amounts:i32 of 1, c3:i64 of 1\n"
         "      by c3, ids desc  first 3\n"
         "      gives ids, amounts\n"
         "  3 Take  reads ids:i32 of 2, amounts:i32 of 2  at most 3 rows  gives ids, amounts\n"},
        {"explain load ids.bin, amounts.bin | group ids: sum(amounts), count() as n",
         "queue: 2 tasks\n"
         "  1 Load   ids.bin, amounts.bin           -> ids, amounts\n"
         "  2 Group  by ids: sum(amounts), count()  -> ids, sum_amounts, n\n"
         "fused: 1 task\n"
         "  1 Group\n"
         "      reads ids:i32, amounts:i32  10 rows\n"
         "      by ids\n"
         "      gives ids, sum_amounts = sum(amounts), n = count()\n"},
        {"explain load ids.bin | scan max exclusive from 7 | fold bitor",
         "queue: 3 tasks\n"
         "  1 Load    ids.bin                      -> ids\n"
         "  2 Scan    max of ids exclusive from 7  -> ids\n"
         "  3 Reduce  bitor\n"
         "fused: 2 tasks\n"
         "  1 Scan  reads ids:i32  10 rows  max of ids exclusive from 7  gives ids\n"
         "  2 Reduce  reads ids:i64 of 1  10 rows  gives bitor(ids)\n"},
        {"explain load short.i16 | scatter [2, 0, 1] into 5 | distinct",
         "queue: 4 tasks\n"
         "  1 Load      short.i16     -> short\n"
         "  2 List      [2, 0, 1]     -> c1\n"
         "  3 Scatter   to c1 into 5  -> short\n"
         "  4 Distinct  of short      -> short\n"
         "fused: 2 tasks\n"
         "  1 Scatter  reads short:i16, c1:i64  3 rows  to c1 into 5  gives short\n"
         "  2 Distinct  reads short:i16 of 1  5 rows  of short  gives short\n"},
        {"explain load half.f64 | hist 4 | map count", "queue: 3 tasks\n"
                                                       "  1 Load  half.f64      -> half\n"
                                                       "  2 Hist  of half in 4  -> count  drops lo, hi\n"
                                                       "  3 Map                 -> count\n"
                                                       "fused: 2 tasks\n"
                                                       "  1 Hist  reads half:f64  4 rows  of half in 4  gives count\n"
                                                       "  2 Map  reads count:i64 of 1  4 rows  gives count\n"},
        {"explain load ids.bin | shape 2 5 | scan + along cols | max along rows",
         "queue: 6 tasks\n"
         "  1 Load   ids.bin                   -> ids\n"
         "  2 Shape  2 5                       -> ids\n"
         "  3 Scan   + of ids along 5 columns  -> ids\n"
         "  4 Map    row = row / 5             -> row, ids\n"
         "  5 Group  by row: max(ids)          -> max_ids  drops row\n"
         "  6 Pick   along rows                -> max_ids\n"
         "fused: 4 tasks\n"
         "  1 Shape+Scan  reads ids:i32  10 rows  + of ids along 5 columns  gives ids\n"
         "  2 Map  reads ids:i64 of 1  10 rows  gives row = row / 5, ids\n"
         "  3 Group  reads row:i64 of 2, ids:i64 of 2  10 rows  by row  gives max_ids = max(ids)\n"
         "  4 Pick  reads max_ids:i64 of 3  2 rows  gives max_ids\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_explains(*state, cases[i].text, true, cases[i].expected);
    assert_explains(*state, "explain kernel load short.i16 | sort x desc | sum", true,
                    "// task 1: Sort\n"
                    "  by short desc\n"
                    "\n"
                    "// task 2: Sum\n"
                    "  v0: i32 = short  in -32768..32767\n"
                    "  aggregate v0\n");
}

/* A let relation is shown by name. */
static void names_of_relations(void **state)
{
    struct queries *queries = *state;
    const int64_t numbers[] = {5, 6, 7};
    struct column *column = column_of_ints(numbers, 3);
    const char *name = "n";
    struct relation *relation = relation_new(3, 1, &column, &name);
    env_set_relation(queries->env, "prices", relation);
    relation_unref(relation);
    column_unref(column);
    assert_explains(queries, "explain prices | select n > prices[0]", true,
                    "queue: 2 tasks\n"
                    "  1 Let     prices         -> n\n"
                    "  2 Filter  prices[0] < n  -> n\n"
                    "fused: 1 task\n"
                    "  1 Filter  reads n:i64, prices[]:i64  3 rows  keep prices[0] < n  gives n\n");
}

/* Fused tasks are named as in RubiCL. */
static void titles(void **state)
{
    static const struct {
        const char *stages, *title;
    } cases[] = {
        {"map x + 1", "Map"},
        {"map x + 1 | map x * 2", "Map"},
        {"select x > 1 | reject x > 5", "Filter"},
        {"map x + 1 | select x > 5", "MappingFilter"},
        {"braid x + 1 | select x > 5", "BraidingFilter"},
        {"select x > 5 | map x + 1", "Filter+Map"},
        {"map x + 1 | select x > 5 | map x * 2", "MappingFilter+Map"},
        {"map x + 1 | select x > 5 | map x * 2 | select x > 9", "MappingFilter+MappingFilter"},
        {"map x + 1 | select x > 5 | select x < 9 | product", "MappingFilter+Product"},
        {"zip ids.bin | snds", "Load+Snds"},
        {"zip ids.bin | snds | max", "Max"},
        {"skip 1 | map x | skip 1 | map x | skip 1 | map x | sum", "Skip+Map+Skip+Map+Skip+…"},
    };
    struct queries *queries = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        const char *text = arena_printf(queries->scratch->arena, "explain load ids.bin | %s", cases[i].stages);
        assert_int_equal(explain(queries, text, true, &out), STATUS_OK);
        const char *title = strstr(out.text, "fused: 1 task\n  1 ");
        assert_non_null(title);
        title += strlen("fused: 1 task\n  1 ");
        size_t length = strcspn(title, " \n");
        if (length != strlen(cases[i].title) || memcmp(title, cases[i].title, length) != 0)
            fail_msg("%s: called %.*s, should be %s", cases[i].stages, (int)length, title, cases[i].title);
        strbuf_free(&out);
    }
}

/* Without a device, the evaluator's typed code is shown. */
static void programs(void **state)
{
    assert_explains(*state, "explain kernel load wide.i64 | select x != 0 | map 100 / x, x as y | pick y | sum", true,
                    "// task 1: Filter+Map+Sum\n"
                    "  v0: i64 = wide  in -9223372036854775808..9223372036854775807\n"
                    "  v1: i32 = 0  in 0..0\n"
                    "  v2: bool = NE v0 v1\n"
                    "  keep v2\n"
                    "  aggregate v0\n");
    assert_explains(*state, "explain kernel load ids.bin | select 100 / x > 2 | take 2 | map row + x", true,
                    "// task 1: Filter+Take\n"
                    "  v0: i32 = ids  in -2147483648..2147483647\n"
                    "  v1: i32 = 100  in 1..127\n"
                    "  v2: i32 = DIV v1 v0  in -127..127  checked\n"
                    "  v3: i32 = 2  in 1..127\n"
                    "  v4: bool = LT v3 v2\n"
                    "  keep v4\n"
                    "  output v0\n"
                    "\n"
                    "// task 2: Map\n"
                    "  v0: i32 = ids  in -2147483648..2147483647\n"
                    "  v1: i32 = row  in 0..2147483647\n"
                    "  v2: i64 = ADD v1 v0  in -2147483648..4294967294\n"
                    "  output v2\n");
}

/* However long the query, the plan is bounded, and free of control bytes from names. */
static void long_and_strange(void **state)
{
    struct queries *queries = *state;
    struct strbuf text = {0}, out = {0};
    strbuf_puts(&text, "explain load ids.bin");
    for (int i = 0; i < 500; i++)
        strbuf_printf(&text, " | select x + x * x > %d | take %d", i, 100 + i);
    assert_int_equal(explain(queries, text.text, true, &out), STATUS_OK);
    assert_true(out.length < 20000);
    assert_non_null(strstr(out.text, "queue: 1001 tasks\n"));
    assert_non_null(strstr(out.text, "  … 971 more\n"));
    strbuf_clear(&text);
    strbuf_clear(&out);
    strbuf_puts(&text, "explain load ids.bin | map x");
    for (int i = 0; i < 300; i++)
        strbuf_printf(&text, ", x + %d", i);
    assert_int_equal(explain(queries, text.text, true, &out), STATUS_OK);
    assert_true(out.length < 3000);
    strbuf_clear(&out);
    assert_int_equal(explain(queries, "explain load ids.bin as `\x1b[2J` | map x + 1 as `a\x07`", true, &out),
                     STATUS_OK);
    assert_null(strpbrk(out.text, "\x1b\x07"));
    assert_non_null(strstr(out.text, "a^G = `^[[2J` + 1"));
    strbuf_free(&text);
    strbuf_free(&out);
}

static void nothing_to_explain(void **state)
{
    struct queries *queries = *state;
    struct strbuf out = {0};
    env_set_scalar(queries->env, "five", scalar_int(5));
    assert_explains(queries, "explain five", true, "nothing to run: the value is constant\n");
    assert_int_equal(explain(queries, "explain load ids.bin | take 1.5", true, &out), STATUS_FAILED);
    assert_only_told(queries->scratch, "`take` takes an integer");
    assert_int_equal(out.length, 0);
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(queues, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(breakers, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(names_of_relations, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(titles, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(programs, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(long_and_strange, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_explain, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
