/* Grouping by direct addressing: states for every possible code, for each thread its own. */
#include "engine/grouping/grouping.h"

#include "base/heap.h"
#include "engine/vector/elements.h"

#include <stdlib.h>

enum {
    PART_ROWS = 1 << 15,
    LEAST_ROWS = 1 << 11, /* in parts of fewer rows where they have many aggregates */
    PART_VALUES = 1 << 16,
    ADD_ROWS = 256, /* at once */
    MERGE_PLACES = 1 << 12,
    COPY_BITS = 2,
    COPIES = 1 << COPY_BITS,
    FEW_BITS = 6 /* of codes */
};

struct dense_groups {
    const struct grouping *grouping;
    int64_t codes;             /* that are possible */
    int64_t places;            /* of a thread's states: of few codes COPIES each, as an addition to a state waits for
                                * the one before; TPC-H's question 1 takes 1.4 times as long without */
    void ***states;            /* of each thread; NULL until it has added rows */
    struct float_grid **grids; /* of each thread and aggregate; NULL but for sums of floats of few groups */
    bool *failed;              /* of each thread: no memory */
};

static struct float_grid **grids_of(const struct dense_groups *dense, int member)
{
    return dense->grids + (size_t)member * dense->grouping->group_agg_count;
}

/* False: no memory. */
static bool member_grids(const struct dense_groups *dense, int member)
{
    bool done = true;
    for (size_t i = 0; i < dense->grouping->group_agg_count; i++) {
        if (dense->grouping->group_aggs[i].form != STATE_FLOAT_SUM || dense->codes > FLOAT_GRID_GROUPS)
            continue;
        grids_of(dense, member)[i] = float_grid_new(dense->codes);
        done = done && grids_of(dense, member)[i];
    }
    return done;
}

static bool member_states(struct dense_groups *dense, int member)
{
    if (!dense->states[member] && !dense->failed[member]) {
        dense->states[member] = group_states_new(dense->grouping, dense->places);
        dense->failed[member] = !dense->states[member] || !member_grids(dense, member);
        if (dense->states[member])
            group_states_clear(dense->grouping, dense->states[member], 0, dense->places);
    }
    return !dense->failed[member];
}

static void prefetch_values(const struct grouping *grouping, int64_t row)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        if (grouping->group_aggs[i].column)
            operator_prefetch(grouping->group_aggs[i].column, row, ADD_ROWS);
    }
}

void dense_groups_add(struct dense_groups *dense, int member, const struct grouping *from, int64_t begin, int64_t end)
{
    if (!member_states(dense, member))
        return;
    uint32_t places[ADD_ROWS];
    for (int64_t row = begin; row < end && !workers_cancelled(dense->grouping->workers); row += ADD_ROWS) {
        const int count = end - row < ADD_ROWS ? (int)(end - row) : ADD_ROWS;
        prefetch_values(from, row + ADD_ROWS);
        keys_read_32(from->keys, row, count, places);
        for (int i = 0; i < count && dense->places > dense->codes; i++)
            places[i] += (uint32_t)(i % COPIES) * (uint32_t)dense->codes;
        const struct row_block block = {.row = row, .count = count};
        group_states_add(from, dense->states[member], grids_of(dense, member), places, &block);
    }
}

static void add_part(void *context, struct part part)
{
    struct dense_groups *dense = context;
    dense_groups_add(dense, part.member, dense->grouping, part.begin, part.end);
}

/* Joins what a thread has of a group: sums in a grid, and copies. */
static void join_own(void *context, int member, int64_t thread)
{
    (void)member;
    const struct dense_groups *dense = context;
    void *const *states = dense->states[thread];
    for (int64_t place = dense->codes; states && place < dense->places; place++) {
        if (((const int64_t *)states[0])[place] > 0)
            group_states_merge(dense->grouping, dense->states[thread], place % dense->codes, states, place);
    }
    for (size_t i = 0; i < dense->grouping->group_agg_count; i++) {
        struct float_grid *grid = grids_of(dense, (int)thread)[i];
        if (grid)
            float_grid_empty(grid, dense->states[thread][i]);
    }
}

/* Merges all threads' states of some codes into those of thread 0. */
static void merge_part(void *context, struct part part)
{
    struct dense_groups *dense = context;
    for (int i = 1; i < dense->grouping->workers->threads; i++) {
        if (!dense->states[i])
            continue;
        const int64_t *counts = dense->states[i][0];
        for (int64_t code = part.begin; code < part.end; code++) {
            if (counts[code] > 0)
                group_states_merge(dense->grouping, dense->states[0], code, dense->states[i], code);
        }
    }
}

