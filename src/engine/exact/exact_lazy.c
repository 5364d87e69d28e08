#include "engine/exact/exact_lazy.h"

#include "engine/backend/memory_limit.h"
#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"
#include "engine/plan/task_title.h"

void lazy_init(struct lazy_task *lazy, const struct task *task, struct column *const *columns, struct arena *arena)
{
    lazy->task = task;
    lazy->title = stages_title(task, arena);
    lazy->columns = columns;
    lazy->memo = arena_array(arena, (size_t)task->code.count, sizeof *lazy->memo);
    lazy->computed = arena_array(arena, (size_t)task->code.count, sizeof *lazy->computed);
    lazy->loops = arena_array(arena, (size_t)task->code.count, sizeof(struct loop_run *));
    lazy->outputs = arena_array(arena, task->output_count, sizeof *lazy->outputs);
    lazy->random_access = arena_array(arena, task->output_count, sizeof *lazy->random_access);
}

static void lazy_release(struct lazy_task *lazy)
{
    column_unref(lazy->kept);
    column_unref(lazy->scanned);
    for (size_t k = 0; lazy->task && k < lazy->task->output_count; k++) {
        column_unref(lazy->outputs[k].values);
        column_unref(lazy->outputs[k].states);
    }
}

void exact_init(struct exact *exact, size_t task_count, const struct exact_options *options, struct diags *diags)
{
    *exact = (struct exact){.arena = arena_new(), .task_count = task_count, .diags = diags};
    if (options) {
        exact->workers = options->workers;
        exact->workers.progress = NULL;
        exact->progress = options->workers.progress;
        exact->cancel = options->workers.cancel;
        exact->pool = options->workers.pool;
        exact->options = options;
    }
    exact->workers.threads = exact->workers.threads > 1 ? exact->workers.threads : 1;
    exact->tasks = arena_array(exact->arena, task_count, sizeof *exact->tasks);
    exact->row_counts = arena_array(exact->arena, task_count, sizeof *exact->row_counts);
}

void exact_free(struct exact *exact)
{
    for (size_t t = 0; t < exact->task_count; t++)
        lazy_release(&exact->tasks[t]);
    for (int i = 0; exact->members && i < exact->workers.threads; i++)
        arena_free(exact->members[i].arena);
    arena_free(exact->arena);
}

bool exact_cancelled(struct exact *exact)
{
    enum { TICKS_BETWEEN_POLLS = 1 << 14 };
    return ++exact->ticks % TICKS_BETWEEN_POLLS == 0 && exact->cancel && *exact->cancel;
}

enum status exact_no_memory(const struct exact *exact, const struct task *task, int64_t rows)
{
    return diag_no_memory(exact->diags, task->span, "not enough memory for %lld rows", (long long)rows);
}

struct column *exact_reserve(const struct exact *exact, enum type type, int64_t rows)
{
    const struct column like = {.type = type, .store = type};
    int64_t bytes;
    const bool fits = !exact->pool || __builtin_mul_overflow(rows, (int64_t)type_table[type].size, &bytes) ||
                      buffer_pool_has(exact->pool, bytes);
    struct column *column = fits ? NULL : column_reserve_spilled(exact->pool, &like, rows);
    return column ? column : column_reserve(type, type, rows);
}

enum status exact_check_memory(const struct exact *exact, const struct task *task, int64_t rows, int64_t unwritten,
                               int64_t row_bytes)
{
    return memory_rows_check(exact->pool, rows, unwritten, row_bytes, task->span, exact->diags);
}

static void push(struct exact *exact, struct lazy_task *lazy, value v)
{
    *ARENA_PUSH(exact->arena, exact->stack, exact->depth, exact->capacity) = (struct frame){.lazy = lazy, .value = v};
}

const union datum *exact_demand(struct exact *exact, struct lazy_task *lazy, value v)
{
    if (lazy->computed[v] == lazy->row + 1)
        return &lazy->memo[v];
    push(exact, lazy, v);
    return NULL;
}

/* The state is read before the value, and written after it. */
static enum value_state output_state(const struct output_values *output, int64_t row)
{
    if (!output->values)
        return VALUE_MISSING;
    if (!output->states)
        return VALUE_THERE;
    return (enum value_state)atomic_load_explicit((_Atomic uint8_t *)column_at(output->states, row),
                                                  memory_order_acquire);
}

/* Several threads may have computed the value: one of them writes it. */
static void cache_output(const struct output_values *output, int64_t row, union datum datum)
{
    uint8_t missing = VALUE_MISSING;
    _Atomic uint8_t *state = column_at(output->states, row);
    if (!atomic_compare_exchange_strong(state, &missing, VALUE_WRITING))
        return;
    column_set_datum(output->values, row, datum);
    atomic_store_explicit(state, VALUE_THERE, memory_order_release);
}

/* An output's value in a result row; `ready` is false if it has to be computed first. */
static enum status read_output(struct exact *exact, struct lazy_task *from, size_t k, int64_t row, union datum *result,
                               bool *ready)
{
    const struct output_values *output = &from->outputs[k];
    const enum value_state state = output_state(output, row);
    *ready = true;
    if (state == VALUE_FAILED)
        return exact->diags ? exact_operator_failure(exact, from, k, row) : STATUS_FAILED;
    if (state == VALUE_THERE) {
        *result = column_get_datum(output->values, row);
        return STATUS_OK;
    }
    const int64_t at = from->kept ? column_get_int(from->kept, row) : from->begin + row;
    if (at < 0) {
        *result = (union datum){0};
        return STATUS_OK;
    }
    from->row = at;
    const union datum *datum = exact_demand(exact, from, from->task->outputs[k].value);
    *ready = datum;
    if (!datum)
        return STATUS_OK;
    *result = *datum;
    if (output->values)
        cache_output(output, row, *datum);
    return STATUS_OK;
}

