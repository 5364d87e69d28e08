/* Two passes over each column: bounds and sum, then histogram and distinct values, which are sorted, marked in a bitmap
 * or estimated with HyperLogLog. Each thread has partial results of its own. */
#include "engine/operators/describe.h"

#include "engine/storage/list_store.h"
#include "engine/values/dictionary.h"
#include "engine/values/exact_sum.h"
#include "engine/values/histogram_bins.h"
#include "engine/values/hyperloglog.h"
#include "engine/vector/elements.h"

#include "base/heap.h"
#include "base/integer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 16,
    SORTED_ROWS = 1 << 16, /* up to this many values are sorted */
    MAP_VALUES = 1 << 22   /* integers in a range of at most this many values have a bit each */
};

/* How distinct values are counted. */
enum method { BY_SORTING, BY_MAP, BY_SKETCH };

/* One thread's partial results. */
struct share {
    int64_t lo, hi;
    int128 total;
    double flo, fhi;
    struct exact_sum sum;
    int64_t nans;
    int64_t present; /* not missing */
    int64_t counts[DESCRIBE_BINS];
    struct hyperloglog sketch;
    uint64_t *map;
};

struct describing {
    const struct column *column;
    bool number;
    struct parts parts;
    struct share *shares;       /* of each thread */
    struct histogram_bins hist; /* 0 bins: none */
    enum method method;
};

static void bound_ints(struct share *share, const int64_t *values, int count)
{
    int64_t lo = share->lo, hi = share->hi, total = 0;
    bool small = true;
    for (int i = 0; i < count; i++) {
        lo = values[i] < lo ? values[i] : lo;
        hi = values[i] > hi ? values[i] : hi;
        small = small && !__builtin_add_overflow(total, values[i], &total);
    }
    for (int i = 0; i < count && !small; i++)
        share->total += values[i];
    share->total += small ? total : 0;
    share->lo = lo;
    share->hi = hi;
}

static void bound_floats(struct share *share, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (isnan(values[i])) {
            share->nans++;
            continue;
        }
        share->flo = values[i] < share->flo ? values[i] : share->flo;
        share->fhi = values[i] > share->fhi ? values[i] : share->fhi;
        exact_sum_add(&share->sum, values[i]);
    }
}

/* Equal for equal values: -0.0 and 0.0 are one. */
static uint64_t bits_of(double number)
{
    return (uint64_t)double_bits(number == 0 ? 0 : number);
}

static void add_int(const struct describing *describing, struct share *share, int64_t integer)
{
    if (describing->hist.bins > 0)
        share->counts[histogram_bin_of_int(&describing->hist, integer)]++;
    if (describing->method == BY_MAP) {
        const uint64_t bit = (uint64_t)integer - (uint64_t)describing->hist.lo;
        share->map[bit / 64] |= (uint64_t)1 << bit % 64;
    } else if (describing->method == BY_SKETCH) {
        hyperloglog_add(&share->sketch, (uint64_t)integer);
    }
}

static void add_float(const struct describing *describing, struct share *share, double number)
{
    if (isnan(number))
        return;
    if (describing->hist.bins > 0)
        share->counts[histogram_bin_of_float(&describing->hist, number)]++;
    if (describing->method == BY_SKETCH)
        hyperloglog_add(&share->sketch, bits_of(number));
}

typedef void block_fn(const struct describing *describing, struct share *share, const void *values, int count);

static void bound_block(const struct describing *describing, struct share *share, const void *values, int count)
{
    share->present += count;
    if (describing->number)
        bound_floats(share, values, count);
    else
        bound_ints(share, values, count);
}

static void add_block(const struct describing *describing, struct share *share, const void *values, int count)
{
    for (int i = 0; i < count && describing->number; i++)
        add_float(describing, share, ((const double *)values)[i]);
    for (int i = 0; i < count && !describing->number; i++)
        add_int(describing, share, ((const int64_t *)values)[i]);
}

static void run_blocks(const struct describing *describing, struct part part, block_fn *block)
{
    double values[OPERATOR_BLOCK]; /* or as many integers */
    for (int64_t row = part.begin; row < part.end; row += OPERATOR_BLOCK) {
        int count = part.end - row < OPERATOR_BLOCK ? (int)(part.end - row) : OPERATOR_BLOCK;
        count = operator_present_values(describing->column, row, count, values);
        block(describing, &describing->shares[part.member], values, count);
    }
}

static void bound_part(void *context, struct part part)
{
    run_blocks(context, part, bound_block);
}

static void add_part(void *context, struct part part)
{
    run_blocks(context, part, add_block);
}

