/* Joins: the source is a subquery with its keys, of which every server of a distributed table sees all rows. Missing
 * keys match nothing, so those of the source are left out, and that all are present is one more key. Keys that are
 * floats become integers with one zero and one NaN.
 *
 * Of a full join the left is a subquery, too: its keys are columns beside its own, since a server may set them in rows
 * that only the source has. In `x in (SOURCE)` a GATHER of an input of JOIN_MEMBER asks whether the source has x. A row
 * of the source that fails makes the query fail (throwIf). */
#include "sql/lower/lower_internal.h"

#include "sql/wire/table.h"

#include <string.h>

struct join {
    struct lowering *lowering;
    const struct task *task;
    struct select *left; /* and the result */
    struct select right;
    struct select_column *columns; /* of the task's inputs */
    struct select_item *items;     /* of the subquery */
    size_t count;
};

static bool is_server(const struct sql_dialect *dialect)
{
    return dialect == sql_clickhouse;
}

/* A key of the task's input; NULL: it cannot be said. */
static const char *key_text(const struct join *join, size_t input, const struct select_column *column)
{
    const enum kind kind = type_table[join->task->inputs[input].type].kind;
    if (!column->leaf.text)
        return NULL;
    return sql_join_key(join->lowering->dialect, column->leaf.text, column->leaf.is_text, kind, join->lowering->arena);
}

/* The same on the left: ClickHouse 18.16 fails where a key is computed from another one. */
static const char *left_text(const struct join *join, size_t input)
{
    const struct select_column *column = &join->columns[input];
    const char *text = key_text(join, input, column);
    if (!text || !is_server(join->lowering->dialect) || (column->leaf.is_text && !strchr(text, '(')))
        return text;
    const bool truth = type_table[join->task->inputs[input].type].kind == KIND_BOOL;
    return arena_printf(join->lowering->arena, "%s(%s)",
                        column->leaf.is_text ? "toString"
                        : truth              ? "toUInt8"
                                             : "toInt64",
                        text);
}

/* That all keys of a side have values; NULL: they always have. */
static const char *keys_present(const struct join *join, size_t side)
{
    const struct column_operator *column_op = join->task->column_op;
    struct arena *arena = join->lowering->arena;
    const char *all = NULL;
    for (size_t i = side; i < column_op->key_count; i += 4) {
        const char *present =
            column_op->keys[i] == column_op->keys[i + 1] ? NULL : join->columns[column_op->keys[i + 1]].leaf.text;
        all = all && present ? arena_printf(arena, "(%s AND %s)", all, present) : present ? present : all;
    }
    return all;
}

/* Adds a column to the subquery; returns its name. */
static const char *add_item(struct join *join, const char *text)
{
    struct arena *arena = join->lowering->arena;
    const char *name = arena_printf(arena, "rql_j%zu_%zu", join->task->number, join->count);
    join->items[join->count++] = (struct select_item){text, name};
    return name;
}

static void keep_where(struct select *select, const char *condition, struct arena *arena)
{
    select->where = select->where ? arena_printf(arena, "%s AND %s", select->where, condition) : condition;
}

/* Where values that the join passes on have no place here: of such columns that it converts, since rows that are not
 * found have no value, either. */
static const char *fails_of_side(const struct join *join, enum join_side side, const struct select_column *columns)
{
    const struct task *task = join->task;
    const char *fails = NULL;
    for (size_t k = 0; k < task->output_count; k++) {
        const size_t input = task->outputs[k].needed ? task_bare_input(task, task->outputs[k].value) : SIZE_MAX;
        if (input != SIZE_MAX && task->inputs[input].side == side)
            fails = sql_either(fails, columns[input].fails, join->lowering->arena);
    }
    return fails;
}

