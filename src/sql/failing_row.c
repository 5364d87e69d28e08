/* Of a table the first row in which something fails: instead of all rows, of which the exact evaluator would find it.
 */
#include "base/heap.h"
#include "sql/table_reader.h"
#include "sql/wire/query.h"
#include "sql/wire/table.h"

#include <stdlib.h>
#include <string.h>

struct failing_row {
    struct file_reader base;
    struct arena *arena;              /* of all that follows */
    const struct table_reader *table; /* borrowed */
    struct select select;
};

/* The query of these columns. */
static const char *row_query(const struct failing_row *reader, const size_t *wanted, size_t count, struct arena *arena)
{
    struct select_item *items = arena_array(arena, count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        struct strbuf name = {0};
        server_add_name(&name, reader->base.columns[wanted[i]].name);
        const char *raw = strbuf_take(&name, arena);
        items[i] = (struct select_item){wire_type_sent(&reader->table->types[wanted[i]], raw, arena),
                                        arena_printf(arena, "rql_%zu", i)};
    }
    const char *text = select_text(&reader->select, items, count, true, arena);
    return arena_printf(arena, "%s FORMAT Native", select_run(text, arena));
}

/* How many rows of the table come before it. */
static enum status find_place(struct failing_row *reader, const struct format_job *job)
{
    struct arena *arena = job->diags->arena;
    const struct select *select = &reader->select;
    struct select_item *keys = arena_array(arena, select->order_count + 1, sizeof *keys);
    struct strbuf names = {0};
    for (size_t i = 0; i < select->order_count; i++) {
        strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", select->order[i].text);
        keys[i] = (struct select_item){select->order[i].text, arena_printf(arena, "rql_%zu", i)};
    }
    const char *first = select_run(select_text(select, keys, select->order_count, true, arena), arena);
    const char *sql = arena_printf(arena, "SELECT count() AS rql_0 FROM %s WHERE (%s) < (%s) FORMAT Native",
                                   select->from, names.text, first);
    strbuf_free(&names);
    return query_for_count(reader->table->http, sql, reader->table->server, job->workers, &reader->base.place,
                           job->span, job->diags);
}

static enum status read_row(struct file_reader *base, const struct format_job *job, const bool *wanted,
                            struct column **columns)
{
    struct failing_row *reader = (struct failing_row *)base;
    struct arena *arena = job->diags->arena;
    size_t *places = arena_array(arena, base->count + 1, sizeof *places), count = 0;
    struct wire_type *types = arena_array(arena, base->count + 1, sizeof *types);
    const char **names = arena_array(arena, base->count + 1, sizeof *names);
    struct column **read = arena_array(arena, base->count + 1, sizeof(struct column *));
    for (size_t k = 0; k < base->count; k++) {
        if (wanted[k]) {
            types[count] = reader->table->types[k];
            names[count] = base->columns[k].name;
            places[count++] = k;
        }
    }
    const struct native_columns expected = {.names = names, .types = types, .count = count};
    const struct http_statement statement = {.sql = row_query(reader, places, count, arena)};
    enum status status = query_run(reader->table->http, &statement, &expected, reader->table->server, job->workers,
                                   read, &base->rows, job->span, job->diags);
    if (status == STATUS_FAILED) /* it may have a value that has no place here */
        base->rows = find_place(reader, job) == STATUS_OK;
    if (status == STATUS_OK && base->rows == 1) {
        status = find_place(reader, job);
        if (status != STATUS_OK)
            columns_unref(read, count);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        columns[places[i]] = read[i];
    return status;
}

static void close_row(struct file_reader *base)
{
    arena_free(((struct failing_row *)base)->arena);
    free(base);
}

/* Whether the order tells places: neither missing values nor NaN are less than others. */
static bool has_places(const struct table_reader *table)
{
    bool good = table->url.order_count > 0;
    for (size_t i = 0; i < table->url.order_count && good; i++) {
        for (size_t k = 0; k < table->base.count; k++) {
            const struct reader_column *column = &table->base.columns[k];
            if (strcmp(column->name, table->url.order[i]) == 0)
                good = good && !column->nullable && type_table[column->type].kind != KIND_FLOAT;
        }
    }
    return good;
}

struct file_reader *failing_row_new(const struct table_reader *table, const struct select *select)
{
    static const struct file_reader_ops ops = {.read = read_row, .close = close_row};
    if (!has_places(table))
        return NULL;
    struct failing_row *reader = heap_array(1, sizeof *reader);
    struct arena *arena = arena_new();
    struct select_checks *checks = arena_alloc(arena, sizeof *checks);
    *reader = (struct failing_row){.base = table->base, .arena = arena, .table = table, .select = *select};
    *checks = (struct select_checks){.count = 0};
    for (size_t i = 0; select->checks && i < select->checks->count; i++)
        *ARENA_PUSH(arena, checks->conditions, checks->count, checks->capacity) =
            arena_text(arena, select->checks->conditions[i], strlen(select->checks->conditions[i]));
    reader->select.checks = checks;
    reader->select.from = arena_text(arena, select->from, strlen(select->from));
    reader->select.where = arena_text(arena, select->where, strlen(select->where));
    reader->select.order = arena_array(arena, select->order_count + 1, sizeof *reader->select.order);
    for (size_t i = 0; i < select->order_count; i++)
        reader->select.order[i] = (struct select_order){
            .text = arena_text(arena, select->order[i].text, strlen(select->order[i].text)),
        };
    reader->base.ops = &ops;
    reader->base.rows = 0;
    reader->base.query = NULL;
    return &reader->base;
}
