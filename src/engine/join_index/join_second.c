/* The second column of a join index by order: its values in that order, and what is true of them there. */
#include "base/integer.h"
#include "base/zeroed.h"
#include "engine/join_index/join_keys.h"

#include <stdatomic.h>

enum { ID_PART = 1 << 14 };

struct second {
    const struct index_build *build;
    int64_t *values; /* of each row */
    _Atomic int64_t lo, hi;
    const int32_t *rows, *starts;
    struct column *order, *sorted, *peaks; /* in the places of the order; peaks may be NULL */
    _Atomic bool descends, overlaps, touches;
};

static void read_part(void *context, int member, int64_t part)
{
    (void)member;
    struct second *second = context;
    const struct parts *parts = &second->build->parts;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    const int64_t end = part_begin(parts, part + 1);
    for (int64_t row = part_begin(parts, part); row < end && !workers_cancelled(second->build->workers);
         row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        int64_t *values = &second->values[row];
        join_order_values(second->build->asked->second, row, count, values);
        for (int i = 0; second->build->asked->second_negated && i < count; i++)
            values[i] = ~values[i];
        for (int i = 0; i < count; i++) {
            lo = min_int64(lo, values[i]);
            hi = max_int64(hi, values[i]);
        }
    }
    join_lower(&second->lo, lo);
    join_raise(&second->hi, hi);
}

/* The greatest values up to each place of an id, or from it. */
static void set_peaks(const struct second *second, int32_t begin, int32_t end)
{
    const bool from_first = second->build->asked->peaks == PEAKS_FROM_FIRST;
    int64_t peak = INT64_MIN;
    for (int32_t i = 0; i < end - begin; i++) {
        const int32_t at = from_first ? begin + i : end - 1 - i;
        peak = max_int64(peak, second->values[second->rows[at]]);
        column_set_int(second->peaks, at, peak);
    }
}

static void place_part(void *context, struct part part)
{
    struct second *second = context;
    bool descends = false, overlaps = false, touches = false;
    for (int64_t id = part.begin; id < part.end && join_goes_on(second->build, id); id++) {
        const int32_t begin = second->starts[id], end = second->starts[id + 1];
        for (int32_t i = begin; i < end; i++) {
            const int64_t value = second->values[second->rows[i]];
            column_set_int(second->sorted, i, value);
            if (i + 1 == end)
                continue;
            descends = descends || value > second->values[second->rows[i + 1]];
            if (!second->build->asked->intervals)
                continue;
            const int64_t end_rank = join_end_rank(second->build->asked, value);
            const int64_t next = join_begin_rank(second->build->asked, column_get_int(second->order, i + 1));
            overlaps = overlaps || end_rank > next;
            touches = touches || end_rank == next;
        }
        if (second->peaks)
            set_peaks(second, begin, end);
    }
    if (descends)
        second->descends = true;
    if (overlaps)
        second->overlaps = true;
    if (touches)
        second->touches = true;
}

enum status join_second_build(struct index_build *build)
{
    struct join_index *index = build->index;
    const size_t size = ((size_t)index->rows + 1) * sizeof(int64_t);
    struct second second = {.build = build,
                            .values = zeroed_alloc(size),
                            .lo = INT64_MAX,
                            .hi = INT64_MIN,
                            .rows = index->row_of->data,
                            .starts = index->starts->data,
                            .order = index->order};
    if (!second.values)
        return STATUS_FAILED;
    bool done = workers_run(build->workers, build->parts.count, read_part, &second);
    const int64_t lo = min_int64(second.lo, 0), hi = max_int64(second.hi, 0);
    second.sorted = index->second.values = join_integers(index->rows, lo, hi);
    if (build->asked->peaks != PEAKS_NONE)
        second.peaks = index->second.peaks = join_integers(index->rows, lo, hi);
    const bool made = second.sorted && (second.peaks || build->asked->peaks == PEAKS_NONE);
    done = done && made && workers_run_rows(build->workers, index->ids, ID_PART, place_part, &second);
    if (second.sorted)
        column_finish(second.sorted, index->rows);
    if (second.peaks)
        column_finish(second.peaks, index->rows);
    index->second.ascending = !second.descends;
    index->second.disjoint = build->asked->intervals && !second.descends && !second.overlaps;
    index->second.touching = second.touches;
    zeroed_free(second.values, size);
    return !made ? STATUS_FAILED : done ? STATUS_OK : STATUS_CANCELLED;
}
