/* Guards: no failure that matters is missed, and the usual ways to avoid one are recognised. */
#include "queries.h"
#include "random_code.h"

#include "engine/explain/explain_task.h"
#include "engine/optimize/optimize.h"

enum { INPUTS = 4, OPERATIONS = 24, PROGRAMS = 6000, ROWS_TRIED = 16, MOST_VALUES = 1024 };

static void analyse(struct task *task)
{
    struct column *columns[8] = {0};
    assert_true(task->input_count <= 8);
    for (size_t k = 0; k < task->input_count; k++)
        columns[k] = task->inputs[k].column;
    optimize_task(task, columns, task->rows);
}

/* The guards of the task's checked instructions, in order. */
static void add_guards(struct strbuf *out, const struct task *task)
{
    bool *live = arena_array(task->code.arena, (size_t)task->code.count, sizeof *live);
    task_mark_live(task, live);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!live[v] || !instr->checked)
            continue;
        strbuf_puts(out, out->length > 0 ? "; " : "");
        if (instr->guard == NO_VALUE)
            strbuf_puts(out, "always");
        else
            code_print(out, &task->code, instr->guard, task_input_names(task));
    }
}

static void usual_ways(void **state)
{
    static const struct {
        const char *stages;
        const char *guards;
    } cases[] = {
        {"map 10 / x", "always"},
        {"select x != 0 | map 10 / x", "wide != 0"},
        {"reject x == 0 | sum 10 / x", "!(wide == 0)"},
        {"count x != 0 && 10 / x > 1", "wide != 0"},
        {"count 10 / x > 1 && x != 0", "always"},
        {"count x == 0 || 10 / x > 1", "!(wide == 0)"},
        {"map x != 0 ? 10 / x : 0", "wide != 0"},
        {"map x == 0 ? 0 : 10 / x", "!(wide == 0)"},
        {"select x > 3 | select 10 / x > 1 | select x < 9", "wide > 3"},
        {"select x > 3 | select x < 9 | map 10 / x", "wide > 3 && wide < 9"},
        {"select x > 3 | select x < 9 | map x + 1", "wide > 3 && wide < 9"},
        {"select x != 0 | map x > 5 ? 10 / x : 0", "wide != 0 && wide > 5"},
        /* Read by both branches: always needed. */
        {"map x > 3 ? 10 / x : 10 / x + 1", "always"},
        /* Read twice: needed where either reads it. */
        {"map x > 3 ? 10 / x : 0, x < -3 ? 10 / x : 1", "wide < -3 || wide > 3"},
        {"select x > 3 | take 2 | pick wide", ""},
        {"derive q = 10 / x | count", ""},
        {"map 10 / x as q, x as y | pick y", ""},
        {"map 10 % 7 + (x & 255)", ""},
        {"map x / 7", ""},
        {"sum", ""},
    };
    struct queries *queries = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct queue fused;
        struct strbuf guards = {0};
        struct bound bound =
            query_bind(queries, arena_printf(queries->scratch->arena, "load wide.i64 | %s", cases[i].stages));
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        assert_int_equal(fused.count, 1);
        analyse(fused.tasks[0]);
        strbuf_puts(&guards, "");
        add_guards(&guards, fused.tasks[0]);
        if (strcmp(guards.text, cases[i].guards) != 0)
            fail_msg("%s: guarded by %s, should be %s", cases[i].stages, guards.text, cases[i].guards);
        strbuf_free(&guards);
        queue_release(&fused);
        queue_release(&bound.queue);
    }
}

/* A task of random code with a few filters and outputs. */
static struct task *random_task(struct random *random, struct arena *arena, struct queue *queue)
{
    static const enum type types[INPUTS] = {TYPE_I8, TYPE_I32, TYPE_I64, TYPE_F64};
    static const enum kind kinds[INPUTS] = {KIND_INT, KIND_INT, KIND_INT, KIND_FLOAT};
    queue_init(queue, arena);
    struct task *task = queue_add(queue);
    task->rows = 1000;
    task->inputs = arena_array(arena, INPUTS, sizeof *task->inputs);
    task->input_count = INPUTS;
    for (int k = 0; k < INPUTS; k++)
        task->inputs[k].type = types[k];
    random_program(random, &task->code, kinds, INPUTS, OPERATIONS, random_below(random, 2) == 0);

