#include "sql/wire/table_url.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 8123, TLS_PORT = 8443, MAX_PORT = 65535 };

static const char plain[] = "clickhouse://", secure[] = "clickhouses://";

bool is_table_url(const char *path)
{
    return word_begins(path, plain) || word_begins(path, secure);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* The text with %XX decoded; NULL if that is not two digits, or a NUL. */
static const char *decoded(const char *at, size_t length, struct arena *arena)
{
    char *text = arena_text(arena, at, length), *to = text;
    for (size_t i = 0; i < length; i++) {
        char c = at[i];
        if (c == '%') {
            if (i + 2 >= length || !isxdigit((unsigned char)at[i + 1]) || !isxdigit((unsigned char)at[i + 2]))
                return NULL;
            c = (char)(hex_digit(at[i + 1]) * 16 + hex_digit(at[i + 2]));
            i += 2;
        }
        if (!c)
            return NULL;
        *to++ = c;
    }
    *to = '\0';
    return text;
}

static enum status wrong(struct diags *diags, struct span span, const char *problem)
{
    return diag_error_hint(
        diags, span, "as in `clickhouse://HOST/DATABASE/TABLE?by=COLUMN`, or clickhouses:// with TLS", "%s", problem);
}

/* USER@HOST:PORT */
static enum status parse_server(const char *at, size_t length, struct table_url *url, struct span span,
                                struct diags *diags)
{
    const char *user_end = memchr(at, '@', length);
    if (user_end) {
        if (memchr(at, ':', (size_t)(user_end - at)))
            return diag_error_hint(
                diags, span, "put it into ~/.netrc (machine HOST login USER password PASSWORD) or CLICKHOUSE_PASSWORD",
                "an address holds no password");
        url->user = decoded(at, (size_t)(user_end - at), diags->arena);
        if (!url->user || !*url->user)
            return wrong(diags, span, "the user's name in the address is not valid");
        length -= (size_t)(user_end + 1 - at);
        at = user_end + 1;
    }
    const char *bracket = length > 0 && *at == '[' ? memchr(at, ']', length) : NULL;
    const char *host_end = bracket ? bracket + 1 : at;
    const char *colon = memchr(host_end, ':', length - (size_t)(host_end - at));
    const size_t host = colon ? (size_t)(colon - at) : length;
    url->host = arena_text(diags->arena, at, host);
    url->port = url->tls ? TLS_PORT : PORT;
    if (host == 0 || strcspn(url->host, " \t\"'\\<>%#@") != host)
        return wrong(diags, span, "the address names no host");
    if (!colon)
        return STATUS_OK;
    char *end;
    const char *digits = arena_text(diags->arena, colon + 1, length - host - 1);
    const long port = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : 0;
    if (port < 1 || port > MAX_PORT || *end)
        return wrong(diags, span, "the port in the address is not a number from 1 to 65535");
    url->port = (int)port;
    return STATUS_OK;
}

/* DATABASE/TABLE */
static enum status parse_table(const char *at, size_t length, struct table_url *url, struct span span,
                               struct diags *diags)
{
    const char *slash = memchr(at, '/', length);
    const size_t database = slash ? (size_t)(slash - at) : 0;
    const char *table = slash ? slash + 1 : at;
    const size_t rest = length - (size_t)(table - at);
    url->database = slash ? decoded(at, database, diags->arena) : NULL;
    url->table = decoded(table, rest, diags->arena);
    if (memchr(table, '/', rest) || (slash && (!url->database || !*url->database)) || !url->table || !*url->table)
        return wrong(diags, span, "the address names no table");
    return STATUS_OK;
}

/* by=COLUMN,COLUMN */
static enum status parse_options(const char *at, struct table_url *url, struct span span, struct diags *diags)
{
    static const char by[] = "by=";
    if (!word_begins(at, by) || strchr(at, '&'))
        return wrong(diags, span, "the only option of an address is `by`, the columns that order the rows");
    size_t capacity = 0;
    for (at += strlen(by);; at++) {
        const size_t length = strcspn(at, ",");
        const char *name = decoded(at, length, diags->arena);
        if (!name || !*name)
            return wrong(diags, span, "`by` in the address lacks the name of a column");
        url->order = arena_reserve(diags->arena, url->order, url->order_count, &capacity, sizeof *url->order);
        url->order[url->order_count++] = name;
        at += length;
        if (!*at)
            return STATUS_OK;
    }
}

enum status table_url_parse(const char *path, struct table_url *url, struct span span, struct diags *diags)
{
    *url = (struct table_url){.tls = word_begins(path, secure)};
    const char *server = path + strlen(url->tls ? secure : plain);
    const size_t server_length = strcspn(server, "/?");
    const char *table = server + server_length + (server[server_length] == '/');
    const size_t table_length = strcspn(table, "?");
    enum status status = parse_server(server, server_length, url, span, diags);
    if (status == STATUS_OK)
        status = parse_table(table, table_length, url, span, diags);
    if (status == STATUS_OK && table[table_length])
        status = parse_options(table + table_length + 1, url, span, diags);
    return status;
}

const char *table_url_server(const struct table_url *url, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s:%d", url->user ? url->user : "", url->user ? "@" : "", url->host, url->port);
}
