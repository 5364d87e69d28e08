#include "repl/print/text_table.h"

#include "repl/print/fit_text.h"

#include "base/number_text.h"

#include <math.h>
#include <string.h>

enum { GAP = 2 };

void text_table_init(struct text_table *table, struct arena *arena, const struct text_column *columns, size_t count)
{
    *table = (struct text_table){.arena = arena, .columns = columns, .column_count = count};
}

void text_table_add(struct text_table *table, struct strbuf *cells)
{
    table->cells = arena_reserve(table->arena, table->cells, table->row_count, &table->capacity,
                                 table->column_count * sizeof *table->cells);
    const char **row = &table->cells[table->row_count++ * table->column_count];
    struct strbuf visible = {0};
    for (size_t k = 0; k < table->column_count; k++) {
        strbuf_clear(&visible);
        strbuf_add_visible(&visible, cells[k].text ? cells[k].text : "", cells[k].length);
        row[k] = arena_text(table->arena, visible.text ? visible.text : "", visible.length);
        strbuf_clear(&cells[k]);
    }
    strbuf_free(&visible);
}

static const char *cell(const struct text_table *table, size_t row, size_t k)
{
    return table->cells[row * table->column_count + k];
}

static size_t cells_of(const char *text)
{
    return text_width(text, strlen(text));
}

static size_t column_cells(const struct text_table *table, size_t k, bool titled)
{
    size_t widest = titled ? cells_of(table->columns[k].title) : 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const size_t width = cells_of(cell(table, row, k));
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void add_aligned(struct strbuf *out, const struct text_table *table, size_t k, const char *text, size_t width,
                        bool last)
{
    const size_t space = width - cells_of(text);
    if (last && *text == '\0')
        return;
    strbuf_add_spaces(out, (k ? GAP : 0) + (table->columns[k].text ? 0 : space));
    strbuf_puts(out, text);
    strbuf_add_spaces(out, table->columns[k].text && !last ? space : 0);
}

/* Appends the first column, the title of the line, and the columns from begin to end. A last text that is wider than
 * the terminal goes on in lines below itself. */
static void add_line(struct strbuf *out, const struct text_table *table, const char *const *texts, size_t stride,
                     const size_t *widths, size_t begin, size_t end, const struct print_style *style)
{
    enum { LEAST_CELLS = 12 };
    size_t at = 0;
    for (size_t k = 0; k < end; k = k == 0 && begin > 0 ? begin : k + 1) {
        const char *text = *(const char *const *)((const char *)texts + k * stride);
        const size_t from = at + (k ? GAP : 0);
        const bool wraps = style->terminal && table->columns[k].text && k + 1 == end &&
                           from + cells_of(text) > style->width && from + LEAST_CELLS <= style->width;
        if (wraps) {
            strbuf_add_spaces(out, from - at);
            word_wrap(out, text, from, style->width);
        } else {
            add_aligned(out, table, k, text, widths[k], k + 1 == end);
        }
        at = from + widths[k];
    }
    strbuf_putc(out, '\n');
}

/* The end of the columns from `begin` that fit beside the first: at least one. */
static size_t columns_that_fit(const struct text_table *table, const size_t *widths, size_t begin,
                               const struct print_style *style)
{
    size_t used = widths[0], end = begin;
    while (end < table->column_count) {
        used += end ? GAP + widths[end] : 0;
        if (used > style->width && style->terminal && end > (begin ? begin : 1))
            break;
        end++;
    }
    return end;
}

/* Drops empty columns, except the first. */
static struct text_table without_empty(const struct text_table *table)
{
    struct text_table some = {.arena = table->arena, .row_count = table->row_count};
    struct text_column *columns = arena_array(table->arena, table->column_count, sizeof *columns);
    size_t *from = arena_array(table->arena, table->column_count, sizeof *from);
    for (size_t k = 0; k < table->column_count; k++) {
        if (k == 0 || column_cells(table, k, false) > 0) {
            columns[some.column_count] = table->columns[k];
            from[some.column_count++] = k;
        }
    }
    some.columns = columns;
    some.cells = arena_array(table->arena, table->row_count * some.column_count + 1, sizeof *some.cells);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t k = 0; k < some.column_count; k++)
            some.cells[row * some.column_count + k] = cell(table, row, from[k]);
    }
    return some;
}

