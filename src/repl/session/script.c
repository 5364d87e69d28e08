#include "repl/session/script.h"

#include "repl/print/plot.h"
#include "repl/session/commands.h"
#include "repl/session/progress_bar.h"
#include "repl/session/session.h"
#include "repl/session/timing_report.h"

#include "engine/bind/check.h"
#include "engine/explain/explain.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/file_changed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct script *script_new(const char *name, struct strbuf *text, enum parse_mode mode)
{
    struct arena *arena = arena_new();
    struct script *unit = arena_alloc(arena, sizeof *unit);
    unit->arena = arena;
    unit->text = *text;
    *text = (struct strbuf){0};
    unit->source = (struct source){name, unit->text.text ? unit->text.text : "", unit->text.length};
    diags_init(&unit->diags, arena);
    int64_t begin = now_ns();
    unit->parsed = parse(&unit->source, mode, arena, &unit->diags, &unit->first);
    unit->parse_ns = now_ns() - begin;
    return unit;
}

void script_free(struct script *unit)
{
    strbuf_free(&unit->text);
    arena_free(unit->arena);
}

void script_free_list(struct script *first)
{
    while (first) {
        struct script *next = first->next;
        script_free(first);
        first = next;
    }
}

/* What is meant by a statement: a command, if it is a plain word for one and no more. */
static const struct stmt *meant_by(const struct stmt *stmt, const struct env *env, struct arena *arena)
{
    if (stmt->kind != STMT_PIPELINE || stmt->pipeline->source.kind != SOURCE_NAME || stmt->pipeline->stage_count > 0)
        return stmt;
    const struct name *name = &stmt->pipeline->source.name;
    size_t length = strlen(name->text);
    const char *command = command_of_plain_word(name->text, length);
    bool as_written = stmt->span.end - stmt->span.begin == length; /* and not between backquotes */
    if (!command || !as_written || env_find(env, name->text))
        return stmt;
    struct stmt *meant = arena_alloc(arena, sizeof *meant);
    *meant = *stmt;
    meant->kind = STMT_COMMAND;
    meant->command = (struct name){command, name->span};
    return meant;
}

void script_check(struct checking *checking, const struct script *unit)
{
    for (const struct stmt *stmt = unit->first; stmt && checking->diags.count < LIMIT_ERRORS; stmt = stmt->next) {
        const struct stmt *meant = meant_by(stmt, checking->env, checking->arena);
        if (meant->kind == STMT_COMMAND)
            command_check(checking, meant);
        else
            (void)check_statement(checking->env, meant, checking->arena, &checking->diags);
    }
}

/* To where the check has begun. */
static bool go_back(const struct checking *checking)
{
    bool back = fchdir(checking->folder) == 0;
    (void)close(checking->folder);
    return back;
}

/* Reports what parsing found and what the check found in the order of their places in the source. */
static void report_in_order(struct shell *shell, const struct script *unit, const struct diags *checked)
{
    struct diags all;
    size_t parsed = 0;
    diags_init(&all, checked->arena);
    for (size_t i = 0; i < checked->count; i++) {
        const struct span *place = &checked->at[i].span;
        for (; parsed < unit->diags.count && place->source == &unit->source; parsed++) {
            const struct span *before = &unit->diags.at[parsed].span;
            if (!before->source || before->begin > place->begin)
                break;
            diags_add(&all, &unit->diags.at[parsed]);
        }
        diags_add(&all, &checked->at[i]);
    }
    for (; parsed < unit->diags.count; parsed++)
        diags_add(&all, &unit->diags.at[parsed]);
    shell_report(shell, &all);
}

/* Whether the source may run; reports why not. A statement alone needs no check: running it begins with the same one.
 */
static bool is_sound(struct shell *shell, const struct script *unit)
{
    bool parsed = unit->parsed == PARSE_OK;
    if (parsed && (!unit->first || !unit->first->next)) {
        shell_report(shell, &unit->diags);
        return true;
    }
    struct checking checking = {.shell = shell, .env = env_copy(shell->runner.env), .arena = arena_new(), .folder = -1};
    diags_init(&checking.diags, checking.arena);
    checking.env->files_settled = !shell->output;
    script_check(&checking, unit);
    bool sound = !diags_have_errors(&checking.diags);
    report_in_order(shell, unit, &checking.diags);
    if (checking.folder >= 0)
        sound = go_back(&checking) && sound;
    env_free(checking.env);
    script_free_list(checking.read);
    arena_free(checking.arena);
    return sound && parsed;
}

static enum exit_status exit_for(enum status status)
{
    return status == STATUS_OK ? EXIT_FINE : status == STATUS_CANCELLED ? EXIT_INTERRUPTED : EXIT_QUERY;
}

/* A statement being run. */
struct turn {
    struct shell *shell;
    const struct stmt *stmt;
    struct arena *arena;
    struct diags diags;
    struct timing timing;
    int64_t begin, parse_ns;
    struct progress_bar bar;
};

