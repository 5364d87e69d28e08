/* Fusion: which tasks may fuse, which may not, and that results are unchanged. */
#include "queries.h"
#include "random_code.h"

#include "engine/evaluator/evaluator.h"
#include "engine/exact/exact.h"
#include "engine/explain/explain_task.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/loop.h"
#include "engine/task/run_queue.h"

/* Prints a fused queue, a task per line. */
static void describe(struct strbuf *out, const struct queue *queue)
{
    for (size_t t = 0; t < queue->count; t++) {
        struct strbuf parts[3] = {{0}};
        task_reads(&parts[0], queue->tasks[t]);
        task_keeps(&parts[1], queue->tasks[t]);
        task_result_text(&parts[2], queue->tasks[t]);
        strbuf_puts(out, t > 0 ? "\n" : "");
        for (int i = 0; i < 3; i++) {
            strbuf_puts(out, i > 0 && parts[i].length > 0 ? "; " : "");
            strbuf_puts(out, parts[i].length > 0 ? parts[i].text : "");
            strbuf_free(&parts[i]);
        }
    }
}

static bool same_scalar(const struct scalar *a, const struct scalar *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind != KIND_FLOAT ? a->integer == b->integer
                                 : a->number == b->number || (a->number != a->number && b->number != b->number);
}

static bool same_result(const struct result *a, const struct result *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == RESULT_SCALAR)
        return same_scalar(&a->scalar, &b->scalar);
    if (a->kind == RESULT_NONE)
        return true;
    const struct relation *left = a->relation, *right = b->relation;
    bool same = left->rows == right->rows && left->count == right->count;
    for (size_t k = 0; same && k < left->count; k++) {
        same = left->columns[k]->type == right->columns[k]->type && strcmp(left->names[k], right->names[k]) == 0;
        for (int64_t row = 0; same && row < left->rows; row++) {
            struct scalar x = column_get(left->columns[k], row), y = column_get(right->columns[k], row);
            same = same_scalar(&x, &y);
        }
    }
    return same;
}

/* Runs the query with the exact and the vectorised evaluator, each unfused and fused. */
static enum status run_all_ways(struct queries *queries, const char *text, const struct queue *queue,
                                const struct queue *fused)
{
    struct diags *diags = &queries->scratch->diags;
    struct runner runner = {.env = queries->env, .evaluator = evaluator_open_threads(1)};
    struct result results[4] = {{.kind = RESULT_NONE}};
    enum status statuses[4];
    statuses[0] = exact_run(queue, NULL, NULL, &results[0], diags);
    statuses[1] = exact_run(fused, NULL, NULL, &results[1], diags);
    statuses[2] = run_queue(&runner, queue, DEFER_NEVER, &results[2], diags);
    runner.fusion = true;
    statuses[3] = run_queue(&runner, queue, DEFER_NEVER, &results[3], diags);
    for (int i = 1; i < 4; i++) {
        if (statuses[i] != statuses[0] || (statuses[0] == STATUS_OK && !same_result(&results[0], &results[i])))
            fail_msg("%s: way %d disagrees", text, i);
    }
    for (int i = 0; i < 4; i++)
        result_release(&results[i]);
    runner.evaluator->ops->close(runner.evaluator);
    diags->count = 0;
    return statuses[0];
}

struct expected {
    const char *text;
    size_t stages;     /* tasks as bound */
    const char *fused; /* NULL: one task, too long to spell out */
};

static void check(struct queries *queries, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bound bound = query_bind(queries, expected[i].text);
        struct queue fused;
        struct strbuf out = {0};
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        describe(&out, &fused);
        bool same = expected[i].fused ? strcmp(out.text, expected[i].fused) == 0 : fused.count == 1;
        if (bound.queue.count != expected[i].stages || !same)
            fail_msg("%s: %zu tasks become\n%s\nshould be\n%s", expected[i].text, bound.queue.count, out.text,
                     expected[i].fused ? expected[i].fused : "one task");
        run_all_ways(queries, expected[i].text, &bound.queue, &fused);
        strbuf_free(&out);
        queue_release(&fused);
        queue_release(&bound.queue);
    }
}

