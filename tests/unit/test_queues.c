/* Random queues of all kinds of tasks: neighbours, elements of whole columns, operators, filters, windows. Fused and
 * unfused, by the evaluator and exactly, against a naive reference that computes a whole table at a time and reports
 * a failed value only once it is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/exact/exact.h"
#include "engine/optimize/optimize.h"
#include "engine/task/run_queue.h"
#include "evaluators.h"
#include "random_code.h"

#include <math.h>

enum { COLUMNS = 3, MOST_TASKS = 6, MOST_INPUTS = 8, MOST_OUTPUTS = 4, MOST_ROWS = 24, QUEUES = 6000 };

static const struct span nowhere = {0};
static const enum kind column_kinds[COLUMNS] = {KIND_INT, KIND_FLOAT, KIND_BOOL};

struct table {
    int64_t rows;
    struct cell cells[MOST_OUTPUTS][2 * MOST_ROWS];
};

struct trial {
    struct arena *arena;
    struct diags diags;
    struct queue queue, fused;
    struct column *columns[COLUMNS];
    int64_t rows;
    struct table tables[MOST_TASKS]; /* output of each task */
    bool failed;
};

static struct column *random_column(struct random *random, enum kind kind, int64_t rows, bool tame)
{
    struct column *column = column_reserve(type_of_kind(kind), type_of_kind(kind), rows);
    for (int64_t i = 0; i < rows; i++) {
        void *at = column_at(column, i);
        if (kind == KIND_FLOAT)
            *(double *)at = tame ? (random_below(random, 9) - 4) / 2.0 : random_float(random);
        else if (kind == KIND_BOOL)
            *(uint8_t *)at = (uint8_t)random_below(random, 2);
        else
            *(int64_t *)at = tame ? random_below(random, 9) - 4 : random_int(random);
    }
    column_finish(column, rows);
    return column;
}

/* Adds the task's inputs: the previous task's outputs, or the columns. */
static void add_inputs(struct trial *trial, struct task *task)
{
    const struct task *before = task->number > 0 ? trial->queue.tasks[task->number - 1] : NULL;
    task->inputs = arena_array(trial->arena, MOST_INPUTS, sizeof *task->inputs);
    task->input_count = before ? before->output_count : COLUMNS;
    task->rows = before ? -1 : trial->rows;
    task->rows_from = before ? trial->queue.tasks[task->number - 1] : NULL;
    for (size_t k = 0; k < task->input_count; k++) {
        struct input input = {.output = k, .name = "c"};
        input.column = before ? NULL : trial->columns[k];
        input.task = task->rows_from;
        input.type = before ? before->outputs[k].type : trial->columns[k]->type;
        task->inputs[k] = input;
    }
}

static enum kind input_kind(const struct task *task, size_t k)
{
    return type_table[task->inputs[k].type].kind;
}

/* A neighbour's value as a stencil reads it, with a bounds check. */
static value add_neighbour(struct random *random, struct task *task)
{
    struct code *code = &task->code;
    size_t k = 0;
    do
        k = (size_t)random_below(random, (int)task->input_count);
    while (task->inputs[k].whole);
    enum kind kind = input_kind(task, k);
    int64_t offset = random_below(random, 7) - 3;
    value at = code_op(code, OP_ADD, code_row(code, nowhere), code_exact_int(code, offset, nowhere), NO_VALUE, nowhere);
    value from = code_op(code, OP_LE, code_exact_int(code, 0, nowhere), at, NO_VALUE, nowhere);
    value to = code_op(code, OP_LT, at, code_rows(code, nowhere), NO_VALUE, nowhere);
    value outside = kind == KIND_FLOAT  ? code_float(code, 0.5, nowhere)
                    : kind == KIND_BOOL ? code_bool(code, true, nowhere)
                                        : code_int(code, 3, nowhere);
    value inside = code_op(code, OP_AND, from, to, NO_VALUE, nowhere);
    struct input *input = &task->inputs[k];
    return code_op(code, OP_SELECT, inside, input_value_at(code, (int64_t)k, offset, input, nowhere), outside, nowhere);
}

