/* Histograms: a pass finds the bounds, another counts, each thread on its own. */
#include "engine/operators/operator.h"
#include "engine/values/calendar_edges.h"
#include "engine/values/histogram_bins.h"
#include "engine/vector/elements.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"

#include <math.h>
#include <stdlib.h>

enum {
    PART_ROWS = 1 << 15,
    MOST_VALUES = 1 << 16, /* integers of so few are counted by value, which takes no division */
    ROWS_PER_EDGE = 64     /* at least, where the edges of floats are computed once */
};

/* One thread's partial results. */
struct share {
    int64_t lo, hi;
    double flo, fhi;
    int64_t seen; /* values but NaN */
    int64_t *counts;
    int64_t *of_value; /* from the least value on, where values are counted; else NULL */
};

struct histogram {
    const struct column *column;
    struct histogram_bins hist;
    int64_t *edges;       /* of calendar units: hist.bins + 1; or NULL */
    double *number_edges; /* of floats: as many; or NULL */
    bool counts;          /* values are counted, else their bounds are looked for */
    struct share *shares; /* of each thread */
};

CPU_CLONES static void bound_ints(struct share *share, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++) {
        share->lo = values[i] < share->lo ? values[i] : share->lo;
        share->hi = values[i] > share->hi ? values[i] : share->hi;
    }
    share->seen += count;
}

static void bound_floats(struct share *share, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        share->flo = values[i] < share->flo ? values[i] : share->flo;
        share->fhi = values[i] > share->fhi ? values[i] : share->fhi;
        share->seen += values[i] == values[i];
    }
}

/* As histogram_bin_of_float. */
static int64_t bin_by_edges(const struct histogram *histogram, double number)
{
    const struct histogram_bins *hist = &histogram->hist;
    const double *edges = histogram->number_edges;
    int64_t bin = histogram_guess(hist, number);
    while (bin > 0 && number < edges[bin])
        bin--;
    while (bin < hist->bins - 1 && number >= edges[bin + 1])
        bin++;
    return bin;
}

static void count_values(const struct histogram *histogram, struct share *share, const void *values, int count)
{
    const struct histogram_bins *hist = &histogram->hist;
    if (histogram->edges) {
        for (int i = 0; i < count; i++)
            share->counts[calendar_interval(histogram->edges, hist->bins, ((const int64_t *)values)[i])]++;
        return;
    }
    if (share->of_value) {
        for (int i = 0; i < count; i++)
            share->of_value[((const int64_t *)values)[i] - hist->lo]++;
        return;
    }
    for (int i = 0; i < count && !hist->number; i++)
        share->counts[histogram_bin_of_int(hist, ((const int64_t *)values)[i])]++;
    for (int i = 0; i < count && hist->number; i++) {
        const double number = ((const double *)values)[i];
        if (number == number)
            share->counts[histogram->number_edges ? bin_by_edges(histogram, number)
                                                  : histogram_bin_of_float(hist, number)]++;
    }
}

static void read_part(void *context, struct part part)
{
    const struct histogram *histogram = context;
    struct share *share = &histogram->shares[part.member];
    double values[OPERATOR_BLOCK]; /* or as many integers */
    for (int64_t row = part.begin; row < part.end; row += OPERATOR_BLOCK) {
        const int count = part.end - row < OPERATOR_BLOCK ? (int)(part.end - row) : OPERATOR_BLOCK;
        operator_values(histogram->column, row, count, values);
        if (histogram->counts)
            count_values(histogram, share, values, count);
        else if (histogram->hist.number)
            bound_floats(share, values, count);
        else
            bound_ints(share, (const int64_t *)(const void *)values, count);
    }
}

/* False if there is no finite range. */
static bool merge_bounds(struct histogram *histogram, int members)
{
    struct histogram_bins *hist = &histogram->hist;
    int64_t seen = 0;
    hist->lo = INT64_MAX;
    hist->hi = INT64_MIN;
    hist->flo = INFINITY;
    hist->fhi = -INFINITY;
    for (int i = 0; i < members; i++) {
        const struct share *share = &histogram->shares[i];
        hist->lo = share->lo < hist->lo ? share->lo : hist->lo;
        hist->hi = share->hi > hist->hi ? share->hi : hist->hi;
        hist->flo = share->flo < hist->flo ? share->flo : hist->flo;
        hist->fhi = share->fhi > hist->fhi ? share->fhi : hist->fhi;
        seen += share->seen;
    }
    /* The sign of a zero depends on the order of rows; adding 0.0 makes it positive. */
    hist->flo += 0.0;
    hist->fhi += 0.0;
    return seen > 0 && (!hist->number || (isfinite(hist->flo) && isfinite(hist->fhi)));
}

