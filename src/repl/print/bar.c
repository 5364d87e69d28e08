#include "repl/print/bar.h"

enum { EIGHTHS = 8 };

void bar_add(struct strbuf *out, double part, size_t cells)
{
    /* The left eighths of a cell: U+258F with one to U+2588 with all of them. */
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
    /* The lower eighths of a cell: U+2581 to U+2588. */
    static const char *const blocks[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t filled = (size_t)(part * EIGHTHS + 0.5);
    strbuf_puts(out, blocks[part > 0 && filled == 0 ? 1 : filled]);
}
