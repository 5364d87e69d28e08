#include "sql/table_reader.h"

#include "base/heap.h"
#include "base/memory_size.h"
#include "base/strbuf.h"
#include "sql/lower/dialect.h"
#include "sql/wire/kept_answers.h"
#include "sql/wire/query.h"
#include "sql/wire/servers.h"
#include "sql/wire/table.h"
#include "sql/wire/table_url.h"

#include <stdlib.h>
#include <string.h>

/* There is no such table: what names are like it? */
static enum status report_no_table(struct table_reader *reader, const struct format_job *job)
{
    struct strbuf sql = {0};
    struct query_texts tables;
    strbuf_puts(&sql, "SELECT name AS rql_0 FROM system.tables WHERE database = ");
    server_add_database(&sql, &reader->url);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_texts(reader->http, sql.text, 1, reader->server, job->workers, &tables, job->span, job->diags);
    strbuf_free(&sql);
    if (status != STATUS_OK)
        return status;
    struct arena *arena = job->diags->arena;
    const char **names = query_texts_of(&tables, 0, arena);
    const size_t count = (size_t)tables.rows;
    query_texts_release(&tables);
    const char *database = reader->url.database;
    return diag_error(job->diags, job->span, "there is no table `%s%s%s` on `%s`%s", database ? database : "",
                      database ? "." : "", reader->url.table, reader->server,
                      did_you_mean(arena, reader->url.table, names, count));
}

bool column_name_is_taken(const char *name)
{
    return strncmp(name, "rql_", strlen("rql_")) == 0;
}

/* Whether a row of the answer is of a column. *bytes: those that the server stores of it. */
static bool is_column(struct text kind, int64_t *bytes)
{
    static const char word[] = "column ";
    const size_t length = strlen(word);
    *bytes = 0;
    if (kind.length < length || memcmp(kind.at, word, length) != 0)
        return false;
    for (size_t i = length; i < kind.length && *bytes < INT64_MAX / 100; i++)
        *bytes = 10 * *bytes + (kind.at[i] - '0');
    return true;
}

/* Sets the columns from their names and types on the server; false: there are none. */
static bool set_columns(struct table_reader *reader, const struct query_texts *found, const struct format_job *job)
{
    const char **names = query_texts_of(found, 0, reader->arena), **types = query_texts_of(found, 1, reader->arena);
    const size_t most = (size_t)found->rows;
    struct file_reader *base = &reader->base;
    size_t there = 0;
    base->columns = arena_array(reader->arena, most + 1, sizeof *base->columns);
    reader->types = arena_array(reader->arena, most + 1, sizeof *reader->types);
    reader->bytes = arena_array(reader->arena, most + 1, sizeof *reader->bytes);
    for (size_t i = 0; i < most; i++) {
        struct wire_type *type = &reader->types[base->count];
        if (!is_column(query_text(found, 2, (int64_t)i), &reader->bytes[base->count]))
            continue;
        there++;
        if (column_name_is_taken(names[i])) {
            reader->takes_names = true;
            diag_note(job->diags, job->span, "`%s` is left out: rql's queries use names that begin with rql_",
                      names[i]);
            continue;
        }
        if (!wire_type_parse(types[i], reader->arena, type)) {
            diag_note(job->diags, job->span, "`%s` is left out: columns of type %s cannot be read", names[i], types[i]);
            continue;
        }
        base->columns[base->count++] = (struct reader_column){
            .name = names[i], .type = type->type, .logical = type->logical, .nullable = type->nullable};
    }
    return there > 0;
}

/* One request: the settings, and the columns. */
static enum status ask_columns(struct table_reader *reader, const struct format_job *job, struct query_texts *found)
{
    struct strbuf sql = {0};
    server_settings_ask(&sql);
    strbuf_puts(
        &sql, " UNION ALL SELECT name, type, concat('column ', toString(data_uncompressed_bytes)) FROM system.columns "
              "WHERE database = ");
    server_add_database(&sql, &reader->url);
    strbuf_puts(&sql, " AND table = ");
    server_add_text(&sql, reader->url.table);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_texts(reader->http, sql.text, 3, reader->server, job->workers, found, job->span, job->diags);
    strbuf_free(&sql);
    return status;
}

/* Opens the table: what its columns are, and settings for all further queries. */
static enum status find_columns(struct table_reader *reader, struct kept_answers *kept, const struct format_job *job)
{
    const struct table_url *url = &reader->url;
    const char *key = arena_printf(reader->arena, "%d %s %s %s", url->tls, reader->server,
                                   url->database ? url->database : "", url->table);
    struct query_texts found;
    bool changed = false;
    const bool known = kept_answers_find(kept, key, &found);
    enum status status = known ? STATUS_OK : ask_columns(reader, job, &found);
    if (status != STATUS_OK)
        return status;
    status = server_settings_pin(reader->http, reader->server, &found, &changed, job->span, job->diags);
    if (status == STATUS_OK && changed) { /* with the server's own, the answer may lack columns */
        query_texts_release(&found);
        status = ask_columns(reader, job, &found);
    } else if (status == STATUS_OK && !known) {
        kept_answers_add(kept, key, &found);
    }
    if (status == STATUS_OK && !set_columns(reader, &found, job))
        status = report_no_table(reader, job);
    query_texts_release(&found);
    return status;
}

