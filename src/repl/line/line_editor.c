#include "repl/line/line_editor.h"

#include "repl/line/highlight.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Context for readline's callbacks, which take none. Set only within lineedit_read. */
static struct line_editor *current;

/* libedit has the interface of readline 4. */
#ifdef RQL_LIBEDIT
#include <editline/readline.h>

#include <limits.h>

static void set_up_editor(void)
{
    rl_completion_query_items = INT_MAX; /* 0 means: always ask */
    (void)rl_parse_and_bind("bind ^R em-inc-search-prev");
}

/* Quotes a name that contains a word break. */
static char *quote_file(char *path)
{
    if (!path || !strpbrk(path, " \t;,|()#`[$") || strchr(path, '"'))
        return path;
    struct strbuf quoted = {0};
    strbuf_printf(&quoted, "\"%s\"", path);
    free(path);
    char *copy = strdup(quoted.text);
    strbuf_free(&quoted);
    return copy;
}

static void show_dropped_line(void)
{
}

static void offer_no_files(void)
{
}

/* It has a handler for that. */
static void note_size(bool drawn)
{
    (void)drawn;
}

/* Only libedit knows where it has drawn what. */
static void paint(bool matching)
{
    (void)matching;
}

/* libedit has an order of its own. */
static void order_matches(char **matches, size_t columns)
{
    (void)matches, (void)columns;
}

#else
#include <readline/history.h>
#include <readline/readline.h>

#include <termios.h>

enum { CONTROL_Z = 'Z' & 0x1f };

/* Ctrl-Z is a key, because the terminal must be restored before rql stops; not every shell does that. */
static void take_terminal(int meta)
{
    rl_prep_terminal(meta);
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_cc[VSUSP] = _POSIX_VDISABLE;
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    }
}

static void return_terminal(void)
{
    rl_eof_found = 0; /* else Ctrl-D prints a newline here on some terminals */
    rl_deprep_terminal();
}

static bool is_on(const char *variable)
{
    const char *state = rl_variable_value(variable);
    return state && strcmp(state, "on") == 0;
}

/* Draws the line in colours over what readline has drawn; `matching`: with the brackets at the cursor. readline
 * compares characters only, so it never notices. (With an rl_redisplay_function it would take the terminal for a dumb
 * one.) */
static void paint(bool matching)
{
    int height, width;
    /* With these, what readline draws differs from the line. */
    const bool differs =
        is_on("horizontal-scroll-mode") || is_on("mark-modified-lines") || is_on("show-mode-in-prompt");
    if (!current->colour || differs)
        return;
    struct arena *arena = arena_new();
    struct strbuf out = {0};
    rl_get_screen_size(&height, &width);
    const struct painting painting = {
        .prompt = rl_display_prompt ? rl_display_prompt : "",
        .line = rl_line_buffer,
        .length = (size_t)rl_end,
        .cursor = (size_t)rl_point,
        .styles = highlight_line(current->completer, rl_line_buffer, (size_t)rl_end,
                                 matching ? (size_t)rl_point : NO_CURSOR, arena),
        .width = (size_t)width,
        .height = (size_t)height,
    };
    if (paint_line(&out, &painting)) {
        (void)fwrite(out.text, 1, out.length, rl_outstream);
        (void)fflush(rl_outstream);
    }
    strbuf_free(&out);
    arena_free(arena);
}

/* Enter: no bracket stands out in a line that is done. */
static int accept_line(int count, int key)
{
    paint(false);
    return rl_newline(count, key);
}

static int suspend(int count, int key)
{
    (void)count, (void)key;
    return_terminal();
    (void)kill(0, SIGTSTP);             /* the whole job, as the terminal would */
    discard_signals(current->platform); /* SIGCONT: one redraw is enough */
    take_terminal(1);
    rl_forced_update_display();
    return 0;
}

/* Otherwise readline falls back to files. */
static void offer_no_files(void)
{
    rl_attempted_completion_over = 1;
}

/* Words end at operators, paths do not; the position of the cursor decides. */
static char *break_characters(void)
{
    static char of_words[] = " \t\n\"\\'`$><=;|&{([,+-*/%!~^?:).";
    static char of_commands[] = " \t\n\"'";
    static char of_paths[] = " \t\n\"';,|()#";
    size_t start = (size_t)rl_point;
    while (start > 0 && !strchr(of_paths, rl_line_buffer[start - 1]))
        start--;
    if (complete_takes_path(current->completer, rl_line_buffer, start))
        return of_paths;
    return rl_line_buffer[strspn(rl_line_buffer, " \t")] == '.' ? of_commands : of_words;
}

/* The terminal may have another size; `drawn`: so the line is drawn again. readline's own handler is installed only
 * while it reads a key. */
