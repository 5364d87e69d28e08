/* Commands about files: where results go, and where paths begin. */
#include "repl/session/command_call.h"

#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status run_output(struct command_call *call)
{
    const struct name *path = &call->words[call->count - 1];
    const char *file = call->count > 1 ? path_expand_home(path->text, call->arena) : NULL;
    return output_to(call->shell, file, path->span, call->diags) == STATUS_OK ? EXIT_FINE : EXIT_QUERY;
}

/* From then on there may be files that are not there now. */
void check_output(struct command_call *call, struct checking *checking)
{
    checking->env->files_settled = checking->env->files_settled && call->count == 1;
}

static bool go(struct command_call *call)
{
    const char *folder = path_expand_home(call->words[1].text, call->arena);
    if (chdir(folder) != 0) {
        (void)diag_error(call->diags, call->words[1].span, "cannot go to `%s`: %s", folder, strerror(errno));
        return false;
    }
    return true;
}

enum exit_status run_cd(struct command_call *call)
{
    if (call->count > 1)
        return go(call) ? EXIT_FINE : EXIT_QUERY;
    struct strbuf *out = &call->shell->out.text;
    char *here = getcwd(NULL, 0);
    if (!here) {
        (void)diag_error(call->diags, call->words[0].span, "this folder has no name any more: %s", strerror(errno));
        return EXIT_QUERY;
    }
    strbuf_add_visible(out, here, strlen(here));
    strbuf_putc(out, '\n');
    free(here);
    return EXIT_FINE;
}

/* Paths of what follows are looked up while it is checked, so that really goes there; who checks goes back. */
void check_cd(struct command_call *call, struct checking *checking)
{
    if (call->count > 1) {
        if (checking->folder < 0)
            checking->folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)(checking->folder >= 0 && go(call));
    }
}