    task->filter_count = (size_t)random_below(random, 3);
    task->filters = arena_array(arena, 3, sizeof *task->filters);
    for (size_t i = 0; i < task->filter_count; i++)
        task->filters[i].keep = random_value(random, &task->code, KIND_BOOL);
    task->output_count = (size_t)random_below(random, 3);
    task->outputs = arena_array(arena, 3, sizeof *task->outputs);
    for (size_t k = 0; k < task->output_count; k++) {
        task->outputs[k].value = task->code.count - 1 - random_below(random, OPERATIONS / 2);
        task->outputs[k].type = type_of_kind(task->code.at[task->outputs[k].value].kind);
        task->outputs[k].needed = random_below(random, 4) > 0;
    }
    return task;
}

/* A random element of the input's type, fixed for each position. */
static struct cell element_of(const void *context, int64_t input, int64_t at)
{
    const struct type_info *info = &type_table[((const struct task *)context)->inputs[input].type];
    struct random random = {(uint64_t)(input * 1000 + at + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    return (struct cell){.integer = info->kind == KIND_INT ? random_within(&random, info->lo, info->hi) : 0,
                         .number = random_float(&random)};
}

static int64_t length_of(const void *context, int64_t input)
{
    (void)input;
    return ((const struct task *)context)->rows;
}

static struct surroundings around(const struct task *task)
{
    return (struct surroundings){.context = task, .element = element_of, .length = length_of, .rows = task->rows};
}

/* Whether the row fails under lazy evaluation. */
static bool fails_lazily(const struct task *task, const struct cell *inputs, int64_t row)
{
    struct cell cells[MOST_VALUES] = {{0}};
    const struct surroundings rest = around(task);
    for (size_t i = 0; i < task->filter_count; i++) {
        struct cell keep = lazy_value_in(&task->code, task->filters[i].keep, inputs, row, &rest, cells);
        if (keep.failed || !keep.integer)
            return keep.failed;
    }
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed &&
            lazy_value_in(&task->code, task->outputs[k].value, inputs, row, &rest, cells).failed)
            return true;
    }
    return false;
}

/* Whether a backend raises its flag; `*hidden` counts failures that a guard suppresses. */
static bool is_flagged(struct random *random, const struct task *task, const bool *live, const struct cell *inputs,
                       int64_t row, int64_t *hidden)
{
    struct cell cells[MOST_VALUES];
    bool flagged = false;
    const struct surroundings rest = around(task);
    eager_values(random, &task->code, inputs, row, &rest, cells);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!live[v] || !instr->checked || !cells[v].failed)
            continue;
        bool demanded = instr->guard == NO_VALUE || cells[instr->guard].integer;
        flagged = flagged || demanded;
        *hidden += !demanded;
    }
    return flagged;
}

static void no_failure_is_missed(void **state)
{
    (void)state;
    struct random random = {20240614};
    int64_t failures = 0, flags = 0, hidden = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        struct arena *arena = arena_new();
        struct queue queue;
        struct task *task = random_task(&random, arena, &queue);
        analyse(task);
        assert_true(task->code.count <= MOST_VALUES);
        bool *live = arena_array(arena, (size_t)task->code.count, sizeof *live);
        task_mark_live(task, live);
        for (int i = 0; i < ROWS_TRIED; i++) {
            struct cell inputs[INPUTS] = {{0}};
            for (int k = 0; k < INPUTS - 1; k++)
                inputs[k].integer =
                    random_within(&random, type_table[task->inputs[k].type].lo, type_table[task->inputs[k].type].hi);
            inputs[INPUTS - 1].number = random_float(&random);
            int64_t row = random_below(&random, 1000);
            bool fails = fails_lazily(task, inputs, row);
            bool flagged = is_flagged(&random, task, live, inputs, row, &hidden);
            assert_true(flagged || !fails);
            failures += fails;
            flags += flagged;
        }
        arena_free(arena);
    }
    /* The test is meaningful only if there were failures to find and to hide. */
    assert_true(failures > PROGRAMS && hidden > PROGRAMS);
    assert_true(flags < failures + failures / 4);
}

/* Code size stays bounded for a chain of conditions. */
static void growth_is_bounded(void **state)
{
    struct queries *queries = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "load wide.i64 | select");
    for (int i = 0; i < 400; i++)
        strbuf_printf(&text, "%s x %% 1%03d != 0 && (100 / x > %d || x > %d)", i > 0 ? " &&" : "", i, i, i);
    struct bound bound = query_bind(queries, text.text);
    struct task *task = bound.queue.tasks[1];
    int32_t before = task->code.count;
    struct column *columns[] = {NULL};
    optimize_task(task, columns, 4);
    assert_true(task->code.count > before && task->code.count <= 5 * before);
    queue_release(&bound.queue);
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usual_ways, queries_setup, queries_teardown),
        cmocka_unit_test(no_failure_is_missed),
        cmocka_unit_test_setup_teardown(growth_is_bounded, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
