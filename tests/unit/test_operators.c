/* Host operators against naive definitions: every column type, awkward lengths, one and several threads. */
#include "scratch.h"

#include "engine/backend/aggregate.h"
#include "engine/backend/user_reduce.h"
#include "engine/operators/operator.h"
#include "engine/values/compensated_sum.h"
#include "engine/values/histogram_bins.h"

#include <float.h>
#include <math.h>

enum { MOST_COLUMNS = 6, THREADS = 3 };

static const int64_t lengths[] = {0, 1, 2, 3, 25, 777, 4095, 4096, 4097, 100003};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* How column elements are generated. */
enum content { ANYTHING, FEW, EXTREMES, EQUAL, RISING, FALLING, SKEWED, CONTENTS };

struct rig {
    struct arena *arena;
    struct diags diags;
    struct task task;
    struct column_operator column_op;
    struct column *inputs[MOST_COLUMNS];
    struct column *results[2 * MOST_COLUMNS];
    size_t keys[MOST_COLUMNS];
    bool descending[MOST_COLUMNS];
    int64_t result_rows;
    bool flagged;
    uint64_t seed;
};

/* A private generator: tests must not depend on the library's. */
static uint64_t next(struct rig *rig)
{
    rig->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rig->seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static struct rig *rig_new(uint64_t seed)
{
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    rig->arena = arena_new();
    rig->seed = seed;
    diags_init(&rig->diags, rig->arena);
    code_init(&rig->task.code, rig->arena);
    rig->task.sink = SINK_OPERATOR;
    rig->task.column_op = &rig->column_op;
    rig->task.inputs = arena_array(rig->arena, MOST_COLUMNS, sizeof *rig->task.inputs);
    rig->task.outputs = arena_array(rig->arena, sizeof rig->results / sizeof *rig->results, sizeof *rig->task.outputs);
    rig->task.aggregates = arena_array(rig->arena, MOST_COLUMNS, sizeof *rig->task.aggregates);
    rig->column_op.keys = rig->keys;
    rig->column_op.descending = rig->descending;
    rig->column_op.stride = 1;
    rig->column_op.into = -1;
    return rig;
}

static void drop_results(struct rig *rig)
{
    for (size_t i = 0; i < sizeof rig->results / sizeof *rig->results; i++) {
        column_unref(rig->results[i]);
        rig->results[i] = NULL;
    }
}

static void rig_free(struct rig *rig)
{
    drop_results(rig);
    for (size_t i = 0; i < rig->task.input_count; i++)
        column_unref(rig->inputs[i]);
    arena_free(rig->arena);
    free(rig);
}

static double extreme_float(uint64_t choice, bool single)
{
    static const double extremes[2][12] = {
        {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.0, -1.0, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -DBL_MIN},
        {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.0, -1.0, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_MIN}};
    return extremes[single][choice % 12];
}

static double float_of(struct rig *rig, enum content content, int64_t row, int64_t rows, bool single)
{
    switch (content) {
    case FEW:
        return (double)(int64_t)(next(rig) % 7) * 0.1 - 0.3;
    case EXTREMES:
        return extreme_float(next(rig), single);
    case EQUAL:
        return -2.5;
    case RISING:
        return (double)row * 0.5 - 100;
    case FALLING:
        return (double)(rows - row) * 0.5 - 100;
    case SKEWED:
        return next(rig) % 50 == 0 ? ldexp((double)(int64_t)next(rig), -40) : 1.5;
    default:
        return ldexp((double)(int64_t)next(rig), (int)(next(rig) % 40) - 60);
    }
}

static int64_t int_of(struct rig *rig, enum content content, int64_t row, int64_t rows, const struct type_info *info)
{
    uint64_t width = (uint64_t)info->hi - (uint64_t)info->lo;
    uint64_t any = width == UINT64_MAX ? next(rig) : next(rig) % (width + 1);
    const int64_t extremes[] = {info->lo, info->hi, 0, 1, info->lo + 1, info->hi - 1};
    switch (content) {
    case FEW:
        return info->lo < 0 ? (int64_t)(any % 7) - 3 : (int64_t)(any % (info->hi == 1 ? 2 : 7));
    case EXTREMES:
        return info->hi == 1 ? (int64_t)(any % 2) : extremes[any % 6];
    case EQUAL:
        return 1;
    case RISING:
        return info->hi > INT16_MAX ? row : row * info->hi / (rows + 1);
    case FALLING:
        return info->hi > INT16_MAX ? rows - row : (rows - row) * info->hi / (rows + 1);
    case SKEWED:
        return next(rig) % 50 == 0 ? (int64_t)((uint64_t)info->lo + any) : 1;
    default:
        return (int64_t)((uint64_t)info->lo + any);
    }
}

static void put_int(struct column *column, int64_t row, int64_t integer)
{
    void *at = column_at(column, row);
    switch (type_table[column->store].size) {
    case 1:
        *(int8_t *)at = (int8_t)integer;
        break;
    case 2:
        *(int16_t *)at = (int16_t)integer;
        break;
    case 4:
        *(int32_t *)at = (int32_t)integer;
        break;
    default:
        *(int64_t *)at = integer;
    }
}

/* Adds an input column; returns its index. */
static size_t add_column(struct rig *rig, enum type type, int64_t rows, enum content content)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t i = 0; i < rows; i++) {
        if (type == TYPE_F64)
            *(double *)column_at(column, i) = float_of(rig, content, i, rows, false);
        else if (type == TYPE_F32)
            *(float *)column_at(column, i) = (float)float_of(rig, content, i, rows, true);
        else
            put_int(column, i, int_of(rig, content, i, rows, &type_table[type]));
    }
    column_finish(column, rows);
    rig->inputs[rig->task.input_count] = column;
    rig->task.inputs[rig->task.input_count] = (struct input){.type = type};
    return rig->task.input_count++;
}

/* Adds the column 0, 1, 2, ... */
static size_t add_numbers(struct rig *rig, enum type type, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t i = 0; i < rows; i++)
        put_int(column, i, i);
    column_finish(column, rows);
    rig->inputs[rig->task.input_count] = column;
    rig->task.inputs[rig->task.input_count] = (struct input){.type = type};
    return rig->task.input_count++;
}

