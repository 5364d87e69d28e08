#include "engine/exact/exact_lazy.h"

#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"

void lazy_init(struct lazy_task *lazy, const struct task *task, struct arena *arena)
{
    lazy->task = task;
    lazy->memo = arena_array(arena, (size_t)task->code.count, sizeof *lazy->memo);
    lazy->computed = arena_array(arena, (size_t)task->code.count, sizeof *lazy->computed);
    lazy->outputs = arena_array(arena, task->output_count, sizeof *lazy->outputs);
    lazy->jumps = arena_array(arena, task->output_count, sizeof *lazy->jumps);
}

void lazy_release(struct lazy_task *lazy)
{
    column_unref(lazy->kept);
    column_unref(lazy->scanned);
    for (size_t k = 0; lazy->task && k < lazy->task->output_count; k++) {
        column_unref(lazy->outputs[k].values);
        column_unref(lazy->outputs[k].states);
    }
}

bool exact_cancelled(struct exact *exact)
{
    enum { TICKS_BETWEEN_LOOKS = 1 << 14 };
    return ++exact->ticks % TICKS_BETWEEN_LOOKS == 0 && exact->cancel && *exact->cancel;
}

enum status exact_no_memory(const struct exact *exact, const struct task *task, int64_t rows)
{
    return diag_error(exact->diags, task->span, "not enough memory for %lld rows", (long long)rows);
}

static void push(struct exact *exact, struct lazy_task *lazy, value v)
{
    if (exact->depth == exact->capacity) {
        size_t capacity = exact->capacity ? 2 * exact->capacity : 64;
        exact->stack = arena_grow(exact->arena, exact->stack, exact->depth, capacity, sizeof *exact->stack);
        exact->capacity = capacity;
    }
    exact->stack[exact->depth++] = (struct frame){.lazy = lazy, .value = v};
}

/* The value at the task's row; NULL if it has to be computed first, which then is next. */
static const union datum *demand(struct exact *exact, struct lazy_task *lazy, value v)
{
    if (lazy->computed[v] == lazy->row + 1)
        return &lazy->memo[v];
    push(exact, lazy, v);
    return NULL;
}

/* An output's value in a result row; `ready` is false if it has to be computed first. */
static enum status read_output(struct exact *exact, struct lazy_task *from, size_t k, int64_t row, union datum *result,
                               bool *ready)
{
    const struct kept_values *kept = &from->outputs[k];
    int64_t state = kept->states ? column_get_int(kept->states, row) : kept->values ? VALUE_THERE : VALUE_MISSING;
    *ready = true;
    if (state == VALUE_FAILED)
        return exact_operator_failure(exact, from, k, row);
    if (state == VALUE_THERE) {
        *result = column_get_datum(kept->values, row);
        return STATUS_OK;
    }
    int64_t at = from->kept ? column_get_int(from->kept, row) : from->begin + row;
    if (at < 0) {
        *result = (union datum){0};
        return STATUS_OK;
    }
    from->row = at;
    const union datum *datum = demand(exact, from, from->task->outputs[k].value);
    *ready = datum != NULL;
    if (!datum)
        return STATUS_OK;
    *result = *datum;
    if (kept->values) {
        *(uint8_t *)column_at(kept->states, row) = VALUE_THERE;
        column_set_datum(kept->values, row, *datum);
    }
    return STATUS_OK;
}

static int64_t input_rows(const struct exact *exact, const struct input *input)
{
    return input->column ? input->column->rows : exact->given[input->task->number];
}

/* Element `row` of an input's column, which it has; `ready` is false if an earlier task has to compute it first. */
static enum status read_element(struct exact *exact, const struct input *input, int64_t row, union datum *result,
                                bool *ready)
{
    if (!input->column)
        return read_output(exact, &exact->tasks[input->task->number], input->output, row, result, ready);
    *result = column_get_datum(input->column, row);
    *ready = true;
    return STATUS_OK;
}

static enum status read_input(struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                              union datum *result, bool *ready)
{
    const struct input *input = &lazy->task->inputs[instr->integer];
    int64_t row = lazy->task->first + lazy->row + instr->offset;
    *result = (union datum){0};
    *ready = true;
    if (instr->offset != 0 && (row < 0 || row >= input_rows(exact, input)))
        return STATUS_OK;
    return read_element(exact, input, row, result, ready);
}

