#include "repl/session/script.h"

#include "base/heap.h"
#include "repl/rewrite/rewrites.h"
#include "repl/session/commands.h"
#include "repl/session/measure.h"
#include "repl/session/output_file.h"
#include "repl/session/progress_bar.h"
#include "repl/session/session.h"
#include "repl/session/timing_report.h"

#include "base/buffer_pool.h"
#include "engine/explain/explain.h"
#include "engine/formats/open_file.h"
#include "engine/run/run.h"
#include "engine/storage/column_stats.h"
#include "parser/broken.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct script *script_new(const char *name, struct strbuf *text, enum parse_mode mode)
{
    struct arena *arena = arena_new();
    struct script *script = arena_alloc(arena, sizeof *script);
    script->arena = arena;
    script->text = *text;
    *text = (struct strbuf){0};
    script->source = (struct source){name, script->text.text ? script->text.text : "", script->text.length};
    diags_init(&script->diags, arena);
    const int64_t begin = now_ns();
    script->mode = mode;
    script->parsed = parse(&script->source, mode, arena, &script->diags, &script->first);
    script->parse_ns = now_ns() - begin;
    return script;
}

void script_free(struct script *script)
{
    strbuf_free(&script->text);
    arena_free(script->arena);
}

void script_free_list(struct script *first)
{
    while (first) {
        struct script *next = first->next;
        script_free(first);
        first = next;
    }
}

/* The name that is the whole statement, or that is called there without arguments; NULL if there is none. */
static const struct name *only_name(const struct stmt *stmt)
{
    if (stmt->kind == STMT_EXPR && stmt->expr->kind == EXPR_CALL && stmt->expr->arg_count == 0)
        return &stmt->expr->name;
    const bool name = stmt->kind == STMT_PIPELINE && stmt->pipeline->source.kind == SOURCE_NAME;
    return name && stmt->pipeline->stage_count == 0 ? &stmt->pipeline->source.name : NULL;
}

/* A plain word like `quit`, and `quit()`, is a command unless it names something. */
static const struct stmt *resolve_command_word(const struct stmt *stmt, const struct env *env, struct arena *arena)
{
    const struct name *name = only_name(stmt);
    if (!name)
        return stmt;
    const size_t length = strlen(name->text);
    const char *command = command_of_plain_word(name->text, length);
    bool as_written = name->span.end - name->span.begin == length; /* not in backquotes */
    if (!command || !as_written || env_find(env, name->text))
        return stmt;
    struct stmt *resolved = arena_copy(arena, stmt, sizeof *resolved);
    resolved->kind = STMT_COMMAND;
    resolved->command = (struct name){command, name->span};
    return resolved;
}

static size_t count_errors(const struct diags *diags)
{
    size_t count = 0;
    for (size_t i = 0; i < diags->count; i++)
        count += diags->at[i].severity == SEVERITY_ERROR;
    return count;
}

/* Makes known what statements before byte `end` with errors of syntax, of diagnostics from number `k` on, would have
 * defined. Returns the number of the next one. */
static size_t name_broken(struct checker *checker, const struct script *script, size_t k, uint32_t end)
{
    for (; k < script->diags.count && script->diags.at[k].statement.begin < end; k++) {
        const struct diag *diag = &script->diags.at[k];
        struct broken_definition broken;
        if (diag->severity != SEVERITY_ERROR || !broken_definition(diag->statement, checker->arena, &broken))
            continue;
        const enum binding_kind def = broken.is_stage ? BINDING_STAGE : BINDING_FUNCTION;
        (void)env_set_unknown(checker->env, broken.name, broken.is_def ? def : BINDING_RELATION);
    }
    return k;
}

void script_check(struct checker *checker, const struct script *script)
{
    const atomic_int *cancel = checker->session->platform->cancel;
    size_t broken = 0;
    for (const struct stmt *stmt = script->first; stmt && count_errors(&checker->diags) < LIMIT_ERRORS && !*cancel;
         stmt = stmt->next) {
        broken = name_broken(checker, script, broken, stmt->span.begin);
        const struct stmt *resolved = resolve_command_word(stmt, checker->env, checker->arena);
        const size_t before = checker->diags.count;
        if (resolved->kind == STMT_COMMAND)
            command_check(checker, resolved);
        else
            (void)check_statement(checker->env, resolved, checker->arena, &checker->diags);
        if (checker->diags.count > before)
            rewrites_correct(checker->env, script->mode, &checker->diags, before, resolved->span);
    }
}

static bool restore_directory(const struct checker *checker)
{
    const bool back = fchdir(checker->directory) == 0;
    (void)close(checker->directory);
    return back;
}

