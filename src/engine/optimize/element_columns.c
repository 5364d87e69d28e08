/* Values of elements that folds read at one position, computed once for each element.
 *
 * In `sum(e in A..B: r[from[e]] / degree[from[e]])` the quotient depends on the position alone. It becomes a column
 * with a row for each element, and a round of the fold reads one element where it read two. */
#include "engine/optimize/optimize.h"
#include "engine/optimize/passes.h"
#include "engine/plan/code_loop.h"
#include "engine/plan/verify.h"

#include <assert.h>

enum { ANYWHERE = NO_VALUE, NOWHERE = -2 };

/* What is known of a task's values. */
struct elements {
    const struct task *task;
    bool *live;
    uint32_t *levels;
    value *places;     /* of each value: the position of the elements that it is computed of, ANYWHERE: of none, it is a
                          constant; NOWHERE: it depends on more */
    bool *read_beside; /* a value at a position that is read by more than values at that position */
};

/* The rows of the input that a GATHER reads; -1: not known, or it is not stored yet. */
static int64_t rows_of_gather(const struct task *task, const struct instr *instr)
{
    const struct input *input = &task->inputs[instr->integer];
    return input->column && !input->task ? input->column->rows : -1;
}

/* Whether the operation has a value for all arguments and depends on nothing else. */
static bool is_total(const struct instr *instr)
{
    return op_table[instr->op].arity > 0 && instr->op != OP_NEAR && instr->op < OP_COUNTER &&
           (!op_table[instr->op].can_fail || instr->kind == KIND_FLOAT);
}

static value place_of(const struct elements *elements, value v)
{
    const struct code *code = &elements->task->code;
    const struct instr *instr = &code->at[v];
    value place = ANYWHERE;
    if (instr->op == OP_CONST)
        return ANYWHERE;
    if (instr->op == OP_GATHER)
        return elements->levels[v] != 0 && rows_of_gather(elements->task, instr) >= 0 ? instr->args[0] : NOWHERE;
    if (!is_total(instr))
        return NOWHERE;
    for (int i = 0; i < op_table[instr->op].arity; i++) {
        const value of = elements->places[instr->args[i]];
        if (of == NOWHERE || (of != ANYWHERE && place != ANYWHERE && of != place))
            return NOWHERE;
        place = of != ANYWHERE ? of : place;
    }
    return place;
}

static void mark_read(struct elements *elements)
{
    const struct task *task = elements->task;
    const struct code *code = &task->code;
    for (value v = 0; v < code->count; v++) {
        for (int i = 0; elements->live[v] && i < op_table[code->at[v].op].arity; i++) {
            const value arg = code->at[v].args[i];
            if (elements->places[arg] != elements->places[v])
                elements->read_beside[arg] = true;
        }
    }
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++)
        elements->read_beside[task->outputs[k].value] = true;
}

/* The values at this position that are to be columns: as many as fewer elements are read in a round than before; else
 * none. A pass over all elements pays if there are no more of them than rows, each of which has rounds. */
static size_t find_columns(const struct elements *elements, value place, value *found)
{
    const struct task *task = elements->task;
    size_t count = 0, gathers = 0, kept = 0;
    int64_t rows = -1;
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!elements->live[v] || elements->places[v] != place)
            continue;
        if (instr->op != OP_GATHER) {
            if (elements->read_beside[v])
                found[count++] = v;
            continue;
        }
        const int64_t of = rows_of_gather(task, instr);
        if (of > task->rows || (rows >= 0 && of != rows))
            return 0;
        rows = of;
        gathers++;
        kept += elements->read_beside[v];
    }
    return count + kept < gathers ? count : 0;
}

