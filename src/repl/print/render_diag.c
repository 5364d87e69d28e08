#include "repl/print/render_diag.h"

#include "base/secret.h"
#include "base/utf8.h"

#include "repl/print/fit_text.h"

#include <stdio.h>
#include <string.h>

enum { MIN_WIDTH = 20 };

enum paint { PAINT_ERROR, PAINT_NOTE, PAINT_HINT, PAINT_GUTTER, PAINT_CARET, PAINT_BOLD };

static const char *const paints[] = {
    [PAINT_ERROR] = "\033[1;31m", [PAINT_NOTE] = "\033[1;36m",  [PAINT_HINT] = "\033[1;32m",
    [PAINT_GUTTER] = "\033[2m",   [PAINT_CARET] = "\033[1;31m", [PAINT_BOLD] = "\033[1m",
};

static void paint(struct strbuf *out, const struct render_style *style, enum paint which)
{
    if (style->colour)
        strbuf_puts(out, paints[which]);
}

static void unpaint(struct strbuf *out, const struct render_style *style)
{
    if (style->colour)
        strbuf_puts(out, "\033[0m");
}

/* A source line and the marked part, as byte offsets. */
struct excerpt {
    const char *text;
    size_t length;
    size_t mark_begin, mark_end;
    size_t from, to;       /* the part shown */
    bool cut_from, cut_to; /* text before or after it is omitted */
};

/* The end of the UTF-8 character at `at`; invalid bytes count as characters. */
static size_t next_character(const struct excerpt *line, size_t at)
{
    size_t end = at + 1;
    while (end < line->length && end < at + 4 && is_continuation(line->text[end]))
        end++;
    return end;
}

static size_t previous_character(const struct excerpt *line, size_t at)
{
    size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && is_continuation(line->text[begin]))
        begin--;
    return begin;
}

/* Moves right from `at` within `budget` cells; *used: the cells passed. */
static size_t walk_right(const struct excerpt *line, size_t at, size_t budget, size_t *used)
{
    *used = 0;
    while (at < line->length) {
        const size_t next = next_character(line, at);
        const size_t cells = text_width(line->text + at, next - at);
        if (*used + cells > budget)
            break;
        *used += cells;
        at = next;
    }
    return at;
}

static size_t walk_left(const struct excerpt *line, size_t at, size_t budget, size_t *used)
{
    *used = 0;
    while (at > 0) {
        const size_t previous = previous_character(line, at);
        const size_t cells = text_width(line->text + previous, at - previous);
        if (*used + cells > budget)
            break;
        *used += cells;
        at = previous;
    }
    return at;
}

/* Chooses the part around the mark that fits. Reads no more of the line than can be shown: it may be megabytes. */
static void choose_window(struct excerpt *line, size_t width)
{
    size_t left;
    size_t right;
    line->from = walk_left(line, line->mark_begin, width, &left);
    line->to = walk_right(line, line->mark_begin, width, &right);
    if (line->from > 0 || line->to < line->length || left + right > width) {
        /* Each side gets half, or more if the other needs less; 2 cells are for the ellipses. */
        const size_t room = width - 2;
        const size_t for_left = left <= room / 2 ? left : right <= room / 2 ? room - right : room / 2;
        line->from = walk_left(line, line->mark_begin, for_left, &left);
        line->to = walk_right(line, line->mark_begin, room - left, &right);
    }
    line->cut_from = line->from > 0;
    line->cut_to = line->to < line->length;
}

static void add_repeated(struct strbuf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_putc(out, c);
}

