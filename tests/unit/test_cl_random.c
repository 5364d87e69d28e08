/* Random tasks: OpenCL kernels of both shapes compared with the evaluator. RQL_TEST_LONG=20 runs 20 times as many,
 * RQL_TEST_SEED=n runs others; an argument filters the tests. */
#include "cl/codegen/kernel_text.h"
#include "cl_rig.h"

#include <inttypes.h>

enum { ROWS = 20011 };

/* Devices round these functions differently: see test_functions. */
static bool is_rounded_anyhow(enum op op)
{
    return op >= OP_EXP && op <= OP_ERF;
}

static bool is_comparable(const struct code *code)
{
    for (value v = 0; v < code->count; v++)
        if (is_rounded_anyhow(code->at[v].op))
            return false;
    return true;
}

/* A value of the kind, preferably a late one. */
static value pick(struct random *random, const struct setup *setup, enum kind kind)
{
    return random_value(random, &setup->task.code, kind);
}

static enum kind any_kind(struct random *random)
{
    static const enum kind kinds[] = {KIND_INT, KIND_INT, KIND_INT, KIND_FLOAT, KIND_BOOL};
    return kinds[random_below(random, 5)];
}

static void add_sink(struct random *random, struct setup *setup)
{
    int results = 1 + random_below(random, 3);
    for (int k = 0; k < results; k++) {
        if (setup->task.sink == SINK_ROWS) {
            value v = pick(random, setup, any_kind(random));
            setup_output(setup, v, type_of_kind(setup->task.code.at[v].kind));
            continue;
        }
        enum aggregate_kind kind = (enum aggregate_kind)random_below(random, AGG_MEAN + 1);
        value v = kind == AGG_COUNT ? NO_VALUE : pick(random, setup, KIND_INT);
        if ((kind == AGG_MIN || kind == AGG_MAX || kind == AGG_SUM) && random_below(random, 4) == 0)
            v = pick(random, setup, KIND_FLOAT);
        if ((kind == AGG_MIN || kind == AGG_MAX) && random_below(random, 6) == 0)
            v = pick(random, setup, KIND_BOOL);
        setup_aggregate(setup, kind, v);
    }
}

static struct setup *random_setup(struct rig *rig, struct random *random)
{
    struct setup *setup;
    enum kind kinds[4];
    enum type types[4];
    int inputs;
    do {
        setup = setup_new(rig, random_below(random, 2) ? SINK_ROWS : SINK_AGGREGATE);
        inputs = 1 + random_below(random, 4);
        for (int k = 0; k < inputs; k++) {
            types[k] = (enum type)random_below(random, TYPE_COUNT);
            kinds[k] = type_table[types[k]].kind;
        }
        random_code(random, &setup->task.code, kinds, inputs, 2 + random_below(random, 14));
    } while (!is_comparable(&setup->task.code));
    for (int k = 0; k < inputs; k++) {
        bool mild = random_below(random, 4) != 0;
        setup_input(setup, random_column(random, types[k], ROWS, mild));
    }
    for (int filters = random_below(random, 3); filters > 0; filters--)
        setup_filter(setup, pick(random, setup, KIND_BOOL));
    add_sink(random, setup);
    setup_analyse(setup, ROWS);
    return setup;
}

/* Evaluates rows lazily, one by one: any failure must be flagged. */
static void assert_failures_flagged(struct rig *rig, struct setup *setup, bool flagged, int64_t begin, int64_t end)
{
    const struct task *task = &setup->task;
    const struct code *code = &task->code;
    struct cell *cells = arena_array(rig->arena, (size_t)code->count, sizeof *cells);
    struct cell inputs[MOST_INPUTS];
    for (int64_t row = begin; row < end && !flagged; row++) {
        bool keep = true, failed = false;
        memset(cells, 0, (size_t)code->count * sizeof *cells);
        for (size_t k = 0; k < task->input_count; k++) {
            inputs[k] = (struct cell){.known = true};
            if (type_table[setup->columns[k]->type].kind == KIND_FLOAT)
                inputs[k].number = column_get_float(setup->columns[k], row);
            else
                inputs[k].integer = column_get_int(setup->columns[k], row);
        }
        for (size_t k = 0; k < task->filter_count && keep && !failed; k++) {
            struct cell cell = lazy_value(code, task->filters[k].keep, inputs, row, cells);
            failed = cell.failed;
            keep = cell.integer != 0;
        }
        for (size_t k = 0; k < task->output_count && keep && !failed; k++)
            failed = lazy_value(code, task->outputs[k].value, inputs, row, cells).failed;
        for (size_t k = 0; k < task->aggregate_count && keep && !failed; k++)
            failed = task->aggregates[k].value != NO_VALUE &&
                     lazy_value(code, task->aggregates[k].value, inputs, row, cells).failed;
        if (failed)
            fail_msg("row %lld fails and the flag is down", (long long)row);
    }
}

