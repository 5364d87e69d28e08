/* Histogram: the host computes the least encoding of each interval exactly; kernels search it for each row. Float
 * arithmetic on the device only guesses where to start. */
#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"

#include "base/heap.h"
#include "base/integer.h"
#include "cl/operators/operator.h"
#include "engine/values/histogram_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_rows(const struct operator_job *job, const struct histogram_bins *hist,
                       const struct record_layout *layout, const struct column *records)
{
    for (int64_t bin = 0; bin < hist->bins; bin++) {
        const uint32_t *record = (const uint32_t *)records->data + (size_t)bin * layout->stride;
        if (job->results[0])
            *(double *)column_at(job->results[0], bin) = histogram_edge(hist, bin);
        if (job->results[1])
            *(double *)column_at(job->results[1], bin) = histogram_edge(hist, bin + 1);
        if (job->results[2])
            *(int64_t *)column_at(job->results[2], bin) = group_record_count(layout, record);
    }
}

/* Returns the encoding of the least element in interval `bin`. */
static uint64_t least_of_bin(const struct histogram_bins *hist, const struct key_encoding *encoding, int64_t bin)
{
    if (hist->number)
        return encode_float(encoding, histogram_edge(hist, bin));
    uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo, bins = (uint64_t)hist->bins;
    const uint64_t distance = (uint64_t)(((uint128)range * (uint64_t)bin + bins - 1) / bins);
    return encode_integer(encoding, (int64_t)((uint64_t)hist->lo + distance));
}

/* Writes the edges that kernels search. */
static cl_mem write_edges(struct operator_run *run, const struct histogram_bins *hist,
                          const struct key_encoding *encoding)
{
    size_t count = (size_t)hist->bins, size = encoding->wide ? sizeof(cl_ulong) : sizeof(cl_uint);
    char *edges = heap_array(count, size);
    cl_mem buffer = operator_buffer(run, count * size);
    for (size_t k = 0; k < count; k++) {
        const uint64_t edge = least_of_bin(hist, encoding, (int64_t)k);
        if (encoding->wide)
            ((cl_ulong *)(void *)edges)[k] = edge;
        else
            ((cl_uint *)(void *)edges)[k] = (cl_uint)edge;
    }
    operator_write(run, buffer, count * size, edges);
    free(edges);
    return buffer;
}

/* A guess of the interval, corrected by the search: from the distance to the minimum, of floats in halves, as the whole
 * range may overflow. */
static const char *guess_text(const struct key_encoding *encoding)
{
    if (!encoding->is_float)
        return encoding->wide ? "(float)(key - least) * scale" : "(float)(key - (uint)least) * scale";
    return encoding->wide ? "(as_double(column[i]) / 2 - as_double(least)) * scale"
                          : "(as_float(column[i]) / 2 - as_float((uint)least)) * scale";
}

static struct record_index_text search_text(const struct key_encoding *encoding, struct arena *arena)
{
    const char *word = encoding->wide ? "ulong" : "uint",
               *real = encoding->is_float && encoding->wide ? "double" : "float";
    const char *skip = arena_printf(arena, "        if (key == (%s)-1)\n            continue;\n", word);
    return (struct record_index_text){
        .parameters =
            arena_printf(arena,
                         "    __global const %s *data, ulong data_first, __global const %s *edges, uint bins, "
                         "ulong least, %s scale,\n",
                         encoding->cl_type, word, real),
        .prologue = arena_printf(arena, "    __global const %s *column = data + data_first;\n", encoding->cl_type),
        .index = arena_printf(arena,
                              "        const %s key = %s(column[i]);\n"
                              "%s"
                              "        const %s guess = %s;\n"
                              "        uint index = guess >= bins - 1 ? bins - 1 : guess > 0 ? (uint)guess : 0;\n"
                              "        while (key < edges[index])\n"
                              "            --index;\n"
                              "        while (index < bins - 1 && key >= edges[index + 1])\n"
                              "            ++index;\n",
                              word, encoding->function, encoding->is_float ? skip : "", real, guess_text(encoding)),
    };
}

