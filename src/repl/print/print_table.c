/* Aligned tables with names and types. On a terminal the first and last rows of a long relation and as many columns as
 * fit; elsewhere everything. */
#include "repl/print/bar.h"
#include "repl/print/number_format.h"
#include "repl/print/print.h"
#include "repl/print/print_guard.h"

#include "engine/formats/row_encode.h"

#include <string.h>

enum { MAX_ROWS = 25, MIN_ROWS = 5, TAIL_PART = 5, GAP = 2, NAME_CELLS = 32, MIN_BAR = 4 };

/* The rows shown: the first `head` and the last `tail`. */
struct shown {
    int64_t head, tail;
    bool gap; /* rows between them are omitted */
};

/* The rows that fit the terminal besides `others`, the lines that are not rows. */
static int64_t rows_that_fit(const struct print_style *style, int64_t others)
{
    int64_t rows = style->height ? (int64_t)style->height - others : MAX_ROWS;
    return rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : rows;
}

static struct shown choose_rows(const struct relation *relation, int64_t rows, const struct print_style *style)
{
    enum { WHOLE_OTHERS = 5, CUT_OTHERS = 6 }; /* query, names, types, row count, next prompt; the line of dots */
    if (rows >= 0)
        return (struct shown){rows < relation->rows ? rows : relation->rows, 0, false};
    if (!style->terminal || relation->rows <= rows_that_fit(style, WHOLE_OTHERS))
        return (struct shown){relation->rows, 0, false};
    int64_t fit = rows_that_fit(style, CUT_OTHERS);
    int64_t tail = fit / TAIL_PART;
    return (struct shown){fit - tail, tail, true};
}

/* Escapes control bytes and cuts very long names. */
static void add_name(struct strbuf *out, const char *name)
{
    size_t length = strlen(name);
    if (text_width(name, length) <= NAME_CELLS) {
        strbuf_add_visible(out, name, length);
        return;
    }
    while (text_width(name, length) >= NAME_CELLS) {
        length--;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
    }
    strbuf_add_visible(out, name, length);
    strbuf_puts(out, "…");
}

/* The layout of a column. */
struct fit {
    size_t width;
    bool grouped; /* commas between thousands in all numbers, because the longest needs them */
};

static void add_element(struct strbuf *out, const struct column *column, int64_t row, bool grouped)
{
    if (!grouped) {
        encode_element(out, column, row);
        return;
    }
    struct strbuf number = {0};
    encode_element(&number, column, row);
    number_format_group(out, number.text, number.length);
    strbuf_free(&number);
}

/* Widens the fit for an element. */
static void fit_element(struct fit *fit, const struct column *column, int64_t row, bool separators,
                        struct strbuf *scratch)
{
    strbuf_clear(scratch);
    encode_element(scratch, column, row);
    fit->grouped = fit->grouped || (separators && number_format_are_many(scratch->text, scratch->length));
    if (separators) {
        strbuf_clear(scratch);
        add_element(scratch, column, row, true);
    }
    fit->width = scratch->length > fit->width ? scratch->length : fit->width;
}

/* Widens the fit for rows; of integers, minimum and maximum are enough. */
static void fit_rows(struct fit *fit, const struct column *column, int64_t begin, int64_t end, bool separators,
                     struct strbuf *scratch)
{
    if (begin >= end)
        return;
    if (type_table[column->store].kind == KIND_FLOAT) {
        for (int64_t row = begin; row < end; row++)
            fit_element(fit, column, row, separators, scratch);
        return;
    }
    int64_t least = begin;
    int64_t most = begin;
    for (int64_t row = begin; row < end; row++) {
        int64_t integer = column_get_int(column, row);
        least = integer < column_get_int(column, least) ? row : least;
        most = integer > column_get_int(column, most) ? row : most;
    }
    fit_element(fit, column, least, separators, scratch);
    fit_element(fit, column, most, separators, scratch);
}