/* An error, with nothing more printed, if the file under a column was cut short while its rows became text. */
static enum exit_status report_damage(struct turn *turn, const struct column *column, bool began)
{
    printer_discard(&turn->shell->out);
    turn->diags.count = 0; /* reported already */
    (void)file_changed_error(column, turn->stmt->span, &turn->diags);
    if (began)
        diag_hint(&turn->diags,
                  "the rows printed before this are right, and more are missing; load it again once it is "
                  "complete");
    shell_report(turn->shell, &turn->diags);
    return EXIT_QUERY;
}

static enum exit_status print_and_flush(struct turn *turn, const struct result *result)
{
    struct printer *out = &turn->shell->out;
    struct print_style style = shell_print_style(turn->shell);
    out->wrote = false;
    turn->diags.count = 0; /* reported already */
    enum status ready = print_check(result, &style, turn->stmt->span, &turn->diags);
    if (ready == STATUS_OK)
        ready = print_fetch(result, &style, turn->stmt->span, &turn->diags);
    if (ready != STATUS_OK) {
        shell_report(turn->shell, &turn->diags);
        return exit_for(ready);
    }
    if (result->view == VIEW_PLOT && result->plot_path.text) {
        enum status status =
            plot_save(result->relation, &result->plot_path, turn->shell->platform->cancel, &turn->diags);
        shell_report(turn->shell, &turn->diags);
        return exit_for(status);
    }
    print_result(out, result, &style);
    const struct column *damaged = NULL;
    if (result->kind == RESULT_RELATION && !result->quiet)
        damaged = changed_column(result->relation->columns, result->relation->count);
    return damaged ? report_damage(turn, damaged, out->wrote) : shell_flush(turn->shell);
}

/* What is saved is saved once, and what is named keeps its name. */
static bool may_repeat(const struct stmt *stmt)
{
    const struct pipeline *pipeline = stmt->pipeline;
    bool saves =
        pipeline && pipeline->stage_count > 0 && pipeline->stages[pipeline->stage_count - 1].word->stage == STAGE_SAVE;
    return stmt->kind == STMT_PIPELINE && !saves;
}

static void tell_timing(struct turn *turn, int64_t printed_since)
{
    if (turn->shell->settings.timing) {
        struct strbuf text = {0};
        int64_t now = now_ns();
        report_timing(&text, &turn->timing, now - printed_since, now - turn->begin + turn->parse_ns);
        int times = turn->shell->settings.timing - TIMING_REPEAT;
        if (times > 0 && may_repeat(turn->stmt))
            (void)repeat_query(turn->shell, turn->stmt, times, &text, &turn->diags);
        shell_complain(&text);
        strbuf_free(&text);
    }
}

/* A person looks at a progress bar only. */
static void begin_meter(struct turn *turn)
{
    struct shell *shell = turn->shell;
    if (shell->settings.messages != MESSAGES_QUIET && isatty(STDERR_FILENO)) {
        progress_bar_start(&turn->bar, STDERR_FILENO);
        shell->runner.progress = &turn->bar.base;
    }
}

static void end_meter(struct turn *turn)
{
    if (turn->shell->runner.progress) {
        progress_bar_stop(&turn->bar);
        turn->shell->runner.progress = NULL;
    }
}

/* What the next lines may go on from. */
static void keep_last(struct env *env, const struct result *result)
{
    if (result->kind == RESULT_RELATION) {
        env_set_last(env, result->relation);
        env_set_relation(env, ENV_LAST, result->relation);
    } else if (result->kind == RESULT_SCALAR) {
        env_set_scalar(env, ENV_LAST, result->scalar);
    }
}

static enum exit_status run_query(struct turn *turn)
{
    struct shell *shell = turn->shell;
    struct result result = {.kind = RESULT_NONE, .show_rows = -1};
    begin_meter(turn);
    enum status status = run_statement(&shell->runner, turn->stmt, turn->arena, &result, &turn->diags);
    end_meter(turn);
    shell_report(shell, &turn->diags);
    enum exit_status outcome = exit_for(status);
    if (status == STATUS_OK) {
        int64_t ran = now_ns();
        outcome = print_and_flush(turn, &result);
        tell_timing(turn, ran);
        if (outcome != EXIT_QUERY && shell->prompting)
            keep_last(shell->runner.env, &result);
    }
    result_release(&result);
    return outcome;
}

static bool explains_run(const struct stmt *stmt)
{
    return stmt->kind == STMT_EXPLAIN && stmt->variant.text && strcmp(stmt->variant.text, "run") == 0;
}

/* Runs a query to tell what it took rather than what it gives. */
static enum exit_status run_measured(struct turn *turn)
{
    struct shell *shell = turn->shell;
    begin_meter(turn);
    enum status status = turn->stmt->kind == STMT_RACE ? race(shell, turn->stmt, turn->arena, &turn->diags)
                                                       : explain_run(shell, turn->stmt, turn->arena, &turn->diags);
    end_meter(turn);
    shell_report(shell, &turn->diags);
    return status == STATUS_OK ? shell_flush(shell) : exit_for(status);
}

