/* PNG files are drawn by gnuplot, which gets what is drawn already reduced to pixels. */
#include "repl/plot/plot_file.h"

#include "repl/plot/time_label.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double value_of(size_t pixel, double least, double greatest, size_t count)
{
    return least + (greatest - least) * (double)pixel / (double)(count - 1);
}

/* gnuplot escapes by backslash in double quotes. */
static void add_quoted(struct strbuf *out, const char *text)
{
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, text, strlen(text));
    strbuf_putc(out, '"');
    for (const char *at = visible.text ? visible.text : ""; *at; at++) {
        strbuf_puts(out, strchr("\"\\", *at) ? "\\" : "");
        strbuf_putc(out, *at);
    }
    strbuf_putc(out, '"');
    strbuf_free(&visible);
}

static void add_title(struct strbuf *out, const char *axis, const char *name)
{
    strbuf_printf(out, "set %slabel ", axis);
    add_quoted(out, name);
    strbuf_puts(out, " noenhanced\n");
}

/* gnuplot knows no dates of ours: their labels are written out. */
static void add_time_tics(struct strbuf *out, const char *axis, struct logical_type type, double least, double greatest)
{
    if (!logical_is_time(type))
        return;
    struct ticks ticks = ticks_choose(type, least, greatest);
    strbuf_printf(out, "set %stics (", axis);
    for (int tick = 0; tick < ticks.count; tick++) {
        strbuf_puts(out, tick > 0 ? ", \"" : "\"");
        add_time_label(out, type, ticks.at[tick], ticks.step);
        strbuf_printf(out, "\" %.17g", ticks.at[tick]);
    }
    strbuf_puts(out, ")\n");
}

/* The points of series k, in the coordinates of the axes. */
static void add_shape(struct strbuf *out, const struct plot *plot, size_t k)
{
    const struct plot_shape *shape = &plot->shapes[k];
    for (size_t x = 0; x < plot->width; x++) {
        const double at = value_of(x, plot->x_least, plot->x_greatest, plot->width);
        for (size_t y = 0; y < plot->height && shape->points; y++) {
            if (shape->marks[y * plot->width + x])
                strbuf_printf(out, "%.17g %.17g\n", at, value_of(y, plot->y_least, plot->y_greatest, plot->height));
        }
        if (!shape->points && shape->lowest[x] > shape->highest[x]) {
            strbuf_puts(out, "\n");
        } else if (!shape->points) {
            const double low = value_of((size_t)shape->lowest[x], plot->y_least, plot->y_greatest, plot->height);
            const double high = value_of((size_t)shape->highest[x], plot->y_least, plot->y_greatest, plot->height);
            strbuf_printf(out, "%.17g %.17g\n%.17g %.17g\n", at, low, at, high);
        }
    }
    strbuf_puts(out, "e\n");
}

static void add_terminal(struct strbuf *out)
{
    strbuf_printf(out, "set terminal png size %d,%d\n", LEFT + ACROSS + RIGHT, TOP + DOWN + BELOW);
}

/* Appends the command that draws each series, its data following. `style` NULL: dots or lines. */
static void add_command(struct strbuf *out, const struct plot_data *data, const struct plot *plot, const char *style)
{
    for (size_t k = 0; k < data->series_count; k++) {
        strbuf_printf(out, "%s'-' with %s ", k > 0 ? ", " : "plot ",
                      style                    ? style
                      : plot->shapes[k].points ? "dots"
                                               : "lines");
        if (data->series_count < 2) {
            strbuf_puts(out, "notitle");
        } else {
            strbuf_puts(out, "title ");
            add_quoted(out, data->series[k].name);
            strbuf_puts(out, " noenhanced");
        }
    }
    strbuf_puts(out, "\n");
}

static void add_plot_script(struct strbuf *out, const struct plot *plot, const struct plot_data *data)
{
    add_terminal(out);
    add_title(out, "x", plot->x_name);
    add_title(out, "y", plot->y_name);
    add_time_tics(out, "x", plot->x_type, plot->x_least, plot->x_greatest);
    add_time_tics(out, "y", plot->y_type, plot->y_least, plot->y_greatest);
    add_command(out, data, plot, NULL);
    for (size_t k = 0; k < data->series_count; k++)
        add_shape(out, plot, k);
}

static void add_bar_script(struct strbuf *out, const struct plot_data *data)
{
    const double wide = 0.8 / (double)data->series_count;
    add_terminal(out);
    strbuf_printf(out, "set style fill solid\nset boxwidth %.6g\nset xrange [-0.5:%.1f]\nset xtics rotate noenhanced (",
                  wide, (double)data->name_count - 0.5);
    for (size_t n = 0; n < data->name_count; n++) {
        strbuf_puts(out, n > 0 ? ", " : "");
        add_quoted(out, data->names[n]);
        strbuf_printf(out, " %zu", n);
    }
    strbuf_puts(out, ")\n");
    add_command(out, data, NULL, "boxes");
    for (size_t s = 0; s < data->series_count; s++) {
        for (size_t n = 0; n < data->name_count; n++) {
            const double value = data->bars[n * data->series_count + s];
            if (isfinite(value))
                strbuf_printf(out, "%.6g %.17g\n", (double)n - 0.4 + wide * ((double)s + 0.5), value);
        }
        strbuf_puts(out, "e\n");
    }
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

bool png_add(struct strbuf *out, const struct plot *plot, const struct plot_data *data, struct span span,
             struct diags *diags)
{
    struct strbuf script = {0};
    if (plot)
        add_plot_script(&script, plot, data);
    else
        add_bar_script(&script, data);
    const bool drawn = run_gnuplot(&script, out, span, diags);
    strbuf_free(&script);
    return drawn;
}
