#include "repl/shell.h"

#include "repl/line/prompt.h"
#include "repl/session/data_files.h"
#include "repl/session/output_file.h"
#include "repl/session/script.h"
#include "repl/session/session.h"

#include "base/buffer_pool.h"
#include "base/memory_size.h"
#include "engine/evaluator/evaluator.h"
#include "engine/storage/column_stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ERROR_WIDTH = 100, /* where standard error is no terminal */
    COPIES_SHARE = 4   /* narrow copies of columns have at most 1/4 of memory */
};

/* See https://no-color.org. */
static bool wants_colour(int fd)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(fd) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

/* A script, or standard input if there is no path. */
static enum exit_status run_script(struct session *session, const char *path)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct strbuf text = {0};
    const enum status status = session_read(session, path, (struct span){0}, &text, &diags);
    enum exit_status outcome = status == STATUS_CANCELLED ? EXIT_INTERRUPTED : EXIT_USAGE;
    if (status == STATUS_FAILED && path && !strchr(path, '.') && !diags.at[diags.count - 1].hint)
        diag_hint(&diags, "the argument is a script; `rql -c QUERY` runs a query, see `rql --help`");
    session_report(session, &diags);
    data_files_continue(session, &text);
    session->closes = true;
    if (status == STATUS_OK)
        outcome = script_run(session, script_new(path ? path : "<stdin>", &text, script_mode(session)));
    strbuf_free(&text);
    arena_free(arena);
    return outcome;
}

/* The first failure counts. */
static enum exit_status first_failure(enum exit_status a, enum exit_status b)
{
    return a == EXIT_FINE ? b : a;
}

static enum exit_status run_queries(struct session *session, const struct options *options)
{
    enum exit_status outcome = EXIT_FINE;
    for (size_t i = 0; i < options->query_count && session_continues(session, outcome); i++) {
        struct strbuf text = {0};
        strbuf_puts(&text, options->queries[i]);
        data_files_continue(session, &text);
        session->closes = i + 1 == options->query_count;
        outcome = first_failure(outcome, script_run(session, script_new("-c", &text, script_mode(session))));
    }
    return outcome;
}

static void shell_open(struct session *session, const struct options *options, const struct platform *platform)
{
    *session = (struct session){
        .platform = platform, .settings = options->settings, .no_init = options->no_init, .memory = arena_new()};
    session->file_cache = file_cache_new(platform->mappings, platform->cancel);
    file_cache_set_tables(session->file_cache, platform->tables);
    if (options->safe)
        file_cache_refuse(session->file_cache, "`--safe` runs no programs", "`--safe` opens no connections");
    if (options->query_count == 0 && (!options->script || strcmp(options->script, "-") == 0))
        file_cache_reserve_stdin(session->file_cache);
    session->runner.env = env_new(session->file_cache);
    session->runner.env->kept = kept_new();
    session->runner.evaluator = evaluator_open();
    session->memory_bytes = system_memory_bytes();
    const int64_t memory = settings_memory(&session->settings, session->memory_bytes);
    session->runner.pool = buffer_pool_new(0);
    buffer_pool_set_limit(session->runner.pool, memory, settings_temporary(&session->settings));
    file_cache_set_pool(session->file_cache, session->runner.pool);
    session->collector = stats_collector_new((size_t)memory / COPIES_SHARE, session->runner.pool);
    session->runner.cancel = platform->cancel;
    session->opened_device = DEVICE_HOST;
    session->out = (struct printer){.fd = STDOUT_FILENO, .cancel = platform->cancel};
    session->out_terminal = isatty(STDOUT_FILENO);
    session->out_colour = wants_colour(STDOUT_FILENO);
    session->errors = (struct render_style){wants_colour(STDERR_FILENO), ERROR_WIDTH, isatty(STDERR_FILENO)};
}

static void shell_close(struct session *session)
{
    stats_collector_free(session->collector);
    kept_free(session->runner.env->kept);
    env_free(session->runner.env);
    buffer_pool_unref(session->runner.pool);
    file_cache_free(session->file_cache);
    session_close_device(session); /* last: columns may still be device-resident */
    session->runner.evaluator->ops->close(session->runner.evaluator);
    script_free_list(session->scripts);
    printer_free(&session->out);
    strbuf_free(&session->query);
    strbuf_free(&session->edited);
    arena_free(session->memory);
}

static enum exit_status run_input(struct session *session, const struct options *options)
{
    if (options->query_count > 0)
        return run_queries(session, options);
    if (options->script)
        return run_script(session, strcmp(options->script, "-") == 0 ? NULL : options->script);
    return isatty(STDIN_FILENO) ? prompt_run(session, isatty(STDOUT_FILENO)) : run_script(session, NULL);
}

enum exit_status shell_main(const struct options *options, const struct platform *platform)
{
    struct session session;
    shell_open(&session, options, platform);
    enum exit_status outcome = arguments_define(&session, options);
    if (outcome == EXIT_FINE)
        outcome = data_files_define(&session, options);
    if (outcome == EXIT_FINE)
        outcome = run_input(&session, options);
    outcome = output_finish(&session, outcome);
    shell_close(&session);
    return outcome;
}
