/* Rows combined by a user's function of two rows. Chunks are combined by themselves on all threads, then what came
 * before each; where rounding depends on the grouping, all rows are combined one after another. */
#include "engine/backend/datum.h"
#include "engine/backend/user_reduce.h"
#include "engine/operators/operator.h"
#include "engine/vector/elements.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 1 << 15 };

/* The combination of some rows. */
struct combined {
    bool any; /* there are some */
    union datum *values;
};

struct combine {
    const struct operator_job *job;
    const struct combining *how;
    size_t width; /* of a row */
    bool exclusive;
    struct parts parts;
    struct combined *before; /* of each chunk: its own rows, then the rows before it */
    union datum *values;     /* of all those */
    _Atomic bool flagged;
};

/* One thread's: blocks of the columns read and written, and the two rows to combine. */
struct block {
    const struct combine *combine;
    union datum *in, *out; /* of each column, OPERATOR_BLOCK values */
    union datum *pair;     /* 2 * width, the left row is that of the rows so far */
    union datum *result;
    bool any;
};

static void block_init(struct block *block, const struct combine *combine, const struct combined *before)
{
    const size_t width = combine->width;
    *block = (struct block){.combine = combine, .any = before->any};
    block->in = heap_array(width * OPERATOR_BLOCK, sizeof *block->in);
    block->out = heap_array(width * OPERATOR_BLOCK, sizeof *block->out);
    block->pair = heap_array(2 * width, sizeof *block->pair);
    block->result = heap_array(width, sizeof *block->result);
    memcpy(block->pair, before->values, width * sizeof *block->pair);
}

static void block_free(struct block *block)
{
    free(block->in);
    free(block->out);
    free(block->pair);
    free(block->result);
}

static void read_block(struct block *block, int64_t row, int count)
{
    const struct combine *combine = block->combine;
    for (size_t k = 0; k < combine->width; k++)
        operator_values(combine->job->inputs[combine->job->task->column_op->keys[k]], row, count,
                        block->in + k * OPERATOR_BLOCK);
}

static void write_block(const struct block *block, int64_t row, int count)
{
    const struct operator_job *job = block->combine->job;
    for (size_t k = 0; k < block->combine->width; k++) {
        struct column *to = job->results[k];
        const union datum *from = block->out + k * OPERATOR_BLOCK;
        if (to && to->store == TYPE_F64)
            memcpy(column_at(to, row), from, (size_t)count * sizeof *from);
        else if (to)
            operator_write_ints(to, row, &from->integer, count);
    }
}

static void show(struct block *block, int i)
{
    for (size_t k = 0; k < block->combine->width; k++)
        block->out[k * OPERATOR_BLOCK + (size_t)i] = block->pair[k];
}

/* Adds row i of the block to the rows so far; false if they cannot be combined. */
static bool add_row(struct block *block, int i)
{
    const size_t width = block->combine->width;
    union datum *to = block->any ? block->pair + width : block->pair;
    for (size_t k = 0; k < width; k++)
        to[k] = block->in[k * OPERATOR_BLOCK + (size_t)i];
    if (!block->any) {
        block->any = true;
        return true;
    }
    if (!user_reduce_rows(&block->combine->how->reducer, block->pair, block->result, NULL))
        return false;
    memcpy(block->pair, block->result, width * sizeof *block->pair);
    return true;
}

/* Combines rows begin .. end-1 with those before, and writes each result if `writes`. */
static void run_rows(struct combine *combine, const struct workers *workers, struct block *block, int64_t begin,
                     int64_t end, bool writes)
{
    for (int64_t row = begin; row < end && !combine->flagged; row += OPERATOR_BLOCK) {
        const int count = (int)min_int64(end - row, OPERATOR_BLOCK);
        if (workers_cancelled(workers))
            return;
        read_block(block, row, count);
        for (int i = 0; i < count; i++) {
            if (combine->exclusive)
                show(block, i);
            if (!add_row(block, i)) {
                combine->flagged = true;
                return;
            }
            if (!combine->exclusive)
                show(block, i);
        }
        if (writes)
            write_block(block, row, count);
    }
}

struct combine_pass {
    struct combine *combine;
    const struct workers *workers;
    bool writes;
};

/* Combines a chunk: by itself, or after the rows before it, which it writes. */
static void run_chunk(void *context, struct part part)
{
    const struct combine_pass *pass = context;
    struct combine *combine = pass->combine;
    struct combined *own = &combine->before[part.number];
    struct block block;
    block_init(&block, combine, own);
    run_rows(combine, pass->workers, &block, part.begin, part.end, pass->writes);
    if (!pass->writes) {
        own->any = block.any;
        memcpy(own->values, block.pair, combine->width * sizeof *own->values);
    }
    block_free(&block);
}

