/* `.output`: results go to a file. It is written beside the one it is to be and takes its place when it is complete, as
 * files of `save` do. */
#include "repl/session/session.h"

#include "base/path.h"
#include "engine/formats/formats.h"
#include "engine/storage/compression_table.h"

#include <string.h>
#include <strings.h>

struct output_file {
    struct arena *arena; /* of the writer's texts */
    struct writer writer;
    enum print_format format; /* what the file's ending says */
};

/* Endings that are formats of results too; of any other file it is what it is for a pipe. */
static const struct {
    const char *ending;
    enum print_format format;
} endings[] = {
    {".tsv", PRINT_TSV},     {".csv", PRINT_CSV},     {".json", PRINT_JSON},
    {".jsonl", PRINT_JSONL}, {".md", PRINT_MARKDOWN}, {".npy", PRINT_NPY},
};

static enum print_format format_of(const char *path, struct arena *arena)
{
    const char *ending = path_ending(path);
    const struct compression *compression = compression_of_path(path);
    size_t length = strlen(ending) - (compression ? strlen(compression->ending) : 0);
    const char *bare = arena_text(arena, ending, length);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(endings[i].ending, bare) == 0)
            return endings[i].format;
    }
    return PRINT_TSV;
}

static struct output_file *output_open(const char *path, struct span span, struct diags *diags)
{
    struct arena *arena = arena_new();
    struct output_file *output = arena_alloc(arena, sizeof *output);
    struct diags own;
    diags_init(&own, arena);
    path = arena_text(arena, path, strlen(path)); /* the statement's own is gone when the file is complete */
    *output = (struct output_file){.arena = arena, .format = format_of(path, arena)};
    if (writer_open(&output->writer, path, span, &own) == STATUS_OK)
        return output;
    diags_add_errors(diags, &own);
    arena_free(arena);
    return NULL;
}

/* Puts the file where it belongs, unless it is not to be kept. */
static enum status output_close(struct output_file *output, bool keep, struct span span, struct diags *diags)
{
    enum status status = STATUS_OK;
    if (keep) {
        status = writer_finish(&output->writer, span, diags);
        status = status == STATUS_OK ? writer_publish(&output->writer, span, diags) : status;
    }
    writer_discard(&output->writer);
    arena_free(output->arena);
    return status;
}

/* A file that would be taken for raw elements or a picture does not get text. */
static bool suits(const struct shell *shell, const char *path, struct span span, struct diags *diags)
{
    const struct format *format = format_of_path(path);
    if (!format || format->style || shell->settings.format == PRINT_RAW)
        return true;
    diag_error(diags, span, "results are text, and `%s` would be taken for %s", path_display(path, diags->arena),
               format->summary);
    diag_hint(diags, "`| save PATH` writes such a file; `.format raw` before makes results bytes");
    return false;
}

enum status output_to(struct shell *shell, const char *path, struct span span, struct diags *diags)
{
    struct output_file *before = shell->output;
    struct output_file *next = path && suits(shell, path, span, diags) ? output_open(path, span, diags) : NULL;
    if (path && !next)
        return STATUS_FAILED;
    shell->output = next;
    return before ? output_close(before, true, span, diags) : STATUS_OK;
}

void output_begin(struct shell *shell)
{
    shell->out.file = shell->output ? &shell->output->writer : NULL;
}

enum print_format output_format(const struct shell *shell)
{
    return shell->output->format;
}

/* What is told while there is no statement that it is about. */
static void end(struct shell *shell, bool keep, enum exit_status *outcome, const char *note)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    if (note)
        diag_note(&diags, (struct span){0}, note, shell->output->writer.path);
    if (output_close(shell->output, keep, (struct span){0}, &diags) != STATUS_OK)
        *outcome = EXIT_QUERY;
    shell->output = NULL;
    shell->out.file = NULL;
    shell_report(shell, &diags);
    arena_free(arena);
}

enum exit_status output_fail(struct shell *shell)
{
    enum exit_status outcome = EXIT_QUERY;
    end(shell, true, &outcome, "`%s` is left as it was, and results are printed here again");
    return outcome;
}

enum exit_status output_end(struct shell *shell, enum exit_status outcome)
{
    bool goes_on = outcome == EXIT_QUERY && shell->settings.errors == ERRORS_CONTINUE;
    bool keep = shell->prompting || outcome == EXIT_FINE || goes_on;
    if (shell->output)
        end(shell, keep, &outcome, keep ? NULL : "`%s` is left as it was");
    return outcome;
}
