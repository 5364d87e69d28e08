/* Histograms: the least image of each interval, found by the host as exactly as the edges are defined, and a search
 * among them for each row. Arithmetic of floats on the device only tells where to begin the search. */
#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"
#include "cl/operators/operator.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/values/histogram_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_rows(const struct operator_job *job, const struct histogram_bins *hist,
                       const struct group_record *cells, const struct column *records)
{
    for (int64_t bin = 0; bin < hist->bins; bin++) {
        const uint32_t *record = (const uint32_t *)records->data + (size_t)bin * cells->stride;
        if (job->results[0])
            *(double *)column_at(job->results[0], bin) = histogram_edge(hist, bin);
        if (job->results[1])
            *(double *)column_at(job->results[1], bin) = histogram_edge(hist, bin + 1);
        if (job->results[2])
            *(int64_t *)column_at(job->results[2], bin) = group_record_count(cells, record);
    }
}

/* The image of the least element in interval `bin`. */
static uint64_t least_of_bin(const struct histogram_bins *hist, const struct image *image, int64_t bin)
{
    if (hist->number)
        return image_of_float(image, histogram_edge(hist, bin));
    uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo, bins = (uint64_t)hist->bins;
    uint64_t distance = (uint64_t)(((uint128)range * (uint64_t)bin + bins - 1) / bins);
    return image_of_integer(image, (int64_t)((uint64_t)hist->lo + distance));
}

/* The buffer that kernels search. */
static cl_mem write_edges(struct operator_run *run, const struct histogram_bins *hist, const struct image *image)
{
    size_t count = (size_t)hist->bins, size = image->wide ? sizeof(cl_ulong) : sizeof(cl_uint);
    char *edges = heap_array(count, size);
    cl_mem buffer = operator_buffer(run, count * size);

    for (size_t k = 0; k < count; k++) {
        uint64_t edge = least_of_bin(hist, image, (int64_t)k);
        if (image->wide)
            ((cl_ulong *)(void *)edges)[k] = edge;
        else
            ((cl_uint *)(void *)edges)[k] = (cl_uint)edge;
    }
    operator_write(run, buffer, 0, count * size, edges);
    free(edges);
    return buffer;
}

/* An estimate of the interval, which the edges then put right: of integers from their distance to the least, of floats
 * from halves, as the whole range may be too large for a number. */
static const char *guess_text(const struct image *image)
{
    if (!image->number)
        return image->wide ? "(float)(image - least) * scale" : "(float)(image - (uint)least) * scale";
    return image->wide ? "(as_double(column[i]) / 2 - as_double(least)) * scale"
                       : "(as_float(column[i]) / 2 - as_float((uint)least)) * scale";
}

static struct place_text search_text(const struct image *image, struct arena *arena)
{
    const char *word = image->wide ? "ulong" : "uint", *real = image->number && image->wide ? "double" : "float";
    const char *skip = arena_printf(arena, "        if (image == (%s)-1)\n            continue;\n", word);

    return (struct place_text){
        .parameters =
            arena_printf(arena,
                         "    __global const %s *data, ulong data_first, __global const %s *edges, uint bins, "
                         "ulong least, %s scale,\n",
                         image->load, word, real),
        .prologue = arena_printf(arena, "    __global const %s *column = data + data_first;\n", image->load),
        .place = arena_printf(arena,
                              "        const %s image = %s(column[i]);\n"
                              "%s"
                              "        const %s guess = %s;\n"
                              "        uint place = guess >= bins - 1 ? bins - 1 : guess > 0 ? (uint)guess : 0;\n"
                              "        while (image < edges[place])\n"
                              "            --place;\n"
                              "        while (place < bins - 1 && image >= edges[place + 1])\n"
                              "            ++place;\n",
                              word, image->function, image->number ? skip : "", real, guess_text(image)),
    };
}

/* What the estimate starts from and what it is multiplied by. */
static void argument_guess(struct arguments *arguments, const struct histogram_bins *hist, const struct image *image)
{
    double half = hist->flo / 2, wide = (double)hist->bins / (hist->fhi / 2 - half);
    float narrow_half = (float)half, narrow = (float)wide;
    uint64_t least = 0;
    uint32_t bits;

    if (!image->number) {
        least = image_of_integer(image, hist->lo);
        narrow = (float)((double)hist->bins / (double)((uint64_t)hist->hi - (uint64_t)hist->lo));
    } else if (image->wide) {
        memcpy(&least, &half, sizeof least);
    } else {
        memcpy(&bits, &narrow_half, sizeof bits);
        least = bits;
    }
    argument_ulong(arguments, least);
    if (image->number && image->wide)
        argument_add(arguments, sizeof wide, &wide);
    else
        argument_add(arguments, sizeof narrow, &narrow);
}

static enum status count_bins(struct accelerator *accelerator, const struct operator_job *job,
                              const struct histogram_bins *hist, struct column *column)
{
    struct arena *arena = job->diags->arena;
    const struct image *image = &image_table[column->store];
    const struct place_text place = search_text(image, arena);
    const char *names[TOTALS_KERNELS];
    struct group_record cells;
    struct accumulate_plan plan;
    struct strbuf text = {0};

    group_record_plan_count(&cells);
    if (!group_accumulate_plan(&plan, &cells, accelerator, job->rows, (uint64_t)hist->bins))
        return STATUS_UNABLE;
    group_accumulate_names(&plan, names);
    image_functions(&text, false);
    group_accumulate_add_text(&text, &cells, &plan, accelerator->shape, &place, arena);
    struct operator_run run = operator_begin(accelerator, job, text.text, names, TOTALS_KERNELS);
    strbuf_free(&text);

    struct arguments arguments = {.arena = arena};
    argument_column(&arguments, &run, column, job->rows);
    argument_buffer(&arguments, write_edges(&run, hist, image));
    argument_uint(&arguments, (uint64_t)hist->bins);
    argument_guess(&arguments, hist, image);
    struct column *records =
        group_accumulate_run(&run, 0, &cells, &plan, &arguments, (int64_t)type_table[column->store].size);
    enum status status = operator_end(&run);
    if (status == STATUS_OK && !records)
        status = STATUS_UNABLE;
    if (status == STATUS_OK)
        write_rows(job, hist, &cells, records);
    column_unref(records);
    return status;
}

enum status cl_hist(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    struct column *column = job->inputs[job->task->operator->keys[0]];
    const struct image *image = &image_table[column->store];
    struct histogram_bins hist = {.bins = job->task->operator->into, .number = image->number};
    struct column_minmax extent;

    if (job->rows == 0 || hist.bins > INT32_MAX || (image->number && image->wide && !accelerator->device.doubles) ||
        !columns_fit(accelerator, &column, 1, job->rows))
        return STATUS_UNABLE;
    /* Bounds that a column promises may be wider than what is there. */
    enum status status = column_minmax_search(accelerator, job, column, &extent);
    if (status != STATUS_OK)
        return status;
    *job->result_rows = hist.bins;
    if (image->number) {
        hist.flo = image_float(image, extent.least) + 0.0;
        hist.fhi = image_float(image, extent.most) + 0.0;
    } else {
        hist.lo = image_integer(image, extent.least);
        hist.hi = image_integer(image, extent.most);
    }
    if (extent.least > extent.most || (hist.number && (!isfinite(hist.flo) || !isfinite(hist.fhi)))) {
        *flagged = true;
        return STATUS_OK;
    }
    return count_bins(accelerator, job, &hist, column);
}