static void note_size(bool drawn)
{
    if (drawn)
        rl_resize_terminal();
    else
        rl_reset_screen_size();
}

static int by_text(const void *left, const void *right)
{
    return strcoll(*(char *const *)left, *(char *const *)right);
}

/* The columns stay first and in their order; the rest is sorted. */
static void order_matches(char **matches, size_t columns)
{
    size_t count = 0;
    while (matches[count])
        count++;
    if (count > columns)
        qsort(matches + columns, count - columns, sizeof *matches, by_text);
}

/* Lists matches[1..count], the columns apart from what follows them. */
static void list_matches(char **matches, int count, int longest)
{
    const int columns = current->columns < (size_t)count ? (int)current->columns : count;
    if (columns > 0 && columns < count) {
        char *first_other = matches[columns + 1];
        matches[columns + 1] = NULL;
        rl_display_match_list(matches, columns, longest);
        matches[columns + 1] = first_other;
    }
    const int listed = columns < count ? columns : 0;
    rl_display_match_list(matches + listed, count - listed, longest);
    rl_forced_update_display();
}

static void set_up_editor(void)
{
    rl_change_environment = 0;     /* LINES and COLUMNS: a driver starting on another thread may read the environment */
    rl_completion_query_items = 0; /* never ask: the answer would bypass the event loop */
    rl_sort_completion_matches = 0;
    rl_completion_display_matches_hook = list_matches;
    rl_completer_quote_characters = "\"'";
    rl_filename_quote_characters = " \t\n\"';,|()#`[$";
    rl_completion_word_break_hook = break_characters;
    (void)rl_variable_bind("page-completions", "off"); /* as would the pager */
    (void)rl_variable_bind("enable-bracketed-paste", "on");
    rl_prep_term_function = take_terminal;
    rl_deprep_term_function = return_terminal;
    const Keymap maps[] = {emacs_standard_keymap, vi_insertion_keymap, vi_movement_keymap};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        (void)rl_bind_key_in_map(CONTROL_Z, suspend, maps[i]);
        (void)rl_bind_key_in_map('\r', accept_line, maps[i]);
        (void)rl_bind_key_in_map('\n', accept_line, maps[i]);
    }
}

/* readline has quoted it. */
static char *quote_file(char *path)
{
    return path;
}

static void show_dropped_line(void)
{
    rl_callback_sigcleanup(); /* ends a history search */
    rl_free_line_state();
    rl_point = rl_end;
    rl_redisplay();
    paint(false);
}
#endif

#include "repl/line/history.h"

/* Keeps entries unique, at their last use. */
static void remove_entry(const char *entry)
{
    for (int i = history_length - 1; i >= 0; i--) {
        HIST_ENTRY *old = history_get(history_base + i);
        if (old && strcmp(old->line, entry) == 0) {
            (void)free_history_entry(remove_history(i));
            return;
        }
    }
}

/* Not those whose names begin with `|`: in quotes they would be programs. */
static char *next_file(const char *word, bool further)
{
    char *path = rl_filename_completion_function(word, further);
    while (path && *path == '|') {
        free(path);
        path = rl_filename_completion_function(word, 1);
    }
    return path;
}

/* Names first, then files. */
static char *next_completion(const char *word, int state)
{
    struct line_editor *editor = current;
    if (state == 0)
        editor->offered_at = 0;
    const size_t at = editor->offered_at++;
    if (at < editor->offered.count)
        return strdup(editor->offered.names[at]);
    return editor->offered.paths ? quote_file(next_file(word, at > editor->offered.count)) : NULL;
}

/* A space follows the only completion unless more of it follows. */
static void choose_ending(const struct completions *offered)
{
    const bool one = offered->count == 1 && !offered->paths;
    const size_t length = one ? strlen(offered->names[0]) : 0;
    const bool open = length > 0 && strchr("(/=", offered->names[0][length - 1]);
    rl_completion_append_character = open ? '\0' : ' ';
}

static char **complete(const char *word, int start, int end)
{
    struct line_editor *editor = current;
    editor->offering = arena_new();
    editor->offered = complete_word(editor->completer, rl_line_buffer, (size_t)start, (size_t)end, editor->offering);
    editor->columns = editor->offered.columns;
    choose_ending(&editor->offered);
    offer_no_files();
    char **matches = rl_completion_matches(word, next_completion);
    if (matches && matches[0])
        order_matches(matches + 1, editor->columns);
    arena_free(editor->offering);
    editor->offering = NULL;
    return matches;
}

static void receive_line(char *text)
{
    rl_callback_handler_remove();
    current->result = text ? LINE_TEXT : LINE_END;
    current->done = true;
    if (text) {
        strbuf_puts(&current->line, text);
        free(text);
    }
}

