#include "engine/backend/zone_prune.h"

#include "engine/optimize/optimize.h"
#include "engine/storage/column_stats.h"

#include "base/integer.h"

enum {
    RUN_UNIT = 4096, /* ranges should be multiples of this, and a gap is longer than two */
    LEAST_GAP = 8,   /* zones; a new range costs as much as reading these */
    STRETCH = 32,    /* zones that are checked as one first */
    SAMPLE = 256,    /* zones checked before all others of many */
    /* Zones for filters on row numbers, where no column has any: */
    LEAST_ZONE_ROWS = 1 << 16,
    MOST_ZONES = 1 << 16 /* a range may have 2^62 rows */
};

/* The zones of a task's inputs, by the task's rows. */
struct zone_view {
    const struct job *job;
    const struct zonemap **zones; /* of each input, or NULL */
    struct zone *inputs, *whole;
    int64_t rows; /* of a zone */
};

/* Adds a range. False: the gap before it is too short, so the last range is extended. */
static bool add_range(struct row_ranges *ranges, int64_t begin, int64_t end, int64_t gap)
{
    const size_t last = ranges->count - 1;
    if (ranges->count > 0 && begin - ranges->ends[last] < gap) {
        ranges->ends[last] = end;
        return false;
    }
    ranges->begins[ranges->count] = begin;
    ranges->ends[ranges->count++] = end;
    return true;
}

static int64_t zone_of_rows(int64_t rows)
{
    const int64_t zone = rows / MOST_ZONES / RUN_UNIT * RUN_UNIT + RUN_UNIT;
    return zone > LEAST_ZONE_ROWS ? zone : LEAST_ZONE_ROWS;
}

/* Finds the zone maps of the inputs; false if there are none to prune by. */
static bool find_zones(struct zone_view *zone_view, const struct zone_predicate *predicate, struct arena *arena)
{
    const struct task *task = zone_view->job->task;
    zone_view->zones = arena_array(arena, task->input_count + 1, sizeof(struct zonemap *));
    zone_view->inputs = arena_array(arena, task->input_count + 1, sizeof *zone_view->inputs);
    zone_view->whole = arena_array(arena, task->input_count + 1, sizeof *zone_view->whole);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = zone_view->job->columns[k];
        const struct zonemap *zones = column ? column_zones(column) : NULL;
        zone_view->inputs[k] = zone_view->whole[k] = zones    ? zones->all
                                                     : column ? zone_unknown(column)
                                                              : (struct zone){0};
        if (!zones || task->inputs[k].whole || (zone_view->rows > 0 && zones->rows != zone_view->rows))
            continue;
        zone_view->zones[k] = zones;
        zone_view->rows = zones->rows;
    }
    if (zone_view->rows == 0 && zone_predicate_of_rows(predicate))
        zone_view->rows = zone_of_rows(zone_view->job->end - zone_view->job->begin);
    return zone_view->rows > 0;
}

/* Sets the bounds of the inputs in the task's rows begin .. end-1. */
static void set_bounds(const struct zone_view *zone_view, int64_t begin, int64_t end)
{
    const struct task *task = zone_view->job->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (zone_view->zones[k])
            zone_view->inputs[k] = zonemap_over(zone_view->zones[k], task->first + begin, task->first + end);
    }
}

/* The end of the zone of one of the task's rows. */
static int64_t zone_end(const struct zone_view *zone_view, int64_t row)
{
    const struct job *job = zone_view->job;
    const int64_t end =
        (job->task->first + row) / zone_view->rows * zone_view->rows + zone_view->rows - job->task->first;
    return end < job->end ? end : job->end;
}

/* The intersection. */
static struct zone zone_meet(struct zone a, struct zone b)
{
    return (struct zone){.lo = max_int64(a.lo, b.lo),
                         .hi = min_int64(a.hi, b.hi),
                         .low = a.low > b.low ? a.low : b.low,
                         .high = a.high < b.high ? a.high : b.high,
                         .nan = a.nan && b.nan};
}

/* Whether the filters may hold in every zone of rows begin .. end-1. They may if they may hold in the intersection of
 * the zones, which for unordered columns is nearly as wide as each: one check replaces many. Row numbers have no
 * intersection. */
static bool keeps_all(const struct zone_view *zone_view, struct zone_predicate *predicate, int64_t begin, int64_t end)
{
    const struct job *job = zone_view->job;
    bool common = !zone_predicate_of_rows(predicate);
    for (size_t k = 0; k < job->task->input_count && common; k++) {
        if (!zone_view->zones[k])
            continue;
        const int64_t first = job->task->first;
        struct zone meet = zonemap_over(zone_view->zones[k], first + begin, first + zone_end(zone_view, begin));
        for (int64_t row = zone_end(zone_view, begin); row < end; row = zone_end(zone_view, row))
            meet = zone_meet(meet, zonemap_over(zone_view->zones[k], first + row, first + zone_end(zone_view, row)));
        const bool number = type_table[job->columns[k]->type].kind == KIND_FLOAT;
        common = number ? meet.low <= meet.high : meet.lo <= meet.hi;
        zone_view->inputs[k] = meet;
    }
    return common && !zone_predicate_exclude(predicate, begin, end, zone_view->inputs, zone_view->whole);
}