#define CHECK(queries, table) check(queries, table, sizeof(table) / sizeof *(table))

static void rubicls_seven(void **state)
{
    static const struct expected expected[] = {
        /* map-map */
        {"load ids.bin | map x + 1 as a | map a * 2 as b", 3, "reads ids:i32  10 rows; gives b = (ids + 1) * 2"},
        /* filter-filter */
        {"load ids.bin | select x > 3 | select x < 100", 3,
         "reads ids:i32  10 rows; keep ids > 3 && ids < 100; gives ids"},
        /* map-filter */
        {"load ids.bin | map x + 1 as a | select a > 8", 3,
         "reads ids:i32  10 rows; keep ids + 1 > 8; gives a = ids + 1"},
        /* filter-map */
        {"load ids.bin | select x > 3 | map x * 2 as a", 3, "reads ids:i32  10 rows; keep ids > 3; gives a = ids * 2"},
        /* map-mapfilter */
        {"load ids.bin | map x + 1 as a | map a * 2 as b | select b > 10", 4,
         "reads ids:i32  10 rows; keep (ids + 1) * 2 > 10; gives b = (ids + 1) * 2"},
        /* mapfilter-map */
        {"load ids.bin | map x + 1 as a | select a > 8 | map a * 2 as b", 4,
         "reads ids:i32  10 rows; keep ids + 1 > 8; gives b = (ids + 1) * 2"},
        /* mapfilter-filter */
        {"load ids.bin | map x + 1 as a | select a > 8 | select a < 100", 4,
         "reads ids:i32  10 rows; keep ids + 1 > 8 && ids + 1 < 100; gives a = ids + 1"},
        /* what RubiCL could not fuse: a filter after a post-mapped mapfilter */
        {"load ids.bin | map x + 1 as a | select a > 8 | map a * 2 as b | select b % 3 != 0", 5,
         "reads ids:i32  10 rows; keep ids + 1 > 8 && (ids + 1) * 2 % 3 != 0; gives b = (ids + 1) * 2"},
        /* and a terminal */
        {"load ids.bin | map x + 1 as a | select a > 8 | map a * 2 as b | reject b % 3 == 0 | sum", 6,
         "reads ids:i32  10 rows; keep ids + 1 > 8 && !((ids + 1) * 2 % 3 == 0); gives sum((ids + 1) * 2)"},
        {"load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum", 6,
         "reads ids:i32, amounts:i32  10 rows; keep ids == 42 && amounts > 0; gives sum(amounts)"},
    };
    CHECK(*state, expected);
}

static void other_stages(void **state)
{
    static const struct expected expected[] = {
        {"load ids.bin, amounts.bin | derive d = ids - amounts | select d > 0 | pick d, ids | braid |a, b| a + b as z",
         5, "reads ids:i32, amounts:i32  10 rows; keep ids - amounts > 0; gives z = ids - amounts + ids"},
        {"load ids.bin | select x > 3 | count x < 100", 3,
         "reads ids:i32  10 rows; keep ids > 3 && ids < 100; gives count()"},
        {"load ids.bin | count 42", 2, "reads ids:i32  10 rows; keep ids == 42; gives count()"},
        {"load half.f64 | map x * 2 | max", 3, "reads half:f64  4 rows; gives max(half * 2.0)"},
        {"load ids.bin | mean x > 3", 2, "reads ids:i32  10 rows; gives mean(int(ids > 3))"},
        {"range 1..9 by 2 | select x % 3 != 0 | product", 3,
         "5 rows; keep (row * 2 + 1) % 3 != 0; gives product(row * 2 + 1)"},
        {"load ids.bin | select 1 == 1 | count", 3, "10 rows; gives count()"},
        {"load ids.bin | select 1 == 2 | sum", 3, "reads ids:i32  10 rows; keep false; gives sum(ids)"},
        {"load ids.bin | select x > 3 | select x > 3 | sum", 4, "reads ids:i32  10 rows; keep ids > 3; gives sum(ids)"},
        /* Counting reads no columns. */
        {"load ids.bin, amounts.bin | map ids as n, 10 / ids as q | count", 3, "10 rows; gives count()"},
        {"load ids.bin, amounts.bin | derive q = 10 / ids, z = amounts * 2 | select z > 3 | map z | sum", 5,
         "reads amounts:i32  10 rows; keep amounts * 2 > 3; gives sum(amounts * 2)"},
        {"load table/ | pick qty", 2, "reads qty:i8  2 rows; gives qty"},
        {"load table/ | select qty > 1 | pick price | count", 4, "reads qty:i8  2 rows; keep qty > 1; gives count()"},
    };
    CHECK(*state, expected);
}

