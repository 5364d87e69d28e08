/* The tables that a queue reads, and their columns. */
#include "sql/lower/lower_internal.h"

#include "sql/wire/table.h"

#include <string.h>

static const char *name_of(const struct lowering *lowering, const char *name)
{
    struct strbuf out = {0};
    sql_add_name(&out, lowering->dialect, name);
    return strbuf_take(&out, lowering->arena);
}

/* The order of a column of the table. */
static struct select_order order_of(const struct lowering *lowering, const struct table_reader *reader,
                                    const char *name)
{
    struct select_order order = {.text = name_of(lowering, name)};
    for (size_t k = 0; k < reader->base.count; k++) {
        const struct wire_type *type = &reader->types[k];
        const bool integer = type->form == WIRE_AS_IS && type->logical.kind == LOGICAL_NUMBER;
        if (strcmp(reader->base.columns[k].name, name) != 0)
            continue;
        order.total = !type->nullable && type_table[type->type].kind != KIND_FLOAT;
        order.inverse = order.total && integer && type->type != TYPE_BOOL ? "bitNot" : NULL;
    }
    return order;
}

static void begin_table(const struct lowering *lowering, const struct table_columns *from, struct lowering_table *table)
{
    struct arena *arena = lowering->arena;
    const struct table_reader *reader = (const struct table_reader *)from->reader;
    const struct table_url *url = &reader->url;
    struct select *select = &table->select;
    table->from = from;
    *select = (struct select){
        .dialect = lowering->dialect, .checks = &table->checks, .take = INT64_MAX, .rows = TABLE_ROWS, .aligned = true};
    if (reader->file) {
        select->from = file_rows(lowering->dialect, reader->file, arena);
        select->order = arena_array(arena, 1, sizeof *select->order);
        select->order[select->order_count++] =
            (struct select_order){.text = lowering->dialect->file_row, .total = true};
        select->ordered = true;
        return;
    }
    select->from = name_of(lowering, url->table);
    if (url->database)
        select->from = arena_printf(arena, "%s.%s", name_of(lowering, url->database), select->from);
    select->order = arena_array(arena, url->order_count + 1, sizeof *select->order);
    for (size_t i = 0; i < url->order_count; i++)
        select->order[select->order_count++] = order_of(lowering, reader, url->order[i]);
    select->ordered = select->order_count > 0;
}

void lowering_begin_tables(struct lowering *lowering, const struct table_columns *from)
{
    lowering->table_count = 0;
    for (const struct table_columns *at = from; at; at = at->next)
        lowering->table_count++;
    lowering->tables = arena_array(lowering->arena, lowering->table_count, sizeof *lowering->tables);
    for (size_t t = 0; t < lowering->table_count; t++, from = from->next)
        (from->sent ? lowering_begin_sent : begin_table)(lowering, from, &lowering->tables[t]);
}

struct lowering_table *lowering_table_of(struct lowering *lowering, const struct input *input,
                                         struct select_column *column)
{
    for (size_t t = 0; t < lowering->table_count; t++) {
        struct lowering_table *table = &lowering->tables[t];
        const struct table_columns *from = table->from;
        const struct table_reader *reader = (const struct table_reader *)from->reader;
        for (size_t k = 0; k < from->count; k++) {
            const struct column *at = from->columns[k];
            if (at != input->column && at->validity != input->column)
                continue;
            if (from->sent) {
                *column = lowering_sent_column(lowering, table, k, at == input->column);
                return table;
            }
            const struct wire_type *wire = &reader->types[from->places[k]];
            const struct reader_column *described = &reader->base.columns[from->places[k]];
            const char *raw = reader->file ? file_column(lowering->dialect, described, lowering->arena)
                                           : name_of(lowering, described->name);
            if (!from->dialect) /* else it is only shown */
                select_add_check(&table->checks, lowering->dialect, raw, wire, lowering->arena);
            *column = at == input->column ? select_column_of(lowering->dialect, raw, wire, lowering->arena)
                                          : select_present(lowering->dialect, raw, lowering->arena);
            return table;
        }
    }
    return NULL;
}

bool lowering_is_list(const struct input *input)
{
    enum { MOST = 256 };
    const struct column *column = input->column;
    return input->whole && column && !column->unread && column->rows <= MOST &&
           type_table[column->type].kind == KIND_INT;
}

const char *lowering_list(const struct lowering *lowering, const struct input *input)
{
    struct strbuf out = {0};
    for (int64_t row = 0; row < input->column->rows; row++) {
        const char *number = arena_printf(lowering->arena, "%lld", (long long)column_get_int(input->column, row));
        strbuf_printf(&out, "%s%s", row > 0 ? ", " : "[",
                      sql_phrase(lowering->dialect->integer, number, NULL, lowering->arena));
    }
    strbuf_puts(&out, out.length > 0 ? "]" : "[]");
    return strbuf_take(&out, lowering->arena);
}
