#include "engine/formats/row_formats.h"

#include "base/heap.h"
#include "base/number_text.h"
#include "base/text.h"
#include "base/time/calendar.h"
#include "base/utf8.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct text text_of(const char *name)
{
    return (struct text){name, strlen(name)};
}

/* Whether readers may take the text for a missing value or drop the blanks at its ends. */
static bool has_blank_ends(struct text text)
{
    return text.length == 0 || is_white(text.at[0]) || is_white(text.at[text.length - 1]);
}

static bool contains_any(struct text text, const char *characters)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] != '\0' && strchr(characters, text.at[i]))
            return true;
    }
    return false;
}

/* Whether a reader may take the name for a value, and so its line for a row. */
static bool looks_like_value(struct text name)
{
    static const char *const words[] = {"true", "false", "na", "null", "n/a", "#n/a", "none", "-", "?", "\\N"};
    const char *end = name.at + name.length;
    int64_t number;
    bool zoned, cut;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(name.at, words[i]) == 0)
            return true;
    }
    return looks_like_number(name.at, end) || date_read(name.at, end, &number) ||
           timestamp_read(name.at, end, &number, &zoned, &cut);
}

static void add_quoted(struct strbuf *out, struct text text)
{
    strbuf_putc(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '"')
            strbuf_putc(out, '"');
        strbuf_putc(out, text.at[i]);
    }
    strbuf_putc(out, '"');
}

static void separate(struct frame *frame, const char *separator, const char *after)
{
    for (size_t k = 1; k < frame->columns; k++)
        strbuf_puts(&frame->before[k], separator);
    strbuf_puts(&frame->after, after);
}

static void fill_names(struct frame *frame, const struct relation *relation, const char *separator,
                       void (*add_name)(struct strbuf *out, struct text name))
{
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_puts(&frame->head, k > 0 ? separator : "");
        add_name(&frame->head, text_of(relation->names[k]));
    }
    strbuf_putc(&frame->head, '\n');
    separate(frame, separator, "\n");
}

static bool tsv_needs_quotes(struct text text)
{
    return has_blank_ends(text) || text.at[0] == '"';
}

static bool tsv_is_plain(struct text text)
{
    return !tsv_needs_quotes(text) && !contains_any(text, "\t\n\r\\");
}

static void tsv_add_characters(struct strbuf *out, struct text text)
{
    static const char escaped[] = "\t\n\r\\", letters[] = "tnr\\";
    for (size_t i = 0; i < text.length; i++) {
        const char *special = text.at[i] != '\0' ? strchr(escaped, text.at[i]) : NULL;
        if (special)
            strbuf_putc(out, '\\');
        strbuf_putc(out, special ? letters[special - escaped] : text.at[i]);
    }
}

static void tsv_add_quoted(struct strbuf *out, struct text text)
{
    struct strbuf characters = {0};
    tsv_add_characters(&characters, text);
    add_quoted(out, (struct text){characters.text, characters.length});
    strbuf_free(&characters);
}

static void tsv_add_text(struct strbuf *out, struct text text)
{
    if (tsv_needs_quotes(text))
        tsv_add_quoted(out, text);
    else
        tsv_add_characters(out, text);
}

static void tsv_add_name(struct strbuf *out, struct text name)
{
    if (looks_like_value(name))
        tsv_add_quoted(out, name);
    else
        tsv_add_text(out, name);
}

static void fill_tsv(struct frame *frame, const struct relation *relation)
{
    fill_names(frame, relation, "\t", tsv_add_name);
}

static bool csv_is_plain(struct text text)
{
    return !has_blank_ends(text) && !contains_any(text, ",\"\r\n");
}

/* Readers guess the separator from the first line. */
static void csv_add_name(struct strbuf *out, struct text name)
{
    if (csv_is_plain(name) && !contains_any(name, ";|\t") && !looks_like_value(name))
        strbuf_add(out, name.at, name.length);
    else
        add_quoted(out, name);
}

static void fill_csv(struct frame *frame, const struct relation *relation)
{
    fill_names(frame, relation, ",", csv_add_name);
}

/* The next character, or U+FFFD for an invalid byte. Returns the bytes consumed. */
static size_t clean_character(struct text text, struct text *character)
{
    uint32_t code;
    const size_t size = utf8_decode(text.at, text.length, &code);
    *character = size ? (struct text){text.at, size} : text_of("\xef\xbf\xbd");
    return size ? size : 1;
}

void add_clean_name(struct strbuf *out, const char *name)
{
    for (struct text rest = text_of(name), character; rest.length > 0;) {
        const size_t size = clean_character(rest, &character);
        strbuf_add(out, character.at, character.length);
        rest = (struct text){rest.at + size, rest.length - size};
    }
}

static bool json_is_plain(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.at[i] < 0x20 || text.at[i] == '"' || text.at[i] == '\\')
            return false;
    }
    return true;
}