/* Begins the subquery: its rows with keys, of a full join all. False: it cannot be said. */
static bool begin_source(struct join *join)
{
    struct lowering *lowering = join->lowering;
    struct select *right = &join->right;
    const struct task *task = join->task;
    struct select_column *columns = arena_array(lowering->arena, task->input_count + 1, sizeof *columns);
    if (!lowering_begin(lowering, task, true, right, columns))
        return false;
    if (select_is_limited(right) || right->group || right->joined)
        select_wrap(right, lowering->arena);
    if (task->column_op->join != JOIN_INNER || join->left->fails)
        right->fails = sql_either(right->fails, fails_of_side(join, JOIN_SOURCE, right->columns), lowering->arena);
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].side == JOIN_SOURCE)
            join->columns[k] = right->columns[k];
    }
    join->items = arena_array(lowering->arena, task->column_op->key_count + task->input_count + right->order_count + 2,
                              sizeof *join->items);
    const char *present = task->column_op->join == JOIN_FULL ? NULL : keys_present(join, 2);
    if (right->fails && !is_server(lowering->dialect))
        return lowering_refuse(lowering, "rows of a source that may fail");
    if (right->fails) /* also of rows without keys: of `x AND y` servers need not compute both */
        present = arena_printf(lowering->arena, "if(throwIf(%s), 0, %s)", right->fails, present ? present : "1");
    if (present)
        keep_where(right, present, lowering->arena);
    lowering->throws = lowering->throws || right->fails;
    return true;
}

/* The condition that the keys are equal, which become columns of the subquery; NULL: one cannot be said. */
static const char *keys_equal(struct join *join)
{
    const struct column_operator *column_op = join->task->column_op;
    struct arena *arena = join->lowering->arena;
    const char *all = NULL, *present = keys_present(join, 0);
    for (size_t i = 0; i < column_op->key_count; i += 4) {
        const size_t left = column_op->keys[i], right = column_op->keys[i + 2];
        const char *here = left_text(join, left);
        const char *there = key_text(join, right, &join->columns[right]);
        if (!here || !there || join->columns[left].leaf.is_text != join->columns[right].leaf.is_text) {
            lowering_refuse(join->lowering, "this key");
            return NULL;
        }
        const char *equal = arena_printf(arena, "%s = %s", here, add_item(join, there));
        all = all ? arena_printf(arena, "%s AND %s", all, equal) : equal;
    }
    if (!present)
        return all;
    const char *name = add_item(join, join->lowering->dialect->truths[1]);
    if (is_server(join->lowering->dialect))
        present = arena_printf(arena, "toUInt8(%s)", present);
    return arena_printf(arena, "%s AND %s = %s", all, present, name);
}

/* Makes a column of the source one of the result. Where nothing is found, servers give 0 or NULL, as their settings
 * say.
 */
static bool take_column(struct join *join, size_t input, bool optional)
{
    const struct sql_dialect *dialect = join->lowering->dialect;
    struct arena *arena = join->lowering->arena;
    struct select_column *column = &join->columns[input];
    const enum kind kind = type_table[join->task->inputs[input].type].kind;
    if (!optional && column->raw) {
        *column = select_column_of(dialect, add_item(join, column->raw), column->wire, arena);
        return true;
    }
    if (!column->leaf.text)
        return lowering_refuse(join->lowering, "a column of this type");
    const bool single = join->task->column_op->join == JOIN_LOOKUP;
    const char *name = add_item(join, single ? arena_printf(arena, "any(%s)", column->leaf.text) : column->leaf.text);
    const char *zero = column->leaf.is_text ? "''" : kind == KIND_BOOL ? dialect->truths[0] : "0";
    *column = (struct select_column){.leaf = {.text = name, .is_text = column->leaf.is_text}};
    if (optional)
        column->leaf.text = sql_phrase(dialect->value_or, name, zero, arena);
    return true;
}

static bool take_columns(struct join *join, bool optional)
{
    const struct task *task = join->task;
    bool *read = arena_array(join->lowering->arena, task->input_count + 1, sizeof *read);
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed)
            read[task_bare_input(task, task->outputs[k].value)] = true;
    }
    for (size_t k = 0; k < task->input_count; k++) {
        if (read[k] && task->inputs[k].side == JOIN_SOURCE && !take_column(join, k, optional))
            return false;
    }
    return true;
}

/* The rows in the order of the left, for each of them in that of the source. */
static void order_rows(struct join *join)
{
    struct select *left = join->left;
    const struct select *right = &join->right;
    const bool single = join->task->column_op->join == JOIN_LOOKUP;
    struct select_order *order =
        arena_array(join->lowering->arena, left->order_count + right->order_count + 1, sizeof *order);
    size_t count = 0;
    for (; count < left->order_count; count++)
        order[count] = left->order[count];
    for (size_t i = 0; i < right->order_count && !single; i++) {
        order[count] = right->order[i];
        order[count++].text = add_item(join, right->order[i].text);
    }
    left->order = order;
    left->order_count = count;
    left->ordered = left->ordered && (single || right->ordered);
}

