/* `.tables`: the names defined, their sizes and residency. */
#include "repl/print/number_format.h"
#include "repl/print/text_table.h"
#include "repl/session/command_call.h"

#include "engine/storage/residency.h"

enum { NAME, ROWS, BYTES, WHERE, WHAT, COLUMNS };

static const struct text_column columns[COLUMNS] = {
    [NAME] = {"name", true},   [ROWS] = {"rows", false}, [BYTES] = {"bytes", false},
    [WHERE] = {"where", true}, [WHAT] = {"what", true},
};

/* Residency of a column; the columns of a relation may differ. */
enum { IN_FILE = 1, IN_MEMORY = 2, ON_DEVICE = 4, DEFERRED = 8, ON_SERVER = 16, PLACES = 5 };

/* Whether all rows are resident on a GPU that has started. */
static bool device_has(struct backend *device, const struct column *column)
{
    struct profile profile;
    return device && device->ops->absent && column->rows > 0 &&
           device->ops->profile(device, false, &profile) == BACKEND_READY && profile.class == CLASS_GPU &&
           device->ops->absent(device, column, 0, column->rows) == 0;
}

static int places_of(struct backend *device, const struct column *column)
{
    if (column->unread && column->live)
        return ON_SERVER;
    const int host = column->unread || (column->mapping && mapping_is_file(column->mapping)) ? IN_FILE : IN_MEMORY;
    if (column->residency)
        return column_is_deferred(column) ? DEFERRED : ON_DEVICE;
    return device_has(device, column) ? host | ON_DEVICE : host;
}

static void add_places(struct strbuf *out, int places)
{
    static const char *const names[PLACES] = {"file", "memory", "device", "on demand", "server"};
    for (int i = 0; i < PLACES; i++) {
        if (places & 1 << i)
            strbuf_printf(out, "%s%s", out->length ? "+" : "", names[i]);
    }
}

static void add_relation(struct strbuf *cells, const struct relation *relation, const struct session *session,
                         const struct print_style *style)
{
    int places = 0;
    int64_t bytes = 0;
    struct strbuf *what = &cells[WHAT];
    for (size_t k = 0; k < relation->count; k++) {
        struct column *column = column_ref(relation->columns[k]);
        file_cache_renew(session->file_cache, &column, 1);
        bytes += column->unread ? 0 : relation->rows * (int64_t)type_table[column->store].size;
        places |= places_of(session->runner.device, column);
        strbuf_puts(what, k ? ", " : "");
        strbuf_puts(what, relation->names[k]);
        strbuf_printf(what, " %s", column->provisional ? "unread" : logical_type_name(column->logical, column->type));
        if (!column->unread && (column->store != column->type || column->logical.kind == LOGICAL_TEXT))
            strbuf_printf(what, " stored as %s", type_table[column->store].name);
        column_unref(column);
    }
    if (!(places & ON_SERVER)) /* there, the number changes at any time */
        number_format_int(&cells[ROWS], relation->rows, style->separators);
    number_format_int(&cells[BYTES], bytes, style->separators);
    add_places(&cells[WHERE], places);
}

static void add_binding(struct text_table *table, const struct binding *binding, const struct session *session,
                        const struct print_style *style)
{
    struct strbuf cells[COLUMNS] = {{0}};
    strbuf_puts(&cells[NAME], binding->name);
    switch (binding->kind) {
    case BINDING_SCALAR:
        scalar_print(&cells[WHAT], &binding->scalar);
        break;
    case BINDING_RELATION:
        add_relation(cells, binding->relation, session, style);
        break;
    case BINDING_FUNCTION:
    case BINDING_STAGE: {
        struct span span = binding->function->span;
        strbuf_add(&cells[WHAT], span.source->text + span.begin, span.end - span.begin);
        break;
    }
    }
    text_table_add(table, cells);
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_free(&cells[k]);
}

enum exit_status run_tables(struct command_call *call)
{
    struct session *session = call->session;
    struct print_style style = session_print_style(session);
    if (call->env->count == 0 && session->out_terminal) {
        strbuf_puts(&session->out.text, "no names are defined; `let NAME = ...` defines one\n");
        return EXIT_FINE;
    }
    struct text_table table;
    text_table_init(&table, call->arena, columns, COLUMNS);
    for (size_t i = 0; i < call->env->count; i++)
        add_binding(&table, &call->env->bindings[i], session, &style);
    text_table_print(&session->out.text, &table, &style);
    return EXIT_FINE;
}