static enum exit_status run_explain(struct turn *turn)
{
    struct shell *shell = turn->shell;
    struct strbuf text = {0};
    enum status status = explain_statement(&text, &shell->runner, turn->stmt, turn->arena, &turn->diags);
    shell_report(shell, &turn->diags);
    enum exit_status outcome = exit_for(status);
    if (status == STATUS_OK) {
        strbuf_add(&shell->out.text, text.text ? text.text : "", text.length);
        outcome = shell_flush(shell);
    }
    strbuf_free(&text);
    return outcome;
}

static enum exit_status run_command(struct turn *turn)
{
    enum exit_status outcome = command_run(turn->shell, turn->stmt, turn->arena, &turn->diags);
    shell_report(turn->shell, &turn->diags);
    enum exit_status flushed = shell_flush(turn->shell);
    return outcome == EXIT_FINE ? flushed : outcome;
}

/* Whether rows of the statement's result can wait: those of a table that is cut to what fits the terminal. */
static enum defer_choice rows_to_leave(const struct shell *shell, const struct stmt *stmt)
{
    if (shell->settings.defer == DEFERRAL_OFF || stmt->kind == STMT_RACE || stmt->kind == STMT_EXPLAIN)
        return DEFER_NEVER;
    if (shell->settings.defer == DEFERRAL_ALWAYS)
        return DEFER_ALWAYS;
    const struct print_style style = shell_print_style(shell);
    return style.terminal && style.format == PRINT_TABLE ? DEFER_LONG : DEFER_NEVER;
}

static enum exit_status run_statement_of(struct shell *shell, const struct stmt *written, int64_t parse_ns)
{
    struct turn turn = {.shell = shell, .arena = arena_new(), .begin = now_ns(), .parse_ns = parse_ns};
    const struct stmt *stmt = meant_by(written, shell->runner.env, turn.arena);
    turn.stmt = stmt;
    diags_init(&turn.diags, turn.arena);
    timing_init(&turn.timing, turn.arena);
    timing_add(&turn.timing, PHASE_PARSE, "", parse_ns, 0);
    shell->runner.timing = shell->settings.timing ? &turn.timing : NULL;
    shell->runner.fusion = shell->settings.fusion != 0;
    shell->runner.collector = shell->settings.stats == STATS_OFF ? NULL : shell->collector;
    stats_collector_set_eager(shell->collector, shell->settings.stats == STATS_NOW);

    enum exit_status outcome;
    if (stmt->kind == STMT_COMMAND) {
        outcome = run_command(&turn);
    } else {
        shell_choose_device(shell);
        output_begin(shell);
        shell->runner.defer = rows_to_leave(shell, stmt);
        bool measured = stmt->kind == STMT_RACE || explains_run(stmt);
        outcome = measured ? run_measured(&turn) : stmt->kind == STMT_EXPLAIN ? run_explain(&turn) : run_query(&turn);
        shell->out.file = NULL;
    }
    shell->runner.timing = NULL;
    arena_free(turn.arena);
    return outcome;
}

static enum exit_status run_all(struct shell *shell, const struct script *unit)
{
    int64_t parse_ns = unit->parse_ns; /* the first statement's report tells it, for the whole source */
    enum exit_status worst = EXIT_FINE;
    for (const struct stmt *stmt = unit->first; stmt && !shell->leaving; stmt = stmt->next) {
        if (*shell->platform->cancel)
            return EXIT_INTERRUPTED;
        enum exit_status outcome = run_statement_of(shell, stmt, parse_ns);
        if (!shell_goes_on(shell, outcome))
            return outcome == EXIT_FINE ? worst : outcome;
        worst = outcome == EXIT_FINE ? worst : outcome;
        parse_ns = 0;
    }
    return worst;
}

static bool defines_functions(const struct script *unit)
{
    for (const struct stmt *stmt = unit->first; stmt; stmt = stmt->next) {
        if (stmt->kind == STMT_DEF)
            return true;
    }
    return false;
}

enum exit_status script_run(struct shell *shell, struct script *unit)
{
    bool goes_on = shell->settings.errors == ERRORS_CONTINUE; /* then each statement speaks for itself */
    if (goes_on)
        shell_report(shell, &unit->diags);
    enum exit_status outcome = goes_on || is_sound(shell, unit) ? run_all(shell, unit) : EXIT_QUERY;
    if (outcome == EXIT_FINE && unit->parsed != PARSE_OK)
        outcome = EXIT_QUERY;
    if (defines_functions(unit)) {
        unit->next = shell->kept;
        shell->kept = unit;
    } else {
        script_free(unit);
    }
    return outcome;
}
