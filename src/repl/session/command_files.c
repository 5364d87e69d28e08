/* Commands about files: `.output`, `.schema` and `.cd`. */
#include "repl/session/command_call.h"
#include "repl/session/data_files.h"
#include "repl/session/output_file.h"

#include "base/path.h"
#include "parser/words.h"

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

/* Adds the names and types of columns, as in the clause of `load` that states them. */
static void add_schema(struct strbuf *out, const struct loaded *loaded, struct arena *arena)
{
    for (size_t i = 0; i < loaded->count; i++) {
        const struct column *column = loaded->columns[i];
        strbuf_printf(out, "%s%s %s", i ? ", " : "", name_written(loaded->names[i], arena),
                      logical_type_name(column->logical, column->type));
    }
}

enum exit_status run_schema(struct command_call *call)
{
    struct session *session = call->session;
    const struct span span = call->words[1].span;
    const char *path = path_expand_home(call->words[1].text, call->arena);
    struct loaded loaded;
    if (file_cache_load(session->file_cache, path, span, NULL, &loaded, call->diags) != STATUS_OK)
        return *session->platform->cancel ? EXIT_INTERRUPTED : EXIT_QUERY;
    enum status status = STATUS_OK;
    if (loaded.types_from_values)
        status = file_cache_read(session->file_cache, loaded.columns, loaded.count, span, call->diags);
    if (status == STATUS_OK) {
        struct strbuf *out = &session->out.text;
        strbuf_puts(out, "load ");
        add_quoted_path(out, call->words[1].text);
        strbuf_puts(out, loaded.types_from_values ? " " : " # ");
        add_schema(out, &loaded, call->arena);
        strbuf_putc(out, '\n');
    }
    loaded_release(&loaded);
    file_cache_sweep(session->file_cache);
    return status == STATUS_OK ? EXIT_FINE : status == STATUS_CANCELLED ? EXIT_INTERRUPTED : EXIT_QUERY;
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