static enum status fail(const struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                        union datum a, union datum b)
{
    struct failure failure = {
        .task = lazy->task->stage_count > 0 ? lazy->task : NULL,
        .code = &lazy->task->code,
        .inputs = lazy->task->inputs,
        .instr = instr,
        .row = lazy->task->first + lazy->row + instr->shift,
        .a = a.integer,
        .b = b.integer,
        .number = a.number,
        .values = lazy->memo,
        .computed = lazy->computed,
        .computed_for = lazy->row + 1,
        .rows = instr->op == OP_GATHER ? input_rows(exact, &lazy->task->inputs[instr->integer]) : 0,
    };
    return fail_operation(&failure, exact->diags);
}

static enum status gather(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result,
                          bool *ready)
{
    const struct input *input = &lazy->task->inputs[instr->integer];
    const union datum *position = demand(exact, lazy, instr->args[0]);
    *ready = position != NULL;
    if (!position)
        return STATUS_OK;
    if (position->integer < 0 || position->integer >= input_rows(exact, input))
        return fail(exact, lazy, instr, *position, (union datum){0});
    return read_element(exact, input, position->integer, result, ready);
}

/* &&, || and ?:, which read only what they must. False: something has to be computed first. */
static bool read_lazily(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result)
{
    const union datum *first = demand(exact, lazy, instr->args[0]);
    if (!first)
        return false;
    bool truth = first->integer != 0;
    value rest = instr->args[1];
    if (instr->op == OP_SELECT) {
        rest = instr->args[truth ? 1 : 2];
    } else if (truth == (instr->op == OP_OR)) {
        *result = *first;
        return true;
    }
    const union datum *datum = demand(exact, lazy, rest);
    if (datum)
        *result = *datum;
    return datum != NULL;
}

static enum status operate(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result,
                           bool *ready)
{
    const union datum *args[3] = {0};
    *ready = true;
    for (int i = 0; i < op_table[instr->op].arity && *ready; i++) {
        args[i] = demand(exact, lazy, instr->args[i]);
        *ready = args[i] != NULL;
    }
    if (!*ready)
        return STATUS_OK;
    union datum b = args[1] ? *args[1] : (union datum){0};
    if (!datum_operate(instr->op, lazy->task->code.at[instr->args[0]].kind, *args[0], b, result))
        return fail(exact, lazy, instr, *args[0], b);
    return STATUS_OK;
}

/* Computes the value on top of the stack, or puts on top what has to be computed first. */
static enum status step(struct exact *exact)
{
    const struct frame top = exact->stack[exact->depth - 1];
    struct lazy_task *lazy = top.lazy;
    const struct instr *instr = &lazy->task->code.at[top.value];
    union datum result = {0};
    bool ready = true;
    enum status status = STATUS_OK;
    switch (instr->op) {
    case OP_CONST:
        result = datum_of_const(instr);
        break;
    case OP_ROW:
        result.integer = lazy->row;
        break;
    case OP_ROWS:
        result.integer = lazy->rows;
        break;
    case OP_INPUT:
        status = read_input(exact, lazy, instr, &result, &ready);
        break;
    case OP_GATHER:
        status = gather(exact, lazy, instr, &result, &ready);
        break;
    case OP_AND:
    case OP_OR:
    case OP_SELECT:
        ready = read_lazily(exact, lazy, instr, &result);
        break;
    default:
        status = operate(exact, lazy, instr, &result, &ready);
    }
    if (ready && status == STATUS_OK) {
        lazy->memo[top.value] = result;
        lazy->computed[top.value] = lazy->row + 1;
        exact->depth--;
    }
    return status;
}

static enum status run_stack(struct exact *exact)
{
    while (exact->depth > 0) {
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
        enum status status = step(exact);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status exact_value(struct exact *exact, struct lazy_task *lazy, int64_t row, value v, union datum *result)
{
    lazy->row = row;
    demand(exact, lazy, v);
    enum status status = run_stack(exact);
    if (status == STATUS_OK)
        *result = lazy->memo[v];
    return status;
}

enum status exact_input(struct exact *exact, struct lazy_task *lazy, size_t input, int64_t row, union datum *result)
{
    bool ready = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !ready) {
        status = read_element(exact, &lazy->task->inputs[input], lazy->task->first + row, result, &ready);
        if (status == STATUS_OK && !ready)
            status = run_stack(exact);
    }
    return status;
}

enum status exact_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t row, union datum *result)
{
    bool ready = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !ready) {
        status = read_output(exact, lazy, k, row, result, &ready);
        if (status == STATUS_OK && !ready)
            status = run_stack(exact);
    }
    return status;
}