static int64_t input_rows(const struct exact *exact, const struct lazy_task *lazy, size_t k)
{
    return lazy->columns[k] ? lazy->columns[k]->rows : exact->row_counts[lazy->task->inputs[k].task->number];
}

/* Element `row` of an input, which exists; `ready` is false if an earlier task has to compute it first. */
static enum status read_element(struct exact *exact, const struct lazy_task *lazy, size_t k, int64_t row,
                                union datum *result, bool *ready)
{
    const struct input *input = &lazy->task->inputs[k];
    if (!lazy->columns[k])
        return read_output(exact, &exact->tasks[input->task->number], input->output, row, result, ready);
    *result = column_get_datum(lazy->columns[k], row);
    *ready = true;
    return STATUS_OK;
}

static enum status read_input(struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                              union datum *result, bool *ready)
{
    const size_t k = (size_t)instr->integer;
    const int64_t row = lazy->task->first + lazy->row + instr->offset;
    *result = (union datum){0};
    *ready = true;
    if (instr->offset != 0 && (row < 0 || row >= input_rows(exact, lazy, k)))
        return STATUS_OK;
    return read_element(exact, lazy, k, row, result, ready);
}

enum status exact_fail(const struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                       union datum a, union datum b)
{
    if (!exact->diags)
        return STATUS_FAILED;
    struct failure failure = {
        .task = lazy->task->stage_count > 0 ? lazy->task : NULL,
        .code = &lazy->task->code,
        .inputs = lazy->task->inputs,
        .instr = instr,
        .row = lazy->task->first + lazy->row + instr->shift,
        .looped = exact_round(lazy, instr) >= 0,
        .round = exact_round(lazy, instr),
        .a = a.integer,
        .b = b.integer,
        .number = a.number,
        .values = lazy->memo,
        .computed = lazy->computed,
        .computed_for = lazy->row + 1,
        .rows = instr->op == OP_GATHER ? input_rows(exact, lazy, (size_t)instr->integer) : 0,
    };
    return fail_operation(&failure, exact->diags);
}

static enum status gather(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result,
                          bool *ready)
{
    const size_t k = (size_t)instr->integer;
    const union datum *position = exact_demand(exact, lazy, instr->args[0]);
    *ready = position;
    if (!position)
        return STATUS_OK;
    if (position->integer < 0 || position->integer >= input_rows(exact, lazy, k))
        return exact_fail(exact, lazy, instr, *position, (union datum){0});
    return read_element(exact, lazy, k, position->integer, result, ready);
}

/* Evaluates &&, || and ?:, which read only the arguments they need. False: an argument has to be computed first. */
static bool read_lazily(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result)
{
    const union datum *first = exact_demand(exact, lazy, instr->args[0]);
    if (!first)
        return false;
    const bool truth = first->integer != 0;
    value rest = instr->args[1];
    if (instr->op == OP_SELECT) {
        rest = instr->args[truth ? 1 : 2];
    } else if (truth == (instr->op == OP_OR)) {
        *result = *first;
        return true;
    }
    const union datum *datum = exact_demand(exact, lazy, rest);
    if (datum)
        *result = *datum;
    return datum;
}

static enum status operate(struct exact *exact, struct lazy_task *lazy, const struct instr *instr, union datum *result,
                           bool *ready)
{
    const union datum *args[3] = {0};
    *ready = true;
    for (int i = 0; i < op_table[instr->op].arity && *ready; i++) {
        args[i] = exact_demand(exact, lazy, instr->args[i]);
        *ready = args[i];
    }
    if (!*ready)
        return STATUS_OK;
    union datum b = args[1] ? *args[1] : (union datum){0};
    if (!datum_operate(instr->op, lazy->task->code.at[instr->args[0]].kind, *args[0], b, result))
        return exact_fail(exact, lazy, instr, *args[0], b);
    return STATUS_OK;
}

/* Computes the value on top of the stack, or pushes one that has to be computed first. */
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
    case OP_FOLD:
        status = exact_run_fold(exact, lazy, top.value, &result, &ready);
        break;
    case OP_LOOP:
        status = exact_run_loop(exact, lazy, top.value, &ready);
        break;
    case OP_FINAL:
        ready = exact_demand(exact, lazy, instr->args[0]);
        if (ready)
            result = exact_final(lazy, instr);
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
        const enum status status = exact_cancelled(exact) ? STATUS_CANCELLED : step(exact);
        if (status != STATUS_OK) {
            exact->depth = 0;
            exact->failures++;
            return status;
        }
    }
    return STATUS_OK;
}

enum status exact_value(struct exact *exact, struct lazy_task *lazy, int64_t row, value v, union datum *result)
{
    lazy->row = row;
    exact_demand(exact, lazy, v);
    const enum status status = run_stack(exact);
    if (status == STATUS_OK)
        *result = lazy->memo[v];
    return status;
}

enum status exact_input(struct exact *exact, struct lazy_task *lazy, size_t input, int64_t row, union datum *result)
{
    bool ready = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !ready) {
        status = read_element(exact, lazy, input, lazy->task->first + row, result, &ready);
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
