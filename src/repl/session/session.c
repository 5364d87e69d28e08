#include "repl/session/session.h"

#include "base/cachedir.h"
#include "engine/backend/backend_choice.h"
#include "engine/storage/file_not_found.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80 };

/* Its lines and cells; no lines, and a usual width, where it does not say. */
static struct winsize terminal_size(int fd)
{
    struct winsize size;
    bool told = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return told ? size : (struct winsize){.ws_col = USUAL_WIDTH};
}

void shell_complain(const struct strbuf *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t wrote = write(STDERR_FILENO, text->text + done, text->length - done);
        if (wrote < 0 && errno != EINTR)
            return; /* there is nowhere left to say so */
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Whether a note is to be told; remembers it. */
static bool tells_note(struct shell *shell, const char *message)
{
    if (shell->settings.messages != MESSAGES_NORMAL)
        return shell->settings.messages == MESSAGES_VERBOSE;
    for (size_t i = 0; i < shell->told_count; i++) {
        if (strcmp(shell->told[i], message) == 0)
            return false;
    }
    size_t count = shell->told_count++;
    shell->told = arena_grow(shell->memory, shell->told, count, count + 1, sizeof *shell->told);
    shell->told[count] = arena_text(shell->memory, message, strlen(message));
    return true;
}

void shell_report(struct shell *shell, const struct diags *diags)
{
    struct strbuf text = {0};
    if (isatty(STDERR_FILENO))
        shell->errors.width = terminal_size(STDERR_FILENO).ws_col;
    for (size_t i = 0; i < diags->count; i++) {
        const struct diag *diag = &diags->at[i];
        if (diag->severity == SEVERITY_ERROR || tells_note(shell, diag->message))
            render_diag(&text, diag, &shell->errors);
    }
    shell_complain(&text);
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
                                .width = width};
}

struct print_style shell_print_style(const struct shell *shell)
{
    struct winsize size = terminal_size(STDOUT_FILENO);
    struct settings settings = shell->settings;
    bool here = !shell->out.file;
    if (!here && settings.format == PRINT_AUTO)
        settings.format = (int)output_format(shell);
    struct print_style style =
        print_style_for(&settings, here && shell->out_terminal, here && shell->out_colour, size.ws_col);
    style.height = size.ws_row;
    return style;
}

enum exit_status shell_flush(struct shell *shell)
{
    if (printer_flush(&shell->out))
        return EXIT_FINE;
    if (shell->out.file && shell->out.file->error)
        return output_fail(shell);
    if (shell->out.error == 0)
        return EXIT_INTERRUPTED;
    shell->leaving = true;
    if (shell->out.error == EPIPE)
        return EXIT_PIPE;
    struct strbuf text = {0};
    strbuf_printf(&text, "error: cannot write to standard output: %s\n", strerror(shell->out.error));
    shell_complain(&text);
    strbuf_free(&text);
    return EXIT_QUERY;
}

void shell_close_device(struct shell *shell)
{
    chooser_free(shell->runner.chooser);
    shell->runner.chooser = NULL;
    if (shell->runner.device) {
        shell->runner.device->ops->close(shell->runner.device);
        shell->runner.device = NULL;
    }
}

/* What the choice is between: the host, the best device, and, if that is a GPU, the CPU as a device. */
static void open_candidates(struct shell *shell)
{
    static const char *const choices[] = {"auto", "cpu"};
    struct strbuf directory = {0};
    bool remembers = cachedir_create(&directory) == 0;
    shell->runner.chooser = chooser_new(remembers ? directory.text : NULL, shell->runner.evaluator);
    strbuf_free(&directory);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct backend *backend = shell->platform->open_device(choices[i]);
        if (backend)
            chooser_add(shell->runner.chooser, backend, CLASS_CPU);
    }
}

/* The device that starts first: the one named, or the best; NULL if there is none. */
static struct backend *first_device(const struct shell *shell)
{
    struct chooser *chooser = shell->runner.chooser;
    return !chooser ? shell->runner.device : chooser_count(chooser) > 1 ? chooser_backend(chooser, 1) : NULL;
}

void shell_choose_device(struct shell *shell)
{
    if (shell->opened_device == shell->settings.device)
        return;
    shell_close_device(shell);
    shell->opened_device = shell->settings.device;
    if (shell->settings.device == DEVICE_AUTO) {
        open_candidates(shell);
    } else if (shell->settings.device != DEVICE_HOST) {
        struct strbuf choice = {0};
        setting_print(&choice, &shell->settings, setting_find("device"));
        shell->runner.device = shell->platform->open_device(choice.text);
        strbuf_free(&choice);
    }
    shell->runner.hasty = shell->settings.device == DEVICE_AUTO;
    /* At a prompt it can start while the user types; a query that was asked for alone may be done before. */
    struct backend *first = first_device(shell);
    if (first && (shell->prompting || !shell->runner.hasty))
        (void)first->ops->begin(first, NULL);
}

static enum status read_all(int fd, struct strbuf *text, const atomic_int *cancel)
{
    enum { CHUNK = 256 * 1024 };
    for (;;) {
        ssize_t got = read(fd, strbuf_reserve(text, CHUNK), CHUNK);
        if (got > 0)
            strbuf_commit(text, (size_t)got);
        if (*cancel)
            return STATUS_CANCELLED;
        if (got == 0)
            return STATUS_OK;
        if (text->length > SCRIPT_BYTES) {
            errno = EFBIG;
            return STATUS_FAILED;
        }
        if (got < 0 && errno != EINTR)
            return STATUS_FAILED;
    }
}

enum status shell_read(const struct shell *shell, const char *path, struct span span, struct strbuf *text,
                       struct diags *diags)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    enum status status = fd < 0 ? STATUS_FAILED : read_all(fd, text, shell->platform->cancel);
    int problem = errno;
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

bool shell_goes_on(const struct shell *shell, enum exit_status outcome)
{
    bool failed = outcome == EXIT_QUERY && shell->settings.errors == ERRORS_CONTINUE;
    return !shell->leaving && (outcome == EXIT_FINE || failed);
}
