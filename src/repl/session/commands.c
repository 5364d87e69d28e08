#include "repl/session/commands.h"
#include "repl/print/text_table.h"
#include "repl/session/command_call.h"
#include "repl/session/help.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The end of the word at `at`, before its closing quote. */
static size_t word_end(const char *text, size_t at, char quote)
{
    while (text[at] && (quote ? text[at] != quote : !is_space(text[at]) && text[at] != ';'))
        at++;
    return at;
}

/* Splits the text at spaces outside quotes. A comment or a final semicolon ends the command; anything after a semicolon
 * is an error. */
static bool split_words(struct command_call *call, const struct name *name)
{
    const char *text = name->text;
    call->words = arena_array(call->arena, strlen(text) / 2 + 1, sizeof *call->words);
    bool ended = false;
    for (size_t at = 0; text[at] && text[at] != '#';) {
        struct span span = name->span;
        span.begin = name->span.begin + (uint32_t)at;
        if (is_space(text[at]) || text[at] == ';') {
            ended = ended || text[at] == ';';
            at++;
            continue;
        }
        const bool quoted = text[at] == '"' || text[at] == '\'';
        const size_t inner = at + (quoted ? 1 : 0);
        const size_t end = word_end(text, inner, quoted ? text[at] : '\0');
        at = quoted && text[end] ? end + 1 : end;
        span.end = name->span.begin + (uint32_t)at;
        if (ended) {
            (void)diag_error(call->diags, span, "a command must be alone on its line");
            diag_hint(call->diags, "move what follows `%s` to the next line", call->words[0].text);
            return false;
        }
        call->words[call->count++] = (struct name){arena_text(call->arena, text + inner, end - inner), span};
    }
    return true;
}

/* Adds "did you mean" to the last error. */
static void hint_nearest(struct diags *diags, const char *const *nearest, size_t count)
{
    if (count == 1)
        diag_hint(diags, "did you mean `%s`?", nearest[0]);
    else if (count > 1)
        diag_hint(diags, "did you mean `%s` or `%s`?", nearest[0], nearest[1]);
}

/* Settings. */

enum { SETTING_NAME, SETTING_VALUE, SETTING_MEANING, SETTING_CHOICES, SETTING_COLUMNS };

static const struct text_column setting_columns[SETTING_COLUMNS] = {
    [SETTING_NAME] = {"setting", true},
    [SETTING_VALUE] = {"value", true},
    [SETTING_CHOICES] = {"choices", true},
    [SETTING_MEANING] = {"meaning", true},
};

static void report_unknown(struct command_call *call, const struct name *name, const char *what, const char *list,
                           const char *const *candidates, size_t candidate_count)
{
    const char *nearest[2];
    const size_t count = nearest_names(name->text, candidates, candidate_count, nearest, 2);
    (void)diag_error(call->diags, name->span, "unknown %s `%s`", what, name->text);
    diag_hint(call->diags, "%s", list);
    hint_nearest(call->diags, nearest, count);
}

static const struct setting *find_setting(struct command_call *call, const struct name *name)
{
    const struct setting *setting = setting_find(name->text);
    if (!setting) {
        const char **candidates = arena_array(call->arena, setting_count, sizeof *candidates);
        for (size_t i = 0; i < setting_count; i++)
            candidates[i] = setting_table[i].name;
        report_unknown(call, name, "setting", ".set lists the settings", candidates, setting_count);
    }
    return setting;
}

/* The setting that the call is about, named after .set or by the command itself. *wanted: the new value, or NULL to
 * show the setting. Returns NULL with an error if there is no such setting. */
static const struct setting *setting_of(struct command_call *call, const struct name **wanted)
{
    const bool set = strcmp(call->command->name, ".set") == 0;
    const size_t at = set ? 2 : 1;
    *wanted = call->count > at ? &call->words[at] : NULL;
    return set ? find_setting(call, &call->words[1]) : setting_find(call->command->name + 1);
}

static bool change_setting(struct command_call *call, struct settings *settings, const struct setting *setting,
                           const struct name *wanted)
{
    if (setting_set(settings, setting, wanted->text))
        return true;
    struct strbuf choices = {0};
    setting_print_values(&choices, setting);
    const char *problem = setting_problem(setting, wanted->text);
    (void)diag_error(call->diags, wanted->span, "invalid value for `%s`: `%s`%s%s", setting->name, wanted->text,
                     problem ? " " : "", problem ? problem : "");
    diag_hint(call->diags, "choose one of %s", choices.text);
    strbuf_free(&choices);
    return false;
}

