#include "sql/lower/lower_internal.h"

#include "engine/optimize/optimize.h"
#include "sql/lower/float_sum.h"

#include <string.h>

bool lowering_refuse(struct lowering *lowering, const char *what)
{
    lowering->refusal = what ? what : "an expression";
    return false;
}

static bool reads(const struct code *code, value v, size_t input)
{
    return v != NO_VALUE && code->at[v].op == OP_INPUT && code->at[v].integer == (int64_t)input;
}

/* Whether the task computes with the input, and does not only pass it on. */
static bool computes_with(const struct task *task, size_t input)
{
    const struct code *code = &task->code;
    bool found = false;
    for (value v = 0; v < code->count && !found; v++) {
        for (int i = 0; i < op_table[code->at[v].op].arity && !found; i++)
            found = reads(code, code->at[v].args[i], input);
    }
    for (size_t i = 0; i < task->aggregate_count && !found; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        found = reads(code, aggregate->value, input) ||
                (aggregate_table[aggregate->kind].operands &&
                 (reads(code, aggregate->where, input) || reads(code, aggregate->other, input)));
    }
    if (task->sink != SINK_OPERATOR)
        return found;
    for (size_t i = 0; i < task->column_op->key_count && !found; i++)
        found = task->column_op->keys[i] == input;
    return found || task->column_op->kind == OPERATOR_DISTINCT;
}

/* Remembers where rows of the only table fail while they are read as they are, in the table's order; not if some fail
 * later than that. */
static void note_failing(struct lowering *lowering, const struct select *select)
{
    const struct select *table = &lowering->tables[0].select;
    if (!select->fails || lowering->grouped || select->fails == lowering->noted)
        return;
    lowering->noted = select->fails;
    lowering->fails = NULL;
    if (lowering->table_count == 1 && select->from == table->from && select->order == table->order &&
        !select_is_limited(select))
        lowering->fails =
            select->where ? arena_printf(lowering->arena, "%s AND %s", select->where, select->fails) : select->fails;
}

/* Whether the task computes with a column of the select of which values may have no place here. */
static bool reads_beyond(const struct task *task, bool source, const struct select *select)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (input->needed && input->task && (input->side != JOIN_ROWS) == source &&
            select->columns[input->output].fails && computes_with(task, k))
            return true;
    }
    return false;
}

bool lowering_begin(struct lowering *lowering, const struct task *task, bool source, struct select *select,
                    struct select_column *inputs)
{
    const struct task *from = source ? NULL : task->rows_from;
    struct lowering_table *table = NULL;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (!input->needed || (input->side != JOIN_ROWS) != source)
            continue;
        if (lowering_is_list(input)) {
            inputs[k].leaf.text = lowering_list(lowering, input);
            continue;
        }
        if (input->whole || (input->task && from && input->task != from))
            return lowering_refuse(lowering, "rows of several relations");
        from = input->task ? input->task : from;
        if (input->task)
            continue;
        struct lowering_table *its = lowering_table_of(lowering, input, &inputs[k]);
        if (!its)
            return lowering_refuse(lowering, "another relation");
        if (table && its != table)
            return lowering_refuse(lowering, "rows of several relations");
        table = its;
    }
    if (!from && !table && lowering->table_count > 1)
        return lowering_refuse(lowering, "rows of which no column is read");
    const struct select *made = from ? &lowering->made[from->number] : NULL;
    if (made && table && (!made->aligned || made->checks != &table->checks))
        return lowering_refuse(lowering, "rows of several relations");
    *select = made ? *made : table ? table->select : lowering->tables[0].select;
    if (from)
        lowering->read[from->number] = true;
    /* Where rows are limited, those that fail are sorted to the front. A limit that is there already must not choose
     * other rows for that. */
    if (select_is_limited(select) && reads_beyond(task, source, select))
        select_wrap(select, lowering->arena);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (input->needed && input->task && (input->side != JOIN_ROWS) == source)
            inputs[k] = select->columns[input->output];
    }
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (input->needed && (input->side != JOIN_ROWS) == source && inputs[k].fails && computes_with(task, k))
            select->fails = sql_either(select->fails, inputs[k].fails, lowering->arena);
    }
    note_failing(lowering, select);
    select->columns = inputs;
    select->count = task->input_count;
    return true;
}