static void zips(void **state)
{
    static const struct expected expected[] = {
        {"load ids.bin | map x + 1 as a | zip (load amounts.bin | map x * 2 as b) | map a + b as c", 6,
         "reads ids:i32, amounts:i32  10 rows; gives c = ids + 1 + amounts * 2"},
        {"load ids.bin | zip (range 1..10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] | sum $1 * $2 * $3", 5,
         "reads ids:i32, c1:i64  10 rows; gives sum(ids * (row + 1) * c1)"},
        /* A repeated file is read once. */
        {"load ids.bin | zip ids.bin | map $1 + $2 as s", 4, "reads ids:i32  10 rows; gives s = ids + ids"},
        /* Filtered columns' lengths can be compared only at run time. */
        {"load ids.bin | select x > 3 | zip (load ids.bin | select x != 0 && x != 42) | sum $1", 6,
         "reads ids:i32  10 rows; keep ids > 3; gives ids\n"
         "reads ids:i32  10 rows; keep ids != 0 && ids != 42; gives rows\n"
         "reads ids:i32 of 1  same row count as 2; gives sum(ids)"},
        {"load ids.bin | select x > 3 | zip (range 1..9) | map $1 + $2 as s", 5,
         "reads ids:i32  10 rows; keep ids > 3; gives ids\n"
         "9 rows; gives c1 = row + 1\n"
         "reads ids:i32 of 1, c1:i64 of 2  same row count as 2; gives s = ids + c1"},
        /* Only file slices with the same start row fuse. */
        {"load ids.bin | skip 2 | zip (load amounts.bin | skip 2) | sum $1 * $2", 6,
         "reads ids:i32, amounts:i32  from row 2  8 rows; gives sum(ids * amounts)"},
        {"load ids.bin | skip 2 | zip (load amounts.bin | take 8) | sum $1 * $2", 6,
         "reads ids:i32  from row 2  8 rows; gives ids\n"
         "reads amounts:i32  8 rows; gives amounts\n"
         "reads ids:i32 of 1, amounts:i32 of 2  8 rows; gives sum(ids * amounts)"},
        {"load ids.bin | skip 2 | zip (range 1..8) | sum $1 * $2", 5,
         "reads ids:i32  from row 2  8 rows; gives sum(ids * (row + 1))"},
        {"range 1..10 | skip 2 | zip (load amounts.bin | take 8) | map $1 + $2 + row as s", 6,
         "reads amounts:i32  8 rows; gives s = row + 2 + 1 + amounts + row"},
        {"range 1..10 | skip 2 | zip (load amounts.bin | take 8 | map x * x + x * 3 as z) | map $1 + $2 as s", 7,
         "reads amounts:i32  8 rows; gives s = row + 2 + 1 + (amounts * amounts + amounts * 3)"},
    };
    CHECK(*state, expected);
}

