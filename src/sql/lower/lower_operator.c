#include "sql/lower/lower_internal.h"

#include "sql/lower/float_sum.h"
#include "sql/lower/integer_sum.h"

static bool lower_sort(struct lowering *lowering, const struct task *task, struct select *select)
{
    const struct column_operator *column_op = task->column_op;
    const size_t most = 2 * column_op->key_count + select->order_count;
    struct select_order *order = arena_array(lowering->arena, most + 1, sizeof *order);
    struct select_column *columns = arena_array(lowering->arena, task->output_count + 1, sizeof *columns);
    size_t count = 0;
    if (select_is_limited(select) || select->group)
        select_wrap(select, lowering->arena);
    select_wrap_keys(select, column_op->keys, column_op->key_count, lowering->arena);
    for (size_t i = 0; i < column_op->key_count; i++) {
        const size_t input = column_op->keys[i];
        const struct select_column *column = &select->columns[input];
        const char *text = column->leaf.text;
        const bool number = type_table[task->inputs[input].type].kind == KIND_FLOAT;
        if (!text || (number && !select->dialect->is_nan))
            return lowering_refuse(lowering, "this sort key");
        if (number) { /* NaN is last either way, and zeros are equal */
            const char *nan = sql_phrase(select->dialect->is_nan, text, NULL, lowering->arena);
            order[count++] = (struct select_order){.text = nan, .total = true};
            text = arena_printf(lowering->arena, "(if(%s, toFloat64(0), %s) + toFloat64(0))", nan, text);
        }
        order[count++] = (struct select_order){.text = text,
                                               .descending = column_op->descending[i],
                                               .total = true,
                                               .inverse = column->leaf.is_text ? NULL
                                                          : number             ? "negate"
                                                                               : "bitNot"};
    }
    for (size_t i = 0; i < select->order_count; i++)
        order[count++] = select->order[i];
    bool total = true; /* equal keys are equal rows */
    for (size_t k = 0; k < task->output_count; k++) {
        const size_t input = task_bare_input(task, task->outputs[k].value);
        bool key = false;
        if (!task->outputs[k].needed)
            continue;
        if (input == SIZE_MAX)
            return lowering_refuse(lowering, "this sort");
        for (size_t i = 0; i < column_op->key_count; i++)
            key = key || column_op->keys[i] == input;
        total = total && key && type_table[task->inputs[input].type].kind != KIND_FLOAT;
        columns[k] = select->columns[input];
    }
    select->order = order;
    select->order_count = count;
    select->ordered = select->ordered || total;
    select->aligned = false;
    select->columns = columns;
    select->count = task->output_count;
    return true;
}

/* The text to group by, of each key. False: it cannot be said. */
static bool add_key(struct lowering *lowering, const struct task *task, const struct select *select, size_t input,
                    const char **keys, struct select_column *column)
{
    const bool number = type_table[task->inputs[input].type].kind == KIND_FLOAT;
    *column = select->columns[input];
    if (!column->leaf.text || (number && !select->dialect->is_nan))
        return lowering_refuse(lowering, "this key");
    if (number)
        column->leaf.text = sql_float_key(select->dialect, column->leaf.text, lowering->arena);
    column->raw = column->fails = NULL;
    *keys = *keys ? arena_printf(lowering->arena, "%s, %s", *keys, column->leaf.text) : column->leaf.text;
    column->leaf.column = NULL;
    return true;
}

/* The sorted values of quantiles become these, and the sums of moments their texts; aggregates are columns from `first`
 * on. */
static void finish_operands(const struct task *task, size_t first, struct select *select, struct arena *arena)
{
    bool any = false;
    for (size_t i = 0; i < task->aggregate_count; i++)
        any = any || select->columns[first + i].moment ||
              (task->aggregates[i].kind == AGG_QUANTILE && select->columns[first + i].leaf.text);
    if (any)
        select_wrap(select, arena);
    for (size_t i = 0; i < task->aggregate_count && any; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        struct select_column *column = &select->columns[first + i];
        struct sql_leaf *leaf = &column->leaf;
        if (column->moment)
            column->moment_of = moment_text(column->moment, column->moment_of, arena);
        if (aggregate->kind != AGG_QUANTILE || !leaf->text)
            continue;
        const bool number = task->code.at[aggregate->value].kind == KIND_FLOAT;
        leaf->text = quantile_of(leaf->text, aggregate, number, select->dialect, arena);
    }
}

