#include "cl/operators/group_put.h"

#include "cl/codegen/template.h"

#include "base/integer.h"
#include "engine/grouping/group_aggregate.h"

#include <math.h>

extern const char kernel_group_output[];

static const struct record_field *field_of_output(const struct group_put *put, size_t k)
{
    const struct task *task = put->job->task;
    const size_t aggregate = k - task->column_op->key_count;
    return task->aggregates[aggregate].kind == AGG_COUNT ? NULL : &put->layout->fields[put->field_of[aggregate]];
}

/* Whether the sum of integers is a double, whose quotient is rounded once. */
static bool is_short_sum(const struct group_put *put, const struct record_field *field)
{
    const struct group_record_value *own = &put->layout->values[field->value];
    const struct column *column = own->encoded.column;
    const struct type_info *type = &type_table[column->store];
    double least = (double)(column->range_known ? column->lo : type->lo),
           most = (double)(column->range_known ? column->hi : type->hi);
    if (own->bounded) {
        least = (double)decode_integer(own->encoded.encoding, own->encoded.least);
        most = least + (double)own->most;
    }
    return fmax(fabs(least), fabs(most)) * (double)put->job->rows < 0x1p53;
}

/* Whether the kernel computes output k, an aggregate: no floats but sums of integers or of digits, and means. */
static bool puts_aggregate(const struct group_put *put, size_t k, const struct accelerator *accelerator)
{
    enum { LEAST_EXPONENT = -1000 }; /* below, results could be rounded twice */
    const struct task *task = put->job->task;
    const enum aggregate_kind kind = task->aggregates[k - task->column_op->key_count].kind;
    if (type_table[task->outputs[k].type].kind != KIND_FLOAT)
        return kind != AGG_QUANTILE;
    if (!aggregate_table[kind].sums || !accelerator->device.doubles)
        return false;
    const struct record_field *field = field_of_output(put, k);
    return field->words > 0 ? group_record_exponent(&put->layout->values[field->value]) >= LEAST_EXPONENT
                            : is_short_sum(put, field);
}

bool group_put_suits(const struct group_put *put, const struct accelerator *accelerator)
{
    enum { MANY = 1 << 14, PARAMETER_BYTES = 40, FIXED_BYTES = 128 };
    const struct task *task = put->job->task;
    if (put->records < MANY || accelerator->config->host_memory ||
        task->output_count * PARAMETER_BYTES + FIXED_BYTES > accelerator->device.parameters)
        return false;
    for (size_t k = task->column_op->key_count; k < task->output_count; k++) {
        if (task->outputs[k].needed && !puts_aggregate(put, k, accelerator))
            return false;
    }
    return true;
}

void group_put_names(const char *names[PUT_KERNELS])
{
    names[PUT_FILLED] = "filled";
    names[PUT_WRITE] = "put";
}

/* The value of a field, an integer. */
static const char *field_text(const struct group_put *put, const struct record_field *field, size_t k,
                              struct arena *arena)
{
    const size_t word = field->word;
    const char *offset = group_record_is_long(put->layout, field)
                             ? arena_printf(arena, "upsample(record[%zu], record[%zu])", word + 1, word)
                             : arena_printf(arena, "record[%zu]", word);
    if (field->words > 0)
        return arena_printf(arena, "float_of(record + %zu, %zu, (int)t%zu_base)", word, field->words, k);
    if (field->kind != AGG_SUM)
        return arena_printf(arena, "(ulong)t%zu_base + %s", k, offset);
    return arena_printf(arena, "sum_of(%s, %s, t%zu_base, count, flag)", offset,
                        field->top ? arena_printf(arena, "record[%zu]", field->top) : "0", k);
}

static enum type store_of(const struct group_put *put, size_t k)
{
    const struct task *task = put->job->task;
    return k < task->column_op->key_count ? put->group_keys->parts[k].encoded.column->store : task->outputs[k].type;
}

