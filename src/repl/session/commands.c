#include "repl/print/text_table.h"
#include "repl/session/command_call.h"
#include "repl/session/help.h"

#include "base/path.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The end of the word that begins at `at`, its closing quote not included. */
static size_t word_end(const char *text, size_t at, char quote)
{
    while (text[at] && (quote ? text[at] != quote : !is_space(text[at]) && text[at] != ';'))
        at++;
    return at;
}

/* Splits the command's text at spaces; a word in quotes may hold some. A comment, or a semicolon with nothing behind
 * it, ends the command. False, with an error, if more stands behind a semicolon. */
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
        bool quoted = text[at] == '"' || text[at] == '\'';
        size_t inner = at + (quoted ? 1 : 0);
        size_t end = word_end(text, inner, quoted ? text[at] : '\0');
        at = quoted && text[end] ? end + 1 : end;
        span.end = name->span.begin + (uint32_t)at;
        if (ended) {
            (void)diag_error(call->diags, span, "a command has its line to itself");
            diag_hint(call->diags, "write what follows `%s` on the next line", call->words[0].text);
            return false;
        }
        call->words[call->count++] = (struct name){arena_text(call->arena, text + inner, end - inner), span};
    }
    return true;
}

/* Adds "did you mean" to the error made last, if something is near. */
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

static const struct setting *find_setting(struct command_call *call, const struct name *name)
{
    const struct setting *setting = setting_find(name->text);
    if (!setting) {
        const char **candidates = arena_array(call->arena, setting_count, sizeof *candidates);
        for (size_t i = 0; i < setting_count; i++)
            candidates[i] = setting_table[i].name;
        const char *nearest[2];
        size_t count = nearest_names(name->text, candidates, setting_count, nearest, 2);
        (void)diag_error(call->diags, name->span, "there is no setting `%s`", name->text);
        diag_hint(call->diags, ".set lists the settings");
        hint_nearest(call->diags, nearest, count);
    }
    return setting;
}

/* The setting a call is about: named by the word after .set, or by the command itself. *wanted is what it is to be, or
 * NULL if it is only asked for. NULL, with an error, if there is none such. */
static const struct setting *setting_of(struct command_call *call, const struct name **wanted)
{
    bool set = strcmp(call->command->name, ".set") == 0;
    size_t at = set ? 2 : 1;
    *wanted = call->count > at ? &call->words[at] : NULL;
    return set ? find_setting(call, &call->words[1]) : setting_find(call->command->name + 1);
}

static bool change_setting(struct command_call *call, struct settings *settings, const struct setting *setting,
                           const struct name *wanted)
{
    if (setting_set(settings, setting, wanted->text))
        return true;
    struct strbuf choices = {0};
    setting_print_choices(&choices, setting);
    (void)diag_error(call->diags, wanted->span, "%s cannot be `%s`", setting->name, wanted->text);
    diag_hint(call->diags, "it is one of %s", choices.text);
    strbuf_free(&choices);
    return false;
}

static void add_setting(struct command_call *call, struct text_table *table, const struct setting *setting)
{
    struct strbuf cells[SETTING_COLUMNS] = {{0}};
    strbuf_puts(&cells[SETTING_NAME], setting->name);
    setting_print(&cells[SETTING_VALUE], &call->shell->settings, setting);
    strbuf_puts(&cells[SETTING_MEANING], setting->summary);
    setting_print_choices(&cells[SETTING_CHOICES], setting);
    text_table_add(table, cells);
    for (size_t k = 0; k < SETTING_COLUMNS; k++)
        strbuf_free(&cells[k]);
}

/* One setting with its choices or, if it is NULL, all without. */
static void print_settings(struct command_call *call, const struct setting *only)
{
    struct print_style style = shell_print_style(call->shell);
    struct text_table table;
    text_table_init(&table, call->arena, setting_columns, only ? SETTING_COLUMNS : SETTING_CHOICES);
    for (size_t i = 0; i < setting_count; i++) {
        if (!only || only == &setting_table[i])
            add_setting(call, &table, &setting_table[i]);
    }
    text_table_print(&call->shell->out.text, &table, &style);
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
    bool fine = setting && (!wanted || change_setting(call, &call->shell->settings, setting, wanted));
    return fine ? EXIT_FINE : EXIT_QUERY;
}