/* Neighbours, each combined with another value of its kind. */
static void add_neighbours(struct random *random, struct task *task)
{
    struct code *code = &task->code;
    value others[3] = {0};
    int32_t count = code->count; /* excludes the bare neighbours added below */
    for (int kind = 0; kind < 3; kind++) {
        others[kind] = count - 1;
        while (code->at[others[kind]].kind != (enum kind)kind)
            others[kind]--;
    }
    for (int i = random_below(random, 4); i > 0; i--) {
        static const enum op ops[] = {OP_ADD, OP_SUB, OP_MAX, OP_LT};
        value at = add_neighbour(random, task);
        enum kind kind = code->at[at].kind;
        enum op op = kind == KIND_BOOL ? OP_NE : ops[random_below(random, 4)];
        value joined = code_op(code, op, others[kind], at, NO_VALUE, nowhere);
        if (code->at[joined].kind == kind)
            others[kind] = joined;
    }
}

/* Any value except an unchecked neighbour. */
static value any_value(struct random *random, const struct code *code, enum kind kind, bool of_kind)
{
    value v;
    do
        v = of_kind ? random_value(random, code, kind) : code->count - 1 - random_below(random, code->count);
    while (code->at[v].op == OP_INPUT && code->at[v].offset != 0);
    return v;
}

/* An element of a column, or of any earlier task's output. */
static void add_element(struct random *random, struct trial *trial, struct task *task)
{
    struct code *code = &task->code;
    struct input input = {.name = "w", .whole = true};
    if (task->number == 0 || random_below(random, 3) == 0) {
        input.column = trial->columns[random_below(random, COLUMNS)];
        input.type = input.column->type;
    } else {
        input.task = trial->queue.tasks[random_below(random, (int)task->number)];
        input.output = (size_t)random_below(random, (int)input.task->output_count);
        input.type = input.task->outputs[input.output].type;
    }
    value row = code_row(code, nowhere);
    value back = code_op(code, OP_SUB, code_rows(code, nowhere), row, NO_VALUE, nowhere);
    value mirrored = code_op(code, OP_SUB, back, code_exact_int(code, 1, nowhere), NO_VALUE, nowhere);
    task->inputs[task->input_count] = input;
    code_gather(code, (int64_t)task->input_count++, type_table[input.type].kind,
                random_below(random, 2) == 0 ? row : mirrored, nowhere);
}

static void add_rows_task(struct random *random, struct trial *trial, struct task *task)
{
    enum kind kinds[MOST_INPUTS];
    size_t aligned = task->input_count;
    for (size_t k = 0; k < aligned; k++) {
        kinds[k] = input_kind(task, k);
        input_value(&task->code, (int64_t)k, &task->inputs[k], nowhere);
    }
    if (random_below(random, 3) == 0)
        add_element(random, trial, task);
    random_program(random, &task->code, kinds, (int)aligned, random_below(random, 8), false);
    add_neighbours(random, task);
    task->filters = arena_array(trial->arena, 1, sizeof *task->filters);
    switch (random_below(random, 6)) {
    case 0:
        task->filter_count = 1;
        task->filters[0].keep = any_value(random, &task->code, KIND_BOOL, true);
        break;
    case 1:
        task->window.skip = random_below(random, 4);
        task->window.take = random_below(random, MOST_ROWS);
        break;
    case 2:
        task->window.tail = random_below(random, MOST_ROWS);
        break;
    default:
        break;
    }
    task->output_count = 1 + (size_t)random_below(random, 3);
    task->outputs = arena_array(trial->arena, MOST_OUTPUTS, sizeof *task->outputs);
    for (size_t k = 0; k < task->output_count; k++) {
        value v = random_below(random, 3) == 0 ? random_below(random, (int)aligned)
                                               : any_value(random, &task->code, KIND_INT, false);
        task->outputs[k] = (struct output){.value = v, .name = "c", .type = type_of_kind(task->code.at[v].kind)};
    }
}

