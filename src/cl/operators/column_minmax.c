#include "cl/operators/column_minmax.h"

#include "cl/codegen/template.h"

#include "base/heap.h"
#include "engine/sorting/sort_keys.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/zonemap.h"

#include <stdlib.h>

extern const char kernel_column_minmax[];

enum { MINMAX, PARTIAL = 3 /* numbers of each group */ };

static const char *minmax_text(const struct kernel_config *config, const struct key_encoding *encoding, bool digits,
                               struct arena *arena)
{
    struct strbuf text = {0};
    const struct hole holes[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"type", encoding->cl_type},
        {"encode", encoding->function},
        {"word", encoding->wide ? "ulong" : "uint"},
        {"ones", encoding->wide ? "0xfffffffffffffffful" : "0xffffffffu"},
        {"sign", encoding->wide ? "0x8000000000000000ul" : "0x80000000u"}, /* the bits of -0.0 */
        {"each", row_loop_text},
        {"float", encoding->is_float ? "1" : ""},
        {"digits", digits ? "1" : ""},
        {"read", encoding->wide ? "digits_double" : "digits_float"},
        {"infinite", encoding->wide ? "infinite_double" : "infinite_float"},
        {0},
    };
    key_encoding_functions(&text, false);
    if (digits)
        digits_functions(&text);
    template_expand(&text, kernel_column_minmax, holes);
    return text_in_arena(arena, &text);
}

void column_minmax_join(struct column_minmax *bounds, const struct column_minmax *others)
{
    bounds->least = others->least < bounds->least ? others->least : bounds->least;
    bounds->most = others->most > bounds->most ? others->most : bounds->most;
    bounds->nan = bounds->nan || others->nan;
    bounds->negative_zero = bounds->negative_zero || others->negative_zero;
}

static void join_partial(struct column_minmax *bounds, const cl_ulong *partial)
{
    const struct column_minmax others = {partial[0], partial[1], partial[2] & 1, partial[2] & 2};
    column_minmax_join(bounds, &others);
}

/* Computes the same on the host. */
static enum status search_on_host(const struct operator_job *job, struct column *column, struct column_minmax *bounds)
{
    const struct key_encoding *encoding = &key_encodings[column->store];
    const struct workers workers = {.threads = parallel_threads(), .cancel = job->cancel};
    struct key key = {.column = column};
    struct keys keys;
    if (column->residency || column->lost)
        return STATUS_UNABLE;
    const bool done = keys_init(&keys, &key, 1, job->rows, &workers);
    keys_free(&keys);
    if (!done)
        return STATUS_CANCELLED;
    *bounds = (struct column_minmax){
        .least = encoding_from_host_key(encoding, key.least),
        .most = encoding_from_host_key(encoding, key.most),
        .nan = key.nan,
        .negative_zero = !key.faithful && !key.nan, /* not used beside a NaN */
    };
    if (encoding->is_float && key.most == 0) /* no number encodes as 0 */
        *bounds = (struct column_minmax){.least = UINT64_MAX, .nan = key.nan};
    return STATUS_OK;
}

static enum status measure(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                           bool digits, struct column_minmax *bounds)
{
    static const char *const names[] = {[MINMAX] = "minmax"};
    struct arena *arena = job->diags->arena;
    const struct key_encoding *encoding = &key_encodings[column->store];
    const char *text = minmax_text(accelerator->config, encoding, digits, arena);
    /* While the kernel builds, the host computes the bounds, so that the programs that depend on them can be queued
     * behind it. */
    if (job->no_wait && program_begin_text(accelerator, text, names, 1) == BACKEND_PENDING)
        return digits ? column_digits_on_host(job, column, bounds) : search_on_host(job, column, bounds);
    struct operator_run run = operator_begin(accelerator, job, text, names, 1);
    size_t groups = row_loop_groups(accelerator, job->rows), bytes = groups * PARTIAL * sizeof(cl_ulong);
    cl_ulong *partial = heap_array(groups * PARTIAL, sizeof *partial);
    struct arguments arguments = {.arena = arena};
    for (size_t k = 0; k < groups; k++)
        partial[k * PARTIAL] = UINT64_MAX;
    cl_mem found = operator_buffer(&run, bytes);
    operator_write(&run, found, bytes, partial);
    argument_column(&arguments, &run, column, job->rows);
    argument_buffer(&arguments, found);
    row_loop(&run, MINMAX, &arguments, job->rows, groups, digits ? "digits" : "minmax",
             (int64_t)type_table[column->store].size);
    operator_read(&run, found, bytes, partial);
    *bounds = (struct column_minmax){.least = UINT64_MAX};
    for (size_t k = 0; k < groups && !operator_stopped(&run); k++)
        join_partial(bounds, &partial[k * PARTIAL]);
    free(partial);
    return operator_end(&run);
}

enum status column_minmax_measure(struct accelerator *accelerator, const struct operator_job *job,
                                  struct column *column, struct column_minmax *bounds)
{
    return measure(accelerator, job, column, false, bounds);
}

enum status column_minmax_digits(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *digits)
{
    return measure(accelerator, job, column, true, digits);
}

enum status column_minmax_bounds(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *bounds)
{
    const struct key_encoding *encoding = &key_encodings[column->store];
    const struct type_info *type = &type_table[column->store];
    const struct zonemap *zones = column_zones(column);
    if (type->kind == KIND_INT && zones && zones->all.lo <= zones->all.hi) {
        *bounds = (struct column_minmax){.least = encode_integer(encoding, zones->all.lo),
                                         .most = encode_integer(encoding, zones->all.hi)};
        return STATUS_OK;
    }
    if (type->kind != KIND_FLOAT && (column->range_known || type->size == 1)) {
        int64_t lo = column->range_known ? column->lo : type->lo, hi = column->range_known ? column->hi : type->hi;
        *bounds = (struct column_minmax){.least = encode_integer(encoding, lo), .most = encode_integer(encoding, hi)};
        return STATUS_OK;
    }
    return column_minmax_measure(accelerator, job, column, bounds);
}
