/* Lazy evaluation, row by row.
 *
 * Each task has a memo: its values at one row. A value is computed when something reads it; what it is computed from,
 * also in earlier tasks, is computed first, by way of a stack of its own: expressions and chains of tasks may be far
 * longer than the C stack is deep. Reading a value of an earlier task moves that task to the row wanted. Tasks only
 * read earlier ones, so no task is moved while it is being evaluated. */
#include "exact.h"

#include "fail.h"
#include "fold.h"
#include "rows.h"
#include "run.h"

#include <stdlib.h>

union datum {
    int64_t integer; /* ints and bools */
    double number;
};

struct lazy_task {
    const struct task *task;
    int64_t row;       /* the task row whose values are being computed */
    union datum *memo; /* of each value, */
    int64_t *computed; /* and the row it was computed for, plus 1 */

    /* Result row i is task row kept[i], or without filters begin + i. */
    struct column *kept;
    int64_t begin;
    int64_t count;
};

struct frame {
    struct lazy_task *lazy;
    value value;
};

struct exact {
    struct arena *arena;
    struct lazy_task *tasks;
    int64_t *given;
    struct frame *stack;
    size_t depth, capacity;
    uint32_t ticks;
    const volatile sig_atomic_t *cancel;
    struct diags *diags;

    /* The last task's results: one of these. */
    struct agg_state *states;
    struct column **columns;
};

/* What to do with a row that passed the filters and the window. */
typedef enum status keep_fn(struct exact *exact, struct lazy_task *lazy, int64_t row);

static bool is_cancelled(struct exact *exact)
{
    enum { TICKS_BETWEEN_LOOKS = 1 << 14 };
    return ++exact->ticks % TICKS_BETWEEN_LOOKS == 0 && exact->cancel && *exact->cancel;
}

