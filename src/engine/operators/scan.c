/* Scans. One chain is a chained scan (as S. Yan, G. Long, Y. Zhang, "StreamScan", 2013): threads take chunks in order,
 * and each aggregates its chunk, which brings it into the cache, publishes the result, waits for the prefix of all
 * chunks before, and writes, while it prefetches its next chunk. Memory is read once. Segments, and columns side by
 * side, are independent chains that threads share. Sums of floats are scanned several runs at once (scan_sums.h). */
#include "engine/backend/user_reduce.h"
#include "engine/operators/operator.h"
#include "engine/operators/scan_sums.h"
#include "engine/plan/aggregate_join.h"
#include "engine/vector/elements.h"
#include "engine/vector/ops.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/ordered_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS = 1 << 15,
    FEWEST_ROWS = 1 << 15,
    SIDE_BY_SIDE = SCAN_SUMS_COLUMNS,
    CHAIN_ROWS = 256 /* scanned at once: so few that loops go on beside what is prefetched with them */
};

/* The combination of the rows so far. */
struct running {
    int64_t integer;
    double number;
    struct compensated_sum sum; /* of floats */
    bool any;                   /* a value has been combined: user functions have no identity */
};

struct chunk {
    struct running running; /* of its rows, or of those since a segment began; once it is passed, of all before it */
    bool anew;              /* a segment begins in it: what follows does not depend on rows before */
};

struct scan {
    const struct operator_job *job;
    const struct workers *workers;
    const struct aggregate *aggregate;
    const struct column *from;
    struct column *to;
    bool exclusive, number;
    int64_t segment, stride;
    int64_t ahead; /* rows so far behind the one being scanned are prefetched */
    struct running start;
    struct scan_sums sums; /* of floats */
    struct parts parts;
    _Atomic bool flagged;

    /* One chain in chunks. */
    struct ordered_parts order;
    struct chunk *chunks;
    struct running carry; /* of all chunks passed */
};

JOINS void scan_floats(enum aggregate_kind kind, bool exclusive, struct running *running, const double *in, double *out,
                       int count)
{
    double so_far = running->number;
    for (int i = 0; i < count; i++) {
        const double next = aggregate_join_numbers(kind, so_far, in[i]);
        out[i] = (exclusive ? so_far : next) + 0.0;
        so_far = next;
    }
    running->number = so_far;
}

