#include "repl/line/prompt.h"

#include "repl/line/history.h"
#include "repl/line/line_editor.h"
#include "repl/session/commands.h"
#include "repl/session/data_files.h"
#include "repl/session/script.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROMPT "rql> "

struct prompt {
    struct session *session;
    struct line_editor editor;
    struct history *history; /* NULL without the editor */
    struct strbuf entry;     /* the lines so far */
    struct strbuf text;      /* the prompt for the next line */
    struct completer completer;
};

static void write_message(const char *message)
{
    struct strbuf text = {0};
    strbuf_puts(&text, message);
    write_stderr(&text);
    strbuf_free(&text);
}

/* The first start, of which there is no history, says where to go on. */
static void print_greeting(const struct prompt *prompt)
{
    static const char greeting[] = "rql " RQL_VERSION ": .help lists all words, Ctrl-D quits\n";
    static const char hints[] = "  range 1..100 | sum     a query\n"
                                "  load FILE | describe   what is in a file\n"
                                "  .help start            examples\n";
    const struct session *session = prompt->session;
    const char *path = prompt->history ? history_path(prompt->history) : NULL;
    struct stat file;
    const bool first = !session->data_name && !(path && stat(path, &file) == 0 && file.st_size > 0);
    if (session->settings.messages == MESSAGES_QUIET)
        return;
    ssize_t wrote = write(STDOUT_FILENO, greeting, strlen(greeting)); /* failures do not matter */
    if (first)
        wrote = write(STDOUT_FILENO, hints, strlen(hints));
    (void)wrote;
}

static void open_history(struct prompt *prompt)
{
    int problem;
    prompt->history = history_open(&problem);
    if (problem && prompt->session->settings.messages != MESSAGES_QUIET) {
        const char *path = history_path(prompt->history);
        struct strbuf text = {0};
        strbuf_puts(&text, "note: history is not saved: ");
        strbuf_puts(&text, path ? path : "HOME is not set");
        strbuf_printf(&text, "%s%s\n", path ? ": " : "", path ? strerror(problem) : "");
        write_stderr(&text);
        strbuf_free(&text);
    }
    history_load(prompt->history, lineedit_remember);
}

static bool is_blank(const struct strbuf *text)
{
    return text->length == 0 || strspn(text->text, " \t\r\n") == text->length;
}

/* Replaces a plain word like `quit` alone, or `help` with at most one argument, by its command, unless something has
 * that name. */
static void replace_plain_word(struct prompt *prompt)
{
    struct strbuf *entry = &prompt->entry;
    const size_t begin = strspn(entry->text, " \t");
    size_t length = strcspn(entry->text + begin, " \t;");
    size_t after = begin + length + strspn(entry->text + begin + length, " \t;");
    const char *command_word = command_of_plain_word(entry->text + begin, length);
    const bool help = command_word && strcmp(command_word, ".help") == 0;
    bool alone = entry->text[after] == '\0' || (help && strcspn(entry->text + after, " |=;") == entry->length - after);
    struct arena *arena = arena_new();
    if (command_word && alone &&
        !env_find(prompt->session->runner.env, arena_text(arena, entry->text + begin, length))) {
        struct strbuf command = {0};
        strbuf_printf(&command, "%s %s", command_word, entry->text + after);
        strbuf_free(entry);
        *entry = command;
    }
    arena_free(arena);
}

/* Shows the open brackets, right-aligned under the prompt: "  (> ". */
static void continuation_prompt(struct prompt *prompt, const struct source *source)
{
    char open[256];
    parse_open_delimiters(source, open, sizeof open);
    enum { CELLS = sizeof PROMPT - 1 - 2 };
    const size_t length = strlen(open);
    const char *last = length > CELLS ? open + length - CELLS : open;
    strbuf_clear(&prompt->text);
    strbuf_printf(&prompt->text, "%*s> ", CELLS, length ? last : "...");
}

static void remember(struct prompt *prompt)
{
    if (prompt->history && history_append(prompt->history, prompt->entry.text, prompt->entry.length))
        lineedit_remember(prompt->entry.text);
}

static void start_entry(struct prompt *prompt)
{
    strbuf_clear(&prompt->entry);
    strbuf_clear(&prompt->text);
    strbuf_puts(&prompt->text, PROMPT);
}

