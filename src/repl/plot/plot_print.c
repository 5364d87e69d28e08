#include "repl/plot/plot.h"

#include "repl/plot/bar_print.h"
#include "repl/plot/plot_data.h"

#include <string.h>

enum {
    DOTS_ACROSS = 2, /* of a braille character */
    DOTS_DOWN = 4,
    DEFAULT_LINES = 20,
    MIN_LINES = 5,
    OTHER_LINES = 4, /* the query, the names, the scale, the next prompt */
    MIN_CELLS = 10,
    MAX_CELLS = 160,
    LABELS = 10 /* a tenth of an axis should show in its labels */
};

/* The colours of series on a terminal: readable on light and on dark backgrounds. */
static const char *const escapes[PLOT_SERIES] = {"\033[34m", "\033[31m", "\033[32m", "\033[35m",
                                                 "\033[36m", "\033[33m", "\033[1m",  "\033[2m"};

/* How several series are told apart. */
struct marking {
    size_t series_count;
    bool colour; /* else each cell has the letter of a series */
};

/* U+2800 plus a bit for each dot that series k has; the top left dot is pixel (x, y). */
static unsigned dots_of(const struct plot *plot, size_t k, size_t x, size_t y)
{
    static const unsigned char bits[DOTS_DOWN][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned dots = 0;
    for (size_t down = 0; down < DOTS_DOWN; down++) {
        for (size_t across = 0; across < DOTS_ACROSS; across++)
            dots |= plot_shape_has(plot, k, x + across, y - down) ? bits[down][across] : 0u;
    }
    return dots;
}

static void add_braille(struct strbuf *out, unsigned dots)
{
    strbuf_putc(out, (char)0xe2);
    strbuf_putc(out, (char)(0xa0 | dots >> 6));
    strbuf_putc(out, (char)(0x80 | (dots & 0x3f)));
}

/* Where several series share a cell, the last one determines its colour or letter. */
static void add_cell(struct strbuf *out, const struct plot *plot, const struct marking *marking, size_t x, size_t y)
{
    unsigned dots = 0;
    size_t top = 0;
    for (size_t k = 0; k < marking->series_count; k++) {
        const unsigned own = dots_of(plot, k, x, y);
        dots |= own;
        top = own ? k : top;
    }
    const bool several = marking->series_count > 1;
    if (dots == 0) {
        strbuf_putc(out, ' ');
    } else if (several && !marking->colour) {
        strbuf_putc(out, (char)('a' + top));
    } else {
        strbuf_puts(out, several ? escapes[top] : "");
        add_braille(out, dots);
        strbuf_puts(out, several ? "\033[0m" : "");
    }
}

static void print_lines(struct strbuf *out, const struct plot *plot, const struct marking *marking, size_t margin,
                        const char *top, const char *bottom)
{
    const size_t lines = plot->height / DOTS_DOWN;
    for (size_t line = 0; line < lines; line++) {
        const char *label = line == 0 ? top : line + 1 == lines ? bottom : "";
        strbuf_add_spaces(out, margin - strlen(label));
        strbuf_puts(out, label);
        strbuf_puts(out, *label ? " ┤" : " │");
        const size_t begin = out->length;
        for (size_t x = 0; x < plot->width; x += DOTS_ACROSS)
            add_cell(out, plot, marking, x, plot->height - 1 - line * DOTS_DOWN);
        while (out->length > begin && out->text[out->length - 1] == ' ')
            out->length--;
        strbuf_putc(out, '\n');
    }
}

static void print_scale(struct strbuf *out, const struct plot *plot, size_t margin)
{
    struct strbuf left = {0}, right = {0};
    const size_t cells = plot->width / DOTS_ACROSS;
    strbuf_add_spaces(out, margin + 1);
    strbuf_puts(out, "└");
    for (size_t cell = 0; cell < cells; cell++)
        strbuf_puts(out, "─");
    strbuf_putc(out, '\n');
    const double step = (plot->x_greatest - plot->x_least) / LABELS;
    plot_add_label(&left, plot->x_type, plot->whole_x, plot->x_least, step);
    plot_add_label(&right, plot->x_type, plot->whole_x, plot->x_greatest, step);
    strbuf_add_spaces(out, margin + 2);
    strbuf_add(out, left.text, left.length);
    const size_t name = text_width(plot->x_name, strlen(plot->x_name));
    const size_t used = left.length + right.length;
    const bool named = used + name + 4 <= cells;
    const size_t space = cells > used + (named ? name : 0) ? cells - used - (named ? name : 0) : 1;
    strbuf_add_spaces(out, named ? space / 2 : space);
    if (named) {
        strbuf_add_visible(out, plot->x_name, strlen(plot->x_name));
        strbuf_add_spaces(out, space - space / 2);
    }
    strbuf_add(out, right.text, right.length);
    strbuf_putc(out, '\n');
    strbuf_free(&left);
    strbuf_free(&right);
}

/* The name of y, or of each series what it is drawn in. */
static void print_names(struct strbuf *out, const struct plot *plot, const struct plot_data *data,
                        const struct marking *marking, size_t margin)
{
    strbuf_add_spaces(out, margin + 2);
    strbuf_add_visible(out, plot->y_name, strlen(plot->y_name));
    for (size_t k = 0; k < data->series_count && data->series_count > 1; k++) {
        strbuf_puts(out, k > 0 || *plot->y_name ? "   " : "");
        if (marking->colour)
            strbuf_printf(out, "%s■\033[0m ", escapes[k]);
        else
            strbuf_printf(out, "%c ", (char)('a' + k));
        strbuf_add_visible(out, data->series[k].name, strlen(data->series[k].name));
    }
    strbuf_putc(out, '\n');
}

/* The width of the labels depends on the bounds, so a first reduction finds these. */
static void print_plot(struct strbuf *out, const struct plot_data *data, const struct print_style *style,
                       struct arena *arena, const atomic_int *cancel)
{
    struct plot plot;
    struct strbuf top = {0}, bottom = {0};
    const struct marking marking = {data->series_count, style->colour};
    size_t lines = style->terminal && style->height > OTHER_LINES + MIN_LINES ? style->height - OTHER_LINES : 0;
    lines = lines == 0 || lines > DEFAULT_LINES ? DEFAULT_LINES : lines;
    if (plot_reduce(&plot, data, DOTS_ACROSS, DOTS_DOWN, arena, cancel) && !plot.empty) {
        const double step = (plot.y_greatest - plot.y_least) / LABELS;
        plot_add_label(&top, plot.y_type, plot.whole_y, plot.y_greatest, step);
        plot_add_label(&bottom, plot.y_type, plot.whole_y, plot.y_least, step);
        const size_t margin = top.length > bottom.length ? top.length : bottom.length;
        size_t cells = style->width > margin + 2 + MIN_CELLS ? style->width - margin - 2 : MIN_CELLS;
        cells = cells > MAX_CELLS ? MAX_CELLS : cells;
        if (plot_reduce(&plot, data, cells * DOTS_ACROSS, lines * DOTS_DOWN, arena, cancel)) {
            print_names(out, &plot, data, &marking, margin);
            print_lines(out, &plot, &marking, margin, top.text, bottom.text);
            print_scale(out, &plot, margin);
        }
    } else if (plot.empty) {
        strbuf_puts(out, "nothing to draw: no finite numbers\n");
    }
    strbuf_free(&top);
    strbuf_free(&bottom);
}

void plot_print(struct strbuf *out, const struct relation *relation, const struct print_style *style,
                const atomic_int *cancel)
{
    struct arena *arena = arena_new();
    struct plot_data data;
    if (plot_data_init(&data, relation, arena) == PLOT_DATA_FINE) {
        if (data.columns.bars)
            bars_print(out, &data, style);
        else
            print_plot(out, &data, style, arena, cancel);
    }
    arena_free(arena);
}

static const char *name_of(const struct plot_data *data, int column)
{
    return data->relation->names[column];
}

enum status plot_check(const struct relation *relation, struct span span, struct diags *diags)
{
    struct plot_data data;
    switch (plot_data_init(&data, relation, diags->arena)) {
    case PLOT_DATA_FINE:
        return STATUS_OK;
    case PLOT_DATA_COLUMNS:
        (void)diag_error(diags, span,
                         "`plot` needs columns of numbers: alone, after x, or after a text that names bars");
        break;
    case PLOT_DATA_MANY_SERIES:
        (void)diag_error(diags, span, "`plot` tells at most %d series apart, but `%s` has more texts", PLOT_SERIES,
                         name_of(&data, data.columns.key));
        diag_hint(diags, "choose some of them: `| select %s in [\"%s\", \"%s\"] | plot`",
                  name_of(&data, data.columns.key), data.series[0].name, data.series[1].name);
        break;
    case PLOT_DATA_MANY_BARS:
        (void)diag_error(diags, span, "`plot` draws at most %d bars", PLOT_BARS);
        diag_hint(diags, "choose some: `| top 20 by %s | plot`", name_of(&data, data.columns.values[0]));
        break;
    case PLOT_DATA_REPEATED:
        (void)diag_error(diags, span, "`%s` and `%s` are alike in several rows, but a bar has one value",
                         name_of(&data, data.columns.x), name_of(&data, data.columns.key));
        diag_hint(diags, "make one row of them: `| group %s, %s: sum(%s) | plot`", name_of(&data, data.columns.x),
                  name_of(&data, data.columns.key), name_of(&data, data.columns.values[0]));
        break;
    }
    return STATUS_FAILED;
}