static void lazy_init(struct lazy_task *lazy, const struct task *task, struct arena *arena)
{
    lazy->task = task;
    lazy->memo = arena_array(arena, (size_t)task->code.count, sizeof *lazy->memo);
    lazy->computed = arena_array(arena, (size_t)task->code.count, sizeof *lazy->computed);
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

static union datum read_column(const struct column *column, enum kind kind, int64_t row)
{
    if (kind == KIND_FLOAT)
        return (union datum){.number = column_get_float(column, row)};
    return (union datum){.integer = column_get_int(column, row)};
}

/* An input's value at the task's row; false if an earlier task has to compute it first. */
static bool read_input(struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                       union datum *result)
{
    const struct input *input = &lazy->task->inputs[instr->integer];
    int64_t row = lazy->task->first + lazy->row;
    if (input->column) {
        *result = read_column(input->column, instr->kind, row);
        return true;
    }
    struct lazy_task *from = &exact->tasks[input->task->number];
    from->row = from->kept ? column_get_int(from->kept, row) : from->begin + row;
    const union datum *datum = demand(exact, from, from->task->outputs[input->output].value);
    if (datum)
        *result = *datum;
    return datum != NULL;
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

/* An operation on arguments at hand; false if it has no result. */
static bool operate(enum op op, enum kind argument_kind, union datum a, union datum b, union datum *result)
{
    if (op == OP_TO_FLOAT)
        result->number = (double)a.integer;
    else if (op == OP_TO_INT)
        return float_to_int(a.number, &result->integer);
    else if (op == OP_CMP_INT_FLOAT)
        result->integer = compare_int_float(a.integer, b.number);
    else if (argument_kind != KIND_FLOAT)
        return int_op(op, a.integer, b.integer, &result->integer);
    else if (op_table[op].result == OP_GIVES_BOOL)
        result->integer = float_compare(op, a.number, b.number);
    else
        result->number = float_op(op, a.number, b.number);
    return true;
}

static enum status fail(const struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                        union datum a, union datum b)
{
    struct failure failure = {
        .task = lazy->task->stage_count > 0 ? lazy->task : NULL,
        .code = &lazy->task->code,
        .instr = instr,
        .row = lazy->task->first + lazy->row,
        .a = a.integer,
        .b = b.integer,
        .number = a.number,
    };
    return fail_operation(&failure, exact->diags);
}

/* Computes the value on top of the stack, or puts on top what has to be computed first. */
static enum status step(struct exact *exact)
{
    const struct frame top = exact->stack[exact->depth - 1];
    struct lazy_task *lazy = top.lazy;
    const struct instr *instr = &lazy->task->code.at[top.value];
    const union datum *args[3] = {0};
    union datum result = {0};
    bool ready = true;
    switch (instr->op) {
    case OP_CONST:
        if (instr->kind == KIND_FLOAT)
            result.number = instr->number;
        else
            result.integer = instr->integer;
        break;
    case OP_ROW:
        result.integer = lazy->row;
        break;
    case OP_INPUT:
        ready = read_input(exact, lazy, instr, &result);
        break;
    case OP_AND:
    case OP_OR:
    case OP_SELECT:
        ready = read_lazily(exact, lazy, instr, &result);
        break;
    default:
        for (int i = 0; i < op_table[instr->op].arity && ready; i++) {
            args[i] = demand(exact, lazy, instr->args[i]);
            ready = args[i] != NULL;
        }
        if (!ready)
            break;
        union datum b = args[1] ? *args[1] : (union datum){0};
        if (!operate(instr->op, lazy->task->code.at[instr->args[0]].kind, *args[0], b, &result))
            return fail(exact, lazy, instr, *args[0], b);
    }
    if (ready) {
        lazy->memo[top.value] = result;
        lazy->computed[top.value] = lazy->row + 1;
        exact->depth--;
    }
    return STATUS_OK;
}

/* The value of a task at a row. */
static enum status evaluate(struct exact *exact, struct lazy_task *lazy, int64_t row, value v, union datum *result)
{
    lazy->row = row;
    demand(exact, lazy, v);
    while (exact->depth > 0) {
        if (is_cancelled(exact))
            return STATUS_CANCELLED;
        enum status status = step(exact);
        if (status != STATUS_OK)
            return status;
    }
    *result = lazy->memo[v];
    return STATUS_OK;
}

static enum status no_memory(const struct exact *exact, const struct task *task, int64_t rows)
{
    return diag_error(exact->diags, task->span, "not enough memory for %lld rows", (long long)rows);
}

static enum status list_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    (void)exact;
    *(int64_t *)column_at(lazy->kept, lazy->count++) = row;
    return STATUS_OK;
}

static enum status passes(struct exact *exact, struct lazy_task *lazy, int64_t row, bool *passed)
{
    const struct task *task = lazy->task;
    *passed = true;
    for (size_t i = 0; i < task->filter_count && *passed; i++) {
        union datum keep;
        enum status status = evaluate(exact, lazy, row, task->filters[i].keep, &keep);
        if (status != STATUS_OK)
            return status;
        *passed = keep.integer != 0;
    }
    return STATUS_OK;
}

/* Filters every row of the task and keeps those that pass and lie between the window's skip and take. */
static enum status filter_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, keep_fn *keep)
{
    const struct window *window = &lazy->task->window;
    int64_t passed_rows = 0;
    for (int64_t row = 0; row < rows; row++) {
        bool passed;
        enum status status = passes(exact, lazy, row, &passed);
        if (status != STATUS_OK)
            return status;
        if (is_cancelled(exact))
            return STATUS_CANCELLED;
        if (!passed)
            continue;
        int64_t number = passed_rows++ - window->skip;
        if (number >= 0 && number < window->take)
            status = keep(exact, lazy, row);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Finds out which rows the task's results are, without computing them. */
static enum status map_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows)
{
    const struct task *task = lazy->task;
    int64_t end;
    if (task->filter_count == 0) {
        rows_kept(&task->window, rows, &lazy->begin, &end);
        lazy->count = end - lazy->begin;
        return STATUS_OK;
    }
    lazy->kept = column_reserve(TYPE_I64, TYPE_I64, rows);
    if (!lazy->kept)
        return no_memory(exact, task, rows);
    enum status status = filter_rows(exact, lazy, rows, list_row);
    if (status != STATUS_OK || task->window.tail < 0)
        return status;
    rows_kept(&task->window, lazy->count, &lazy->begin, &end);
    for (int64_t i = lazy->begin; i < end && lazy->begin > 0; i++)
        *(int64_t *)column_at(lazy->kept, i - lazy->begin) = column_get_int(lazy->kept, i);
    lazy->count = end - lazy->begin;
    return STATUS_OK;
}

static void store_int(struct column *column, int64_t row, int64_t v)
{
    void *at = column_at(column, row);
    switch (column->store) {
    case TYPE_BOOL:
    case TYPE_U8:
        *(uint8_t *)at = (uint8_t)v;
        break;
    case TYPE_I8:
        *(int8_t *)at = (int8_t)v;
        break;
    case TYPE_I16:
        *(int16_t *)at = (int16_t)v;
        break;
    case TYPE_U16:
        *(uint16_t *)at = (uint16_t)v;
        break;
    case TYPE_I32:
        *(int32_t *)at = (int32_t)v;
        break;
    case TYPE_U32:
        *(uint32_t *)at = (uint32_t)v;
        break;
    default:
        *(int64_t *)at = v;
        break;
    }
}

static void store_float(struct column *column, int64_t row, double v)
{
    if (column->store == TYPE_F32)
        *(float *)column_at(column, row) = (float)v;
    else
        *(double *)column_at(column, row) = v;
}

static enum status give_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    const struct task *task = lazy->task;
    for (size_t k = 0; k < task->output_count; k++) {
        union datum datum;
        enum status status = evaluate(exact, lazy, row, task->outputs[k].value, &datum);
        if (status != STATUS_OK)
            return status;
        if (task->code.at[task->outputs[k].value].kind == KIND_FLOAT)
            store_float(exact->columns[k], exact->columns[k]->rows, datum.number);
        else
            store_int(exact->columns[k], exact->columns[k]->rows, datum.integer);
        exact->columns[k]->rows++;
    }
    return STATUS_OK;
}

