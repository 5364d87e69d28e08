/* Scatter: each row claims its position; a position claimed twice or out of bounds raises the flag, and the exact
 * evaluator reports it. */
#include "cl/codegen/template.h"
#include "cl/operators/operator.h"
#include "cl/operators/row_loop.h"

#include <string.h>

extern const char kernel_scatter[];

enum { CLAIM, MOVE, ZERO, KERNELS };

/* A column that is moved. */
struct moved {
    struct column *from, *to;
    struct view view; /* of `to` */
};

struct scatter {
    struct operator_run run;
    struct moved *moved;
    size_t count;
    int64_t into;
};

/* The unsigned type of an element's size. */
static const char *word_of(const struct column *column)
{
    static const char *const words[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    return words[type_table[column->store].size];
}

static const char *scatter_text(const struct scatter *scatter, const struct column *positions,
                                const struct kernel_config *config, struct arena *arena)
{
    struct strbuf parameters = {0}, prologue = {0}, move = {0}, text = {0};
    for (size_t k = 0; k < scatter->count; k++) {
        const char *word = word_of(scatter->moved[k].from);
        strbuf_printf(&parameters,
                      "    __global const %s *from%zu, ulong from%zu_first, __global %s *to%zu, ulong to%zu_first,\n",
                      word, k, k, word, k, k);
        strbuf_printf(&prologue, "    from%zu += from%zu_first;\n    to%zu += to%zu_first;\n", k, k, k, k);
        strbuf_printf(&move, "        to%zu[position] = from%zu[i];\n", k, k);
    }
    const struct hole holes[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"each", row_loop_text},
        {"type", type_table[positions->store].cl},
        {"parameters", parameters.text ? parameters.text : ""},
        {"prologue", prologue.text ? prologue.text : ""},
        {"move", move.text ? move.text : ""},
        {0},
    };
    template_expand(&text, kernel_scatter, holes);
    strbuf_free(&parameters);
    strbuf_free(&prologue);
    strbuf_free(&move);
    return text_in_arena(arena, &text);
}

static void zero_words(struct operator_run *run, cl_mem buffer, int64_t words)
{
    struct arguments arguments = {.arena = run->job->diags->arena};
    argument_buffer(&arguments, buffer);
    row_loop(run, ZERO, &arguments, words, row_loop_groups(run->accelerator, words), "zero", sizeof(cl_uint));
}

/* Opens a column's result, all of it zero. */
static void open_result(struct scatter *scatter, struct moved *moved)
{
    struct operator_run *run = &scatter->run;
    struct memory *memory = run->accelerator->memory;
    const int64_t bytes = scatter->into * (int64_t)type_table[moved->to->store].size;
    const int64_t words = (bytes + (int64_t)sizeof(cl_uint) - 1) / (int64_t)sizeof(cl_uint);
    if (operator_stopped(run))
        return;
    /* Round up to whole words: a column has a spare page. */
    int64_t rows = words * (int64_t)sizeof(cl_uint) / (int64_t)type_table[moved->to->store].size;
    if (rows < scatter->into)
        rows = scatter->into;
    const bool on_host = run->accelerator->config->host_memory;
    if (on_host)
        memset(column_at(moved->to, 0), 0, (size_t)bytes);
    if (memory_output(memory, moved->to, 0, rows, &moved->view) && !on_host)
        zero_words(run, moved->view.buffer, words);
}

/* Whether all positions are within the result and distinct. */
static bool claim(struct operator_run *run, struct column *positions, int64_t into)
{
    const struct operator_job *job = run->job;
    struct arguments arguments = {.arena = job->diags->arena};
    const int64_t words = into / 32 + 1;
    cl_mem claimed = operator_buffer(run, (size_t)words * sizeof(cl_uint)), flag = operator_buffer(run, sizeof(cl_int));
    cl_int failed = 0;
    zero_words(run, claimed, words);
    operator_write(run, flag, sizeof failed, &failed);
    argument_column(&arguments, run, positions, job->rows);
    argument_buffer(&arguments, claimed);
    argument_ulong(&arguments, (uint64_t)into);
    argument_buffer(&arguments, flag);
    row_loop(run, CLAIM, &arguments, job->rows, row_loop_groups(run->accelerator, job->rows), "claim",
             (int64_t)type_table[positions->store].size);
    operator_read(run, flag, sizeof failed, &failed);
    return !failed;
}

static void move(struct scatter *scatter, struct column *positions)
{
    struct operator_run *run = &scatter->run;
    const struct operator_job *job = run->job;
    struct arguments arguments = {.arena = job->diags->arena};
    int64_t row_bytes = (int64_t)type_table[positions->store].size;
    argument_column(&arguments, run, positions, job->rows);
    for (size_t k = 0; k < scatter->count; k++) {
        struct moved *moved = &scatter->moved[k];
        open_result(scatter, moved);
        argument_column(&arguments, run, moved->from, job->rows);
        argument_view(&arguments, &moved->view);
        row_bytes += 2 * (int64_t)type_table[moved->to->store].size;
    }
    row_loop(run, MOVE, &arguments, job->rows, row_loop_groups(run->accelerator, job->rows), "move", row_bytes);
    for (size_t k = 0; k < scatter->count && !operator_stopped(run); k++)
        memory_keep(run->accelerator->memory, scatter->moved[k].to, 0, scatter->into, &scatter->moved[k].view,
                    job->timing);
}

enum status cl_scatter(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    static const char *const names[KERNELS] = {[CLAIM] = "claim", [MOVE] = "move", [ZERO] = "zero"};
    enum { PARAMETER_BYTES = 32, FIXED_BYTES = 128 };
    const struct task *task = job->task;
    struct arena *arena = job->diags->arena;
    struct column *positions = job->inputs[task->column_op->keys[0]];
    struct scatter scatter = {
        .moved = arena_array(arena, task->output_count + 1, sizeof *scatter.moved),
        .into = operator_result_rows(task->column_op, job->rows),
    };
    struct column **columns = arena_array(arena, task->output_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->output_count; k++) {
        if (!job->results[k])
            continue;
        columns[scatter.count] = operator_input(job, task->outputs[k].value);
        scatter.moved[scatter.count] = (struct moved){.from = columns[scatter.count], .to = job->results[k]};
        scatter.count++;
    }
    if (job->rows == 0 || job->rows > scatter.into || !columns_fit(accelerator, &positions, 1, job->rows) ||
        !columns_fit(accelerator, columns, scatter.count, scatter.into) ||
        scatter.count * PARAMETER_BYTES + FIXED_BYTES > accelerator->device.parameters)
        return STATUS_UNABLE;
    *job->result_rows = scatter.into;
    scatter.run =
        operator_begin(accelerator, job, scatter_text(&scatter, positions, accelerator->config, arena), names, KERNELS);
    if (!claim(&scatter.run, positions, scatter.into))
        *flagged = true;
    else
        move(&scatter, positions);
    return operator_end(&scatter.run);
}
