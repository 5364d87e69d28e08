#include "engine/grouping/group_tables.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_GROUPS = 1 << 12 /* are merged by one thread */ };

void group_tables_init(struct group_tables *tables, const struct grouping *grouping)
{
    *tables = (struct group_tables){.grouping = grouping,
                                    .at = heap_array((size_t)grouping->workers->threads, sizeof *tables->at)};
}

void group_tables_free(struct group_tables *tables)
{
    group_tables_renew(tables, 0, 0);
    free(tables->at);
}

void group_tables_renew(struct group_tables *tables, int64_t most, int shared_bits)
{
    for (int i = 0; i < tables->grouping->workers->threads; i++) {
        group_table_free(tables->at[i]);
        tables->at[i] = NULL;
    }
    tables->most = most;
    tables->shared_bits = shared_bits;
}

struct group_table *group_tables_get(struct group_tables *tables, int member)
{
    if (!tables->at[member])
        tables->at[member] = group_table_new(tables->grouping, tables->most, tables->shared_bits);
    if (!tables->at[member])
        tables->failed = true;
    return tables->at[member];
}

int64_t group_tables_count(const struct group_tables *tables)
{
    int64_t groups = 0;
    for (int i = 0; i < tables->grouping->workers->threads; i++)
        groups += tables->at[i] ? tables->at[i]->groups : 0;
    return groups;
}

/* ---- merging ---- */

struct merging {
    const struct group_tables *from;
    struct group_table **merged; /* of each part of hashes */
    int64_t most;
    int bits; /* of a part's number */
    _Atomic bool failed;
};

static void merge_part(void *context, int member, int64_t number)
{
    (void)member;
    struct merging *merging = context;
    const struct hash_part part = {.number = (uint64_t)number, .bits = merging->bits};
    struct group_table *into =
        group_table_new(merging->from->grouping, merging->most, merging->from->shared_bits + merging->bits);
    bool done = into;
    for (int i = 0; i < merging->from->grouping->workers->threads && done; i++)
        done = !merging->from->at[i] || group_table_merge(into, merging->from->at[i], part);
    merging->merged[number] = into;
    if (!done)
        merging->failed = true;
}

static int used_tables(const struct group_tables *tables)
{
    int used = 0;
    for (int i = 0; i < tables->grouping->workers->threads; i++)
        used += tables->at[i] ? 1 : 0;
    return used;
}

bool group_tables_merge(struct group_tables *tables)
{
    const struct workers *workers = tables->grouping->workers;
    const int64_t groups = group_tables_count(tables);
    if (used_tables(tables) < 2)
        return true;
    struct merging merging = {
        .from = tables, .merged = heap_array((size_t)workers->threads, sizeof(struct group_table *)), .most = groups};
    while (groups > FEW_GROUPS && 2 << merging.bits <= workers->threads)
        merging.bits++;
    const bool whole = workers_run(workers, INT64_C(1) << merging.bits, merge_part, &merging);
    group_tables_renew(tables, groups, tables->shared_bits + merging.bits);
    memcpy(tables->at, merging.merged, (size_t)workers->threads * sizeof *tables->at);
    tables->failed = tables->failed || merging.failed;
    free(merging.merged);
    return whole;
}

/* ---- emitting ---- */

struct emission {
    const struct group_tables *tables;
    _Atomic int64_t at;
};

static void emit_table(void *context, int member, int64_t number)
{
    (void)member;
    struct emission *emission = context;
    const struct group_table *table = emission->tables->at[number];
    if (table)
        group_table_emit(table, atomic_fetch_add(&emission->at, table->groups));
}

int64_t group_tables_emit(const struct group_tables *tables, int64_t at)
{
    struct emission emission = {.tables = tables, .at = at};
    workers_run(tables->grouping->workers, tables->grouping->workers->threads, emit_table, &emission);
    return emission.at - at;
}