/* Columns carried through sort, distinct and scatter. */
static void carry_all(struct task *task)
{
    task->output_count = task->input_count < MOST_OUTPUTS ? task->input_count : MOST_OUTPUTS;
    for (size_t k = 0; k < task->output_count; k++)
        task->outputs[k] = (struct output){.value = code_input(&task->code, (int64_t)k, input_kind(task, k), nowhere),
                                           .name = "c",
                                           .type = task->inputs[k].type};
}

/* A numeric input, if there is one. */
static size_t number_input(struct random *random, const struct task *task)
{
    size_t k = (size_t)random_below(random, (int)task->input_count);
    for (size_t i = 0; i < task->input_count && input_kind(task, k) == KIND_BOOL; i++)
        k = i;
    return k;
}

static void add_scan(struct random *random, struct trial *trial, struct task *task)
{
    static const enum aggregate_kind ints[] = {AGG_SUM, AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_XOR, AGG_BITAND};
    struct column_operator *column_op = task->column_op;
    size_t k = number_input(random, task);
    enum kind kind = input_kind(task, k);
    column_op->keys[0] = k;
    column_op->key_count = 1;
    column_op->stride = random_below(random, 4) == 0 ? 3 : 1;
    column_op->segment = column_op->stride == 1 && random_below(random, 4) == 0 ? 4 : 0;
    column_op->exclusive = random_below(random, 2) == 0;
    struct aggregate aggregate = {.kind = ints[random_below(random, kind == KIND_FLOAT ? 5 : 7)]};
    if (kind == KIND_BOOL)
        aggregate.kind = AGG_MAX;
    bool bounds = aggregate.kind == AGG_MIN || aggregate.kind == AGG_MAX;
    aggregate.has_initial = random_below(random, 3) == 0 || (bounds && column_op->exclusive);
    aggregate.initial = kind == KIND_FLOAT  ? scalar_float(0.25)
                        : kind == KIND_BOOL ? scalar_bool(false)
                                            : scalar_int(3);
    aggregate.value = code_input(&task->code, (int64_t)k, kind, nowhere);
    task->aggregates = arena_array(trial->arena, 1, sizeof aggregate);
    task->aggregates[0] = aggregate;
    task->aggregate_count = 1;
    task->output_count = 1;
    task->outputs[0] = (struct output){.value = NO_VALUE, .name = "c", .type = type_of_kind(kind)};
}

static void add_group(struct random *random, struct trial *trial, struct task *task)
{
    struct column_operator *column_op = task->column_op;
    column_op->key_count = 1 + (size_t)random_below(random, task->input_count > 1 ? 2 : 1);
    for (size_t i = 0; i < column_op->key_count; i++) {
        size_t k = column_op->keys[i] = (size_t)random_below(random, (int)task->input_count);
        task->outputs[task->output_count++] =
            (struct output){.value = code_input(&task->code, (int64_t)k, input_kind(task, k), nowhere),
                            .name = "k",
                            .type = task->inputs[k].type};
    }
    task->aggregate_count = (size_t)random_below(random, 3);
    task->aggregates = arena_array(trial->arena, 2, sizeof *task->aggregates);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        static const enum aggregate_kind kinds[] = {AGG_SUM, AGG_COUNT, AGG_MIN, AGG_MAX, AGG_MEAN};
        struct aggregate *aggregate = &task->aggregates[i];
        size_t k = number_input(random, task);
        enum kind kind = input_kind(task, k);
        aggregate->kind = kind == KIND_BOOL ? AGG_COUNT : kinds[random_below(random, 5)];
        bool counts = aggregate->kind == AGG_COUNT;
        aggregate->value = counts ? NO_VALUE : code_input(&task->code, (int64_t)k, kind, nowhere);
        kind = counts ? KIND_INT : aggregate->kind == AGG_MEAN ? KIND_FLOAT : kind;
        task->outputs[task->output_count++] =
            (struct output){.value = NO_VALUE, .name = "a", .type = type_of_kind(kind)};
    }
}