static void add_output(const struct group_put *put, size_t k, struct strbuf *parameters, struct strbuf *lines)
{
    struct arena *arena = put->job->diags->arena;
    const char *type = key_encodings[store_of(put, k)].cl_type;
    const size_t keys = put->job->task->column_op->key_count;
    if (put->rows && k < put->group_keys->count) {
        strbuf_printf(parameters,
                      "    __global %s *t%zu, ulong t%zu_first, __global const %s *k%zu, ulong k%zu_first,\n", type, k,
                      k, type, k, k);
        strbuf_printf(lines, "            t%zu[t%zu_first + row] = k%zu[k%zu_first + rows[rows_first + i]];\n", k, k, k,
                      k);
        return;
    }
    strbuf_printf(parameters,
                  "    __global %s *t%zu, ulong t%zu_first, long t%zu_base, uint t%zu_step, uint t%zu_codes,\n", type,
                  k, k, k, k, k);
    strbuf_printf(lines, "            t%zu[t%zu_first + row] = (%s)(", k, k, type);
    if (k < keys)
        strbuf_printf(lines, "(ulong)t%zu_base + (uint)i / t%zu_step %% t%zu_codes);\n", k, k, k);
    else if (field_of_output(put, k))
        strbuf_printf(lines,
                      type_table[store_of(put, k)].kind == KIND_FLOAT ? "as_ulong((double)%s%s + 0.0));\n" : "%s%s);\n",
                      field_text(put, field_of_output(put, k), k, arena),
                      put->job->task->aggregates[k - keys].kind == AGG_MEAN ? " / (double)count" : "");
    else
        strbuf_puts(lines, "count);\n");
}

static size_t most_words(const struct record_layout *layout)
{
    size_t most = 1;
    for (size_t k = 0; k < layout->field_count; k++)
        most = layout->fields[k].words > most ? layout->fields[k].words : most;
    return most;
}

void group_put_add_text(const struct group_put *put, struct strbuf *out, const struct kernel_config *config)
{
    const struct task *task = put->job->task;
    struct arena *arena = put->job->diags->arena;
    struct strbuf parameters = {0}, lines = {0};
    bool floats = false;
    if (put->rows)
        strbuf_puts(&parameters, "    __global const uint *rows, ulong rows_first,\n");
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        add_output(put, k, &parameters, &lines);
        floats = floats || (k >= task->column_op->key_count && type_table[task->outputs[k].type].kind == KIND_FLOAT);
    }
    const struct hole holes[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"stride", arena_printf(arena, "%zu", put->layout->stride)},
        {"count", arena_printf(arena, "%zu", put->layout->count_word)},
        {"parameters", parameters.text ? parameters.text : ""},
        {"write", lines.text ? lines.text : ""},
        {"floats", floats ? "1" : ""},
        {"words", arena_printf(arena, "%zu", most_words(put->layout))},
        {0},
    };
    if (floats)
        strbuf_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n");
    template_work_group_sums(out, config->group, "uint", arena);
    template_expand(out, kernel_group_output, holes);
    strbuf_free(&parameters);
    strbuf_free(&lines);
}

/* The least value of the encoded column, and of a key how its code follows from the place of a record. */
static void argument_output(const struct group_put *put, size_t k, struct arguments *arguments)
{
    const struct group_keys *keys = put->group_keys;
    const struct record_field *field = k < keys->count ? NULL : field_of_output(put, k);
    const struct encoded_column *encoded = k < keys->count ? &keys->parts[k].encoded
                                           : field         ? &put->layout->values[field->value].encoded
                                                           : NULL;
    uint64_t step = 1;
    for (size_t later = k + 1; k < keys->count && later < keys->count; later++)
        step *= keys->parts[later].codes;
    argument_ulong(arguments, field && field->words > 0
                                  ? (uint64_t)(int64_t)group_record_exponent(&put->layout->values[field->value])
                              : encoded ? (uint64_t)decode_integer(encoded->encoding, encoded->least)
                                        : 0);
    argument_uint(arguments, step);
    argument_uint(arguments, k < keys->count ? keys->parts[k].codes : 1);
}

