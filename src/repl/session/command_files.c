/* Commands about files: `.output` and `.cd`. */
#include "repl/session/command_call.h"
#include "repl/session/output_file.h"

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
    return output_to(call->session, file, path->span, call->diags) == STATUS_OK ? EXIT_FINE : EXIT_QUERY;
}

void check_output(struct command_call *call, struct checker *checker)
{
    if (call->count > 1)
        made_files_add(&checker->env->made, path_expand_home(call->words[1].text, call->arena));
}

static bool change_directory(struct command_call *call)
{
    const char *directory = path_expand_home(call->words[1].text, call->arena);
    if (chdir(directory) != 0) {
        (void)diag_error(call->diags, call->words[1].span, "cannot change to `%s`: %s", directory, strerror(errno));
        return false;
    }
    return true;
}

enum exit_status run_cd(struct command_call *call)
{
    if (call->count > 1)
        return change_directory(call) ? EXIT_FINE : EXIT_QUERY;
    struct strbuf *out = &call->session->out.text;
    char *here = getcwd(NULL, 0);
    if (!here) {
        (void)diag_error(call->diags, call->words[0].span, "cannot find the current folder: %s", strerror(errno));
        return EXIT_QUERY;
    }
    strbuf_add_visible(out, here, strlen(here));
    strbuf_putc(out, '\n');
    free(here);
    return EXIT_FINE;
}

/* Really changes the directory, since later statements look up paths when checked. The caller of the check restores it.
 */
void check_cd(struct command_call *call, struct checker *checker)
{
    if (call->count > 1) {
        if (checker->directory < 0)
            checker->directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)(checker->directory >= 0 && change_directory(call));
    }
}