/* Scatter needs positions: a task that returns reversed row numbers, or slightly out of range ones. */
static void add_scatter(struct random *random, struct trial *trial, struct task *task)
{
    struct task *positions = task;
    struct code *code = &positions->code;
    value back = code_op(code, OP_SUB, code_rows(code, nowhere), code_row(code, nowhere), NO_VALUE, nowhere);
    value mirrored =
        code_op(code, OP_SUB, back, code_exact_int(code, random_below(random, 6) > 0, nowhere), NO_VALUE, nowhere);
    positions->outputs[0] = (struct output){.value = mirrored, .name = "p", .type = TYPE_I64};
    size_t carried = positions->input_count < 2 ? positions->input_count : 2;
    for (size_t k = 0; k < carried; k++)
        positions->outputs[k + 1] =
            (struct output){.value = input_value(code, (int64_t)k, &positions->inputs[k], nowhere),
                            .name = "c",
                            .type = positions->inputs[k].type};
    positions->output_count = carried + 1;
    task = queue_add(&trial->queue);
    add_inputs(trial, task);
    task->sink = SINK_OPERATOR;
    task->outputs = arena_array(trial->arena, MOST_OUTPUTS, sizeof *task->outputs);
    task->column_op = arena_alloc(trial->arena, sizeof *task->column_op);
    task->column_op->kind = OPERATOR_SCATTER;
    task->column_op->keys = arena_array(trial->arena, 1, sizeof *task->column_op->keys);
    task->column_op->key_count = 1;
    task->column_op->into = random_below(random, 2) == 0 ? -1 : MOST_ROWS + 3;
    code_input(&task->code, 0, KIND_INT, nowhere);
    for (size_t k = 1; k < task->input_count; k++)
        task->outputs[task->output_count++] =
            (struct output){.value = code_input(&task->code, (int64_t)k, input_kind(task, k), nowhere),
                            .name = "c",
                            .type = task->inputs[k].type};
}

static void add_breaker(struct random *random, struct trial *trial, struct task *task)
{
    enum operator_kind kind = (enum operator_kind)random_below(random, OPERATOR_SCATTER + 1);
    task->outputs = arena_array(trial->arena, MOST_OUTPUTS, sizeof *task->outputs);
    if (kind == OPERATOR_SCATTER) {
        add_scatter(random, trial, task);
        return;
    }
    struct column_operator *column_op = task->column_op = arena_alloc(trial->arena, sizeof *column_op);
    task->sink = SINK_OPERATOR;
    column_op->kind = kind;
    column_op->stride = 1;
    column_op->keys = arena_array(trial->arena, 2, sizeof *column_op->keys);
    column_op->descending = arena_array(trial->arena, 2, sizeof *column_op->descending);
    if (kind == OPERATOR_SCAN) {
        add_scan(random, trial, task);
    } else if (kind == OPERATOR_GROUP) {
        add_group(random, trial, task);
    } else {
        carry_all(task);
        column_op->key_count =
            kind == OPERATOR_SORT ? 1 + (size_t)(random_below(random, 2) && task->input_count > 1) : 0;
        for (size_t i = 0; i < column_op->key_count; i++) {
            column_op->keys[i] = (size_t)random_below(random, (int)task->input_count);
            column_op->descending[i] = random_below(random, 2) == 0;
        }
    }
}