/* Runs the entry if it is complete; else prompts for more. */
static enum exit_status take_entry(struct prompt *prompt)
{
    struct session *session = prompt->session;
    struct strbuf text = {0};
    strbuf_add(&text, prompt->entry.text, prompt->entry.length);
    struct script *script = script_new("", &text, PARSE_PROMPT);
    if (script->parsed == PARSE_INCOMPLETE) {
        continuation_prompt(prompt, &script->source);
        script_free(script);
        return EXIT_FINE;
    }
    remember(prompt);
    struct strbuf query = prompt->entry;
    prompt->entry = (struct strbuf){0};
    start_entry(prompt);
    const bool command = script->first && script->first->kind == STMT_COMMAND;
    const enum exit_status outcome = script_run(session, script);
    if (command) {
        strbuf_free(&query);
    } else {
        strbuf_free(&session->query);
        session->query = query;
    }
    if (outcome == EXIT_INTERRUPTED && !*session->platform->leave)
        write_message("\ninterrupted\n"); /* after the terminal's ^C */
    return outcome;
}

static enum exit_status take_line(struct prompt *prompt)
{
    const bool first = prompt->entry.length == 0;
    if (first && is_blank(&prompt->editor.line))
        return EXIT_FINE;
    if (!first)
        strbuf_putc(&prompt->entry, '\n');
    strbuf_add(&prompt->entry, prompt->editor.line.text, prompt->editor.line.length);
    if (first)
        replace_plain_word(prompt);
    return take_entry(prompt);
}

/* The text from the user's editor is shown and run like a typed entry. */
static enum exit_status take_edited(struct prompt *prompt)
{
    struct session *session = prompt->session;
    strbuf_add(&prompt->entry, session->edited.text, session->edited.length);
    strbuf_clear(&session->edited);
    struct strbuf shown = {0};
    strbuf_printf(&shown, "%s%s\n", PROMPT, prompt->entry.text);
    write_stderr(&shown);
    strbuf_free(&shown);
    return take_entry(prompt);
}

/* Runs until the user quits or standard output is closed. */
static enum exit_status read_entries(struct prompt *prompt)
{
    start_entry(prompt);
    for (;;) {
        const enum line_result result = lineedit_read(&prompt->editor, prompt->text.text);
        enum exit_status outcome = EXIT_FINE;
        if (result == LINE_TEXT) {
            outcome = take_line(prompt);
            while (prompt->session->edited.length && !prompt->session->quitting)
                outcome = take_edited(prompt);
        } else if (result == LINE_INTERRUPTED) {
            start_entry(prompt);
        } else {
            if (result == LINE_END && prompt->editor.editing) {
                ssize_t wrote = write(STDOUT_FILENO, "\n", 1); /* after the prompt */
                (void)wrote;
            }
            return EXIT_FINE;
        }
        if (prompt->session->quitting)
            return outcome;
    }
}

/* The file named on the command line is shown as if its name had been typed. */
static void show_data(const struct prompt *prompt)
{
    struct strbuf shown = {0};
    strbuf_printf(&shown, "%s%s\n", PROMPT, prompt->session->data_name);
    write_stderr(&shown);
    strbuf_free(&shown);
    (void)data_files_show(prompt->session);
}

enum exit_status prompt_run(struct session *session, bool editing)
{
    struct prompt prompt = {.session = session};
    startup_run(session);
    session->interactive = true;
    session->runner.env->keeps_last = true;
    session_choose_device(session);
    prompt.completer = (struct completer){session->runner.env, &prompt.entry};
    lineedit_open(&prompt.editor, session->platform, &prompt.completer, editing, session->out_colour);
    if (editing) {
        open_history(&prompt);
        print_greeting(&prompt);
        session->list_history = lineedit_list_history;
    }
    if (session->data_name && !session->quitting)
        show_data(&prompt);
    const enum exit_status outcome = session->quitting ? EXIT_FINE : read_entries(&prompt);
    if (prompt.history)
        history_close(prompt.history);
    lineedit_close(&prompt.editor);
    strbuf_free(&prompt.entry);
    strbuf_free(&prompt.text);
    return outcome;
}