static value input_of(struct rig *rig, size_t input)
{
    enum kind kind = type_table[rig->inputs[input]->type].kind;
    return code_input(&rig->task.code, (int64_t)input, kind, (struct span){0});
}

static void add_output(struct rig *rig, size_t input, enum type type)
{
    rig->task.outputs[rig->task.output_count++] =
        (struct output){.value = input_of(rig, input), .type = type, .needed = true};
}

static void add_carried(struct rig *rig, size_t input)
{
    add_output(rig, input, rig->inputs[input]->type);
}

static enum status run(struct rig *rig, int64_t rows, int threads)
{
    static const atomic_int never = 0;
    struct operator_job job = {
        .task = &rig->task,
        .inputs = rig->inputs,
        .rows = rows,
        .results = rig->results,
        .result_rows = &rig->result_rows,
        .cancel = &never,
        .diags = &rig->diags,
    };
    rig->result_rows = -1;
    rig->flagged = false;
    return host_operator_run_threads(&job, threads, &rig->flagged);
}

/* Runs it with results of `result_rows` rows. */
static void run_into(struct rig *rig, int64_t rows, int64_t result_rows, int threads)
{
    drop_results(rig);
    for (size_t k = 0; k < rig->task.output_count; k++) {
        rig->results[k] = column_reserve(rig->task.outputs[k].type, rig->task.outputs[k].type, result_rows);
        assert_non_null(rig->results[k]);
        if (result_rows > 0) /* memory may have been used before */
            memset(column_at(rig->results[k], 0), 0xa5, (size_t)result_rows * type_table[rig->results[k]->store].size);
    }
    assert_int_equal(run(rig, rows, threads), STATUS_OK);
    assert_int_equal(rig->result_rows, result_rows);
    for (size_t k = 0; k < rig->task.output_count; k++)
        column_finish(rig->results[k], result_rows);
}

static void run_freely(struct rig *rig, int64_t rows, int threads)
{
    drop_results(rig);
    assert_int_equal(run(rig, rows, threads), STATUS_OK);
    for (size_t k = 0; k < rig->task.output_count && !rig->flagged; k++)
        assert_int_equal(rig->results[k]->rows, rig->result_rows);
}

static void assert_element(const struct column *a, int64_t i, const struct column *b, int64_t j)
{
    size_t size = type_table[b->store].size;
    assert_int_equal(a->store, b->store);
    assert_memory_equal((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)j * size, size);
}

/* Key order: NaN last in either direction, zeros equal. */
static int compare(const struct column *column, int64_t a, int64_t b, bool descending)
{
    int order;
    if (type_table[column->store].kind == KIND_FLOAT) {
        double x = column_get_float(column, a), y = column_get_float(column, b);
        if (isnan(x) || isnan(y))
            return !!isnan(x) - !!isnan(y);
        order = (x > y) - (x < y);
    } else {
        int64_t x = column_get_int(column, a), y = column_get_int(column, b);
        order = (x > y) - (x < y);
    }
    return descending ? -order : order;
}

static int compare_rows(const struct rig *rig, int64_t a, int64_t b)
{
    int order = 0;
    for (size_t i = 0; i < rig->column_op.key_count && order == 0; i++)
        order = compare(rig->inputs[rig->keys[i]], a, b, rig->descending[i]);
    return order;
}

/* ---- sort ---- */

/* Output `numbers` holds the source rows: a permutation that sorts stably. */
static void assert_in_order(const struct rig *rig, int64_t rows, size_t numbers)
{
    bool *seen = calloc((size_t)rows + 1, sizeof *seen);
    assert_non_null(seen);
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = column_get_int(rig->results[numbers], i);
        assert_true(row >= 0 && row < rows && !seen[row]);
        seen[row] = true;
        if (i > 0) {
            int64_t before = column_get_int(rig->results[numbers], i - 1);
            int order = compare_rows(rig, before, row);
            assert_true(order < 0 || (order == 0 && before < row));
        }
        for (size_t k = 0; k < rig->task.output_count; k++)
            assert_element(rig->results[k], i, rig->inputs[rig->task.code.at[rig->task.outputs[k].value].integer], row);
    }
    free(seen);
}

static void sort_one(enum type type, int64_t rows, enum content content, bool descending, int threads)
{
    struct rig *rig = rig_new((uint64_t)rows * 31 + content);
    rig->column_op.kind = OPERATOR_SORT;
    rig->column_op.key_count = 1;
    rig->keys[0] = add_column(rig, type, rows, content);
    rig->descending[0] = descending;
    size_t numbers = add_numbers(rig, TYPE_I32, rows);
    add_carried(rig, rig->keys[0]);
    add_carried(rig, numbers);
    run_into(rig, rows, rows, threads);
    assert_false(rig->flagged);
    assert_in_order(rig, rows, 1);
    /* Sorting the key alone must return the same bits. */
    struct column *expected = column_ref(rig->results[0]);
    rig->task.output_count = 1;
    run_into(rig, rows, rows, threads);
    for (int64_t i = 0; i < rows; i++)
        assert_element(rig->results[0], i, expected, i);
    column_unref(expected);
    /* More carried columns than fit an element. */
    rig->task.output_count = 0;
    for (int i = 0; i < 3; i++)
        add_carried(rig, add_column(rig, i == 1 ? TYPE_U8 : TYPE_F64, rows, ANYTHING));
    add_carried(rig, numbers);
    add_carried(rig, rig->keys[0]);
    run_into(rig, rows, rows, threads);
    assert_in_order(rig, rows, 3);
    rig_free(rig);
}

static void sorts_every_type(void **unused)
{
    (void)unused;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int k = 0; k < LENGTHS; k++) {
            int contents = lengths[k] > 10000 ? FEW + 1 : CONTENTS;
            for (int content = 0; content < contents; content++)
                sort_one((enum type)type, lengths[k], (enum content)content, (k + content) % 2, k % 2 ? THREADS : 1);
        }
    }
}