/* Whether any zone is excluded. Checking all zones of 10^9 rows takes longer than a GPU reads the rows, so of many
 * zones a sample from all parts is checked first: if it has no excluded zone, few others are. */
static bool excludes_some(const struct zone_view *zone_view, struct zone_predicate *predicate)
{
    const struct job *job = zone_view->job;
    const int64_t zones = (job->end - job->begin) / zone_view->rows;
    bool some = zones < 4 * SAMPLE;
    for (int64_t i = 0; i < SAMPLE && !some; i++) {
        const int64_t row = job->begin + zones * i / SAMPLE * zone_view->rows;
        const int64_t end = zone_end(zone_view, row);
        set_bounds(zone_view, row, end);
        some = zone_predicate_exclude(predicate, row, end, zone_view->inputs, zone_view->whole);
    }
    return some;
}

/* Extends ranges to multiples of the unit from the job's begin. */
static void align(struct row_ranges *ranges, const struct job *job)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const int64_t begin = (ranges->begins[i] - job->begin) / RUN_UNIT * RUN_UNIT;
        const int64_t end = (ranges->ends[i] - job->begin + RUN_UNIT - 1) / RUN_UNIT * RUN_UNIT;
        ranges->begins[i] = job->begin + begin;
        ranges->ends[i] = end < job->end - job->begin ? job->begin + end : job->end;
    }
}

/* One range of all rows of the job. */
static void keep_all(struct row_ranges *ranges, const struct job *job, struct arena *arena)
{
    *ranges = (struct row_ranges){.count = job->begin < job->end};
    ranges->begins = arena_array(arena, 1, sizeof *ranges->begins);
    ranges->ends = arena_array(arena, 1, sizeof *ranges->ends);
    *ranges->begins = job->begin;
    *ranges->ends = job->end;
}

void zone_prune(struct row_ranges *ranges, const struct job *job, const struct stats_collector *collector,
                struct arena *arena)
{
    struct zone_view zone_view = {.job = job};
    *ranges = (struct row_ranges){0};
    struct zone_predicate *predicate =
        collector && job->task->filter_count > 0 ? zone_predicate_new(job->task, job->rows, arena) : NULL;
    if (!predicate || !find_zones(&zone_view, predicate, arena) || !excludes_some(&zone_view, predicate)) {
        keep_all(ranges, job, arena);
        return;
    }
    const int64_t gap = LEAST_GAP * zone_view.rows;
    const size_t most = (size_t)((job->end - job->begin) / (zone_view.rows + gap)) + 2;
    ranges->begins = arena_array(arena, most, sizeof *ranges->begins);
    ranges->ends = arena_array(arena, most, sizeof *ranges->ends);
    int64_t excluded = 0;         /* zones since the last that was kept */
    int64_t stretch = job->begin; /* its end */
    bool kept = false;            /* all of the stretch */
    for (int64_t row = job->begin; row < job->end;) {
        const int64_t end = zone_end(&zone_view, row);
        if (row >= stretch) {
            stretch = job->end - row > STRETCH * zone_view.rows ? row + STRETCH * zone_view.rows : job->end;
            kept = keeps_all(&zone_view, predicate, row, stretch);
        }
        set_bounds(&zone_view, row, end);
        ranges->zones++;
        excluded++;
        if (kept || !zone_predicate_exclude(predicate, row, end, zone_view.inputs, zone_view.whole)) {
            ranges->skipped += add_range(ranges, row, end, gap) ? excluded - 1 : 0;
            excluded = 0;
        }
        row = end;
    }
    ranges->skipped += excluded;
    align(ranges, job);
}

int64_t row_ranges_rows(const struct row_ranges *ranges, int64_t row)
{
    int64_t rows = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        const int64_t begin = max_int64(ranges->begins[i], row);
        rows += max_int64(ranges->ends[i] - begin, 0);
    }
    return rows;
}

bool row_ranges_next(const struct row_ranges *ranges, int64_t *row, int64_t *end)
{
    size_t before = 0, after = ranges->count; /* the range is among these */
    while (before < after) {
        const size_t middle = before + (after - before) / 2;
        if (ranges->ends[middle] <= *row)
            before = middle + 1;
        else
            after = middle;
    }
    if (before == ranges->count)
        return false;
    *row = *row > ranges->begins[before] ? *row : ranges->begins[before];
    *end = ranges->ends[before];
    return true;
}
