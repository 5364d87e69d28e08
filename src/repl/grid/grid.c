#include "repl/grid/grid.h"

#include "repl/grid/grid_query.h"
#include "repl/grid/grid_screen.h"
#include "repl/grid/raw_terminal.h"
#include "repl/print/number_format.h"

#include "base/heap.h"
#include "engine/storage/list_store.h"
#include "engine/storage/residency.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "arrows PgUp PgDn g G: move  / n N: find  s S u: sort, unsort  f: freeze  q: leave";

struct grid {
    const struct grid_host *host;
    struct print_style style;
    struct span span;
    struct diags *diags;
    struct raw_terminal terminal;
    struct grid_view view;
    struct relation *original, *relation; /* references: as it came, and as it is shown */
    struct column **columns;              /* of `relation`, references; read when they are first shown */
    size_t *numbers;                      /* of the columns that may be shown */
    size_t fit;                           /* how many of them fit */
    struct strbuf pattern;                /* the last search */
    struct strbuf message;                /* for the status line until the next key */
    enum status status;
};

static void write_out(const struct strbuf *text)
{
    size_t done = 0;
    while (done < text->length) {
        const ssize_t wrote = write(STDOUT_FILENO, text->text + done, text->length - done);
        if (wrote < 0)
            return;
        done += (size_t)wrote;
    }
}

static void release_columns(struct grid *grid)
{
    for (size_t k = 0; k < grid->view.columns; k++)
        column_unref(grid->columns[k]);
    free(grid->columns);
}

/* Shows another relation with the same columns. Takes over the reference. */
static void take_relation(struct grid *grid, struct relation *relation)
{
    if (grid->relation) {
        release_columns(grid);
        relation_unref(grid->relation);
    }
    grid->relation = relation;
    grid->view.rows = relation->rows;
    grid->view.columns = relation->count;
    grid->columns = heap_array(relation->count, sizeof(struct column *));
    for (size_t k = 0; k < relation->count; k++)
        grid->columns[k] = column_ref(relation->columns[k]);
}

/* The columns that may be shown, with the rows on the screen. NULL: grid->status says why. */
static struct relation *fetch_shown(struct grid *grid, size_t *count)
{
    struct grid_view *view = &grid->view;
    *count = grid_view_columns(view, &grid->style, grid->numbers);
    struct column **columns = heap_array(*count, sizeof(struct column *));
    const char **names = heap_array(*count, sizeof *names);
    for (size_t k = 0; k < *count; k++) {
        columns[k] = grid->columns[grid->numbers[k]];
        names[k] = grid->relation->names[grid->numbers[k]];
    }
    const int64_t end = view->top + grid_page(&grid->style);
    grid->status = file_cache_read(grid->host->file_cache, columns, *count, grid->span, grid->diags);
    for (size_t k = 0; k < *count; k++)
        grid->columns[grid->numbers[k]] = columns[k];
    if (grid->status == STATUS_OK)
        grid->status = columns_fetch_rows(columns, *count, view->top, end < view->rows ? end : view->rows, grid->span,
                                          grid->diags);
    struct relation *shown = NULL;
    if (grid->status == STATUS_OK)
        shown = relation_new(view->rows, *count, columns, names);
    free(columns);
    free(names);
    return shown;
}

/* Where the cursor is, and the whole value under it, of which the table may show only a part. */
static void add_status(struct strbuf *out, const struct grid *grid)
{
    const struct grid_view *view = &grid->view;
    if (view->rows == 0 || view->columns == 0) {
        strbuf_puts(out, "no rows   q: leave");
        return;
    }
    const struct scalar element = column_get(grid->columns[view->column], view->row);
    strbuf_puts(out, "row ");
    number_format_group_int(out, view->row + 1);
    strbuf_puts(out, " of ");
    number_format_group_int(out, view->rows);
    strbuf_printf(out, ", column %zu of %zu   %s = ", view->column + 1, view->columns,
                  grid->relation->names[view->column]);
    if (element.logical.kind == LOGICAL_LIST && !element.missing)
        list_add_json(out, grid->columns[view->column], view->row);
    else
        scalar_print(out, &element);
    strbuf_puts(out, "   ?: help");
}