/* The columns that order the rows must be there. */
static enum status check_order(const struct table_reader *reader, const struct format_job *job)
{
    const struct table_url *url = &reader->url;
    struct arena *arena = job->diags->arena;
    const char **names = arena_array(arena, reader->base.count + 1, sizeof *names);
    for (size_t k = 0; k < reader->base.count; k++)
        names[k] = reader->base.columns[k].name;
    for (size_t i = 0; i < url->order_count; i++) {
        size_t k = 0;
        while (k < reader->base.count && strcmp(names[k], url->order[i]) != 0)
            k++;
        if (k == reader->base.count)
            return diag_error(job->diags, job->span, "`%s` has no column `%s` to order its rows by%s", url->table,
                              url->order[i], did_you_mean(arena, url->order[i], names, reader->base.count));
    }
    return STATUS_OK;
}

static enum status count_rows(struct file_reader *base, const struct format_job *job)
{
    const struct table_reader *reader = (struct table_reader *)base;
    struct strbuf sql = {0};
    strbuf_puts(&sql, "SELECT count() AS rql_0 FROM ");
    server_add_table(&sql, &reader->url, reader->url.table);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_count(reader->http, sql.text, reader->server, job->workers, &base->rows, job->span, job->diags);
    strbuf_free(&sql);
    return status;
}

static void add_select(struct strbuf *sql, const struct table_reader *reader, const size_t *wanted, size_t count,
                       struct arena *arena)
{
    strbuf_puts(sql, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        struct strbuf name = {0};
        server_add_name(&name, reader->base.columns[wanted[i]].name);
        const char *sent = wire_type_sent(&reader->types[wanted[i]], name.text, arena);
        strbuf_printf(sql, "%s%s AS rql_%zu", i > 0 ? ", " : "", sent, i);
        strbuf_free(&name);
    }
    strbuf_puts(sql, " FROM ");
    server_add_table(sql, &reader->url, reader->url.table);
    strbuf_puts(sql, " ORDER BY ");
    for (size_t i = 0; i < reader->url.order_count; i++) {
        strbuf_puts(sql, i > 0 ? ", " : "");
        server_add_name(sql, reader->url.order[i]);
    }
    strbuf_puts(sql, " FORMAT Native");
}

/* The bytes of the columns, as far as they are known: of texts those that the server stores, if it says so, else those
 * of what stands for them here. INT64_MAX: beyond 64 bits. */
static int64_t size_of(const struct table_reader *reader, const size_t *wanted, size_t count)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_type *type = &reader->types[wanted[i]];
        const int64_t width = (int64_t)type_table[type->type].size + type->nullable;
        int64_t column;
        if (__builtin_mul_overflow(reader->base.rows, width, &column))
            return INT64_MAX;
        if (type->form == WIRE_TEXT && reader->bytes[wanted[i]] > column)
            column = reader->bytes[wanted[i]];
        if (__builtin_add_overflow(bytes, column, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

/* Nothing large travels unasked. */
static enum status check_size(const struct table_reader *reader, const size_t *wanted, size_t count, struct span span,
                              struct diags *diags)
{
    const int64_t bytes = size_of(reader, wanted, count), most = http_fetch(reader->http), megabyte = 1000000;
    if (most > 0 && bytes > most)
        return http_refuse_size(reader->http,
                                arena_printf(diags->arena, "%lld rows of %zu column%s of `%s` are %lld MB",
                                             (long long)reader->base.rows, count, count == 1 ? "" : "s",
                                             reader->url.table, (long long)(bytes / megabyte)),
                                bytes, span, diags);
    if (!system_memory_has(bytes))
        return diag_error(diags, span, "the %lld rows of `%s` do not fit in memory", (long long)reader->base.rows,
                          reader->url.table);
    return STATUS_OK;
}

static enum status report_no_order(const struct table_url *url, struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "add the column that orders them: ?by=COLUMN; `take 10` shows any rows",
                           "the rows of `%s` have no order, which this pipeline needs here", url->table);
}

static enum status read_table(struct file_reader *base, const struct format_job *job, const bool *wanted,
                              struct column **columns)
{
    struct table_reader *reader = (struct table_reader *)base;
    if (base->unordered)
        return report_no_order(&reader->url, job->span, job->diags);
    struct arena *arena = job->diags->arena;
    size_t *places = arena_array(arena, base->count + 1, sizeof *places), count = 0;
    struct wire_type *types = arena_array(arena, base->count + 1, sizeof *types);
    const char **names = arena_array(arena, base->count + 1, sizeof *names);
    struct column **read = arena_array(arena, base->count + 1, sizeof(struct column *));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < base->count; k++) {
        if (wanted[k]) {
            types[count] = reader->types[k];
            names[count] = base->columns[k].name;
            places[count++] = k;
        }
    }
    if (base->rows == TABLE_ROWS)
        status = count_rows(base, job);
    if (status != STATUS_OK)
        return status;
    status = check_size(reader, places, count, job->span, job->diags);
    if (status != STATUS_OK)
        return status;
    struct strbuf sql = {0};
    int64_t rows;
    add_select(&sql, reader, places, count, arena);
    const struct native_columns expected = {.names = names, .types = types, .count = count};
    status = query_run(reader->http, &(struct http_statement){.sql = sql.text}, &expected, reader->server, job->workers,
                       read, &rows, job->span, job->diags);
    strbuf_free(&sql);
    if (status != STATUS_OK)
        return status;
    base->rows = rows;
    for (size_t i = 0; i < count; i++)
        columns[places[i]] = read[i];
    return STATUS_OK;
}

