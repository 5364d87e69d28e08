/* The value in the row of a group that is the first, or the last, or has the least or greatest of another value: an
 * argMin or argMax by a tuple of that value and of what orders the rows. */
#include "sql/lower/lower_internal.h"

/* What orders the rows, as elements of a tuple, all of them ascending or all descending; false: they have no order that
 * one tuple has. */
static bool add_places(const struct select *select, struct strbuf *key, bool descending)
{
    bool good = select->ordered && select->order_count > 0;
    for (size_t i = 0; i < select->order_count && good; i++) {
        const struct select_order *order = &select->order[i];
        const char *inverse = order->descending != descending ? order->inverse : "";
        good = order->total && inverse;
        strbuf_printf(key, "%s%s(%s)", key->length > 0 ? ", " : "", good ? inverse : "", order->text);
    }
    return good;
}

/* The other value, of which the least is looked for: NaN comes last, and zeros are equal. False: it cannot be said. */
static bool add_other(const struct aggregate *aggregate, const struct task *task, const struct select *select,
                      struct sql_expressions *expressions, struct strbuf *key)
{
    const size_t input = task_bare_input(task, aggregate->other);
    const bool most = aggregate->kind == AGG_AT_MOST, text = input != SIZE_MAX && select->columns[input].leaf.is_text;
    const char *v = text ? select->columns[input].leaf.text : sql_expression(expressions, aggregate->other);
    if (!v || (text && most))
        return false;
    switch (text ? KIND_INT : task->code.at[aggregate->other].kind) {
    case KIND_FLOAT:
        strbuf_printf(key, "isNaN(%s), %s(if(isNaN(%s), toFloat64(0), %s))", v, most ? "negate" : "toFloat64", v, v);
        break;
    case KIND_BOOL:
        strbuf_printf(key, most ? "toUInt8(NOT %s)" : "toUInt8(%s)", v);
        break;
    default:
        strbuf_printf(key, most ? "bitNot(%s)" : "%s", v);
    }
    return true;
}

bool lower_element(const struct aggregate *aggregate, const struct task *task, const struct output *output,
                   const struct select *select, struct sql_expressions *expressions, struct select_column *own,
                   struct arena *arena)
{
    const bool by_other = aggregate->other != NO_VALUE, is_text = output->logical.kind == LOGICAL_TEXT;
    const char *where =
        aggregate->where == NO_VALUE ? select->dialect->truths[1] : sql_expression(expressions, aggregate->where);
    const char *v = is_text ? sql_text_expression(expressions, aggregate->value, output->logical.dictionary)
                            : sql_expression(expressions, aggregate->value);
    struct strbuf key = {0};
    const bool descending = !by_other && select->order_count > 0 && select->order[0].descending;
    /* Here only the rows that are taken may fail. */
    const bool good = select->dialect == sql_clickhouse && !select->fails && v && where &&
                      (!by_other || add_other(aggregate, task, select, expressions, &key)) &&
                      add_places(select, &key, descending);
    if (good) {
        const bool least = by_other || (aggregate->kind == AGG_AT_LEAST) != descending;
        own->leaf.text =
            arena_printf(arena, "%s(%s, tuple(%s), %s)", least ? "argMinIf" : "argMaxIf", v, key.text, where);
        own->leaf.is_text = is_text;
    }
    strbuf_free(&key);
    return good;
}
