#include "sql/wire/servers.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "base/timing.h"
#include "sql/wire/kept_answers.h"
#include "sql/wire/query.h"
#include "sql/wire/table_url.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK_MS = 1000, COMPLETE_MS = 280, MOST_NAMES = 10000 };

/* One server and user. */
struct server {
    char *address;     /* "clickhouse://me@db1:8123/" */
    struct http *http; /* for questions about it; NULL: none was asked */
    bool used;         /* a table of it was read or saved; else an address was only typed */
};

struct servers {
    struct server *at;
    size_t count, capacity;
    struct http_shared shared;
    struct kept_answers *kept;
};

struct servers *servers_new(void)
{
    struct servers *servers = heap_array(1, sizeof *servers);
    servers->kept = kept_answers_new();
    return servers;
}

struct kept_answers *servers_kept(struct servers *servers)
{
    return servers->kept;
}

void servers_forget(struct servers *servers)
{
    kept_answers_forget(servers->kept);
}

struct http_shared *servers_shared(struct servers *servers)
{
    return &servers->shared;
}

void servers_set_limits(struct servers *servers, const struct table_limits *limits)
{
    servers->shared.limits = *limits;
}

struct table_limits servers_limits(const struct servers *servers)
{
    return servers->shared.limits;
}

struct table_traffic servers_traffic(const struct servers *servers)
{
    return servers->shared.traffic;
}

void servers_free(struct servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        http_free(servers->at[i].http);
        free(servers->at[i].address);
    }
    kept_answers_free(servers->kept);
    free(servers->at);
    free(servers);
}

/* Appends a name as it stands in an address. */
static void add_escaped(struct strbuf *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    for (; *name; name++) {
        if (strchr(plain, *name) || (*name & 0x80))
            strbuf_putc(out, *name);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*name);
    }
}

static const char *address_of(const struct table_url *url, struct arena *arena)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "clickhouse%s://", url->tls ? "s" : "");
    if (url->user) {
        add_escaped(&text, url->user);
        strbuf_putc(&text, '@');
    }
    strbuf_printf(&text, "%s:%d/", url->host, url->port);
    return strbuf_take(&text, arena);
}

static struct server *meet(struct servers *servers, const struct table_url *url, struct arena *arena)
{
    const char *address = address_of(url, arena);
    struct server *server = ROW_NAMED(servers->at, servers->count, address);
    if (!server)
        *(server = HEAP_PUSH(servers->at, servers->count, servers->capacity)) =
            (struct server){.address = heap_text(address)};
    return server;
}

void servers_meet(struct servers *servers, const struct table_url *url)
{
    struct arena *arena = arena_new();
    meet(servers, url, arena)->used = true;
    arena_free(arena);
}

/* Texts of one or two columns. False: no answer within `limit_ms`; the last of `diags` tells why. */
static bool ask(struct http **http, const struct table_url *url, const char *sql, size_t columns, int limit_ms,
                struct query_texts *texts, struct diags *diags)
{
    const struct workers alone = {.threads = 1};
    struct table_url server = *url;
    server.database = NULL;
    if (!*http)
        *http = http_new(&server, NULL, (struct span){0}, diags);
    if (!*http)
        return false;
    http_set_limit(*http, limit_ms);
    return query_for_texts(*http, sql, columns, table_url_server(url, diags->arena), &alone, texts, (struct span){0},
                           diags) == STATUS_OK;
}

/* "c2 (2), c4 (4)": the clusters that the server knows and the numbers of their shards, without those of examples. */
static const char *clusters_of(struct http **http, const struct table_url *url, struct diags *diags)
{
    struct query_texts found;
    struct strbuf text = {0};
    if (!ask(http, url,
             "SELECT cluster AS rql_0, toString(max(shard_num)) AS rql_1 FROM system.clusters WHERE cluster NOT LIKE "
             "'test_%' GROUP BY cluster ORDER BY cluster FORMAT Native",
             2, ASK_MS, &found, diags))
        return "";
    for (int64_t row = 0; row < found.rows; row++) {
        const struct text name = query_text(&found, 0, row), shards = query_text(&found, 1, row);
        strbuf_printf(&text, "%s%.*s (%.*s)", row > 0 ? ", " : "", (int)name.length, name.at, (int)shards.length,
                      shards.at);
    }
    query_texts_release(&found);
    return strbuf_take(&text, diags->arena);
}