/* Large enough for bucket partitioning; skewed so that one bucket is partitioned again. */
static void sorts_many(void **unused)
{
    (void)unused;
    for (int content = 0; content < CONTENTS; content++) {
        sort_one(TYPE_I32, 200001, (enum content)content, content % 2, THREADS);
        sort_one(TYPE_F64, 150001, (enum content)content, !(content % 2), THREADS);
        sort_one(TYPE_I64, 90001, (enum content)content, content % 2, 2);
        /* Enough rows for a sample to find the splitters. */
        sort_one(TYPE_F64, 270001, (enum content)content, content % 2, 2);
    }
    sort_one(TYPE_F32, 270001, ANYTHING, false, THREADS);
    sort_one(TYPE_I64, 1 << 18, SKEWED, true, THREADS);
}

static void sorts_by_several(void **unused)
{
    (void)unused;
    static const enum type types[][3] = {{TYPE_U8, TYPE_I16, TYPE_BOOL},
                                         {TYPE_I64, TYPE_F64, TYPE_I64},
                                         {TYPE_F32, TYPE_I32, TYPE_U16},
                                         {TYPE_BOOL, TYPE_F64, TYPE_I64},
                                         {TYPE_I64, TYPE_I64, TYPE_U8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (int k = 0; k < LENGTHS; k++) {
            struct rig *rig = rig_new(i * 100 + (uint64_t)k);
            rig->column_op.kind = OPERATOR_SORT;
            rig->column_op.key_count = 3;
            for (size_t j = 0; j < 3; j++) {
                enum content content = j == 2 ? ANYTHING : (int)(i + j) % 2 ? FEW : EXTREMES;
                rig->keys[j] = add_column(rig, types[i][j], lengths[k], content);
                rig->descending[j] = (i + j + (size_t)k) % 2;
                add_carried(rig, rig->keys[j]);
            }
            add_carried(rig, add_numbers(rig, TYPE_I64, lengths[k]));
            run_into(rig, lengths[k], lengths[k], k % 2 ? 1 : THREADS);
            assert_in_order(rig, lengths[k], 3);
            rig_free(rig);
        }
    }
}

/* Only the column's known range is used. */
static void sorts_a_known_range(void **unused)
{
    (void)unused;
    struct rig *rig = rig_new(9);
    rig->column_op.kind = OPERATOR_SORT;
    rig->column_op.key_count = 1;
    rig->keys[0] = add_column(rig, TYPE_I64, 5000, FEW);
    rig->inputs[0]->range_known = true;
    rig->inputs[0]->lo = -5;
    rig->inputs[0]->hi = 1000;
    add_carried(rig, 0);
    add_carried(rig, add_numbers(rig, TYPE_U16, 5000));
    run_into(rig, 5000, 5000, 2);
    assert_in_order(rig, 5000, 1);
    rig_free(rig);
}

/* ---- group and distinct ---- */

static const struct rig *sorting; /* qsort takes no context */

static int by_keys(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    int order = compare_rows(sorting, left, right);
    return order ? order : (left > right) - (left < right);
}

static int64_t *ordered_rows(const struct rig *rig, int64_t rows)
{
    int64_t *order = calloc((size_t)rows + 1, sizeof *order);
    assert_non_null(order);
    for (int64_t i = 0; i < rows; i++)
        order[i] = i;
    sorting = rig;
    qsort(order, (size_t)rows, sizeof *order, by_keys);
    return order;
}

static void add_aggregate(struct rig *rig, enum aggregate_kind kind, size_t input)
{
    bool number = type_table[rig->inputs[input]->store].kind == KIND_FLOAT;
    bool is_float = kind == AGG_MEAN || (number && kind != AGG_COUNT);
    rig->task.aggregates[rig->task.aggregate_count++] =
        (struct aggregate){.kind = kind, .value = kind == AGG_COUNT ? NO_VALUE : input_of(rig, input)};
    add_output(rig, input, is_float ? TYPE_F64 : TYPE_I64);
}

static void assert_scalar(const struct column *column, int64_t row, const struct scalar *expected)
{
    if (column->store != TYPE_F64) {
        assert_true(column_get_int(column, row) == expected->integer);
        return;
    }
    double number = column_get_float(column, row);
    if (isnan(expected->number))
        assert_true(isnan(number));
    else
        assert_memory_equal(&number, &expected->number, sizeof number);
}

/* Computes one aggregate of the listed rows; false on overflow. */
static bool aggregate_of(const struct rig *rig, size_t k, const int64_t *rows, int64_t count, struct scalar *result)
{
    const struct aggregate *aggregate = &rig->task.aggregates[k];
    struct agg_state state;
    agg_init(&state, aggregate, &rig->task.code);
    for (int64_t i = 0; i < count; i++) {
        if (aggregate->value == NO_VALUE) {
            agg_add_int(&state, 0);
            continue;
        }
        const struct column *column = rig->inputs[rig->task.code.at[aggregate->value].integer];
        if (state.type == KIND_FLOAT)
            agg_add_float(&state, column_get_float(column, rows[i]));
        else
            agg_add_int(&state, column_get_int(column, rows[i]));
    }
    bool certain;
    struct diags diags;
    diags_init(&diags, rig->arena);
    assert_int_equal(agg_finish(&state, aggregate, result, &certain, &diags), STATUS_OK);
    return result->kind == KIND_FLOAT || scalar_fits(result);
}

static void assert_groups(const struct rig *rig, int64_t rows)
{
    int64_t *order = ordered_rows(rig, rows);
    size_t keys = rig->column_op.key_count;
    int64_t group = 0;
    bool fits = true;
    for (int64_t begin = 0, end; begin < rows; begin = end, group++) {
        for (end = begin + 1; end < rows && compare_rows(rig, order[begin], order[end]) == 0;)
            end++;
        struct scalar expected[MOST_COLUMNS] = {{0}};
        for (size_t k = 0; k < rig->task.aggregate_count; k++)
            fits = aggregate_of(rig, k, order + begin, end - begin, &expected[k]) && fits;
        for (size_t k = 0; k < keys && !rig->flagged; k++)
            assert_element(rig->results[k], group, rig->inputs[rig->keys[k]], order[begin]);
        for (size_t k = 0; k < rig->task.aggregate_count && !rig->flagged; k++)
            assert_scalar(rig->results[keys + k], group, &expected[k]);
    }
    free(order);
    assert_int_equal(rig->flagged, !fits);
    if (!rig->flagged)
        assert_int_equal(rig->result_rows, group);
}

static void group_by(const enum type *types, size_t keys, enum type type, int64_t rows, enum content content,
                     int threads)
{
    struct rig *rig = rig_new((uint64_t)rows * 7 + (uint64_t)content * 3 + type);
    rig->column_op.kind = OPERATOR_GROUP;
    rig->column_op.key_count = keys;
    for (size_t i = 0; i < keys; i++) {
        rig->keys[i] = add_column(rig, types[i], rows, content);
        add_carried(rig, rig->keys[i]);
    }
    size_t values = add_column(rig, type, rows, ANYTHING);
    static const enum aggregate_kind kinds[] = {AGG_SUM, AGG_COUNT, AGG_MIN, AGG_MAX, AGG_MEAN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        add_aggregate(rig, kinds[i], values);
    run_freely(rig, rows, threads);
    assert_groups(rig, rows);
    rig_free(rig);
}

static void groups_by_every_type(void **unused)
{
    (void)unused;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int k = 0; k < LENGTHS; k++) {
            int contents = lengths[k] > 10000 ? FEW + 1 : CONTENTS;
            for (int content = 0; content < contents; content++) {
                const enum type key = (enum type)type;
                /* Any value type but those whose sums overflow, which are tested separately. */
                enum type values = (enum type)((type + k) % TYPE_COUNT);
                values = values == TYPE_I64 ? TYPE_I32 : values;
                group_by(&key, 1, values, lengths[k], (enum content)content, k % 2 ? 1 : THREADS);
            }
        }
    }
}