static void run_random(struct rig *rig, uint64_t first, int tasks)
{
    static const int64_t ranges[][2] = {{0, ROWS}, {0, 0}, {11, 12}, {1, 200}, {0, 4095}, {3, 4099}, {4096, 8193}};
    const char *text = getenv("RQL_TEST_SEED");
    uint64_t seed = first + (text ? strtoull(text, NULL, 10) : 0);
    size_t unable = 0;
    rig->compared = rig->flagged = 0;
    for (int k = 0; k < tasks; k++) {
        struct random random = {(seed + (uint64_t)k) * UINT64_C(0x9e3779b97f4a7c15)};
        rig_start(rig);
        struct setup *setup = random_setup(rig, &random);
        print_message("# seed %" PRIu64 "\n", seed + (uint64_t)k);
        for (size_t at = 0; at < sizeof ranges / sizeof *ranges; at++) {
            bool flagged;
            enum status status = compare(rig, setup, ranges[at][0], ranges[at][1], &flagged);
            unable += status == STATUS_UNABLE;
            assert_true(status == STATUS_OK || status == STATUS_UNABLE);
            if (status == STATUS_OK && ranges[at][1] - ranges[at][0] < 200)
                assert_failures_flagged(rig, setup, flagged, ranges[at][0], ranges[at][1]);
        }
        setup_free(setup);
    }
    print_message("# %zu ranges compared, %zu of them flagged; %zu not for a device\n", rig->compared, rig->flagged,
                  unable);
    assert_true(rig->flagged < rig->compared * 3 / 4);
    assert_true(unable < rig->compared / 4);
}

static void test_random(void **state)
{
    run_random(rig_of(state), 1, 25 * rig_patience());
}

/* The first device, opened with the given shape and so little memory that tasks run in pieces. */
static struct accelerator *open_shaped(const struct kernel_config *shape)
{
    struct accelerator *accelerator = rig_accelerator(shape);
    accelerator->device.largest_buffer = 8192 * sizeof(int64_t);
    accelerator->device.memory = UINT64_C(1) << 20;
    return accelerator;
}

static void run_shape(struct rig *rig, const struct kernel_config *shape, uint64_t first)
{
    rig->accelerator = open_shaped(shape);
    run_random(rig, first, 8 * rig_patience());
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

static void test_random_cpu(void **state)
{
    run_shape(rig_of(state), &kernel_config_cpu, 1000000);
}

static void test_random_grid(void **state)
{
    run_shape(rig_of(state), &kernel_config_grid, 2000000);
}

/* Functions that devices round differently: close to the evaluator's values, where these are subnormal but for the last
 * bit, and NaN for the same rows. ldexp is exact. */
static void test_functions(void **state)
{
    struct rig *rig = rig_of(state);
    struct random random = {5};
    struct setup *setup = setup_new(rig, SINK_ROWS);
    value x = setup_input(setup, random_column(&random, TYPE_F64, ROWS, true));
    value y = setup_input(setup, random_column(&random, TYPE_F32, ROWS, true));
    for (enum op op = OP_EXP; op <= OP_LDEXP; op++)
        setup_output(setup, op2(setup, op, x, op_table[op].arity == 2 ? y : NO_VALUE), TYPE_F64);
    setup_analyse(setup, ROWS);

    struct job job = setup_job(rig, setup, 0, ROWS);
    struct row_sink got = new_sink(rig, setup, 0, ROWS), wanted = new_sink(rig, setup, 0, ROWS);
    bool flagged = false;
    assert_int_equal(run_on_device(rig, &job, NULL, &got, &flagged), STATUS_OK);
    assert_int_equal(rig->host->ops->rows(rig->host, &job, &wanted, &flagged), STATUS_OK);
    assert_int_equal(got.rows, wanted.rows);
    for (size_t k = 0; k < setup->task.output_count; k++) {
        const double tolerance = OP_EXP + (int)k == OP_LDEXP ? 0 : 1e-14;
        const double least = OP_EXP + (int)k == OP_LGAMMA ? 1 : 0; /* relative errors grow beside its zeros */
        assert_true(column_fetch(got.columns[k], 0, got.rows));
        for (int64_t row = 0; row < ROWS; row++) {
            double a = column_get_float(got.columns[k], row), b = column_get_float(wanted.columns[k], row);
            if (!(fabs(a - b) <= fmax(fabs(b), least) * tolerance + (tolerance > 0 ? 0x1p-1074 : 0)) &&
                !(isnan(a) && isnan(b)) && !(a == b))
                fail_msg("function %zu, row %lld: %a is not near %a of %a %a", k, (long long)row, a, b,
                         column_get_float(setup->columns[0], row), column_get_float(setup->columns[1], row));
        }
    }
    sink_free(&got, &setup->task);
    sink_free(&wanted, &setup->task);
    setup_free(setup);
}

/* Changes something that the text of a program may depend on. */
static void mutate(struct random *random, struct task *task, enum type *inputs, const enum type *outputs)
{
    struct instr *instr = &task->code.at[random_below(random, task->code.count)];
    const size_t output = task->output_count ? (size_t)random_below(random, (int)task->output_count) : 0;
    switch (random_below(random, 10)) {
    case 0:
        instr->lo = random_int(random);
        break;
    case 1:
        instr->hi = random_int(random);
        break;
    case 2:
        instr->checked = !instr->checked;
        break;
    case 3:
        instr->exact = !instr->exact;
        break;
    case 4:
        instr->integer = instr->op == OP_CONST && instr->kind == KIND_INT ? random_int(random) : instr->integer;
        break;
    case 5:
        instr->offset = instr->op == OP_INPUT ? random_below(random, 3) - 1 : instr->offset;
        break;
    case 6:
        instr->guard = NO_VALUE;
        if (instr->lane == LANE_I32 && instr->op == OP_ADD)
            instr->lane = LANE_I64;
        break;
    case 7:
        inputs[0] = type_table[inputs[0]].kind == KIND_INT ? TYPE_I64 : inputs[0];
        break;
    case 8:
        task->filter_count -= task->filter_count > 0;
        break;
    default:
        if (output < task->output_count && outputs)
            task->outputs[output].needed = !task->outputs[output].needed;
        else if (task->aggregate_count > 0 && task->aggregates[0].kind == AGG_MIN)
            task->aggregates[0].kind = AGG_MAX;
    }
}

/* Changes what the texts of programs do not depend on: names, and what the host alone does with results. */
static void mutate_unread(struct random *random, struct task *task)
{
    struct instr *instr = &task->code.at[random_below(random, task->code.count)];
    struct input *input = &task->inputs[random_below(random, (int)task->input_count)];
    switch (random_below(random, 5)) {
    case 0:
        instr->span.begin++;
        break;
    case 1:
        input->name = "int";
        break;
    case 2:
        input->range_known = !input->range_known;
        break;
    case 3:
        if (task->output_count > 0)
            task->outputs[0].name = "row";
        break;
    default:
        if (task->aggregate_count > 0) {
            task->aggregates[0].name = "lane";
            task->aggregates[0].has_initial = !task->aggregates[0].has_initial;
        }
    }
}

/* Programs by their keys, over many tasks. */
enum { MOST_KEYED = 1 << 15 };
struct keyed_text {
    char *key;
    size_t length;
    char *text;
};
struct keyed_texts {
    struct keyed_text *at; /* MOST_KEYED, by hash */
    size_t count, repeated;
};

/* Adds a program, whose text must be that of the program of the same key. */
static void assert_key_means_text(struct keyed_texts *all, const struct strbuf *key, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < key->length; k++)
        hash = (hash ^ (unsigned char)key->text[k]) * UINT64_C(0x100000001b3);
    size_t k = hash % MOST_KEYED;
    for (; all->at[k].key; k = (k + 1) % MOST_KEYED)
        if (all->at[k].length == key->length && memcmp(all->at[k].key, key->text, key->length) == 0) {
            assert_string_equal(all->at[k].text, text);
            all->repeated++;
            return;
        }
    assert_true(all->count++ < MOST_KEYED / 2);
    all->at[k] = (struct keyed_text){.key = malloc(key->length), .length = key->length, .text = strdup(text)};
    assert_true(all->at[k].key && all->at[k].text);
    memcpy(all->at[k].key, key->text, key->length);
}