static void neighbours(void **state)
{
    static const struct expected expected[] = {
        {"load ids.bin | map x + 1 as a | stencil -1..1 else 0: at(-1) + at(0) + at(1) as s | sum", 4,
         "reads ids:i32  10 rows; gives sum(row >= 1 && row + 1 < rows ? at(ids, -1) + 1 + (ids + 1) + (at(ids, 1) + "
         "1) "
         ": 0)"},
        /* Row numbers and row counts still refer to the input before the window. */
        {"load ids.bin | stencil -1..1 else 0: at(-1) + at(1) as s | skip 2 | take 3", 4,
         "reads ids:i32  from row 2  3 rows; gives s = row + 2 >= 1 && row + 2 + 1 < 10 ? at(ids, -1) + at(ids, 1) : "
         "0"},
        /* A filter changes the neighbours. */
        {"load ids.bin | select x > 3 | stencil 0..1 else 0: at(1) as s", 3,
         "reads ids:i32  10 rows; keep ids > 3; gives ids\n"
         "reads ids:i32 of 1; gives s = row + 1 < rows ? at(ids, 1) : 0"},
        /* Fourteen operations are recomputed for four neighbours, but not for five. */
        {"load ids.bin | map ((((((x*3+1)*5+2)*7+3)*11+4)%13*2+5)*3+1)%9 as a | stencil 0..3 else 0: "
         "at(0) + at(1) + at(2) + at(3) as s | count s > 0 && s < 0",
         4, NULL},
        {"load ids.bin | map ((((((x*3+1)*5+2)*7+3)*11+4)%13*2+5)*3+1)%9 as a | stencil 0..4 else 0: "
         "at(0) + at(1) + at(2) + at(3) + at(4) as s | pick s",
         4,
         "reads ids:i32  10 rows; gives a = ((((((ids * 3 + 1) * 5 + 2) * 7 + 3) * 11 + 4) % 13 * 2 + 5) * 3 + 1) % 9\n"
         "reads a:i64 of 1  10 rows; gives s = row + 4 < rows ? a + at(a, 1) + at(a, 2) + at(a, 3) + at(a, 4) : 0"},
    };
    CHECK(*state, expected);
}

static void elements_of_columns(void **state)
{
    static const struct expected expected[] = {
        /* File columns are read in place; others are materialised first. */
        {"load ids.bin | reverse | map x + 1 as a", 3, "reads ids[]:i32  10 rows; gives a = ids[rows - 1 - row] + 1"},
        {"load ids.bin | map x + 1 as a | reverse", 3,
         "reads ids:i32  10 rows; gives a = ids + 1\nreads a[]:i64 of 1  10 rows; gives a = a[rows - 1 - row]"},
        {"load ids.bin, amounts.bin | gather [1, 2, 0]", 3,
         "reads c1:i64, ids[]:i32, amounts[]:i32  3 rows; gives ids = ids[c1], amounts = amounts[c1]"},
        {"load ids.bin | zip (load amounts.bin | map x * x + x as z) | map ids[9 - row] + ids + z as s", 5,
         "reads amounts:i32, ids:i32, ids[]:i32  10 rows; gives s = ids[9 - row] + ids + (amounts * amounts + "
         "amounts)"},
        {"load ids.bin | reverse | take 3", 3, "reads ids[]:i32  3 rows; gives ids = ids[9 - row]"},
    };
    CHECK(*state, expected);
}

static void breakers(void **state)
{
    static const struct expected expected[] = {
        {"load ids.bin, amounts.bin | sort ids", 2, "reads ids:i32, amounts:i32  10 rows; by ids; gives ids, amounts"},
        /* Only columns in use are carried. */
        {"load ids.bin, amounts.bin | map ids + 1 as a, amounts | sort a | pick amounts | take 3", 5,
         "reads ids:i32  10 rows; gives a = ids + 1\n"
         "reads a:i64 of 1, amounts:i32  10 rows; by a  first 3; gives amounts\n"
         "reads amounts:i32 of 2  3 rows; gives amounts"},
        {"load ids.bin | distinct | count", 3,
         "reads ids:i32  10 rows; of ids; gives rows\nreads rows of 1; gives count()"},
        /* A group that nothing reads is not run. */
        {"load ids.bin | group ids: distinct(ids / 3) as d, count() as n | sum n", 7,
         "reads ids:i32  10 rows; by ids; gives count() = count()\nreads count():i64 of 1; gives sum(`count()`)"},
        {"load ids.bin | sort | count", 3, "reads ids:i32  10 rows; by ids; gives rows\n10 rows; gives count()"},
    };
    CHECK(*state, expected);
}

