#include "sql/table_reader.h"

#include <string.h>

static bool converts(const struct sql_dialect *dialect)
{
    return dialect == sql_clickhouse;
}

struct sent_column sent_as(const struct sql_dialect *dialect, const char *text, enum type type,
                           struct logical_type logical, struct arena *arena)
{
    struct sent_column sent = {.truth = type == TYPE_BOOL};
    const char *name = logical.kind == LOGICAL_TEXT ? "String" : type_table[type].server;
    (void)wire_type_parse(name, arena, &sent.type);
    sent.type.logical = logical;
    sent.type.logical.dictionary = NULL;
    sent.text =
        text && converts(dialect) && logical.kind != LOGICAL_TEXT ? arena_printf(arena, "to%s(%s)", name, text) : text;
    return sent;
}

/* What a column of the table is sent as. */
static struct sent_column sent_raw(const struct sql_dialect *dialect, const struct select_column *column,
                                   struct arena *arena)
{
    return (struct sent_column){.text = sql_converted(dialect, column->raw, column->wire, arena),
                                .type = *column->wire};
}

/* The text of whether output k has a value; NULL: it always has one, or that cannot be said. */
static const char *presence_of(const struct lowered *lowered, size_t k)
{
    const size_t validity = lowered->last->outputs[k].validity;
    return validity ? lowered->select.columns[validity].leaf.text : NULL;
}

/* Whether output k is a column of the table, with its missing values and no others. */
static bool is_sent_raw(const struct lowered *lowered, size_t k, struct arena *arena)
{
    const struct select_column *column = &lowered->select.columns[k];
    const char *present = presence_of(lowered, k);
    return column->raw &&
           (present ? strcmp(present, select_present(lowered->select.dialect, column->raw, arena).leaf.text) == 0
                    : !column->wire->nullable);
}

struct sent_column sent_output(const struct lowered *lowered, size_t k, struct arena *arena)
{
    const struct output *output = &lowered->last->outputs[k];
    const struct select_column *column = &lowered->select.columns[k];
    const char *present = presence_of(lowered, k);
    if (is_sent_raw(lowered, k, arena))
        return sent_raw(lowered->select.dialect, column, arena);
    struct sent_column sent = sent_as(lowered->select.dialect, column->leaf.text, output->type, output->logical, arena);
    if (column->moment) {
        const struct logical_type text = {.kind = LOGICAL_TEXT};
        sent = sent_as(lowered->select.dialect, column->moment_of, TYPE_U32, text, arena);
        sent.moment = column->moment;
    }
    if (!output->validity || !sent.text)
        return sent;
    const struct sql_dialect *dialect = lowered->select.dialect;
    if (!present)
        sent.text = NULL;
    else if (!converts(dialect))
        sent.text = arena_printf(arena, "CASE WHEN %s THEN %s END", present, sent.text);
    else if (strcmp(present, dialect->truths[0]) == 0 || strcmp(present, dialect->truths[1]) == 0) /* has no type */
        sent.text = arena_printf(arena, "CAST(if(%s, %s, NULL) AS Nullable(%s))", present, sent.text, sent.type.name);
    else
        sent.text = arena_printf(arena, "if(%s, %s, NULL)", present, sent.text);
    sent.type.nullable = true;
    return sent;
}

/* The conditions under which values that are converted have no place here; NULL: they always have. */
static const char *conversions_fail(const struct lowered *lowered, struct arena *arena)
{
    const char *fails = NULL;
    for (size_t k = 0; k < lowered->last->output_count; k++) {
        if (!lowered->last->outputs[k].hidden && !is_sent_raw(lowered, k, arena))
            fails = sql_either(fails, lowered->select.columns[k].fails, arena);
    }
    return fails;
}

/* Where rows are limited, those that fail are sorted to the front. A limit that is there already must not choose other
 * rows for that, so the select is wrapped. */
void sent_columns_begin(struct lowered *lowered, struct arena *arena)
{
    struct select *select = &lowered->select;
    if (select_is_limited(select) && conversions_fail(lowered, arena))
        select_wrap(select, arena);
    select->fails = sql_either(select->fails, conversions_fail(lowered, arena), arena);
}