static void groups_by_several(void **unused)
{
    (void)unused;
    static const enum type types[][3] = {{TYPE_U8, TYPE_BOOL, TYPE_I8},
                                         {TYPE_I64, TYPE_F64, TYPE_I64},
                                         {TYPE_I32, TYPE_I16, TYPE_F32},
                                         {TYPE_F64, TYPE_F64, TYPE_BOOL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (int k = 0; k < LENGTHS; k++) {
            group_by(types[i], 2 + (size_t)k % 2, TYPE_F64, lengths[k], EXTREMES, k % 2 ? THREADS : 1);
            group_by(types[i], 3, TYPE_I16, lengths[k], ANYTHING, k % 2 ? 1 : THREADS);
        }
    }
}

/* 64-bit integer sums are exact, and flagged on overflow. */
static void group_sums_are_exact(void **unused)
{
    (void)unused;
    static const enum type keys[] = {TYPE_U8, TYPE_I64};
    for (int i = 0; i < 2; i++) {
        for (int content = 0; content < CONTENTS; content++) {
            group_by(&keys[i], 1, TYPE_I64, 5, (enum content)content, 1);
            group_by(&keys[i], 1, TYPE_I64, 4097, (enum content)content, THREADS);
        }
    }
    const int64_t values[] = {INT64_MAX, INT64_MAX, -INT64_MAX, 1, INT64_MIN, INT64_MAX, 7};
    const int64_t groups[] = {1, 1, 1, 2, 2, 2, 3};
    for (int64_t rows = 0; rows <= 7; rows++) {
        struct rig *rig = rig_new(1);
        rig->column_op.kind = OPERATOR_GROUP;
        rig->column_op.key_count = 1;
        rig->inputs[0] = column_of_ints(groups, rows);
        rig->inputs[1] = column_of_ints(values, rows);
        rig->task.input_count = 2;
        add_carried(rig, 0);
        add_aggregate(rig, AGG_SUM, 1);
        add_aggregate(rig, AGG_MEAN, 1);
        run_freely(rig, rows, 2);
        assert_groups(rig, rows);
        assert_int_equal(rig->flagged, rows == 2);
        rig_free(rig);
    }
}

static void group_of_unknown_aggregates(void **unused)
{
    (void)unused;
    struct rig *rig = rig_new(2);
    rig->column_op.kind = OPERATOR_GROUP;
    rig->column_op.key_count = 1;
    rig->keys[0] = add_column(rig, TYPE_U8, 100, FEW);
    add_carried(rig, 0);
    add_aggregate(rig, AGG_XOR, 0);
    run_freely(rig, 100, 1);
    assert_true(rig->flagged);
    assert_null(rig->results[0]);
    rig_free(rig);
}

static void distinct_of(const enum type *types, size_t columns, int64_t rows, enum content content, int threads)
{
    struct rig *rig = rig_new((uint64_t)rows + content);
    rig->column_op.kind = OPERATOR_DISTINCT;
    for (size_t i = 0; i < columns; i++) {
        rig->keys[i] = add_column(rig, types[i], rows, content);
        add_carried(rig, rig->keys[i]);
    }
    run_freely(rig, rows, threads);
    assert_false(rig->flagged);
    rig->column_op.key_count = columns; /* for ordered_rows */
    int64_t *order = ordered_rows(rig, rows);
    bool *first = calloc((size_t)rows + 1, sizeof *first);
    assert_non_null(first);
    for (int64_t i = 0; i < rows; i++)
        first[order[i]] = i == 0 || compare_rows(rig, order[i - 1], order[i]) != 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < columns && first[i]; k++)
            assert_element(rig->results[k], kept, rig->inputs[k], i);
        kept += first[i];
    }
    assert_int_equal(rig->result_rows, kept);
    free(order);
    free(first);
    rig_free(rig);
}

static void distinct_rows(void **unused)
{
    (void)unused;
    static const enum type several[] = {TYPE_I64, TYPE_F64, TYPE_U8};
    for (int k = 0; k < LENGTHS; k++) {
        int contents = lengths[k] > 10000 ? FEW + 1 : CONTENTS;
        for (int content = 0; content < contents; content++) {
            for (int type = 0; type < TYPE_COUNT; type++) {
                const enum type one = (enum type)type;
                distinct_of(&one, 1, lengths[k], (enum content)content, k % 2 ? THREADS : 1);
            }
            distinct_of(several, 3, lengths[k], (enum content)content, k % 2 ? 1 : THREADS);
        }
    }
}

