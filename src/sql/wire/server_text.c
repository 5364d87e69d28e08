#include "sql/wire/table_url.h"

static void add_quoted(struct strbuf *sql, char quote, const char *text)
{
    strbuf_putc(sql, quote);
    for (; *text; text++) {
        if (*text == quote || *text == '\\')
            strbuf_putc(sql, '\\');
        strbuf_putc(sql, *text);
    }
    strbuf_putc(sql, quote);
}

void server_add_name(struct strbuf *sql, const char *name)
{
    add_quoted(sql, '`', name);
}

void server_add_text(struct strbuf *sql, const char *text)
{
    add_quoted(sql, '\'', text);
}

void server_add_table(struct strbuf *sql, const struct table_url *url, const char *table)
{
    if (url->database) {
        server_add_name(sql, url->database);
        strbuf_putc(sql, '.');
    }
    server_add_name(sql, table);
}

void server_add_database(struct strbuf *sql, const struct table_url *url)
{
    if (url->database)
        server_add_text(sql, url->database);
    else
        strbuf_puts(sql, "currentDatabase()");
}