/* Reports errors of parsing and of the check, in source order. */
static void report_in_order(struct session *session, const struct script *script, const struct diags *checked)
{
    struct diags all;
    size_t parsed = 0;
    diags_init(&all, checked->arena);
    for (size_t i = 0; i < checked->count; i++) {
        const struct span *place = &checked->at[i].span;
        for (; parsed < script->diags.count && place->source == &script->source; parsed++) {
            const struct span *before = &script->diags.at[parsed].span;
            if (!before->source || before->begin > place->begin)
                break;
            diags_add(&all, &script->diags.at[parsed]);
        }
        diags_add(&all, &checked->at[i]);
    }
    for (; parsed < script->diags.count; parsed++)
        diags_add(&all, &script->diags.at[parsed]);
    session_report(session, &all);
}

void set_limits(const struct session *session, const struct settings *settings)
{
    enum { MADE_SHARE = 4 }; /* indexes and the like may take 1/4 of what columns of files may */
    const struct table_source *tables = session->platform->tables;
    struct remote *remote = file_cache_remote(session->runner.env->file_cache);
    const int64_t memory = settings_memory(settings, session->memory_bytes), keep = settings_keep(settings, memory);
    remote_set_timeout(remote, settings_timeout(settings));
    remote_set_limit(remote, settings_cache(settings));
    file_cache_set_limit(session->runner.env->file_cache, keep);
    kept_set_limit(session->runner.env->kept, keep / MADE_SHARE);
    buffer_pool_set_limit(session->runner.pool, memory, settings_temporary(settings));
    if (tables)
        tables->set_limits(tables->servers, &(struct table_limits){.seconds = settings_timeout(settings),
                                                                   .fetch = settings_fetch(settings),
                                                                   .upload = settings_upload(settings)});
}

/* Returns whether the script may run and reports why not. A single statement is not checked here: running it starts
 * with the same check. */
static bool check_whole(struct session *session, struct script *script)
{
    const bool parsed = script->parsed == PARSE_OK;
    if (parsed && (!script->first || !script->first->next)) {
        session_report(session, &script->diags);
        return true;
    }
    struct checker checker = {.session = session,
                              .env = env_copy(session->runner.env),
                              .arena = arena_new(),
                              .directory = -1,
                              .settings = session->settings};
    diags_init(&checker.diags, checker.arena);
    checker.env->opens_files = true;
    set_limits(session, &session->settings);
    if (session->output)
        made_files_add(&checker.env->made, output_path(session));
    script_check(&checker, script);
    rewrites_correct(checker.env, script->mode, &script->diags, 0, (struct span){0}); /* `let`s are known now */
    bool valid = !diags_have_errors(&checker.diags);
    report_in_order(session, script, &checker.diags);
    if (checker.directory >= 0)
        valid = restore_directory(&checker) && valid;
    env_free(checker.env);
    script_free_list(checker.read);
    arena_free(checker.arena);
    return valid && parsed;
}

struct statement_run {
    struct session *session;
    const struct stmt *stmt;
    struct arena *arena;
    struct diags diags;
    struct timing timing;
    int64_t begin, parse_ns;
    struct table_traffic traffic; /* of the session before it */
    struct remote_traffic received;
    struct progress_bar bar;
};

static struct table_traffic traffic_of(const struct session *session)
{
    const struct table_source *tables = file_cache_tables(session->runner.env->file_cache);
    return tables ? tables->traffic(tables->servers) : (struct table_traffic){0};
}

static struct remote_traffic received_of(const struct session *session)
{
    return remote_traffic(file_cache_remote(session->runner.env->file_cache));
}

/* `save` writes once, and a name is defined once. */
static bool is_repeatable(const struct stmt *stmt)
{
    const struct pipeline *pipeline = stmt->pipeline;
    bool saves =
        pipeline && pipeline->stage_count > 0 && pipeline->stages[pipeline->stage_count - 1].word->stage == STAGE_SAVE;
    return stmt->kind == STMT_PIPELINE && !saves;
}

static void print_timing(struct statement_run *run, int64_t printed_since)
{
    struct session *session = run->session;
    if (!session->settings.timing)
        return;
    const int64_t now = now_ns();
    const int times = session->settings.timing - TIMING_REPEAT;
    const bool repeat = times > 0 && is_repeatable(run->stmt);
    struct measurements runs;
    struct strbuf text = {0};
    enum status status = STATUS_OK;
    const struct table_traffic traffic = traffic_of(session);
    const struct remote_traffic received = received_of(session);
    if (repeat)
        status = measure_repeated(&session->runner, run->stmt, times, INT64_MAX, run->arena, &runs, &run->diags);
    const bool interrupted = status == STATUS_CANCELLED;
    strbuf_puts(&text, interrupted && session->interactive ? "\n" : ""); /* after the terminal's ^C */
    report_traffic(&text, &run->traffic, &traffic);
    report_received(&text, &run->received, &received);
    report_timing(&text, &run->timing, now - printed_since, now - run->begin + run->parse_ns);
    if (repeat && (status == STATUS_OK || interrupted))
        report_repeats(&text, &runs, interrupted);
    write_stderr(&text);
    strbuf_free(&text);
}