/* Reserves the results; false if the run is to stop. */
static bool reserve(const struct group_put *put, struct operator_run *run, struct view *views, int64_t rows)
{
    const struct operator_job *job = put->job;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!job->task->outputs[k].needed)
            continue;
        job->results[k] = group_result_reserve(job, k, rows);
        run->unable = run->unable || !job->results[k];
        if (run->unable || !memory_output(run->accelerator->memory, job->results[k], 0, rows, &views[k]))
            return false;
    }
    return true;
}

/* Keeps the results on the device, or drops them. */
static void finish(const struct group_put *put, struct operator_run *run, const struct view *views, bool keeps)
{
    const struct operator_job *job = put->job;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (job->results[k] && keeps && !operator_stopped(run)) {
            memory_keep(run->accelerator->memory, job->results[k], 0, *job->result_rows, &views[k], job->timing);
            column_finish(job->results[k], *job->result_rows);
        } else {
            column_unref(job->results[k]);
            job->results[k] = NULL;
        }
    }
}

/* Counts the records of each tile; returns how many there are, and leaves in `tiles` where those of each begin. */
static int64_t count(const struct group_put *put, struct operator_run *run, size_t kernel, const struct view *table,
                     cl_mem tiles, size_t groups, uint64_t tile)
{
    struct arguments arguments = {.arena = put->job->diags->arena};
    argument_view(&arguments, table);
    argument_buffer(&arguments, tiles);
    argument_ulong(&arguments, put->records);
    argument_ulong(&arguments, tile);
    operator_run(run, kernel + PUT_FILLED, groups, run->accelerator->config->group, &arguments, "filled",
                 (int64_t)(put->records * put->layout->stride * sizeof(cl_uint)));
    return operator_sum_exclusive(run, tiles, groups);
}

void group_put_run(const struct group_put *put, struct operator_run *run, size_t kernel, const struct view *table,
                   bool *flagged)
{
    const struct operator_job *job = put->job;
    const struct task *task = job->task;
    const struct kernel_config *config = run->accelerator->config;
    const int64_t records = (int64_t)put->records;
    const size_t groups = row_loop_groups(run->accelerator, records);
    const int64_t tile = divide_up(records, (int64_t)(groups * config->group)) * (int64_t)config->group;
    struct view *views = arena_array(job->diags->arena, task->output_count + 1, sizeof *views);
    struct arguments arguments = {.arena = job->diags->arena};
    cl_mem tiles = operator_buffer(run, groups * sizeof(cl_uint)), flag = operator_buffer(run, sizeof(cl_int));
    const cl_int none = 0;
    *job->result_rows = count(put, run, kernel, table, tiles, groups, (uint64_t)tile);
    operator_write(run, flag, sizeof none, &none);
    if (operator_stopped(run) || !reserve(put, run, views, *job->result_rows)) {
        finish(put, run, views, false);
        return;
    }
    int64_t bytes = records * (int64_t)(put->layout->stride * sizeof(cl_uint));
    argument_view(&arguments, table);
    argument_buffer(&arguments, tiles);
    argument_buffer(&arguments, flag);
    if (put->rows)
        argument_view(&arguments, put->rows);
    for (size_t k = 0; k < task->output_count; k++) {
        if (!job->results[k])
            continue;
        argument_view(&arguments, &views[k]);
        if (put->rows && k < put->group_keys->count)
            argument_column(&arguments, run, put->group_keys->parts[k].encoded.column, job->rows);
        else
            argument_output(put, k, &arguments);
        bytes += *job->result_rows * (int64_t)type_table[job->results[k]->store].size;
    }
    argument_ulong(&arguments, put->records);
    argument_ulong(&arguments, (uint64_t)tile);
    operator_run(run, kernel + PUT_WRITE, groups, config->group, &arguments, "put", bytes);
    *flagged = operator_raised(run, flag);
    finish(put, run, views, !*flagged);
}