/* The kind of the join as SQL says it, where rows of the left stay of which `found` is false. */
static bool join_rows(struct join *join)
{
    struct lowering *lowering = join->lowering;
    struct arena *arena = lowering->arena;
    const struct sql_dialect *dialect = lowering->dialect;
    struct select *left = join->left;
    const bool inner = join->task->column_op->join == JOIN_INNER;
    const bool single = join->task->column_op->join == JOIN_LOOKUP;
    const bool optional = !inner || left->fails; /* what fails on the left has to stay */
    const char *equal = keys_equal(join);
    if (!equal)
        return false;
    if (single && !is_server(dialect))
        return lowering_refuse(lowering, "`lookup`, which refuses keys that are there twice");
    const size_t keys = join->count;
    if (!take_columns(join, optional))
        return false;
    order_rows(join);
    const char *found = "";
    if (optional)
        found = sql_phrase(dialect->value_or, add_item(join, single ? "any(1)" : dialect->truths[1]),
                           dialect->truths[0], arena);
    for (size_t i = 0; i < keys && single; i++)
        join->right.group =
            i > 0 ? arena_printf(arena, "%s, %s", join->right.group, join->items[i].name) : join->items[i].name;
    const char *source = select_text(&join->right, join->items, join->count, false, arena);
    if (left->from[0] == '(') /* engines want names */
        left->from = arena_printf(arena, "%s AS rql_l%zu", left->from, join->task->number);
    left->from = arena_printf(arena, "%s %s%s JOIN (%s%s) AS rql_j%zu ON %s", left->from, dialect->all,
                              optional ? "LEFT" : "INNER", source, single ? " HAVING NOT throwIf(count() > 1)" : "",
                              join->task->number, equal);
    lowering->throws = lowering->throws || single;
    left->joined = true;
    if (inner && optional)
        keep_where(left, arena_printf(arena, "(%s OR %s)", found, left->fails), arena);
    for (size_t k = 0; k < join->task->input_count; k++) {
        if (join->task->inputs[k].side == JOIN_FOUND)
            join->columns[k] = (struct select_column){.leaf = {.text = found}};
    }
    return true;
}

/* A name of the left's subquery, whose rows may be missing: then servers give 0 or NULL. */
static const char *of_left(const struct join *join, const char *text, const char *zero)
{
    return sql_phrase(join->lowering->dialect->value_or, text, zero, join->lowering->arena);
}

/* Makes the left a subquery, which has besides its columns the keys, 1 where all of them are present, and 1 in each
 * row, from column `first` on: what a server gives for keys in rows of the source is not read. False: one cannot be
 * said. */
static bool begin_left(struct join *join, size_t first)
{
    const struct column_operator *column_op = join->task->column_op;
    const struct sql_dialect *dialect = join->lowering->dialect;
    struct arena *arena = join->lowering->arena;
    struct select *left = join->left;
    const size_t keys = column_op->key_count / 4;
    struct select_column *columns = arena_array(arena, first + keys + 2, sizeof *columns);
    for (size_t k = 0; k < first; k++) {
        if (join->task->inputs[k].side == JOIN_ROWS)
            columns[k] = join->columns[k];
        if (columns[k].raw && columns[k].wire->cast) /* an Enum of rows that are missing cannot be converted */
            columns[k].raw = NULL;
    }
    for (size_t i = 0; i < keys; i++) {
        const size_t key = column_op->keys[4 * i];
        columns[first + i].leaf.text = left_text(join, key);
        if (!columns[first + i].leaf.text)
            return lowering_refuse(join->lowering, "this key");
    }
    const char *present = keys_present(join, 0);
    columns[first + keys].leaf.text = present ? present : dialect->truths[1];
    columns[first + keys + 1].leaf.text = dialect->truths[1];
    left->fails = sql_either(left->fails, fails_of_side(join, JOIN_ROWS, join->columns), arena);
    left->columns = columns;
    left->count = first + keys + 2;
    select_wrap(left, arena);
    for (size_t k = 0; k < first; k++) {
        struct select_column *column = &left->columns[k];
        const bool truth = type_table[join->task->inputs[k].type].kind == KIND_BOOL;
        if (join->task->inputs[k].side != JOIN_ROWS)
            continue;
        if (column->leaf.text)
            column->leaf.text = of_left(join, column->leaf.text,
                                        column->leaf.is_text ? "''"
                                        : truth              ? dialect->truths[0]
                                                             : "0");
        else if (column->raw)
            return lowering_refuse(join->lowering, "a column of this type");
        column->raw = column->leaf.column = column->fails = NULL;
        join->columns[k] = *column;
    }
    left->fails = left->fails ? of_left(join, left->fails, dialect->truths[0]) : NULL;
    return true;
}