/* ---- scan ---- */

static const enum aggregate_kind scans[] = {AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_BITAND, AGG_XOR, AGG_BITOR};
enum { SCANS = sizeof scans / sizeof *scans };

struct expected {
    int128 integer;
    double number;
    struct exact_sum sum;
    bool none; /* no value combined yet */
};

static struct expected begin_scan(const struct rig *rig)
{
    static const int identities[] = {[AGG_PRODUCT] = 1, [AGG_BITAND] = -1};
    const struct aggregate *aggregate = &rig->task.aggregates[0];
    struct expected state = {.none = !aggregate->has_initial};
    exact_sum_init(&state.sum);
    if (aggregate->kind != AGG_MIN && aggregate->kind != AGG_MAX && aggregate->kind <= AGG_BITAND)
        state.integer = identities[aggregate->kind];
    state.number = aggregate->kind == AGG_PRODUCT ? 1 : NAN;
    if (aggregate->has_initial) {
        state.integer = aggregate->initial.integer;
        state.number = aggregate->initial.number;
        exact_sum_add(&state.sum, state.number);
    }
    return state;
}

/* False on overflow. */
static bool advance_int(enum aggregate_kind kind, struct expected *state, int64_t v)
{
    bool none = state->none;
    state->none = false;
    switch (kind) {
    case AGG_SUM:
        state->integer += v;
        break;
    case AGG_PRODUCT:
        state->integer *= v;
        break;
    case AGG_MIN:
        state->integer = none || v < state->integer ? v : state->integer;
        break;
    case AGG_MAX:
        state->integer = none || v > state->integer ? v : state->integer;
        break;
    case AGG_BITAND:
        state->integer &= v;
        break;
    case AGG_XOR:
        state->integer ^= v;
        break;
    default:
        state->integer |= v;
    }
    return state->integer >= INT64_MIN && state->integer <= INT64_MAX;
}

static void advance_float(enum aggregate_kind kind, struct expected *state, double v)
{
    if (kind == AGG_SUM)
        exact_sum_add(&state->sum, v);
    else if (kind == AGG_PRODUCT)
        state->number *= v;
    else if (isnan(state->number) || (kind == AGG_MIN ? v < state->number : v > state->number))
        state->number = v;
}

static void assert_scanned(const struct rig *rig, int64_t row, const struct expected *state)
{
    struct scalar expected = scalar_int(state->integer);
    if (rig->results[0]->store == TYPE_F64) {
        bool certain;
        bool sum = rig->task.aggregates[0].kind == AGG_SUM;
        expected = scalar_float((sum ? exact_sum_result(&state->sum, &certain) : state->number) + 0.0);
    }
    assert_scalar(rig->results[0], row, &expected);
}

/* Recomputes every chain by definition. */
static void assert_scan(const struct rig *rig, int64_t rows)
{
    const struct column_operator *column_op = &rig->column_op;
    const struct column *column = rig->inputs[0];
    enum aggregate_kind kind = rig->task.aggregates[0].kind;
    bool number = rig->results[0]->store == TYPE_F64, fits = true;
    int64_t segment = column_op->segment > 0 ? column_op->segment : rows;
    for (int64_t first = 0; first < rows; first++) {
        if (first % segment >= column_op->stride)
            continue;
        struct expected state = begin_scan(rig);
        for (int64_t i = first; i < rows && i / segment == first / segment && fits; i += column_op->stride) {
            if (column_op->exclusive && !rig->flagged)
                assert_scanned(rig, i, &state);
            if (number)
                advance_float(kind, &state, column_get_float(column, i));
            else
                fits = advance_int(kind, &state, column_get_int(column, i));
            if (!column_op->exclusive && !rig->flagged && fits)
                assert_scanned(rig, i, &state);
        }
    }
    assert_int_equal(rig->flagged, !fits);
}

static void scan_of(enum aggregate_kind kind, enum type type, int64_t rows, enum content content, int variant,
                    int threads)
{
    static const struct {
        bool exclusive, initial;
        int64_t segment, stride;
    } variants[] = {{false, false, 0, 1},   {true, true, 0, 1},   {false, true, 1000, 1},  {true, true, 3, 1},
                    {false, false, 0, 400}, {true, true, 600, 3}, {false, false, 40000, 1}};
    bool number = type_table[type].kind == KIND_FLOAT;
    struct rig *rig = rig_new((uint64_t)rows + (uint64_t)variant);
    rig->column_op.kind = OPERATOR_SCAN;
    rig->column_op.key_count = 1;
    rig->column_op.exclusive = variants[variant].exclusive;
    rig->column_op.segment = variants[variant].segment;
    rig->column_op.stride = variants[variant].stride;
    add_column(rig, type, rows, content);
    rig->task.aggregates[0] = (struct aggregate){.kind = kind,
                                                 .value = input_of(rig, 0),
                                                 .has_initial = variants[variant].initial,
                                                 .initial = number ? scalar_float(2.5) : scalar_int(5)};
    rig->task.aggregate_count = 1;
    add_output(rig, 0, number ? TYPE_F64 : TYPE_I64);
    run_into(rig, rows, rows, threads);
    assert_scan(rig, rows);
    rig_free(rig);
}

enum { VARIANTS = 7 };

static void scans_integers(void **unused)
{
    (void)unused;
    static const enum type types[] = {TYPE_BOOL, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_U8, TYPE_U16, TYPE_U32};
    for (int k = 0; k < LENGTHS; k++) {
        for (int i = 0; i < SCANS; i++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                enum type type = types[(k + i + variant) % 7];
                scan_of(scans[i], type, lengths[k], scans[i] == AGG_PRODUCT ? EQUAL : ANYTHING, variant, 1);
                scan_of(scans[i], type, lengths[k], scans[i] == AGG_PRODUCT ? EQUAL : FEW, variant, THREADS);
                if (scans[i] != AGG_SUM && scans[i] != AGG_PRODUCT)
                    scan_of(scans[i], TYPE_I64, lengths[k], EXTREMES, variant, THREADS);
            }
        }
    }
    scan_of(AGG_SUM, TYPE_I32, 300000, ANYTHING, 0, THREADS);
    scan_of(AGG_MAX, TYPE_I64, 300000, ANYTHING, 6, THREADS);
    for (int beside = -1; beside <= 1; beside++) { /* results written past the caches */
        scan_of(AGG_SUM, TYPE_I32, (1 << 19) + beside, ANYTHING, 0, THREADS);
        scan_of(AGG_MIN, TYPE_I8, (1 << 19) + beside, ANYTHING, 1, THREADS);
        scan_of(AGG_XOR, TYPE_I16, (1 << 19) + 17 * 256 + beside, ANYTHING, 0, THREADS);
    }
}

