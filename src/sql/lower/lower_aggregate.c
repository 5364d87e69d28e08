#include "sql/lower/lower_internal.h"

#include "sql/lower/float_sum.h"
#include "sql/lower/integer_sum.h"

#include <string.h>

static struct select_column computed(const char *text)
{
    return (struct select_column){.leaf = {.text = text}};
}

/* The aggregated value, an integer, or of a least or largest one a bool; NULL: it cannot be said. */
static const char *operand(const struct aggregate *aggregate, struct sql_expressions *expressions,
                           const struct task *task)
{
    const bool truth = task->code.at[aggregate->value].kind == KIND_BOOL;
    const bool extreme = aggregate_table[aggregate->kind].extreme;
    return aggregate->has_initial || (truth && !extreme) ? NULL : sql_expression(expressions, aggregate->value);
}

static const char *group_sum(const struct aggregate *aggregate, const struct sql_dialect *dialect, const char *v,
                             const struct task *task, const char **fails, struct arena *arena)
{
    if (dialect->sum) {
        *fails = sql_either(*fails, sql_phrase(dialect->sum_fails, v, NULL, arena), arena);
        return sql_phrase(dialect->sum, v, NULL, arena);
    }
    const int digits = digits_of(&task->code.at[aggregate->value]);
    const char *sums[MOST_DIGITS];
    digit_sums(v, digits, sums, arena);
    *fails = sql_either(*fails, digits_overflow(sums, digits, arena), arena);
    return arena_printf(arena, "sum(%s)", v);
}

static bool is_server(const struct sql_dialect *dialect)
{
    return dialect == sql_clickhouse;
}

/* The least or largest of floats: NaN only where there is nothing else, and zeros are positive. */
static const char *float_extreme(const struct aggregate *aggregate, const char *x, struct arena *arena)
{
    return arena_printf(arena, "if(max(toUInt8(NOT isNaN(%s))) = 1, %sIf(%s, NOT isNaN(%s)) + toFloat64(0), nan)", x,
                        aggregate_table[aggregate->kind].word, x, x);
}

/* A group's aggregate of floats. False: it cannot be said. */
static bool group_of_floats(const struct aggregate *aggregate, const struct sql_dialect *dialect, const char *x,
                            struct sql_expressions *expressions, struct select_column *own, struct select_column *parts,
                            const char **fails, struct arena *arena)
{
    const char *texts[LIMB_COLUMNS] = {NULL}, *unknown;
    if (aggregate_table[aggregate->kind].extreme) {
        *own = computed(float_extreme(aggregate, x, arena));
        return true;
    }
    if (!aggregate_table[aggregate->kind].sums || !float_limbs_add(x, texts, &unknown, arena))
        return false;
    for (int k = 0; k < LIMB_COLUMNS; k++)
        parts[k] = computed(texts[k]);
    *own = computed(aggregate->kind == AGG_MEAN ? dialect->rows : NULL);
    *fails = sql_either(*fails, unknown, arena);
    sql_unless(expressions, "the floats of a group are of 2^58 or more, or no multiples of 2^-110");
    return true;
}

/* A group's aggregate of integers. False: it cannot be said. */
static bool group_of_integers(const struct aggregate *aggregate, const struct sql_dialect *dialect, const char *v,
                              const struct task *task, struct select_column *own, struct select_column *parts,
                              const char **fails, struct arena *arena)
{
    const bool sums = aggregate_table[aggregate->kind].sums;
    if (aggregate_table[aggregate->kind].extreme) {
        *own = computed(arena_printf(arena, "%s(%s)", aggregate_table[aggregate->kind].word, v));
        return true;
    }
    if (!sums || (aggregate->kind == AGG_MEAN && aggregate->logical.kind != LOGICAL_NUMBER))
        return false;
    if (aggregate->kind == AGG_MEAN && is_server(dialect)) {
        const int digits = digits_of(&task->code.at[aggregate->value]);
        const char *texts[MOST_DIGITS];
        digit_sums(v, digits, texts, arena);
        for (int k = 0; k < digits; k++)
            parts[k] = computed(texts[k]);
        *own = computed(dialect->rows);
        *fails = sql_either(*fails, digits_overflow(texts, 1, arena), arena);
        return true;
    }
    const char *text = group_sum(aggregate, dialect, v, task, fails, arena);
    *own = computed(text);
    if (aggregate->kind == AGG_SUM)
        return true;
    /* Both are doubles exactly, so that the quotient is rounded once. */
    const char *large = arena_printf(arena, "NOT (%s BETWEEN -9007199254740992 AND 9007199254740992)", text);
    *fails = sql_either(*fails, large, arena);
    *own = computed(arena_printf(arena, "(%s / %s)", sql_phrase(dialect->as_float, text, NULL, arena),
                                 sql_phrase(dialect->as_float, dialect->rows, NULL, arena)));
    return true;
}