/* The next columns of the parts of a sum of floats in step 0 to 2; then the sum. */
static const char *step_of_floats(int step, const char **columns, struct arena *arena)
{
    if (step == 0)
        float_limbs_magnitude(columns, arena);
    else if (step == 1)
        float_limbs_carry(columns, arena);
    return step < 2 ? NULL : float_limbs_round(columns, arena);
}

/* The same of a mean of integers. */
static const char *step_of_integers(int step, const char **columns, const char *rows, struct arena *arena)
{
    if (step == 0)
        mean_magnitude(columns, arena);
    else if (step == 1)
        mean_divide(columns, rows, arena);
    return step < 2 ? NULL : mean_round(columns, rows, arena);
}

/* The parts of sums and means become these, which are columns from `first` on. */
static void round_sums(const struct task *task, size_t first, const size_t *parts, struct select *select,
                       struct arena *arena)
{
    enum { STEPS = 3, MOST = (int)LIMB_COLUMNS > (int)MEAN_COLUMNS ? (int)LIMB_COLUMNS : (int)MEAN_COLUMNS };
    size_t last = 0;
    for (size_t i = 0; i < task->aggregate_count; i++)
        last = parts[i] > last ? parts[i] : last;
    for (int step = 0; step < STEPS && last > 0; step++) {
        select_wrap(select, arena);
        for (size_t i = 0; i < task->aggregate_count; i++) {
            const char *texts[MOST];
            struct select_column *at = select->columns + parts[i], *own = &select->columns[first + i];
            if (parts[i] == 0)
                continue;
            const bool integers = task->code.at[task->aggregates[i].value].kind == KIND_INT;
            const int count = integers ? MEAN_COLUMNS : LIMB_COLUMNS;
            for (int k = 0; k < count; k++)
                texts[k] = at[k].leaf.text;
            const char *rows = own->leaf.text, *sum = integers ? step_of_integers(step, texts, rows, arena)
                                                               : step_of_floats(step, texts, arena);
            for (int k = 0; k < count; k++)
                at[k].leaf.text = texts[k];
            if (sum)
                own->leaf.text = rows && !integers ? arena_printf(arena, "(%s / toFloat64(%s))", sum, rows) : sum;
        }
    }
    select->count = task->output_count;
}

/* The order of groups by these columns: floats with NaN last. */
static struct select_order *order_of_keys(const struct task *task, const struct select *select,
                                          const struct select_column *columns, size_t *count, struct arena *arena)
{
    const struct column_operator *column_op = task->column_op;
    const size_t keys = *count;
    struct select_order *order = arena_array(arena, 2 * keys + 1, sizeof *order);
    *count = 0;
    for (size_t i = 0; i < keys; i++) {
        if (type_table[task->inputs[column_op->keys[i]].type].kind == KIND_FLOAT) {
            const char *nan = sql_phrase(select->dialect->is_nan, columns[i].leaf.text, NULL, arena);
            order[(*count)++] = (struct select_order){.text = nan, .total = true};
        }
        order[*count] = (struct select_order){.text = columns[i].leaf.text};
        order[(*count)++].total = type_table[task->inputs[column_op->keys[i]].type].kind != KIND_FLOAT;
    }
    return order;
}

/* Makes the select one of groups, `keys` NULL: of all rows as one, from what it reads. */
static void group_by(struct lowering *lowering, struct select *select, const char *keys, const char *fails,
                     struct select_column *columns, size_t count)
{
    lowering->grouped = true;
    *select = (struct select){.dialect = select->dialect,
                              .from = select->from,
                              .where = select->where,
                              .checks = select->checks,
                              .group = keys,
                              .fails = fails,
                              .columns = columns,
                              .count = count,
                              .take = INT64_MAX,
                              .rows = -1,
                              .depth = select->depth};
}

bool lower_row(struct lowering *lowering, const struct task *task, const struct task *analysed,
               struct sql_expressions *expressions, struct select *select)
{
    struct arena *arena = lowering->arena;
    const size_t most = (1 + LIMB_COLUMNS) * task->aggregate_count;
    struct select_column *columns = arena_array(arena, most + 1, sizeof *columns);
    size_t *parts = arena_array(arena, task->aggregate_count + 1, sizeof *parts), count = task->aggregate_count;
    const char *fails = select_fails_of_group(select, arena);
    if (!aggregates_lower(analysed, select, expressions, columns, parts, &count, &fails, arena))
        return lowering_refuse(lowering, "this aggregate");
    if (fails) /* aggregates of no rows may be NULL */
        fails = arena_printf(arena, "(%s > 0 AND %s)", select->dialect->rows, fails);
    group_by(lowering, select, NULL, fails, columns, count);
    select->ordered = true;
    select->rows = 1;
    finish_operands(analysed, 0, select, arena);
    round_sums(task, 0, parts, select, arena);
    if (columns == select->columns)
        select_wrap(select, arena); /* no condition or group is to be added to it */
    return true;
}