static void trial_init(struct trial *trial, struct random *random)
{
    *trial = (struct trial){.arena = arena_new(), .rows = random_below(random, MOST_ROWS)};
    bool tame = random_below(random, 2) != 0;
    diags_init(&trial->diags, trial->arena);
    queue_init(&trial->queue, trial->arena);
    queue_init(&trial->fused, trial->arena);
    for (int k = 0; k < COLUMNS; k++)
        queue_hold(&trial->queue, trial->columns[k] = random_column(random, column_kinds[k], trial->rows, tame));
    int tasks = 1 + random_below(random, MOST_TASKS - 1);
    while ((int)trial->queue.count < tasks) {
        struct task *task = queue_add(&trial->queue);
        add_inputs(trial, task);
        if (task->number == 0 && random_below(random, 2) == 0) { /* a plain load */
            task->outputs = arena_array(trial->arena, MOST_OUTPUTS, sizeof *task->outputs);
            carry_all(task);
        } else if (random_below(random, 2) == 0) {
            add_rows_task(random, trial, task);
        } else {
            add_breaker(random, trial, task);
        }
    }
    queue_prune(&trial->queue);
    optimize_queue(&trial->queue, &trial->fused);
}

static void trial_free(struct trial *trial)
{
    queue_release(&trial->fused);
    queue_release(&trial->queue);
    arena_free(trial->arena);
}

/* The reference. */
struct reader {
    const struct trial *trial;
    const struct task *task;
};

static struct cell element_of(const void *context, int64_t input, int64_t at)
{
    const struct reader *reader = context;
    const struct input *from = &reader->task->inputs[input];
    if (from->task)
        return reader->trial->tables[from->task->number].cells[from->output][at];
    struct scalar scalar = column_get(from->column, at);
    return (struct cell){.integer = (int64_t)scalar.integer, .number = scalar.number};
}

static int64_t length_of(const void *context, int64_t input)
{
    const struct reader *reader = context;
    const struct input *from = &reader->task->inputs[input];
    return from->task ? reader->trial->tables[from->task->number].rows : from->column->rows;
}

static int64_t rows_of(const struct trial *trial, const struct task *task)
{
    return task->rows_from ? trial->tables[task->rows_from->number].rows : trial->rows;
}

static void expect_rows(struct trial *trial, const struct task *task, struct table *table)
{
    const struct reader reader = {trial, task};
    int64_t rows = rows_of(trial, task);
    const struct surroundings around = {.context = &reader, .element = element_of, .length = length_of, .rows = rows};
    struct cell *cells = arena_array(trial->arena, (size_t)task->code.count, sizeof *cells);
    for (int64_t row = 0; row < rows; row++) {
        struct cell inputs[MOST_INPUTS] = {{0}};
        for (size_t k = 0; k < task->input_count; k++) {
            if (!task->inputs[k].whole)
                inputs[k] = element_of(&reader, (int64_t)k, row);
        }
        memset(cells, 0, (size_t)task->code.count * sizeof *cells);
        struct cell keep = {.integer = 1};
        if (task->filter_count > 0)
            keep = lazy_value_in(&task->code, task->filters[0].keep, inputs, row, &around, cells);
        trial->failed = trial->failed || keep.failed;
        for (size_t k = 0; k < task->output_count && keep.integer; k++)
            table->cells[k][table->rows] =
                lazy_value_in(&task->code, task->outputs[k].value, inputs, row, &around, cells);
        table->rows += keep.integer != 0;
    }
    const struct window *window = &task->window;
    int64_t begin = window->skip < table->rows ? window->skip : table->rows;
    if (window->tail >= 0)
        begin = table->rows > window->tail ? table->rows - window->tail : 0;
    int64_t left = table->rows - begin < window->take ? table->rows - begin : window->take;
    for (size_t k = 0; k < task->output_count; k++)
        memmove(table->cells[k], table->cells[k] + begin, (size_t)left * sizeof(struct cell));
    table->rows = left;
}

static int compare_cells(const struct cell *a, const struct cell *b, enum kind kind, bool descending)
{
    if (kind == KIND_FLOAT && (isnan(a->number) || isnan(b->number)))
        return (isnan(a->number) != 0) - (isnan(b->number) != 0);
    int order = kind == KIND_FLOAT ? (a->number > b->number) - (a->number < b->number)
                                   : (a->integer > b->integer) - (a->integer < b->integer);
    return descending ? -order : order;
}