static void draw(struct grid *grid)
{
    terminal_size(&grid->terminal, &grid->style.width, &grid->style.height);
    struct strbuf screen = {0}, status = {0};
    for (bool visible = false; !visible && grid->status == STATUS_OK;) {
        size_t count;
        grid_view_follow(&grid->view, &grid->style);
        struct relation *shown = fetch_shown(grid, &count);
        if (!shown)
            break;
        strbuf_clear(&screen);
        strbuf_clear(&status);
        if (grid->message.length > 0)
            strbuf_add(&status, grid->message.text, grid->message.length);
        else
            add_status(&status, grid);
        grid->fit = grid_draw(&screen, &grid->view, shown, grid->numbers, &grid->style, status.text);
        relation_unref(shown);
        /* Columns have different widths: the cursor may still be to the right of what fits. */
        visible =
            grid->fit == 0 || grid->view.column <= grid->numbers[grid->fit - 1] || grid->view.left >= grid->view.column;
        grid->view.left += !visible;
    }
    write_out(&screen);
    strbuf_free(&screen);
    strbuf_free(&status);
}

static void say(struct grid *grid, const char *message)
{
    strbuf_clear(&grid->message);
    strbuf_puts(&grid->message, message);
}

/* Draws a message at once, before something that may take long. */
static void say_now(struct grid *grid, const char *message)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "\033[%zu;1H\033[K%s", grid->style.height, message);
    write_out(&text);
    strbuf_free(&text);
}

/* What is wrong with a query that the grid has run. Ctrl-C ends the query only. */
static void say_failure(struct grid *grid, enum status status, const struct diags *diags)
{
    if (status == STATUS_CANCELLED)
        *grid->host->cancel = 0;
    const char *problem = "this cannot be done";
    for (size_t k = 0; k < diags->count; k++) {
        if (diags->at[k].severity == SEVERITY_ERROR)
            problem = diags->at[k].message;
    }
    say(grid, status == STATUS_CANCELLED ? "interrupted" : problem);
}

static void sort(struct grid *grid, bool descending)
{
    struct arena *arena = arena_new();
    struct diags diags;
    struct relation *sorted;
    diags_init(&diags, arena);
    say_now(grid, "sorting; Ctrl-C stops");
    const enum status status =
        grid_query_sort(grid->host->runner, grid->relation, grid->view.column, descending, &sorted, &diags);
    if (status == STATUS_OK) {
        take_relation(grid, sorted);
        grid->view.row = grid->view.top = 0;
    } else {
        say_failure(grid, status, &diags);
    }
    arena_free(arena);
}

/* Looks on from the other end if there is nothing as far as this one. */
static enum status find_around(struct grid *grid, bool backward, int64_t *row, struct diags *diags)
{
    const struct grid_host *host = grid->host;
    const char *pattern = grid->pattern.text;
    enum status status = grid_query_find(host->runner, grid->relation, pattern, grid->view.row, backward, row, diags);
    if (status != STATUS_OK || *row >= 0)
        return status;
    status =
        grid_query_find(host->runner, grid->relation, pattern, backward ? grid->view.rows : -1, backward, row, diags);
    say(grid, backward ? "nothing before: found from the last row on" : "nothing after: found from the first row on");
    return status;
}

static void find(struct grid *grid, bool backward)
{
    if (grid->pattern.length == 0) {
        say(grid, "nothing has been searched: / searches");
        return;
    }
    struct arena *arena = arena_new();
    struct diags diags;
    int64_t row;
    diags_init(&diags, arena);
    say_now(grid, "searching; Ctrl-C stops");
    const enum status status = find_around(grid, backward, &row, &diags);
    if (status != STATUS_OK) {
        say_failure(grid, status, &diags);
    } else if (row < 0) {
        strbuf_clear(&grid->message);
        strbuf_printf(&grid->message, "no row has `%s`", grid->pattern.text);
    } else {
        grid->view.row = row;
    }
    arena_free(arena);
}

/* Reads a line into `text` on the status line. False: it was given up. */
static bool ask(struct grid *grid, const char *prompt, struct strbuf *text)
{
    strbuf_clear(text);
    for (;;) {
        struct strbuf line = {0};
        strbuf_puts(&line, prompt);
        strbuf_add(&line, text->text ? text->text : "", text->length);
        say_now(grid, line.text);
        strbuf_free(&line);
        const int key = terminal_read_key(&grid->terminal);
        if (key == KEY_ENTER)
            return text->length > 0;
        if (key == KEY_INTERRUPT)
            *grid->host->cancel = 0;
        if (key == KEY_ESCAPE || key == KEY_INTERRUPT || key == KEY_CLOSED)
            return false;
        if (key == KEY_BACKSPACE) {
            /* the last character, of one or more bytes */
            while (text->length > 0 && ((unsigned char)text->text[text->length - 1] & 0xc0) == 0x80)
                text->length--;
            text->length -= text->length > 0;
            strbuf_putc(text, '\0');
            text->length--;
        } else if (key >= ' ' && key < KEY_UP) {
            strbuf_putc(text, (char)key);
        }
    }
}

