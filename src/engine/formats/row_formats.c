#include "engine/formats/row_formats.h"

#include "base/utf8.h"

#include <string.h>

static void separate(struct frame *frame, const char *separator, const char *after)
{
    for (size_t k = 1; k < frame->columns; k++)
        strbuf_puts(&frame->before[k], separator);
    strbuf_puts(&frame->after, after);
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

static void fill_tsv(struct frame *frame, const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_puts(&frame->head, k > 0 ? "\t" : "");
        tsv_name(&frame->head, relation->names[k]);
    }
    strbuf_putc(&frame->head, '\n');
    separate(frame, "\t", "\n");
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

static void fill_csv(struct frame *frame, const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_puts(&frame->head, k > 0 ? "," : "");
        csv_name(&frame->head, relation->names[k]);
    }
    strbuf_putc(&frame->head, '\n');
    separate(frame, ",", "\n");
}

/* The next character of a name, or U+FFFD for an invalid byte. Returns the bytes consumed. */
static size_t clean_character(const char *name, const char **character, size_t *length)
{
    uint32_t code;
    size_t size = utf8_decode(name, strlen(name), &code);
    *character = size ? name : "\xef\xbf\xbd";
    *length = size ? size : 3;
    return size ? size : 1;
}

void add_clean_name(struct strbuf *out, const char *name)
{
    while (*name) {
        const char *character;
        size_t length;
        name += clean_character(name, &character, &length);
        strbuf_add(out, character, length);
    }
}

static void json_name(struct strbuf *out, const char *name)
{
    strbuf_putc(out, '"');
    while (*name) {
        const char *character;
        size_t length;
        name += clean_character(name, &character, &length);
        if (*character == '"' || *character == '\\')
            strbuf_printf(out, "\\%c", *character);
        else if ((unsigned char)*character < 0x20)
            strbuf_printf(out, "\\u%04x", (unsigned)*character);
        else
            strbuf_add(out, character, length);
    }
    strbuf_putc(out, '"');
}

static void fill_object(struct frame *frame, const struct relation *relation, const char *separator, const char *after)
{
    strbuf_puts(&frame->before[0], separator);
    frame->separator = strlen(separator);
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_putc(&frame->before[k], k > 0 ? ',' : '{');
        json_name(&frame->before[k], relation->names[k]);
        strbuf_putc(&frame->before[k], ':');
    }
    strbuf_puts(&frame->after, after);
}

static void fill_jsonl(struct frame *frame, const struct relation *relation)
{
    fill_object(frame, relation, "", "}\n");
}

static void fill_json(struct frame *frame, const struct relation *relation)
{
    strbuf_puts(&frame->head, "[\n");
    fill_object(frame, relation, ",\n", "}");
    strbuf_puts(&frame->foot, relation->rows > 0 ? "\n]\n" : "]\n");
}

/* A bar would end the cell, and a newline the row. */
static void markdown_name(struct strbuf *out, const char *name)
{
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, name, strlen(name));
    for (size_t i = 0; i < visible.length; i++) {
        if (strchr("|\\`*_<[", visible.text[i]))
            strbuf_putc(out, '\\');
        strbuf_putc(out, visible.text[i]);
    }
    strbuf_free(&visible);
}

static void fill_markdown(struct frame *frame, const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_puts(&frame->head, "| ");
        markdown_name(&frame->head, relation->names[k]);
        strbuf_putc(&frame->head, ' ');
    }
    strbuf_puts(&frame->head, "|\n");
    for (size_t k = 0; k < relation->count; k++)
        strbuf_puts(&frame->head, "| ---: ");
    strbuf_puts(&frame->head, "|\n");
    strbuf_puts(&frame->before[0], "| ");
    separate(frame, " | ", " |\n");
}

static void fill_text(struct frame *frame, const struct relation *relation)
{
    (void)relation;
    separate(frame, "\t", "\n");
}

const struct row_style style_tsv = {.names_first = true, .fill_frame = fill_tsv};
const struct row_style style_csv = {.names_first = true, .fill_frame = fill_csv};
const struct row_style style_jsonl = {.null_non_finite = true, .fill_frame = fill_jsonl};
const struct row_style style_json = {.null_non_finite = true, .fill_frame = fill_json};
const struct row_style style_markdown = {.fill_frame = fill_markdown};
const struct row_style style_text = {.fill_frame = fill_text};
