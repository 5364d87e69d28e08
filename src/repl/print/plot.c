#include "repl/print/plot.h"

#include "repl/print/number_format.h"
#include "repl/print/time_label.h"

#include <math.h>
#include <string.h>

enum {
    CANCEL_CHECK_ROWS = 1 << 16,
    DOTS_ACROSS = 2, /* of a braille character */
    DOTS_DOWN = 4,
    DEFAULT_LINES = 20,
    MIN_LINES = 5,
    OTHER_LINES = 4, /* the query, the name, the scale, the next prompt */
    MIN_CELLS = 10,
    MAX_CELLS = 160,
    LABELS = 10 /* a tenth of an axis should show in its labels */
};

/* One point per row. */
struct points {
    const struct column *x, *y; /* x NULL: the row number */
    int64_t rows;
};

/* NaN if it is missing or text. */
static double number_at(const struct column *column, int64_t row)
{
    if (column_is_missing(column, row) || column->logical.kind == LOGICAL_TEXT)
        return NAN;
    if (type_table[column->store].kind == KIND_FLOAT)
        return column_get_float(column, row);
    const double integer = (double)column_get_int(column, row);
    return column->logical.kind == LOGICAL_DECIMAL ? integer / pow(10, column->logical.scale) : integer;
}

/* False if the point is not finite. */
static bool point_at(const struct points *points, int64_t row, double *x, double *y)
{
    *x = points->x ? number_at(points->x, row) : (double)row;
    *y = number_at(points->y, row);
    return isfinite(*x) && isfinite(*y);
}

static bool is_cancelled(int64_t row, const atomic_int *cancel)
{
    return row % CANCEL_CHECK_ROWS == 0 && cancel && *cancel;
}

/* Whether x increases from row to row: then its points are those of a line. */
static bool is_ordered(const struct points *points)
{
    double before = -INFINITY;
    for (int64_t row = 0; row < points->rows && points->x; row++) {
        const double x = number_at(points->x, row);
        if (!(x > before))
            return false;
        before = x;
    }
    return points->rows > 1;
}

static bool find_bounds(struct plot *plot, const struct points *points, const atomic_int *cancel)
{
    plot->empty = true;
    plot->x_least = plot->y_least = INFINITY;
    plot->x_greatest = plot->y_greatest = -INFINITY;
    for (int64_t row = 0; row < points->rows; row++) {
        double x, y;
        if (is_cancelled(row, cancel))
            return false;
        if (point_at(points, row, &x, &y)) {
            plot->empty = false;
            plot->x_least = x < plot->x_least ? x : plot->x_least;
            plot->x_greatest = x > plot->x_greatest ? x : plot->x_greatest;
            plot->y_least = y < plot->y_least ? y : plot->y_least;
            plot->y_greatest = y > plot->y_greatest ? y : plot->y_greatest;
        }
    }
    return true;
}

/* Maps a number between the bounds to one of `count` pixels. Halves avoid overflow of the difference. */
static int pixel_of(double number, double least, double greatest, size_t count)
{
    const double span = greatest / 2 - least / 2;
    const double part = span > 0 ? (number / 2 - least / 2) / span : 0.5;
    return (int)(part * (double)(count - 1) + 0.5);
}

static void add_stroke(struct plot *plot, int x, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    plot->lowest[x] = low < plot->lowest[x] ? low : plot->lowest[x];
    plot->highest[x] = high > plot->highest[x] ? high : plot->highest[x];
}

/* A straight line between two pixels. */
static void add_line(struct plot *plot, int x0, int y0, int x1, int y1)
{
    int before = y0;
    for (int x = x0 + 1; x <= x1; x++) {
        const int y = y0 + (int)lround((double)(y1 - y0) * (x - x0) / (x1 - x0));
        add_stroke(plot, x, before, y);
        before = y;
    }
}

static bool draw(struct plot *plot, const struct points *points, const atomic_int *cancel)
{
    int last_x = -1, last_y = 0;
    for (int64_t row = 0; row < points->rows; row++) {
        double x, y;
        if (is_cancelled(row, cancel))
            return false;
        if (!point_at(points, row, &x, &y)) {
            last_x = -1; /* the line has a gap */
            continue;
        }
        const int px = pixel_of(x, plot->x_least, plot->x_greatest, plot->width);
        const int py = pixel_of(y, plot->y_least, plot->y_greatest, plot->height);
        if (plot->points) {
            plot->marks[(size_t)py * plot->width + (size_t)px] = 1;
            continue;
        }
        if (last_x >= 0 && px > last_x)
            add_line(plot, last_x, last_y, px, py);
        add_stroke(plot, px, last_x == px ? last_y : py, py);
        last_x = px;
        last_y = py;
    }
    return true;
}

static bool is_whole(const struct column *column)
{
    return !column || (type_table[column->type].kind != KIND_FLOAT && column->logical.kind != LOGICAL_DECIMAL);
}

