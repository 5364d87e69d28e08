#include "repl/print/fit_text.h"

#include "base/source.h"

#include <stdbool.h>
#include <string.h>

/* Length up to the next blank; `whole_quotes`: up to the next blank outside backquotes. */
static size_t word_length(const char *text, bool whole_quotes)
{
    bool quoted = false;
    size_t length = 0;
    while (text[length] && (text[length] != ' ' || quoted)) {
        quoted = quoted != (whole_quotes && text[length] == '`');
        length++;
    }
    return length;
}

static size_t next_word(const char *text, size_t room)
{
    const size_t length = word_length(text, true);
    return text_width(text, length) > room ? word_length(text, false) : length;
}

void word_wrap(struct strbuf *out, const char *text, size_t begin, size_t width)
{
    size_t at = begin;
    for (const char *word = text; *word;) {
        const size_t length = next_word(word, width > begin ? width - begin : 0);
        const size_t cells = text_width(word, length);
        const bool first = word == text;
        if (!first && width > 0 && at + 1 + cells > width) {
            strbuf_printf(out, "\n%*s", (int)begin, "");
            at = begin;
        } else if (!first) {
            strbuf_putc(out, ' ');
            at++;
        }
        strbuf_add_visible(out, word, length);
        at += cells;
        word += length + strspn(word + length, " ");
    }
}

void add_cut_text(struct strbuf *out, struct text text, size_t cells)
{
    const bool whole = text_prefix(text.at, text.length, cells) == text.length;
    const size_t length = whole ? text.length : text_prefix(text.at, text.length, cells > 0 ? cells - 1 : 0);
    strbuf_add_visible(out, text.at, length);
    strbuf_puts(out, whole ? "" : "…");
}
