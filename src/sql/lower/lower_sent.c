/* Rows from here that go up with a query (sql/wire/external.h), as a table that it reads. */
#include "sql/lower/lower_internal.h"

#include "sql/wire/external.h"

const char *sent_name(const struct sent_rows *sent, struct arena *arena)
{
    return arena_printf(arena, "rql_x%zu", sent->number);
}

const char *sent_column_name(size_t k, struct arena *arena)
{
    return arena_printf(arena, "c%zu", k);
}

/* Rows from here, which their numbers order. */
void lowering_begin_sent(const struct lowering *lowering, const struct table_columns *from,
                         struct lowering_table *table)
{
    struct arena *arena = lowering->arena;
    table->from = from;
    table->sent = arena_array(arena, from->count + 1, sizeof *table->sent);
    for (size_t k = 0; k < from->count; k++) {
        const struct column *column = from->columns[k];
        external_column(column->type, column->logical, column->validity, &table->sent[k], arena);
    }
    table->select = (struct select){.dialect = lowering->dialect,
                                    .checks = &table->checks,
                                    .from = sent_name(from->sent, arena),
                                    .order = arena_array(arena, 1, sizeof(struct select_order)),
                                    .order_count = 1,
                                    .ordered = true,
                                    .take = INT64_MAX,
                                    .rows = TABLE_ROWS,
                                    .aligned = true};
    table->select.order[0] = (struct select_order){.text = external_row, .total = true, .inverse = "bitNot"};
}

/* Column k of rows from here, or whether it has a value. */
struct select_column lowering_sent_column(const struct lowering *lowering, const struct lowering_table *table, size_t k,
                                          bool its_value)
{
    const struct column *column = table->from->columns[k];
    const char *name = sent_column_name(k, lowering->arena);
    table->from->sent->used[k] = true;
    if (!its_value)
        return select_present(lowering->dialect, name, lowering->arena);
    struct select_column result = select_column_of(lowering->dialect, name, &table->sent[k], lowering->arena);
    if (column->type == TYPE_BOOL || (column->logical.kind != LOGICAL_NUMBER && column->logical.kind != LOGICAL_TEXT))
        result.raw = NULL; /* else it would come back as a number */
    return result;
}
