#include "repl/plot/plot_file.h"

#include "repl/plot/time_label.h"
#include "repl/print/fit_text.h"
#include "repl/print/number_format.h"

#include <math.h>
#include <string.h>

/* A palette that colour-blind people can tell apart (Okabe and Ito, Color Universal Design, 2008). */
static const char *const colours[PLOT_SERIES] = {"#1f6fb4", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#888888"};

static double place_of(double number, double least, double greatest, double size)
{
    const double span = greatest / 2 - least / 2;
    return span > 0 ? (number / 2 - least / 2) / span * size : size / 2;
}

static void add_tick(struct strbuf *out, struct logical_type type, double number, double step)
{
    if (logical_is_time(type)) {
        add_time_label(out, type, number, step);
        return;
    }
    struct strbuf text = {0};
    strbuf_printf(&text, fabs(number) >= 1e5 && fabs(number) < 1e12 ? "%.0f" : "%.6g", number + 0.0);
    number_format_group(out, text.text, text.length);
    strbuf_free(&text);
}

static void add_escaped(struct strbuf *out, const char *text)
{
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, text, strlen(text));
    for (const char *at = visible.text ? visible.text : ""; *at; at++) {
        if (*at == '<' || *at == '&')
            strbuf_puts(out, *at == '<' ? "&lt;" : "&amp;");
        else
            strbuf_putc(out, *at);
    }
    strbuf_free(&visible);
}

static void add_frame(struct strbuf *out)
{
    strbuf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT,
                  TOP, ACROSS, DOWN);
}

