/* `describe` and `hist` of many rows of a table: a server is asked for bounds and sums, and then how many values there
 * are from each edge of the histograms on. No rows come over. */
#include "engine/bind/summary.h"
#include "engine/run/provide.h"

#include "base/integer.h"
#include "engine/storage/residency.h"
#include "engine/values/calendar_edges.h"
#include "engine/values/histogram_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are so few may come over: what is said of them is exact. */
enum { FEW_BYTES = 1000000, FEW_ROWS = 1 << 16, MAP_VALUES = 1 << 22, TEXT_BYTES = 8 };

/* At once, so that statements do not get long. */
enum { MOST_COLUMNS = 6, MOST_EDGES = 50 };

struct asking {
    struct runner *runner;
    const struct facts *facts; /* of the statement */
    struct arena *arena;
    struct summary summary;
    const struct pipeline *pipeline; /* which the server runs, */
    struct relation *answer;         /* and its only row */
    bool unordered;                  /* rows cannot come over */
};

static const struct pipeline *with_stage(const struct asking *asking, const struct pipeline *before,
                                         const struct stage *stage)
{
    struct pipeline *pipeline = arena_copy(asking->arena, before, sizeof *pipeline);
    struct stage *stages = arena_array(asking->arena, before->stage_count + 1, sizeof *stages);
    memcpy(stages, before->stages, before->stage_count * sizeof *stages);
    stages[before->stage_count] = *stage;
    pipeline->stages = stages;
    pipeline->stage_count++;
    return pipeline;
}

static struct stage stage_of(const char *word, struct span span)
{
    return (struct stage){.word = word_canonical(word_find(word, strlen(word))), .span = span, .word_span = span};
}

/* Whether the server can run the whole pipeline; sets the columns of the summary. */
static bool runs_there(struct asking *asking)
{
    struct facts inner = facts_within(asking->facts, asking->pipeline);
    struct bound bound;
    struct diags dropped;
    diags_init(&dropped, asking->arena);
    inner.describes = true;
    inner.summary = &asking->summary;
    const enum status status = bind_ready(asking->runner, &inner, asking->arena, &bound, &dropped);
    const bool there = status == STATUS_OK && bound.remote.address && bound.remote.all;
    queue_release(&bound.queue);
    asking->unordered = bound.remote.unordered;
    return there && asking->summary.count > 0;
}

/* STATUS_UNABLE: there is no answer, of which running the pipeline on rows tells more. */
static enum status ask(struct asking *asking, const struct pipeline *pipeline, bool sums, struct relation **answer)
{
    struct facts inner = facts_within(asking->facts, pipeline);
    struct result result;
    struct diags dropped;
    diags_init(&dropped, asking->arena);
    inner.summary = sums ? &asking->summary : NULL;
    enum status status = run_with_care(asking->runner, &inner, NULL, asking->arena, &result, &dropped);
    if (status == STATUS_OK && (result.kind != RESULT_RELATION || (sums && result.relation->rows != 1)))
        status = STATUS_FAILED;
    if (status == STATUS_OK)
        status = relation_fetch(result.relation, 0, result.relation->rows, pipeline->span, &dropped);
    if (status == STATUS_OK)
        *answer = result.relation;
    return status == STATUS_OK || status == STATUS_CANCELLED ? status : STATUS_UNABLE;
}

static enum status ask_sums(struct asking *asking, bool second)
{
    relation_unref(asking->answer);
    asking->answer = NULL;
    asking->summary.second = second;
    return ask(asking, asking->pipeline, true, &asking->answer);
}

static int64_t int_at(const struct asking *asking, size_t column)
{
    return column_get_int(asking->answer->columns[column], 0);
}

static int64_t bound_int(const struct asking *asking, size_t k, int which)
{
    return int_at(asking, 1 + (k - asking->summary.from) * BOUND_COLUMNS + (size_t)which);
}

static double bound_float(const struct asking *asking, size_t k, int which)
{
    return column_get_float(asking->answer->columns[1 + (k - asking->summary.from) * BOUND_COLUMNS + (size_t)which], 0);
}

