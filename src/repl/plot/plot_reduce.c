#include "repl/plot/plot_data.h"

#include "repl/plot/time_label.h"
#include "repl/print/number_format.h"

#include <math.h>

enum { CANCEL_CHECK_ROWS = 1 << 16 };

/* One point for each row of a series. */
struct points {
    const struct plot_data *data;
    const struct plot_series *series;
    const struct column *x; /* NULL: the row number */
    int64_t count;
};

static struct points points_of(const struct plot_data *data, size_t k)
{
    const struct plot_series *series = &data->series[k];
    const int x = data->columns.x;
    return (struct points){data, series, x < 0 ? NULL : data->relation->columns[x], plot_series_rows(data, series)};
}

static double x_at(const struct points *points, int64_t i)
{
    const int64_t row = plot_series_row(points->series, i);
    return points->x ? plot_number(points->x, row) : (double)row;
}

/* False if the point is not finite. */
static bool point_at(const struct points *points, int64_t i, double *x, double *y)
{
    *x = x_at(points, i);
    *y = plot_number(points->series->values, plot_series_row(points->series, i));
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
    for (int64_t i = 0; i < points->count && points->x; i++) {
        const double x = x_at(points, i);
        if (!(x > before))
            return false;
        before = x;
    }
    return points->count > 1 || !points->x;
}

static bool find_bounds(struct plot *plot, const struct points *points, const atomic_int *cancel)
{
    for (int64_t i = 0; i < points->count; i++) {
        double x, y;
        if (is_cancelled(i, cancel))
            return false;
        if (point_at(points, i, &x, &y)) {
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

static void add_stroke(struct plot_shape *shape, int x, int from, int to)
{
    const int low = from < to ? from : to, high = from < to ? to : from;
    shape->lowest[x] = low < shape->lowest[x] ? low : shape->lowest[x];
    shape->highest[x] = high > shape->highest[x] ? high : shape->highest[x];
}

/* A straight line between two pixels. */
static void add_line(struct plot_shape *shape, int x0, int y0, int x1, int y1)
{
    int before = y0;
    for (int x = x0 + 1; x <= x1; x++) {
        const int y = y0 + (int)lround((double)(y1 - y0) * (x - x0) / (x1 - x0));
        add_stroke(shape, x, before, y);
        before = y;
    }
}

static bool draw(const struct plot *plot, struct plot_shape *shape, const struct points *points,
                 const atomic_int *cancel)
{
    int last_x = -1, last_y = 0;
    for (int64_t i = 0; i < points->count; i++) {
        double x, y;
        if (is_cancelled(i, cancel))
            return false;
        if (!point_at(points, i, &x, &y)) {
            last_x = -1; /* the line has a gap */
            continue;
        }
        const int px = pixel_of(x, plot->x_least, plot->x_greatest, plot->width);
        const int py = pixel_of(y, plot->y_least, plot->y_greatest, plot->height);
        if (shape->points) {
            shape->marks[(size_t)py * plot->width + (size_t)px] = 1;
            continue;
        }
        if (last_x >= 0 && px > last_x)
            add_line(shape, last_x, last_y, px, py);
        add_stroke(shape, px, last_x == px ? last_y : py, py);
        last_x = px;
        last_y = py;
    }
    return true;
}

static bool is_whole(const struct column *column)
{
    return !column || (type_table[column->type].kind != KIND_FLOAT && column->logical.kind != LOGICAL_DECIMAL);
}

static struct plot_shape shape_new(const struct points *points, size_t width, size_t height, struct arena *arena)
{
    struct plot_shape shape = {.points = !is_ordered(points)};
    shape.lowest = arena_array(arena, width, sizeof *shape.lowest);
    shape.highest = arena_array(arena, width, sizeof *shape.highest);
    for (size_t x = 0; x < width; x++) {
        shape.lowest[x] = (int)height;
        shape.highest[x] = -1;
    }
    shape.marks = arena_array(arena, shape.points ? width * height : 1, sizeof *shape.marks);
    return shape;
}

bool plot_reduce(struct plot *plot, const struct plot_data *data, size_t width, size_t height, struct arena *arena,
                 const atomic_int *cancel)
{
    const struct column *x = data->columns.x < 0 ? NULL : data->relation->columns[data->columns.x];
    *plot = (struct plot){.x_name = x ? data->relation->names[data->columns.x] : "row",
                          .y_name = data->series_count == 1 || data->columns.key >= 0
                                        ? data->relation->names[data->columns.values[0]]
                                        : "",
                          .x_type = x ? x->logical : (struct logical_type){0},
                          .y_type = data->series[0].values->logical,
                          .width = width,
                          .height = height,
                          .empty = true,
                          .x_least = INFINITY,
                          .x_greatest = -INFINITY,
                          .y_least = INFINITY,
                          .y_greatest = -INFINITY,
                          .whole_x = is_whole(x),
                          .whole_y = true};
    bool going = true;
    for (size_t k = 0; k < data->series_count && going; k++) {
        const struct points points = points_of(data, k);
        plot->whole_y = plot->whole_y && is_whole(points.series->values);
        going = find_bounds(plot, &points, cancel);
    }
    for (size_t k = 0; k < data->series_count && going && !plot->empty; k++) {
        const struct points points = points_of(data, k);
        plot->shapes[k] = shape_new(&points, width, height, arena);
        going = draw(plot, &plot->shapes[k], &points, cancel);
    }
    return going;
}

bool plot_shape_has(const struct plot *plot, size_t k, size_t x, size_t y)
{
    const struct plot_shape *shape = &plot->shapes[k];
    if (shape->points)
        return shape->marks[y * plot->width + x];
    return (int)y >= shape->lowest[x] && (int)y <= shape->highest[x];
}

void plot_add_label(struct strbuf *out, struct logical_type type, bool whole, double number, double step)
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
