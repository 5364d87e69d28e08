#include "sql/wire/query.h"

#include "engine/values/dictionary.h"

/* Asks once; *lost: a connection broke off or was refused. */
static enum status ask(struct http *http, const struct http_statement *statement, const struct native_columns *expected,
                       const char *server, const struct workers *workers, struct column **columns, int64_t *rows,
                       bool *lost, struct span span, struct diags *diags)
{
    const size_t before = diags->count;
    struct native *native = native_new(expected);
    enum status status = http_query(http, statement, native_receive, native, workers, span, diags);
    struct server_error error;
    *lost = status == STATUS_FAILED && http_has_lost(http);
    if (status == STATUS_FAILED && native_exception(native, diags->arena, &error)) {
        diags->count = before; /* that the connection broke off then is no news */
        *lost = server_error_is_lost(error.code);
        (void)server_error_report(&error, server, span, diags);
    }
    if (status == STATUS_OK && native_exception(native, diags->arena, &error))
        *lost = server_error_is_lost(error.code);
    if (status == STATUS_OK)
        status = native_finish(native, server, workers, columns, span, diags);
    *rows = native_rows(native);
    http_count_rows(http, *rows);
    native_free(native);
    return status;
}

enum status query_run(struct http *http, const struct http_statement *statement, const struct native_columns *expected,
                      const char *server, const struct workers *workers, struct column **columns, int64_t *rows,
                      struct span span, struct diags *diags)
{
    const size_t before = diags->count;
    bool lost;
    enum status status = ask(http, statement, expected, server, workers, columns, rows, &lost, span, diags);
    if (status == STATUS_FAILED && lost) { /* another replica may answer, or the server is back */
        diags->count = before;
        status = ask(http, statement, expected, server, workers, columns, rows, &lost, span, diags);
    }
    return status;
}

enum status query_for_count(struct http *http, const char *sql, const char *server, const struct workers *workers,
                            int64_t *number, struct span span, struct diags *diags)
{
    static const char *const name = "count()";
    struct column *column;
    struct wire_type type;
    int64_t rows;
    (void)wire_type_parse("UInt64", diags->arena, &type);
    const struct native_columns expected = {.names = &name, .types = &type, .count = 1};
    const enum status status =
        query_run(http, &(struct http_statement){.sql = sql}, &expected, server, workers, &column, &rows, span, diags);
    if (status != STATUS_OK)
        return status;
    *number = rows == 1 ? column_get_int(column, 0) : 0;
    column_unref(column);
    return rows == 1 ? STATUS_OK : diag_error(diags, span, "the answer of `%s` is not what was asked for", server);
}

enum status query_for_texts(struct http *http, const char *sql, size_t count, const char *server,
                            const struct workers *workers, struct query_texts *texts, struct span span,
                            struct diags *diags)
{
    static const char *const names[QUERY_MAX_TEXTS] = {"name", "value", "kind"};
    struct wire_type types[QUERY_MAX_TEXTS];
    *texts = (struct query_texts){0};
    for (size_t k = 0; k < count; k++)
        (void)wire_type_parse("String", diags->arena, &types[k]);
    const struct native_columns expected = {.names = names, .types = types, .count = count};
    return query_run(http, &(struct http_statement){.sql = sql}, &expected, server, workers, texts->columns,
                     &texts->rows, span, diags);
}

struct text query_text(const struct query_texts *texts, size_t column, int64_t row)
{
    const struct column *from = texts->columns[column];
    return dictionary_text(from->logical.dictionary, column_get_int(from, row));
}

const char **query_texts_of(const struct query_texts *texts, size_t column, struct arena *arena)
{
    const char **all = arena_array(arena, (size_t)texts->rows + 1, sizeof *all);
    for (int64_t row = 0; row < texts->rows; row++) {
        const struct text text = query_text(texts, column, row);
        all[row] = arena_text(arena, text.at, text.length);
    }
    return all;
}

void query_texts_release(struct query_texts *texts)
{
    columns_unref(texts->columns, QUERY_MAX_TEXTS);
    *texts = (struct query_texts){0};
}