/* Whether the rows may come over instead. */
static bool are_few(const struct asking *asking)
{
    int64_t width = 0, bytes;
    for (size_t k = 0; k < asking->summary.count; k++)
        width += asking->summary.columns[k].of == SUMMARY_OF_TEXT
                     ? TEXT_BYTES
                     : (int64_t)type_table[asking->summary.columns[k].type].size;
    return !asking->unordered && !__builtin_mul_overflow(width, int_at(asking, 0), &bytes) && bytes <= FEW_BYTES;
}

/* The edges between the bins: values of edge k or more are in bin k or a later one. */
static void set_edges(struct summary_column *column, const struct histogram_bins *hist, struct arena *arena)
{
    int64_t *ints = arena_array(arena, (size_t)hist->bins + 1, sizeof *ints);
    double *floats = arena_array(arena, (size_t)hist->bins + 1, sizeof *floats);
    const uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo;
    column->edge_count = hist->bins > 0 ? (size_t)hist->bins - 1 : 0;
    for (size_t k = 1; k <= column->edge_count; k++) {
        const uint128 part = (uint128)range * k + (uint64_t)hist->bins - 1;
        if (hist->number)
            floats[k - 1] = histogram_edge(hist, (int64_t)k);
        else
            ints[k - 1] = (int64_t)((uint64_t)hist->lo + (uint64_t)(part / (uint64_t)hist->bins));
    }
    column->ints = ints;
    column->floats = floats;
}

/* From the numbers of values behind edges, those in the bins. */
static void counts_of(const struct asking *asking, size_t from, size_t edges, int64_t all, int64_t *counts)
{
    for (size_t k = 0; k <= edges; k++) {
        const int64_t behind = k < edges ? int_at(asking, from + k) : 0;
        counts[k] = all - behind;
        all = behind;
    }
}

static void set_bounds(const struct asking *asking, size_t k, struct column_summary *of)
{
    const struct summary_column *column = &asking->summary.columns[k];
    const bool floats = column->of == SUMMARY_OF_FLOATS, truth = column->type == TYPE_BOOL;
    const int64_t present = bound_int(asking, k, BOUND_PRESENT);
    *of = (struct column_summary){.name = column->name,
                                  .type_name = logical_type_name(column->logical, column->type),
                                  .floats = floats,
                                  .rows = int_at(asking, 0),
                                  .missing = int_at(asking, 0) - present,
                                  .nans = floats ? bound_int(asking, k, BOUND_REST) : 0};
    const int64_t seen = present - of->nans;
    of->empty = seen == 0;
    if (of->empty)
        return;
    if (column->of == SUMMARY_OF_TEXT) {
        of->distinct = bound_int(asking, k, BOUND_LEAST);
        of->exact = true;
    } else if (floats) {
        of->least = scalar_float(bound_float(asking, k, BOUND_LEAST) + 0.0);
        of->greatest = scalar_float(bound_float(asking, k, BOUND_GREATEST) + 0.0);
        of->mean = scalar_float(bound_float(asking, k, BOUND_SUM) / (double)seen);
    } else {
        const int64_t lo = bound_int(asking, k, BOUND_LEAST), hi = bound_int(asking, k, BOUND_GREATEST);
        const int128 total =
            (int128)bound_int(asking, k, BOUND_SUM) * ((int128)1 << 32) + bound_int(asking, k, BOUND_REST);
        of->least = truth ? scalar_bool(lo != 0) : scalar_int(lo);
        of->greatest = truth ? scalar_bool(hi != 0) : scalar_int(hi);
        of->least.logical = of->greatest.logical = column->logical;
        of->mean = mean_described(total, seen, column->logical);
    }
}

/* Puts the second question for a column. */
static void choose_edges(const struct asking *asking, size_t k, struct column_summary *of)
{
    struct summary_column *column = &asking->summary.columns[k];
    struct histogram_bins hist = {.number = column->of == SUMMARY_OF_FLOATS};
    if (of->empty || column->of == SUMMARY_OF_TEXT)
        return;
    describe_bins(&hist, &of->least, &of->greatest);
    const bool narrow = !hist.number && (uint64_t)hist.hi - (uint64_t)hist.lo < MAP_VALUES;
    of->bins = (int)hist.bins;
    of->exact = of->rows <= FEW_ROWS || narrow;
    column->about = !of->exact;
    set_edges(column, &hist, asking->arena);
}

