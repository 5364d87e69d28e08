/* Paths as written: `$NAME` arguments and `~` are replaced. */
#include "base/path.h"
#include "engine/bind/bind_internal.h"

#include <string.h>

static size_t argument_length(const char *text)
{
    size_t length = 0;
    while (text[length] && !strchr("/.- ", text[length]))
        length++;
    return length;
}

bool bind_written_path(struct binder *binder, const struct name *path, struct name *meant)
{
    *meant = *path;
    meant->text = path_expand_home(path->text, binder->arena);
    const char *argument = name_argument(path);
    if (argument == NULL)
        return true;
    size_t length = argument_length(argument);
    const char *text = env_argument(binder->env, argument, length);
    if (text == NULL) {
        bind_error(binder, path->span,
                   arena_printf(binder->arena,
                                "`--arg %.*s=PATH` on the command line gives it; a file whose name begins with `$` is "
                                "written in quotes",
                                (int)length, argument),
                   "there is no argument `$%.*s`", (int)length, argument);
        return false;
    }
    size_t end = strlen(text);
    bool quoted = end > 1 && (text[0] == '"' || text[0] == '\'') && text[end - 1] == text[0];
    text = quoted ? arena_text(binder->arena, text + 1, end - 2) : text;
    meant->text = path_expand_home(arena_printf(binder->arena, "%s%s", text, argument + length), binder->arena);
    return true;
}