/* Keeps some of the ordered rows. */
static bool limit(struct lowering *lowering, struct select *select, int64_t skip, int64_t take)
{
    if (skip == 0 && take == INT64_MAX)
        return true;
    if (!select->ordered && !lowering->from_unordered)
        return lowering_refuse(lowering, "the order of rows");
    if (select_is_limited(select))
        select_wrap(select, lowering->arena);
    if (!lowering->grouped)
        lowering->fails = NULL; /* of rows that are left out nothing is computed */
    /* Of a table that is said to have no order, any rows are the first. */
    lowering->any = lowering->any || !select->ordered;
    select->ordered = true;
    if ((skip > 0 || take == 0) && select->fails)
        return lowering_refuse(lowering, "rows that may fail and are left out");
    select->skip = skip;
    select->take = skip > 0 && take > TABLE_ROWS ? TABLE_ROWS : take; /* their sum overflows on servers */
    select->aligned = false;
    if (select->rows >= 0) {
        select->rows -= skip < select->rows ? skip : select->rows;
        select->rows = take < select->rows ? take : select->rows;
    }
    return true;
}

/* Keeps the last rows: the first in reverse order, in order again. */
static bool limit_to_last(struct lowering *lowering, struct select *select, int64_t count)
{
    const int64_t rows = select->rows;
    if (!lowering->grouped)
        lowering->fails = NULL;
    if (!select->ordered)
        return lowering_refuse(lowering, "the order of rows");
    if (count == 0 && select->fails)
        return lowering_refuse(lowering, "rows that may fail and are left out");
    if (select_is_limited(select))
        select_wrap(select, lowering->arena);
    select_reverse(select, lowering->arena);
    select->take = count;
    select_wrap(select, lowering->arena);
    select_reverse(select, lowering->arena);
    select->aligned = false;
    select->rows = rows > count ? count : rows;
    return true;
}

/* A window of the last rows of a table is bound as one of its rows, of which TABLE_ROWS are assumed; bind_remote.c sees
 * to it that there are no others before it. */
bool lowering_limit(struct lowering *lowering, const struct task *task, struct select *select)
{
    int64_t take = task->limit, skip = task->first;
    if (task->rows >= 0 && select->rows < 0)
        return lowering_refuse(lowering, "a number of rows");
    if (task->rows >= 0)
        take = task->first + task->rows == select->rows ? INT64_MAX : task->rows;
    if (skip > TABLE_ROWS / 2) {
        if (select->rows != TABLE_ROWS || task->rows < 0)
            return lowering_refuse(lowering, "the last rows");
        if (!limit_to_last(lowering, select, TABLE_ROWS - skip))
            return false;
        skip = 0;
    }
    return limit(lowering, select, skip, take);
}

struct sql_expressions *lowering_expressions(struct lowering *lowering, const struct task *task, struct select *select,
                                             const char *row, struct task **analysed)
{
    struct arena *arena = lowering->arena;
    struct column **columns = arena_array(arena, task->input_count + 1, sizeof(struct column *));
    struct sql_leaf *leaves = arena_array(arena, task->input_count + 1, sizeof *leaves);
    *analysed = task_clone(task, arena);
    optimize_task(*analysed, columns, TABLE_ROWS);
    for (size_t k = 0; k < task->input_count; k++) {
        leaves[k] = select->columns[k].leaf;
        if (task->inputs[k].side == JOIN_MEMBER && task->inputs[k].needed &&
            !lower_member(lowering, task, k, &leaves[k]))
            return NULL;
    }
    struct sql_expressions *expressions =
        sql_expressions_new(lowering->dialect, *analysed, leaves, lowering->queue, &lowering->unless, arena);
    sql_set_row(expressions, row);
    if (!lowering->shares)
        return expressions;
    const bool *live = task_live(*analysed, arena);
    select->from = sql_share(expressions, live, select->from);
    if (!select->from)
        lowering_refuse(lowering, "a long expression");
    return select->from ? expressions : NULL;
}

/* Whether a condition is the constant false, which task_conditions leaves out. */
static bool keeps_nothing(const struct task *task, struct arena *arena)
{
    const struct code *code = &task->code;
    bool *required = arena_array(arena, (size_t)code->count + 1, sizeof *required), never = false;
    for (size_t i = 0; i < task->filter_count; i++)
        required[task->filters[i].keep] = true;
    for (value v = code->count; v-- > 0;) { /* arguments come first */
        const struct instr *instr = &code->at[v];
        if (required[v] && instr->op == OP_AND)
            required[instr->args[0]] = required[instr->args[1]] = true;
        never = never || (required[v] && instr->op == OP_CONST && !instr->integer);
    }
    return never;
}

/* Adds the filters to the select, and where something fails. */
static bool filter(struct lowering *lowering, const struct task *task, struct sql_expressions *expressions,
                   struct select *select)
{
    struct arena *arena = lowering->arena;
    const bool *live = task_live(task, arena);
    const char *fails, *keep = NULL;
    if (!sql_failure(expressions, live, &fails))
        return lowering_refuse(lowering, sql_refusal(expressions));
    select->fails = sql_either(select->fails, fails, arena);
    size_t count;
    const value *conditions = task_conditions(task, arena, &count);
    for (size_t i = 0; i < count; i++) {
        const char *condition = sql_expression(expressions, conditions[i]);
        if (!condition)
            return lowering_refuse(lowering, sql_refusal(expressions));
        keep = keep ? arena_printf(arena, "%s AND %s", keep, condition) : condition;
    }
    if (keeps_nothing(task, arena))
        keep = lowering->dialect->truths[0];
    if (keep && select->fails)
        keep = arena_printf(arena, "((%s) OR %s)", keep, select->fails);
    if (keep) {
        select->where = select->where ? arena_printf(arena, "%s AND %s", select->where, keep) : keep;
        select->rows = -1;
        select->aligned = false;
    }
    note_failing(lowering, select);
    return true;
}

