#include "repl/plot/bar_print.h"

#include "repl/print/bar.h"
#include "repl/print/fit_text.h"

#include <math.h>
#include <string.h>

enum { GAP = 2, NAME_CELLS = 24, SERIES_CELLS = 16, MIN_CELLS = 10, MAX_CELLS = 120, LABELS = 1000 };

/* Where bars begin and end, in cells. */
struct bar_scale {
    double least, greatest; /* of the values and 0 */
    size_t below, above;    /* cells of bars to the left and to the right of zero */
};

static size_t cells_of(const char *text, size_t most)
{
    const size_t cells = text_width(text, strlen(text));
    return cells < most ? cells : most;
}

static void add_padded(struct strbuf *out, const char *text, size_t width)
{
    add_cut_text(out, (struct text){text, strlen(text)}, width);
    strbuf_add_spaces(out, width - cells_of(text, width));
}

static void add_value(struct strbuf *out, const struct plot_data *data, size_t s, double number, double step)
{
    const struct column *values = data->series[s].values;
    const bool whole = type_table[values->type].kind != KIND_FLOAT && values->logical.kind != LOGICAL_DECIMAL;
    if (isnan(number))
        strbuf_puts(out, "missing");
    else
        plot_add_label(out, values->logical, whole, number, step);
}

static void add_bar(struct strbuf *out, const struct bar_scale *scale, double number)
{
    const double part = number < 0 ? number / scale->least : number / scale->greatest;
    const size_t cells = (size_t)(part * (double)scale->below + 0.5);
    if (number < 0) {
        strbuf_add_spaces(out, scale->below - cells);
        for (size_t k = 0; k < cells; k++)
            strbuf_puts(out, "█");
    } else if (number > 0 && isfinite(number)) {
        strbuf_add_spaces(out, scale->below);
        bar_add(out, part, scale->above);
    }
}

static struct bar_scale scale_of(const struct plot_data *data, size_t cells)
{
    struct bar_scale scale;
    plot_bar_bounds(data, &scale.least, &scale.greatest);
    const double span = scale.greatest - scale.least;
    scale.below = span > 0 ? (size_t)ceil(-scale.least / span * (double)cells) : 0;
    scale.above = cells - scale.below;
    return scale;
}

void bars_print(struct strbuf *out, const struct plot_data *data, const struct print_style *style)
{
    if (data->name_count == 0) {
        strbuf_puts(out, "nothing to draw: no rows\n");
        return;
    }
    struct strbuf text = {0};
    size_t name = 1, series = 0, widest = 1;
    const struct bar_scale bounds = scale_of(data, 0);
    const double step = (bounds.greatest - bounds.least) / LABELS;
    for (size_t n = 0; n < data->name_count; n++) {
        const size_t cells = cells_of(data->names[n], NAME_CELLS);
        name = cells > name ? cells : name;
    }
    for (size_t s = 0; s < data->series_count; s++) {
        const size_t cells = data->series_count > 1 ? cells_of(data->series[s].name, SERIES_CELLS) : 0;
        series = cells > series ? cells : series;
        for (size_t n = 0; n < data->name_count; n++) {
            strbuf_clear(&text);
            add_value(&text, data, s, data->bars[n * data->series_count + s], step);
            widest = text.length > widest ? text.length : widest;
        }
    }
    const size_t used = name + (series > 0 ? GAP + series : 0) + GAP + widest + GAP;
    size_t cells = style->width > used + MIN_CELLS ? style->width - used : MIN_CELLS;
    cells = cells > MAX_CELLS ? MAX_CELLS : cells;
    const struct bar_scale scale = scale_of(data, cells);
    for (size_t k = 0; k < data->name_count * data->series_count; k++) {
        const size_t n = k / data->series_count, s = k % data->series_count;
        add_padded(out, s == 0 ? data->names[n] : "", name);
        if (series > 0) {
            strbuf_add_spaces(out, GAP);
            add_padded(out, data->series[s].name, series);
        }
        strbuf_clear(&text);
        add_value(&text, data, s, data->bars[k], step);
        strbuf_add_spaces(out, GAP + widest - text.length);
        strbuf_add(out, text.text, text.length);
        strbuf_add_spaces(out, GAP);
        add_bar(out, &scale, data->bars[k]);
        while (out->length > 0 && out->text[out->length - 1] == ' ')
            out->length--;
        strbuf_putc(out, '\n');
    }
    strbuf_free(&text);
}
