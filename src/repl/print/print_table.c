/* Aligned tables with names and types. On a terminal the first and last rows of a long relation and as many columns as
 * fit; elsewhere everything. */
#include "repl/print/bar.h"
#include "repl/print/number_format.h"
#include "repl/print/print.h"
#include "repl/print/table_layout.h"

#include <string.h>

enum { MAX_ROWS = 25, MIN_ROWS = 5, TAIL_PART = 5, GAP = 2, MIN_BAR = 4 };

/* The rows shown: the first `head` and the last `tail`. */
struct shown {
    int64_t head, tail;
    bool gap; /* rows between them are omitted */
};

/* The rows that fit the terminal besides `others`, the lines that are not rows. */
static int64_t rows_that_fit(const struct print_style *style, int64_t others)
{
    const int64_t rows = style->height ? (int64_t)style->height - others : MAX_ROWS;
    return rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : rows;
}

static struct shown choose_rows(const struct relation *relation, int64_t rows, const struct print_style *style)
{
    enum { WHOLE_OTHERS = 5, CUT_OTHERS = 6 }; /* query, names, types, row count, next prompt; the line of dots */
    if (rows >= 0)
        return (struct shown){rows < relation->rows ? rows : relation->rows, 0, false};
    if (!style->terminal || relation->rows <= rows_that_fit(style, WHOLE_OTHERS))
        return (struct shown){relation->rows, 0, false};
    const int64_t fit = rows_that_fit(style, CUT_OTHERS);
    const int64_t tail = fit / TAIL_PART;
    return (struct shown){fit - tail, tail, true};
}

static void print_heading(struct strbuf *out, struct table_layout *layout, const struct print_style *style)
{
    table_add_names(out, layout);
    strbuf_putc(out, '\n');
    strbuf_puts(out, style->colour ? "\033[2m" : "");
    table_add_types(out, layout);
    strbuf_puts(out, style->colour ? "\033[0m\n" : "\n");
}

/* The bars beside a histogram's rows. */
struct bars {
    const struct column *counts;
    int64_t most; /* the count with a full bar */
    size_t cells; /* 0: no bars */
};

/* Bars fill the rest of the line, if that is wide enough. */
static struct bars choose_bars(const struct result *result, const struct table_layout *layout,
                               const struct print_style *style)
{
    struct bars bars = {0};
    const struct relation *relation = result->relation;
    const size_t used = layout->width + GAP;
    if (result->view != VIEW_HISTOGRAM || !style->terminal || layout->count < relation->count ||
        used + MIN_BAR > style->width)
        return bars;
    bars.counts = relation->columns[relation->count - 1];
    bars.cells = style->width - used;
    for (int64_t row = 0; row < relation->rows; row++) {
        const int64_t count = column_get_int(bars.counts, row);
        bars.most = count > bars.most ? count : bars.most;
    }
    return bars;
}

static void add_bar(struct strbuf *out, const struct bars *bars, int64_t row)
{
    const int64_t count = bars->cells ? column_get_int(bars->counts, row) : 0;
    if (count > 0) {
        strbuf_puts(out, "  ");
        bar_add(out, (double)count / (double)bars->most, bars->cells);
    }
}

static bool print_row(struct printer *out, const struct relation *relation, struct table_layout *layout,
                      const struct bars *bars, int64_t row)
{
    table_add_row(&out->text, layout, row);
    add_bar(&out->text, bars, row);
    strbuf_putc(&out->text, '\n');
    return print_relieve(out, relation);
}

/* The number of rows: on a terminal, and wherever something is not shown or the relation is empty. */
static void print_footer(struct printer *out, const struct result *result, const struct shown *shown, size_t columns,
                         const struct print_style *style)
{
    const struct relation *relation = result->relation;
    const int64_t rows = shown->head + shown->tail;
    const bool wanted = style->terminal && result->view == VIEW_ROWS && result->show_rows < 0;
    if (!wanted && rows == relation->rows && columns == relation->count && rows > 0)
        return;
    struct strbuf line = {0}, *text = &line;
    if (rows < relation->rows) {
        number_format_group_int(text, rows);
        strbuf_puts(text, " of ");
    }
    number_format_group_int(text, relation->rows);
    strbuf_puts(text, relation->rows == 1 ? " row" : " rows");
    if (columns < relation->count)
        strbuf_printf(text, ", %zu of %zu columns", columns, relation->count);
    const char *advice = shown->gap                  ? " (| show N for more)"
                         : columns < relation->count ? " (| pick NAME, ... for others)"
                                                     : "";
    if (!style->terminal || line.length + strlen(advice) <= style->width)
        strbuf_puts(text, advice);
    strbuf_printf(&out->text, style->colour ? "\033[2m%s\033[0m\n" : "%s\n", line.text);
    strbuf_free(&line);
}

static void print_body(struct printer *out, const struct relation *relation, const struct shown *shown,
                       struct table_layout *layout, const struct bars *bars)
{
    for (int64_t row = 0; row < shown->head; row++) {
        if (!print_row(out, relation, layout, bars, row))
            return;
    }
    if (shown->gap) {
        table_add_dots(&out->text, layout);
        strbuf_putc(&out->text, '\n');
    }
    for (int64_t row = relation->rows - shown->tail; row < relation->rows; row++) {
        if (!print_row(out, relation, layout, bars, row))
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
    struct shown shown = choose_rows(result->relation, result->show_rows, style);
    const int64_t rows = result->relation->rows;
    const struct row_part parts[SHOWN_PARTS] = {{0, shown.head}, {rows - shown.tail, rows}};
    struct table_layout layout;
    table_layout_init(&layout, result->relation, result->view == VIEW_HISTOGRAM, parts, style);
    if (style->header)
        print_heading(&out->text, &layout, style);
    struct bars bars = choose_bars(result, &layout, style);
    print_body(out, result->relation, &shown, &layout, &bars);
    print_footer(out, result, &shown, layout.count, style);
    table_layout_free(&layout);
}
