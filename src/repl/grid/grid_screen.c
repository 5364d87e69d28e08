#include "repl/grid/grid_screen.h"

#include "base/integer.h"
#include "repl/print/fit_text.h"
#include "repl/print/table_layout.h"

#include <string.h>

static const char reversed[] = "\033[7m", plain[] = "\033[0m", dim[] = "\033[2m", bold[] = "\033[1m";

int64_t grid_page(const struct print_style *style)
{
    return style->height > GRID_OTHER_LINES ? (int64_t)style->height - GRID_OTHER_LINES : 1;
}

void grid_view_follow(struct grid_view *view, const struct print_style *style)
{
    const int64_t page = grid_page(style);
    view->row = view->rows > 0 ? clamp_int64(view->row, 0, view->rows - 1) : 0;
    view->top = clamp_int64(view->top, view->row - page + 1, view->row);
    view->top = clamp_int64(view->top, 0, view->rows > page ? view->rows - page : 0);
    if (view->left < view->frozen)
        view->left = view->frozen;
    if (view->column >= view->frozen && view->column < view->left)
        view->left = view->column;
}

size_t grid_view_columns(const struct grid_view *view, const struct print_style *style, size_t *numbers)
{
    enum { LEAST_CELLS = 3 };
    const size_t most = style->width / LEAST_CELLS + 1;
    size_t count = 0;
    for (size_t k = 0; k < view->frozen && count < most; k++)
        numbers[count++] = k;
    for (size_t k = view->left; k < view->columns && count < most; k++)
        numbers[count++] = k;
    return count;
}

/* Goes on at the start of line `line`, from 1. */
static void begin_line(struct strbuf *out, size_t line)
{
    strbuf_printf(out, "\033[%zu;1H\033[K", line);
}

static void add_at(struct strbuf *out, size_t line, size_t offset, const char *style, const struct strbuf *text)
{
    strbuf_printf(out, "\033[%zu;%zuH%s", line, offset + 1, style);
    strbuf_add(out, text->text, text->length);
    strbuf_puts(out, plain);
}

/* The column and the cell of the cursor stand out. */
static void draw_cursor(struct strbuf *out, const struct grid_view *view, struct table_layout *layout, size_t at)
{
    struct strbuf text = {0};
    const size_t offset = table_column_offset(layout, at);
    table_add_name(&text, layout, at);
    add_at(out, 1, offset, reversed, &text);
    if (view->rows > 0) {
        strbuf_clear(&text);
        table_add_element(&text, layout, at, view->row);
        add_at(out, (size_t)(view->row - view->top) + GRID_OTHER_LINES, offset, reversed, &text);
    }
    strbuf_free(&text);
}

static void draw_rows(struct strbuf *out, const struct grid_view *view, struct table_layout *layout,
                      const struct print_style *style)
{
    for (int64_t k = 0; k < grid_page(style); k++) {
        begin_line(out, (size_t)k + GRID_OTHER_LINES);
        if (view->top + k < view->rows)
            table_add_row(out, layout, view->top + k);
    }
}

size_t grid_draw(struct strbuf *out, const struct grid_view *view, const struct relation *shown, const size_t *numbers,
                 const struct print_style *style, const char *status)
{
    const int64_t end = clamp_int64(view->top + grid_page(style), 0, view->rows);
    const struct row_part parts[SHOWN_PARTS] = {{view->top, end}};
    struct table_layout layout;
    table_layout_init(&layout, shown, false, parts, style);
    begin_line(out, 1);
    strbuf_puts(out, bold);
    table_add_names(out, &layout);
    strbuf_puts(out, plain);
    begin_line(out, 2);
    strbuf_puts(out, style->colour ? dim : "");
    table_add_types(out, &layout);
    strbuf_puts(out, plain);
    draw_rows(out, view, &layout, style);
    for (size_t k = 0; k < layout.count; k++) {
        if (numbers[k] == view->column)
            draw_cursor(out, view, &layout, k);
    }
    begin_line(out, style->height);
    add_cut_text(out, (struct text){status, strlen(status)}, style->width);
    const size_t fit = layout.count;
    table_layout_free(&layout);
    return fit;
}