/* Tables that spare a computation for each row, where there are enough rows. */
static void make_tables(struct histogram *histogram, int members)
{
    const struct histogram_bins *hist = &histogram->hist;
    const uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo;
    const int64_t rows = histogram->column->rows;
    if (histogram->edges)
        return;
    if (hist->number && rows / ROWS_PER_EDGE > hist->bins) {
        histogram->number_edges = heap_array((size_t)hist->bins + 1, sizeof *histogram->number_edges);
        for (int64_t k = 0; k <= hist->bins; k++)
            histogram->number_edges[k] = histogram_edge(hist, k);
    }
    for (int i = 0; i < members && !hist->number && range < MOST_VALUES && (int64_t)range < rows; i++)
        histogram->shares[i].of_value = heap_array((size_t)range + 1, sizeof *histogram->shares[i].of_value);
}

static void add_values(const struct histogram_bins *hist, struct share *share)
{
    const uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo;
    for (uint64_t i = 0; share->of_value && i <= range; i++)
        share->counts[histogram_bin_of_int(hist, hist->lo + (int64_t)i)] += share->of_value[i];
}

static void write_rows(const struct operator_job *job, const struct histogram *histogram, int members)
{
    for (int64_t bin = 0; bin < histogram->hist.bins; bin++) {
        int64_t count = 0;
        for (int i = 0; i < members; i++)
            count += histogram->shares[i].counts[bin];
        for (int k = 0; k < 2; k++) {
            if (job->results[k] && histogram->edges)
                operator_write_ints(job->results[k], bin, &histogram->edges[bin + k], 1);
            else if (job->results[k])
                *(double *)column_at(job->results[k], bin) = histogram_edge(&histogram->hist, bin + k);
        }
        if (job->results[2])
            *(int64_t *)column_at(job->results[2], bin) = count;
    }
}

/* Chooses the calendar unit and so the number of rows, and reserves the results. */
static enum status choose_calendar(const struct operator_job *job, struct histogram *histogram)
{
    const struct column_operator *column_op = job->task->column_op;
    struct histogram_bins *hist = &histogram->hist;
    hist->bins = calendar_edges_of(column_op->calendar, hist->lo, hist->hi, column_op->into, &histogram->edges);
    for (size_t k = 0; k < job->task->output_count; k++) {
        const enum type type = job->task->outputs[k].type;
        job->results[k] = column_reserve_from(job->pool, type, type, hist->bins);
        if (!job->results[k])
            return STATUS_FAILED;
        column_finish(job->results[k], hist->bins);
    }
    return STATUS_OK;
}

static enum status run(const struct operator_job *job, const struct workers *workers, struct histogram *histogram,
                       bool *flagged)
{
    if (!workers_run_rows(workers, job->rows, PART_ROWS, read_part, histogram))
        return STATUS_CANCELLED;
    if (!merge_bounds(histogram, workers->threads)) {
        *flagged = true;
        return STATUS_OK;
    }
    if (job->task->column_op->calendar.kind != LOGICAL_NUMBER && choose_calendar(job, histogram) != STATUS_OK)
        return operator_no_memory(job);
    for (int i = 0; i < workers->threads; i++)
        histogram->shares[i].counts = heap_array((size_t)histogram->hist.bins, sizeof(int64_t));
    make_tables(histogram, workers->threads);
    histogram->counts = true;
    if (!workers_run_rows(workers, job->rows, PART_ROWS, read_part, histogram))
        return STATUS_CANCELLED;
    for (int i = 0; i < workers->threads; i++)
        add_values(&histogram->hist, &histogram->shares[i]);
    write_rows(job, histogram, workers->threads);
    *job->result_rows = histogram->hist.bins;
    return STATUS_OK;
}

enum status operator_hist(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    const struct column_operator *column_op = job->task->column_op;
    struct histogram histogram = {
        .column = job->inputs[column_op->keys[0]],
        .hist = {.bins = column_op->into},
    };
    histogram.hist.number = type_table[histogram.column->store].kind == KIND_FLOAT;
    histogram.shares = heap_array((size_t)workers->threads, sizeof *histogram.shares);
    for (int i = 0; i < workers->threads; i++)
        histogram.shares[i] = (struct share){.lo = INT64_MAX, .hi = INT64_MIN, .flo = INFINITY, .fhi = -INFINITY};
    *job->result_rows = column_op->calendar.kind == LOGICAL_NUMBER ? column_op->into : 0;
    const enum status status = run(job, workers, &histogram, flagged);
    if (histogram.edges && status != STATUS_OK)
        columns_finish(job->results, job->task->output_count, 0, false);
    for (int i = 0; i < workers->threads; i++) {
        free(histogram.shares[i].counts);
        free(histogram.shares[i].of_value);
    }
    free(histogram.number_edges);
    free(histogram.shares);
    free(histogram.edges);
    return status;
}