/* Sums and products overflowing 64 bits. */
static void scans_that_overflow(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < VARIANTS; variant++) {
        scan_of(AGG_SUM, TYPE_I64, 4096, ANYTHING, variant, 1);
        scan_of(AGG_SUM, TYPE_I64, 1, ANYTHING, variant, 1);
        scan_of(AGG_PRODUCT, TYPE_I32, 2, ANYTHING, variant, 1);
        scan_of(AGG_PRODUCT, TYPE_I32, 777, ANYTHING, 0, 1);
    }
}

static void scans_floats(void **unused)
{
    (void)unused;
    static const enum aggregate_kind kinds[] = {AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX};
    for (int k = 0; k < LENGTHS; k++) {
        for (int i = 0; i < 4; i++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                enum type type = (k + i + variant) % 2 ? TYPE_F32 : TYPE_F64;
                scan_of(kinds[i], type, lengths[k], ANYTHING, variant, THREADS);
                scan_of(kinds[i], type, lengths[k], FEW, variant, 1);
                if (kinds[i] == AGG_MIN || kinds[i] == AGG_MAX)
                    scan_of(kinds[i], type, lengths[k], EXTREMES, variant, THREADS);
            }
        }
    }
    scan_of(AGG_SUM, TYPE_F64, 300000, ANYTHING, 0, THREADS);
}

/* (a, b) -> a + b of integers, which must not overflow. */
static void scans_by_a_function(void **unused)
{
    (void)unused;
    for (int overflows = 0; overflows < 2; overflows++) {
        struct rig *rig = rig_new(3);
        struct task body = {0};
        code_init(&body.code, rig->arena);
        value a = code_input(&body.code, 0, KIND_INT, (struct span){0});
        value b = code_input(&body.code, 1, KIND_INT, (struct span){0});
        struct input body_inputs[2] = {{.type = TYPE_I64}, {.type = TYPE_I64}};
        struct output sum = {
            .value = code_op(&body.code, OP_ADD, a, b, NO_VALUE, (struct span){0}), .type = TYPE_I64, .needed = true};
        body.inputs = body_inputs;
        body.input_count = 2;
        body.outputs = &sum;
        body.output_count = 1;
        struct user_reduce reducer = {.kind = KIND_INT, .body = &body};
        rig->column_op.kind = OPERATOR_SCAN;
        rig->column_op.key_count = 1;
        add_column(rig, overflows ? TYPE_I64 : TYPE_I16, 500, overflows ? EXTREMES : ANYTHING);
        rig->task.aggregates[0] = (struct aggregate){.kind = AGG_FOLD, .value = input_of(rig, 0), .reducer = &reducer};
        rig->task.aggregate_count = 1;
        add_output(rig, 0, TYPE_I64);
        run_into(rig, 500, 500, THREADS);
        assert_int_equal(rig->flagged, overflows);
        int64_t expected = 0;
        for (int64_t i = 0; i < 500 && !overflows; i++) {
            expected += column_get_int(rig->inputs[0], i);
            assert_true(column_get_int(rig->results[0], i) == expected);
        }
        rig_free(rig);
    }
}

/* A compensated sum is correct or flagged uncertain, however far apart its terms. */
static void cascades(void **unused)
{
    (void)unused;
    struct rig *rig = rig_new(7);
    int certain_ones = 0;
    for (int round = 0; round < 20000; round++) {
        struct compensated_sum parts[2] = {{.count = 0}, {.count = 0}};
        struct exact_sum exact;
        exact_sum_init(&exact);
        int terms = 1 + (int)(next(rig) % 12), spread = 1 + (int)(next(rig) % 300);
        for (int i = 0; i < terms; i++) {
            double term = ldexp((double)(int64_t)(next(rig) % 3) - 1, -(int)(next(rig) % (uint64_t)spread));
            compensated_sum_add(&parts[next(rig) % 2], term);
            exact_sum_add(&exact, term);
        }
        compensated_sum_merge(&parts[0], &parts[1]);
        bool uncertain = false, certain;
        double result = compensated_sum_result(&parts[0], &uncertain),
               expected = exact_sum_result(&exact, &certain) + 0.0;
        assert_true(uncertain || result == expected);
        certain_ones += !uncertain;
    }
    assert_true(certain_ones > 15000);
    /* Just above a rounding midpoint, by too little for three doubles to hold. */
    struct compensated_sum sum = {0};
    bool uncertain = false;
    const double hairy[] = {1, 0x1p-53, 0x1p-110, 0x1p-170, -0x1p-110};
    for (size_t i = 0; i < sizeof hairy / sizeof *hairy; i++)
        compensated_sum_add(&sum, hairy[i]);
    compensated_sum_result(&sum, &uncertain);
    assert_true(uncertain);
    rig_free(rig);
}

/* ---- scatter and hist ---- */

/* `rows` distinct indices below `into`. */
static void add_positions(struct rig *rig, enum type type, int64_t rows, int64_t into)
{
    size_t number = add_numbers(rig, TYPE_I64, into);
    int64_t *places = column_at(rig->inputs[number], 0);
    for (int64_t i = into - 1; i > 0; i--) {
        int64_t j = (int64_t)(next(rig) % (uint64_t)(i + 1)), place = places[i];
        places[i] = places[j];
        places[j] = place;
    }
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t i = 0; i < rows; i++)
        put_int(column, i, places[i]);
    column_finish(column, rows);
    column_unref(rig->inputs[number]);
    rig->inputs[number] = column;
}

