/* Group ids and the tables of join indexes on an OpenCL device, checked against the host and by hand. */
#include "cl_operators.h"

#include "cl/operators/key_ranks.h"
#include "cl/operators/key_search.h"

static void check_ids(struct breaks *breaks, struct setup *setup, int64_t rows, bool must)
{
    int unable;
    setup_output(setup, code_input(&setup->task.code, 0, KIND_INT, nowhere), TYPE_U32);
    struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
    assert_true(!must || unable == 0);
    outcome_free(&outcome);
    setup_free(setup);
}

static void test_ids(void **state)
{
    static const int64_t most[] = {0, 3, 31, 32, 1000, 60000, 2000000};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
            struct random random = {n * 10 + k};
            struct setup *setup = operator_setup(breaks, OPERATOR_IDS);
            operator_key(setup, column_within(&random, k % 2 ? TYPE_I32 : TYPE_I64, lengths[n], -most[k], most[k]));
            check_ids(breaks, setup, lengths[n], true);
        }
    }
}

/* Several keys, bools among them; floats and wide ranges go to the host. */
static void test_ids_by_several(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        const int64_t rows = lengths[n];
        struct random random = {n};
        struct setup *setup = operator_setup(breaks, OPERATOR_IDS);
        operator_key(setup, column_within(&random, TYPE_BOOL, rows, 0, 1));
        operator_key(setup, column_within(&random, TYPE_I8, rows, -100, 100));
        operator_key(setup, column_within(&random, TYPE_I64, rows, INT64_MAX - 700, INT64_MAX));
        check_ids(breaks, setup, rows, true);
        setup = operator_setup(breaks, OPERATOR_IDS);
        operator_key(setup, column_within(&random, TYPE_I64, rows, INT64_MIN, INT64_MAX));
        operator_key(setup, column_within(&random, TYPE_U16, rows, 0, UINT16_MAX));
        check_ids(breaks, setup, rows, false);
        setup = operator_setup(breaks, OPERATOR_IDS);
        operator_key(setup, column_of_odd_floats(&random, TYPE_F64, rows));
        check_ids(breaks, setup, rows, false);
    }
}

/* Keys of rows, each twice if `twice`, and their places among all. */
struct indexed {
    struct column *columns[2];
    int64_t *places;
    int64_t rows, combinations;
};

static struct indexed indexed_of(int64_t rows, int64_t step, bool twice, bool shuffled)
{
    struct indexed indexed = {.rows = rows, .combinations = ((rows - 1) * step / 7 + 1) * 7};
    indexed.places = calloc((size_t)rows, sizeof *indexed.places);
    indexed.columns[0] = column_reserve(TYPE_I32, TYPE_I32, rows);
    indexed.columns[1] = column_reserve(TYPE_I64, TYPE_I64, rows);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t from = shuffled ? row * 7919 % rows : row; /* a permutation but of multiples of 7919 */
        const int64_t place = (twice && row == rows - 1 ? 0 : from) * step;
        indexed.places[row] = place;
        *(int32_t *)column_at(indexed.columns[0], row) = (int32_t)(place / 7 - 1000);
        *(int64_t *)column_at(indexed.columns[1], row) = place % 7 + INT64_C(5000000000);
    }
    column_finish(indexed.columns[0], rows);
    column_finish(indexed.columns[1], rows);
    return indexed;
}

static void indexed_free(struct indexed *indexed)
{
    column_unref(indexed->columns[0]);
    column_unref(indexed->columns[1]);
    free(indexed->places);
}

static int64_t id_of(const struct indexed *indexed, const struct index_tables *tables, int64_t row)
{
    const int64_t place = indexed->places[row];
    if (!tables->words)
        return place;
    const uint64_t word = (uint64_t)column_get_int(tables->words, place / 32), bits = word & UINT32_MAX;
    assert_true(bits >> place % 32 & 1);
    return (int64_t)(word >> 32) - __builtin_popcountll(bits >> place % 32);
}

static void check_tables(const struct indexed *indexed, const struct index_tables *tables, bool twice)
{
    bool in_order = true;
    int64_t set = 0;
    assert_int_equal(tables->doubles, twice && tables->row_of);
    if (tables->doubles)
        return;
    for (int64_t row = 0; row < indexed->rows; row++) {
        const int64_t id = id_of(indexed, tables, row);
        in_order = in_order && id == row;
        if (tables->row_of)
            assert_int_equal(column_get_int(tables->row_of, id), row);
        else if (tables->members)
            assert_int_equal(column_get_int(tables->members, id), 1);
    }
    const int64_t ids = tables->words ? tables->ids : indexed->combinations;
    for (int64_t id = 0; id < ids && (tables->row_of || tables->members); id++)
        set += tables->row_of ? column_get_int(tables->row_of, id) >= 0 : column_get_int(tables->members, id);
    assert_int_equal(tables->row_of || tables->members ? set : ids, indexed->rows - twice);
    if (tables->row_of) {
        assert_int_equal(column_get_int(tables->row_of, ids), -1);
        assert_int_equal(tables->in_order, in_order && ids == indexed->rows);
    }
}

static void finish(struct column *column, int64_t rows, struct diags *diags)
{
    if (!column)
        return;
    column_finish(column, rows);
    assert_int_equal(columns_fetch(&column, 1, NULL, nowhere, diags), STATUS_OK);
}

