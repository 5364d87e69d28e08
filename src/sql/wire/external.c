#include "sql/wire/external.h"

#include <string.h>

enum { BLOCK_ROWS = 1 << 16 };

void external_column(enum type type, struct logical_type logical, bool nullable, struct wire_type *wire,
                     struct arena *arena)
{
    const char *name = logical.kind == LOGICAL_TEXT ? "String" : type_table[type].server;
    (void)wire_type_parse(nullable ? arena_printf(arena, "Nullable(%s)", name) : name, arena, wire);
}

static void add_encoded(struct strbuf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~()*,'!:";
    for (; *text; text++) {
        if (*text == ' ')
            strbuf_putc(out, '+');
        else if (strchr(plain, *text))
            strbuf_putc(out, *text);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

void external_add_address(struct strbuf *address, const char *sql, const struct external_tables *tables)
{
    strbuf_puts(address, "&query=");
    add_encoded(address, sql);
    for (size_t t = 0; t < tables->count; t++) {
        const struct external_table *table = &tables->at[t];
        strbuf_printf(address, "&%s_format=Native&%s_structure=", table->name, table->name);
        for (size_t k = 0; k < table->count; k++)
            strbuf_printf(address, "%s%s+%s", k > 0 ? "," : "", table->columns[k].name, table->columns[k].type);
    }
}

void external_add_form(struct strbuf *form, const struct external_tables *tables, const char *boundary)
{
    for (size_t t = 0; t < tables->count; t++) {
        const struct external_table *table = &tables->at[t];
        strbuf_printf(form,
                      "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                      "Content-Type: application/octet-stream\r\n\r\n",
                      boundary, table->name, table->name);
        for (int64_t row = 0; row < table->rows; row += BLOCK_ROWS) {
            const int64_t end = table->rows - row > BLOCK_ROWS ? row + BLOCK_ROWS : table->rows;
            native_write_block(form, table->columns, table->count, row, end);
        }
        strbuf_puts(form, "\r\n");
    }
    strbuf_printf(form, "--%s--\r\n", boundary);
}
