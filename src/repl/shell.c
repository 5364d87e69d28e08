#include "repl/shell.h"

#include "repl/session/arguments.h"

#include "base/cachedir.h"
#include "base/memory_size.h"
#include "engine/backend/backend_choice.h"
#include "engine/evaluator/evaluator.h"
#include "engine/storage/buffer_pool.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/file_not_found.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PLAIN_WIDTH = 100, USUAL_WIDTH = 80 };

/* This part of memory at most waits for the next results (pool.h). */
enum { POOL_SHARE = 8 };

/* And this part holds copies of columns (keeper.h). */
enum { COPIES_SHARE = 4 };

/* Its lines and cells; no lines, and a usual width, where it does not say. */
static struct winsize terminal_size(int fd)
{
    struct winsize size;
    bool told = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return told ? size : (struct winsize){.ws_col = USUAL_WIDTH};
}

/* Whether escapes for colour are welcome there: https://no-color.org. */
static bool wants_colour(int fd)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(fd) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

void shell_complain(const struct strbuf *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t wrote = write(STDERR_FILENO, text->text + done, text->length - done);
        if (wrote < 0 && errno != EINTR) {
            return; /* there is nowhere left to say so */
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Whether a note is to be told; remembers it. */
static bool tells_note(struct shell *shell, const char *message)
{
    if (shell->settings.messages != MESSAGES_NORMAL) {
        return shell->settings.messages == MESSAGES_VERBOSE;
    }
    for (size_t i = 0; i < shell->told_count; i++) {
        if (strcmp(shell->told[i], message) == 0) {
            return false;
        }
    }
    size_t count = shell->told_count++;
    shell->told = arena_grow(shell->memory, shell->told, count, count + 1, sizeof *shell->told);
    shell->told[count] = arena_text(shell->memory, message, strlen(message));
    return true;
}

void shell_report(struct shell *shell, const struct diags *diags)
{
    struct strbuf text = {0};
    if (isatty(STDERR_FILENO)) {
        shell->errors.width = terminal_size(STDERR_FILENO).ws_col;
    }
    for (size_t i = 0; i < diags->count; i++) {
        const struct diag *diag = &diags->at[i];
        if (diag->severity == SEVERITY_ERROR || tells_note(shell, diag->message)) {
            render_diag(&text, diag, &shell->errors);
        }
    }
    shell_complain(&text);
    strbuf_free(&text);
}

struct print_style shell_print_style(const struct shell *shell)
{
    struct winsize size = terminal_size(STDOUT_FILENO);
    struct settings settings = shell->settings;
    bool here = !shell->out.file;
    if (!here && settings.format == PRINT_AUTO) {
        settings.format = (int)output_format(shell);
    }
    struct print_style style =
        print_style_for(&settings, here && shell->out_terminal, here && shell->out_colour, size.ws_col);
    style.height = size.ws_row;
    return style;
}

enum exit_status shell_flush(struct shell *shell)
{
    if (printer_flush(&shell->out)) {
        return EXIT_FINE;
    }
    if (shell->out.file && shell->out.file->error) {
        return output_fail(shell);
    }
    if (shell->out.error == 0) {
        return EXIT_INTERRUPTED;
    }
    shell->leaving = true;
    if (shell->out.error == EPIPE) {
        return EXIT_PIPE;
    }
    struct strbuf text = {0};
    strbuf_printf(&text, "error: cannot write to standard output: %s\n", strerror(shell->out.error));
    shell_complain(&text);
    strbuf_free(&text);
    return EXIT_QUERY;
}

static void close_device(struct shell *shell)
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
    bool remembers = cachedir_make(&directory) == 0;
    shell->runner.chooser = chooser_new(remembers ? directory.text : NULL, shell->runner.evaluator);
    strbuf_free(&directory);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct backend *backend = shell->platform->open_device(choices[i]);
        if (backend) {
            chooser_add(shell->runner.chooser, backend, CLASS_CPU);
        }
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
    if (shell->opened_device == shell->settings.device) {
        return;
    }
    close_device(shell);
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
    if (first && (shell->prompting || !shell->runner.hasty)) {
        (void)first->ops->begin(first, NULL);
    }
}

static enum status read_all(int fd, struct strbuf *text, const atomic_int *cancel)
{
    enum { CHUNK = 256 * 1024 };
    for (;;) {
        ssize_t got = read(fd, strbuf_reserve(text, CHUNK), CHUNK);
        if (got > 0) {
            strbuf_commit(text, (size_t)got);
        }
        if (*cancel) {
            return STATUS_CANCELLED;
        }
        if (got == 0) {
            return STATUS_OK;
        }
        if (text->length > SCRIPT_BYTES) {
            errno = EFBIG;
            return STATUS_FAILED;
        }
        if (got < 0 && errno != EINTR) {
            return STATUS_FAILED;
        }
    }
}

enum status shell_read(const struct shell *shell, const char *path, struct span span, struct strbuf *text,
                       struct diags *diags)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    enum status status = fd < 0 ? STATUS_FAILED : read_all(fd, text, shell->platform->cancel);
    int problem = errno;
    if (fd >= 0 && path) {
        (void)close(fd);
    }
    if (status == STATUS_FAILED && path) {
        if (problem == ENOENT) {
            return missing_file(path, span, diags);
        }
        return diag_error(diags, span, "cannot read `%s`: %s", path, strerror(problem));
    }
    if (status == STATUS_FAILED) {
        return diag_error(diags, span, "cannot read standard input: %s", strerror(problem));
    }
    return status;
}

