/* Loop-invariant code motion: values that are the same in each round of a loop, above all the borders of a stencil, are
 * computed once, as columns that the rounds read. */
#include "engine/optimize/optimize.h"
#include "engine/plan/code_loop.h"

/* Fewer operations than this, a division as two, are computed anew: reading a column costs about as much. */
enum { LEAST_OPERATIONS = 2 };

/* Marks what depends on inputs that vary, and what may fail, which has to happen in the round. */
static void mark_varying(const struct task *task, const bool *varies, bool *varying)
{
    const struct code *code = &task->code;
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        const bool reads = reads_input(instr);
        varying[v] = instr->checked || (reads && varies[instr->integer]);
        for (int i = 0; i < op_table[instr->op].arity; i++)
            varying[v] = varying[v] || varying[instr->args[i]];
    }
}

static int operations_of(const struct code *code, value v, struct arena *arena)
{
    bool *live = arena_array(arena, (size_t)code->count + 1, sizeof *live);
    int operations = 0;
    code_mark(code, v, live);
    for (value i = 0; i <= v; i++) {
        if (live[i] && op_table[code->at[i].op].arity > 0)
            operations += code->at[i].op == OP_DIV || code->at[i].op == OP_MOD ? 2 : 1;
    }
    return operations;
}

/* Marks the values that the round reads of those that do not vary. The rows of neighbours are found while they are
 * read. */
static void mark_read(const struct task *task, const bool *live, const bool *varying, bool *read)
{
    const struct code *code = &task->code;
    for (value v = 0; v < code->count; v++) {
        for (int i = 0; i < op_table[code->at[v].op].arity && live[v] && varying[v]; i++) {
            const value arg = code->at[v].args[i];
            read[arg] = read[arg] || code->at[arg].op != OP_NEAR;
        }
    }
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (task->outputs[k].needed)
            read[task->outputs[k].value] = true;
    }
    for (size_t k = 0; k < task->aggregate_count; k++) {
        if (task->aggregates[k].value != NO_VALUE)
            read[task->aggregates[k].value] = true;
    }
}

static struct task *task_of_values(const struct task *task, const struct invariants *found, struct arena *arena)
{
    struct task *made = task_clone(task, arena);
    made->sink = SINK_ROWS;
    made->aggregate_count = 0;
    made->output_count = found->count;
    made->outputs = arena_array(arena, found->count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < found->count; k++) {
        const value v = found->values[k];
        made->outputs[k] =
            (struct output){.value = v, .name = "round", .type = type_of_kind(task->code.at[v].kind), .needed = true};
    }
    return made;
}

const struct task *invariants_find(const struct task *task, const bool *varies, struct column *const *inputs,
                                   int64_t rows, struct invariants *found, struct arena *arena)
{
    const struct code *code = &task->code;
    const size_t size = (size_t)code->count + 1;
    bool *live = arena_array(arena, size, sizeof *live), *varying = arena_array(arena, size, sizeof *varying);
    bool *read = arena_array(arena, size, sizeof *read);
    *found = (struct invariants){.values = arena_array(arena, size, sizeof *found->values)};
    if (code_has_loops(code)) /* which analysis makes other code of */
        return NULL;
    task_mark_live(task, live);
    struct task *analysed = task_clone(task, arena);
    optimize_task(analysed, inputs, rows);
    mark_varying(analysed, varies, varying);
    mark_read(task, live, varying, read);
    for (value v = 0; v < code->count; v++) {
        if (live[v] && read[v] && !varying[v] && operations_of(code, v, arena) >= LEAST_OPERATIONS)
            found->values[found->count++] = v;
    }
    return found->count > 0 ? task_of_values(task, found, arena) : NULL;
}

const struct task *invariants_read(const struct task *task, const struct invariants *found,
                                   struct column *const *columns, struct arena *arena)
{
    struct task *reading = task_clone(task, arena);
    reading->inputs = arena_grow(arena, reading->inputs, reading->input_count, reading->input_count + found->count,
                                 sizeof *reading->inputs);
    for (size_t k = 0; k < found->count; k++) {
        struct instr *instr = &reading->code.at[found->values[k]];
        reading->inputs[reading->input_count] =
            (struct input){.column = columns[k], .type = columns[k]->type, .name = "round", .needed = true};
        *instr = (struct instr){.op = OP_INPUT,
                                .kind = instr->kind,
                                .args = {NO_VALUE, NO_VALUE, NO_VALUE},
                                .integer = (int64_t)reading->input_count++,
                                .span = instr->span};
    }
    return reading;
}
