/* `.connections`: the servers whose tables were used. */
#include "repl/print/text_table.h"
#include "repl/session/command_call.h"

#include "engine/formats/open_file.h"

enum { SERVER, USER, VERSION, CLUSTERS, STATE, COLUMNS };

static const struct text_column columns[COLUMNS] = {
    [SERVER] = {"server", true},     [USER] = {"user", true},   [VERSION] = {"version", true},
    [CLUSTERS] = {"clusters", true}, [STATE] = {"state", true},
};

static void add_connection(struct text_table *table, const struct table_connection *connection)
{
    const char *texts[COLUMNS] = {[SERVER] = connection->server,
                                  [USER] = connection->user,
                                  [VERSION] = connection->version,
                                  [CLUSTERS] = connection->clusters,
                                  [STATE] = connection->state};
    struct strbuf cells[COLUMNS] = {{0}};
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_puts(&cells[k], texts[k] ? texts[k] : "");
    text_table_add(table, cells);
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_free(&cells[k]);
}

enum exit_status run_connections(struct command_call *call)
{
    struct session *session = call->session;
    const struct table_source *tables = session->platform->tables;
    const struct print_style style = session_print_style(session);
    size_t count = 0;
    const struct table_connection *all = tables ? tables->connections(tables->servers, call->arena, &count) : NULL;
    if (count == 0 && session->out_terminal) {
        strbuf_puts(&session->out.text,
                    "no server was used; `load clickhouse://HOST/DATABASE/TABLE?by=COLUMN` uses one\n");
        return EXIT_FINE;
    }
    struct text_table table;
    text_table_init(&table, call->arena, columns, COLUMNS);
    for (size_t i = 0; i < count; i++)
        add_connection(&table, &all[i]);
    text_table_print(&session->out.text, &table, &style);
    return EXIT_FINE;
}
