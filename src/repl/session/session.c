#include "repl/session/session.h"

#include "repl/session/progress_bar.h"

#include "repl/session/output_file.h"

#include "base/cachedir.h"
#include "engine/backend/backend_choice.h"
#include "engine/storage/file_errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80 };

/* Without a known size: no lines and the default width. */
static struct winsize terminal_size(int fd)
{
    struct winsize size;
    const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size : (struct winsize){.ws_col = DEFAULT_WIDTH};
}

void write_stderr(const struct strbuf *text)
{
    size_t done = 0;
    while (done < text->length) {
        const ssize_t wrote = write(STDERR_FILENO, text->text + done, text->length - done);
        if (wrote < 0 && errno != EINTR)
            return; /* nowhere to report it */
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Normally each note is shown once. */
static bool show_note(struct session *session, const char *message)
{
    if (session->settings.messages != MESSAGES_NORMAL)
        return session->settings.messages == MESSAGES_VERBOSE;
    if (ROW_NAMED(session->shown_notes, session->shown_note_count, message))
        return false;
    const size_t count = session->shown_note_count++;
    session->shown_notes =
        arena_grow(session->memory, session->shown_notes, count, count + 1, sizeof *session->shown_notes);
    session->shown_notes[count] = arena_text(session->memory, message, strlen(message));
    return true;
}

void session_report(struct session *session, const struct diags *diags)
{
    struct strbuf text = {0};
    if (isatty(STDERR_FILENO))
        session->errors.width = terminal_size(STDERR_FILENO).ws_col;
    for (size_t i = 0; i < diags->count; i++) {
        const struct diag *diag = &diags->at[i];
        if (diag->severity == SEVERITY_ERROR || show_note(session, diag->message))
            render_diag(&text, diag, &session->errors);
    }
    write_stderr(&text);
    strbuf_free(&text);
}

struct print_style print_style_for(const struct settings *settings, bool terminal, bool colour, size_t width)
{
    enum print_format format = (enum print_format)settings->format;
    if (format == PRINT_AUTO)
        format = terminal ? PRINT_TABLE : PRINT_TSV;
    bool header = format != PRINT_TSV;
    if (settings->header != HEADER_AUTO)
        header = settings->header == HEADER_ON;
    bool separators = terminal && format == PRINT_TABLE;
    if (settings->separators != SEPARATORS_AUTO)
        separators = settings->separators == SEPARATORS_ON && format == PRINT_TABLE;
    return (struct print_style){.format = format,
                                .header = header,
                                .terminal = terminal,
                                .colour = colour,
                                .separators = separators,
                                .rounds = terminal && settings->decimals == DECIMALS_AUTO,
                                .width = width};
}

struct print_style session_print_style(const struct session *session)
{
    struct winsize size = terminal_size(STDOUT_FILENO);
    struct settings settings = session->settings;
    const bool to_file = session->out.file;
    if (to_file && settings.format == PRINT_AUTO)
        settings.format = (int)output_format(session);
    struct print_style style =
        print_style_for(&settings, !to_file && session->out_terminal, !to_file && session->out_colour, size.ws_col);
    style.height = size.ws_row;
    return style;
}

struct print_style session_report_style(const struct session *session)
{
    struct print_style style = session_print_style(session);
    style.header = true;
    style.format = style.format == PRINT_TSV ? PRINT_TABLE : style.format;
    return style;
}

void session_begin_page(struct session *session)
{
    const char *term = getenv("TERM");
    const bool pages = session->list_history && session->out_terminal && term && strcmp(term, "dumb") != 0;
    const struct winsize size = terminal_size(STDOUT_FILENO);
    enum { PROMPT_LINES = 1 };
    session->out.page = (struct page){0};
    if (pages && size.ws_row > PROMPT_LINES)
        session->out.page = (struct page){.lines = size.ws_row - PROMPT_LINES, .width = size.ws_col};
}

static enum exit_status end_page(struct session *session)
{
    static const char problem[] =
        "error: the pager could not be run\nhint: RQL_PAGER names it; if empty, there is none\n";
    if (printer_end_page(&session->out))
        return EXIT_FINE;
    struct strbuf text = {0};
    strbuf_puts(&text, problem);
    write_stderr(&text);
    strbuf_free(&text);
    return EXIT_QUERY;
}

enum exit_status session_flush(struct session *session)
{
    const bool written = printer_flush(&session->out);
    const bool left = session->out.pager.child > 0 && session->out.error == EPIPE; /* by the user */
    const enum exit_status paged = end_page(session);
    if (written || left)
        return paged;
    if (session->out.file && session->out.file->error)
        return output_fail(session);
    if (session->out.error == 0)
        return EXIT_INTERRUPTED;
    session->quitting = true;
    if (session->out.error == EPIPE)
        return EXIT_PIPE;
    struct strbuf text = {0};
    strbuf_printf(&text, "error: cannot write to standard output: %s\n", strerror(session->out.error));
    write_stderr(&text);
    strbuf_free(&text);
    return EXIT_QUERY;
}

void session_close_device(struct session *session)
{
    chooser_free(session->runner.chooser);
    session->runner.chooser = NULL;
    if (session->runner.device) {
        session->runner.device->ops->close(session->runner.device);
        session->runner.device = NULL;
    }
}

/* `--device auto` chooses between the host, the best device and, if that is a GPU, the CPU device. */
static void open_candidates(struct session *session)
{
    static const char *const choices[] = {"auto", "cpu"};
    struct strbuf directory = {0};
    const bool cached = cachedir_create(&directory) == 0;
    session->runner.chooser = chooser_new(cached ? directory.text : NULL, session->runner.evaluator);
    strbuf_free(&directory);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct backend *backend = session->platform->open_device(choices[i]);
        if (backend)
            chooser_add(session->runner.chooser, backend, CLASS_CPU);
    }
}

/* The device to start first: the one named by the user, or the best; NULL if there is none. */
static struct backend *first_device(const struct session *session)
{
    struct chooser *chooser = session->runner.chooser;
    return !chooser ? session->runner.device : chooser_count(chooser) > 1 ? chooser_backend(chooser, 1) : NULL;
}

void session_choose_device(struct session *session)
{
    if (session->opened_device == session->settings.device)
        return;
    session_close_device(session);
    session->opened_device = session->settings.device;
    if (session->settings.device == DEVICE_AUTO) {
        open_candidates(session);
    } else if (session->settings.device != DEVICE_HOST) {
        struct strbuf choice = {0};
        setting_print(&choice, &session->settings, setting_find("device"));
        session->runner.device = session->platform->open_device(choice.text);
        strbuf_free(&choice);
    }
    const bool chooses = session->settings.device == DEVICE_AUTO;
    /* Where there seems to be no GPU, a statement waits, and it is an error. */
    session->runner.no_wait = chooses || (session->settings.device == DEVICE_GPU && session->platform->expects_gpu);
    /* At the prompt a GPU starts while the user types; a single query may finish before it would be ready. Without a
     * GPU OpenCL, which takes 60 MB, starts when it is chosen. */
    struct backend *first = first_device(session);
    const bool early = session->interactive && session->platform->expects_gpu;
    if (first && (early || !chooses))
        (void)first->ops->begin(first, NULL);
}

bool session_has_device(struct session *session)
{
    struct profile profile;
    session_choose_device(session);
    struct backend *device = session->runner.device;
    return !device || device->ops->profile(device, true, &profile) != BACKEND_UNABLE;
}

static enum status read_all(int fd, struct strbuf *text, const atomic_int *cancel)
{
    enum { CHUNK = 256 * 1024 };
    for (;;) {
        const ssize_t got = read(fd, strbuf_reserve(text, CHUNK), CHUNK);
        if (got > 0)
            strbuf_commit(text, (size_t)got);
        if (*cancel)
            return STATUS_CANCELLED;
        if (got == 0)
            return STATUS_OK;
        if (text->length > MAX_SCRIPT_BYTES) {
            errno = EFBIG;
            return STATUS_FAILED;
        }
        if (got < 0 && errno != EINTR)
            return STATUS_FAILED;
    }
}

enum status session_read(const struct session *session, const char *path, struct span span, struct strbuf *text,
                         struct diags *diags)
{
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    const enum status status = fd < 0 ? STATUS_FAILED : read_all(fd, text, session->platform->cancel);
    const int problem = errno;
    if (fd >= 0 && path)
        (void)close(fd);
    if (status == STATUS_FAILED && path) {
        if (problem == ENOENT)
            return file_not_found(path, span, diags);
        return diag_error(diags, span, "cannot read `%s`: %s", path, strerror(problem));
    }
    if (status == STATUS_FAILED)
        return diag_error(diags, span, "cannot read standard input: %s", strerror(problem));
    return status;
}

bool session_continues(const struct session *session, enum exit_status outcome)
{
    const bool failed = outcome == EXIT_QUERY && (session->starting || session->settings.errors == ERRORS_CONTINUE);
    return !session->quitting && (outcome == EXIT_FINE || failed);
}

void session_start_progress(struct session *session, struct progress_bar *bar)
{
    if (session->settings.messages != MESSAGES_QUIET && isatty(STDERR_FILENO)) {
        progress_bar_start(bar, STDERR_FILENO);
        bar->pool = session->runner.pool;
        session->runner.progress = &bar->base;
    }
}

void session_stop_progress(struct session *session, struct progress_bar *bar)
{
    if (session->runner.progress) {
        progress_bar_stop(bar);
        session->runner.progress = NULL;
    }
}

enum exit_status exit_status_for(enum status status)
{
    return status == STATUS_OK ? EXIT_FINE : status == STATUS_CANCELLED ? EXIT_INTERRUPTED : EXIT_QUERY;
}