bool plot_reduce(struct plot *plot, const struct relation *relation, size_t width, size_t height, struct arena *arena,
                 const atomic_int *cancel)
{
    const bool two = relation->count == 2;
    const struct points points = {
        .x = two ? relation->columns[0] : NULL, .y = relation->columns[two ? 1 : 0], .rows = relation->rows};
    *plot = (struct plot){.x_name = two ? relation->names[0] : "row",
                          .y_name = relation->names[two ? 1 : 0],
                          .x_type = two ? points.x->logical : (struct logical_type){0},
                          .y_type = points.y->logical,
                          .width = width,
                          .height = height,
                          .points = two && !is_ordered(&points),
                          .whole_x = is_whole(points.x),
                          .whole_y = is_whole(points.y)};
    plot->lowest = arena_array(arena, width, sizeof *plot->lowest);
    plot->highest = arena_array(arena, width, sizeof *plot->highest);
    for (size_t x = 0; x < width; x++) {
        plot->lowest[x] = (int)height;
        plot->highest[x] = -1;
    }
    plot->marks = arena_array(arena, two ? width * height : 1, sizeof *plot->marks);
    return find_bounds(plot, &points, cancel) && (plot->empty || draw(plot, &points, cancel));
}

static bool is_set(const struct plot *plot, size_t x, size_t y)
{
    if (plot->points)
        return plot->marks[y * plot->width + x];
    return (int)y >= plot->lowest[x] && (int)y <= plot->highest[x];
}

/* U+2800 plus a bit for each dot; the top left dot is pixel (x, y). */
static void add_braille(struct strbuf *out, const struct plot *plot, size_t x, size_t y)
{
    static const unsigned char bits[DOTS_DOWN][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned dots = 0;
    for (size_t down = 0; down < DOTS_DOWN; down++) {
        for (size_t across = 0; across < DOTS_ACROSS; across++)
            dots |= is_set(plot, x + across, y - down) ? bits[down][across] : 0u;
    }
    if (dots == 0) {
        strbuf_putc(out, ' ');
        return;
    }
    strbuf_putc(out, (char)0xe2);
    strbuf_putc(out, (char)(0xa0 | dots >> 6));
    strbuf_putc(out, (char)(0x80 | (dots & 0x3f)));
}

/* Appends a coordinate; `step` is about how far apart labels are. */
static void add_label(struct strbuf *out, struct logical_type type, bool whole, double number, double step)
{
    if (logical_is_time(type)) {
        add_time_label(out, type, number, step);
        return;
    }
    struct strbuf text = {0};
    strbuf_printf(&text, whole && fabs(number) < 1e15 ? "%.0f" : "%.6g", number);
    number_format_group(out, text.text, text.length);
    strbuf_free(&text);
}

static void print_lines(struct strbuf *out, const struct plot *plot, size_t margin, const char *top, const char *bottom)
{
    const size_t lines = plot->height / DOTS_DOWN;
    for (size_t line = 0; line < lines; line++) {
        const char *label = line == 0 ? top : line + 1 == lines ? bottom : "";
        strbuf_add_spaces(out, margin - strlen(label));
        strbuf_puts(out, label);
        strbuf_puts(out, *label ? " ┤" : " │");
        const size_t begin = out->length;
        for (size_t x = 0; x < plot->width; x += DOTS_ACROSS)
            add_braille(out, plot, x, plot->height - 1 - line * DOTS_DOWN);
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
    add_label(&left, plot->x_type, plot->whole_x, plot->x_least, step);
    add_label(&right, plot->x_type, plot->whole_x, plot->x_greatest, step);
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

/* The width of the labels depends on the bounds, so a first reduction finds these. */
void plot_print(struct strbuf *out, const struct relation *relation, const struct print_style *style,
                const atomic_int *cancel)
{
    struct arena *arena = arena_new();
    struct plot plot;
    struct strbuf top = {0}, bottom = {0};
    size_t lines = style->terminal && style->height > OTHER_LINES + MIN_LINES ? style->height - OTHER_LINES : 0;
    lines = lines == 0 || lines > DEFAULT_LINES ? DEFAULT_LINES : lines;
    if (plot_reduce(&plot, relation, DOTS_ACROSS, DOTS_DOWN, arena, cancel) && !plot.empty) {
        const double step = (plot.y_greatest - plot.y_least) / LABELS;
        add_label(&top, plot.y_type, plot.whole_y, plot.y_greatest, step);
        add_label(&bottom, plot.y_type, plot.whole_y, plot.y_least, step);
        const size_t margin = top.length > bottom.length ? top.length : bottom.length;
        size_t cells = style->width > margin + 2 + MIN_CELLS ? style->width - margin - 2 : MIN_CELLS;
        cells = cells > MAX_CELLS ? MAX_CELLS : cells;
        if (plot_reduce(&plot, relation, cells * DOTS_ACROSS, lines * DOTS_DOWN, arena, cancel)) {
            strbuf_add_spaces(out, margin + 2);
            strbuf_add_visible(out, plot.y_name, strlen(plot.y_name));
            strbuf_putc(out, '\n');
            print_lines(out, &plot, margin, top.text, bottom.text);
            print_scale(out, &plot, margin);
        }
    } else if (plot.empty) {
        strbuf_puts(out, "nothing to draw: no finite numbers\n");
    }
    strbuf_free(&top);
    strbuf_free(&bottom);
    arena_free(arena);
}