static void close_table(struct file_reader *base)
{
    struct table_reader *reader = (struct table_reader *)base;
    http_free(reader->http);
    arena_free(reader->arena);
    free(reader);
}

static const struct file_reader_ops table_ops = {.read = read_table, .count = count_rows, .close = close_table};

bool reader_is_table(const struct file_reader *reader)
{
    return reader->ops == &table_ops;
}

/* As what a server would have the column, which another dialect reads. */
static void set_file_type(const struct reader_column *column, struct wire_type *type, struct arena *arena)
{
    const char *name = type_table[column->type].server;
    switch (column->logical.kind) {
    case LOGICAL_TEXT:
        name = "String";
        break;
    case LOGICAL_DATE:
        name = "Date32";
        break;
    case LOGICAL_TIMESTAMP:
        name = "DateTime64(6)";
        break;
    case LOGICAL_DECIMAL:
        name = arena_printf(arena, "Decimal(18, %d)", column->logical.scale);
        break;
    case LOGICAL_DURATION:
    case LOGICAL_LIST:
        name = "FixedString(1)"; /* which is not said */
        break;
    case LOGICAL_NUMBER:
        name = column->type == TYPE_BOOL ? "Bool" : name;
    }
    (void)wire_type_parse(column->nullable ? arena_printf(arena, "Nullable(%s)", name) : name, arena, type);
}

static struct file_reader *table_of_file(const char *path, const struct file_reader *file, const char *dialect,
                                         struct arena *arena)
{
    static const char ending[] = ".parquet";
    const size_t length = strlen(path);
    if (!sql_dialect_find(dialect)->file || length < strlen(ending) ||
        strcmp(path + length - strlen(ending), ending) != 0)
        return NULL;
    struct table_reader *reader = ARENA_NEW(arena, struct table_reader, .base = *file, .arena = arena, .server = "");
    reader->base.ops = &table_ops;
    reader->file = path;
    reader->refusal = file_refusal(sql_dialect_find(dialect), file, arena);
    reader->types = arena_array(arena, file->count + 1, sizeof *reader->types);
    for (size_t k = 0; k < file->count; k++)
        set_file_type(&file->columns[k], &reader->types[k], arena);
    return &reader->base;
}

/* The same server, port, user and protocol. */
bool readers_are_together(const struct file_reader *a, const struct file_reader *b)
{
    const struct table_reader *first = (const struct table_reader *)a, *second = (const struct table_reader *)b;
    return strcmp(first->server, second->server) == 0 && first->url.tls == second->url.tls;
}

static enum status table_reader_open(struct servers *servers, const char *address, const struct format_job *job,
                                     struct file_reader **opened)
{
    struct table_reader *reader = heap_array(1, sizeof *reader);
    struct diags kept; /* the address is kept as long as the reader */
    *reader =
        (struct table_reader){.base = {.ops = &table_ops, .live = true, .rows = TABLE_ROWS}, .arena = arena_new()};
    diags_init(&kept, reader->arena);
    enum status status = table_url_parse(address, &reader->url, job->span, &kept);
    diags_add_errors(job->diags, &kept);
    reader->base.unordered = reader->url.order_count == 0;
    if (status == STATUS_OK) {
        reader->server = table_url_server(&reader->url, reader->arena);
        servers_meet(servers, &reader->url);
        reader->http = http_new(&reader->url, servers_shared(servers), job->span, job->diags);
        status = reader->http ? find_columns(reader, servers_kept(servers), job) : STATUS_FAILED;
    }
    if (status == STATUS_OK)
        status = check_order(reader, job);
    if (status != STATUS_OK)
        close_table(&reader->base);
    else
        *opened = &reader->base;
    return status;
}

struct table_source table_source_of(struct servers *servers)
{
    return (struct table_source){.servers = servers,
                                 .accepts = is_table_url,
                                 .open = table_reader_open,
                                 .save_check = table_save_check,
                                 .save = table_save,
                                 .set_limits = servers_set_limits,
                                 .limits = servers_limits,
                                 .of_file = table_of_file,
                                 .together = readers_are_together,
                                 .traffic = servers_traffic,
                                 .forget = servers_forget,
                                 .connections = servers_connections,
                                 .peek = servers_peek,
                                 .dialect = sql_dialect_name,
                                 .complete = servers_complete,
                                 .lower = remote_reader_new};
}