/* Compares two rows of the task's inputs by the keys. */
static int compare_rows(const struct reader *reader, const size_t *keys, const bool *descending, size_t count,
                        int64_t a, int64_t b)
{
    int order = 0;
    for (size_t i = 0; i < count && order == 0; i++) {
        struct cell x = element_of(reader, (int64_t)keys[i], a), y = element_of(reader, (int64_t)keys[i], b);
        order = compare_cells(&x, &y, input_kind(reader->task, keys[i]), descending && descending[i]);
    }
    return order;
}

static void need_input(struct trial *trial, const struct reader *reader, size_t k)
{
    for (int64_t row = 0; row < rows_of(trial, reader->task); row++)
        trial->failed = trial->failed || element_of(reader, (int64_t)k, row).failed;
}

/* Row numbers in key order, by insertion sort. */
static void sort_rows(const struct reader *reader, int64_t rows, int64_t *sorted)
{
    const struct column_operator *column_op = reader->task->column_op;
    for (int64_t row = 0; row < rows; row++) {
        int64_t at = row;
        while (at > 0 && compare_rows(reader, column_op->keys, column_op->descending, column_op->key_count,
                                      sorted[at - 1], row) > 0) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = row;
    }
}

static size_t carried(const struct task *task, size_t k)
{
    return (size_t)task->code.at[task->outputs[k].value].integer;
}

static void carry_row(const struct reader *reader, struct table *table, int64_t to, int64_t row)
{
    for (size_t k = 0; k < reader->task->output_count; k++) {
        struct cell zero = {0};
        table->cells[k][to] = row < 0 ? zero : element_of(reader, (int64_t)carried(reader->task, k), row);
    }
}

static void expect_distinct(struct trial *trial, const struct reader *reader, struct table *table)
{
    const struct task *task = reader->task;
    size_t keys[MOST_OUTPUTS];
    for (size_t k = 0; k < task->output_count; k++) {
        keys[k] = carried(task, k);
        need_input(trial, reader, keys[k]);
    }
    for (int64_t row = 0; row < rows_of(trial, task); row++) {
        bool seen = false;
        for (int64_t before = 0; before < row && !seen; before++)
            seen = compare_rows(reader, keys, NULL, task->output_count, before, row) == 0;
        if (!seen)
            carry_row(reader, table, table->rows++, row);
    }
}

static void expect_scatter(struct trial *trial, const struct reader *reader, struct table *table)
{
    int64_t rows = rows_of(trial, reader->task), into = reader->task->column_op->into;
    table->rows = into < 0 ? rows : into;
    bool taken[2 * MOST_ROWS] = {0};
    for (int64_t to = 0; to < table->rows; to++)
        carry_row(reader, table, to, -1);
    for (int64_t row = 0; row < rows; row++) {
        struct cell position = element_of(reader, (int64_t)reader->task->column_op->keys[0], row);
        if (position.failed || position.integer < 0 || position.integer >= table->rows || taken[position.integer]) {
            trial->failed = true;
            return;
        }
        taken[position.integer] = true;
        carry_row(reader, table, position.integer, row);
    }
}

/* The aggregate of some rows, as a cell. */
static struct cell aggregate_rows(const struct reader *reader, const struct aggregate *aggregate, const int64_t *rows,
                                  int64_t count)
{
    const struct code *code = &reader->task->code;
    struct agg_state state;
    struct aggregate plain = *aggregate;
    plain.has_initial = false;
    agg_init(&state, aggregate, code);
    if (aggregate->has_initial)
        agg_add(&state, &aggregate->initial);
    for (int64_t i = 0; i < count; i++) {
        struct cell cell = {0};
        if (aggregate->value != NO_VALUE)
            cell = element_of(reader, code->at[aggregate->value].integer, rows[i]);
        if (state.type == KIND_FLOAT)
            agg_add_float(&state, cell.number);
        else
            agg_add_int(&state, cell.integer);
    }
    struct scalar scalar;
    bool certain;
    bool good = agg_value(&state, &plain, &scalar, &certain) && (scalar.kind == KIND_FLOAT || scalar_fits(&scalar));
    return (struct cell){.integer = good ? (int64_t)scalar.integer : 0, .number = scalar.number, .failed = !good};
}