/* The INPUT that the value is, SIZE_MAX: none. */
size_t task_bare_input(const struct task *task, value v)
{
    const struct instr *instr = v == NO_VALUE ? NULL : &task->code.at[v];
    return instr && instr->op == OP_INPUT && instr->offset == 0 ? (size_t)instr->integer : SIZE_MAX;
}

static bool outputs(struct lowering *lowering, const struct task *task, struct sql_expressions *expressions,
                    struct select *select)
{
    struct select_column *columns = arena_array(lowering->arena, task->output_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        const size_t input = task_bare_input(task, output->value);
        if (!output->needed)
            continue;
        if (input != SIZE_MAX) {
            columns[k] = select->columns[input];
            continue;
        }
        if (moment_column(task, select, output->value, &columns[k], lowering->arena))
            continue;
        const bool text = output->logical.kind == LOGICAL_TEXT;
        columns[k].leaf.text = text ? sql_text_expression(expressions, output->value, output->logical.dictionary)
                                    : sql_expression(expressions, output->value);
        columns[k].leaf.is_text = text;
        if (!columns[k].leaf.text)
            return lowering_refuse(lowering, sql_refusal(expressions));
        const struct instr *instr = &task->code.at[output->value];
        if (instr->op == OP_BOOL_TO_INT)
            columns[k].leaf.truth = sql_expression(expressions, instr->args[0]);
    }
    select->columns = columns;
    select->count = task->output_count;
    return true;
}

/* Whether the task only chooses columns, and maybe a window. */
static bool is_plain(const struct task *task)
{
    bool plain = task->sink == SINK_ROWS && task->filter_count == 0;
    for (size_t k = 0; k < task->output_count && plain; k++)
        plain = !task->outputs[k].needed || task_bare_input(task, task->outputs[k].value) != SIZE_MAX;
    return plain;
}

static bool reads_row(const struct task *task)
{
    bool reads = false;
    for (value v = 0; v < task->code.count && !reads; v++)
        reads = task->code.at[v].op == OP_ROW;
    return reads;
}

static bool lower_rows(struct lowering *lowering, const struct task *task, struct select *select)
{
    struct task *analysed;
    if (!lowering_limit(lowering, task, select))
        return false;
    /* Rows that fail come first where rows are limited, which is not to be those that fail later. */
    if (select->group || (select_is_limited(select) && !is_plain(task)))
        select_wrap(select, lowering->arena);
    const char *row = NULL;
    if (reads_row(task)) {
        if (!select->ordered || select->dialect != sql_clickhouse)
            return lowering_refuse(lowering, "row numbers");
        select_wrap_numbered(select, &row, lowering->arena);
    }
    struct sql_expressions *expressions = lowering_expressions(lowering, task, select, row, &analysed);
    if (!expressions)
        return false;
    const bool single = select->rows == 1;
    if (!filter(lowering, analysed, expressions, select))
        return false;
    if (task->sink == SINK_ROWS && !outputs(lowering, analysed, expressions, select))
        return false;
    if (task->window.tail >= 0)
        return task->sink == SINK_ROWS ? limit_to_last(lowering, select, task->window.tail)
                                       : lowering_refuse(lowering, "an aggregate of the last rows");
    if (!limit(lowering, select, task->window.skip, task->window.take))
        return false;
    if (task->sink == SINK_ROWS)
        return true;
    if (task_has_window(task)) {
        /* The values are computed before the window, and aggregated after it. */
        return lowering_refuse(lowering, "an aggregate of the first rows");
    }
    if (task->output_count > 0)
        return lower_row(lowering, task, analysed, expressions, select);
    if (task->aggregate_count != 1)
        return lowering_refuse(lowering, "several aggregates of all rows");
    struct select_column *columns = arena_array(lowering->arena, FLOAT_SUM_COLUMNS, sizeof *columns);
    const struct aggregate *aggregate = &analysed->aggregates[0];
    if (aggregate_table[aggregate->kind].extreme && single &&
        moment_column(analysed, select, aggregate->value, columns, lowering->arena)) {
        columns->moment_of = arena_printf(lowering->arena, "any(%s)", columns->moment_of);
        select->columns = columns;
        select->count = 1;
        return true;
    }
    select->columns = columns;
    select->count =
        aggregate_lower(&analysed->aggregates[0], select->dialect, expressions, analysed, columns, lowering->arena);
    if (select->count == FLOAT_SUM_COLUMNS) {
        select->group = columns[0].leaf.text;
        sql_unless(expressions, "a float is of 2^878 or more"); /* float_sum_finish */
    }
    if (select->group && strstr(select->group, "IN (SELECT")) /* which ClickHouse 18.16 does not take as a key */
        return lowering_refuse(lowering, "a float sum of what is looked up in another table");
    return select->count > 0 || lowering_refuse(lowering, "this aggregate");
}