/* The condition that the keys are equal and present. NULL: it cannot be said. */
static const char *keys_of_both(struct join *join, size_t first)
{
    const struct column_operator *column_op = join->task->column_op;
    const size_t keys = column_op->key_count / 4;
    struct arena *arena = join->lowering->arena;
    const struct select_column *own = join->left->columns + first;
    const char *all = NULL, *there = keys_present(join, 2);
    for (size_t i = 0; i < keys; i++) {
        const size_t left = column_op->keys[4 * i], right = column_op->keys[4 * i + 2];
        const char *key = key_text(join, right, &join->columns[right]);
        if (!key || join->columns[left].leaf.is_text != join->columns[right].leaf.is_text) {
            lowering_refuse(join->lowering, "this key");
            return NULL;
        }
        const char *equal = arena_printf(arena, "%s = %s", own[i].leaf.text, add_item(join, key));
        all = all ? arena_printf(arena, "%s AND %s", all, equal) : equal;
    }
    if (is_server(join->lowering->dialect)) /* 2 is equal to nothing */
        there = there ? arena_printf(arena, "toUInt8(if(%s, 1, 2))", there) : "toUInt8(1)";
    else
        there = there ? arena_printf(arena, "CASE WHEN %s THEN TRUE END", there) : "TRUE";
    return arena_printf(arena, "%s AND %s = %s", all, own[keys].leaf.text, add_item(join, there));
}

/* All rows of both sides: those of the left first. */
static bool join_full(struct join *join)
{
    struct arena *arena = join->lowering->arena;
    const struct sql_dialect *dialect = join->lowering->dialect;
    struct select *left = join->left;
    const size_t first = join->task->input_count, keys = join->task->column_op->key_count / 4;
    const char *equal = begin_left(join, first) ? keys_of_both(join, first) : NULL;
    if (!equal || !take_columns(join, true))
        return false;
    const char *here = of_left(join, left->columns[first + keys + 1].leaf.text, dialect->truths[0]);
    order_rows(join);
    struct select_order *order = arena_array(arena, left->order_count + 1, sizeof *order);
    order[0] = (struct select_order){.text = here, .descending = true};
    for (size_t i = 0; i < left->order_count; i++) {
        order[i + 1] = left->order[i];
        order[i + 1].total = false;
    }
    left->order = order;
    left->order_count++;
    const char *found = of_left(join, add_item(join, dialect->truths[1]), dialect->truths[0]);
    left->from = arena_printf(
        arena, "%s AS rql_l%zu %sFULL JOIN (%s) AS rql_j%zu ON %s", left->from, join->task->number, dialect->all,
        select_text(&join->right, join->items, join->count, false, arena), join->task->number, equal);
    left->joined = true;
    for (size_t k = 0; k < first; k++) {
        const enum join_side side = join->task->inputs[k].side;
        if (side == JOIN_FOUND || side == JOIN_HERE)
            join->columns[k] = (struct select_column){.leaf = {.text = side == JOIN_FOUND ? found : here}};
    }
    return true;
}

