#include "engine/operators/group_quantile.h"

#include "base/buffer_pool.h"
#include "base/zeroed.h"
#include "engine/sorting/sort_key_range.h"
#include "engine/values/quantile.h"
#include "engine/vector/elements.h"

#include <string.h>

enum { PART_ROWS = 1 << 16, MOST_COUNTS = 1 << 22 };

/* The values of one aggregate, as images (sort_key_encode.c), by group. */
struct partition {
    const struct workers *workers;
    const struct aggregate *aggregate;
    const struct column *values, *where; /* `where` may be NULL */
    const uint32_t *ids;
    int64_t groups;
    struct parts parts;
    int64_t *places; /* of each part and group: the next value's; part after part for each group */
    uint64_t *images;
    struct parts group_parts;
    struct column *to;
};

/* One stretch of rows a thread: there is a count for each group and part. */
static struct parts parts_of(const struct workers *workers, int64_t rows, int64_t groups)
{
    int64_t parts = groups > 0 ? MOST_COUNTS / groups : 1;
    const int64_t most = 4 * (int64_t)workers->threads;
    parts = parts > most ? most : parts < 1 ? 1 : parts;
    int64_t size = (rows + parts - 1) / parts;
    size = size < PART_ROWS ? PART_ROWS : size;
    return (struct parts){.rows = rows, .size = size, .count = (rows + size - 1) / size};
}

/* Lists the groups and images of the values that count; returns their number. */
static int read_block(const struct partition *partition, int64_t row, int count, uint32_t *ids, uint64_t *images)
{
    const struct column *values = partition->values;
    const char *data = (const char *)values->data + (size_t)row * type_table[values->store].size;
    sort_key_encode(data, values->store, NULL, count, images);
    if (!partition->where) {
        memcpy(ids, partition->ids + row, (size_t)count * sizeof *ids);
        return count;
    }
    const uint8_t *where = (const uint8_t *)partition->where->data + row;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        ids[kept] = partition->ids[row + i];
        images[kept] = images[i];
        kept += where[i] != 0;
    }
    return kept;
}

static void count_part(void *context, struct part part)
{
    const struct partition *partition = context;
    int64_t *counts = partition->places + part.number * partition->groups;
    const int64_t begin = part.begin, end = part.end;
    const uint8_t *where = partition->where ? partition->where->data : NULL;
    for (int64_t block = begin; block < end && !workers_cancelled(partition->workers); block += KEY_BLOCK) {
        const int64_t block_end = end - block < KEY_BLOCK ? end : block + KEY_BLOCK;
        for (int64_t row = block; row < block_end; row++)
            counts[partition->ids[row]] += !where || where[row] != 0;
    }
}

static void place_part(void *context, struct part part)
{
    const struct partition *partition = context;
    int64_t *places = partition->places + part.number * partition->groups;
    uint32_t ids[KEY_BLOCK];
    uint64_t images[KEY_BLOCK];
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(partition->workers); row += KEY_BLOCK) {
        int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        count = read_block(partition, row, count, ids, images);
        for (int i = 0; i < count; i++)
            partition->images[places[ids[i]]++] = images[i];
    }
}

/* Turns counts into places: those of a group's parts follow one another. Returns the number of values. */
static int64_t set_places(const struct partition *partition)
{
    int64_t all = 0;
    for (int64_t group = 0; group < partition->groups; group++) {
        for (int64_t part = 0; part < partition->parts.count; part++) {
            int64_t *place = &partition->places[part * partition->groups + group];
            const int64_t count = *place;
            *place = all;
            all += count;
        }
    }
    return all;
}