/* How many different values there are; NULL: it cannot be said. */
static const char *group_distinct(const struct aggregate *aggregate, const struct task *task,
                                  const struct select *select, struct sql_expressions *expressions, struct arena *arena)
{
    const struct sql_dialect *dialect = select->dialect;
    const size_t input = task_bare_input(task, aggregate->value);
    const bool text = input != SIZE_MAX && select->columns[input].leaf.is_text;
    const bool number = task->code.at[aggregate->value].kind == KIND_FLOAT;
    const char *v = text ? select->columns[input].leaf.text : sql_expression(expressions, aggregate->value);
    const char *where =
        aggregate->where == NO_VALUE ? dialect->truths[1] : sql_expression(expressions, aggregate->where);
    if (!v || !where || (number && !is_server(dialect)))
        return NULL;
    if (number) /* as bits: NaN is not equal to itself */
        v = arena_printf(arena, "reinterpretAsInt64(reinterpretAsString(%s))", sql_float_key(dialect, v, arena));
    return sql_phrase(aggregate->lower ? dialect->distinct_about : dialect->distinct, v, where, arena);
}

/* A variance or correlation; false: it cannot be said. */
static bool group_moment(const struct aggregate *aggregate, const struct task *task, const struct select *select,
                         struct sql_expressions *expressions, struct select_column *own, struct arena *arena)
{
    const struct instr *code = task->code.at;
    const bool pairs = aggregate->kind == AGG_CORR;
    const value values[] = {aggregate->value, pairs ? aggregate->other : aggregate->value};
    const char *texts[2], *where = select->dialect->truths[1];
    struct sql_moment *moment = arena_alloc(arena, sizeof *moment);
    *moment = (struct sql_moment){.pairs = pairs, .narrow = true, .scale = aggregate->scale};
    for (int i = 0; i < 2; i++) {
        const struct instr *instr = &code[values[i]];
        moment->floats = moment->floats || instr->kind == KIND_FLOAT;
        moment->narrow = moment->narrow && instr->lo >= INT32_MIN && instr->hi <= INT32_MAX;
    }
    for (int i = 0; i < 2; i++) {
        texts[i] = code[values[i]].kind == KIND_BOOL ? NULL : sql_expression(expressions, values[i]);
        if (texts[i] && moment->floats && code[values[i]].kind == KIND_INT)
            texts[i] = sql_phrase(select->dialect->as_float, texts[i], NULL, arena);
    }
    if (aggregate->where != NO_VALUE)
        where = sql_expression(expressions, aggregate->where);
    if (!is_server(select->dialect) || !texts[0] || !texts[1] || !where)
        return false;
    own->moment = moment;
    own->moment_of = moment_sums(moment, texts[0], pairs ? texts[1] : NULL, where, arena);
    return true;
}

bool moment_column(const struct task *task, const struct select *select, value v, struct select_column *column,
                   struct arena *arena)
{
    const struct instr *instr = v == NO_VALUE ? NULL : &task->code.at[v];
    const bool root = instr && instr->op == OP_SQRT;
    const size_t input = task_bare_input(task, root ? instr->args[0] : v);
    if (input == SIZE_MAX || !select->columns[input].moment || (root && select->columns[input].moment->root))
        return false;
    struct sql_moment *moment = arena_alloc(arena, sizeof *moment);
    *column = select->columns[input];
    *moment = *column->moment;
    moment->root = moment->root || root;
    column->moment = moment;
    return true;
}

