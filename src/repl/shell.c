#include "repl/shell.h"

#include "repl/line/prompt.h"
#include "repl/session/arguments.h"
#include "repl/session/session.h"

#include "base/memory_size.h"
#include "engine/evaluator/evaluator.h"
#include "engine/storage/buffer_pool.h"
#include "engine/storage/column_stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN_WIDTH = 100 };

/* This part of memory at most waits for the next results (buffer_pool.h). */
enum { POOL_SHARE = 8 };

/* And this part holds copies of columns (column_stats.h). */
enum { COPIES_SHARE = 4 };

/* Whether escapes for colour are welcome there: https://no-color.org. */
static bool wants_colour(int fd)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(fd) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
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
    if (status == STATUS_FAILED && path && !strchr(path, '.') && !diags.at[diags.count - 1].hint)
        diag_hint(&diags, "a script is named here; `rql -c QUERY` runs a query, `rql --help` tells more");
    shell_report(shell, &diags);
    if (status == STATUS_OK)
        outcome = script_run(shell, script_new(path ? path : "<stdin>", &text, PARSE_SCRIPT));
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
        outcome = worse(outcome, script_run(shell, script_new("-c", &text, PARSE_SCRIPT)));
    }
    return outcome;
}

static void shell_open(struct shell *shell, const struct options *options, const struct platform *platform)
{
    *shell = (struct shell){
        .platform = platform, .settings = options->settings, .no_init = options->no_init, .memory = arena_new()};
    shell->file_cache = file_cache_new(platform->mappings, platform->cancel);
    if (options->query_count == 0 && (!options->script || strcmp(options->script, "-") == 0))
        file_cache_reserve_stdin(shell->file_cache);
    shell->runner.env = env_new(shell->file_cache);
    shell->runner.evaluator = evaluator_open();
    const size_t ram = (size_t)system_memory_bytes();
    shell->runner.memory = (int64_t)ram; /* asking takes as long as a short query */
    shell->runner.pool = buffer_pool_new(ram / POOL_SHARE);
    shell->collector = stats_collector_new(ram / COPIES_SHARE, shell->runner.pool);
    shell->runner.cancel = platform->cancel;
    shell->opened_device = DEVICE_HOST;
    shell->out = (struct printer){.fd = STDOUT_FILENO, .cancel = platform->cancel};
    shell->out_terminal = isatty(STDOUT_FILENO);
    shell->out_colour = wants_colour(STDOUT_FILENO);
    shell->errors = (struct render_style){wants_colour(STDERR_FILENO), PLAIN_WIDTH, isatty(STDERR_FILENO)};
}

static void shell_close(struct shell *shell)
{
    stats_collector_free(shell->collector);
    env_free(shell->runner.env);
    buffer_pool_unref(shell->runner.pool);
    file_cache_free(shell->file_cache);
    shell_close_device(shell); /* when nothing is left that it would bring to the host */
    shell->runner.evaluator->ops->close(shell->runner.evaluator);
    script_free_list(shell->kept);
    printer_free(&shell->out);
    strbuf_free(&shell->query);
    strbuf_free(&shell->edited);
    arena_free(shell->memory);
}

static enum exit_status run_what_is_asked(struct shell *shell, const struct options *options)
{
    if (options->query_count > 0)
        return run_queries(shell, options);
    if (options->script)
        return run_script(shell, strcmp(options->script, "-") == 0 ? NULL : options->script);
    return isatty(STDIN_FILENO) ? prompt_run(shell, isatty(STDOUT_FILENO)) : run_script(shell, NULL);
}

enum exit_status shell_main(const struct options *options, const struct platform *platform)
{
    struct shell shell;
    shell_open(&shell, options, platform);
    enum exit_status outcome = arguments_define(&shell, options);
    if (outcome == EXIT_FINE)
        outcome = run_what_is_asked(&shell, options);
    outcome = output_end(&shell, outcome);
    shell_close(&shell);
    return outcome;
}
