#include "sql/table_reader.h"

#include "engine/storage/residency.h"
#include "sql/wire/external.h"

/* The columns of a relation that the query reads, and the numbers of its rows. */
static void set_table(const struct table_columns *from, struct external_table *table, struct arena *arena)
{
    const struct sent_rows *sent = from->sent;
    *table = (struct external_table){.name = sent_name(sent, arena), .rows = sent->relation->rows};
    table->columns = arena_array(arena, from->count + 1, sizeof *table->columns);
    for (size_t k = 0; k < from->count; k++) {
        const struct column *standing = from->columns[k];
        struct wire_type wire;
        if (!sent->used[k] || from->places[k] == SIZE_MAX)
            continue;
        external_column(standing->type, standing->logical, standing->validity, &wire, arena);
        table->columns[table->count++] = (struct stored_column){.column = sent->relation->columns[from->places[k]],
                                                                .name = sent_column_name(k, arena),
                                                                .type = wire.name,
                                                                .nullable = wire.nullable,
                                                                .width = wire.width,
                                                                .unit = 1};
    }
    table->columns[table->count++] =
        (struct stored_column){.name = external_row, .type = "Int64", .width = sizeof(int64_t), .unit = 1};
}

void sent_tables_set(struct sent_tables *sent, const struct table_columns *from, struct arena *arena)
{
    size_t most = 1;
    for (const struct table_columns *at = from; at; at = at->next)
        most++;
    struct external_table *tables = arena_array(arena, most, sizeof *tables);
    *sent = (struct sent_tables){.tables.at = tables, .held = arena_array(arena, most, sizeof(struct relation *))};
    for (const struct table_columns *at = from; at; at = at->next) {
        if (!at->sent || !at->sent->relation)
            continue;
        set_table(at, &tables[sent->tables.count], arena);
        sent->held[sent->tables.count++] = relation_ref(at->sent->relation);
    }
}

enum status sent_tables_fetch(const struct sent_tables *sent, struct span span, struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t t = 0; t < sent->tables.count && status == STATUS_OK; t++)
        status = relation_fetch(sent->held[t], 0, sent->held[t]->rows, span, diags);
    return status;
}

void sent_tables_release(const struct sent_tables *sent)
{
    for (size_t t = 0; t < sent->tables.count; t++)
        relation_unref(sent->held[t]);
}

bool sent_tables_fit(const struct sent_tables *sent, const char *sql)
{
    struct strbuf address = {0};
    if (sent->tables.count == 0)
        return true;
    external_add_address(&address, sql, &sent->tables);
    const bool fits = address.length <= EXTERNAL_MOST_ADDRESS;
    strbuf_free(&address);
    return fits;
}