/* A group's aggregate that has operands; false: it cannot be said. */
static bool group_of_operands(const struct aggregate *aggregate, const struct task *task, const struct output *output,
                              const struct select *select, struct sql_expressions *expressions,
                              struct select_column *own, struct arena *arena)
{
    const enum kind kind = task->code.at[aggregate->value].kind;
    const char *v = NULL, *where = NULL;
    if (aggregate->kind == AGG_DISTINCT) {
        *own = computed(group_distinct(aggregate, task, select, expressions, arena));
        return own->leaf.text;
    }
    if (aggregate->kind == AGG_VAR || aggregate->kind == AGG_CORR)
        return group_moment(aggregate, task, select, expressions, own, arena);
    if (aggregate->kind == AGG_AT_LEAST || aggregate->kind == AGG_AT_MOST)
        return lower_element(aggregate, task, output, select, expressions, own, arena);
    if (aggregate->kind != AGG_QUANTILE)
        return false;
    v = sql_expression(expressions, aggregate->value);
    if (aggregate->where != NO_VALUE)
        where = sql_expression(expressions, aggregate->where);
    if (!v || (aggregate->where != NO_VALUE && !where))
        return false;
    *own = computed(quantile_values(select->dialect, v, where, kind == KIND_FLOAT, arena));
    return own->leaf.text;
}

/* The least or largest text, of a column as it is; false: it is none. */
static bool text_extreme(const struct aggregate *aggregate, const struct task *task, const struct select *select,
                         struct select_column *own, struct arena *arena)
{
    const size_t input = task_bare_input(task, aggregate->value);
    const bool extreme = aggregate_table[aggregate->kind].extreme;
    if (!extreme || input == SIZE_MAX || !select->columns[input].leaf.is_text)
        return false;
    const char *word = aggregate_table[aggregate->kind].word;
    *own = computed(arena_printf(arena, "%s(%s)", word, select->columns[input].leaf.text));
    own->leaf.is_text = true;
    return true;
}

/* A sum of whether a condition holds is a number of rows, which fits; false: it is another sum. */
static bool counts_rows(const struct aggregate *aggregate, const struct task *task, const struct select *select,
                        struct select_column *own, struct arena *arena)
{
    const size_t input = task_bare_input(task, aggregate->value);
    const bool sum = aggregate->kind == AGG_SUM && input != SIZE_MAX && is_server(select->dialect);
    const char *where = sum ? select->columns[input].leaf.truth : NULL;
    if (where)
        *own = computed(arena_printf(arena, "toInt64(countIf(%s))", where));
    return where;
}

bool aggregates_lower(const struct task *task, const struct select *select, struct sql_expressions *expressions,
                      struct select_column *columns, size_t *parts, size_t *count, const char **fails,
                      struct arena *arena)
{
    enum { MOST_BYTES = 1 << 17 }; /* servers refuse statements of 256 kB */
    const struct sql_dialect *dialect = select->dialect;
    const size_t first = *count - task->aggregate_count;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        struct select_column *own = &columns[first + i];
        if (aggregate->kind == AGG_COUNT) {
            *own = computed(dialect->rows);
            continue;
        }
        if (aggregate->value == NO_VALUE && !task->outputs[first + i].needed)
            continue;
        if (aggregate->value == NO_VALUE || aggregate->has_initial)
            return false;
        if (aggregate_table[aggregate->kind].operands) {
            if (!group_of_operands(aggregate, task, &task->outputs[first + i], select, expressions, own, arena))
                return false;
            continue;
        }
        if (text_extreme(aggregate, task, select, own, arena))
            continue;
        const enum kind kind = task->code.at[aggregate->value].kind;
        if (counts_rows(aggregate, task, select, own, arena))
            continue;
        const char *v = kind == KIND_BOOL ? NULL : sql_expression(expressions, aggregate->value);
        if (!v)
            return false;
        struct select_column *its = &columns[*count];
        if (!(kind == KIND_INT
                  ? group_of_integers(aggregate, dialect, v, task, own, its, fails, arena)
                  : is_server(dialect) && group_of_floats(aggregate, dialect, v, expressions, own, its, fails, arena)))
            return false;
        if (task->outputs[first + i].logical.kind == LOGICAL_TEXT) {
            own->leaf.text = sql_string_of(expressions, own->leaf.text, task->outputs[first + i].logical.dictionary);
            own->leaf.is_text = true;
            if (!own->leaf.text)
                return false;
        }
        if (its->leaf.text) {
            parts[i] = *count;
            *count += kind == KIND_INT ? MEAN_COLUMNS : LIMB_COLUMNS;
        }
        if (*fails && strlen(*fails) > MOST_BYTES / 2)
            return false;
    }
    return true;
}