static void check_set(struct command_call *call, struct checking *checking)
{
    (void)checking;
    if (call->count > 1) {
        const struct name *wanted;
        const struct setting *setting = setting_of(call, &wanted);
        struct settings trial = call->shell->settings;
        if (setting && wanted)
            (void)change_setting(call, &trial, setting, wanted);
    }
}

/* What is named. */

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
        size_t count = nearest_names(name->text, candidates, call->env->count, nearest, 2);
        (void)diag_error(call->diags, name->span, "nothing is named `%s`", name->text);
        hint_nearest(call->diags, nearest, count);
        return false;
    }
    return true;
}

static enum exit_status run_drop(struct command_call *call)
{
    return drop(call) ? EXIT_FINE : EXIT_QUERY;
}

static void check_drop(struct command_call *call, struct checking *checking)
{
    (void)checking;
    (void)drop(call);
}

/* Scripts from scripts. */

static bool too_deep(struct command_call *call, size_t depth)
{
    if (depth >= READ_DEPTH)
        (void)diag_error(call->diags, call->words[0].span, "scripts read one another more than %d deep", READ_DEPTH);
    return depth >= READ_DEPTH;
}

static struct script *read_unit(struct command_call *call)
{
    const struct name *path = &call->words[1];
    struct strbuf text = {0};
    struct script *unit = NULL;
    const char *file = path_expand_home(path->text, call->arena);
    if (shell_read(call->shell, file, path->span, &text, call->diags) == STATUS_OK) {
        /* The name goes into errors as long as any function of the source lives. */
        const char *name = arena_text(call->shell->memory, file, strlen(file));
        unit = script_new(name, &text, PARSE_SCRIPT);
    }
    strbuf_free(&text);
    return unit;
}

static enum exit_status run_read(struct command_call *call)
{
    struct shell *shell = call->shell;
    struct script *unit = too_deep(call, shell->read_depth) ? NULL : read_unit(call);
    if (!unit)
        return *shell->platform->cancel ? EXIT_INTERRUPTED : EXIT_QUERY;
    shell->read_depth++;
    enum exit_status outcome = script_run(shell, unit);
    shell->read_depth--;
    return outcome;
}

static void check_read(struct command_call *call, struct checking *checking)
{
    struct script *unit = too_deep(call, checking->depth) ? NULL : read_unit(call);
    if (unit) {
        unit->next = checking->read;
        checking->read = unit;
        diags_add_errors(&checking->diags, &unit->diags);
        checking->depth++;
        script_check(checking, unit);
        checking->depth--;
    }
}

/* The rest. */

/* A word that is none may be what people call something: it is looked for in what is said of words. */
static bool explain_word(struct strbuf *out, const char *text, size_t width)
{
    enum { LEAST_SOUGHT = 3 };
    return help_topic(out, text, width) || help_word(out, text) ||
           (strlen(text) >= LEAST_SOUGHT && help_search(out, text, width));
}

static enum exit_status run_help(struct command_call *call)
{
    struct strbuf *out = &call->shell->out.text;
    const struct print_style style = shell_print_style(call->shell);
    if (call->count == 1) {
        help_overview(out, style.width);
        return EXIT_FINE;
    }
    const struct name *word = &call->words[1];
    if (explain_word(out, word->text, style.terminal ? style.width : 0))
        return EXIT_FINE;
    const char *nearest[2];
    size_t count = help_nearest(word->text, nearest, 2);
    (void)diag_error(call->diags, word->span, "there is no help on `%s`", word->text);
    diag_hint(call->diags, ".help alone lists the words");
    hint_nearest(call->diags, nearest, count);
    return EXIT_QUERY;
}

static enum exit_status run_edit(struct command_call *call)
{
    struct shell *shell = call->shell;
    struct span span = call->words[0].span;
    if (!shell->prompting) {
        (void)diag_error(call->diags, span, "there is nothing to edit: %s is for the prompt", call->words[0].text);
        return EXIT_QUERY;
    }
    const char *text = shell->query.text ? shell->query.text : "";
    return edit_text(text, span, &shell->edited, call->diags) == STATUS_OK ? EXIT_FINE : EXIT_QUERY;
}

static enum exit_status run_quit(struct command_call *call)
{
    call->shell->leaving = true;
    return EXIT_FINE;
}