static bool lower_group(struct lowering *lowering, const struct task *task, struct select *select)
{
    const struct column_operator *column_op = task->column_op;
    struct arena *arena = lowering->arena;
    struct task *analysed;
    if (column_op->key || column_op->segment != 0)
        return lowering_refuse(lowering, "groups along an axis");
    if (task->output_count != column_op->key_count + task->aggregate_count)
        return lowering_refuse(lowering, "this group");
    if (select_is_limited(select) || select->group)
        select_wrap(select, arena);
    select_wrap_keys(select, column_op->keys, column_op->key_count, arena);
    struct sql_expressions *expressions = lowering_expressions(lowering, task, select, NULL, &analysed);
    if (!expressions)
        return false;
    if (column_op->key_count == 0)
        return lower_row(lowering, task, analysed, expressions, select);
    const size_t most = task->output_count + LIMB_COLUMNS * task->aggregate_count;
    struct select_column *columns = arena_array(arena, most + 1, sizeof *columns);
    size_t *parts = arena_array(arena, task->aggregate_count + 1, sizeof *parts), count = task->output_count;
    const char *keys = NULL, *fails = select_fails_of_group(select, arena);
    for (size_t i = 0; i < column_op->key_count; i++) {
        if (!add_key(lowering, task, select, column_op->keys[i], &keys, &columns[i]))
            return false;
    }
    if (!aggregates_lower(analysed, select, expressions, columns, parts, &count, &fails, arena))
        return lowering_refuse(lowering, "this aggregate");
    group_by(lowering, select, keys, fails, columns, count);
    select->order_count = column_op->key_count;
    select->order = order_of_keys(task, select, columns, &select->order_count, arena);
    select->ordered = true;
    finish_operands(analysed, column_op->key_count, select, arena);
    round_sums(task, column_op->key_count, parts, select, arena);
    return true;
}

/* The order of distinct rows is that of the first of each. */
static bool lower_distinct(struct lowering *lowering, const struct task *task, struct select *select)
{
    struct arena *arena = lowering->arena;
    if (select_is_limited(select) || select->group)
        select_wrap(select, arena);
    struct select_column *columns = arena_array(arena, task->output_count + 1, sizeof *columns);
    struct select_order *order = arena_array(arena, 2, sizeof *order);
    size_t *inputs = arena_array(arena, task->output_count + 1, sizeof *inputs);
    const char *keys = NULL;
    for (size_t k = 0; k < task->output_count; k++)
        inputs[k] = task_bare_input(task, task->outputs[k].value);
    select_wrap_keys(select, inputs, task->output_count, arena);
    for (size_t k = 0; k < task->output_count; k++) {
        if (inputs[k] == SIZE_MAX || !add_key(lowering, task, select, inputs[k], &keys, &columns[k]))
            return lowering_refuse(lowering, "this distinct");
    }
    const bool ordered = select->ordered && select->order_count == 1;
    if (ordered) {
        order[0] = select->order[0];
        order[0].text = arena_printf(arena, "%s(%s)", order[0].descending ? "max" : "min", order[0].text);
    }
    group_by(lowering, select, keys, select_fails_of_group(select, arena), columns, task->output_count);
    select->order = order;
    select->order_count = ordered;
    select->ordered = ordered;
    return keys || lowering_refuse(lowering, "no columns");
}

bool lower_operator(struct lowering *lowering, const struct task *task, struct select *select)
{
    /* The plan then has a number of rows, but not which. */
    if (task->input_count == 0 && task->rows >= 0 && task->first == 0 && task->rows != select->rows)
        return lowering_refuse(lowering, "a stage of limited rows that reads no columns");
    if (!lowering_limit(lowering, task, select))
        return false;
    switch (task->column_op->kind) {
    case OPERATOR_SORT:
        return lower_sort(lowering, task, select);
    case OPERATOR_GROUP:
        return lower_group(lowering, task, select);
    case OPERATOR_DISTINCT:
        return lower_distinct(lowering, task, select);
    case OPERATOR_JOIN:
        return lower_join(lowering, task, select);
    default:
        return lowering_refuse(lowering, "a stage of this kind");
    }
}