/* The most frequent texts of a column. */
static enum status ask_texts(struct asking *asking, const struct pipeline *before, struct column_summary *of)
{
    struct arena *arena = asking->arena;
    const struct span span = before->span;
    struct stage stage = stage_of("hist", span);
    struct expr *name = ARENA_NEW(arena, struct expr, .kind = EXPR_NAME, .span = span, .depth = 1);
    struct expr *most =
        ARENA_NEW(arena, struct expr, .kind = EXPR_INT, .span = span, .integer = DESCRIBE_TOP, .depth = 1);
    struct item *items = arena_array(arena, 2, sizeof *items);
    struct relation *found = NULL;
    name->name = (struct name){of->name, span};
    items[0] = (struct item){.expr = name, .span = span};
    items[1] = (struct item){.expr = most, .span = span};
    stage.items = items;
    stage.item_count = 2;
    const enum status status = ask(asking, with_stage(asking, before, &stage), false, &found);
    if (status != STATUS_OK)
        return status;
    of->top_count = (size_t)min_int64(found->rows, DESCRIBE_TOP);
    for (size_t i = 0; i < of->top_count; i++) {
        const struct text text = column_get(found->columns[0], (int64_t)i).text;
        of->top[i] = (struct text){arena_text(arena, text.at, text.length), text.length};
        of->top_counts[i] = column_get_int(found->columns[1], (int64_t)i);
    }
    relation_unref(found);
    return STATUS_OK;
}

/* The second question for the columns that the first one was asked for. */
static enum status count_columns(struct asking *asking, struct column_summary *columns)
{
    const struct summary *summary = &asking->summary;
    for (size_t k = summary->from; k < summary->to; k++) {
        set_bounds(asking, k, &columns[k]);
        choose_edges(asking, k, &columns[k]);
    }
    const enum status status = ask_sums(asking, true);
    size_t place = 1;
    for (size_t k = summary->from; k < summary->to && status == STATUS_OK; k++) {
        const struct summary_column *column = &summary->columns[k];
        struct column_summary *of = &columns[k];
        if (column->of == SUMMARY_OF_TEXT)
            continue;
        if (!of->empty && of->bins > 0)
            counts_of(asking, place, column->edge_count, of->rows - of->missing - of->nans, of->counts);
        of->distinct = int_at(asking, place + column->edge_count);
        place += column->edge_count + 1;
    }
    return status;
}

static void ask_columns(struct asking *asking, size_t from)
{
    asking->summary.from = from;
    asking->summary.to = from + MOST_COLUMNS < asking->summary.count ? from + MOST_COLUMNS : asking->summary.count;
}

/* All columns, of which the first ones have been asked for. */
static enum status describe_columns(struct asking *asking, const struct pipeline *before, struct description *all)
{
    enum status status = STATUS_OK;
    for (size_t from = 0; from < all->count && status == STATUS_OK; from += MOST_COLUMNS) {
        ask_columns(asking, from);
        status = from == 0 ? STATUS_OK : ask_sums(asking, false);
        if (status == STATUS_OK)
            status = count_columns(asking, all->columns);
    }
    for (size_t k = 0; k < all->count && status == STATUS_OK; k++) {
        if (asking->summary.columns[k].of == SUMMARY_OF_TEXT && !all->columns[k].empty)
            status = ask_texts(asking, before, &all->columns[k]);
    }
    return status;
}

enum status describe_by_server(struct runner *runner, const struct facts *facts, const struct pipeline *before,
                               struct arena *arena, struct description **description)
{
    struct asking asking = {.runner = runner, .facts = facts, .arena = arena, .summary.to = MOST_COLUMNS};
    const struct stage stage = stage_of("describe", before->span);
    asking.pipeline = with_stage(&asking, before, &stage);
    enum status status = runs_there(&asking) ? ask_sums(&asking, false) : STATUS_UNABLE;
    if (status == STATUS_OK && are_few(&asking))
        status = STATUS_UNABLE;
    if (status == STATUS_OK) {
        struct description *all = arena_alloc(arena, sizeof *all);
        *all = (struct description){.rows = int_at(&asking, 0), .count = asking.summary.count};
        all->columns = arena_array(arena, all->count + 1, sizeof *all->columns);
        status = describe_columns(&asking, before, all);
        *description = all;
    }
    relation_unref(asking.answer);
    return status;
}

