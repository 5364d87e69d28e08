/* What runs before the prompt: the user's rqlrc. */
#include "repl/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the XDG specification asks, a relative XDG_CONFIG_HOME is not looked at. */
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

void startup_run(struct shell *shell)
{
    struct strbuf path = {0};
    if (!shell->no_init && find_file(&path)) {
        /* The name goes into errors as long as any function of the file lives. */
        const char *name = arena_text(shell->memory, path.text, path.length);
        struct arena *arena = arena_new();
        struct diags diags;
        struct strbuf text = {0};
        diags_init(&diags, arena);
        enum status status = shell_read(shell, name, (struct span){0}, &text, &diags);
        shell_report(shell, &diags);
        if (status == STATUS_OK)
            (void)script_run(shell, script_new(name, &text, PARSE_SCRIPT));
        strbuf_free(&text);
        arena_free(arena);
    }
    strbuf_free(&path);
}