/* Rows go to their places, and zeros elsewhere. */
static void assert_scattered(const struct rig *rig, size_t input, size_t result, int64_t rows, int64_t into)
{
    static const char zero[8];
    const struct column *positions = rig->inputs[0], *from = rig->inputs[input];
    struct column *to = rig->results[result];
    const size_t size = type_table[from->store].size;
    char *taken = calloc((size_t)into + 1, 1);
    assert_non_null(taken);
    bool same = true;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t place = column_get_int(positions, i);
        same &= memcmp(column_at(to, place), (const char *)from->data + (size_t)i * size, size) == 0;
        taken[place] = 1;
    }
    for (int64_t i = 0; i < into; i++)
        same &= taken[i] || memcmp(column_at(to, i), zero, size) == 0;
    assert_true(same);
    free(taken);
}

static struct rig *rig_scatter(enum type positions, int64_t rows, int64_t into)
{
    struct rig *rig = rig_new((uint64_t)rows);
    rig->column_op.kind = OPERATOR_SCATTER;
    rig->column_op.key_count = 1;
    rig->column_op.into = into == rows ? -1 : into;
    add_positions(rig, positions, rows, into);
    return rig;
}

static void scatters(void **unused)
{
    (void)unused;
    for (int k = 0; k < LENGTHS; k++) {
        for (int type = 0; type < TYPE_COUNT; type++) {
            int64_t rows = lengths[k], into = type % 2 ? rows : 2 * rows + 1;
            struct rig *rig = rig_scatter(k % 2 ? TYPE_U32 : TYPE_I64, rows, into);
            add_carried(rig, add_column(rig, (enum type)type, rows, ANYTHING));
            run_into(rig, rows, into, k % 2 ? THREADS : 1);
            assert_false(rig->flagged);
            assert_scattered(rig, 1, 0, rows, into);
            rig_free(rig);
        }
    }
}

/* So many that they are dealt by regions of the result, of 2^17 bytes; and one row less than that. */
static void scatters_in_regions(void **unused)
{
    (void)unused;
    static const struct {
        enum type type;
        int64_t rows, into;
    } cases[] = {{TYPE_U8, 300000, (1 << 24) + 1},  {TYPE_I16, 262144, 1 << 23},
                 {TYPE_I32, 1 << 22, 1 << 22},      {TYPE_I32, (1 << 22) - 1, (1 << 22) - 1},
                 {TYPE_I32, 700001, (1 << 22) + 1}, {TYPE_F64, (1 << 21) + 16383, (1 << 21) + 16383},
                 {TYPE_I64, 262144, (1 << 21) - 1}, {TYPE_U32, 262143, 1 << 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t rows = cases[i].rows, into = cases[i].into;
        struct rig *rig = rig_scatter(i % 2 ? TYPE_I64 : TYPE_I32, rows, into);
        add_carried(rig, add_column(rig, cases[i].type, rows, ANYTHING));
        add_carried(rig, add_column(rig, TYPE_BOOL, rows, ANYTHING));
        run_into(rig, rows, into, i % 2 ? THREADS : 1);
        assert_false(rig->flagged);
        assert_scattered(rig, 1, 0, rows, into);
        assert_scattered(rig, 2, 1, rows, into);
        /* One position taken twice, or out of bounds. */
        put_int(rig->inputs[0], rows - 1, i % 3 == 0 ? into : i % 3 == 1 ? -1 : column_get_int(rig->inputs[0], 7));
        run_into(rig, rows, into, THREADS);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void scatters_nowhere(void **unused)
{
    (void)unused;
    static const int64_t wrong[] = {-1, 5000, INT64_MIN, INT64_MAX, 17};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rig *rig = rig_new(4);
        rig->column_op.kind = OPERATOR_SCATTER;
        rig->column_op.key_count = 1;
        add_numbers(rig, TYPE_I64, 5000);
        *(int64_t *)column_at(rig->inputs[0], 4000) = wrong[i];
        add_carried(rig, 0);
        run_into(rig, 5000, 5000, THREADS);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void histograms(void **unused)
{
    (void)unused;
    static const int64_t bins[] = {1, 2, 10, 1000};
    for (int k = 1; k < LENGTHS; k++) {
        for (int type = 0; type < TYPE_COUNT; type++) {
            struct rig *rig = rig_new((uint64_t)k);
            int64_t rows = lengths[k], count = bins[(k + type) % 4];
            bool number = type_table[type].kind == KIND_FLOAT;
            rig->column_op.kind = OPERATOR_HIST;
            rig->column_op.key_count = 1;
            rig->column_op.into = count;
            add_column(rig, (enum type)type, rows, k % 3 == 0 ? FEW : ANYTHING);
            if (number && rows > 3)
                put_int(rig->inputs[0], 1, -1); /* NaN, skipped */
            add_output(rig, 0, TYPE_F64);
            add_output(rig, 0, TYPE_F64);
            add_output(rig, 0, TYPE_I64);
            run_into(rig, rows, count, k % 2 ? THREADS : 1);
            assert_false(rig->flagged);
            int64_t *expected = calloc((size_t)count, sizeof *expected);
            assert_non_null(expected);
            for (int64_t i = 0; i < rows; i++) {
                double v = number ? column_get_float(rig->inputs[0], i) : (double)column_get_int(rig->inputs[0], i);
                int64_t bin = 0;
                while (bin < count - 1 && v >= column_get_float(rig->results[0], bin + 1))
                    bin++;
                expected[bin] += !isnan(v);
            }
            /* Double-valued edges are inexact for integers beyond 2^53. */
            for (int64_t i = 0; i < count && type != TYPE_I64; i++)
                assert_int_equal(column_get_int(rig->results[2], i), expected[i]);
            for (int64_t i = 0; i + 1 < count; i++)
                assert_true(column_get_float(rig->results[1], i) == column_get_float(rig->results[0], i + 1));
            free(expected);
            rig_free(rig);
        }
    }
}

/* Intervals of calendar units, whose number the operator chooses. */
static void calendar_histograms(void **unused)
{
    (void)unused;
    static const enum logical kinds[] = {LOGICAL_DATE, LOGICAL_TIMESTAMP, LOGICAL_DURATION};
    for (int k = 0; k < LENGTHS; k++) {
        for (int kind = 0; kind < 3; kind++) {
            struct rig *rig = rig_new((uint64_t)k);
            int64_t rows = lengths[k];
            enum type type = kinds[kind] == LOGICAL_DATE ? TYPE_I32 : TYPE_I64;
            rig->column_op.kind = OPERATOR_HIST;
            rig->column_op.calendar = kinds[kind];
            rig->column_op.key_count = 1;
            rig->column_op.into = 1 + k * 3;
            add_column(rig, type, rows, k % 3 == 0 ? FEW : ANYTHING);
            add_output(rig, 0, type);
            add_output(rig, 0, type);
            add_output(rig, 0, TYPE_I64);
            assert_int_equal(operator_result_rows(&rig->column_op, rows), -1);
            run_freely(rig, rows, k % 2 ? THREADS : 1);
            assert_true(rig->flagged == (rows == 0));
            int64_t total = 0;
            for (int64_t i = 0; i < rig->result_rows; i++) {
                int64_t lo = column_get_int(rig->results[0], i), hi = column_get_int(rig->results[1], i), count = 0;
                bool last = i + 1 == rig->result_rows;
                assert_true(lo < hi && (last || hi == column_get_int(rig->results[0], i + 1)));
                for (int64_t row = 0; row < rows; row++) {
                    int64_t element = column_get_int(rig->inputs[0], row);
                    count += element >= lo && (element < hi || (last && element == hi));
                }
                assert_int_equal(column_get_int(rig->results[2], i), count);
                total += count;
            }
            assert_int_equal(total, rows);
            rig_free(rig);
        }
    }
}

static void histogram_edges(void **unused)
{
    (void)unused;
    const struct histogram_bins wide = {.bins = 4, .lo = INT64_MIN, .hi = INT64_MAX};
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MIN), 0);
    assert_int_equal(histogram_bin_of_int(&wide, -1), 1);
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MAX - 1), 3);
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MAX), 3);
    const struct histogram_bins thirds = {.bins = 3, .lo = 0, .hi = 9};
    assert_int_equal(histogram_bin_of_int(&thirds, 2), 0);
    assert_int_equal(histogram_bin_of_int(&thirds, 3), 1);
    assert_int_equal(histogram_bin_of_int(&thirds, 9), 2);
    assert_true(histogram_edge(&thirds, 1) == 3 && histogram_edge(&thirds, 3) == 9);
    const struct histogram_bins huge = {.bins = 2, .number = true, .flo = -DBL_MAX, .fhi = DBL_MAX};
    assert_true(histogram_edge(&huge, 1) == 0);
    assert_int_equal(histogram_bin_of_float(&huge, -1), 0);
    assert_int_equal(histogram_bin_of_float(&huge, 0), 1);
    assert_int_equal(histogram_bin_of_float(&huge, DBL_MAX), 1);
    const struct histogram_bins one = {.bins = 5, .number = true, .flo = 1.5, .fhi = 1.5};
    assert_int_equal(histogram_bin_of_float(&one, 1.5), 4);
    const struct histogram_bins one_int = {.bins = 5, .lo = 7, .hi = 7};
    assert_int_equal(histogram_bin_of_int(&one_int, 7), 4);
}

