/* Zone maps: their contents, zone predicates and pruning, checked against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/backend/zone_prune.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/narrow_copy.h"
#include "engine/storage/zonemap.h"
#include "random_code.h"

#include <math.h>

static const struct span nowhere = {0};
static const atomic_bool stopped = true;

/* A column of random elements, mostly clustered, as in real data. */
static struct column *random_column(struct random *random, enum type type, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    const struct type_info *info = &type_table[type];
    int64_t base = 0, width = 1;
    for (int64_t row = 0; row < rows; row++) {
        if (row % 50 == 0) {
            base = random_within(random, info->lo, info->hi);
            width = random_below(random, 4) == 0 ? info->hi : random_below(random, 100);
        }
        int64_t v;
        if (__builtin_add_overflow(base, random_within(random, 0, width), &v) || v > info->hi)
            v = base;
        double number = (double)(base = info->kind == KIND_FLOAT ? row / 50 - 5 : base) + random_float(random);
        void *at = column_at(column, row);
        if (type == TYPE_F64)
            *(double *)at = number;
        else if (type == TYPE_F32)
            *(float *)at = (float)number;
        else
            memcpy(at, &v, info->size);
    }
    column_finish(column, rows);
    return column;
}

static void assert_zone_is(const struct column *column, const struct zone *zone, int64_t begin, int64_t end)
{
    bool floats = type_table[column->store].kind == KIND_FLOAT, nan = false, any = false, low = false, high = false;
    for (int64_t row = begin; row < end; row++) {
        double number = floats ? column_get_float(column, row) : 0;
        nan = nan || isnan(number);
        if (isnan(number))
            continue;
        any = true;
        if (floats) {
            assert_true(number >= zone->low && number <= zone->high);
            low = low || number == zone->low;
            high = high || number == zone->high;
        } else {
            int64_t v = column_get_int(column, row);
            assert_true(v >= zone->lo && v <= zone->hi);
            low = low || v == zone->lo;
            high = high || v == zone->hi;
        }
    }
    assert_int_equal(zone->nan, floats && nan);
    assert_true(!any || (low && high)); /* and tight */
    if (!any)
        assert_true(floats ? zone->low > zone->high : zone->lo > zone->hi);
}

static void zonemap_are_exact(void **state)
{
    (void)state;
    struct random random = {1};
    for (int i = 0; i < 400; i++) {
        enum type type = (enum type)random_below(&random, TYPE_COUNT);
        int64_t rows = random_below(&random, 300), size = 1 + random_below(&random, 80);
        struct column *column = random_column(&random, type, rows);
        struct zonemap *zones = zonemap_new(column, size, NULL);
        assert_int_equal(zones->count, (rows + size - 1) / size);
        assert_zone_is(column, &zones->all, 0, rows);
        for (int64_t k = 0; k < zones->count; k++)
            assert_zone_is(column, &zones->at[k], k * size, (k + 1) * size < rows ? (k + 1) * size : rows);
        for (int k = 0; k < 10 && rows > 0; k++) {
            int64_t begin = random_below(&random, (int)rows), end = random_within(&random, begin, rows);
            struct zone over = zonemap_over(zones, begin, end);
            int64_t first = begin / size * size, last = (end + size - 1) / size * size;
            assert_zone_is(column, &over, begin < end ? first : 0, begin >= end ? 0 : last < rows ? last : rows);
        }
        zonemap_free(zones);
        column_unref(column);
    }
    struct column *column = random_column(&random, TYPE_I32, 100);
    assert_null(zonemap_new(column, 10, &stopped));
    column_unref(column);
    zonemap_free(NULL);
}

static void floats_of_all_kinds(void **state)
{
    (void)state;
    struct column *column = column_of_floats((const double[]){NAN, NAN, -0.0, INFINITY, 1, NAN}, 6);
    struct zonemap *zones = zonemap_new(column, 2, NULL);
    assert_true(zones->at[0].nan && zones->at[0].low > zones->at[0].high);
    assert_true(!zones->at[1].nan && zones->at[1].low == 0 && zones->at[1].high == INFINITY);
    assert_true(zones->at[2].nan && zones->at[2].low == 1 && zones->at[2].high == 1);
    assert_true(zones->all.nan && zones->all.low == 0 && zones->all.high == INFINITY);
    zonemap_free(zones);
    column_unref(column);
}