bool shell_goes_on(const struct shell *shell, enum exit_status outcome)
{
    bool failed = outcome == EXIT_QUERY && shell->settings.errors == ERRORS_CONTINUE;
    return !shell->leaving && (outcome == EXIT_FINE || failed);
}

/* A script, or standard input if there is no path. */
static enum exit_status run_script(struct shell *shell, const char *path)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct strbuf text = {0};
    enum status status = shell_read(shell, path, (struct span){0}, &text, &diags);
    enum exit_status outcome = status == STATUS_CANCELLED ? EXIT_INTERRUPTED : EXIT_USAGE;
    if (status == STATUS_FAILED && path && !strchr(path, '.') && !diags.at[diags.count - 1].hint) {
        diag_hint(&diags, "a script is named here; `rql -c QUERY` runs a query, `rql --help` tells more");
    }
    shell_report(shell, &diags);
    if (status == STATUS_OK) {
        outcome = unit_run(shell, unit_new(path ? path : "<stdin>", &text, PARSE_SCRIPT));
    }
    strbuf_free(&text);
    arena_free(arena);
    return outcome;
}

/* The worse of two outcomes of queries that run one after another. */
static enum exit_status worse(enum exit_status a, enum exit_status b)
{
    return a == EXIT_FINE ? b : a;
}

static enum exit_status run_queries(struct shell *shell, const struct options *options)
{
    enum exit_status outcome = EXIT_FINE;
    for (size_t i = 0; i < options->query_count && shell_goes_on(shell, outcome); i++) {
        struct strbuf text = {0};
        strbuf_puts(&text, options->queries[i]);
        outcome = worse(outcome, unit_run(shell, unit_new("-c", &text, PARSE_SCRIPT)));
    }
    return outcome;
}

static void shell_open(struct shell *shell, const struct options *options, const struct platform *platform)
{
    *shell = (struct shell){
        .platform = platform, .settings = options->settings, .no_init = options->no_init, .memory = arena_new()};
    shell->catalog = catalog_new(platform->mappings, platform->cancel);
    if (options->query_count == 0 && (!options->script || strcmp(options->script, "-") == 0)) {
        catalog_keep_input(shell->catalog);
    }
    shell->runner.env = env_new(shell->catalog);
    shell->runner.evaluator = evaluator_open();
    const size_t ram = (size_t)ram_bytes();
    shell->runner.memory = (int64_t)ram; /* asking takes as long as a short query */
    shell->runner.pool = pool_new(ram / POOL_SHARE);
    shell->keeper = keeper_new(ram / COPIES_SHARE, shell->runner.pool);
    shell->runner.cancel = platform->cancel;
    shell->opened_device = DEVICE_HOST;
    shell->out = (struct printer){.fd = STDOUT_FILENO, .cancel = platform->cancel};
    shell->out_terminal = isatty(STDOUT_FILENO);
    shell->out_colour = wants_colour(STDOUT_FILENO);
    shell->errors = (struct render_style){wants_colour(STDERR_FILENO), PLAIN_WIDTH, isatty(STDERR_FILENO)};
}

static void shell_close(struct shell *shell)
{
    keeper_free(shell->keeper);
    env_free(shell->runner.env);
    pool_unref(shell->runner.pool);
    catalog_free(shell->catalog);
    close_device(shell); /* when nothing is left that it would bring to the host */
    shell->runner.evaluator->ops->close(shell->runner.evaluator);
    unit_free_list(shell->kept);
    printer_free(&shell->out);
    strbuf_free(&shell->query);
    strbuf_free(&shell->edited);
    arena_free(shell->memory);
}

static enum exit_status run_what_is_asked(struct shell *shell, const struct options *options)
{
    if (options->query_count > 0) {
        return run_queries(shell, options);
    }
    if (options->script) {
        return run_script(shell, strcmp(options->script, "-") == 0 ? NULL : options->script);
    }
    return isatty(STDIN_FILENO) ? prompt_run(shell, isatty(STDOUT_FILENO)) : run_script(shell, NULL);
}

enum exit_status shell_main(const struct options *options, const struct platform *platform)
{
    struct shell shell;
    shell_open(&shell, options, platform);
    enum exit_status outcome = arguments_define(&shell, options);
    if (outcome == EXIT_FINE) {
        outcome = run_what_is_asked(&shell, options);
    }
    outcome = output_end(&shell, outcome);
    shell_close(&shell);
    return outcome;
}
