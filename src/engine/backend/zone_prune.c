#include "engine/backend/zone_prune.h"

#include "engine/optimize/zone_predicate.h"
#include "engine/storage/column_stats.h"

#include "base/integer.h"

enum {
    RUN_UNIT = 4096, /* ranges should be multiples of this, and a gap is longer than two */
    LEAST_GAP = 8,   /* zones; beginning a run anew costs as much as reading these */
    STRETCH = 32,    /* zones that are asked as one first */
    SAMPLE = 256,    /* zones asked before many others are */
    /* Zones where there are none of a column, but filters look at row numbers: */
    LEAST_ZONE_ROWS = 1 << 16,
    MOST_ZONES = 1 << 16 /* a range may have 2^62 rows */
};

/* The zones of a task's inputs, in its own rows. */
struct field {
    const struct job *job;
    const struct zonemap **zones; /* of each input, or NULL */
    struct zone *inputs, *whole;
    int64_t rows; /* of a zone */
};

/* Adds rows to the last run, or a run; false: what is between it and the last is not worth a gap. */
static bool add_run(struct row_ranges *ranges, int64_t begin, int64_t end, int64_t gap)
{
    size_t last = ranges->count - 1;
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
    int64_t zone = rows / MOST_ZONES / RUN_UNIT * RUN_UNIT + RUN_UNIT;
    return zone > LEAST_ZONE_ROWS ? zone : LEAST_ZONE_ROWS;
}

/* Finds the zones; false if there are none, and nothing to be known. */
static bool survey(struct field *field, const struct zone_predicate *predicate, struct arena *arena)
{
    const struct task *task = field->job->task;
    field->zones = arena_array(arena, task->input_count + 1, sizeof(struct zonemap *));
    field->inputs = arena_array(arena, task->input_count + 1, sizeof *field->inputs);
    field->whole = arena_array(arena, task->input_count + 1, sizeof *field->whole);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = field->job->columns[k];
        const struct zonemap *zones = column ? column_zones(column) : NULL;
        field->inputs[k] = field->whole[k] = zones ? zones->all : column ? zone_unknown(column) : (struct zone){0};
        if (!zones || task->inputs[k].whole || (field->rows > 0 && zones->rows != field->rows))
            continue;
        field->zones[k] = zones;
        field->rows = zones->rows;
    }
    if (field->rows == 0 && zone_predicate_of_rows(predicate))
        field->rows = zone_of_rows(field->job->end - field->job->begin);
    return field->rows > 0;
}

/* Sets what the inputs are within in the rows begin .. end-1 of the task. */
static void look_at(const struct field *field, int64_t begin, int64_t end)
{
    const struct task *task = field->job->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (field->zones[k])
            field->inputs[k] = zonemap_over(field->zones[k], task->first + begin, task->first + end);
    }
}

/* Where the zone that a row of the task lies in ends. */
static int64_t zone_end(const struct field *field, int64_t row)
{
    const struct job *job = field->job;
    int64_t end = (job->task->first + row) / field->rows * field->rows + field->rows - job->task->first;
    return end < job->end ? end : job->end;
}

/* What elements of both may be within, if anything. */
static struct zone zone_meet(struct zone a, struct zone b)
{
    return (struct zone){.lo = max_int64(a.lo, b.lo),
                         .hi = min_int64(a.hi, b.hi),
                         .low = a.low > b.low ? a.low : b.low,
                         .high = a.high < b.high ? a.high : b.high,
                         .nan = a.nan && b.nan};
}

/* Whether filters hold for some element, as far as zones tell, of every zone among rows begin .. end-1: they do if they
 * hold for what all of the zones have in common. In columns without any order that is nearly everything, so one
 * question spares many. Row numbers have nothing in common. */
