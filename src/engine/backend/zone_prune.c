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
    const struct zones **zones; /* of each input, or NULL */
    struct zone *inputs, *whole;
    int64_t rows; /* of a zone */
};

/* Adds rows to the last run, or a run; false: what is between it and the last is not worth a gap. */
static bool add_run(struct survivors *survivors, int64_t begin, int64_t end, int64_t gap)
{
    size_t last = survivors->count - 1;
    if (survivors->count > 0 && begin - survivors->ends[last] < gap) {
        survivors->ends[last] = end;
        return false;
    }
    survivors->begins[survivors->count] = begin;
    survivors->ends[survivors->count++] = end;
    return true;
}

static int64_t zone_of_rows(int64_t rows)
{
    int64_t zone = rows / MOST_ZONES / RUN_UNIT * RUN_UNIT + RUN_UNIT;
    return zone > LEAST_ZONE_ROWS ? zone : LEAST_ZONE_ROWS;
}

/* Finds the zones; false if there are none, and nothing to be known. */
static bool survey(struct field *field, const struct facts *facts, struct arena *arena)
{
    const struct task *task = field->job->task;
    field->zones = arena_array(arena, task->input_count + 1, sizeof(struct zones *));
    field->inputs = arena_array(arena, task->input_count + 1, sizeof *field->inputs);
    field->whole = arena_array(arena, task->input_count + 1, sizeof *field->whole);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = field->job->columns[k];
        const struct zones *zones = column ? column_zones(column) : NULL;
        field->inputs[k] = field->whole[k] = zones ? zones->all : column ? zone_unknown(column) : (struct zone){0};
        if (!zones || task->inputs[k].whole || (field->rows > 0 && zones->rows != field->rows))
            continue;
        field->zones[k] = zones;
        field->rows = zones->rows;
    }
    if (field->rows == 0 && facts_of_rows(facts))
        field->rows = zone_of_rows(field->job->end - field->job->begin);
    return field->rows > 0;
}

/* Sets what the inputs are within in the rows begin .. end-1 of the task. */
static void look_at(const struct field *field, int64_t begin, int64_t end)
{
    const struct task *task = field->job->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (field->zones[k])
            field->inputs[k] = zones_over(field->zones[k], task->first + begin, task->first + end);
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
    return (struct zone){.lo = greatest(a.lo, b.lo),
                         .hi = least(a.hi, b.hi),
                         .low = a.low > b.low ? a.low : b.low,
                         .high = a.high < b.high ? a.high : b.high,
                         .nan = a.nan && b.nan};
}

/* Whether filters hold for some element, as far as zones tell, of every zone among rows begin .. end-1: they do if they
 * hold for what all of the zones have in common. In columns without any order that is nearly everything, so one
 * question spares many. Row numbers have nothing in common. */
static bool keeps_all(const struct field *field, struct facts *facts, int64_t begin, int64_t end)
{
    const struct job *job = field->job;
    bool common = !facts_of_rows(facts);
    for (size_t k = 0; k < job->task->input_count && common; k++) {
        if (!field->zones[k])
            continue;
        const int64_t first = job->task->first;
        struct zone meet = zones_over(field->zones[k], first + begin, first + zone_end(field, begin));
        for (int64_t row = zone_end(field, begin); row < end; row = zone_end(field, row))
            meet = zone_meet(meet, zones_over(field->zones[k], first + row, first + zone_end(field, row)));
        const bool number = type_table[job->columns[k]->type].kind == KIND_FLOAT;
        common = number ? meet.low <= meet.high : meet.lo <= meet.hi;
        field->inputs[k] = meet;
    }
    return common && !facts_exclude(facts, begin, end, field->inputs, field->whole);
}

/* Whether any zone is found to be excluded. Asking all of a thousand million rows takes longer than a GPU does to read
 * them, so of many zones some are asked first, from all parts; if none is excluded, few of the others are. */