static void check_index(struct breaks *breaks, struct accelerator *accelerator, struct indexed *indexed, bool ranked,
                        bool members, bool twice)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_IDS);
    int64_t lo[2], hi[2];
    operator_key(setup, column_ref(indexed->columns[0]));
    operator_key(setup, column_ref(indexed->columns[1]));
    const struct operator_job job = {.task = &setup->task,
                                     .inputs = setup->columns,
                                     .rows = indexed->rows,
                                     .timing = &breaks->rig->timing,
                                     .cancel = &breaks->rig->cancel,
                                     .diags = &breaks->rig->diags};
    struct index_tables tables = {.lo = lo, .hi = hi};
    assert_int_equal(key_ranks_ranges(accelerator, &job, &tables), STATUS_OK);
    assert_int_equal(lo[0], -1000);
    const int64_t combinations = (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1), words = (combinations + 31) / 32;
    const int64_t ids = ranked ? indexed->rows : combinations;
    for (int64_t row = 0; row < indexed->rows; row++)
        indexed->places[row] = (column_get_int(indexed->columns[0], row) - lo[0]) * (hi[1] - lo[1] + 1) +
                               column_get_int(indexed->columns[1], row) - lo[1];
    indexed->combinations = combinations;
    tables.words = ranked ? column_reserve(TYPE_I64, TYPE_I64, words) : NULL;
    tables.members = members && !ranked ? column_reserve(TYPE_BOOL, TYPE_BOOL, ids + 1) : NULL;
    tables.row_of = members ? NULL : column_reserve(TYPE_I32, TYPE_I32, ids + 1);
    assert_int_equal(key_ranks_index(accelerator, &job, &tables), STATUS_OK);
    finish(tables.words, words, &breaks->rig->diags);
    finish(tables.members, ids + 1, &breaks->rig->diags);
    finish(tables.row_of, ids + 1, &breaks->rig->diags);
    check_tables(indexed, &tables, twice);
    breaks->rig->compared++;
    column_unref(tables.words);
    column_unref(tables.members);
    column_unref(tables.row_of);
    setup_free(setup);
}

/* Dense and ranked, of rows or members, ascending, shuffled, and with one tuple twice. */
static void test_index(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 1; n < length_count(); n++) {
        for (int way = 0; way < 24; way++) {
            const bool twice = way / 4 % 3 == 2, shuffled = way / 4 % 3 == 1;
            struct indexed indexed = indexed_of(lengths[n], way / 12 ? 1 : 11, twice, shuffled);
            for (int k = 0; k < GUISES; k++) {
                if (breaks->accelerators[k])
                    check_index(breaks, breaks->accelerators[k], &indexed, way & 1, way & 2, twice);
            }
            indexed_free(&indexed);
        }
    }
}

/* Rows in the order of two keys, up to five of the first one; `swapped`: but for two rows. */
static void check_search(struct breaks *breaks, struct accelerator *accelerator, int64_t rows, size_t searched,
                         bool swapped)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_IDS);
    struct random random = {(uint64_t)rows};
    struct column *columns[2];
    columns[!searched] = column_reserve(TYPE_I32, TYPE_I32, rows);
    columns[searched] = column_reserve(TYPE_I64, TYPE_I64, rows);
    int32_t *places = column_at(columns[!searched], 0);
    int64_t *values = column_at(columns[searched], 0);
    int64_t most = 0;
    for (int64_t row = 0, left = 0, run = 0; row < rows; row++, left--, run++) {
        if (left == 0)
            run = 0;
        left = left > 0 ? left : 1 + (int64_t)random_below(&random, 5);
        places[row] = (row > 0 ? places[row - 1] : -77) + (run == 0 ? 1 + (int32_t)random_below(&random, 3) : 0);
        values[row] = (run > 0 ? values[row - 1] : INT64_MIN / 2) + 1 + (int64_t)random_below(&random, 1000);
        most = run + 1 > most ? run + 1 : most;
    }
    if (swapped) {
        const int32_t last = places[rows - 1];
        places[rows - 1] = places[0];
        places[0] = last;
    }
    column_finish(columns[0], rows);
    column_finish(columns[1], rows);
    operator_key(setup, columns[0]);
    operator_key(setup, columns[1]);
    const struct operator_job job = {.task = &setup->task,
                                     .inputs = setup->columns,
                                     .rows = rows,
                                     .timing = &breaks->rig->timing,
                                     .cancel = &breaks->rig->cancel,
                                     .diags = &breaks->rig->diags};
    int64_t lo[2], hi[2];
    struct index_tables tables = {.lo = lo, .hi = hi, .searched = searched};
    assert_int_equal(key_ranks_ranges(accelerator, &job, &tables), STATUS_OK);
    const int64_t count = hi[!searched] - lo[!searched] + 1;
    tables.begins = column_reserve(TYPE_I32, TYPE_I32, count + 2);
    assert_int_equal(key_search_index(accelerator, &job, &tables), STATUS_OK);
    assert_int_equal(tables.doubles, swapped && places[0] != places[rows - 1]);
    if (!tables.doubles) {
        finish(tables.begins, count + 2, &breaks->rig->diags);
        assert_int_equal(tables.most, most);
        int64_t row = 0;
        for (int64_t place = 0; place < count + 2; place++) {
            while (row < rows && places[row] - lo[!searched] < place)
                row++;
            assert_int_equal(column_get_int(tables.begins, place), row);
        }
    }
    breaks->rig->compared++;
    column_unref(tables.begins);
    setup_free(setup);
}

static void test_search(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (int way = 0; way < 4; way++) {
            for (int k = 0; k < GUISES; k++) {
                if (breaks->accelerators[k])
                    check_search(breaks, breaks->accelerators[k], lengths[n], way & 1, way & 2);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_ids_by_several),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