/* The lower and upper edges of the bins, as `hist` gives them. */
static struct column *edges_of(const struct summary_column *column, const struct histogram_bins *hist,
                               const int64_t *calendar, int from, struct arena *arena)
{
    double *floats = arena_array(arena, (size_t)hist->bins + 1, sizeof *floats);
    for (int64_t k = 0; k < hist->bins && !calendar; k++) {
        floats[k] = histogram_edge(hist, k + from);
        if (column->logical.kind == LOGICAL_DECIMAL)
            floats[k] /= (double)power_of_ten(column->logical.scale);
    }
    if (!calendar)
        return column_of_floats(floats, hist->bins);
    struct column *edges = column_reserve(column->type, column->type, hist->bins);
    for (int64_t k = 0; k < hist->bins && edges; k++)
        column_set_int(edges, k, calendar[k + from]);
    if (edges) {
        column_finish(edges, hist->bins);
        column_set_logical(edges, column->logical);
    }
    return edges;
}

/* The second question, and what `hist` gives. */
static enum status count_bins(struct asking *asking, const struct histogram_bins *hist, const int64_t *calendar,
                              struct relation **relation)
{
    static const char *const names[] = {"lo", "hi", "count"};
    struct summary_column *column = &asking->summary.columns[0];
    const int64_t all = bound_int(asking, 0, BOUND_PRESENT) - (hist->number ? bound_int(asking, 0, BOUND_REST) : 0);
    int64_t *counts = arena_array(asking->arena, (size_t)hist->bins + MOST_EDGES + 1, sizeof *counts);
    set_edges(column, hist, asking->arena);
    column->about = true; /* nobody reads it */
    const int64_t *ints = calendar ? calendar + 1 : column->ints;
    const double *floats = column->floats;
    const size_t edges = column->edge_count;
    int64_t behind = all;
    for (size_t from = 0; from <= edges; from += MOST_EDGES) {
        column->ints = ints + from;
        column->floats = floats + from;
        column->edge_count = edges - from < MOST_EDGES ? edges - from : MOST_EDGES;
        const enum status status = ask_sums(asking, true);
        if (status != STATUS_OK)
            return status;
        counts_of(asking, 1, column->edge_count, behind, counts + from);
        behind = counts[from + column->edge_count];
    }
    struct column *columns[] = {edges_of(column, hist, calendar, 0, asking->arena),
                                edges_of(column, hist, calendar, 1, asking->arena), column_of_ints(counts, hist->bins)};
    *relation = columns[0] && columns[1] ? relation_new(hist->bins, 3, columns, names) : NULL;
    columns_unref(columns, 3);
    return *relation ? STATUS_OK : STATUS_UNABLE;
}

enum status hist_by_server(struct runner *runner, const struct facts *facts, const struct pipeline *pipeline,
                           int64_t bins, struct arena *arena, struct relation **relation)
{
    struct asking asking = {.runner = runner, .facts = facts, .arena = arena, .pipeline = pipeline, .summary.to = 1};
    enum status status = runs_there(&asking) ? ask_sums(&asking, false) : STATUS_UNABLE;
    if (status == STATUS_OK &&
        (asking.summary.count != 1 || asking.summary.columns[0].of == SUMMARY_OF_TEXT || are_few(&asking)))
        status = STATUS_UNABLE;
    if (status == STATUS_OK) {
        const struct summary_column *column = &asking.summary.columns[0];
        struct histogram_bins hist = {.bins = bins, .number = column->of == SUMMARY_OF_FLOATS};
        int64_t *calendar = NULL;
        const bool some = bound_int(&asking, 0, BOUND_PRESENT) > 0;
        if (hist.number) {
            hist.flo = bound_float(&asking, 0, BOUND_LEAST) + 0.0;
            hist.fhi = bound_float(&asking, 0, BOUND_GREATEST) + 0.0;
        } else {
            hist.lo = bound_int(&asking, 0, BOUND_LEAST);
            hist.hi = bound_int(&asking, 0, BOUND_GREATEST);
        }
        if (some && logical_is_time(column->logical))
            hist.bins = calendar_edges_of(column->logical, hist.lo, hist.hi, bins, &calendar);
        status = some && isfinite(hist.flo) && isfinite(hist.fhi) ? count_bins(&asking, &hist, calendar, relation)
                                                                  : STATUS_UNABLE;
        free(calendar);
    }
    relation_unref(asking.answer);
    return status;
}