static enum exit_status run_devices(struct command_call *call)
{
    struct strbuf *out = &call->shell->out.text;
    call->shell->platform->describe_devices(out);
    strbuf_puts(out, "host: the built-in evaluator, without OpenCL\nchosen: ");
    setting_print(out, &call->shell->settings, setting_find("device"));
    strbuf_putc(out, '\n');
    return EXIT_FINE;
}

const struct command command_table[] = {
    {".help", "[WORD]", "what there is, or about one word or one kind of words", ".help select", 0, 1, run_help, NULL},
    {".tables", "", "what has been named, how large it is and where", NULL, 0, 0, run_tables, NULL},
    {".drop", "NAME ...", "forget names, and the data only they hold", ".drop trades", 1, 64, run_drop, check_drop},
    {".read", "FILE", "run a script here", ".read balance.rql", 1, 1, run_read, check_read},
    {".output", "[FILE]", "results go to a file, until .output alone", ".output totals.csv", 0, 1, run_output,
     check_output},
    {".cd", "[DIR]", "go to the folder where paths begin, or tell it", ".cd ..", 0, 1, run_cd, check_cd},
    {".set", "[NAME [VALUE]]", "change a setting, or show one or all", ".set fusion off", 0, 2, run_set, check_set},
    {".device", "[auto|cpu|gpu|host|all|N]", "where queries run", ".device cpu", 0, 1, run_set, check_set},
    {".devices", "", "the OpenCL devices of this machine", NULL, 0, 0, run_devices, NULL},
    {".format", "[auto|table|tsv|csv|json|jsonl|markdown|npy|raw]", "how results print", ".format csv", 0, 1, run_set,
     check_set},
    {".header", "[auto|on|off]", "names of columns first", ".header on", 0, 1, run_set, check_set},
    {".edit", "", "edit the last query in $VISUAL or $EDITOR, then run it", NULL, 0, 0, run_edit, NULL},
    {".timing", "[on|off|N]", "where the time went; N: also of N more runs of each query", ".timing on", 0, 1, run_set,
     check_set},
    {".quit", "", "leave (Ctrl-D does too)", NULL, 0, 0, run_quit, NULL},
    {".exit", "", "leave", NULL, 0, 0, run_quit, NULL},
};
const size_t command_count = sizeof command_table / sizeof *command_table;

const char *command_of_plain_word(const char *word, size_t length)
{
    static const struct {
        const char *said, *meant;
    } plain_words[] = {{"help", ".help"}, {"?", ".help"}, {"quit", ".quit"}, {"exit", ".exit"}};
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++) {
        if (strlen(plain_words[i].said) == length && memcmp(plain_words[i].said, word, length) == 0)
            return plain_words[i].meant;
    }
    return NULL;
}

static const struct command *find_command(struct command_call *call)
{
    const struct name *word = &call->words[0];
    const char **candidates = arena_array(call->arena, command_count, sizeof *candidates);
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(command_table[i].name, word->text) == 0)
            return &command_table[i];
        candidates[i] = command_table[i].name;
    }
    const char *nearest[2];
    size_t count = nearest_names(word->text, candidates, command_count, nearest, 2);
    (void)diag_error(call->diags, word->span, "there is no command `%s`", word->text);
    diag_hint(call->diags, ".help lists the commands");
    hint_nearest(call->diags, nearest, count);
    return NULL;
}

/* Finds the command and sees that it has as many words as it takes. */
static bool prepare(struct command_call *call, const struct stmt *stmt)
{
    if (!split_words(call, &stmt->command))
        return false;
    call->command = find_command(call);
    if (!call->command)
        return false;
    size_t after = call->count - 1;
    if (after < call->command->least || after > call->command->most) {
        struct span where = after > call->command->most ? call->words[call->command->most + 1].span : stmt->span;
        (void)diag_error(call->diags, where, "%s", after ? "too many words" : "something is missing");
        diag_hint(call->diags, "usage: %s%s%s", call->command->name, *call->command->usage ? " " : "",
                  call->command->usage);
        return false;
    }
    return true;
}

enum exit_status command_run(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct command_call call = {.shell = shell, .env = shell->runner.env, .arena = arena, .diags = diags};
    return prepare(&call, stmt) ? call.command->run(&call) : EXIT_QUERY;
}

void command_check(struct checking *checking, const struct stmt *stmt)
{
    struct command_call call = {
        .shell = checking->shell, .env = checking->env, .arena = checking->arena, .diags = &checking->diags};
    if (prepare(&call, stmt) && call.command->check)
        call.command->check(&call, checking);
}