/* Drops the line but leaves it on the screen. Prints ^C first, since restoring the terminal may move the cursor to the
 * start of the line. */
static void drop_line(void)
{
    show_dropped_line();
    (void)fputs("^C", stdout);
    (void)fflush(stdout);
    rl_replace_line("", 0);
    rl_callback_handler_remove();
    (void)fputs("\n", stdout);
    (void)fflush(stdout);
}

static void read_edited(struct line_editor *editor, const char *prompt)
{
    current = editor;
    rl_callback_handler_install(prompt, receive_line);
    note_size(false);
    while (!editor->done) {
        switch (wait_for_wake(editor->platform)) {
        case WAKE_INPUT:
            rl_callback_read_char();
            if (!editor->done && !input_waits())
                paint(true);
            break;
        case WAKE_RESUMED:
            rl_reset_after_signal();
            rl_forced_update_display();
            paint(true);
            break;
        case WAKE_RESIZED:
            note_size(true);
            paint(true);
            break;
        case WAKE_INTERRUPT:
            drop_line();
            editor->result = LINE_INTERRUPTED;
            editor->done = true;
            break;
        case WAKE_LEAVE:
            rl_callback_handler_remove();
            editor->result = LINE_LEAVE;
            editor->done = true;
            break;
        }
    }
    current = NULL;
    (void)fflush(stdout);
}

/* Takes the first line of the pending input, at its end also an unterminated one. */
static bool take_pending(struct line_editor *editor, bool at_end)
{
    struct strbuf *pending = &editor->pending;
    char *newline = pending->length ? memchr(pending->text, '\n', pending->length) : NULL;
    if (!newline && !(at_end && pending->length))
        return false;
    const size_t length = newline ? (size_t)(newline - pending->text) : pending->length;
    strbuf_add(&editor->line, pending->text, length);
    const size_t taken = newline ? length + 1 : length;
    memmove(pending->text, pending->text + taken, pending->length - taken);
    pending->length -= taken;
    return true;
}

static void read_plainly(struct line_editor *editor)
{
    enum { CHUNK = 4096 };
    while (!take_pending(editor, false)) {
        const enum wake wake = wait_for_wake(editor->platform);
        if (wake == WAKE_INTERRUPT || wake == WAKE_LEAVE) {
            strbuf_clear(&editor->pending);
            editor->result = wake == WAKE_LEAVE ? LINE_LEAVE : LINE_INTERRUPTED;
            return;
        }
        const ssize_t got =
            wake == WAKE_INPUT ? read(STDIN_FILENO, strbuf_reserve(&editor->pending, CHUNK), CHUNK) : -1;
        if (got > 0) {
            strbuf_commit(&editor->pending, (size_t)got);
        } else if (wake == WAKE_INPUT && (got == 0 || errno != EINTR)) {
            editor->result = take_pending(editor, true) ? LINE_TEXT : LINE_END;
            return;
        }
    }
    editor->result = LINE_TEXT;
}

void lineedit_open(struct line_editor *editor, const struct platform *platform, const struct completer *completer,
                   bool editing, bool colour)
{
    *editor = (struct line_editor){.platform = platform, .editing = editing, .colour = colour, .completer = completer};
    if (editing) {
        rl_readline_name = "rql";
        rl_catch_signals = 0;
        using_history();
        stifle_history(HISTORY_ENTRIES);
        rl_basic_word_break_characters = " \t\n\"\\'`$><=;|&{([,+*%!^?:)";
        rl_attempted_completion_function = complete;
        set_up_editor();
    }
}

void lineedit_close(struct line_editor *editor)
{
    strbuf_free(&editor->line);
    strbuf_free(&editor->pending);
}

enum line_result lineedit_read(struct line_editor *editor, const char *prompt)
{
    strbuf_clear(&editor->line);
    editor->done = false;
    discard_signals(editor->platform);
    if (*editor->platform->leave)
        return LINE_LEAVE;
    if (editor->editing)
        read_edited(editor, prompt);
    else
        read_plainly(editor);
    return editor->result;
}

void lineedit_remember(const char *entry)
{
    remove_entry(entry);
    (void)add_history(entry);
}

void lineedit_list_history(struct strbuf *out, size_t most)
{
    const size_t count = (size_t)history_length;
    for (size_t i = most < count ? count - most : 0; i < count; i++) {
        const HIST_ENTRY *entry = history_get(history_base + (int)i);
        const char *line = entry ? entry->line : "";
        size_t length = strcspn(line, "\n");
        strbuf_add_visible(out, line, length);
        while (line[length]) {
            line += length + 1;
            length = strcspn(line, "\n");
            strbuf_puts(out, "\n    ");
            strbuf_add_visible(out, line, length);
        }
        strbuf_putc(out, '\n');
    }
}