static void set_initial(const struct combine *combine, struct combined *total)
{
    total->any = combine->how->has_initial;
    for (size_t k = 0; k < combine->width && total->any; k++)
        total->values[k] = datum_of_scalar(&combine->how->initial[k]);
}

/* Makes of each chunk's rows those before it; `total` becomes all. */
static void combine_chunks(struct combine *combine, struct combined *total)
{
    const size_t width = combine->width, bytes = width * sizeof(union datum);
    union datum *pair = heap_array(2 * width, sizeof *pair), *result = heap_array(width, sizeof *result);
    set_initial(combine, total);
    for (int64_t chunk = 0; chunk < combine->parts.count && !combine->flagged; chunk++) {
        struct combined *own = &combine->before[chunk];
        memcpy(pair, total->values, bytes);
        memcpy(pair + width, own->values, bytes);
        if (!total->any)
            memcpy(result, own->values, bytes);
        else if (!user_reduce_rows(&combine->how->reducer, pair, result, NULL))
            combine->flagged = true;
        memcpy(own->values, pair, bytes);
        own->any = total->any;
        memcpy(total->values, result, bytes);
        total->any = true;
    }
    free(pair);
    free(result);
}

/* All rows, one after another; with `reduces` they are only combined. */
static void run_serially(struct combine *combine, const struct workers *workers, struct combined *total, bool reduces)
{
    struct block block;
    set_initial(combine, total);
    block_init(&block, combine, total);
    run_rows(combine, workers, &block, 0, combine->job->rows, !reduces);
    total->any = block.any;
    memcpy(total->values, block.pair, combine->width * sizeof *total->values);
    block_free(&block);
}

static bool run_in_chunks(struct combine *combine, const struct workers *workers, struct combined *total, bool reduces)
{
    const size_t chunks = (size_t)combine->parts.count;
    struct combine_pass pass = {combine, workers, false};
    combine->before = heap_array(chunks, sizeof *combine->before);
    combine->values = heap_array(chunks * combine->width, sizeof *combine->values);
    for (size_t i = 0; i < chunks; i++)
        combine->before[i].values = combine->values + i * combine->width;
    bool done = workers_run_parts(workers, &combine->parts, run_chunk, &pass);
    if (done)
        combine_chunks(combine, total);
    pass.writes = true;
    if (done && !reduces && !combine->flagged)
        done = workers_run_parts(workers, &combine->parts, run_chunk, &pass);
    free(combine->before);
    free(combine->values);
    return done;
}

static void write_total(const struct combine *combine, const struct combined *total)
{
    for (size_t k = 0; k < combine->width; k++) {
        if (combine->job->results[k])
            column_set_datum(combine->job->results[k], 0, total->values[k]);
    }
}

/* A scan in chunks applies the function twice to each row, which takes three threads to pay. */
static bool takes_chunks(const struct combine *combine, const struct workers *workers)
{
    const int fewest = combine->how->reduces ? 2 : 3;
    return !combine->how->in_order && combine->job->rows > CHUNK_ROWS && workers->threads >= fewest;
}

enum status operator_combine(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    const struct column_operator *column_op = job->task->column_op;
    const struct combining *how = column_op->combining;
    struct combine combine = {
        .job = job,
        .how = how,
        .width = how->reducer.count,
        .exclusive = column_op->exclusive,
        .parts = {.rows = job->rows, .size = CHUNK_ROWS, .count = (job->rows + CHUNK_ROWS - 1) / CHUNK_ROWS},
    };
    struct combined total = {.values = heap_array(combine.width, sizeof *total.values)};
    bool done = true;
    *job->result_rows = operator_result_rows(column_op, job->rows);
    if (takes_chunks(&combine, workers))
        done = run_in_chunks(&combine, workers, &total, how->reduces);
    else
        run_serially(&combine, workers, &total, how->reduces);
    done = done && !workers_cancelled(workers);
    /* The first row of an exclusive scan, and no rows, have no value. */
    if (!how->has_initial && (how->reduces ? !total.any : combine.exclusive && job->rows > 0))
        combine.flagged = true;
    if (done && how->reduces && !combine.flagged)
        write_total(&combine, &total);
    free(total.values);
    *flagged = *flagged || combine.flagged;
    return done ? STATUS_OK : STATUS_CANCELLED;
}