/* total / count, of dates and times the nearest. */
struct scalar mean_described(int128 total, int64_t count, struct logical_type logical)
{
    if (logical_is_number(logical))
        return scalar_float(int128_quotient(total, count) / pow(10, logical.scale));
    int128 half = count / 2, nearest = (total < 0 ? total - half : total + half) / count;
    struct scalar mean = scalar_int(nearest);
    mean.logical = logical;
    return mean;
}

static void merge_bounds(struct describing *describing, int members, struct column_summary *summary)
{
    struct share *all = &describing->shares[0];
    for (int i = 1; i < members; i++) {
        const struct share *share = &describing->shares[i];
        all->lo = share->lo < all->lo ? share->lo : all->lo;
        all->hi = share->hi > all->hi ? share->hi : all->hi;
        all->flo = share->flo < all->flo ? share->flo : all->flo;
        all->fhi = share->fhi > all->fhi ? share->fhi : all->fhi;
        all->total += share->total;
        all->nans += share->nans;
        all->present += share->present;
        exact_sum_merge(&all->sum, &share->sum);
    }
    const int64_t seen = all->present - all->nans;
    bool certain;
    summary->missing = describing->column->rows - all->present;
    summary->nans = all->nans;
    summary->empty = seen == 0;
    if (summary->empty)
        return;
    if (describing->number) {
        /* The sign of a zero depends on the order of rows; adding 0.0 makes it positive. */
        summary->least = scalar_float(all->flo + 0.0);
        summary->greatest = scalar_float(all->fhi + 0.0);
        summary->mean = scalar_float(exact_sum_result(&all->sum, &certain) / (double)seen);
    } else {
        const struct logical_type logical = describing->column->logical;
        const bool truth = describing->column->type == TYPE_BOOL;
        summary->least = truth ? scalar_bool(all->lo != 0) : scalar_int(all->lo);
        summary->greatest = truth ? scalar_bool(all->hi != 0) : scalar_int(all->hi);
        summary->mean = mean_described(all->total, seen, logical);
        summary->least.logical = summary->greatest.logical = logical;
    }
}

void describe_bins(struct histogram_bins *hist, const struct scalar *least, const struct scalar *greatest)
{
    *hist = (struct histogram_bins){.bins = DESCRIBE_BINS, .number = hist->number};
    if (hist->number) {
        hist->flo = least->number;
        hist->fhi = greatest->number;
        hist->bins = isfinite(hist->flo) && isfinite(hist->fhi) ? DESCRIBE_BINS : 0;
        return;
    }
    hist->lo = (int64_t)least->integer;
    hist->hi = (int64_t)greatest->integer;
    const uint64_t steps = (uint64_t)hist->hi - (uint64_t)hist->lo;
    hist->bins = steps < DESCRIBE_BINS ? (int64_t)steps + 1 : DESCRIBE_BINS;
}

static enum method choose_method(const struct describing *describing)
{
    const struct histogram_bins *hist = &describing->hist;
    if (describing->column->rows <= SORTED_ROWS)
        return BY_SORTING;
    return !describing->number && (uint64_t)hist->hi - (uint64_t)hist->lo < MAP_VALUES ? BY_MAP : BY_SKETCH;
}

static int64_t count_sorted(const struct describing *describing)
{
    const struct column *column = describing->column;
    uint64_t *bits = heap_array((size_t)column->rows, sizeof *bits);
    size_t count = 0;
    for (int64_t row = 0; row < column->rows; row++) {
        const double number = describing->number ? column_get_float(column, row) : 0;
        if (!isnan(number) && !column_is_missing(column, row))
            bits[count++] = describing->number ? bits_of(number) : (uint64_t)column_get_int(column, row);
    }
    qsort(bits, count, sizeof *bits, compare_uint64);
    int64_t distinct = count > 0;
    for (size_t i = 1; i < count; i++)
        distinct += bits[i] != bits[i - 1];
    free(bits);
    return distinct;
}

static int64_t count_map(const struct describing *describing, int members)
{
    int64_t distinct = 0;
    for (size_t word = 0; word < MAP_VALUES / 64; word++) {
        uint64_t bits = 0;
        for (int i = 0; i < members; i++)
            bits |= describing->shares[i].map[word];
        distinct += __builtin_popcountll(bits);
    }
    return distinct;
}