static struct table_connection connection_of(struct server *server, struct arena *arena)
{
    struct table_url url;
    struct diags diags;
    struct query_texts found;
    diags_init(&diags, arena);
    struct table_connection connection = {.server = arena_text(arena, server->address, strlen(server->address))};
    (void)table_url_parse(arena_printf(arena, "%st", server->address), &url, (struct span){0}, &diags);
    /* What the server calls the user stands beside this very query. */
    const char *sql = arena_printf(arena,
                                   "SELECT version() AS rql_0, user AS rql_1 FROM system.processes WHERE query LIKE "
                                   "'%%connections of rql %ld%%' LIMIT 1 FORMAT Native",
                                   (long)getpid());
    const char *nothing = "SELECT '' AS rql_0 FORMAT Native";
    bool answers = !server->http || ask(&server->http, &url, nothing, 1, ASK_MS, &found, &diags);
    if (answers && server->http) /* connecting counts only once */
        query_texts_release(&found);
    const int64_t began = now_ns();
    answers = answers && ask(&server->http, &url, sql, 2, ASK_MS, &found, &diags);
    if (!answers) {
        connection.state = diags.count > 0 ? diags.at[0].message : "does not answer";
        return connection;
    }
    const double milliseconds = (double)(now_ns() - began) / 1e6;
    connection.state = arena_printf(arena, "answers in %.1f ms", milliseconds);
    if (found.rows > 0) {
        connection.version = query_texts_of(&found, 0, arena)[0];
        connection.user = query_texts_of(&found, 1, arena)[0];
    }
    query_texts_release(&found);
    connection.clusters = clusters_of(&server->http, &url, &diags);
    return connection;
}

struct table_connection *servers_connections(struct servers *servers, struct arena *arena, size_t *count)
{
    struct table_connection *all = arena_array(arena, servers->count + 1, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < servers->count; i++) {
        if (servers->at[i].used)
            all[(*count)++] = connection_of(&servers->at[i], arena);
    }
    return all;
}

static void add_columns_question(struct strbuf *sql, const struct table_url *url)
{
    strbuf_puts(sql, "SELECT name AS rql_0, type AS rql_1 FROM system.columns WHERE database = ");
    server_add_database(sql, url);
    strbuf_puts(sql, " AND table = ");
    server_add_text(sql, url->table);
}

bool servers_peek(struct servers *servers, const char *address, struct arena *arena,
                  const struct reader_column **columns, size_t *count)
{
    struct table_url url;
    struct diags diags;
    struct strbuf sql = {0};
    struct query_texts found;
    diags_init(&diags, arena);
    if (table_url_parse(address, &url, (struct span){0}, &diags) != STATUS_OK)
        return false;
    add_columns_question(&sql, &url);
    strbuf_puts(&sql, " FORMAT Native");
    const bool answered = ask(&meet(servers, &url, arena)->http, &url, sql.text, 2, COMPLETE_MS, &found, &diags);
    strbuf_free(&sql);
    if (!answered)
        return false;
    const char **names = query_texts_of(&found, 0, arena), **types = query_texts_of(&found, 1, arena);
    struct reader_column *all = arena_array(arena, (size_t)found.rows + 1, sizeof *all);
    *count = 0;
    for (int64_t i = 0; i < found.rows; i++) {
        struct wire_type type;
        if (wire_type_parse(types[i], arena, &type))
            all[(*count)++] = (struct reader_column){
                .name = names[i], .type = type.type, .logical = type.logical, .nullable = type.nullable};
    }
    query_texts_release(&found);
    *columns = all;
    return *count > 0;
}