static void expect_scan(struct trial *trial, const struct reader *reader, struct table *table)
{
    const struct column_operator *column_op = reader->task->column_op;
    table->rows = rows_of(trial, reader->task);
    need_input(trial, reader, column_op->keys[0]);
    for (int64_t row = 0; row < table->rows; row++) {
        int64_t first = column_op->segment > 0 ? row - row % column_op->segment : row % column_op->stride;
        int64_t chain[MOST_ROWS * 2], count = 0;
        for (int64_t at = first; at <= row; at += column_op->stride) {
            if (at < row || !column_op->exclusive)
                chain[count++] = at;
        }
        table->cells[0][row] = aggregate_rows(reader, &reader->task->aggregates[0], chain, count);
    }
}

/* Whether the fused queue needs output k of the operator. */
static bool fused_needs(const struct trial *trial, const struct task *task, size_t k)
{
    size_t n = 0;
    for (size_t t = 0; t < task->number; t++)
        n += trial->queue.tasks[t]->sink == SINK_OPERATOR;
    for (size_t t = 0; t < trial->fused.count; t++) {
        if (trial->fused.tasks[t]->sink == SINK_OPERATOR && n-- == 0)
            return trial->fused.tasks[t]->outputs[k].needed;
    }
    fail_msg("a breaker is missing");
    return false;
}

static void expect_group(struct trial *trial, const struct reader *reader, struct table *table)
{
    const struct task *task = reader->task;
    const struct column_operator *column_op = task->column_op;
    int64_t rows = rows_of(trial, task), sorted[2 * MOST_ROWS];
    for (size_t i = 0; i < column_op->key_count; i++)
        need_input(trial, reader, column_op->keys[i]);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].value != NO_VALUE && fused_needs(trial, task, column_op->key_count + i))
            need_input(trial, reader, (size_t)task->code.at[task->aggregates[i].value].integer);
    }
    sort_rows(reader, rows, sorted);
    for (int64_t begin = 0, end; begin < rows; begin = end) {
        for (end = begin + 1; end < rows; end++) {
            if (compare_rows(reader, column_op->keys, NULL, column_op->key_count, sorted[begin], sorted[end]) != 0)
                break;
        }
        for (size_t i = 0; i < column_op->key_count; i++)
            table->cells[i][table->rows] = element_of(reader, (int64_t)column_op->keys[i], sorted[begin]);
        for (size_t i = 0; i < task->aggregate_count; i++)
            table->cells[column_op->key_count + i][table->rows] =
                aggregate_rows(reader, &task->aggregates[i], sorted + begin, end - begin);
        table->rows++;
    }
}

static void expect_sort(struct trial *trial, const struct reader *reader, struct table *table)
{
    const struct column_operator *column_op = reader->task->column_op;
    int64_t sorted[2 * MOST_ROWS];
    for (size_t i = 0; i < column_op->key_count; i++)
        need_input(trial, reader, column_op->keys[i]);
    table->rows = rows_of(trial, reader->task);
    sort_rows(reader, table->rows, sorted);
    for (int64_t row = 0; row < table->rows; row++)
        carry_row(reader, table, row, sorted[row]);
}

