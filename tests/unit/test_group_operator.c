/* Groups and distinct rows on the host against naive definitions. */
#include "operator_rig.h"

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
    add_aggregate(rig, AGG_LEADING, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_by_every_type), cmocka_unit_test(groups_by_several),
        cmocka_unit_test(group_sums_are_exact), cmocka_unit_test(group_of_unknown_aggregates),
        cmocka_unit_test(distinct_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