/* A sort keeps only its first rows when later stages read no more. */
static void firsts_of_sorts(void **state)
{
    static const struct {
        const char *text;
        int64_t first; /* of the last sort */
    } trials[] = {
        {"load ids.bin | sort", 0},
        {"load ids.bin | sort | take 3", 3},
        {"load ids.bin | top 3", 3},
        {"load ids.bin | sort | take 3 | map x + 1 | sum", 3},
        {"load ids.bin | sort | skip 2 | take 3", 5},
        {"load ids.bin | sort | take 5 | skip 3", 5},
        {"load ids.bin | sort | take 5 | tail 2", 5},
        {"load ids.bin | sort | take 0", 1}, /* 0 would mean all */
        {"load ids.bin | sort | take 10", 0},
        {"load ids.bin | sort | tail 3", 0},
        {"load ids.bin | sort | count", 0},
        {"load ids.bin | sort | select x > 1 | take 3", 0},
        {"load ids.bin | sort | map row / x | take 3", 3},
        {"load ids.bin | sort | take 3 | sort desc", 0},
        {"load ids.bin | sort | scan + | take 3", 0},
        {"load ids.bin | sort | reverse | take 3", 0},
        {"load ids.bin | sort | stencil 0..1 else 0: at(0) + at(1) | take 3", 0},
        {"load ids.bin | select x > 7 | sort | take 3", 3},
        {"load ids.bin | select x > 7 | sort | skip 1", 0},
        {"load ids.bin | select x > 7 | sort | take 3 | count", 3},
        {"load ids.bin | select x > 7 | sort | zip (load amounts.bin | select x > 7) | take 3", 0},
    };
    struct queries *queries = *state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct bound bound = query_bind(queries, trials[i].text);
        struct queue fused;
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        int64_t first = -1;
        for (size_t t = 0; t < fused.count; t++) {
            if (fused.tasks[t]->sink == SINK_OPERATOR && fused.tasks[t]->column_op->kind == OPERATOR_SORT)
                first = fused.tasks[t]->column_op->first;
        }
        if (first != trials[i].first)
            fail_msg("%s: the first %lld rows", trials[i].text, (long long)first);
        queue_release(&fused);
        queue_release(&bound.queue);
    }
}

static void rows_and_windows(void **state)
{
    static const struct expected expected[] = {
        /* A window over all rows only shifts their start; earlier row numbers are kept. */
        {"load ids.bin | skip 2 | take 5 | sum", 4, "reads ids:i32  from row 2  5 rows; gives sum(ids)"},
        {"load ids.bin | take 5 | skip 2 | take 100 | sum", 5, "reads ids:i32  from row 2  3 rows; gives sum(ids)"},
        {"load ids.bin | tail 3", 2, "reads ids:i32  from row 7  3 rows; gives ids"},
        {"load ids.bin | tail 30 | skip 11", 3, "reads ids:i32  from row 10  0 rows; gives ids"},
        {"load ids.bin | map row as r | skip 2 | map r * 100 + row as s", 4,
         "from row 2  8 rows; gives s = (row + 2) * 100 + row"},
        {"load ids.bin | skip 2 | select row % 2 == 0", 3,
         "reads ids:i32  from row 2  8 rows; keep row % 2 == 0; gives ids"},
        {"load ids.bin | select x > 3 | map row as r, ids | take 6 | skip 2", 5,
         "reads ids:i32  10 rows; keep ids > 3; gives ids\nreads ids:i32 of 1  from row 2  at most 4 rows; gives r = "
         "row + 2, ids"},
        /* A filter renumbers rows, which only the next task can do. */
        {"load ids.bin | derive r = row | select ids > 3 | map r", 4,
         "reads ids:i32  10 rows; keep ids > 3; gives r = row"},
        {"load ids.bin | select x > 3 | map row as r | sum", 4,
         "reads ids:i32  10 rows; keep ids > 3; gives rows\nreads rows of 1; gives sum(row)"},
        {"load ids.bin | select x > 3 | select row > 2", 3,
         "reads ids:i32  10 rows; keep ids > 3; gives ids\nreads ids:i32 of 1; keep row > 2; gives ids"},
        /* A window after a filter ends the task, except for projections and mergeable windows. */
        {"load ids.bin, amounts.bin | select ids > 3 | take 4 | snds", 4,
         "reads ids:i32, amounts:i32  10 rows; keep ids > 3  take 4; gives amounts"},
        {"load ids.bin | select x > 3 | skip 1 | take 5 | skip 2", 5,
         "reads ids:i32  10 rows; keep ids > 3  skip 3  take 3; gives ids"},
        {"load ids.bin | select x > 3 | tail 5 | tail 2", 4, "reads ids:i32  10 rows; keep ids > 3  tail 2; gives ids"},
        {"load ids.bin | select x > 3 | tail 5 | take 2", 4,
         "reads ids:i32  10 rows; keep ids > 3  tail 5; gives ids\nreads ids:i32 of 1  at most 2 rows; gives ids"},
        {"load ids.bin | select x > 3 | take 4 | sum", 4,
         "reads ids:i32  10 rows; keep ids > 3  take 4; gives ids\nreads ids:i32 of 1; gives sum(ids)"},
        {"load ids.bin | select x > 3 | take 4 | select x < 100", 4,
         "reads ids:i32  10 rows; keep ids > 3  take 4; gives ids\nreads ids:i32 of 1; keep ids < 100; gives ids"},
        {"load ids.bin | select x > 3 | take 6 | map x, row as r | skip 2 | take 3 | map ids + r + row as s", 7,
         "reads ids:i32  10 rows; keep ids > 3  take 6; gives ids\n"
         "reads ids:i32 of 1  from row 2  at most 3 rows; gives s = ids + (row + 2) + row"},
    };
    CHECK(*state, expected);
}