static void add_x_axis(struct strbuf *out, const struct plot *plot)
{
    const int bottom = TOP + DOWN;
    const struct ticks ticks = ticks_choose(plot->x_type, plot->x_least, plot->x_greatest);
    for (int tick = 0; tick < ticks.count; tick++) {
        const double at = ticks.at[tick];
        const double x = LEFT + place_of(at, plot->x_least, plot->x_greatest, ACROSS);
        strbuf_printf(out, "<path d=\"M%.1f %dv6\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                      x, bottom, x, bottom + 22);
        add_tick(out, plot->x_type, at, ticks.step);
        strbuf_puts(out, "</text>\n");
    }
}

static void add_y_axis(struct strbuf *out, struct logical_type type, double least, double greatest)
{
    const int bottom = TOP + DOWN;
    const struct ticks ticks = ticks_choose(type, least, greatest);
    for (int tick = 0; tick < ticks.count; tick++) {
        const double at = ticks.at[tick];
        const double y = bottom - place_of(at, least, greatest, DOWN);
        strbuf_printf(out, "<path d=\"M%d %.1fh-6\" stroke=\"#888\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                      LEFT, y, LEFT - 10, y + 4);
        add_tick(out, type, at, ticks.step);
        strbuf_puts(out, "</text>\n");
    }
}

/* The names of the axes. */
static void add_titles(struct strbuf *out, const char *x_name, const char *y_name)
{
    strbuf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", LEFT + ACROSS / 2, TOP + DOWN + 46);
    add_escaped(out, x_name);
    strbuf_printf(out, "</text>\n<text x=\"%d\" y=\"%d\">", LEFT, TOP - 6);
    add_escaped(out, y_name);
    strbuf_puts(out, "</text>\n");
}

/* The names of several series in their colours, at the right above the frame. */
static void add_legend(struct strbuf *out, const struct plot_data *data)
{
    if (data->series_count < 2)
        return;
    strbuf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT + ACROSS, TOP - 6);
    for (size_t k = 0; k < data->series_count; k++) {
        strbuf_printf(out, "<tspan dx=\"14\" fill=\"%s\">■</tspan><tspan dx=\"4\">", colours[k]);
        add_escaped(out, data->series[k].name);
        strbuf_puts(out, "</tspan>");
    }
    strbuf_puts(out, "</text>\n");
}

static void add_shape(struct strbuf *out, const struct plot *plot, size_t k)
{
    const struct plot_shape *shape = &plot->shapes[k];
    const int bottom = TOP + DOWN;
    strbuf_printf(out,
                  "<path fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\" stroke-linecap=\"round\" "
                  "stroke-width=\"1.5\" d=\"",
                  colours[k]);
    bool drawing = false;
    for (size_t x = 0; x < plot->width && !shape->points; x++) {
        if (shape->lowest[x] > shape->highest[x]) {
            drawing = false;
            continue;
        }
        strbuf_printf(out, "%s%d %dV%d", drawing ? "L" : "M", (int)x + LEFT, bottom - shape->lowest[x],
                      bottom - shape->highest[x]);
        drawing = true;
    }
    for (size_t y = 0; y < plot->height && shape->points; y++) {
        for (size_t x = 0; x < plot->width; x++) {
            if (shape->marks[y * plot->width + x])
                strbuf_printf(out, "M%d %dh0", (int)x + LEFT, bottom - (int)y);
        }
    }
    strbuf_puts(out, "\"/>\n");
}

static void begin_svg(struct strbuf *out, int below)
{
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                  "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  LEFT + ACROSS + RIGHT, TOP + DOWN + below);
}

void svg_add_plot(struct strbuf *out, const struct plot *plot, const struct plot_data *data)
{
    begin_svg(out, BELOW);
    if (plot->empty) {
        strbuf_puts(out, "<text x=\"100\" y=\"100\">no finite numbers</text>\n");
    } else {
        add_frame(out);
        add_x_axis(out, plot);
        add_y_axis(out, plot->y_type, plot->y_least, plot->y_greatest);
        add_titles(out, plot->x_name, plot->y_name);
        add_legend(out, data);
        for (size_t k = 0; k < data->series_count; k++)
            add_shape(out, plot, k);
    }
    strbuf_puts(out, "</svg>\n");
}

/* More names than this stand upright. */
enum { MOST_LEVEL = 12, BELOW_UPRIGHT = 170, NAME_CELLS = 24 };

/* Names below the bars; many of them stand upright, and only as many as there is room for. */
static void add_bar_names(struct strbuf *out, const struct plot_data *data)
{
    enum { LINE = 14, HALF = 4 };
    const double step = (double)ACROSS / (double)data->name_count;
    const size_t every = 1 + (size_t)(LINE / step);
    for (size_t n = 0; n < data->name_count; n += every) {
        const double x = LEFT + step * ((double)n + 0.5);
        const int y = TOP + DOWN + LINE;
        if (data->name_count > MOST_LEVEL)
            strbuf_printf(out,
                          "<text font-size=\"11\" text-anchor=\"end\" transform=\"translate(%.1f,%d) rotate(-60)\">",
                          x + HALF, y - HALF);
        else
            strbuf_printf(out, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">", x, y + 2 * HALF);
        struct strbuf name = {0};
        add_cut_text(&name, (struct text){data->names[n], strlen(data->names[n])}, NAME_CELLS);
        add_escaped(out, name.text ? name.text : "");
        strbuf_free(&name);
        strbuf_puts(out, "</text>\n");
    }
}

void svg_add_bars(struct strbuf *out, const struct plot_data *data)
{
    double least, greatest;
    plot_bar_bounds(data, &least, &greatest);
    const bool upright = data->name_count > MOST_LEVEL;
    begin_svg(out, upright ? BELOW_UPRIGHT : BELOW);
    add_frame(out);
    add_y_axis(out, data->series[0].values->logical, least, greatest);
    add_titles(out, upright ? "" : data->relation->names[data->columns.x],
               data->series_count > 1 ? "" : data->series[0].name);
    add_legend(out, data);
    add_bar_names(out, data);
    const double step = (double)ACROSS / (double)(data->name_count > 0 ? data->name_count : 1),
                 wide = 0.8 * step / (double)data->series_count;
    const double zero = TOP + DOWN - place_of(0, least, greatest, DOWN);
    for (size_t k = 0; k < data->name_count * data->series_count; k++) {
        const size_t n = k / data->series_count, s = k % data->series_count;
        if (!isfinite(data->bars[k]))
            continue;
        const double end = TOP + DOWN - place_of(data->bars[k], least, greatest, DOWN);
        strbuf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                      LEFT + step * ((double)n + 0.1) + wide * (double)s, end < zero ? end : zero, wide,
                      fabs(end - zero), colours[s]);
    }
    strbuf_puts(out, "</svg>\n");
}