static void search(struct grid *grid)
{
    struct strbuf pattern = {0};
    if (ask(grid, "/", &pattern)) {
        strbuf_free(&grid->pattern);
        grid->pattern = pattern;
        find(grid, false);
    } else {
        strbuf_free(&pattern);
    }
}

/* Moves the cursor by whole columns; the view follows when it is drawn. */
static void move_column(struct grid_view *view, int by)
{
    if (by < 0 && view->column > 0)
        view->column--;
    else if (by > 0 && view->column + 1 < view->columns)
        view->column++;
}

static void freeze(struct grid *grid)
{
    struct grid_view *view = &grid->view;
    const bool release = view->frozen == view->column + 1;
    view->frozen = release ? 0 : view->column + 1;
    view->left = view->frozen;
    say(grid, release ? "no columns are frozen" : "the columns up to this one stay; f releases them");
}

static void unsort(struct grid *grid)
{
    if (grid->relation != grid->original)
        take_relation(grid, relation_ref(grid->original));
}

/* False: the user leaves. */
static bool act(struct grid *grid, int key)
{
    struct grid_view *view = &grid->view;
    const int64_t page = grid_page(&grid->style);
    if (key == KEY_RESIZED || (key == KEY_INTERRUPT && !*grid->host->cancel)) /* it has ended a query */
        return true;
    strbuf_clear(&grid->message);
    switch (key) {
    case 'q':
    case 'Q':
    case 4: /* Ctrl-D */
    case KEY_ESCAPE:
    case KEY_CLOSED:
        return false;
    case KEY_INTERRUPT:
        return false;
    case KEY_UP:
    case 'k':
        view->row--;
        break;
    case KEY_DOWN:
    case 'j':
    case KEY_ENTER:
        view->row++;
        break;
    case KEY_LEFT:
    case 'h':
        move_column(view, -1);
        break;
    case KEY_RIGHT:
    case 'l':
        move_column(view, 1);
        break;
    case KEY_PAGE_UP:
    case 'b':
        view->row -= page;
        view->top -= page;
        break;
    case KEY_PAGE_DOWN:
    case ' ':
        view->row += page;
        view->top += page;
        break;
    case 'g':
        view->row = 0;
        break;
    case 'G':
        view->row = view->rows - 1;
        break;
    case KEY_HOME:
        view->column = 0;
        break;
    case KEY_END:
        view->column = view->columns - 1;
        break;
    case 's':
    case 'S':
        sort(grid, key == 'S');
        break;
    case 'u':
        unsort(grid);
        break;
    case '/':
        search(grid);
        break;
    case 'n':
    case 'N':
        find(grid, key == 'N');
        break;
    case 'f':
        freeze(grid);
        break;
    case '?':
        say(grid, help);
        break;
    default:
        break;
    }
    return true;
}

bool grid_is_possible(const struct print_style *style)
{
    const char *kind = getenv("TERM");
    return style->terminal && style->format == PRINT_TABLE && isatty(STDIN_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

enum status grid_show(const struct grid_host *host, struct relation **relation, const struct print_style *style,
                      struct span span, struct diags *diags)
{
    struct grid grid = {.host = host,
                        .style = *style,
                        .span = span,
                        .diags = diags,
                        .terminal = {.fd = STDIN_FILENO, .signals = host->signals},
                        .original = *relation,
                        .numbers = heap_array((*relation)->count, sizeof(size_t))};
    take_relation(&grid, relation_ref(*relation));
    if (terminal_open(&grid.terminal)) {
        do
            draw(&grid);
        while (grid.status == STATUS_OK && act(&grid, terminal_read_key(&grid.terminal)));
    }
    terminal_close(&grid.terminal);
    *host->cancel = 0;
    release_columns(&grid);
    relation_unref(grid.original);
    *relation = grid.relation;
    free(grid.numbers);
    strbuf_free(&grid.pattern);
    strbuf_free(&grid.message);
    return grid.status;
}