/* The columns of a sum or mean of floats; 0: it cannot be said. */
static size_t lower_float_sum(const struct aggregate *aggregate, struct sql_expressions *expressions,
                              struct select_column *columns, struct arena *arena)
{
    const char *texts[FLOAT_SUM_COLUMNS];
    const bool sum = aggregate_table[aggregate->kind].sums && !aggregate->has_initial;
    const char *x = sum ? sql_expression(expressions, aggregate->value) : NULL;
    if (!x || !float_sum_columns(x, texts, arena))
        return 0;
    for (size_t k = 0; k < FLOAT_SUM_COLUMNS; k++)
        columns[k] = computed(texts[k]);
    return FLOAT_SUM_COLUMNS;
}

size_t aggregate_lower(const struct aggregate *aggregate, const struct sql_dialect *dialect,
                       struct sql_expressions *expressions, const struct task *task, struct select_column *columns,
                       struct arena *arena)
{
    if (aggregate->kind == AGG_COUNT) {
        columns[0] = computed(dialect->rows);
        return 1;
    }
    if (aggregate->value != NO_VALUE && task->code.at[aggregate->value].kind == KIND_FLOAT) {
        if (!is_server(dialect))
            return 0;
        if (!aggregate_table[aggregate->kind].extreme)
            return lower_float_sum(aggregate, expressions, columns, arena);
        const char *x = aggregate->has_initial ? NULL : sql_expression(expressions, aggregate->value);
        if (x)
            columns[0] = computed(
                arena_printf(arena, "reinterpretAsInt64(reinterpretAsString(%s))", float_extreme(aggregate, x, arena)));
        return x ? 1 : 0;
    }
    const char *v = aggregate->value == NO_VALUE ? NULL : operand(aggregate, expressions, task);
    if (!v)
        return 0;
    if (aggregate_table[aggregate->kind].extreme) {
        columns[0] = computed(arena_printf(arena, "%s(%s)", aggregate_table[aggregate->kind].word, v));
        return 1;
    }
    const bool mean = aggregate->kind == AGG_MEAN;
    if (!aggregate_table[aggregate->kind].sums || (mean && dialect->whole_sum))
        return 0;
    if (dialect->whole_sum) {
        columns[0] = computed(sql_phrase(dialect->whole_sum, v, NULL, arena));
        return 1;
    }
    const int digits = digits_of(&task->code.at[aggregate->value]);
    const char *sums[MOST_DIGITS];
    digit_sums(v, digits, sums, arena);
    for (int k = 0; k < digits; k++)
        columns[k] = computed(sums[k]);
    return (size_t)digits;
}

const char *value_fails(const struct lowered *lowered, struct arena *arena)
{
    const struct select *select = &lowered->select;
    const enum aggregate_kind kind = lowered->last->aggregates[0].kind;
    const char *fails = select_fails_of_group(select, arena);
    if (kind == AGG_SUM || kind == AGG_COUNT || select->rows == 1)
        return fails;
    return sql_either(fails, arena_printf(arena, "(%s = 0)", select->dialect->rows), arena);
}