/* Expressions shared between stages are computed once. */
static void expressions_are_shared(void **state)
{
    struct queries *queries = *state;
    struct bound bound =
        query_bind(queries, "load ids.bin | map x * x as a | select a % 7 > 1 | map a % 7 as b | sum b");
    struct queue fused;
    queue_init(&fused, queries->scratch->arena);
    optimize_queue(&bound.queue, &fused);
    assert_int_equal(fused.count, 1);
    const struct code *code = &fused.tasks[0]->code;
    assert_int_equal(code->count, 6); /* ids, ids * ids, 7, % 7, 1, 1 < */
    assert_int_equal(code->at[fused.tasks[0]->filters[0].keep].args[1], fused.tasks[0]->aggregates[0].value);
    queue_release(&fused);
    queue_release(&bound.queue);
}

static void stages_are_kept_for_messages(void **state)
{
    static const char *const marks[] = {"load ids.bin", "map x + 1 as a", "zip (range 1..10 | map x * 2)",
                                        "range 1..10",  "map x * 2",      "filter a > 3"};
    struct queries *queries = *state;
    struct bound bound =
        query_bind(queries, "load ids.bin | map x + 1 as a # more\n | zip (range 1..10 | map x * 2) | filter a > 3");
    struct queue fused;
    queue_init(&fused, queries->scratch->arena);
    optimize_queue(&bound.queue, &fused);
    assert_int_equal(fused.count, 1);
    assert_int_equal(fused.tasks[0]->stage_count, sizeof marks / sizeof *marks);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        bool found = false;
        for (size_t k = 0; k < fused.tasks[0]->stage_count; k++)
            found = found || strcmp(fused.tasks[0]->stages[k].text, marks[i]) == 0;
        if (!found)
            fail_msg("`%s` is not among the stages", marks[i]);
    }
    assert_string_equal(fused.tasks[0]->stages[fused.tasks[0]->stage_count - 1].name, "select");
    queue_release(&fused);
    queue_release(&bound.queue);
}

/* Very long pipelines are split into several tasks. */
static void long_pipelines(void **state)
{
    struct queries *queries = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "load ids.bin");
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&text, " | map x * 3 %% %d", 1000 + i);
    struct bound bound = query_bind(queries, text.text);
    struct queue fused;
    queue_init(&fused, queries->scratch->arena);
    optimize_queue(&bound.queue, &fused);
    assert_in_range(fused.count, 2, 20);
    for (size_t t = 0; t < fused.count; t++)
        assert_true(fused.tasks[t]->code.count < 2100);
    assert_int_equal(run_all_ways(queries, "3000 maps", &bound.queue, &fused), STATUS_OK);
    queue_release(&fused);
    queue_release(&bound.queue);
    strbuf_free(&text);
}

