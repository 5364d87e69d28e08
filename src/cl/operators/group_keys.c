#include "cl/operators/group_keys.h"

#include "engine/storage/column_stats.h"

#include <string.h>

/* A record for each combination of codes that a type or an operation allows is many times what there are: those of two
 * bytes 65 536, which are in no local memory. 60 M rows are measured in 0.05 ms, and added 200 times as fast; and where
 * tables are shared, a group by more codes than rows would be hashed, and then sorted by the host. */
static bool is_loose(const struct group_keys *group_keys, const struct key_part *part, int64_t rows, bool shares)
{
    enum { FEW = 64, MOST_CODES = 1 << 16, MANY_ROWS = 1 << 18 };
    const uint64_t size = group_keys->dense_size;
    const bool small = part->codes > 0 && part->codes <= MOST_CODES && (size == 0 || size > FEW);
    return rows >= MANY_ROWS && (small || (shares && (size == 0 || size > (uint64_t)rows))) &&
           !part->encoded.encoding->is_float && !column_zones(part->encoded.column);
}

static void set_codes(struct key_part *part)
{
    if (part->bounds.least > part->bounds.most) /* only NaN */
        part->bounds.least = part->bounds.most = part->encoded.encoding->zero;
    part->encoded.least = part->bounds.least;
    const uint64_t range = part->bounds.most - part->bounds.least;
    part->codes = range < UINT32_MAX ? range + 1 + part->bounds.nan : 0;
}

static void set_size(struct group_keys *group_keys)
{
    group_keys->dense_size = 1;
    for (size_t k = 0; k < group_keys->count; k++) {
        if (__builtin_mul_overflow(group_keys->dense_size, group_keys->parts[k].codes, &group_keys->dense_size))
            group_keys->dense_size = 0;
    }
}

enum status group_keys_find(struct group_keys *group_keys, struct accelerator *accelerator,
                            const struct operator_job *job, struct column *const *columns, size_t count)
{
    *group_keys = (struct group_keys){
        .parts = arena_array(job->diags->arena, count, sizeof *group_keys->parts),
        .count = count,
    };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && status == STATUS_OK; k++) {
        struct key_part *part = &group_keys->parts[k];
        *part = (struct key_part){.encoded = {.column = columns[k], .encoding = &key_encodings[columns[k]->store]}};
        status = column_minmax_bounds(accelerator, job, columns[k], &part->bounds);
        set_codes(part);
    }
    set_size(group_keys);
    for (size_t k = 0; k < count && status == STATUS_OK; k++) {
        struct key_part *part = &group_keys->parts[k];
        if (!is_loose(group_keys, part, job->rows, accelerator->config->shared_tables))
            continue;
        status = column_minmax_measure(accelerator, job, columns[k], &part->bounds);
        set_codes(part);
    }
    set_size(group_keys);
    return status;
}

bool group_keys_of_ranges(struct group_keys *group_keys, const struct operator_job *job, const int64_t *lo,
                          const int64_t *hi, size_t left_out)
{
    const struct column_operator *column_op = job->task->column_op;
    *group_keys = (struct group_keys){
        .parts = arena_array(job->diags->arena, column_op->key_count + 1, sizeof *group_keys->parts),
        .dense_size = 1,
    };
    for (size_t k = 0; k < column_op->key_count; k++) {
        struct column *column = job->inputs[column_op->keys[k]];
        const struct key_encoding *encoding = &key_encodings[column->store];
        const uint64_t range = (uint64_t)hi[k] - (uint64_t)lo[k];
        if (k == left_out)
            continue;
        if (range >= UINT32_MAX || group_keys->dense_size * (range + 1) > UINT32_MAX)
            return false;
        group_keys->dense_size *= range + 1;
        group_keys->parts[group_keys->count++] = (struct key_part){
            .encoded = {column, encoding, encode_integer(encoding, lo[k])},
            .codes = range + 1,
        };
    }
    return true;
}

