/* Packed counts and sums against sums of 128 bits: ranges of every width, values at their ends, and rows around the
 * number after which words are emptied. */
#include "scratch.h"

#include "engine/grouping/group_packed.h"

enum { MOST_AGGREGATES = 8, MOST_GROUPS = 300, CASES = 400 };

struct rig {
    uint64_t seed;
    struct group_aggregate group_aggs[MOST_AGGREGATES];
    struct column *columns[MOST_AGGREGATES];
    size_t count;
    int64_t groups, rows;
    uint32_t *places;
    void *states[MOST_AGGREGATES];
};

static uint64_t next(struct rig *rig)
{
    rig->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rig->seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Integers of a range of `bits` bits somewhere, most of them its ends. */
static struct column *make_column(struct rig *rig, int bits)
{
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, rig->rows);
    const uint64_t width = bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
    const bool top = next(rig) % 3 == 0;
    column->lo = bits == 64 ? INT64_MIN
                 : top      ? INT64_MAX - (int64_t)width
                            : (int64_t)(next(rig) >> 2) * (next(rig) % 2 ? 1 : -1) % 1000;
    column->hi = (int64_t)((uint64_t)column->lo + width);
    column->range_known = true;
    const uint64_t ends = next(rig) % 4;
    for (int64_t row = 0; row < rig->rows; row++) {
        const uint64_t offset = ends == 0 ? width : ends == 1 ? 0 : next(rig) & width;
        ((int64_t *)column_at(column, 0))[row] = (int64_t)((uint64_t)column->lo + offset);
    }
    column_finish(column, rig->rows);
    return column;
}

static void make_aggregates(struct rig *rig)
{
    rig->count = 1 + next(rig) % MOST_AGGREGATES;
    rig->group_aggs[0] = (struct group_aggregate){.kind = GROUP_COUNT};
    rig->columns[0] = NULL;
    for (size_t i = 1; i < rig->count; i++) {
        const int bits = next(rig) % 2 ? (int)(next(rig) % 65) : (int)(next(rig) % 20);
        rig->columns[i] = make_column(rig, bits);
        (void)group_aggregate_for(AGG_SUM, rig->columns[i], rig->rows, &rig->group_aggs[i]);
        if (next(rig) % 8 == 0)
            (void)group_aggregate_for(AGG_MIN, rig->columns[i], rig->rows, &rig->group_aggs[i]);
    }
    for (size_t i = 0; i < rig->count; i++) {
        rig->states[i] = calloc((size_t)rig->groups, group_aggregate_size(&rig->group_aggs[i]));
        assert_non_null(rig->states[i]);
    }
}

static void add_rows(struct rig *rig, struct packed_sums *sums)
{
    for (int64_t row = 0; row < rig->rows;) {
        int64_t count = 1 + (int64_t)(next(rig) % OPERATOR_BLOCK);
        if (count > rig->rows - row)
            count = rig->rows - row;
        packed_sums_begin(sums, rig->states, (int)count);
        for (size_t i = 1; i < rig->count; i++) {
            if (sums->plan->fields[i].packed)
                packed_sums_put(sums, i, (const int64_t *)rig->columns[i]->data + row, LANE_I64, (int)count);
        }
        packed_sums_add(sums, rig->places + row, (int)count);
        row += count;
    }
    packed_sums_empty(sums, rig->states);
}

static void check(const struct rig *rig, const struct packed_plan *plan)
{
    static int128 sums[MOST_GROUPS];
    for (size_t i = 0; i < rig->count; i++) {
        if (!plan->fields[i].packed)
            continue;
        memset(sums, 0, sizeof sums);
        for (int64_t row = 0; row < rig->rows; row++)
            sums[rig->places[row]] += i == 0 ? 1 : ((const int64_t *)rig->columns[i]->data)[row];
        for (int64_t group = 0; group < rig->groups; group++) {
            const int128 got = rig->group_aggs[i].kind == GROUP_WIDE_SUM ? ((const int128 *)rig->states[i])[group]
                                                                         : ((const int64_t *)rig->states[i])[group];
            if (got != sums[group])
                fail_msg("aggregate %zu of %zu, group %lld of %lld, %lld rows", i, rig->count, (long long)group,
                         (long long)rig->groups, (long long)rig->rows);
        }
    }
}

static void random_sums(void **state)
{
    (void)state;
    struct rig rig = {.seed = 1};
    size_t packed = 0, emptied = 0;
    for (int i = 0; i < CASES; i++) {
        rig.groups = next(&rig) % 3 == 0 ? 1 : 1 + (int64_t)(next(&rig) % MOST_GROUPS);
        rig.rows = (int64_t)(next(&rig) % (next(&rig) % 8 == 0 ? 40000 : 5000));
        if (i % 4 == 0)
            rig.rows = 2048 + (int64_t)(next(&rig) % 3) - 1; /* the fewest after which words are emptied */
        rig.places = calloc((size_t)rig.rows + 1, sizeof *rig.places);
        const bool skewed = next(&rig) % 2;
        for (int64_t row = 0; row < rig.rows; row++)
            rig.places[row] = skewed && next(&rig) % 10 ? 0 : (uint32_t)(next(&rig) % (uint64_t)rig.groups);
        make_aggregates(&rig);
        struct packed_plan plan;
        packed_plan_init(&plan, rig.group_aggs, rig.count, rig.groups);
        struct packed_sums *sums = packed_sums_new(&plan, rig.groups);
        assert_non_null(sums);
        if (plan.words > 0) {
            add_rows(&rig, sums);
            check(&rig, &plan);
            packed++;
            emptied += rig.rows > plan.most_rows;
        }
        packed_sums_free(sums);
        packed_plan_free(&plan);
        for (size_t k = 0; k < rig.count; k++) {
            free(rig.states[k]);
            column_unref(rig.columns[k]);
        }
        free(rig.places);
    }
    assert_true(packed > CASES / 2 && emptied > CASES / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
