#include "engine/env/env.h"

#include "base/path.h"
#include "engine/storage/program_input.h"

#include <string.h>

static size_t argument_length(const char *text)
{
    size_t length = 0;
    while (text[length] && !strchr("/.- ", text[length]))
        length++;
    return length;
}

enum status path_substitute(const struct env *env, const struct name *written, struct arena *arena, struct name *meant,
                            struct diags *diags)
{
    const char *argument = name_argument(written), *path = written->text;
    *meant = *written;
    if (argument) {
        const size_t length = argument_length(argument);
        const char *text = env_argument(env, argument, length);
        if (!text) {
            diag_error(diags, written->span, "unknown argument `$%.*s`", (int)length, argument);
            return diag_hint(
                diags,
                "pass it as `--arg %.*s=PATH` on the command line; quote the name of a file that begins with `$`",
                (int)length, argument);
        }
        path = arena_printf(arena, "%s%s", text, argument + length);
        if (path_is_program(path))
            return diag_error_hint(
                diags, written->span, "write the command into the query, or `./|NAME` for a file of such a name",
                "the argument `$%.*s` is a program, and only a query can run one", (int)length, argument);
    }
    meant->text = path_expand_home(path, arena);
    return STATUS_OK;
}
