#include "repl/session/output_file.h"

#include "base/path.h"
#include "engine/compression/compression.h"
#include "engine/formats/formats.h"

#include <string.h>

struct output_file {
    struct arena *arena; /* of the writer's strings */
    struct writer writer;
    enum print_format format; /* of the extension */
};

/* Any other extension gets tsv, as a pipe does. */
static const struct {
    const char *extension;
    enum print_format format;
} extensions[] = {
    {".tsv", PRINT_TSV},     {".tab", PRINT_TSV},      {".csv", PRINT_CSV},     {".json", PRINT_JSON},
    {".jsonl", PRINT_JSONL}, {".ndjson", PRINT_JSONL}, {".md", PRINT_MARKDOWN}, {".npy", PRINT_NPY},
};

static enum print_format format_of(const char *path)
{
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (path_has_extension(path, extensions[i].extension))
            return extensions[i].format;
    }
    return PRINT_TSV;
}

static struct output_file *output_open(const char *path, struct span span, struct diags *diags)
{
    struct arena *arena = arena_new();
    struct output_file *output = arena_alloc(arena, sizeof *output);
    struct diags own;
    diags_init(&own, arena);
    path = arena_text(arena, path, strlen(path)); /* outlives the statement */
    *output = (struct output_file){.arena = arena, .format = format_of(path)};
    if (writer_open(&output->writer, path, span, &own) == STATUS_OK)
        return output;
    diags_add_errors(diags, &own);
    arena_free(arena);
    return NULL;
}

/* Publishes the file if `keep`, else drops it. */
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

/* Refuses to write text into a file whose extension means raw elements or an image. */
static bool accepts_text(const struct session *session, const char *path, struct span span, struct diags *diags)
{
    const struct format *format = format_of_path(path);
    if (!format || format->style || session->settings.format == PRINT_RAW)
        return true;
    diag_error(diags, span, "results are text, but the extension of `%s` means %s", path_display(path, diags->arena),
               format->summary);
    diag_hint(diags, "`| save PATH` writes such a file; `.format raw` turns results into bytes");
    return false;
}

enum status output_to(struct session *session, const char *path, struct span span, struct diags *diags)
{
    struct output_file *before = session->output;
    struct output_file *next = path && accepts_text(session, path, span, diags) ? output_open(path, span, diags) : NULL;
    if (path && !next)
        return STATUS_FAILED;
    session->output = next;
    return before ? output_close(before, true, span, diags) : STATUS_OK;
}

void output_redirect(struct session *session)
{
    session->out.file = session->output ? &session->output->writer : NULL;
}

enum print_format output_format(const struct session *session)
{
    return session->output->format;
}

const char *output_path(const struct session *session)
{
    return session->output->writer.target;
}

/* `note`: a format that takes the path, or NULL. */
static void close_and_report(struct session *session, bool keep, enum exit_status *outcome, const char *note)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    if (note)
        diag_note(&diags, (struct span){0}, note, session->output->writer.path);
    if (output_close(session->output, keep, (struct span){0}, &diags) != STATUS_OK)
        *outcome = EXIT_QUERY;
    session->output = NULL;
    session->out.file = NULL;
    session_report(session, &diags);
    arena_free(arena);
}

enum exit_status output_fail(struct session *session)
{
    enum exit_status outcome = EXIT_QUERY;
    close_and_report(session, true, &outcome, "`%s` is unchanged; results go to standard output again");
    return outcome;
}

enum exit_status output_finish(struct session *session, enum exit_status outcome)
{
    const bool tolerated = outcome == EXIT_QUERY && session->settings.errors == ERRORS_CONTINUE;
    const bool keep = session->interactive || outcome == EXIT_FINE || tolerated;
    if (session->output)
        close_and_report(session, keep, &outcome, keep ? NULL : "`%s` is unchanged");
    return outcome;
}