/* `_`, and what a line that begins with `|` continues. */
static void keep_last(struct env *env, const struct result *result)
{
    if (result->kind == RESULT_RELATION) {
        env_set_last(env, result->relation);
        env_set_relation(env, ENV_LAST, result->relation);
    } else if (result->kind == RESULT_SCALAR) {
        env_set_scalar(env, ENV_LAST, result->scalar);
    } else if (result->view == VIEW_DESCRIPTION) { /* of rows that never came */
        env_set_last(env, NULL);
    }
}

static enum exit_status run_query(struct statement_run *run)
{
    struct session *session = run->session;
    struct result result = {.kind = RESULT_NONE, .show_rows = SHOW_SOME};
    session_start_progress(session, &run->bar);
    const enum status status = run_statement(&session->runner, run->stmt, run->arena, &result, &run->diags);
    session_stop_progress(session, &run->bar);
    if (status == STATUS_FAILED)
        rewrites_correct(session->runner.env, PARSE_PROMPT, &run->diags, 0, run->stmt->span);
    else if (session->interactive || strcmp(run->stmt->span.source->name, "-c") == 0)
        rewrites_note(session->runner.env, run->stmt->span, &run->diags);
    session_report(session, &run->diags);
    enum exit_status outcome = exit_status_for(status);
    if (status == STATUS_OK) {
        const int64_t ran = now_ns();
        const int64_t shown = session->out.pager.shown;
        int64_t browsed = 0;
        outcome = show_result(session, &result, run->stmt->span, &browsed, &run->diags);
        const int64_t paged = session->out.pager.shown - shown + browsed; /* by the user */
        run->begin += paged;
        print_timing(run, ran + paged);
        if (outcome != EXIT_QUERY && session->interactive)
            keep_last(session->runner.env, &result);
    }
    result_release(&result);
    return outcome;
}

static bool explains_run(const struct stmt *stmt)
{
    return stmt->kind == STMT_EXPLAIN && stmt->variant.text && strcmp(stmt->variant.text, "run") == 0;
}

/* `race` and `explain run` print times instead of the result. */
static enum exit_status run_measured(struct statement_run *run)
{
    struct session *session = run->session;
    session_start_progress(session, &run->bar);
    const enum status status = run->stmt->kind == STMT_RACE ? race_run(session, run->stmt, run->arena, &run->diags)
                                                            : explain_run(session, run->stmt, run->arena, &run->diags);
    session_stop_progress(session, &run->bar);
    session_report(session, &run->diags);
    return status == STATUS_OK ? session_flush(session) : exit_status_for(status);
}

static enum exit_status run_explain(struct statement_run *run)
{
    struct session *session = run->session;
    struct strbuf text = {0};
    const enum status status = explain_statement(&text, &session->runner, run->stmt, run->arena, &run->diags);
    session_report(session, &run->diags);
    enum exit_status outcome = exit_status_for(status);
    if (status == STATUS_OK) {
        strbuf_add(&session->out.text, text.text ? text.text : "", text.length);
        outcome = session_flush(session);
    }
    strbuf_free(&text);
    return outcome;
}

static enum exit_status run_command(struct statement_run *run)
{
    const enum exit_status outcome = command_run(run->session, run->stmt, run->arena, &run->diags);
    if (outcome == EXIT_QUERY)
        rewrites_correct(run->session->runner.env, PARSE_PROMPT, &run->diags, 0, run->stmt->span);
    session_report(run->session, &run->diags);
    const enum exit_status flushed = session_flush(run->session);
    return outcome == EXIT_FINE ? flushed : outcome;
}

/* Rows may be deferred if the result is a table that is cut to the terminal's height. */
static enum defer_choice choose_deferral(const struct session *session, const struct stmt *stmt)
{
    if (session->settings.defer == DEFERRAL_OFF || stmt->kind == STMT_RACE || stmt->kind == STMT_EXPLAIN)
        return DEFER_NEVER;
    if (session->settings.defer == DEFERRAL_ALWAYS)
        return DEFER_ALWAYS;
    const struct print_style style = session_print_style(session);
    return style.terminal && style.format == PRINT_TABLE ? DEFER_LONG : DEFER_NEVER;
}