/* The origin and the scale of the guess. */
static void argument_guess(struct arguments *arguments, const struct histogram_bins *hist,
                           const struct key_encoding *encoding)
{
    double half = hist->flo / 2, wide = (double)hist->bins / (hist->fhi / 2 - half);
    float narrow_half = (float)half, narrow = (float)wide;
    uint64_t least = 0;
    uint32_t bits;
    if (!encoding->is_float) {
        least = encode_integer(encoding, hist->lo);
        narrow = (float)((double)hist->bins / (double)((uint64_t)hist->hi - (uint64_t)hist->lo));
    } else if (encoding->wide) {
        memcpy(&least, &half, sizeof least);
    } else {
        memcpy(&bits, &narrow_half, sizeof bits);
        least = bits;
    }
    argument_ulong(arguments, least);
    if (encoding->is_float && encoding->wide)
        argument_add(arguments, sizeof wide, &wide);
    else
        argument_add(arguments, sizeof narrow, &narrow);
}

static enum status count_bins(struct accelerator *accelerator, const struct operator_job *job,
                              const struct histogram_bins *hist, struct column *column)
{
    struct arena *arena = job->diags->arena;
    const struct key_encoding *encoding = &key_encodings[column->store];
    const struct record_index_text index = search_text(encoding, arena);
    const char *names[ACCUMULATE_KERNELS];
    struct record_layout layout;
    struct accumulate_plan plan;
    struct strbuf text = {0};
    group_record_plan_count(&layout);
    if (!group_accumulate_plan(&plan, &layout, accelerator, job->rows, (uint64_t)hist->bins))
        return STATUS_UNABLE;
    group_accumulate_names(names);
    key_encoding_functions(&text, false);
    group_accumulate_add_text(&text, &layout, &plan, accelerator->config, &index, arena);
    struct operator_run run = operator_begin(accelerator, job, text.text, names, ACCUMULATE_KERNELS);
    strbuf_free(&text);

    struct arguments arguments = {.arena = arena};
    argument_column(&arguments, &run, column, job->rows);
    argument_buffer(&arguments, write_edges(&run, hist, encoding));
    argument_uint(&arguments, (uint64_t)hist->bins);
    argument_guess(&arguments, hist, encoding);
    struct column *records =
        group_accumulate_run(&run, &layout, &plan, &arguments, (int64_t)type_table[column->store].size);
    enum status status = operator_end(&run);
    if (status == STATUS_OK && !records)
        status = STATUS_UNABLE;
    if (status == STATUS_OK)
        write_rows(job, hist, &layout, records);
    column_unref(records);
    return status;
}

enum status cl_hist(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    struct column *column = job->inputs[job->task->column_op->keys[0]];
    const struct key_encoding *encoding = &key_encodings[column->store];
    struct histogram_bins hist = {.bins = job->task->column_op->into, .number = encoding->is_float};
    struct column_minmax bounds;
    if (job->rows == 0 || hist.bins > INT32_MAX || job->task->column_op->calendar.kind != LOGICAL_NUMBER ||
        (encoding->is_float && encoding->wide && !accelerator->device.doubles) ||
        !columns_fit(accelerator, &column, 1, job->rows))
        return STATUS_UNABLE;
    /* Column statistics may be wider than the actual bounds. */
    const enum status status = column_minmax_measure(accelerator, job, column, &bounds);
    if (status != STATUS_OK)
        return status;
    *job->result_rows = hist.bins;
    if (encoding->is_float) {
        hist.flo = decode_float(encoding, bounds.least) + 0.0;
        hist.fhi = decode_float(encoding, bounds.most) + 0.0;
    } else {
        hist.lo = decode_integer(encoding, bounds.least);
        hist.hi = decode_integer(encoding, bounds.most);
    }
    if (bounds.least > bounds.most || (hist.number && (!isfinite(hist.flo) || !isfinite(hist.fhi)))) {
        *flagged = true;
        return STATUS_OK;
    }
    return count_bins(accelerator, job, &hist, column);
}
