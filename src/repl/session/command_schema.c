/* `.schema`: the names and types of the columns of a file or of a name. */
#include "repl/session/command_call.h"
#include "repl/session/data_files.h"

#include "base/path.h"
#include "parser/words.h"

#include <string.h>

/* As a query has to write it, or the clause of `load` that states types, which takes paths in backquotes only; but on a
 * terminal no byte that would move the cursor. */
static void add_name(struct session *session, const char *name, bool stated, struct arena *arena)
{
    struct strbuf *out = &session->out.text;
    const char *written = name_written(name, arena);
    if (stated && *written != '`' && strchr(written, '.'))
        written = arena_printf(arena, "`%s`", written);
    if (session_print_style(session).terminal)
        strbuf_add_visible(out, written, strlen(written));
    else
        strbuf_puts(out, written);
}

/* Names and types of columns; `stated`: as in the clause of `load` that states them, which lists cannot be in. */
static void add_columns(struct session *session, struct column *const *columns, const char *const *names, size_t count,
                        bool stated, struct arena *arena)
{
    struct strbuf *out = &session->out.text;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct logical_type logical = columns[i]->logical;
        if (stated && logical.kind == LOGICAL_LIST)
            continue;
        if (stated)
            logical.zone = NULL;
        strbuf_puts(out, any ? ", " : "");
        any = true;
        add_name(session, names[i], stated, arena);
        strbuf_printf(out, " %s", logical_type_name(logical, columns[i]->type));
    }
    strbuf_putc(out, '\n');
}

static enum status file_schema(struct command_call *call, const struct name *written)
{
    struct session *session = call->session;
    const char *path = path_expand_home(written->text, call->arena);
    struct loaded loaded;
    enum status status = file_cache_load(session->file_cache, path, written->span, NULL, &loaded, call->diags);
    if (status != STATUS_OK)
        return status;
    unreadable_tell(&loaded.unreadable, written->text, call->diags);
    if (loaded.types_from_values)
        status = file_cache_read(session->file_cache, loaded.columns, loaded.count, written->span, call->diags);
    if (status == STATUS_OK) {
        struct strbuf *out = &session->out.text;
        strbuf_puts(out, "load ");
        add_quoted_path(out, written->text);
        strbuf_puts(out, loaded.types_from_values ? " " : " # ");
        add_columns(session, loaded.columns, loaded.names, loaded.count, loaded.types_from_values, call->arena);
    }
    loaded_release(&loaded);
    file_cache_sweep(session->file_cache);
    return status;
}

/* The types of unread columns of text files come from all their values. */
static enum status relation_schema(struct command_call *call, const char *name, struct span span,
                                   const struct relation *relation)
{
    struct session *session = call->session;
    struct column **columns = arena_array(call->arena, relation->count + 1, sizeof(struct column *));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < relation->count; k++)
        columns[k] = column_ref(relation->columns[k]);
    file_cache_renew(session->file_cache, columns, relation->count);
    for (size_t k = 0; k < relation->count && status == STATUS_OK; k++) {
        if (columns[k]->provisional)
            status = file_cache_read(session->file_cache, &columns[k], 1, span, call->diags);
    }
    if (status == STATUS_OK) {
        add_name(session, name, false, call->arena);
        strbuf_puts(&session->out.text, " # ");
        add_columns(session, columns, (const char *const *)relation->names, relation->count, false, call->arena);
    }
    columns_unref(columns, relation->count);
    return status;
}

static enum status last_schema(struct command_call *call)
{
    const struct span span = call->words[0].span;
    if (call->env->last)
        return relation_schema(call, ENV_LAST, span, call->env->last);
    return diag_error_hint(call->diags, span,
                           "`.schema trades.csv` shows the columns of a file, `.schema t` those of a name",
                           "there is no last table");
}

enum exit_status run_schema(struct command_call *call)
{
    const struct name *written = call->count > 1 ? &call->words[1] : NULL;
    const struct binding *binding = written ? env_find(call->env, written->text) : NULL;
    const enum status status = !written ? last_schema(call)
                               : binding && binding->kind == BINDING_RELATION
                                   ? relation_schema(call, written->text, written->span, binding->relation)
                                   : file_schema(call, written);
    if (status == STATUS_OK)
        return EXIT_FINE;
    return status == STATUS_CANCELLED || *call->session->platform->cancel ? EXIT_INTERRUPTED : EXIT_QUERY;
}