/* Row numbers, neighbours and other rows are known here alone; and where texts were not known, other values stand for
 * what is computed of them. */
static bool is_row_by_row(struct lowering *lowering)
{
    const struct queue *queue = lowering->queue;
    if (queue->unknown_values)
        return lowering_refuse(lowering, "text that is computed");
    for (size_t t = 0; t < queue->count; t++) {
        const struct code *code = &queue->tasks[t]->code;
        for (value v = 0; v < code->count; v++) {
            const struct instr *instr = &code->at[v];
            const struct input *gathered = instr->op == OP_GATHER ? &queue->tasks[t]->inputs[instr->integer] : NULL;
            const bool known = gathered && (gathered->side == JOIN_MEMBER || lowering_is_list(gathered));
            const bool numbers = instr->op == OP_ROW && strcmp(queue->tasks[t]->stages[0].name, "sample") != 0;
            if (numbers || instr->op == OP_ROWS || (gathered && !known) || instr->op == OP_NEAR ||
                instr->op == OP_INDEX || (instr->op == OP_INPUT && instr->offset != 0))
                return lowering_refuse(lowering, "row numbers");
        }
    }
    return true;
}

/* Adds the tasks to SELECTs, one after another. */
static bool lower_tasks(struct lowering *lowering, const struct table_columns *from, const struct queue *fused)
{
    struct arena *arena = lowering->arena;
    bool good = true;
    lowering_begin_tables(lowering, from);
    lowering->throws = lowering->any = lowering->grouped = false;
    lowering->fails = lowering->noted = lowering->unless = NULL;
    lowering->made = arena_array(arena, fused->count + 1, sizeof *lowering->made);
    lowering->read = arena_array(arena, fused->count + 1, sizeof *lowering->read);
    for (size_t t = 0; t < fused->count && good; t++) {
        const struct task *task = fused->tasks[t];
        struct select_column *inputs = arena_array(arena, task->input_count + 1, sizeof *inputs);
        struct select *select = &lowering->made[t];
        good =
            (task->equal_count == 0 || lowering_refuse(lowering, "rows side by side")) &&
            lowering_begin(lowering, task, false, select, inputs) &&
            (task->sink == SINK_OPERATOR ? lower_operator(lowering, task, select) : lower_rows(lowering, task, select));
    }
    /* One that nothing reads could fail. */
    for (size_t t = 0; t + 1 < fused->count && good; t++)
        good = lowering->read[t] || lowering_refuse(lowering, "rows that nothing reads");
    return good && (fused->count > 0 || lowering_refuse(lowering, "a constant"));
}

bool queue_lower(const struct queue *queue, const struct table_columns *from, struct arena *arena,
                 struct lowered *lowered, const char **refusal)
{
    struct lowering *lowering = arena_alloc(arena, sizeof *lowering); /* the selects refer to it */
    *lowering = (struct lowering){.queue = queue, .arena = arena, .from_unordered = from->reader->unordered};
    struct queue fused;
    lowering->dialect = from->dialect ? sql_dialect_find(from->dialect) : sql_clickhouse;
    lowering->shares = lowering->dialect->whole_sum; /* shown alone, where it is to be short */
    queue_init(&fused, arena);
    bool good = is_row_by_row(lowering);
    if (good) {
        optimize_queue(queue, &fused);
        good = lower_tasks(lowering, from, &fused);
        /* A subquery for what is read more than once has the rows of a table on several servers meet on one. */
        lowering->shares = !good && strcmp(lowering->refusal, "a long expression") == 0;
        if (lowering->shares)
            good = lower_tasks(lowering, from, &fused);
    }
    if (good) {
        lowered->last = fused.tasks[fused.count - 1];
        lowered->select = lowering->made[fused.count - 1];
        lowered->throws = lowering->throws;
        lowered->any = lowering->any;
        lowered->unless = lowering->unless;
        if (lowering->fails) {
            lowered->failing = lowering->tables[0].select;
            lowered->failing.where = lowering->fails;
            lowered->failing.take = 1;
        }
    }
    if (!good)
        *refusal = lowering->refusal;
    queue_release(&fused);
    return good;
}
