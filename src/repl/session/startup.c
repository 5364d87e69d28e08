
#include "repl/session/script.h"

#include "base/path.h"

#include <stdlib.h>
#include <unistd.h>

void startup_run(struct session *session)
{
    struct strbuf path = {0};
    if (!session->no_init && path_of_user(&path, "XDG_CONFIG_HOME", "/.config", "/rql/rqlrc") &&
        access(path.text, F_OK) == 0) {
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
            file_cache_refuse(session->runner.env->file_cache, "nobody has typed this: rqlrc runs no programs", NULL);
            (void)script_run(session, script_new(name, &text, script_mode(session)));
            file_cache_refuse(session->runner.env->file_cache, NULL, NULL);
            session->starting = false;
        }
        strbuf_free(&text);
        arena_free(arena);
    }
    strbuf_free(&path);
}
