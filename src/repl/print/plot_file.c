/* Plots as files: SVG written here, PNG by gnuplot. */
#include "repl/print/number_format.h"
#include "repl/print/plot.h"
#include "repl/print/time_label.h"

#include "engine/storage/atomic_writer.h"
#include "engine/values/calendar_edges.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACROSS = 800, DOWN = 500, LEFT = 100, RIGHT = 20, TOP = 20, BELOW = 60, TICKS = 6, MAX_TICKS = 24 };

struct ticks {
    double at[MAX_TICKS];
    int count;
    double step; /* about, between them */
};

/* Edges of calendar units. */
static void choose_times(struct ticks *ticks, enum logical kind, double least, double greatest)
{
    int64_t *edges, intervals = calendar_edges(kind, time_of_number(least), time_of_number(greatest), TICKS, &edges);
    ticks->step = (double)edges[1] - (double)edges[0];
    for (int64_t k = 0; k <= intervals && ticks->count < MAX_TICKS; k++) {
        if ((double)edges[k] >= least && (double)edges[k] <= greatest)
            ticks->at[ticks->count++] = (double)edges[k];
    }
    free(edges);
}

/* Round numbers. */
static void choose_numbers(struct ticks *ticks, double least, double greatest)
{
    const double span = greatest / TICKS - least / TICKS;
    if (!(span > 0) || !isfinite(span)) {
        *ticks = (struct ticks){.at = {least}, .count = 1, .step = least};
        return;
    }
    double step = pow(10, floor(log10(span)));
    const double part = span / step;
    step *= part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1;
    const double first = ceil(least / step);
    const int count = (int)(floor(greatest / step) - first) + 1;
    *ticks = (struct ticks){.count = count < MAX_TICKS ? count : MAX_TICKS, .step = step};
    for (int k = 0; k < ticks->count; k++)
        ticks->at[k] = (first + k) * step;
}

static struct ticks choose_ticks(struct logical_type type, double least, double greatest)
{
    struct ticks ticks = {.count = 0};
    if (logical_is_time(type))
        choose_times(&ticks, type.kind, least, greatest);
    else
        choose_numbers(&ticks, least, greatest);
    return ticks;
}

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

static void add_axes(struct strbuf *out, const struct plot *plot)
{
    const int right = LEFT + ACROSS, bottom = TOP + DOWN;
    strbuf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT,
                  TOP, ACROSS, DOWN);
    struct ticks ticks = choose_ticks(plot->x_type, plot->x_least, plot->x_greatest);
    for (int tick = 0; tick < ticks.count; tick++) {
        const double at = ticks.at[tick];
        const double x = LEFT + place_of(at, plot->x_least, plot->x_greatest, ACROSS);
        strbuf_printf(out, "<path d=\"M%.1f %dv6\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                      x, bottom, x, bottom + 22);
        add_tick(out, plot->x_type, at, ticks.step);
        strbuf_puts(out, "</text>\n");
    }
    ticks = choose_ticks(plot->y_type, plot->y_least, plot->y_greatest);
    for (int tick = 0; tick < ticks.count; tick++) {
        const double at = ticks.at[tick];
        const double y = bottom - place_of(at, plot->y_least, plot->y_greatest, DOWN);
        strbuf_printf(out, "<path d=\"M%d %.1fh-6\" stroke=\"#888\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                      LEFT, y, LEFT - 10, y + 4);
        add_tick(out, plot->y_type, at, ticks.step);
        strbuf_puts(out, "</text>\n");
    }
    strbuf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + right) / 2, bottom + 46);
    add_escaped(out, plot->x_name);
    strbuf_printf(out, "</text>\n<text x=\"%d\" y=\"%d\">", LEFT, TOP - 6);
    add_escaped(out, plot->y_name);
    strbuf_puts(out, "</text>\n");
}