static void exchange(uint64_t *a, uint64_t *b)
{
    const uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the k-th smallest to its place, with none greater before and none less after it: quickselect with Hoare's
 * partition (C. A. R. Hoare, "Algorithm 65: find", 1961) and the median of three as the pivot. */
static uint64_t select_kth(uint64_t *images, int64_t count, int64_t k)
{
    int64_t lo = 0, hi = count - 1;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (images[middle] < images[lo])
            exchange(&images[middle], &images[lo]);
        if (images[hi] < images[lo])
            exchange(&images[hi], &images[lo]);
        if (images[hi] < images[middle])
            exchange(&images[hi], &images[middle]);
        const uint64_t pivot = images[middle];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (images[i] < pivot)
                i++;
            while (images[j] > pivot)
                j--;
            if (i > j)
                break;
            exchange(&images[i++], &images[j--]);
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return images[k];
}

static uint64_t least_of(const uint64_t *images, int64_t count)
{
    uint64_t least = images[0];
    for (int64_t i = 1; i < count; i++)
        least = images[i] < least ? images[i] : least;
    return least;
}

/* The quantile of a group's values, which are reordered. */
static void write_quantile(const struct partition *partition, int64_t group, uint64_t *images, int64_t count)
{
    const struct aggregate *aggregate = partition->aggregate;
    const enum type store = partition->values->store;
    const bool number = type_table[store].kind == KIND_FLOAT;
    const struct quantile_place place = quantile_place(count, aggregate->quantile);
    const uint64_t image = select_kth(images, count, place.lower);
    if (aggregate->lower) {
        const int64_t element = sort_key_integer(image);
        operator_write_ints(partition->to, group, &element, 1);
        return;
    }
    uint64_t next = image;
    if (place.fraction > 0)
        next = least_of(images + place.lower + 1, count - place.lower - 1);
    double *to = column_at(partition->to, group);
    *to = number ? quantile_of_floats(sort_key_number(store, image), sort_key_number(store, next), place.fraction)
                 : quantile_of_ints(sort_key_integer(image), sort_key_integer(next), place.fraction);
}

/* After place_part, the last part's places are where the groups end. */
static void select_part(void *context, struct part part)
{
    const struct partition *partition = context;
    const int64_t *ends = partition->places + (partition->parts.count - 1) * partition->groups;
    const int64_t nothing = 0;
    for (int64_t group = part.begin; group < part.end && !workers_cancelled(partition->workers); group++) {
        const int64_t begin = group > 0 ? ends[group - 1] : 0;
        if (ends[group] > begin)
            write_quantile(partition, group, partition->images + begin, ends[group] - begin);
        else
            memcpy(column_at(partition->to, group), &nothing, type_table[partition->to->store].size);
    }
}

static enum status run(struct partition *partition, const struct workers *workers)
{
    enum { GROUPS_AT_ONCE = 16 };
    partition->group_parts = partition_rows(workers, partition->groups, GROUPS_AT_ONCE);
    if (!workers_run_parts(workers, &partition->parts, count_part, partition))
        return STATUS_CANCELLED;
    set_places(partition);
    if (!workers_run_parts(workers, &partition->parts, place_part, partition) ||
        !workers_run_parts(workers, &partition->group_parts, select_part, partition))
        return STATUS_CANCELLED;
    return STATUS_OK;
}

static enum status run_aggregate(const struct operator_job *job, size_t i, const uint32_t *ids, int64_t groups,
                                 const struct workers *workers)
{
    const struct aggregate *aggregate = &job->task->aggregates[i];
    struct partition partition = {
        .workers = workers,
        .aggregate = aggregate,
        .values = operator_input(job, aggregate->value),
        .where = aggregate->where != NO_VALUE ? operator_input(job, aggregate->where) : NULL,
        .ids = ids,
        .groups = groups,
        .parts = parts_of(workers, job->rows, groups),
        .to = job->results[job->task->column_op->key_count + i],
    };
    const size_t places = (size_t)(partition.parts.count * groups) * sizeof *partition.places;
    size_t got = 0;
    partition.places = zeroed_alloc(places);
    partition.images = buffer_pool_alloc(workers->pool, (size_t)job->rows * sizeof *partition.images, &got);
    const enum status status = partition.places && partition.images ? run(&partition, workers) : STATUS_FAILED;
    zeroed_free(partition.places, places);
    buffer_pool_release(workers->pool, partition.images, got);
    return status;
}

static bool is_needed(const struct operator_job *job, size_t i)
{
    return job->task->aggregates[i].kind == AGG_QUANTILE &&
           job->task->outputs[job->task->column_op->key_count + i].needed;
}

bool has_quantiles(const struct operator_job *job)
{
    bool any = false;
    for (size_t i = 0; i < job->task->aggregate_count; i++)
        any = any || is_needed(job, i);
    return any;
}

enum status group_quantiles(const struct operator_job *job, const struct keys *keys, int64_t groups,
                            const struct workers *workers)
{
    size_t got = 0;
    int64_t found = 0;
    uint32_t *ids = buffer_pool_alloc(workers->pool, (size_t)job->rows * sizeof *ids, &got);
    enum status status = ids ? group_ids(keys, job->rows, workers, ids, &found) : STATUS_FAILED;
    for (size_t i = 0; i < job->task->aggregate_count && status == STATUS_OK; i++) {
        if (is_needed(job, i))
            status = run_aggregate(job, i, ids, groups, workers);
    }
    buffer_pool_release(workers->pool, ids, got);
    return status;
}
