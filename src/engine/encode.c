#include "encode.h"

#include <math.h>
#include <string.h>

enum { WRITE_FROM = 256 << 10 };

void encode_element(struct strbuf *out, const struct column *column, int64_t row)
{
    if (type_table[column->type].kind == KIND_FLOAT)
        print_float(out, column_get_float(column, row));
    else
        print_int(out, column_get_int(column, row));
}

/* All elements of a row with `separator` between them. */
static void add_elements(struct strbuf *out, const struct relation *relation, int64_t row, char separator)
{
    for (size_t i = 0; i < relation->count; i++) {
        if (i > 0)
            strbuf_putc(out, separator);
        encode_element(out, relation->columns[i], row);
    }
    strbuf_putc(out, '\n');
}

static void tsv_name(struct strbuf *out, const char *name)
{
    for (; *name; name++) {
        switch (*name) {
        case '\t':
            strbuf_puts(out, "\\t");
            break;
        case '\n':
            strbuf_puts(out, "\\n");
            break;
        case '\\':
            strbuf_puts(out, "\\\\");
            break;
        default:
            strbuf_putc(out, *name);
        }
    }
}

static void tsv_header(struct strbuf *out, const struct relation *relation)
{
    for (size_t i = 0; i < relation->count; i++) {
        if (i > 0)
            strbuf_putc(out, '\t');
        tsv_name(out, relation->names[i]);
    }
    strbuf_putc(out, '\n');
}

static void tsv_row(struct strbuf *out, const struct relation *relation, int64_t row)
{
    add_elements(out, relation, row, '\t');
}

static void csv_name(struct strbuf *out, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        strbuf_puts(out, name);
        return;
    }
    strbuf_putc(out, '"');
    for (; *name; name++) {
        if (*name == '"')
            strbuf_putc(out, '"');
        strbuf_putc(out, *name);
    }
    strbuf_putc(out, '"');
}

static void csv_header(struct strbuf *out, const struct relation *relation)
{
    for (size_t i = 0; i < relation->count; i++) {
        if (i > 0)
            strbuf_putc(out, ',');
        csv_name(out, relation->names[i]);
    }
    strbuf_putc(out, '\n');
}

static void csv_row(struct strbuf *out, const struct relation *relation, int64_t row)
{
    add_elements(out, relation, row, ',');
}

/* How many bytes the UTF-8 sequence at `text` has, 0 if it is none. Overlong forms and surrogates are none. */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

static void json_name(struct strbuf *out, const char *name)
{
    strbuf_putc(out, '"');
    while (*name) {
        size_t length = utf8_length((const unsigned char *)name);
        if (length == 0)
            strbuf_puts(out, "\xef\xbf\xbd");
        else if (*name == '"' || *name == '\\')
            strbuf_printf(out, "\\%c", *name);
        else if (length == 1 && (unsigned char)*name < 0x20)
            strbuf_printf(out, "\\u%04x", (unsigned)*name);
        else
            strbuf_add(out, name, length);
        name += length ? length : 1;
    }
    strbuf_putc(out, '"');
}

static void jsonl_row(struct strbuf *out, const struct relation *relation, int64_t row)
{
    strbuf_putc(out, '{');
    for (size_t i = 0; i < relation->count; i++) {
        const struct column *column = relation->columns[i];
        if (i > 0)
            strbuf_putc(out, ',');
        json_name(out, relation->names[i]);
        strbuf_putc(out, ':');
        bool is_float = type_table[column->type].kind == KIND_FLOAT;
        if (is_float && !isfinite(column_get_float(column, row)))
            strbuf_puts(out, "null");
        else
            encode_element(out, column, row);
    }
    strbuf_puts(out, "}\n");
}

const struct row_style style_tsv = {tsv_header, tsv_row};
const struct row_style style_csv = {csv_header, csv_row};
const struct row_style style_jsonl = {NULL, jsonl_row};
const struct row_style style_text = {NULL, tsv_row};

enum status write_styled(const struct format *format, const struct relation *relation, struct writer *writer,
                         struct span span, struct diags *diags)
{
    (void)span, (void)diags;
    const struct row_style *style = format->style;
    struct strbuf out = {0};
    if (style->header)
        style->header(&out, relation);
    for (int64_t row = 0; row < relation->rows && writer->error == 0; row++) {
        style->row(&out, relation, row);
        if (out.length >= WRITE_FROM) {
            writer_add(writer, out.text, out.length);
            strbuf_clear(&out);
        }
    }
    writer_add(writer, out.text, out.length);
    strbuf_free(&out);
    return STATUS_OK;
}