/* On a narrow terminal the remaining columns follow below, after the first column again. */
static void print_aligned(struct strbuf *out, const struct text_table *whole, const struct print_style *style)
{
    const struct text_table some = without_empty(whole), *table = whole->row_count > 0 ? &some : whole;
    size_t *widths = arena_array(table->arena, table->column_count, sizeof *widths);
    for (size_t k = 0; k < table->column_count; k++)
        widths[k] = column_cells(table, k, style->header);
    for (size_t begin = 0, end; begin < table->column_count; begin = end) {
        end = columns_that_fit(table, widths, begin, style);
        if (style->header) {
            strbuf_puts(out, style->colour ? "\033[2m" : "");
            add_line(out, table, &table->columns[0].title, sizeof table->columns[0], widths, begin, end, style);
            strbuf_puts(out, style->colour ? "\033[0m" : "");
        }
        for (size_t row = 0; row < table->row_count; row++)
            add_line(out, table, &table->cells[row * table->column_count], sizeof *table->cells, widths, begin, end,
                     style);
    }
}

static void add_quoted(struct strbuf *out, const char *text, char escape)
{
    strbuf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || (escape == '\\' && *text == '\\'))
            strbuf_putc(out, escape);
        strbuf_putc(out, *text);
    }
    strbuf_putc(out, '"');
}

static void add_csv(struct strbuf *out, const char *text)
{
    if (strpbrk(text, ",\""))
        add_quoted(out, text, '"');
    else
        strbuf_puts(out, text);
}

static void add_markdown(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        strbuf_puts(out, *text == '|' ? "\\" : "");
        strbuf_putc(out, *text);
    }
}

static void print_object(struct strbuf *out, const struct text_table *table, size_t row)
{
    for (size_t k = 0; k < table->column_count; k++) {
        const char *text = cell(table, row, k);
        strbuf_puts(out, k ? ", " : "{");
        add_quoted(out, table->columns[k].title, '\\');
        strbuf_puts(out, ": ");
        double number;
        const bool is_number = !table->columns[k].text && read_float(text, text + strlen(text), &number) == READ_FLOAT;
        /* JSON numbers are finite */
        if (*text == '\0' || (is_number && !isfinite(number)))
            strbuf_puts(out, "null");
        else if (is_number)
            strbuf_puts(out, text);
        else
            add_quoted(out, text, '\\');
    }
    strbuf_puts(out, "}");
}

static void print_line(struct strbuf *out, const struct text_table *table, const char *const *texts, size_t stride,
                       enum print_format format)
{
    const bool markdown = format == PRINT_MARKDOWN;
    for (size_t k = 0; k < table->column_count; k++) {
        const char *text = *(const char *const *)((const char *)texts + k * stride);
        strbuf_puts(out, markdown ? k ? " | " : "| " : k ? format == PRINT_CSV ? "," : "\t" : "");
        if (markdown)
            add_markdown(out, text);
        else if (format == PRINT_CSV)
            add_csv(out, text);
        else
            strbuf_puts(out, text);
    }
    strbuf_puts(out, markdown ? " |\n" : "\n");
}

static void print_lines(struct strbuf *out, const struct text_table *table, const struct print_style *style)
{
    const bool markdown = style->format == PRINT_MARKDOWN;
    if (style->header || markdown)
        print_line(out, table, &table->columns[0].title, sizeof table->columns[0], style->format);
    for (size_t k = 0; k < table->column_count && markdown; k++)
        strbuf_puts(out, table->columns[k].text ? "| :--- " : "| ---: ");
    strbuf_puts(out, markdown ? "|\n" : "");
    for (size_t row = 0; row < table->row_count; row++)
        print_line(out, table, &table->cells[row * table->column_count], sizeof *table->cells, style->format);
}

void text_table_print(struct strbuf *out, const struct text_table *table, const struct print_style *style)
{
    const bool json = style->format == PRINT_JSON;
    if (style->format == PRINT_TABLE) {
        print_aligned(out, table, style);
        return;
    }
    if (!json && style->format != PRINT_JSONL) {
        print_lines(out, table, style);
        return;
    }
    strbuf_puts(out, json ? "[" : "");
    for (size_t row = 0; row < table->row_count; row++) {
        strbuf_puts(out, json ? row ? ",\n " : "" : "");
        print_object(out, table, row);
        strbuf_puts(out, json ? "" : "\n");
    }
    strbuf_puts(out, json ? "]\n" : "");
}