static void add_shapes(struct strbuf *out, const struct plot *plot)
{
    const int bottom = TOP + DOWN;
    strbuf_puts(out, "<path fill=\"none\" stroke=\"#1f6fb4\" stroke-linejoin=\"round\" stroke-linecap=\"round\" "
                     "stroke-width=\"1.5\" d=\"");
    bool drawing = false;
    for (size_t x = 0; x < plot->width && !plot->points; x++) {
        if (plot->lowest[x] > plot->highest[x]) {
            drawing = false;
            continue;
        }
        strbuf_printf(out, "%s%d %dV%d", drawing ? "L" : "M", (int)x + LEFT, bottom - plot->lowest[x],
                      bottom - plot->highest[x]);
        drawing = true;
    }
    for (size_t y = 0; y < plot->height && plot->points; y++) {
        for (size_t x = 0; x < plot->width; x++) {
            if (plot->marks[y * plot->width + x])
                strbuf_printf(out, "M%d %dh0", (int)x + LEFT, bottom - (int)y);
        }
    }
    strbuf_puts(out, "\"/>\n");
}

static void add_svg(struct strbuf *out, const struct plot *plot)
{
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                  "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  LEFT + ACROSS + RIGHT, TOP + DOWN + BELOW);
    if (plot->empty) {
        strbuf_puts(out, "<text x=\"100\" y=\"100\">no finite numbers</text>\n");
    } else {
        add_axes(out, plot);
        add_shapes(out, plot);
    }
    strbuf_puts(out, "</svg>\n");
}

static double value_of(size_t pixel, double least, double greatest, size_t count)
{
    return least + (greatest - least) * (double)pixel / (double)(count - 1);
}

/* gnuplot escapes by backslash in double quotes. */
static void add_title(struct strbuf *out, const char *axis, const char *name)
{
    strbuf_printf(out, "set %slabel \"", axis);
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, name, strlen(name));
    for (const char *at = visible.text ? visible.text : ""; *at; at++) {
        strbuf_puts(out, strchr("\"\\", *at) ? "\\" : "");
        strbuf_putc(out, *at);
    }
    strbuf_puts(out, "\" noenhanced\n");
    strbuf_free(&visible);
}

/* gnuplot knows no dates of ours: their labels are written out. */
static void add_time_tics(struct strbuf *out, const char *axis, struct logical_type type, double least, double greatest)
{
    if (!logical_is_time(type))
        return;
    struct ticks ticks = choose_ticks(type, least, greatest);
    strbuf_printf(out, "set %stics (", axis);
    for (int tick = 0; tick < ticks.count; tick++) {
        strbuf_puts(out, tick > 0 ? ", \"" : "\"");
        add_time_label(out, type, ticks.at[tick], ticks.step);
        strbuf_printf(out, "\" %.17g", ticks.at[tick]);
    }
    strbuf_puts(out, ")\n");
}

static void add_script(struct strbuf *out, const struct plot *plot)
{
    strbuf_printf(out, "set terminal png size %d,%d\n", LEFT + ACROSS + RIGHT, TOP + DOWN + BELOW);
    add_title(out, "x", plot->x_name);
    add_title(out, "y", plot->y_name);
    add_time_tics(out, "x", plot->x_type, plot->x_least, plot->x_greatest);
    add_time_tics(out, "y", plot->y_type, plot->y_least, plot->y_greatest);
    strbuf_printf(out, "plot '-' with %s notitle\n", plot->points ? "dots" : "lines");
    for (size_t x = 0; x < plot->width; x++) {
        const double at = value_of(x, plot->x_least, plot->x_greatest, plot->width);
        for (size_t y = 0; y < plot->height && plot->points; y++) {
            if (plot->marks[y * plot->width + x])
                strbuf_printf(out, "%.17g %.17g\n", at, value_of(y, plot->y_least, plot->y_greatest, plot->height));
        }
        if (!plot->points && plot->lowest[x] > plot->highest[x]) {
            strbuf_puts(out, "\n");
        } else if (!plot->points) {
            const double low = value_of((size_t)plot->lowest[x], plot->y_least, plot->y_greatest, plot->height);
            const double high = value_of((size_t)plot->highest[x], plot->y_least, plot->y_greatest, plot->height);
            strbuf_printf(out, "%.17g %.17g\n%.17g %.17g\n", at, low, at, high);
        }
    }
    strbuf_puts(out, "e\n");
}

