#include "repl/session/progress_bar.h"

#include "repl/print/bar.h"
#include "repl/print/number_format.h"

#include "base/buffer_pool.h"
#include "base/source.h"
#include "base/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DELAY_NS = 500000000, REDRAW_NS = 100000000, BAR_CELLS = 20, DEFAULT_WIDTH = 80 };

#define ERASE_LINE "\r\033[K"

/* Nothing where it would read as 0. */
static void add_time(struct strbuf *out, double seconds)
{
    if (seconds < 0.05)
        return;
    if (seconds < 99.5)
        strbuf_printf(out, seconds < 9.95 ? "%.1f s left" : "%.0f s left", seconds);
    else
        strbuf_printf(out, "%.0f min left", seconds / 60);
}

/* Appends the piece to the line if it fits. */
static void add_piece(struct strbuf *line, struct strbuf *piece, size_t width)
{
    const size_t cells = text_width(line->text, line->length) + 2 + text_width(piece->text, piece->length);
    if (cells <= width) {
        strbuf_puts(line, "  ");
        strbuf_add(line, piece->text, piece->length);
    }
    strbuf_clear(piece);
}

/* Rounds of a loop, whose number may not be known. */
static void add_rounds(struct strbuf *line, const struct progress_step *advance, double seconds, size_t width)
{
    struct strbuf piece = {0};
    strbuf_puts(&piece, "round ");
    number_format_group_int(&piece, advance->rounds);
    if (advance->rows > 0) {
        strbuf_puts(&piece, " of ");
        number_format_group_int(&piece, advance->rows);
    }
    add_piece(line, &piece, width);
    number_format_short(&piece, seconds > 0 ? (double)advance->rounds / seconds : 0);
    strbuf_puts(&piece, " rounds/s");
    add_piece(line, &piece, width);
    strbuf_free(&piece);
}

void progress_bar_line(struct strbuf *out, const struct progress_bar *bar, const struct progress_step *advance,
                       int64_t now, size_t width)
{
    struct strbuf line = {0};
    struct strbuf piece = {0};
    const double seconds = (double)(now - bar->pass_began) / 1e9, since = (double)(now - bar->began) / 1e9;
    strbuf_printf(&line, "%3.0f %% ", floor(bar->whole * 100));
    if (width >= (size_t)2 * BAR_CELLS) {
        struct strbuf cells = {0};
        bar_add(&cells, bar->whole, BAR_CELLS);
        strbuf_add(&line, cells.text, cells.length);
        for (size_t count = text_width(cells.text, cells.length); count < BAR_CELLS; count++)
            strbuf_puts(&line, "░");
        strbuf_free(&cells);
    }
    if (bar->whole > 0 && since > 0)
        add_time(&piece, since / bar->whole * (1 - bar->whole));
    if (piece.length > 0)
        add_piece(&line, &piece, width);
    strbuf_add_visible(&piece, advance->what, strlen(advance->what));
    if (bar->passes > 1)
        strbuf_printf(&piece, ", pass %d", bar->passes);
    add_piece(&line, &piece, width);
    if (advance->rounds > 0) {
        add_rounds(&line, advance, seconds, width);
    } else if (advance->rows > 0) {
        const double rows = advance->part * (double)advance->rows;
        number_format_short(&piece, rows);
        strbuf_puts(&piece, " of ");
        number_format_short(&piece, (double)advance->rows);
        strbuf_puts(&piece, " rows");
        add_piece(&line, &piece, width);
        number_format_short(&piece, seconds > 0 ? rows / seconds : 0);
        strbuf_puts(&piece, " rows/s");
        add_piece(&line, &piece, width);
    }
    if (advance->bytes > 0 && seconds > 0) {
        const double bytes = advance->part * (double)advance->bytes;
        if (advance->received) {
            strbuf_printf(&piece, "%.1f of %.1f MB", bytes / 1e6, (double)advance->bytes / 1e6);
            add_piece(&line, &piece, width);
            strbuf_printf(&piece, "%.1f MB/s", bytes / 1e6 / seconds);
        } else {
            strbuf_printf(&piece, "%.2f GB/s", bytes / 1e9 / seconds);
        }
        add_piece(&line, &piece, width);
    }
    if (buffer_pool_spilled(bar->pool) > 0) {
        strbuf_printf(&piece, "%.1f GB on disk", (double)buffer_pool_spilled(bar->pool) / 1e9);
        add_piece(&line, &piece, width);
    }
    strbuf_add(out, line.text, line.length);
    strbuf_free(&piece);
    strbuf_free(&line);
}

static size_t line_cells(int fd)
{
    struct winsize size;
    const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known ? size.ws_col : DEFAULT_WIDTH) - 1U; /* a full line may wrap */
}

/* Failures do not matter. */
static void put(const struct progress_bar *bar, const struct strbuf *text)
{
    const ssize_t wrote = write(bar->fd, text->text, text->length);
    (void)wrote;
}

/* The part of what is left of the statement that the pass now beginning may take. Of passes whose number is not known
 * there may always be one more. */
static double share_of_pass(const struct progress_bar *bar, const struct progress_step *advance)
{
    const int left = advance->passes - bar->passes + 1; /* of this step, with this pass */
    const bool sure = advance->passes == 1 && left == 1;
    return 1.0 / ((left > 1 ? left : 1) + bar->base.later + (sure ? 0 : 1));
}

void progress_bar_note(struct progress_bar *bar, const struct progress_step *advance, int64_t now)
{
    const bool same = strncmp(bar->what, advance->what, sizeof bar->what - 1) == 0;
    if (!same || advance->part < bar->part) {
        bar->passes = same ? bar->passes + 1 : 1;
        bar->pass_began = same || *bar->what ? now : bar->began;
        bar->done = bar->whole;
        bar->share = share_of_pass(bar, advance);
        (void)snprintf(bar->what, sizeof bar->what, "%s", advance->what);
    }
    bar->part = advance->part;
    const double whole = bar->done + (1 - bar->done) * bar->share * bar->part;
    bar->whole = whole > bar->whole ? whole : bar->whole;
}

static void report(struct progress *progress, const struct progress_step *advance)
{
    struct progress_bar *bar = (struct progress_bar *)progress;
    const int64_t now = now_ns();
    progress_bar_note(bar, advance, now);
    if (now - bar->began < DELAY_NS || now - bar->shown < REDRAW_NS)
        return;
    struct strbuf text = {0};
    strbuf_puts(&text, ERASE_LINE);
    progress_bar_line(&text, bar, advance, now, line_cells(bar->fd));
    put(bar, &text);
    strbuf_free(&text);
    bar->shown = now;
    bar->visible = true;
}

void progress_bar_start(struct progress_bar *bar, int fd)
{
    *bar = (struct progress_bar){.base = {report, 0}, .fd = fd, .began = now_ns(), .passes = 1};
    bar->pass_began = bar->began;
}

void progress_bar_stop(struct progress_bar *bar)
{
    if (bar->visible) {
        struct strbuf text = {0};
        strbuf_puts(&text, ERASE_LINE);
        put(bar, &text);
        strbuf_free(&text);
        bar->visible = false;
    }
}
