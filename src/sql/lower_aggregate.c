#include "sql/lower.h"

#include "sql/float_sum.h"

static struct select_column computed(const char *text)
{
    return (struct select_column){.leaf = {.text = text}};
}

/* The aggregated value, an integer; NULL: it cannot be said. */
static const char *operand(const struct aggregate *aggregate, struct sql_expressions *expressions,
                           const struct task *task)
{
    const bool plain = !aggregate->has_initial && task->code.at[aggregate->value].kind == KIND_INT;
    return plain ? sql_expression(expressions, aggregate->value) : NULL;
}

/* A group's sum S of n values v is the sum of their upper halves, u = floor(v / 2^32), times 2^32, and of their lower
 * ones. Neither overflows for n <= 2^32, so that what is beyond 64 bits is seen: floor(S / 2^32), which has to fit in
 * 32 bits. Then the wrapped sum is S. */
static const char *sum_too_large(const char *v, struct arena *arena)
{
    return arena_printf(arena,
                        "(count() > 4294967296 OR NOT ((sum(bitShiftRight(%s, 32)) + "
                        "toInt64(bitShiftRight(sum(toUInt64(bitAnd(%s, 4294967295))), 32))) "
                        "BETWEEN -2147483648 AND 2147483647))",
                        v, v);
}

/* Whether all values are in 32 bits, so that less than 2^31 of them have a sum in 64. */
static bool is_narrow(const struct aggregate *aggregate, const struct task *task)
{
    const struct instr *instr = &task->code.at[aggregate->value];
    return instr->lo >= INT32_MIN && instr->hi <= UINT32_MAX;
}

static const char *group_sum(const struct aggregate *aggregate, const struct sql_dialect *dialect, const char *v,
                             const struct task *task, const char **fails, struct arena *arena)
{
    if (dialect->sum) {
        *fails = sql_either(*fails, sql_phrase(dialect->sum_fails, v, NULL, arena), arena);
        return sql_phrase(dialect->sum, v, NULL, arena);
    }
    const char *large = is_narrow(aggregate, task) ? "(count() > 2147483648)" : sum_too_large(v, arena);
    *fails = sql_either(*fails, large, arena);
    return arena_printf(arena, "sum(%s)", v);
}

bool aggregates_lower(const struct task *task, const struct sql_dialect *dialect, struct sql_expressions *expressions,
                      struct select_column *columns, const char **fails, struct arena *arena)
{
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        if (aggregate->kind == AGG_COUNT) {
            columns[i] = computed(dialect->rows);
            continue;
        }
        const char *v = aggregate->value == NO_VALUE ? NULL : operand(aggregate, expressions, task), *text = NULL;
        if (!v)
            return false;
        if (aggregate->kind == AGG_SUM) {
            text = group_sum(aggregate, dialect, v, task, fails, arena);
        } else if (aggregate->kind == AGG_MIN || aggregate->kind == AGG_MAX) {
            text = arena_printf(arena, "%s(%s)", aggregate->kind == AGG_MIN ? "min" : "max", v);
        } else if (aggregate->kind == AGG_MEAN && aggregate->logical.kind == LOGICAL_NUMBER) {
            /* Both are doubles exactly, so that the quotient is rounded once. */
            text = group_sum(aggregate, dialect, v, task, fails, arena);
            const char *large = arena_printf(arena, "NOT (%s BETWEEN -9007199254740992 AND 9007199254740992)", text);
            *fails = sql_either(*fails, large, arena);
            text = arena_printf(arena, "(%s / %s)", sql_phrase(dialect->as_float, text, NULL, arena),
                                sql_phrase(dialect->as_float, dialect->rows, NULL, arena));
        }
        if (!text)
            return false;
        columns[i] = computed(text);
    }
    return true;
}

/* The columns of a sum or mean of floats; 0: it cannot be said. */
static size_t lower_float_sum(const struct aggregate *aggregate, const struct sql_dialect *dialect,
                              struct sql_expressions *expressions, struct select_column *columns, struct arena *arena)
{
    const char *texts[FLOAT_SUM_COLUMNS];
    const bool server = dialect == sql_clickhouse || dialect == sql_clickhouse_18;
    const bool sum = server && (aggregate->kind == AGG_SUM || aggregate->kind == AGG_MEAN) && !aggregate->has_initial;
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
    if (aggregate->value != NO_VALUE && task->code.at[aggregate->value].kind == KIND_FLOAT)
        return lower_float_sum(aggregate, dialect, expressions, columns, arena);
    const char *v = aggregate->value == NO_VALUE ? NULL : operand(aggregate, expressions, task);
    if (!v)
        return 0;
    switch (aggregate->kind) {
    case AGG_MEAN:
        if (aggregate->logical.kind != LOGICAL_NUMBER || dialect->whole_sum)
            return 0;
        /* fall through */
    case AGG_SUM:
        if (dialect->whole_sum) {
            columns[0] = computed(sql_phrase(dialect->whole_sum, v, NULL, arena));
            return 1;
        }
        if (is_narrow(aggregate, task)) {
            columns[0] = computed(arena_printf(arena, "sum(%s)", v));
            return 1;
        }
        columns[0] = computed(arena_printf(arena, "sum(bitShiftRight(%s, 32))", v));
        columns[1] = computed(arena_printf(arena, "toInt64(sum(bitAnd(%s, 4294967295)))", v));
        return 2;
    case AGG_MIN:
    case AGG_MAX:
        columns[0] = computed(arena_printf(arena, "%s(%s)", aggregate->kind == AGG_MIN ? "min" : "max", v));
        return 1;
    default:
        return 0;
    }
}