/* An anonymous file with this text; -1 on failure. */
static int open_text(const struct strbuf *text)
{
    const int file = memfd_create("plot", MFD_CLOEXEC);
    size_t done = 0;
    while (file >= 0 && done < text->length) {
        const ssize_t wrote = write(file, text->text + done, text->length - done);
        if (wrote < 0) {
            (void)close(file);
            return -1;
        }
        done += (size_t)wrote;
    }
    return file < 0 || lseek(file, 0, SEEK_SET) < 0 ? -1 : file;
}

/* Starts gnuplot on the script; *drawn is the read end of its output. Returns 0 or an errno. */
static int start_gnuplot(int script, int *drawn, pid_t *child)
{
    char name[] = "gnuplot";
    char *const arguments[] = {name, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawnp(child, name, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    *drawn = ends[0];
    if (error != 0)
        (void)close(ends[0]);
    return error;
}

/* Appends the output of gnuplot; false with an error. */
static bool run_gnuplot(const struct strbuf *script, struct strbuf *out, struct span span, struct diags *diags)
{
    enum { CHUNK = 65536 };
    int file = open_text(script), drawn = -1, exit_status = -1;
    pid_t child;
    const int error = file < 0 ? errno : start_gnuplot(file, &drawn, &child);
    if (file >= 0)
        (void)close(file);
    if (error != 0) {
        (void)diag_error(diags, span, "cannot start gnuplot, which draws .png files: %s", strerror(error));
        diag_hint(diags, "install gnuplot, or plot to a .svg file");
        return false;
    }
    ssize_t got;
    while ((got = read(drawn, strbuf_reserve(out, CHUNK), CHUNK)) > 0 || (got < 0 && errno == EINTR))
        strbuf_commit(out, got > 0 ? (size_t)got : 0);
    (void)close(drawn);
    while (waitpid(child, &exit_status, 0) < 0 && errno == EINTR) {
    }
    if (exit_status != 0 || out->length == 0) {
        (void)diag_error(diags, span, "gnuplot failed");
        diag_hint(diags, "plot to a .svg file");
        return false;
    }
    return true;
}

static enum status write_file(const struct strbuf *text, const struct name *path, struct diags *diags)
{
    struct writer writer;
    enum status status = writer_open(&writer, path->text, path->span, diags);
    if (status != STATUS_OK)
        return status;
    writer_add(&writer, text->text, text->length);
    status = writer_finish(&writer, path->span, diags);
    if (status == STATUS_OK)
        status = writer_publish(&writer, path->span, diags);
    writer_discard(&writer);
    return status;
}

static bool ends_in(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length >= tail && strcmp(path + length - tail, extension) == 0;
}

enum status plot_save(const struct relation *relation, const struct name *path, const atomic_int *cancel,
                      struct diags *diags)
{
    struct arena *arena = arena_new();
    struct plot plot;
    struct strbuf script = {0}, text = {0};
    enum status status = STATUS_OK;
    if (!plot_reduce(&plot, relation, ACROSS, DOWN, arena, cancel)) {
        status = STATUS_CANCELLED;
    } else if (ends_in(path->text, ".png")) {
        add_script(&script, &plot);
        status = run_gnuplot(&script, &text, path->span, diags) ? STATUS_OK : STATUS_FAILED;
    } else {
        add_svg(&text, &plot);
    }
    if (status == STATUS_OK)
        status = write_file(&text, path, diags);
    strbuf_free(&text);
    strbuf_free(&script);
    arena_free(arena);
    return status;
}