static void json_add_characters(struct strbuf *out, struct text text)
{
    strbuf_add_json(out, text.at, text.length);
}

static void fill_jsonl(struct frame *frame, const struct relation *relation)
{
    json_fill_objects(frame, relation, "");
    strbuf_puts(&frame->after, "}\n");
}

static void fill_json(struct frame *frame, const struct relation *relation)
{
    strbuf_puts(&frame->head, "[\n");
    json_fill_objects(frame, relation, ",\n");
    strbuf_putc(&frame->after, '}');
    strbuf_puts(&frame->foot, relation->rows > 0 ? "\n]\n" : "]\n");
}

/* A bar would end the cell, and a newline the row. */
static void markdown_add_text(struct strbuf *out, struct text text)
{
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, text.at, text.length);
    for (size_t i = 0; i < visible.length; i++) {
        if (strchr("|\\`*_<[", visible.text[i]))
            strbuf_putc(out, '\\');
        strbuf_putc(out, visible.text[i]);
    }
    strbuf_free(&visible);
}

static bool markdown_is_plain(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < 0x20 || text.at[i] >= 0x7f || strchr("|\\`*_<[", text.at[i]))
            return false;
    }
    return true;
}

static void fill_markdown(struct frame *frame, const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        strbuf_puts(&frame->head, "| ");
        markdown_add_text(&frame->head, text_of(relation->names[k]));
        strbuf_putc(&frame->head, ' ');
    }
    strbuf_puts(&frame->head, "|\n");
    for (size_t k = 0; k < relation->count; k++)
        strbuf_puts(&frame->head, relation->columns[k]->logical.kind == LOGICAL_TEXT ? "| :--- " : "| ---: ");
    strbuf_puts(&frame->head, "|\n");
    strbuf_puts(&frame->before[0], "| ");
    separate(frame, " | ", " |\n");
}

static void fill_lines(struct frame *frame, const struct relation *relation)
{
    (void)relation;
    separate(frame, "\t", "\n");
}

/* Lines are read without quotes or escapes. */
static bool is_line(struct text text)
{
    return !has_blank_ends(text) && !contains_any(text, "\r\n");
}

static enum status refuse_line(struct text text, int64_t row, struct span span, struct diags *diags)
{
    const char *why = contains_any(text, "\r\n") ? "the text has a line break"
                      : text.length == 0         ? "the text is empty, which would read as missing"
                                                 : "the text begins or ends with a blank";
    return diag_error_hint(diags, span, "save as .csv, .tsv or .jsonl", "row %lld cannot be a line of a .txt file: %s",
                           (long long)row, why);
}

static enum status check_lines(const struct relation *relation, struct span span, struct diags *diags)
{
    const struct column *column = relation->columns[0];
    if (column->logical.kind != LOGICAL_TEXT)
        return STATUS_OK;
    const struct dictionary *dictionary = column->logical.dictionary;
    enum status status = STATUS_OK;
    bool *bad = heap_array((size_t)dictionary->count, sizeof *bad), any = false;
    for (int64_t code = 0; code < dictionary->count; code++) {
        bad[code] = !is_line(dictionary_text(dictionary, code));
        any = any || bad[code];
    }
    for (int64_t row = 0; any && status == STATUS_OK && row < relation->rows; row++) {
        const int64_t code = column_get_int(column, row);
        if (!column_is_missing(column, row) && bad[code])
            status = refuse_line(dictionary_text(dictionary, code), row, span, diags);
    }
    free(bad);
    return status;
}

static const struct cell_style tsv_cells = {.missing = "", .is_plain = tsv_is_plain, .add_escaped = tsv_add_text};
static const struct cell_style csv_cells = {.missing = "", .is_plain = csv_is_plain, .add_escaped = add_quoted};
static const struct cell_style json_cells = {
    .missing = "null", .json = true, .is_plain = json_is_plain, .add_escaped = json_add_characters};
static const struct cell_style markdown_cells = {
    .missing = "", .is_plain = markdown_is_plain, .add_escaped = markdown_add_text};
static const struct cell_style line_cells = {.missing = "", .is_plain = is_line};

void json_add_scalar(struct strbuf *out, const struct scalar *scalar)
{
    cell_add(out, scalar, &json_cells);
}

const struct row_style style_tsv = {.names_first = true, .cells = &tsv_cells, .fill_frame = fill_tsv};
const struct row_style style_csv = {.names_first = true, .cells = &csv_cells, .fill_frame = fill_csv};
const struct row_style style_jsonl = {.cells = &json_cells, .check = json_check_objects, .fill_frame = fill_jsonl};
const struct row_style style_json = {.cells = &json_cells, .check = json_check_objects, .fill_frame = fill_json};
const struct row_style style_markdown = {.cells = &markdown_cells, .fill_frame = fill_markdown};
const struct row_style style_text = {.cells = &line_cells, .check = check_lines, .fill_frame = fill_lines};