/* The query for the names that may follow what is typed of the address; the second column does not matter. */
static void add_question(struct strbuf *sql, const struct table_url *url, bool in_options)
{
    if (in_options) {
        add_columns_question(sql, url);
    } else if (url->database) {
        strbuf_puts(
            sql,
            "SELECT name AS rql_0, name AS rql_1 FROM system.tables WHERE name NOT LIKE 'rql\\\\_%' AND database = ");
        server_add_text(sql, url->database);
    } else {
        strbuf_puts(sql, "SELECT name AS rql_0, name AS rql_1 FROM system.databases");
    }
    strbuf_printf(sql, " LIMIT %d FORMAT Native", (int)MOST_NAMES);
}

/* Before each name stand the first `kept` bytes of `typed`; `after` follows, the options of a table only if it is the
 * only one. */
static const char **complete_names(struct servers *servers, const struct table_url *url, const char *sql,
                                   const char *typed, size_t kept, const char *after, struct diags *diags,
                                   size_t *count)
{
    struct arena *arena = diags->arena;
    struct server *server = meet(servers, url, arena);
    struct query_texts found;
    if (!ask(&server->http, url, sql, 2, COMPLETE_MS, &found, diags))
        return NULL;
    const char **names = query_texts_of(&found, 0, arena);
    const size_t rows = (size_t)found.rows;
    const char **all = arena_array(arena, rows + 1, sizeof *all);
    query_texts_release(&found);
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        struct strbuf text = {0};
        strbuf_add(&text, typed, kept);
        add_escaped(&text, names[i]);
        if (*after != '?')
            strbuf_puts(&text, after);
        if (strncmp(text.text, typed, strlen(typed)) == 0)
            all[(*count)++] = strbuf_take(&text, arena);
    }
    if (*count == 1 && *after == '?')
        all[0] = arena_printf(arena, "%s%s", all[0], after);
    return all;
}

/* Servers that have been used. */
static const char **complete_servers(const struct servers *servers, const char *typed, struct arena *arena,
                                     size_t *count)
{
    const char **all = arena_array(arena, servers->count + 1, sizeof *all);
    for (size_t i = 0; i < servers->count; i++) {
        if (servers->at[i].used && strncmp(servers->at[i].address, typed, strlen(typed)) == 0)
            all[(*count)++] = arena_text(arena, servers->at[i].address, strlen(servers->at[i].address));
    }
    return all;
}

const char **servers_complete(struct servers *servers, const char *typed, struct arena *arena, size_t *count)
{
    static const char by[] = "?by=";
    struct diags diags;
    struct table_url url;
    struct strbuf sql = {0};
    diags_init(&diags, arena);
    *count = 0;
    const char *host = strstr(typed, "://");
    const char *database = host ? strchr(host + strlen("://"), '/') : NULL;
    if (!database)
        return complete_servers(servers, typed, arena, count);
    const char *table = strchr(database + 1, '/');
    const char *options = strstr(database, by);
    const char *last = options ? options + strlen(by) : table ? table + 1 : database + 1;
    const char *comma = options ? strrchr(last, ',') : NULL; /* columns before it are typed */
    last = comma ? comma + 1 : last;
    if (strchr(last, '/') || (!options && strchr(last, '?')))
        return NULL;
    /* What has been typed, with `t` for the table if its name is not complete. */
    const char *whole = options ? arena_text(arena, typed, (size_t)(options - typed))
                                : arena_printf(arena, "%.*st", (int)(last - typed), typed);
    if (table_url_parse(whole, &url, (struct span){0}, &diags) != STATUS_OK)
        return NULL;
    add_question(&sql, &url, options);
    const char **names = complete_names(servers, &url, sql.text, typed, (size_t)(last - typed),
                                        options ? ""
                                        : table ? by
                                                : "/",
                                        &diags, count);
    strbuf_free(&sql);
    return names;
}
