/* Sorts on the host against a naive definition. */
#include "operator_rig.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_type),
        cmocka_unit_test(sorts_many),
        cmocka_unit_test(sorts_by_several),
        cmocka_unit_test(sorts_a_known_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
