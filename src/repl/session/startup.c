
#include "repl/session/script.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The XDG specification says to ignore a relative XDG_CONFIG_HOME. */
static bool find_file(struct strbuf *path)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (config && config[0] == '/')
        strbuf_puts(path, config);
    else if (home && home[0] == '/')
        strbuf_printf(path, "%s/.config", home);
    else
        return false;
    strbuf_puts(path, "/rql/rqlrc");
    return access(path->text, F_OK) == 0;
}

void startup_run(struct session *session)
{
    struct strbuf path = {0};
    if (!session->no_init && find_file(&path)) {
        /* Errors in functions of the file name it later. */
        const char *name = arena_text(session->memory, path.text, path.length);
        struct arena *arena = arena_new();
        struct diags diags;
        struct strbuf text = {0};
        diags_init(&diags, arena);
        const enum status status = session_read(session, name, (struct span){0}, &text, &diags);
        session_report(session, &diags);
        if (status == STATUS_OK) {
            session->starting = true;
            file_cache_refuse_programs(session->runner.env->file_cache,
                                       "nobody has typed this: rqlrc runs no programs");
            (void)script_run(session, script_new(name, &text, PARSE_SCRIPT));
            file_cache_refuse_programs(session->runner.env->file_cache, NULL);
            session->starting = false;
        }
        strbuf_free(&text);
        arena_free(arena);
    }
    strbuf_free(&path);
}