static void floats_of_kind(enum aggregate_kind kind, bool exclusive, struct running *running, const double *in,
                           double *out, int count)
{
#define AGGREGATE_JOIN_NUMBERS(join, ...)                                                                              \
    if (kind == AGG_##join)                                                                                            \
        scan_floats(AGG_##join, exclusive, running, in, out, count);
#include "engine/plan/aggregates.def"
}

static bool is_float_sum(const struct scan *scan)
{
    return scan->number && scan->aggregate->kind == AGG_SUM;
}

static struct scalar scalar_of(const struct scan *scan, int64_t integer, double number)
{
    if (scan->number)
        return scalar_float(number);
    return type_table[scan->from->type].kind == KIND_BOOL ? scalar_bool(integer != 0) : scalar_int(integer);
}

/* By a user's function, in order; true if it fails. */
static bool scan_by_function(const struct scan *scan, struct running *running, const void *in, void *out, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t integer = scan->number ? 0 : ((const int64_t *)in)[i];
        double number = scan->number ? ((const double *)in)[i] : 0;
        struct running before = *running;
        if (running->any) {
            struct scalar result;
            if (!user_reduce_apply(scan->aggregate->reducer, scalar_of(scan, running->integer, running->number),
                                   scalar_of(scan, integer, number), &result) ||
                !scalar_fits(&result))
                return true;
            integer = (int64_t)result.integer;
            number = result.number;
        }
        running->integer = integer;
        running->number = number;
        running->any = true;
        const struct running *shown = scan->exclusive ? &before : running;
        if (scan->number)
            ((double *)out)[i] = shown->number;
        else
            ((int64_t *)out)[i] = shown->integer;
    }
    return false;
}

/* Scans values of one chain, continuing from `running`. */
static void scan_values(struct scan *scan, struct running *running, const void *in, void *out, int count)
{
    const enum aggregate_kind kind = scan->aggregate->kind;
    bool failed = false;
    if (kind == AGG_FOLD)
        failed = scan_by_function(scan, running, in, out, count);
    else if (is_float_sum(scan))
        failed = !compensated_scan_chain(&scan->sums.how, in, count, &running->sum, out);
    else if (scan->number)
        floats_of_kind(kind, scan->exclusive, running, in, out, count);
    else
        failed = scan_ints(kind, scan->exclusive, &running->integer, in, out, count);
    if (failed)
        scan->flagged = true;
}

static void write_results(const struct scan *scan, int64_t row, const void *values, int count)
{
    if (scan->to->store == TYPE_F64)
        memcpy(column_at(scan->to, row), values, (size_t)count * sizeof(double));
    else
        operator_write_ints(scan->to, row, values, count);
}

/* Rows of one chain. */
static void scan_chain(struct scan *scan, struct running *running, int64_t begin, int64_t end)
{
    double in[CHAIN_ROWS], out[CHAIN_ROWS]; /* or as many integers, of the same size */
    const bool in_place = scan->to->store == TYPE_F64 || scan->to->store == TYPE_I64;
    while (begin < end && !scan->flagged) {
        const int count = end - begin < CHAIN_ROWS ? (int)(end - begin) : CHAIN_ROWS;
        if (scan->ahead > 0)
            operator_prefetch(scan->from, begin + scan->ahead, count);
        operator_values(scan->from, begin, count, in);
        scan_values(scan, running, in, in_place ? column_at(scan->to, begin) : (void *)out, count);
        if (!in_place)
            write_results(scan, begin, out, count);
        begin += count;
    }
}

/* Scans rows begin..end-1, continuing from `running` until the next segment begins. */
static void scan_rows(struct scan *scan, struct running *running, int64_t begin, int64_t end)
{
    bool certain = true;
    while (begin < end && certain && !scan->flagged && !workers_cancelled(scan->workers)) {
        int64_t stop = min_int64(end, begin + CHUNK_ROWS);
        if (scan->segment > 0) {
            const int64_t inside = begin % scan->segment;
            if (inside == 0 && is_float_sum(scan)) {
                const int64_t rows =
                    scan_sums_segments(&scan->sums, scan->segment, begin, end, &scan->start.sum, &certain);
                begin += rows;
                if (rows > 0)
                    continue;
            }
            if (inside == 0)
                *running = scan->start;
            stop = min_int64(stop, begin + scan->segment - inside);
        }
        if (is_float_sum(scan))
            certain = certain && scan_sums_chain(&scan->sums, begin, stop, &running->sum);
        else
            scan_chain(scan, running, begin, stop);
        begin = stop;
    }
    if (!certain)
        scan->flagged = true;
}

/* ---- one chain by several threads ---- */

/* The aggregate of the rows, without those before. */
static struct running aggregate_rows(struct scan *scan, int64_t begin, int64_t end)
{
    struct running total = {.number = NAN};
    if (!scan->number) {
        if (scan_ints_total(scan->aggregate, &scan->job->task->code, scan->from, begin, end, &total.integer))
            scan->flagged = true;
        return total;
    }
    if (is_float_sum(scan)) {
        scan_sums_total(&scan->sums, begin, end, &total.sum);
        return total;
    }
    double in[OPERATOR_BLOCK], unused[OPERATOR_BLOCK];
    for (; begin < end; begin += OPERATOR_BLOCK) {
        const int count = end - begin < OPERATOR_BLOCK ? (int)(end - begin) : OPERATOR_BLOCK;
        operator_values(scan->from, begin, count, in);
        scan_values(scan, &total, in, unused, count);
    }
    return total;
}

static void append(struct scan *scan, struct running *running, const struct running *next)
{
    if (scan->number)
        running->number = aggregate_join_numbers(scan->aggregate->kind, running->number, next->number);
    else if (scan_ints_append(scan->aggregate->kind, &running->integer, next->integer))
        scan->flagged = true;
    compensated_sum_merge(&running->sum, &next->sum);
}

static void pass_chunk(void *context, int64_t number)
{
    struct scan *scan = context;
    struct chunk *chunk = &scan->chunks[number];
    const struct running before = scan->carry;
    if (chunk->anew)
        scan->carry = scan->start;
    append(scan, &scan->carry, &chunk->running);
    chunk->running = before;
}

static void scan_chunk(void *context, struct part part)
{
    struct scan *scan = context;
    int64_t begin = part.begin, end = part.end;
    const int64_t fresh = scan->segment > 0 ? (end - 1) / scan->segment * scan->segment : 0;
    struct chunk *chunk = &scan->chunks[part.number];
    const bool anew = chunk->anew = fresh >= begin;
    chunk->running = aggregate_rows(scan, anew ? fresh : begin, end);
    ordered_parts_publish(&scan->order, part.number);
    ordered_parts_wait(&scan->order, part.number);
    struct running running = chunk->running;
    scan_rows(scan, &running, begin, end);
}

static bool scan_in_chunks(struct scan *scan)
{
    scan->parts = (struct parts){
        .rows = scan->job->rows, .size = CHUNK_ROWS, .count = (scan->job->rows + CHUNK_ROWS - 1) / CHUNK_ROWS};
    scan->carry = scan->start;
    scan->ahead = scan->workers->threads * (int64_t)CHUNK_ROWS; /* in the thread's next chunk, most likely */
    scan->sums.how.ahead = scan->from->store == TYPE_F64 ? scan->ahead : 0;
    scan->chunks = heap_array((size_t)scan->parts.count, sizeof *scan->chunks);
    ordered_parts_init(&scan->order, scan->parts.count, pass_chunk, scan);
    const bool done = workers_run_parts(scan->workers, &scan->parts, scan_chunk, scan);
    ordered_parts_destroy(&scan->order);
    free(scan->chunks);
    return done;
}

/* ---- independent chains ---- */

static void scan_segments(void *context, struct part part)
{
    struct scan *scan = context;
    struct running running = scan->start;
    const int64_t last = part.end * scan->segment;
    scan_rows(scan, &running, part.begin * scan->segment, min_int64(last, scan->job->rows));
}

/* Columns side by side: each is a chain, over the rows of one segment. */
static void scan_columns(void *context, int member, int64_t part)
{
    (void)member;
    struct scan *scan = context;
    if (is_float_sum(scan)) {
        const int64_t begin = part_begin(&scan->parts, part);
        const int columns = (int)(part_begin(&scan->parts, part + 1) - begin);
        const int64_t segment = scan->segment > 0 ? scan->segment : scan->job->rows;
        for (int64_t first = 0; first < scan->job->rows && !workers_cancelled(scan->workers); first += segment) {
            if (!scan_sums_columns(&scan->sums, first + begin, min_int64(first + segment, scan->job->rows), columns,
                                   scan->stride, &scan->start.sum))
                scan->flagged = true;
        }
        return;
    }
    double in[SIDE_BY_SIDE], out[SIDE_BY_SIDE];
    struct running running[SIDE_BY_SIDE];
    const int64_t begin = part_begin(&scan->parts, part);
    const int64_t segment = scan->segment > 0 ? scan->segment : scan->job->rows;
    for (int64_t first = 0; first < scan->job->rows; first += segment) {
        const int64_t end = scan->job->rows - first < segment ? scan->job->rows : first + segment;
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            running[i] = scan->start;
        for (int64_t row = first; row + begin < end && !scan->flagged; row += scan->stride) {
            const int64_t stop = row + part_begin(&scan->parts, part + 1);
            const int count = (int)((stop < end ? stop : end) - row - begin);
            operator_values(scan->from, row + begin, count, in);
            for (int i = 0; i < count; i++)
                scan_values(scan, &running[i], &in[i], &out[i], 1);
            write_results(scan, row + begin, out, count);
        }
    }
}

static bool is_associative(const struct scan *scan)
{
    /* The product of a part may overflow where that of the whole, with a zero in it, does not. */
    return scan->aggregate->kind != AGG_PRODUCT && scan->aggregate->kind != AGG_FOLD;
}

static bool scan_all(struct scan *scan)
{
    const struct workers *workers = scan->workers;
    const int64_t rows = scan->job->rows;
    if (scan->stride > 1) {
        const int64_t width = scan->stride < rows ? scan->stride : rows;
        scan->parts =
            (struct parts){.rows = width, .size = SIDE_BY_SIDE, .count = (width + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE};
        return workers_run(workers, scan->parts.count, scan_columns, scan);
    }
    if (workers->threads > 1 && rows >= FEWEST_ROWS && scan->segment > 0 && rows / scan->segment >= workers->threads) {
        const int64_t segments = (rows + scan->segment - 1) / scan->segment;
        scan->parts = partition_rows(workers, segments, (FEWEST_ROWS + scan->segment - 1) / scan->segment);
        return workers_run_parts(workers, &scan->parts, scan_segments, scan);
    }
    if (workers->threads > 1 && rows > CHUNK_ROWS && is_associative(scan))
        return scan_in_chunks(scan);
    struct running running = scan->start;
    scan_rows(scan, &running, 0, rows);
    return !workers_cancelled(workers);
}

/* The state before the first row: the initial value, or the identity. False: it does not fit 64 bits. */
static bool set_start(struct scan *scan)
{
    const struct aggregate *aggregate = scan->aggregate;
    struct running *start = &scan->start;
    *start = (struct running){.integer = aggregate_table[aggregate->kind].none,
                              .number = aggregate_table[aggregate->kind].number_none,
                              .any = aggregate->has_initial};
    if (!aggregate->has_initial)
        return true;
    if (!scalar_fits(&aggregate->initial))
        return false;
    start->integer = (int64_t)aggregate->initial.integer;
    start->number = aggregate->initial.number;
    if (scan->number)
        compensated_sum_add(&start->sum, start->number);
    return true;
}

enum status operator_scan(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    const struct column_operator *column_op = job->task->column_op;
    struct scan *scan = heap_array(1, sizeof *scan);
    scan->job = job;
    scan->workers = workers;
    scan->aggregate = &job->task->aggregates[0];
    scan->from = job->inputs[column_op->keys[0]];
    scan->to = job->results[0];
    scan->exclusive = column_op->exclusive;
    scan->number = type_table[scan->from->store].kind == KIND_FLOAT;
    scan->segment = column_op->segment;
    scan->stride = column_op->stride > 1 ? column_op->stride : 1;
    scan->sums = (struct scan_sums){
        .from = scan->from, .to = scan->to, .how = {.level = compensated_level_at(0), .exclusive = scan->exclusive}};
    *job->result_rows = job->rows;
    enum status status = STATUS_OK;
    if (!set_start(scan))
        scan->flagged = true;
    else if (scan->to && job->rows > 0 && !scan_all(scan))
        status = STATUS_CANCELLED;
    if (scan->flagged)
        *flagged = true;
    free(scan);
    return status;
}
