#include "cl/operators/column_minmax.h"

#include "cl/codegen/template.h"

#include "base/heap.h"
#include "engine/operators/sort_keys.h"

#include <stdlib.h>

extern const char kernel_column_minmax[];

enum { EXTENTS, PARTIAL = 3 /* numbers of each group */ };

static const char *extents_text(const struct kernel_config *shape, const struct image *image, struct arena *arena)
{
    struct strbuf text = {0};
    const struct part parts[] = {
        {"group", arena_printf(arena, "%zu", shape->group)},
        {"load", image->load},
        {"image", image->function},
        {"word", image->wide ? "ulong" : "uint"},
        {"ones", image->wide ? "0xfffffffffffffffful" : "0xffffffffu"},
        {"sign", image->wide ? "0x8000000000000000ul" : "0x80000000u"}, /* the bits of -0.0 */
        {"each", row_loop_loop(shape)},
        {"float", image->number ? "1" : ""},
        {0},
    };
    image_functions(&text, false);
    template_expand(&text, kernel_column_minmax, parts);
    const char *kept = arena_text(arena, text.text, text.length);
    strbuf_free(&text);
    return kept;
}

static void join(struct column_minmax *extent, const cl_ulong *partial)
{
    extent->least = partial[0] < extent->least ? partial[0] : extent->least;
    extent->most = partial[1] > extent->most ? partial[1] : extent->most;
    extent->nan = extent->nan || (partial[2] & 1);
    extent->negative_zero = extent->negative_zero || (partial[2] & 2);
}

/* What the kernel would find. */
static enum status search_on_host(const struct operator_job *job, struct column *column, struct column_minmax *extent)
{
    const struct image *image = &image_table[column->store];
    const struct workers workers = {.threads = parallel_threads(), .cancel = job->cancel};
    struct key key = {.column = column};
    struct keys keys;

    if (column->residency || column->lost)
        return STATUS_UNABLE;
    bool done = keys_init(&keys, &key, 1, job->rows, &workers);
    keys_free(&keys);
    if (!done)
        return STATUS_CANCELLED;
    *extent = (struct column_minmax){
        .least = image_of_key(image, key.least),
        .most = image_of_key(image, key.most),
        .nan = key.nan,
        .negative_zero = !key.faithful && !key.nan, /* beside a NaN nobody asks */
    };
    if (image->number && key.most == 0) /* no number's image is 0 */
        *extent = (struct column_minmax){.least = UINT64_MAX, .nan = key.nan};
    return STATUS_OK;
}

enum status column_minmax_search(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *extent)
{
    static const char *const names[] = {[EXTENTS] = "extents"};
    struct arena *arena = job->diags->arena;
    const struct kernel_config *shape = accelerator->shape;
    const struct image *image = &image_table[column->store];
    const char *text = extents_text(shape, image, arena);
    /* While the kernel is being built the host looks, so that the programs that depend on what is found, which are only
     * asked for then, can be built behind it. */
    if (job->hasty && program_begin_text(accelerator, text, names, 1) == BACKEND_PENDING)
        return search_on_host(job, column, extent);
    struct operator_run run = operator_begin(accelerator, job, text, names, 1);
    size_t groups = row_loop_groups(accelerator, job->rows), bytes = groups * PARTIAL * sizeof(cl_ulong);
    cl_ulong *partial = heap_array(groups * PARTIAL, sizeof *partial);
    struct arguments arguments = {.arena = arena};

    for (size_t k = 0; k < groups; k++)
        partial[k * PARTIAL] = UINT64_MAX;
    cl_mem found = operator_buffer(&run, bytes);
    operator_write(&run, found, 0, bytes, partial);
    argument_column(&arguments, &run, column, job->rows);
    argument_buffer(&arguments, found);
    row_loop(&run, EXTENTS, &arguments, job->rows, groups, "extents", (int64_t)type_table[column->store].size);
    operator_read(&run, found, 0, bytes, partial);
    *extent = (struct column_minmax){.least = UINT64_MAX};
    for (size_t k = 0; k < groups && !operator_stopped(&run); k++)
        join(extent, &partial[k * PARTIAL]);
    free(partial);
    return operator_end(&run);
}

enum status column_minmax_find(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                               struct column_minmax *extent)
{
    const struct image *image = &image_table[column->store];
    const struct type_info *type = &type_table[column->store];

    if (type->kind != KIND_FLOAT && (column->range_known || type->size == 1)) {
        int64_t lo = column->range_known ? column->lo : type->lo, hi = column->range_known ? column->hi : type->hi;
        *extent = (struct column_minmax){.least = image_of_integer(image, lo), .most = image_of_integer(image, hi)};
        return STATUS_OK;
    }
    return column_minmax_search(accelerator, job, column, extent);
}