static struct fit fit_column(const struct relation *relation, size_t k, const struct shown *shown,
                             const struct print_style *style, struct strbuf *scratch)
{
    const struct column *column = relation->columns[k];
    struct fit fit = {.width = 1};
    fit_rows(&fit, column, 0, shown->head, style->separators, scratch);
    fit_rows(&fit, column, relation->rows - shown->tail, relation->rows, style->separators, scratch);
    if (style->separators && !fit.grouped && fit.width > 1) {
        fit.width = 1;
        fit_rows(&fit, column, 0, shown->head, false, scratch);
        fit_rows(&fit, column, relation->rows - shown->tail, relation->rows, false, scratch);
    }
    if (style->header) {
        strbuf_clear(scratch);
        add_name(scratch, relation->names[k]);
        size_t name = text_width(scratch->text, scratch->length);
        size_t type = strlen(type_table[column->type].name);
        fit.width = name > fit.width ? name : fit.width;
        fit.width = type > fit.width ? type : fit.width;
    }
    return fit;
}

/* If only one edge of the intervals has commas, the other gets them too; its numbers have at most four digits, so one
 * comma. */
static void match_edges(struct fit *lower, struct fit *upper)
{
    if (lower->grouped != upper->grouped) {
        struct fit *plain = lower->grouped ? upper : lower;
        plain->grouped = true;
        plain->width++;
    }
}

/* At least one column. */
static size_t columns_that_fit(const struct fit *fits, size_t count, const struct print_style *style)
{
    size_t used = 0;
    for (size_t k = 0; k < count && style->terminal; k++) {
        used += fits[k].width + (k ? GAP : 0);
        if (used > style->width)
            return k ? k : 1;
    }
    return count;
}

static void add_aligned(struct strbuf *out, const char *text, size_t length, size_t width, size_t k)
{
    size_t cells = text_width(text, length);
    size_t before = (k ? GAP : 0) + (width > cells ? width - cells : 0);
    memset(strbuf_reserve(out, before), ' ', before);
    strbuf_commit(out, before);
    strbuf_add(out, text, length);
}

static void print_heading(struct printer *out, const struct relation *relation, const struct fit *fits, size_t columns,
                          const struct print_style *style, struct strbuf *scratch)
{
    for (size_t k = 0; k < columns; k++) {
        strbuf_clear(scratch);
        add_name(scratch, relation->names[k]);
        add_aligned(&out->text, scratch->text, scratch->length, fits[k].width, k);
    }
    strbuf_putc(&out->text, '\n');
    strbuf_puts(&out->text, style->colour ? "\033[2m" : "");
    for (size_t k = 0; k < columns; k++) {
        const char *type = type_table[relation->columns[k]->type].name;
        add_aligned(&out->text, type, strlen(type), fits[k].width, k);
    }
    strbuf_puts(&out->text, style->colour ? "\033[0m\n" : "\n");
}

/* The bars beside a histogram's rows. */
struct bars {
    const struct column *counts;
    int64_t most; /* the count with a full bar */
    size_t cells; /* 0: no bars */
};

/* Bars fill the rest of the line, if that is wide enough. */
static struct bars choose_bars(const struct result *result, const struct fit *fits, size_t columns,
                               const struct print_style *style)
{
    struct bars bars = {0};
    const struct relation *relation = result->relation;
    size_t used = GAP;
    for (size_t k = 0; k < columns; k++)
        used += fits[k].width + (k ? GAP : 0);
    if (result->view != VIEW_HISTOGRAM || !style->terminal || columns < relation->count ||
        used + MIN_BAR > style->width)
        return bars;
    bars.counts = relation->columns[columns - 1];
    bars.cells = style->width - used;
    for (int64_t row = 0; row < relation->rows; row++) {
        int64_t count = column_get_int(bars.counts, row);
        bars.most = count > bars.most ? count : bars.most;
    }
    return bars;
}