static void add_setting(struct command_call *call, struct text_table *table, const struct setting *setting)
{
    struct strbuf cells[SETTING_COLUMNS] = {{0}};
    strbuf_puts(&cells[SETTING_NAME], setting->name);
    setting_print(&cells[SETTING_VALUE], &call->session->settings, setting);
    strbuf_puts(&cells[SETTING_MEANING], setting->summary);
    setting_print_choices(&cells[SETTING_CHOICES], setting);
    text_table_add(table, cells);
    for (size_t k = 0; k < SETTING_COLUMNS; k++)
        strbuf_free(&cells[k]);
}

/* One setting with its choices or, if `only` is NULL, all without. */
static void print_settings(struct command_call *call, const struct setting *only)
{
    struct print_style style = session_print_style(call->session);
    struct text_table table;
    text_table_init(&table, call->arena, setting_columns, only ? SETTING_COLUMNS : SETTING_CHOICES);
    for (size_t i = 0; i < setting_count; i++) {
        if (!only || only == &setting_table[i])
            add_setting(call, &table, &setting_table[i]);
    }
    text_table_print(&call->session->out.text, &table, &style);
}

/* A device by its number is opened at once, so that a wrong number is refused here, not by the next query. */
static bool device_exists(struct command_call *call, const struct name *wanted, int before)
{
    struct session *session = call->session;
    if (session->settings.device < DEVICE_NUMBER || session_has_device(session))
        return true;
    session->settings.device = before;
    session_choose_device(session);
    (void)diag_error(call->diags, wanted->span, "there is no usable OpenCL device %s", wanted->text);
    diag_hint(call->diags, "`.devices` lists them; `.device auto` chooses one");
    return false;
}

static enum exit_status run_set(struct command_call *call)
{
    if (call->count == 1 && strcmp(call->command->name, ".set") == 0) {
        print_settings(call, NULL);
        return EXIT_FINE;
    }
    const struct name *wanted;
    const struct setting *setting = setting_of(call, &wanted);
    if (setting && !wanted)
        print_settings(call, setting);
    const int before = call->session->settings.device;
    bool fine =
        setting && (!wanted || (change_setting(call, &call->session->settings, setting, wanted) &&
                                (call->session->settings.device == before || device_exists(call, wanted, before))));
    return fine ? EXIT_FINE : EXIT_QUERY;
}

static void check_set(struct command_call *call, struct checker *checker)
{
    if (call->count > 1) {
        const struct name *wanted;
        const struct setting *setting = setting_of(call, &wanted);
        if (setting && wanted && change_setting(call, &checker->settings, setting, wanted))
            set_limits(call->session, &checker->settings);
    }
}

/* Names. */

static bool drop(struct command_call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        const struct name *name = &call->words[i];
        if (env_drop(call->env, name->text))
            continue;
        const char **candidates = arena_array(call->arena, call->env->count, sizeof *candidates);
        for (size_t k = 0; k < call->env->count; k++)
            candidates[k] = call->env->bindings[k].name;
        const char *nearest[2];
        const size_t count = nearest_names(name->text, candidates, call->env->count, nearest, 2);
        (void)diag_error(call->diags, name->span, "unknown name `%s`", name->text);
        hint_nearest(call->diags, nearest, count);
        return false;
    }
    return true;
}

static enum exit_status run_drop(struct command_call *call)
{
    return drop(call) ? EXIT_FINE : EXIT_QUERY;
}

static void check_drop(struct command_call *call, struct checker *checker)
{
    (void)checker;
    (void)drop(call);
}

/* Nested scripts. */

static bool too_deep(struct command_call *call, size_t depth)
{
    if (depth >= MAX_READ_DEPTH)
        (void)diag_error(call->diags, call->words[0].span, "`.read` is nested more than %d deep", MAX_READ_DEPTH);
    return depth >= MAX_READ_DEPTH;
}