/* After any fusion, an error names the original stage and the fused task's input row. */
static void failures_name_stage_and_row(void **state)
{
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"load wide.i64 | map 10 / x", "10 / x", "division by zero in `map 10 / x`, row 2"},
        {"load wide.i64 | skip 1 | map 10 / x", "10 / x", "division by zero in `map 10 / x`, row 2"},
        {"load wide.i64 | select x <= 0 | map 10 / x as q | sum", "10 / x",
         "division by zero in `map 10 / x as q`, row 2"},
        {"load wide.i64 | select x >= 0 | take 5 | map 10 / x", "10 / x", "division by zero in `map 10 / x`, row 0"},
        /* A predicate is always evaluated, even if its value could be deduced. */
        {"load wide.i64 | map 10 / x as q | select q == q | count", "10 / x",
         "division by zero in `map 10 / x as q`, row 2"},
        {"load wide.i64 | derive q = 10 / x | select wide > -5 | take 3 | select q <= q | count", "10 / x",
         "division by zero in `derive q = 10 / x`, row 2"},
        {"load wide.i64 | map x * 1 as y | where inverse(y) > 1", "inverse(y)",
         "division by zero in `where inverse(y) > 1`, row 2"},
        {"load wide.i64 | select x > 0 | map x + 1", "x + 1",
         "9223372036854775807 + 1 does not fit in 64 bits in `map x + 1`, row 3"},
    };
    struct queries *queries = *state;
    query_define(queries, "def inverse(x) = 1 / x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bound bound = query_bind(queries, cases[i].text);
        struct queue fused;
        struct result result = {.kind = RESULT_NONE};
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        assert_int_equal(exact_run(&fused, NULL, NULL, &result, &queries->scratch->diags), STATUS_FAILED);
        const struct diag *diag = &queries->scratch->diags.at[0];
        assert_int_equal(diag->span.begin, strstr(cases[i].text, cases[i].place) - cases[i].text);
        assert_int_equal(diag->span.end - diag->span.begin, strlen(cases[i].place));
        assert_only_told(queries->scratch, cases[i].message);
        queue_release(&fused);
        queue_release(&bound.queue);
    }
}

/* Random pipelines: fused or not, vectorised or row by row, the result or failure is the same. */
static void random_pipelines(void **state)
{
    static const char *const sources[] = {"load ids.bin, amounts.bin", "load ids.bin", "range -3..12",
                                          "[5, 0, -7, 3, 3, 9, 1]", "range 10..1 by -1 | zip amounts.bin"};
    static const char *const stages[] = {
        "select $1 % 3 != 0",
        "reject $1 < 0",
        "select $1",
        "select row % 3 != 1",
        "map $1 + row as a, $1 as b",
        "derive r = row",
        "map $1 * 2 as c",
        "map 100 / $1 as q, $1",
        "derive q = 100 / $1",
        "derive q = $1 != 0 ? 100 / $1 : row",
        "take 5",
        "skip 2",
        "tail 4",
        "skip 1",
        "fsts",
        "snds",
        "select 60 / $1 > 1",
        "select $1 != 0",
        "zip (range 1..8)",
        "zip (load amounts.bin | skip 2)",
        "zip (load ids.bin | select x > 7)",
        "zip amounts.bin",
        "map row, $1",
        "map 100 / $1 as q",
        "select $1 == $1",
        "select $1 != 7 ? $1 <= $1 : row > 2",
    };
    static const char *const ends[] = {"sum $1", "count", "count $1 > 5", "min $1", "show"};
    struct queries *queries = *state;
    struct random random = {20240613};
    struct strbuf text = {0};
    int answered = 0, failed = 0;
    for (int i = 0; i < 4000; i++) {
        strbuf_clear(&text);
        strbuf_puts(&text, sources[random_below(&random, sizeof sources / sizeof *sources)]);
        for (int k = random_below(&random, 7); k > 0; k--)
            strbuf_printf(&text, " | %s", stages[random_below(&random, sizeof stages / sizeof *stages)]);
        strbuf_printf(&text, " | %s", ends[random_below(&random, sizeof ends / sizeof *ends)]);
        const struct stmt *stmt = query_parse(queries, text.text);
        struct bound bound = {0};
        if (query_bind_statement(queries, stmt, false, &bound) != STATUS_OK)
            continue; /* no second column, or lengths known to differ */
        struct queue fused;
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        assert_true(fused.count <= bound.queue.count);
        bool good = run_all_ways(queries, text.text, &bound.queue, &fused) == STATUS_OK;
        answered += good;
        failed += !good;
        queue_release(&fused);
        queue_release(&bound.queue);
    }
    strbuf_free(&text);
    assert_true(answered > 1000 && failed > 100);
}