static int64_t emit_groups(const struct dense_groups *dense)
{
    const struct grouping *grouping = dense->grouping;
    const int64_t *counts = dense->states[0][0];
    uint64_t codes[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    struct found found = {.codes = codes, .states = dense->states[0], .places = places};
    for (int64_t code = 0; code < dense->codes; code++) {
        codes[found.count] = (uint64_t)code;
        places[found.count] = (uint32_t)code;
        found.count += counts[code] > 0;
        if (found.count == KEY_BLOCK || (code == dense->codes - 1 && found.count > 0)) {
            grouping->emit(grouping->context, &found);
            found.at += found.count;
            found.count = 0;
        }
    }
    return found.at;
}

static int64_t count_groups(const struct dense_groups *dense)
{
    const int64_t *counts = dense->states[0][0];
    int64_t groups = 0;
    for (int64_t code = 0; code < dense->codes; code++)
        groups += counts[code] > 0;
    return groups;
}

enum status dense_groups_finish(struct dense_groups *dense, int64_t *groups)
{
    const struct grouping *grouping = dense->grouping;
    const struct workers *workers = grouping->workers;
    /* The caller, thread 0, may not have added rows. */
    if (!member_states(dense, 0))
        return STATUS_FAILED;
    int64_t members = 1; /* up to the last that has added rows */
    for (int i = 0; i < workers->threads; i++) {
        if (dense->failed[i])
            return STATUS_FAILED;
        members = dense->states[i] ? i + 1 : members;
    }
    if (!workers_run(workers, members, join_own, dense) ||
        !workers_run_rows(workers, dense->codes, MERGE_PLACES, merge_part, dense))
        return STATUS_CANCELLED;
    if (!grouping->prepare(grouping->context, count_groups(dense)))
        return STATUS_FAILED;
    *groups = emit_groups(dense);
    return STATUS_OK;
}

/* Sums of floats would round otherwise. */
static bool has_copies(const struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        const enum state_form form = grouping->group_aggs[i].form;
        if (form != STATE_INTEGER && form != STATE_WIDE_SUM)
            return false;
    }
    return grouping->keys->word_bits[0] <= FEW_BITS;
}

struct dense_groups *dense_groups_new(const struct grouping *grouping)
{
    const size_t members = (size_t)grouping->workers->threads;
    const int bits = grouping->keys->word_bits[0];
    struct dense_groups *dense = heap_array(1, sizeof *dense);
    *dense = (struct dense_groups){
        .grouping = grouping,
        .codes = INT64_C(1) << bits,
        .places = has_copies(grouping) ? INT64_C(1) << bits << COPY_BITS : INT64_C(1) << bits,
        .states = heap_array(members, sizeof *dense->states),
        .grids = heap_array(members * grouping->group_agg_count, sizeof(struct float_grid *)),
        .failed = heap_array(members, sizeof *dense->failed),
    };
    return dense;
}

void dense_groups_free(struct dense_groups *dense)
{
    if (!dense)
        return;
    for (int i = 0; i < dense->grouping->workers->threads; i++) {
        group_states_free(dense->grouping, dense->states[i], dense->places);
        for (size_t k = 0; k < dense->grouping->group_agg_count; k++)
            float_grid_free(grids_of(dense, i)[k]);
    }
    free(dense->grids);
    free(dense->states);
    free(dense->failed);
    free(dense);
}

/* Of parts that take as long as what each thread does besides: clearing and merging its states. */
static int64_t part_rows(const struct dense_groups *dense)
{
    const int64_t least = dense->codes > LEAST_ROWS ? dense->codes : LEAST_ROWS;
    const int64_t rows = PART_VALUES / (int64_t)(dense->grouping->group_agg_count + 1);
    return min_int64(PART_ROWS, rows < least ? least : rows);
}

enum status group_dense(const struct grouping *grouping, int64_t *groups)
{
    struct dense_groups *dense = dense_groups_new(grouping);
    enum status status = STATUS_CANCELLED;
    if (workers_run_rows(grouping->workers, grouping->rows, part_rows(dense), add_part, dense))
        status = dense_groups_finish(dense, groups);
    dense_groups_free(dense);
    return status;
}