static void expect(struct trial *trial)
{
    for (size_t t = 0; t < trial->queue.count && !trial->failed; t++) {
        const struct task *task = trial->queue.tasks[t];
        const struct reader reader = {trial, task};
        struct table *table = &trial->tables[t];
        if (task->sink == SINK_ROWS)
            expect_rows(trial, task, table);
        else if (task->column_op->kind == OPERATOR_SCAN)
            expect_scan(trial, &reader, table);
        else if (task->column_op->kind == OPERATOR_SORT)
            expect_sort(trial, &reader, table);
        else if (task->column_op->kind == OPERATOR_GROUP)
            expect_group(trial, &reader, table);
        else if (task->column_op->kind == OPERATOR_DISTINCT)
            expect_distinct(trial, &reader, table);
        else
            expect_scatter(trial, &reader, table);
    }
    const struct task *last = trial->queue.tasks[trial->queue.count - 1];
    const struct table *table = &trial->tables[trial->queue.count - 1];
    for (size_t k = 0; k < last->output_count; k++) {
        for (int64_t row = 0; row < table->rows; row++)
            trial->failed = trial->failed || table->cells[k][row].failed;
    }
}

/* Group outputs that only the unfused queue needs can fail there. */
static bool needs_alike(const struct trial *trial)
{
    bool alike = true;
    for (size_t t = 0; t < trial->queue.count; t++) {
        const struct task *task = trial->queue.tasks[t];
        for (size_t k = 0;
             k < task->output_count && task->sink == SINK_OPERATOR && task->column_op->kind == OPERATOR_GROUP; k++)
            alike = alike && task->outputs[k].needed == fused_needs(trial, task, k);
    }
    return alike;
}

static bool same_cell(const struct scalar *actual, const struct cell *wanted)
{
    if (actual->kind != KIND_FLOAT)
        return actual->integer == wanted->integer;
    return actual->number == wanted->number || (isnan(actual->number) && isnan(wanted->number));
}

static void check_result(const struct trial *trial, uint64_t seed, int way, enum status status,
                         const struct result *result)
{
    if (status != (trial->failed ? STATUS_FAILED : STATUS_OK))
        fail_msg("seed %d, way %d: %s", (int)seed, way,
                 status == STATUS_OK ? "an error was missed" : trial->diags.at[0].message);
    if (status != STATUS_OK)
        return;
    const struct task *last = trial->queue.tasks[trial->queue.count - 1];
    const struct table *table = &trial->tables[trial->queue.count - 1];
    if (last->output_count > 0 && result->relation->rows != table->rows)
        fail_msg("seed %d, way %d: %d rows, not %d", (int)seed, way, (int)result->relation->rows, (int)table->rows);
    for (size_t k = 0; k < last->output_count; k++) {
        for (int64_t row = 0; row < table->rows; row++) {
            struct scalar actual = column_get(result->relation->columns[k], row);
            if (!same_cell(&actual, &table->cells[k][row]))
                fail_msg("seed %d, way %d: column %d, row %d", (int)seed, way, (int)k, (int)row);
        }
    }
}

static void queues_agree(void **state)
{
    int right = 0, fewer = 0;
    for (uint64_t seed = 1; seed <= QUEUES; seed++) {
        struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        struct trial *trial = calloc(1, sizeof *trial);
        assert_non_null(trial);
        trial_init(trial, &random);
        expect(trial);
        fewer += trial->fused.count < trial->queue.count;
        for (int way = 0; way < (needs_alike(trial) ? 4 : 3); way++) {
            struct result result = {.kind = RESULT_NONE};
            struct runner runner = {.evaluator = *state, .fusion = way == 0};
            trial->diags.count = 0;
            enum status status =
                way < 2 ? run_queue(&runner, &trial->queue, DEFER_NEVER, &result, &trial->diags)
                        : exact_run(way == 2 ? &trial->fused : &trial->queue, NULL, NULL, &result, &trial->diags);
            check_result(trial, seed, way, status, &result);
            right += status == STATUS_OK;
            relation_unref(result.relation);
        }
        trial_free(trial);
        free(trial);
    }
    assert_in_range(right, QUEUES, 4 * QUEUES - QUEUES / 8); /* some fail, some do not */
    assert_true(fewer > QUEUES / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queues_agree)};
    return cmocka_run_group_tests_name("queues", tests, open_evaluator, close_evaluator);
}