static void narrow_copies(void **state)
{
    (void)state;
    struct random random = {2};
    for (int i = 0; i < 400; i++) {
        enum type type = (enum type)random_below(&random, TYPE_COUNT);
        struct column *column = random_column(&random, type, random_below(&random, 200));
        struct zonemap *zones = zonemap_new(column, 64, NULL);
        enum type store = narrow_type(column->store, zones->all.lo, zones->all.hi);
        if (store != type) {
            assert_true(type_table[store].size < type_table[type].size);
            struct column *copy = narrow_copy(column, store, zones->all.lo, zones->all.hi, NULL, NULL);
            assert_int_equal(copy->rows, column->rows);
            assert_int_equal(copy->type, type);
            assert_int_equal(copy->store, store);
            for (int64_t row = 0; row < column->rows; row++)
                assert_int_equal(column_get_int(copy, row), column_get_int(column, row));
            if (column->rows > 0) {
                assert_true(copy->range_known && copy->lo == zones->all.lo && copy->hi == zones->all.hi);
                assert_null(narrow_copy(column, store, 0, 0, NULL, &stopped));
            }
            column_unref(copy);
        } else if (type_table[type].kind == KIND_INT && type_table[type].size > 1 && column->rows > 0) {
            assert_true(zones->all.lo < 0 ? zones->all.lo < -(1 << 7) || zones->all.hi > INT8_MAX
                                          : zones->all.hi > UINT8_MAX);
        }
        zonemap_free(zones);
        column_unref(column);
    }
    static const struct {
        int64_t lo, hi;
        enum type type, narrow;
    } cases[] = {
        {0, 127, TYPE_I64, TYPE_I8},
        {-128, 127, TYPE_I16, TYPE_I8},
        {0, 255, TYPE_I32, TYPE_U8},
        {-1, 255, TYPE_I32, TYPE_I16},
        {0, 999, TYPE_I32, TYPE_I16},
        {0, 65535, TYPE_I64, TYPE_U16},
        {-1, 65535, TYPE_I64, TYPE_I32},
        {0, UINT32_MAX, TYPE_I64, TYPE_U32},
        {0, UINT32_MAX, TYPE_U32, TYPE_U32},
        {-1, UINT32_MAX, TYPE_I64, TYPE_I64},
        {0, 1, TYPE_U8, TYPE_U8},
        {-32769, 0, TYPE_I32, TYPE_I32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct column column = {.type = cases[i].type, .store = cases[i].type};
        assert_int_equal(narrow_type(column.store, cases[i].lo, cases[i].hi), cases[i].narrow);
    }
}

enum { INPUTS = 4, ROWS = 400, ZONE = 40 };

struct table {
    struct arena *arena;
    struct task *task;
    struct column *columns[INPUTS];
    struct zonemap *zones[INPUTS];
};

static void table_begin(struct table *table, struct random *random)
{
    static const enum type types[INPUTS] = {TYPE_I8, TYPE_I32, TYPE_I64, TYPE_F64};
    struct queue queue;
    table->arena = arena_new();
    queue_init(&queue, table->arena);
    table->task = queue_add(&queue);
    table->task->inputs = arena_array(table->arena, INPUTS, sizeof *table->task->inputs);
    table->task->input_count = INPUTS;
    table->task->filters = arena_array(table->arena, 2, sizeof *table->task->filters);
    for (int k = 0; k < INPUTS; k++) {
        table->columns[k] = random_column(random, types[k], ROWS);
        table->zones[k] = zonemap_new(table->columns[k], ZONE, NULL);
        table->task->inputs[k] = (struct input){.column = table->columns[k], .type = types[k]};
    }
}

static void table_end(struct table *table)
{
    for (int k = 0; k < INPUTS; k++) {
        zonemap_free(table->zones[k]);
        column_unref(table->columns[k]);
    }
    arena_free(table->arena);
}

/* Whether the filters, evaluated lazily, keep the row or fail. */
static bool row_matters(const struct table *table, int64_t row)
{
    const struct code *code = &table->task->code;
    struct cell inputs[INPUTS] = {{0}};
    for (int k = 0; k < INPUTS; k++) {
        if (type_table[table->columns[k]->store].kind == KIND_FLOAT)
            inputs[k].number = column_get_float(table->columns[k], row);
        else
            inputs[k].integer = column_get_int(table->columns[k], row);
    }
    struct cell *cells = arena_array(table->arena, (size_t)code->count, sizeof *cells);
    for (size_t i = 0; i < table->task->filter_count; i++) {
        struct cell keep = lazy_value(code, table->task->filters[i].keep, inputs, row, cells);
        if (keep.failed || !keep.integer)
            return keep.failed;
    }
    return true;
}

/* Rows that pass or fail are never excluded; a good part of the excludable zones are. */
static void random_filters(void **state)
{
    (void)state;
    static const enum kind kinds[INPUTS] = {KIND_INT, KIND_INT, KIND_INT, KIND_FLOAT};
    struct random random = {3};
    int excluded = 0, possible = 0;
    for (int i = 0; i < 3000; i++) {
        struct table table;
        table_begin(&table, &random);
        struct task *task = table.task;
        random_code(&random, &task->code, kinds, INPUTS, 12);
        task->filter_count = 1 + (size_t)random_below(&random, 2);
        for (size_t f = 0; f < task->filter_count; f++)
            task->filters[f].keep = random_value(&random, &task->code, KIND_BOOL);
        struct zone_predicate *predicate = zone_predicate_new(task, ROWS, table.arena);
        for (int64_t begin = 0; begin < ROWS; begin += ZONE) {
            struct zone inputs[INPUTS], whole[INPUTS];
            for (int k = 0; k < INPUTS; k++) {
                inputs[k] = zonemap_over(table.zones[k], begin, begin + ZONE);
                whole[k] = table.zones[k]->all;
            }
            bool matters = false;
            for (int64_t row = begin; row < begin + ZONE && !matters; row++)
                matters = row_matters(&table, row);
            bool gone = zone_predicate_exclude(predicate, begin, begin + ZONE, inputs, whole);
            assert_false(gone && matters);
            excluded += gone;
            possible += !matters;
        }
        table_end(&table);
    }
    assert_true(excluded > possible / 4);
}

/* Handwritten filters with known answers. */
static void plain_filters(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct queue queue;
    queue_init(&queue, arena);
    struct task *task = queue_add(&queue);
    struct code *code = &task->code;
    struct filter filter;
    task->filters = &filter;
    task->filter_count = 1;
    value x = code_input(code, 0, KIND_INT, nowhere), f = code_input(code, 1, KIND_FLOAT, nowhere);
    value row = code_row(code, nowhere), two = code_int(code, 2, nowhere), half = code_float(code, 0.5, nowhere);
    value hundred = code_int(code, 100, nowhere), nought = code_int(code, 0, nowhere);
    value quotient = code_op(code, OP_DIV, hundred, x, NO_VALUE, nowhere);
    value not_zero = code_op(code, OP_NE, x, nought, NO_VALUE, nowhere);
    value large = code_op(code, OP_LT, hundred, quotient, NO_VALUE, nowhere);
    const struct {
        value keep;
        struct zone x, f;
        bool excluded;
    } cases[] = {
        {code_op(code, OP_EQ, x, hundred, NO_VALUE, nowhere), {.lo = 1, .hi = 99}, {0}, true},
        {code_op(code, OP_EQ, x, hundred, NO_VALUE, nowhere), {.lo = 1, .hi = 100}, {0}, false},
        {code_op(code, OP_NE, x, hundred, NO_VALUE, nowhere), {.lo = 100, .hi = 100}, {0}, true},
        {code_op(code, OP_LT, row, hundred, NO_VALUE, nowhere), {0}, {0}, true},
        {code_op(code, OP_LT, f, half, NO_VALUE, nowhere), {0}, {.low = 0.5, .high = 1, .nan = true}, true},
        {code_op(code, OP_LT, f, half, NO_VALUE, nowhere), {0}, {.low = 0.25, .high = 1}, false},
        {code_op(code, OP_NE, f, f, NO_VALUE, nowhere), {0}, {.low = 0.5, .high = 1, .nan = true}, false},
        {code_op(code, OP_EQ, code_op(code, OP_MOD, x, two, NO_VALUE, nowhere), two, NO_VALUE, nowhere),
         {.lo = 0, .hi = 9},
         {0},
         true},
        /* Zones that may fail are kept, unless short-circuited. */
        {large, {.lo = 1, .hi = 9}, {0}, true},
        {large, {.lo = 0, .hi = 9}, {0}, false},
        {code_op(code, OP_AND, not_zero, large, NO_VALUE, nowhere), {.lo = 0, .hi = 0}, {0}, true},
        {code_op(code, OP_AND, not_zero, large, NO_VALUE, nowhere), {.lo = 0, .hi = 9}, {0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        filter.keep = cases[i].keep;
        const struct zone zones[] = {cases[i].x, cases[i].f};
        assert_int_equal(zone_predicate_exclude(zone_predicate_new(task, 1000, arena), 500, 600, zones, zones),
                         cases[i].excluded);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zonemap_are_exact), cmocka_unit_test(floats_of_all_kinds), cmocka_unit_test(narrow_copies),
        cmocka_unit_test(random_filters),    cmocka_unit_test(plain_filters),
    };
    return cmocka_run_group_tests_name("zones", tests, NULL, NULL);
}