/* Keeps the rows that match something, or nothing. */
static bool keep_matching(struct join *join)
{
    const struct column_operator *column_op = join->task->column_op;
    struct lowering *lowering = join->lowering;
    struct arena *arena = lowering->arena;
    struct select *left = join->left;
    const char *here = NULL, *present = keys_present(join, 0);
    for (size_t i = 0; i < column_op->key_count; i += 4) {
        const size_t key = column_op->keys[i], other = column_op->keys[i + 2];
        const char *text = key_text(join, key, &join->columns[key]);
        const char *there = key_text(join, other, &join->columns[other]);
        if (!text || !there || join->columns[key].leaf.is_text != join->columns[other].leaf.is_text)
            return lowering_refuse(lowering, "this key");
        add_item(join, there);
        here = here ? arena_printf(arena, "%s, %s", here, text) : text;
    }
    if (column_op->key_count > 4)
        here = arena_printf(arena, "(%s)", here);
    const char *source = select_text(&join->right, join->items, join->count, false, arena);
    const char *keep = arena_printf(arena, "(%s %s (%s))", here, lowering->dialect->in, source);
    if (present)
        keep = arena_printf(arena, "(%s AND %s)", present, keep);
    if (column_op->join == JOIN_ANTI)
        keep = arena_printf(arena, "(NOT %s)", keep);
    if (left->fails)
        keep = arena_printf(arena, "(%s OR %s)", keep, left->fails);
    keep_where(left, keep, arena);
    return true;
}

static bool names_are_free(struct lowering *lowering)
{
    for (size_t t = 0; t < lowering->table_count; t++) {
        const struct table_reader *reader = (const struct table_reader *)lowering->tables[t].from->reader;
        if (reader && reader->takes_names)
            return lowering_refuse(lowering, "a table with columns whose names begin with rql_");
    }
    return true;
}

bool lower_member(struct lowering *lowering, const struct task *task, size_t input, struct sql_leaf *leaf)
{
    struct arena *arena = lowering->arena;
    struct select source;
    struct task alone = *task;
    struct select_column *columns = arena_array(arena, task->input_count, sizeof *columns);
    struct join join = {.lowering = lowering, .task = &alone};
    alone.inputs = arena_array(arena, task->input_count, sizeof *alone.inputs);
    for (size_t k = 0; k < task->input_count; k++) {
        alone.inputs[k] = task->inputs[k];
        alone.inputs[k].whole = false;
        alone.inputs[k].side = k == input ? JOIN_SOURCE : JOIN_ROWS;
    }
    if (!names_are_free(lowering) || !lowering_begin(lowering, &alone, true, &source, columns))
        return false;
    if (select_is_limited(&source) || source.group || source.joined)
        select_wrap(&source, arena);
    if (source.fails || source.columns[input].fails) /* of no rows, servers need not compute it */
        return lowering_refuse(lowering, "`in` with a table of which rows may fail");
    const char *key = key_text(&join, input, &source.columns[input]);
    if (!key)
        return lowering_refuse(lowering, "`in` with a column of this type");
    const struct select_item item = {key, arena_printf(arena, "rql_m%zu_%zu", task->number, input)};
    leaf->text = select_text(&source, &item, 1, false, arena);
    leaf->is_text = source.columns[input].leaf.is_text;
    return true;
}

bool lower_join(struct lowering *lowering, const struct task *task, struct select *select)
{
    const enum join_kind kind = task->column_op->join;
    const bool keeps = kind == JOIN_SEMI || kind == JOIN_ANTI;
    struct arena *arena = lowering->arena;
    struct join join = {.lowering = lowering, .task = task, .left = select};
    if (kind == JOIN_ASOF)
        return lowering_refuse(lowering, "`asof join`");
    if (kind == JOIN_CROSS)
        return lowering_refuse(lowering, "`cross join`");
    if (task->column_op->compares)
        return lowering_refuse(lowering, "a join by `<` or `>`");
    if (!names_are_free(lowering))
        return false;
    if (select_is_limited(select) || select->group || (select->joined && !keeps))
        select_wrap(select, arena);
    size_t *keys = arena_array(arena, task->column_op->key_count + 1, sizeof *keys), count = 0;
    for (size_t i = 0; i < task->column_op->key_count; i += 4)
        keys[count++] = task->column_op->keys[i];
    select_wrap_keys(select, keys, count, arena);
    join.columns = select->columns;
    if (!begin_source(&join) || !(keeps               ? keep_matching(&join)
                                  : kind == JOIN_FULL ? join_full(&join)
                                                      : join_rows(&join)))
        return false;
    struct select_column *columns = arena_array(arena, task->output_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed)
            columns[k] = join.columns[task_bare_input(task, task->outputs[k].value)];
    }
    select->columns = columns;
    select->count = task->output_count;
    select->rows = -1;
    select->aligned = false;
    if (lowering->shares) /* what a subquery adds is not to be joined again */
        select_wrap(select, arena);
    return true;
}