/* The tasks of a round of the query's loop on 10 rows, after what its folds read of elements has become columns. */
static void describe_round(struct queries *queries, const char *text, struct strbuf *out)
{
    struct bound bound = query_bind(queries, text);
    struct loop *loop = bound.queue.loops[0];
    struct queue fused, made;
    queue_init(&fused, queries->scratch->arena);
    queue_init(&made, queries->scratch->arena);
    optimize_queue(loop_queue(loop, 0), &fused);
    for (size_t k = 0; k < loop->count; k++)
        loop->state[k]->rows = 10;
    for (size_t t = 0; t < fused.count; t++)
        fused.tasks[t]->rows = 10;
    if (fold_elements(&fused, &made))
        describe(out, &made);
    queue_release(&fused);
    queue_release(&bound.queue);
}

static void elements_of_folds(void **state)
{
    struct queries *queries = *state;
    static const struct {
        const char *body, *tasks; /* NULL: as they were */
    } cases[] = {
        {"sum(e in 0..row: r[e] / d[e]) as r, d",
         "reads r:f64, d:i64  10 rows; gives elements = r / float(d)\n"
         "reads d:i64, r[]:f64, d[]:i64, elements[]:f64 of 1  10 rows; gives r = sum(k in 0..row: elements[k]), d"},
        {"sum(e in 0..row: d[e] > 1 ? r[e] * d[e + 1] / d[e] : 0.0) as r, d", NULL}, /* `d` at two positions */
        {"sum(e in 0..row: (d[e] > 1 ? r[e] / d[e] : 0.0) * d[e + 1]) as r, d",
         "reads d:i64, r:f64  10 rows; gives elements = d > 1 ? r / float(d) : 0.0\n"
         "reads d:i64, d[]:i64, r[]:f64, elements[]:f64 of 1  10 rows; "
         "gives r = sum(k in 0..row: elements[k] * float(d[k + 1])), d"},
        {"sum(e in 0..row: r[e]) as r, d", NULL}, /* one element */
        {"sum(e in 0..row: r[e] * (d[e] + row)) as r, d", NULL},
        {"sum(e in 0..row: float(d[e] // (d[e] - 1))) as r, d", NULL},         /* may fail */
        {"sum(e in 0..row: r[e] / d[e] + (r[e] + e) * d[row]) as r, d", NULL}, /* as many elements as before */
        {"r[row] / d[row] as r, d", NULL},                                     /* no fold */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf text = {0}, tasks = {0};
        strbuf_printf(&text, "range 0..9 | map x * 0.5 as r, x + 1 as d | repeat 3: map %s", cases[i].body);
        describe_round(queries, text.text, &tasks);
        if (cases[i].tasks)
            assert_string_equal(tasks.text, cases[i].tasks);
        else
            assert_int_equal(tasks.length, 0);
        strbuf_free(&tasks);
        strbuf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rubicls_seven, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(other_stages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(zips, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(neighbours, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(elements_of_columns, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(elements_of_folds, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(firsts_of_sorts, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(breakers, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(rows_and_windows, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(expressions_are_shared, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(stages_are_kept_for_messages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(long_pipelines, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(failures_name_stage_and_row, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(random_pipelines, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
