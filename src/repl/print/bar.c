#include "repl/print/bar.h"

enum { EIGHTHS = 8 };

void bar_add(struct strbuf *out, double part, size_t cells)
{
    /* U+258F (left eighth) to U+2588 (full cell). */
    static const char *const blocks[EIGHTHS + 1] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    size_t filled = (size_t)(part * (double)(cells * EIGHTHS) + 0.5);
    if (filled == 0)
        filled = 1;
    for (size_t cell = 0; cell < filled / EIGHTHS; cell++)
        strbuf_puts(out, blocks[EIGHTHS]);
    strbuf_puts(out, blocks[filled % EIGHTHS]);
}

void column_bar_add(struct strbuf *out, double part)
{
    /* U+2581 (lowest eighth) to U+2588. */
    static const char *const blocks[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t filled = (size_t)(part * EIGHTHS + 0.5);
    strbuf_puts(out, blocks[part > 0 && filled == 0 ? 1 : filled]);
}
