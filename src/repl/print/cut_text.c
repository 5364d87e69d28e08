#include "repl/print/cut_text.h"

#include "base/source.h"

void add_cut_text(struct strbuf *out, struct text text, size_t cells)
{
    const bool whole = text_prefix(text.at, text.length, cells) == text.length;
    const size_t length = whole ? text.length : text_prefix(text.at, text.length, cells > 0 ? cells - 1 : 0);
    strbuf_add_visible(out, text.at, length);
    strbuf_puts(out, whole ? "" : "…");
}