/* The task that computes the values for each element. */
static struct task *task_of_elements(struct queue *made, const struct elements *elements, value place,
                                     const value *found, size_t count)
{
    struct arena *arena = made->arena;
    const struct task *task = elements->task;
    struct task *from = task_clone(task, arena), *to = queue_add(made);
    size_t *kept = arena_array(arena, task->input_count + 1, sizeof *kept);
    from->sink = SINK_ROWS;
    from->first = 0;
    from->filter_count = from->aggregate_count = 0;
    from->output_count = count;
    from->outputs = arena_array(arena, count + 1, sizeof *from->outputs);
    for (size_t k = 0; k < count; k++)
        from->outputs[k] = (struct output){
            .value = found[k], .name = "elements", .type = type_of_kind(task->code.at[found[k]].kind), .needed = true};
    for (value v = 0; v < from->code.count; v++) {
        struct instr *instr = &from->code.at[v];
        if (instr->op != OP_GATHER || !elements->live[v] || elements->places[v] != place)
            continue;
        from->rows = rows_of_gather(task, instr);
        from->inputs[instr->integer].whole = false;
        *instr = (struct instr){.op = OP_INPUT,
                                .kind = instr->kind,
                                .args = {NO_VALUE, NO_VALUE, NO_VALUE},
                                .integer = instr->integer,
                                .span = instr->span};
    }
    code_init(&to->code, arena);
    task_copy(to, from, task->span, kept);
    to->stages = task->stages;
    to->stage_count = task->stage_count;
    return to;
}

/* Makes the task read the values as elements of the columns that `of` computes. */
static void read_columns(struct task *task, struct task *of, value place, const value *found, size_t count)
{
    struct arena *arena = task->code.arena;
    for (size_t k = 0; k < count; k++) {
        struct instr *instr = &task->code.at[found[k]];
        task->inputs = arena_grow(arena, task->inputs, task->input_count, task->input_count + 1, sizeof *task->inputs);
        task->inputs[task->input_count] = (struct input){.task = of,
                                                         .output = k,
                                                         .type = of->outputs[k].type,
                                                         .name = of->outputs[k].name,
                                                         .needed = true,
                                                         .whole = true};
        *instr = (struct instr){.op = OP_GATHER,
                                .kind = instr->kind,
                                .args = {place, NO_VALUE, NO_VALUE},
                                .integer = (int64_t)task->input_count++,
                                .fallible = true,
                                .span = instr->span};
    }
}

static void mark_inputs(struct task *task)
{
    const bool *live = task_live(task, task->code.arena);
    for (size_t k = 0; k < task->input_count; k++)
        task->inputs[k].needed = false;
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (live[v] && reads_input(instr))
            task->inputs[instr->integer].needed = true;
    }
}

/* Replaces the values of elements at one position after another in `reading`, a copy of the task; false: there are
 * none. */
static bool read_elements(struct queue *made, const struct task *task, struct task *reading)
{
    const size_t size = (size_t)task->code.count + 1;
    struct arena *arena = made->arena;
    bool any = false, *done = arena_array(arena, size, sizeof *done);
    struct elements elements = {.task = task,
                                .live = arena_array(arena, size, sizeof *elements.live),
                                .levels = code_levels(&task->code, arena),
                                .places = arena_array(arena, size, sizeof *elements.places),
                                .read_beside = arena_array(arena, size, sizeof *elements.read_beside)};
    value *found = arena_array(arena, size, sizeof *found);
    task_mark_live(task, elements.live);
    for (value v = 0; v < task->code.count; v++)
        elements.places[v] = place_of(&elements, v);
    mark_read(&elements);
    for (value v = 0; v < task->code.count; v++) {
        const value place = elements.places[v];
        if (!elements.live[v] || task->code.at[v].op != OP_GATHER || place == NOWHERE || done[place])
            continue;
        done[place] = true;
        const size_t count = find_columns(&elements, place, found);
        if (count > 0)
            read_columns(reading, task_of_elements(made, &elements, place, found, count), place, found, count);
        any = any || count > 0;
    }
    if (any)
        mark_inputs(reading);
    return any;
}

bool fold_elements(const struct queue *fused, struct queue *made)
{
    struct arena *arena = made->arena;
    struct task **tasks = arena_array(arena, fused->count + 1, sizeof *tasks);
    bool any = false;
    for (size_t t = 0; t < fused->count; t++) {
        const struct task *task = fused->tasks[t];
        struct task *reading = task_clone(task, arena);
        task_move_references(reading, tasks, arena);
        if (task->sink == SINK_ROWS && task->rows > 0 && task->filter_count == 0 && code_has_loops(&task->code))
            any = read_elements(made, task, reading) || any;
        tasks[t] = queue_add(made);
        const size_t number = tasks[t]->number;
        *tasks[t] = *reading;
        tasks[t]->number = number;
    }
    assert(!any || queue_is_valid(made, "fold_elements"));
    return any;
}