static enum status aggregate_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    const struct task *task = lazy->task;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        value v = task->aggregates[i].value;
        union datum datum = {0};
        enum status status = v == NO_VALUE ? STATUS_OK : evaluate(exact, lazy, row, v, &datum);
        if (status != STATUS_OK)
            return status;
        if (v != NO_VALUE && task->code.at[v].kind == KIND_FLOAT)
            agg_add_float(&exact->states[i], datum.number);
        else
            agg_add_int(&exact->states[i], datum.integer);
    }
    return STATUS_OK;
}

/* Filters and uses the rows of the last task in one pass, so that the first failing row is found; a tail is only known
 * once all rows have been filtered. */
static enum status use_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, keep_fn *use)
{
    if (lazy->task->filter_count > 0 && lazy->task->window.tail < 0)
        return filter_rows(exact, lazy, rows, use);
    enum status status = map_rows(exact, lazy, rows);
    for (int64_t i = 0; i < lazy->count && status == STATUS_OK; i++) {
        status = use(exact, lazy, lazy->kept ? column_get_int(lazy->kept, i) : lazy->begin + i);
        if (is_cancelled(exact))
            return STATUS_CANCELLED;
    }
    return status;
}

static enum status last_aggregates(struct exact *exact, struct lazy_task *lazy, int64_t rows, struct result *result)
{
    const struct task *task = lazy->task;
    exact->states = arena_array(exact->arena, task->aggregate_count, sizeof *exact->states);
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_init(&exact->states[i], &task->aggregates[i], &task->code);
    enum status status = use_rows(exact, lazy, rows, aggregate_row);
    if (status != STATUS_OK)
        return status;
    bool certain;
    result->kind = RESULT_SCALAR;
    return agg_finish(&exact->states[0], &task->aggregates[0], &result->scalar, &certain, exact->diags);
}

static enum status last_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, struct result *result)
{
    const struct task *task = lazy->task;
    const char **names = arena_array(exact->arena, task->output_count, sizeof *names);
    exact->columns = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        names[k] = task->outputs[k].name;
        exact->columns[k] = column_reserve(task->outputs[k].type, task->outputs[k].type, rows);
        if (!exact->columns[k])
            status = no_memory(exact, task, rows);
    }
    if (status == STATUS_OK)
        status = use_rows(exact, lazy, rows, give_row);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++)
        column_finish(exact->columns[k], exact->columns[k]->rows);
    if (status == STATUS_OK) {
        int64_t given = task->output_count > 0 ? exact->columns[0]->rows : 0;
        result->kind = RESULT_RELATION;
        result->relation = relation_new(given, task->output_count, exact->columns, names);
    }
    for (size_t k = 0; k < task->output_count; k++)
        column_unref(exact->columns[k]);
    return status;
}

static enum status run_task(struct exact *exact, struct lazy_task *lazy, bool last, struct result *result)
{
    int64_t rows;
    enum status status = rows_read(lazy->task, exact->given, &rows, exact->diags);
    if (status != STATUS_OK)
        return status;
    if (!last)
        status = map_rows(exact, lazy, rows);
    else if (lazy->task->sink == SINK_AGGREGATE)
        status = last_aggregates(exact, lazy, rows, result);
    else
        status = last_rows(exact, lazy, rows, result);
    exact->given[lazy->task->number] = lazy->count;
    return status;
}

enum status exact_run(const struct queue *fused, struct result *result, const volatile sig_atomic_t *cancel,
                      struct diags *diags)
{
    struct exact exact = {.arena = arena_new(), .cancel = cancel, .diags = diags};
    exact.tasks = arena_array(exact.arena, fused->count, sizeof *exact.tasks);
    exact.given = arena_array(exact.arena, fused->count, sizeof *exact.given);
    enum status status = STATUS_OK;
    for (size_t t = 0; t < fused->count && status == STATUS_OK; t++) {
        lazy_init(&exact.tasks[t], fused->tasks[t], exact.arena);
        status = run_task(&exact, &exact.tasks[t], t + 1 == fused->count, result);
    }
    for (size_t t = 0; t < fused->count; t++)
        column_unref(exact.tasks[t].kept);
    arena_free(exact.arena);
    return status;
}

enum status exact_constant(const struct code *code, value root, struct scalar *result, struct diags *diags)
{
    const struct task task = {.code = *code};
    struct exact exact = {.arena = arena_new(), .diags = diags};
    struct lazy_task lazy = {0};
    lazy_init(&lazy, &task, exact.arena);
    union datum datum;
    enum status status = evaluate(&exact, &lazy, 0, root, &datum);
    arena_free(exact.arena);
    if (status != STATUS_OK)
        return status;
    enum kind kind = code->at[root].kind;
    *result = kind == KIND_FLOAT ? scalar_float(datum.number)
              : kind == KIND_INT ? scalar_int(datum.integer)
                                 : scalar_bool(datum.integer != 0);
    return STATUS_OK;
}
