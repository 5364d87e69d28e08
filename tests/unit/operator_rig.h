/* Operators of the host on generated columns of every type and awkward lengths, on one thread and several. Every
 * function is static inline because a test program is one source file. */
#ifndef RQL_TESTS_OPERATOR_RIG_H
#define RQL_TESTS_OPERATOR_RIG_H

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
static inline uint64_t next(struct rig *rig)
{
    rig->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rig->seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline struct rig *rig_new(uint64_t seed)
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

static inline void drop_results(struct rig *rig)
{
    for (size_t i = 0; i < sizeof rig->results / sizeof *rig->results; i++) {
        column_unref(rig->results[i]);
        rig->results[i] = NULL;
    }
}

static inline void rig_free(struct rig *rig)
{
    drop_results(rig);
    for (size_t i = 0; i < rig->task.input_count; i++)
        column_unref(rig->inputs[i]);
    arena_free(rig->arena);
    free(rig);
}

static inline double extreme_float(uint64_t choice, bool single)
{
    static const double extremes[2][12] = {
        {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.0, -1.0, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -DBL_MIN},
        {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.0, -1.0, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_MIN}};
    return extremes[single][choice % 12];
}

static inline double float_of(struct rig *rig, enum content content, int64_t row, int64_t rows, bool single)
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

static inline int64_t int_of(struct rig *rig, enum content content, int64_t row, int64_t rows,
                             const struct type_info *info)
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

static inline void put_int(struct column *column, int64_t row, int64_t integer)
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
static inline size_t add_column(struct rig *rig, enum type type, int64_t rows, enum content content)
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
static inline size_t add_numbers(struct rig *rig, enum type type, int64_t rows)
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

static inline value input_of(struct rig *rig, size_t input)
{
    enum kind kind = type_table[rig->inputs[input]->type].kind;
    return code_input(&rig->task.code, (int64_t)input, kind, (struct span){0});
}

static inline void add_output(struct rig *rig, size_t input, enum type type)
{
    rig->task.outputs[rig->task.output_count++] =
        (struct output){.value = input_of(rig, input), .type = type, .needed = true};
}

static inline void add_carried(struct rig *rig, size_t input)
{
    add_output(rig, input, rig->inputs[input]->type);
}

static inline enum status run(struct rig *rig, int64_t rows, int threads)
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
static inline void run_into(struct rig *rig, int64_t rows, int64_t result_rows, int threads)
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

static inline void run_freely(struct rig *rig, int64_t rows, int threads)
{
    drop_results(rig);
    assert_int_equal(run(rig, rows, threads), STATUS_OK);
    for (size_t k = 0; k < rig->task.output_count && !rig->flagged; k++)
        assert_int_equal(rig->results[k]->rows, rig->result_rows);
}

static inline void assert_element(const struct column *a, int64_t i, const struct column *b, int64_t j)
{
    size_t size = type_table[b->store].size;
    assert_int_equal(a->store, b->store);
    assert_memory_equal((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)j * size, size);
}

/* Key order: NaN last in either direction, zeros equal. */
static inline int compare(const struct column *column, int64_t a, int64_t b, bool descending)
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

static inline int compare_rows(const struct rig *rig, int64_t a, int64_t b)
{
    int order = 0;
    for (size_t i = 0; i < rig->column_op.key_count && order == 0; i++)
        order = compare(rig->inputs[rig->keys[i]], a, b, rig->descending[i]);
    return order;
}

static inline void assert_scalar(const struct column *column, int64_t row, const struct scalar *expected)
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

#endif