struct record_index_text group_keys_index_text(const struct group_keys *group_keys, struct arena *arena)
{
    struct strbuf parameters = {0}, prologue = {0}, index = {0};
    strbuf_puts(&index, "        uint index = 0;\n");
    for (size_t k = 0; k < group_keys->count; k++) {
        const struct key_encoding *encoding = group_keys->parts[k].encoded.encoding;
        const char *word = encoding->wide ? "ulong" : "uint";
        strbuf_printf(&parameters,
                      "    __global const %s *k%zu_data, ulong k%zu_first, %s k%zu_least, uint k%zu_codes,\n",
                      encoding->cl_type, k, k, word, k, k);
        strbuf_printf(&prologue, "    __global const %s *k%zu_column = k%zu_data + k%zu_first;\n", encoding->cl_type, k,
                      k, k);
        strbuf_printf(&index, "        const %s k%zu = %s(k%zu_column[i]);\n", word, k, encoding->function, k);
        if (encoding->is_float)
            strbuf_printf(&index,
                          "        index = index * k%zu_codes + (k%zu == (%s)-1 ? k%zu_codes - 1 : (uint)(k%zu - "
                          "k%zu_least));\n",
                          k, k, word, k, k, k);
        else
            strbuf_printf(&index, "        index = index * k%zu_codes + (uint)(k%zu - k%zu_least);\n", k, k, k);
    }
    return (struct record_index_text){text_in_arena(arena, &parameters), text_in_arena(arena, &prologue),
                                      text_in_arena(arena, &index)};
}

const char *group_keys_kernels(const struct group_keys *group_keys, const char *template, const struct hole *more,
                               const struct kernel_config *config, struct arena *arena)
{
    const struct record_index_text index = group_keys_index_text(group_keys, arena);
    const struct hole filled[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"each", row_loop_text},
        {"parameters", index.parameters},
        {"prologue", index.prologue},
        {"index", index.index},
        {"atomicload", row_loop_atomic_load(config)},
    };
    enum { FILLED = sizeof filled / sizeof *filled };
    size_t count = 0;
    while (more[count].name)
        count++;
    struct hole *holes = arena_array(arena, FILLED + count + 1, sizeof *holes);
    memcpy(holes, filled, sizeof filled);
    memcpy(holes + FILLED, more, (count + 1) * sizeof *more);
    struct strbuf text = {0};
    key_encoding_functions(&text, false);
    template_work_group_sums(&text, config->group, "uint", arena);
    template_expand(&text, template, holes);
    return text_in_arena(arena, &text);
}

struct key_hash_text group_keys_hash_text(const struct group_keys *group_keys, struct arena *arena)
{
    struct strbuf keys = {0}, hash = {0}, same = {0};
    /* Multiplication mixes bits upwards, folding downwards, as in the finalizer of MurmurHash3. */
    strbuf_puts(&hash, "        ulong h = 0;\n");
    for (size_t k = 0; k < group_keys->count; k++) {
        const struct key_encoding *encoding = group_keys->parts[k].encoded.encoding;
        strbuf_printf(&keys, "        const %s k%zu = %s(k%zu_column[i]);\n", encoding->wide ? "ulong" : "uint", k,
                      encoding->function, k);
        strbuf_printf(&hash, "        h = (h ^ k%zu) * 0xff51afd7ed558ccdul;\n        h ^= h >> 32;\n", k);
        strbuf_printf(&same, "%s%s(k%zu_column[there]) == k%zu", k > 0 ? " && " : "", encoding->function, k, k);
    }
    strbuf_puts(&hash, "        h *= 0xc4ceb9fe1a85ec53ul;\n        h ^= h >> 32;\n");
    return (struct key_hash_text){text_in_arena(arena, &keys), text_in_arena(arena, &hash),
                                  text_in_arena(arena, &same)};
}

void group_keys_arguments(const struct group_keys *group_keys, struct operator_run *run, struct arguments *arguments)
{
    for (size_t k = 0; k < group_keys->count; k++) {
        const struct key_part *part = &group_keys->parts[k];
        argument_column(arguments, run, part->encoded.column, run->job->rows);
        if (part->encoded.encoding->wide)
            argument_ulong(arguments, part->encoded.least);
        else
            argument_uint(arguments, part->encoded.least);
        argument_uint(arguments, part->codes);
    }
}

uint64_t group_keys_code(const struct group_keys *group_keys, size_t k, uint64_t index)
{
    for (size_t later = group_keys->count - 1; later > k; later--)
        index /= group_keys->parts[later].codes;
    return index % group_keys->parts[k].codes;
}

int64_t group_keys_bytes(const struct group_keys *group_keys)
{
    size_t bytes = 0;
    for (size_t k = 0; k < group_keys->count; k++)
        bytes += type_table[group_keys->parts[k].encoded.column->store].size;
    return (int64_t)bytes;
}