static struct script *read_script(struct command_call *call)
{
    const struct name *path = &call->words[1];
    struct strbuf text = {0};
    struct script *script = NULL;
    const char *file = path_expand_home(path->text, call->arena);
    if (session_read(call->session, file, path->span, &text, call->diags) == STATUS_OK) {
        /* Errors in functions of the script name it later. */
        const char *name = arena_text(call->session->memory, file, strlen(file));
        script = script_new(name, &text, script_mode(call->session));
    }
    strbuf_free(&text);
    return script;
}

static enum exit_status run_read(struct command_call *call)
{
    struct session *session = call->session;
    struct script *script = too_deep(call, session->read_depth) ? NULL : read_script(call);
    if (!script)
        return *session->platform->cancel ? EXIT_INTERRUPTED : EXIT_QUERY;
    session->read_depth++;
    const enum exit_status outcome = script_run(session, script);
    session->read_depth--;
    return outcome;
}

static void check_read(struct command_call *call, struct checker *checker)
{
    struct script *script = too_deep(call, checker->depth) ? NULL : read_script(call);
    if (script) {
        script->next = checker->read;
        checker->read = script;
        diags_add_errors(&checker->diags, &script->diags);
        checker->depth++;
        script_check(checker, script);
        checker->depth--;
    }
}

/* Other commands. */

/* An unknown word is searched for in the help of the others. */
static bool print_help(struct strbuf *out, const char *text, size_t width)
{
    enum { MIN_SEARCH_LENGTH = 3 };
    return help_topic(out, text, width) || help_word(out, text) ||
           (strlen(text) >= MIN_SEARCH_LENGTH && help_search(out, text, width));
}

static enum exit_status run_help(struct command_call *call)
{
    struct strbuf *out = &call->session->out.text;
    const struct print_style style = session_print_style(call->session);
    if (call->count == 1) {
        help_overview(out, style.width);
        return EXIT_FINE;
    }
    const struct name *word = &call->words[1];
    if (print_help(out, word->text, style.terminal ? style.width : 0))
        return EXIT_FINE;
    const char *nearest[2];
    const size_t count = help_nearest(word->text, nearest, 2);
    (void)diag_error(call->diags, word->span, "no help on `%s`", word->text);
    diag_hint(call->diags, ".help lists all words");
    hint_nearest(call->diags, nearest, count);
    return EXIT_QUERY;
}

static enum exit_status run_edit(struct command_call *call)
{
    struct session *session = call->session;
    struct span span = call->words[0].span;
    if (!session->interactive) {
        (void)diag_error(call->diags, span, "%s works at the prompt only", call->words[0].text);
        return EXIT_QUERY;
    }
    const char *text = session->query.text ? session->query.text : "";
    return external_editor_run(text, span, &session->edited, call->diags) == STATUS_OK ? EXIT_FINE : EXIT_QUERY;
}

static bool history_count(struct command_call *call, size_t *count)
{
    const struct name *word = call->count > 1 ? &call->words[1] : NULL;
    char *end = NULL;
    *count = word ? (size_t)strtoul(word->text, &end, 10) : SIZE_MAX;
    if (!word || (word->text[0] >= '0' && word->text[0] <= '9' && *end == '\0'))
        return true;
    (void)diag_error(call->diags, word->span, "`%s` is not a number of queries", word->text);
    diag_hint(call->diags, "usage: .history [N]");
    return false;
}

static enum exit_status run_history(struct command_call *call)
{
    struct session *session = call->session;
    size_t count;
    if (!history_count(call, &count))
        return EXIT_QUERY;
    if (!session->list_history) {
        (void)diag_error(call->diags, call->words[0].span, "%s works at the prompt only", call->words[0].text);
        return EXIT_QUERY;
    }
    session->list_history(&session->out.text, count);
    return EXIT_FINE;
}

static void check_history(struct command_call *call, struct checker *checker)
{
    size_t count;
    (void)checker;
    (void)history_count(call, &count);
}

static enum exit_status run_quit(struct command_call *call)
{
    call->session->quitting = true;
    return EXIT_FINE;
}

static enum exit_status run_devices(struct command_call *call)
{
    struct strbuf *out = &call->session->out.text;
    call->session->platform->describe_devices(out);
    strbuf_puts(out, "host: the built-in evaluator, without OpenCL\nselected: ");
    setting_print(out, &call->session->settings, setting_find("device"));
    strbuf_putc(out, '\n');
    return EXIT_FINE;
}