/* After a part of the session's work that may have used the heap's reserve, which stops it as an interrupt does: takes
 * the reserve again, and tells that a statement failed. */
static enum exit_status settle_memory(const struct session *session, enum exit_status outcome)
{
    struct strbuf text = {0};
    if (!heap_refill_reserve() || *session->platform->leave)
        return outcome;
    *session->platform->cancel = 0;
    if (outcome != EXIT_INTERRUPTED)
        return outcome;
    strbuf_puts(&text,
                "error: out of memory\nhint: `select` rows and `pick` columns first, or `.drop` what is not needed\n");
    write_stderr(&text);
    strbuf_free(&text);
    return EXIT_QUERY;
}

static enum exit_status run_and_print(struct session *session, const struct stmt *written, int64_t parse_ns)
{
    struct statement_run run = {.session = session,
                                .arena = arena_new(),
                                .begin = now_ns(),
                                .parse_ns = parse_ns,
                                .traffic = traffic_of(session),
                                .received = received_of(session)};
    const struct stmt *stmt = resolve_command_word(written, session->runner.env, run.arena);
    run.stmt = stmt;
    diags_init(&run.diags, run.arena);
    timing_init(&run.timing, run.arena);
    timing_add(&run.timing, PHASE_PARSE, "", parse_ns, 0);
    session->runner.timing = session->settings.timing ? &run.timing : NULL;
    session->runner.fusion = session->settings.fusion != 0;
    set_limits(session, &session->settings);
    session->runner.env->abbreviates = session->interactive && session->settings.strict == 0;
    session->runner.collector = session->settings.stats == STATS_OFF ? NULL : session->collector;
    stats_collector_set_eager(session->collector, session->settings.stats == STATS_NOW);

    enum exit_status outcome;
    session_begin_page(session);
    if (stmt->kind == STMT_COMMAND) {
        outcome = run_command(&run);
    } else {
        session_choose_device(session);
        output_redirect(session);
        session->runner.defer = choose_deferral(session, stmt);
        const bool measured = stmt->kind == STMT_RACE || explains_run(stmt);
        outcome = measured ? run_measured(&run) : stmt->kind == STMT_EXPLAIN ? run_explain(&run) : run_query(&run);
        session->out.file = NULL;
    }
    session->runner.timing = NULL;
    arena_free(run.arena);
    return settle_memory(session, outcome);
}

static enum exit_status run_all(struct session *session, const struct script *script)
{
    int64_t parse_ns = script->parse_ns; /* of the whole script; reported with the first statement */
    const bool closes = session->closes;
    session->closes = false; /* scripts within this one do not */
    enum exit_status worst = EXIT_FINE;
    for (const struct stmt *stmt = script->first; stmt && !session->quitting; stmt = stmt->next) {
        if (*session->platform->cancel)
            return EXIT_INTERRUPTED;
        session->runner.env->ends = closes && !stmt->next && stmt->kind != STMT_RACE && stmt->kind != STMT_EXPLAIN;
        const enum exit_status outcome = run_and_print(session, stmt, parse_ns);
        if (!session_continues(session, outcome))
            return outcome == EXIT_FINE ? worst : outcome;
        worst = outcome == EXIT_FINE ? worst : outcome;
        parse_ns = 0;
    }
    return worst;
}

static bool defines_functions(const struct script *script)
{
    for (const struct stmt *stmt = script->first; stmt; stmt = stmt->next) {
        if (stmt->kind == STMT_DEF)
            return true;
    }
    return false;
}

enum parse_mode script_mode(const struct session *session)
{
    return session->starting || session->settings.errors == ERRORS_CONTINUE ? PARSE_EACH : PARSE_SCRIPT;
}

enum exit_status script_run(struct session *session, struct script *script)
{
    const bool tolerant = script_mode(session) == PARSE_EACH; /* each statement is checked when it runs */
    if (tolerant) {
        rewrites_correct(session->runner.env, script->mode, &script->diags, 0, (struct span){0});
        session_report(session, &script->diags);
    }
    const bool valid = tolerant || check_whole(session, script);
    (void)settle_memory(session, EXIT_FINE);
    enum exit_status outcome = valid ? run_all(session, script) : EXIT_QUERY;
    if (outcome == EXIT_FINE && script->parsed != PARSE_OK)
        outcome = EXIT_QUERY;
    if (defines_functions(script)) {
        script->next = session->scripts;
        session->scripts = script;
    } else {
        script_free(script);
    }
    return outcome;
}