static void histograms_without_range(void **unused)
{
    (void)unused;
    static const double bad[][2] = {{INFINITY, 1}, {-INFINITY, 0}, {NAN, NAN}};
    for (int i = -1; i < 3; i++) {
        struct rig *rig = rig_new(5);
        rig->column_op.kind = OPERATOR_HIST;
        rig->column_op.key_count = 1;
        rig->column_op.into = 3;
        rig->inputs[0] = column_of_floats(i < 0 ? bad[0] : bad[i], i < 0 ? 0 : 2);
        rig->task.input_count = 1;
        add_output(rig, 0, TYPE_F64);
        run_into(rig, i < 0 ? 0 : 2, 3, 1);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void interrupted(void **unused)
{
    (void)unused;
    static const atomic_int now = 1;
    static const enum operator_kind kinds[] = {OPERATOR_SCAN, OPERATOR_SORT, OPERATOR_GROUP, OPERATOR_DISTINCT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rig *rig = rig_new(6);
        rig->column_op.kind = kinds[i];
        rig->column_op.key_count = 1;
        add_column(rig, TYPE_I32, 100000, ANYTHING);
        add_carried(rig, 0);
        rig->task.aggregates[0] = (struct aggregate){.kind = AGG_MAX, .value = input_of(rig, 0)};
        if (kinds[i] == OPERATOR_SORT || kinds[i] == OPERATOR_SCAN)
            rig->results[0] = column_reserve(TYPE_I64, TYPE_I64, 100000);
        struct operator_job job = {.task = &rig->task,
                                   .inputs = rig->inputs,
                                   .rows = 100000,
                                   .results = rig->results,
                                   .result_rows = &rig->result_rows,
                                   .cancel = &now,
                                   .diags = &rig->diags};
        assert_int_equal(host_operator_run(&job, &rig->flagged), STATUS_CANCELLED);
        assert_int_equal(rig->diags.count, 0);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_type),
        cmocka_unit_test(sorts_many),
        cmocka_unit_test(sorts_by_several),
        cmocka_unit_test(sorts_a_known_range),
        cmocka_unit_test(groups_by_every_type),
        cmocka_unit_test(groups_by_several),
        cmocka_unit_test(group_sums_are_exact),
        cmocka_unit_test(group_of_unknown_aggregates),
        cmocka_unit_test(distinct_rows),
        cmocka_unit_test(scans_integers),
        cmocka_unit_test(scans_that_overflow),
        cmocka_unit_test(scans_floats),
        cmocka_unit_test(scans_by_a_function),
        cmocka_unit_test(cascades),
        cmocka_unit_test(scatters),
        cmocka_unit_test(scatters_in_regions),
        cmocka_unit_test(scatters_nowhere),
        cmocka_unit_test(histograms),
        cmocka_unit_test(calendar_histograms),
        cmocka_unit_test(histogram_edges),
        cmocka_unit_test(histograms_without_range),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests_name("break", tests, NULL, NULL);
}