static bool excludes_some(const struct field *field, struct facts *facts)
{
    const struct job *job = field->job;
    const int64_t zones = (job->end - job->begin) / field->rows;
    bool some = zones < 4 * SAMPLE;
    for (int64_t i = 0; i < SAMPLE && !some; i++) {
        int64_t row = job->begin + zones * i / SAMPLE * field->rows;
        int64_t end = zone_end(field, row);
        look_at(field, row, end);
        some = facts_exclude(facts, row, end, field->inputs, field->whole);
    }
    return some;
}

/* Runs begin and end at multiples of the unit from where the job begins; a few rows more do no harm. */
static void align(struct survivors *survivors, const struct job *job)
{
    for (size_t i = 0; i < survivors->count; i++) {
        int64_t begin = (survivors->begins[i] - job->begin) / RUN_UNIT * RUN_UNIT;
        int64_t end = (survivors->ends[i] - job->begin + RUN_UNIT - 1) / RUN_UNIT * RUN_UNIT;
        survivors->begins[i] = job->begin + begin;
        survivors->ends[i] = end < job->end - job->begin ? job->begin + end : job->end;
    }
}

/* All rows of the job. */
static void survivors_all(struct survivors *survivors, const struct job *job, struct arena *arena)
{
    *survivors = (struct survivors){.count = job->begin < job->end};
    survivors->begins = arena_array(arena, 1, sizeof *survivors->begins);
    survivors->ends = arena_array(arena, 1, sizeof *survivors->ends);
    *survivors->begins = job->begin;
    *survivors->ends = job->end;
}

void survivors_find(struct survivors *survivors, const struct job *job, const struct keeper *keeper,
                    struct arena *arena)
{
    struct field field = {.job = job};
    *survivors = (struct survivors){0};
    struct facts *facts = keeper && job->task->filter_count > 0 ? facts_new(job->task, job->rows, arena) : NULL;
    if (!facts || !survey(&field, facts, arena) || !excludes_some(&field, facts)) {
        survivors_all(survivors, job, arena);
        return;
    }
    const int64_t gap = LEAST_GAP * field.rows;
    size_t most = (size_t)((job->end - job->begin) / (field.rows + gap)) + 2;
    survivors->begins = arena_array(arena, most, sizeof *survivors->begins);
    survivors->ends = arena_array(arena, most, sizeof *survivors->ends);
    int64_t excluded = 0;         /* zones since the last that is not */
    int64_t stretch = job->begin; /* where it ends */
    bool kept = false;            /* all of it */
    for (int64_t row = job->begin; row < job->end;) {
        int64_t end = zone_end(&field, row);
        if (row >= stretch) {
            stretch = job->end - row > STRETCH * field.rows ? row + STRETCH * field.rows : job->end;
            kept = keeps_all(&field, facts, row, stretch);
        }
        look_at(&field, row, end);
        survivors->zones++;
        excluded++;
        if (kept || !facts_exclude(facts, row, end, field.inputs, field.whole)) {
            survivors->skipped += add_run(survivors, row, end, gap) ? excluded - 1 : 0;
            excluded = 0;
        }
        row = end;
    }
    survivors->skipped += excluded;
    align(survivors, job);
}

int64_t survivors_rows(const struct survivors *survivors, int64_t row)
{
    int64_t rows = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        int64_t begin = greatest(survivors->begins[i], row);
        rows += greatest(survivors->ends[i] - begin, 0);
    }
    return rows;
}

bool survivors_next(const struct survivors *survivors, int64_t *row, int64_t *end)
{
    size_t before = 0, after = survivors->count; /* the run looked for is among these */
    while (before < after) {
        size_t middle = before + (after - before) / 2;
        if (survivors->ends[middle] <= *row)
            before = middle + 1;
        else
            after = middle;
    }
    if (before == survivors->count)
        return false;
    *row = *row > survivors->begins[before] ? *row : survivors->begins[before];
    *end = survivors->ends[before];
    return true;
}