/* Programs are found by their keys (kernel_key.c): equal keys must mean equal texts. Few inputs and instructions make
 * tasks that are nearly the same. */
static void test_keys(void **state)
{
    static const struct kernel_config *const configs[] = {&kernel_config_cpu, &kernel_config_grid,
                                                          &kernel_config_warps};
    struct rig *rig = *state;
    struct keyed_texts all = {.at = calloc(MOST_KEYED, sizeof *all.at)};
    assert_non_null(all.at);
    for (int seed = 1; seed <= 120; seed++) {
        struct random random = {(uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15)};
        struct strbuf key = {0};
        rig_start(rig);
        struct setup *setup = random_setup(rig, &random);
        enum type inputs[MOST_INPUTS], outputs[MOST_RESULTS];
        for (size_t k = 0; k < setup->task.input_count; k++)
            inputs[k] = setup->columns[k]->store;
        for (size_t k = 0; k < setup->task.output_count; k++)
            outputs[k] = output_store(&setup->task, &setup->task.outputs[k], setup->columns);
        for (int step = 0; step < 60; step++) {
            struct kernel_plan plan;
            if (!kernel_plan_make(&plan, &setup->task, configs[step / 20], inputs, outputs, rig->arena))
                break;
            strbuf_clear(&key);
            assert_true(kernel_key(&plan, &key));
            assert_int_equal(key.length % 8, 0);
            assert_key_means_text(&all, &key, kernel_plan_text(&plan));
            if (step % 3 == 0)
                mutate_unread(&random, &setup->task);
            else
                mutate(&random, &setup->task, inputs, outputs);
        }
        strbuf_free(&key);
        setup_free(setup);
    }
    print_message("# %zu keys, %zu met again\n", all.count, all.repeated);
    assert_true(all.count > 1000 && all.repeated > 1000);
    for (size_t k = 0; k < MOST_KEYED; k++) {
        free(all.at[k].key);
        free(all.at[k].text);
    }
    free(all.at);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_random_cpu), cmocka_unit_test(test_random_grid),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_keys),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