static void merge_counts(struct describing *describing, int members, struct column_summary *summary)
{
    struct share *all = &describing->shares[0];
    summary->bins = (int)describing->hist.bins;
    for (int i = 0; i < members; i++) {
        for (int bin = 0; bin < DESCRIBE_BINS; bin++)
            summary->counts[bin] += describing->shares[i].counts[bin];
    }
    summary->exact = describing->method != BY_SKETCH;
    switch (describing->method) {
    case BY_SORTING:
        summary->distinct = count_sorted(describing);
        break;
    case BY_MAP:
        summary->distinct = count_map(describing, members);
        break;
    case BY_SKETCH:
        for (int i = 1; i < members; i++)
            hyperloglog_merge(&all->sketch, &describing->shares[i].sketch);
        summary->distinct = (int64_t)(hyperloglog_estimate(&all->sketch) + 0.5);
        break;
    }
}

static bool describe_passes(struct describing *describing, const struct workers *workers,
                            struct column_summary *summary)
{
    if (!workers_run_parts(workers, &describing->parts, bound_part, describing))
        return false;
    merge_bounds(describing, workers->threads, summary);
    if (summary->empty)
        return true;
    describing->hist.number = describing->number;
    describe_bins(&describing->hist, &summary->least, &summary->greatest);
    describing->method = choose_method(describing);
    for (int i = 0; i < workers->threads && describing->method == BY_MAP; i++)
        describing->shares[i].map = heap_array(MAP_VALUES / 64, sizeof(uint64_t));
    if (!workers_run_parts(workers, &describing->parts, add_part, describing))
        return false;
    merge_counts(describing, workers->threads, summary);
    return true;
}

static bool describe_text(const struct column *column, const struct workers *workers, struct arena *arena,
                          struct column_summary *summary)
{
    struct frequencies frequencies;
    int64_t codes[DESCRIBE_TOP];
    if (!frequencies_count(&frequencies, column, workers))
        return false;
    summary->missing = frequencies.missing;
    summary->distinct = frequencies.distinct;
    summary->empty = frequencies.distinct == 0;
    summary->exact = true;
    summary->top_count = frequencies_top(&frequencies, codes, DESCRIBE_TOP);
    for (size_t i = 0; i < summary->top_count; i++) {
        struct text text = dictionary_text(column->logical.dictionary, codes[i]);
        summary->top[i] = (struct text){arena_text(arena, text.at, text.length), text.length};
        summary->top_counts[i] = frequencies.counts[codes[i]];
    }
    frequencies_free(&frequencies);
    return true;
}

static bool describe_column(const struct column *column, const struct workers *workers, struct column_summary *summary)
{
    struct describing describing = {
        .column = column,
        .number = type_table[column->type].kind == KIND_FLOAT,
        .parts = partition_rows(workers, column->rows, PART_ROWS),
        .shares = heap_array((size_t)workers->threads, sizeof *describing.shares),
    };
    for (int i = 0; i < workers->threads; i++) {
        struct share *share = &describing.shares[i];
        share->lo = INT64_MAX;
        share->hi = INT64_MIN;
        share->flo = INFINITY;
        share->fhi = -INFINITY;
        exact_sum_init(&share->sum);
    }
    const bool done = describe_passes(&describing, workers, summary);
    for (int i = 0; i < workers->threads; i++)
        free(describing.shares[i].map);
    free(describing.shares);
    return done;
}

/* Lists are described by their lengths. */
static bool describe_lists(const struct column *column, const struct workers *workers, struct column_summary *summary)
{
    struct column *lengths = list_lengths(column);
    const bool done = lengths && describe_column(lengths, workers, summary);
    column_unref(lengths);
    return done;
}

enum status describe(const struct relation *relation, const struct workers *workers, struct arena *arena,
                     struct description **description)
{
    *description = arena_alloc(arena, sizeof **description);
    **description = (struct description){.rows = relation->rows, .count = relation->count};
    (*description)->columns = arena_array(arena, relation->count, sizeof *(*description)->columns);
    for (size_t k = 0; k < relation->count; k++) {
        struct column_summary *summary = &(*description)->columns[k];
        summary->name = arena_text(arena, relation->names[k], strlen(relation->names[k]));
        const struct column *column = relation->columns[k];
        summary->type_name = logical_type_name(column->logical, column->type);
        summary->rows = relation->rows;
        summary->floats = type_table[column->type].kind == KIND_FLOAT;
        const bool done = column->logical.kind == LOGICAL_TEXT   ? describe_text(column, workers, arena, summary)
                          : column->logical.kind == LOGICAL_LIST ? describe_lists(column, workers, summary)
                                                                 : describe_column(column, workers, summary);
        if (!done)
            return STATUS_CANCELLED;
    }
    return STATUS_OK;
}