static void render_excerpt(struct strbuf *out, struct excerpt *line, size_t number, const struct render_style *style)
{
    char gutter[32];
    const int gutter_width = snprintf(gutter, sizeof gutter, "%4zu | ", number);
    const size_t width =
        style->width < MIN_WIDTH + (size_t)gutter_width ? MIN_WIDTH : style->width - (size_t)gutter_width;
    choose_window(line, width);

    paint(out, style, PAINT_GUTTER);
    strbuf_puts(out, gutter);
    unpaint(out, style);
    strbuf_puts(out, line->cut_from ? "…" : "");
    size_t before = line->cut_from ? 1 : 0;
    size_t marked = 0;
    for (size_t at = line->from; at < line->to;) {
        const size_t next = next_character(line, at);
        const size_t cells = text_width(line->text + at, next - at);
        if (at < line->mark_begin)
            before += cells;
        else if (at < line->mark_end)
            marked += cells;
        strbuf_add_visible(out, line->text + at, next - at);
        at = next;
    }
    strbuf_puts(out, line->cut_to ? "…\n" : "\n");

    paint(out, style, PAINT_GUTTER);
    strbuf_printf(out, "%*s | ", gutter_width - 3, "");
    unpaint(out, style);
    add_repeated(out, ' ', before);
    paint(out, style, PAINT_CARET);
    strbuf_putc(out, '^');
    add_repeated(out, '~', marked > 1 ? marked - 1 : 0);
    unpaint(out, style);
    strbuf_putc(out, '\n');
}

/* The line a span begins on with the span marked, as far as it is on that line. */
static void render_span(struct strbuf *out, struct span span, const struct render_style *style)
{
    struct place place = source_place(span.source, span.begin);
    const size_t line_begin = (size_t)(place.text - span.source->text);
    struct strbuf shown = {0};
    strbuf_add(&shown, place.text, place.length);
    secrets_mask(shown.text, shown.length, false);
    struct excerpt line = {.text = shown.text, .length = place.length};
    line.mark_begin = span.begin - line_begin < place.length ? span.begin - line_begin : place.length;
    line.mark_end = span.end - line_begin < place.length ? span.end - line_begin : place.length;
    render_excerpt(out, &line, place.line, style);
    strbuf_free(&shown);
}

static bool is_named(struct span span)
{
    return span.source && *span.source->name;
}

/* The text without the passwords of addresses. */
static struct strbuf masked(const char *text)
{
    struct strbuf shown = {0};
    strbuf_add(&shown, text, strlen(text));
    secrets_mask(shown.text, shown.length, true);
    return shown;
}

/* "query.rql:3:14: ", or nothing. */
static void render_place(struct strbuf *out, struct span span)
{
    if (is_named(span)) {
        struct place place = source_place(span.source, span.begin);
        strbuf_add_visible(out, span.source->name, strlen(span.source->name));
        strbuf_printf(out, ":%zu:%zu: ", place.line, place.column);
    }
}

/* `begins`: the message begins its line, and is wrapped on a terminal. */
static void render_message(struct strbuf *out, const char *kind, enum paint kind_paint, const char *message,
                           bool begins, const struct render_style *style)
{
    struct strbuf shown = masked(message);
    paint(out, style, kind_paint);
    strbuf_printf(out, "%s:", kind);
    unpaint(out, style);
    strbuf_putc(out, ' ');
    if (begins && style->fold)
        word_wrap(out, shown.text, strlen(kind) + strlen(": "), style->width);
    else
        strbuf_add_visible(out, shown.text, shown.length);
    strbuf_putc(out, '\n');
    strbuf_free(&shown);
}

static void render_hint(struct strbuf *out, const char *hint, const struct render_style *style)
{
    static const char title[] = "hint: ";
    if (!style->fold) {
        render_message(out, "hint", PAINT_HINT, hint, false, style);
        return;
    }
    paint(out, style, PAINT_HINT);
    strbuf_add(out, title, strlen(title) - 1);
    unpaint(out, style);
    strbuf_putc(out, ' ');
    struct strbuf shown = masked(hint);
    word_wrap(out, shown.text, strlen(title), style->width);
    strbuf_putc(out, '\n');
    strbuf_free(&shown);
}

void render_diag(struct strbuf *out, const struct diag *diag, const struct render_style *style)
{
    const bool error = diag->severity == SEVERITY_ERROR;
    paint(out, style, PAINT_BOLD);
    render_place(out, diag->span);
    unpaint(out, style);
    render_message(out, error ? "error" : "note", error ? PAINT_ERROR : PAINT_NOTE, diag->message,
                   !is_named(diag->span), style);
    if (diag->span.source)
        render_span(out, diag->span, style);
    if (diag->second.source) {
        render_place(out, diag->second);
        render_message(out, "note", PAINT_NOTE, diag->label ? diag->label : "here", !is_named(diag->second), style);
        render_span(out, diag->second, style);
    }
    if (diag->hint)
        render_hint(out, diag->hint, style);
}