static bool keeps_all(const struct field *field, struct zone_predicate *predicate, int64_t begin, int64_t end)
{
    const struct job *job = field->job;
    bool common = !zone_predicate_of_rows(predicate);
    for (size_t k = 0; k < job->task->input_count && common; k++) {
        if (!field->zones[k])
            continue;
        const int64_t first = job->task->first;
        struct zone meet = zonemap_over(field->zones[k], first + begin, first + zone_end(field, begin));
        for (int64_t row = zone_end(field, begin); row < end; row = zone_end(field, row))
            meet = zone_meet(meet, zonemap_over(field->zones[k], first + row, first + zone_end(field, row)));
        const bool number = type_table[job->columns[k]->type].kind == KIND_FLOAT;
        common = number ? meet.low <= meet.high : meet.lo <= meet.hi;
        field->inputs[k] = meet;
    }
    return common && !zone_predicate_exclude(predicate, begin, end, field->inputs, field->whole);
}

/* Whether any zone is found to be excluded. Asking all of a thousand million rows takes longer than a GPU does to read
 * them, so of many zones some are asked first, from all parts; if none is excluded, few of the others are. */
static bool excludes_some(const struct field *field, struct zone_predicate *predicate)
{
    const struct job *job = field->job;
    const int64_t zones = (job->end - job->begin) / field->rows;
    bool some = zones < 4 * SAMPLE;
    for (int64_t i = 0; i < SAMPLE && !some; i++) {
        int64_t row = job->begin + zones * i / SAMPLE * field->rows;
        int64_t end = zone_end(field, row);
        look_at(field, row, end);
        some = zone_predicate_exclude(predicate, row, end, field->inputs, field->whole);
    }
    return some;
}

/* Runs begin and end at multiples of the unit from where the job begins; a few rows more do no harm. */
static void align(struct row_ranges *ranges, const struct job *job)
{
    for (size_t i = 0; i < ranges->count; i++) {
        int64_t begin = (ranges->begins[i] - job->begin) / RUN_UNIT * RUN_UNIT;
        int64_t end = (ranges->ends[i] - job->begin + RUN_UNIT - 1) / RUN_UNIT * RUN_UNIT;
        ranges->begins[i] = job->begin + begin;
        ranges->ends[i] = end < job->end - job->begin ? job->begin + end : job->end;
    }
}

/* All rows of the job. */
static void survivors_all(struct row_ranges *ranges, const struct job *job, struct arena *arena)
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
    struct field field = {.job = job};
    *ranges = (struct row_ranges){0};
    struct zone_predicate *predicate =
        collector && job->task->filter_count > 0 ? zone_predicate_new(job->task, job->rows, arena) : NULL;
    if (!predicate || !survey(&field, predicate, arena) || !excludes_some(&field, predicate)) {
        survivors_all(ranges, job, arena);
        return;
    }
    const int64_t gap = LEAST_GAP * field.rows;
    size_t most = (size_t)((job->end - job->begin) / (field.rows + gap)) + 2;
    ranges->begins = arena_array(arena, most, sizeof *ranges->begins);
    ranges->ends = arena_array(arena, most, sizeof *ranges->ends);
    int64_t excluded = 0;         /* zones since the last that is not */
    int64_t stretch = job->begin; /* where it ends */
    bool kept = false;            /* all of it */
    for (int64_t row = job->begin; row < job->end;) {
        int64_t end = zone_end(&field, row);
        if (row >= stretch) {
            stretch = job->end - row > STRETCH * field.rows ? row + STRETCH * field.rows : job->end;
            kept = keeps_all(&field, predicate, row, stretch);
        }
        look_at(&field, row, end);
        ranges->zones++;
        excluded++;
        if (kept || !zone_predicate_exclude(predicate, row, end, field.inputs, field.whole)) {
            ranges->skipped += add_run(ranges, row, end, gap) ? excluded - 1 : 0;
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
        int64_t begin = max_int64(ranges->begins[i], row);
        rows += max_int64(ranges->ends[i] - begin, 0);
    }
    return rows;
}

bool row_ranges_next(const struct row_ranges *ranges, int64_t *row, int64_t *end)
{
    size_t before = 0, after = ranges->count; /* the run looked for is among these */
    while (before < after) {
        size_t middle = before + (after - before) / 2;
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
