/* The output of `describe`: a line for each column. */
#include "repl/print/bar.h"
#include "repl/print/fit_text.h"
#include "repl/print/number_format.h"
#include "repl/print/print.h"
#include "repl/print/text_table.h"

#include "engine/operators/describe.h"

#include <string.h>

enum { NAME, TYPE, ROWS, MISSING, LEAST, GREATEST, MEAN, DISTINCT, NANS, TOP, SPREAD, COLUMNS };
enum { TOP_CELLS = 16 }; /* of a string */

static const struct text_column columns[COLUMNS] = {
    [NAME] = {"column", true},      [TYPE] = {"type", true},          [ROWS] = {"rows", false},
    [MISSING] = {"missing", false}, [LEAST] = {"min", false},         [GREATEST] = {"max", false},
    [MEAN] = {"mean", false},       [DISTINCT] = {"distinct", false}, [NANS] = {"nan", false},
    [TOP] = {"top", true},          [SPREAD] = {"spread", true},
};

static void add_number(struct strbuf *out, const struct scalar *scalar, const struct print_style *style)
{
    struct strbuf text = {0};
    const bool number = logical_is_number(scalar->logical);
    scalar_print(&text, scalar);
    if (style->separators && number && number_format_are_many(text.text, text.length))
        number_format_group(out, text.text, text.length);
    else
        strbuf_add(out, text.text, text.length);
    strbuf_free(&text);
}

static void add_count(struct strbuf *out, int64_t count, const struct print_style *style)
{
    const struct scalar scalar = scalar_int(count);
    add_number(out, &scalar, style);
}

/* On a terminal six digits of a mean are enough. */
static void add_mean(struct strbuf *out, const struct scalar *mean, const struct print_style *style)
{
    if (!style->terminal || mean->kind != KIND_FLOAT) {
        add_number(out, mean, style);
        return;
    }
    struct strbuf text = {0};
    strbuf_printf(&text, "%.6g", mean->number);
    if (strchr(text.text, 'e')) {
        strbuf_clear(&text);
        strbuf_printf(&text, "%.0f", mean->number);
    }
    number_format_group(out, text.text, text.length);
    strbuf_free(&text);
}

/* The most frequent strings with their counts: "AAPL 312, MSFT 20, ...". */
static void add_top(struct strbuf *out, const struct column_summary *summary, const struct print_style *style)
{
    for (size_t i = 0; i < summary->top_count; i++) {
        struct text text = summary->top[i];
        const bool quoted = text.length == 0 || memchr(text.at, ',', text.length);
        strbuf_puts(out, i > 0 ? ", " : "");
        strbuf_puts(out, quoted ? "\"" : "");
        add_cut_text(out, text, style->format == PRINT_TABLE ? TOP_CELLS : SIZE_MAX);
        strbuf_puts(out, quoted ? "\" " : " ");
        add_count(out, summary->top_counts[i], style);
    }
}

static void add_spread(struct strbuf *out, const struct column_summary *summary)
{
    int64_t most = 0;
    for (int bin = 0; bin < summary->bins; bin++)
        most = summary->counts[bin] > most ? summary->counts[bin] : most;
    for (int bin = 0; bin < summary->bins; bin++)
        column_bar_add(out, (double)summary->counts[bin] / (double)most);
}

void print_description(struct strbuf *out, const struct description *description, const struct print_style *style)
{
    struct arena *arena = arena_new();
    struct text_table table;
    struct strbuf cells[COLUMNS] = {{0}};
    text_table_init(&table, arena, columns, COLUMNS);
    for (size_t k = 0; k < description->count; k++) {
        const struct column_summary *summary = &description->columns[k];
        strbuf_puts(&cells[NAME], summary->name);
        strbuf_puts(&cells[TYPE], summary->type_name);
        add_count(&cells[ROWS], description->rows, style);
        if (summary->floats)
            add_count(&cells[NANS], summary->nans, style);
        if (summary->missing > 0 || style->format != PRINT_TABLE)
            add_count(&cells[MISSING], summary->missing, style);
        if (!summary->empty) {
            strbuf_puts(&cells[DISTINCT], summary->exact ? "" : "~");
            add_count(&cells[DISTINCT], summary->distinct, style);
            add_top(&cells[TOP], summary, style);
        }
        if (!summary->empty && summary->top_count == 0) {
            add_number(&cells[LEAST], &summary->least, style);
            add_number(&cells[GREATEST], &summary->greatest, style);
            add_mean(&cells[MEAN], &summary->mean, style);
            add_spread(&cells[SPREAD], summary);
        }
        text_table_add(&table, cells);
    }
    text_table_print(out, &table, style);
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_free(&cells[k]);
    arena_free(arena);
}