const struct command command_table[] = {
    {".help", "[WORD]", "list everything, or explain a word or topic", ".help select", 0, 1, run_help, NULL},
    {".tables", "", "the names defined, with size and residency", NULL, 0, 0, run_tables, NULL},
    {".connections", "", "the servers whose tables were used: user, version, clusters and their shards", NULL, 0, 0,
     run_connections, NULL},
    {".cache", "[clear]", "the caches: files at addresses on the disk, columns in memory; clear: empty them", ".cache",
     0, 1, run_cache, check_cache},
    {".drop", "NAME ...", "remove names and free their data", ".drop trades", 1, 64, run_drop, check_drop},
    {".read", "FILE", "run a script in this session", ".read balance.rql", 1, 1, run_read, check_read},
    {".output", "[FILE]", "send results to a file; alone: to the terminal again", ".output totals.csv", 0, 1,
     run_output, check_output},
    {".schema", "[SRC]", "names and types of the columns of a file or name; alone: of the last table",
     ".schema ids.bin", 0, 1, run_schema, NULL},
    {".history", "[N]", "the queries typed so far, or the last N", NULL, 0, 1, run_history, check_history},
    {".cd", "[DIR]", "change the folder of relative paths, or print it", ".cd ..", 0, 1, run_cd, check_cd},
    {".set", "[NAME [VALUE]]", "change a setting, or show one or all", ".set fusion off", 0, 2, run_set, check_set},
    {".device", "[auto|cpu|gpu|host|all|N]", "where queries run", ".device cpu", 0, 1, run_set, check_set},
    {".devices", "", "list the OpenCL devices", NULL, 0, 0, run_devices, NULL},
    {".format", "[auto|table|tsv|csv|json|jsonl|markdown|npy|raw]", "output format", ".format csv", 0, 1, run_set,
     check_set},
    {".header", "[auto|on|off]", "print column names first", ".header on", 0, 1, run_set, check_set},
    {".edit", "", "edit the last query in $VISUAL or $EDITOR and run it", NULL, 0, 0, run_edit, NULL},
    {".timing", "[on|off|N]", "report times; N: and repeat each query N times", ".timing on", 0, 1, run_set, check_set},
    {".quit", "", "quit (also Ctrl-D)", NULL, 0, 0, run_quit, NULL},
    {".exit", "", "quit", NULL, 0, 0, run_quit, NULL},
};
const size_t command_count = sizeof command_table / sizeof *command_table;

const char *command_of_plain_word(const char *word, size_t length)
{
    static const char *const plain_words[] = {"help", "?", "quit", "exit"};
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++) {
        if (strlen(plain_words[i]) == length && memcmp(plain_words[i], word, length) == 0)
            return command_of_alias(word, length);
    }
    return NULL;
}

static const struct command *find_command(struct command_call *call)
{
    const struct name *word = &call->words[0];
    const char *alias = command_of_alias(word->text, strlen(word->text));
    const char **candidates = arena_array(call->arena, command_count, sizeof *candidates);
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(command_table[i].name, alias ? alias : word->text) == 0)
            return &command_table[i];
        candidates[i] = command_table[i].name;
    }
    report_unknown(call, word, "command", ".help lists the commands", candidates, command_count);
    return NULL;
}

/* Finds the command and checks the number of arguments. */
static bool prepare(struct command_call *call, const struct stmt *stmt)
{
    if (!split_words(call, &stmt->command))
        return false;
    call->command = find_command(call);
    if (!call->command)
        return false;
    const size_t after = call->count - 1;
    if (after < call->command->least || after > call->command->most) {
        struct span where = after > call->command->most ? call->words[call->command->most + 1].span : stmt->span;
        (void)diag_error(call->diags, where, "%s",
                         after > call->command->most ? "too many arguments" : "missing argument");
        diag_hint(call->diags, "usage: %s%s%s", call->command->name, *call->command->usage ? " " : "",
                  call->command->usage);
        return false;
    }
    return true;
}

enum exit_status command_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct command_call call = {.session = session, .env = session->runner.env, .arena = arena, .diags = diags};
    return prepare(&call, stmt) ? call.command->run(&call) : EXIT_QUERY;
}

void command_check(struct checker *checker, const struct stmt *stmt)
{
    struct command_call call = {
        .session = checker->session, .env = checker->env, .arena = checker->arena, .diags = &checker->diags};
    if (prepare(&call, stmt) && call.command->check)
        call.command->check(&call, checker);
}