static void add_bar(struct strbuf *out, const struct bars *bars, int64_t row)
{
    int64_t count = bars->cells ? column_get_int(bars->counts, row) : 0;
    if (count > 0) {
        strbuf_puts(out, "  ");
        bar_add(out, (double)count / (double)bars->most, bars->cells);
    }
}

static bool print_row(struct printer *out, const struct relation *relation, const struct fit *fits, size_t columns,
                      const struct bars *bars, int64_t row, struct strbuf *scratch)
{
    for (size_t k = 0; k < columns; k++) {
        strbuf_clear(scratch);
        add_element(scratch, relation->columns[k], row, fits[k].grouped);
        add_aligned(&out->text, scratch->text, scratch->length, fits[k].width, k);
    }
    add_bar(&out->text, bars, row);
    strbuf_putc(&out->text, '\n');
    return print_relieve(out, relation);
}

/* The number of rows: on a terminal, and wherever something is not shown or the relation is empty. */
static void print_footer(struct printer *out, const struct result *result, const struct shown *shown, size_t columns,
                         const struct print_style *style)
{
    const struct relation *relation = result->relation;
    int64_t rows = shown->head + shown->tail;
    bool wanted = style->terminal && result->view == VIEW_ROWS && result->show_rows < 0;
    if (!wanted && rows == relation->rows && columns == relation->count && rows > 0)
        return;
    struct strbuf *text = &out->text;
    strbuf_puts(text, style->colour ? "\033[2m" : "");
    if (rows < relation->rows) {
        number_format_group_int(text, rows);
        strbuf_puts(text, " of ");
    }
    number_format_group_int(text, relation->rows);
    strbuf_puts(text, relation->rows == 1 ? " row" : " rows");
    if (columns < relation->count)
        strbuf_printf(text, ", %zu of %zu columns", columns, relation->count);
    strbuf_puts(text, shown->gap                  ? " (| show N for more)"
                      : columns < relation->count ? " (| pick NAME, ... for others)"
                                                  : "");
    strbuf_puts(text, style->colour ? "\033[0m\n" : "\n");
}

static void print_body(struct printer *out, const struct relation *relation, const struct shown *shown,
                       const struct fit *fits, size_t columns, const struct bars *bars, struct strbuf *scratch)
{
    for (int64_t row = 0; row < shown->head; row++) {
        if (!print_row(out, relation, fits, columns, bars, row, scratch))
            return;
    }
    if (shown->gap) {
        for (size_t k = 0; k < columns; k++)
            add_aligned(&out->text, "…", strlen("…"), fits[k].width, k);
        strbuf_putc(&out->text, '\n');
    }
    for (int64_t row = relation->rows - shown->tail; row < relation->rows; row++) {
        if (!print_row(out, relation, fits, columns, bars, row, scratch))
            return;
    }
}

void print_table_rows(const struct result *result, const struct print_style *style, int64_t *head, int64_t *tail)
{
    struct shown shown = choose_rows(result->relation, result->show_rows, style);
    *head = shown.head;
    *tail = shown.tail;
}

void print_table(struct printer *out, const struct result *result, const struct print_style *style)
{
    const struct relation *relation = result->relation;
    struct shown shown = choose_rows(relation, result->show_rows, style);
    struct strbuf scratch = {0};
    struct arena *arena = arena_new();
    struct fit *fits = arena_array(arena, relation->count, sizeof *fits);
    for (size_t k = 0; k < relation->count; k++)
        fits[k] = fit_column(relation, k, &shown, style, &scratch);
    if (result->view == VIEW_HISTOGRAM && relation->count > 1)
        match_edges(&fits[0], &fits[1]);
    size_t columns = columns_that_fit(fits, relation->count, style);
    if (style->header)
        print_heading(out, relation, fits, columns, style, &scratch);
    struct bars bars = choose_bars(result, fits, columns, style);
    print_body(out, relation, &shown, fits, columns, &bars, &scratch);
    print_footer(out, result, &shown, columns, style);
    arena_free(arena);
    strbuf_free(&scratch);
}
