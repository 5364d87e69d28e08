#include "repl/print/print.h"

#include "engine/formats/raw.h"
#include "engine/formats/row_formats.h"
#include "engine/numpy/npy.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/residency.h"
#include "repl/print/number_format.h"

#include <math.h>

/* Formats written row by row. */
static const struct row_style *const row_styles[] = {
    [PRINT_TSV] = &style_tsv,     [PRINT_CSV] = &style_csv,           [PRINT_JSON] = &style_json,
    [PRINT_JSONL] = &style_jsonl, [PRINT_MARKDOWN] = &style_markdown, [PRINT_NPY] = &style_npy,
    [PRINT_RAW] = &style_raw,
};

/* Names and text come from files: on a terminal their control bytes are escaped, except what separates cells and
 * rows. */
static void add_harmless(struct strbuf *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        size_t plain = at;
        while (plain < length && text[plain] != '\t' && text[plain] != '\n')
            plain++;
        strbuf_add_visible(out, text + at, plain - at);
        at = plain;
        if (at < length)
            strbuf_putc(out, text[at]);
    }
}

static void print_names(struct strbuf *out, const struct strbuf *line, bool terminal)
{
    if (terminal)
        add_harmless(out, line->text, line->length);
    else
        strbuf_add(out, line->text, line->length);
}

struct outlet {
    struct printer *out;
    bool terminal;
    const struct relation *relation;
};

static bool print_piece(void *context, struct strbuf *piece)
{
    struct outlet *outlet = context;
    if (outlet->terminal) {
        add_harmless(&outlet->out->text, piece->text, piece->length);
    } else if (outlet->out->text.length == 0) { /* the common case: no copy */
        struct strbuf empty = outlet->out->text;
        outlet->out->text = *piece;
        *piece = empty;
    } else {
        strbuf_add(&outlet->out->text, piece->text, piece->length);
    }
    return print_relieve(outlet->out, outlet->relation);
}

static void print_rows(struct printer *out, const struct relation *relation, int64_t rows,
                       const struct print_style *style)
{
    const struct row_style *encoding = row_styles[style->format];
    const struct workers workers = {.threads = parallel_threads(), .cancel = out->cancel};
    struct outlet outlet = {out, style->terminal, relation};
    struct frame frame;
    frame_init(&frame, encoding, relation);
    if (encoding->names_first && style->header)
        print_names(&out->text, &frame.head, style->terminal);
    else if (!encoding->names_first)
        strbuf_add(&out->text, frame.head.text, frame.head.length);
    if (encode_rows(encoding, &frame, relation, rows, &workers, print_piece, &outlet))
        strbuf_add(&out->text, frame.foot.text, frame.foot.length);
    frame_free(&frame);
}

/* The relation cut to `show` rows, since a header may contain the number of rows. */
static struct relation *relation_shown(const struct result *result)
{
    struct relation *relation = result->relation;
    if (result->show_rows < 0 || result->show_rows >= relation->rows)
        return relation_ref(relation);
    struct relation *shown =
        relation_new(result->show_rows, relation->count, relation->columns, (const char *const *)relation->names);
    return shown;
}

/* With thousands separators and, if large, its size in words. */
static void print_readable(struct strbuf *out, const struct scalar *scalar, const struct print_style *style)
{
    struct strbuf text = {0};
    struct strbuf in_words = {0};
    const bool number = logical_is_number(scalar->logical);
    scalar_print(&text, scalar);
    if (number && !scalar->missing && number_format_are_many(text.text, text.length)) {
        number_format_group(out, text.text, text.length);
        number_format_in_words(&in_words, scalar->kind == KIND_FLOAT
                                              ? scalar->number
                                              : (double)scalar->integer / pow(10, scalar->logical.scale));
    } else {
        strbuf_add(out, text.text, text.length);
    }
    if (in_words.length > 0 && style->terminal)
        strbuf_printf(out, style->colour ? "  \033[2m%s\033[0m" : "  (%s)", in_words.text);
    strbuf_free(&in_words);
    strbuf_free(&text);
}

static void print_scalar(struct strbuf *out, const struct scalar *scalar, const struct print_style *style)
{
    if (style->format == PRINT_JSON || style->format == PRINT_JSONL)
        json_add_scalar(out, scalar);
    else if (scalar->logical.kind == LOGICAL_TEXT && !scalar->missing && style->terminal)
        strbuf_add_visible(out, scalar->text.at, scalar->text.length);
    else if (style->separators)
        print_readable(out, scalar, style);
    else
        scalar_print(out, scalar);
    strbuf_putc(out, '\n');
}

enum status print_fetch(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags)
{
    const struct relation *relation = result->relation;
    int64_t head = 0;
    int64_t tail = 0;
    if (result->quiet || result->kind != RESULT_RELATION || result->view == VIEW_DESCRIPTION)
        return STATUS_OK;
    if (result->view == VIEW_PLOT)
        head = relation->rows;
    else if (style->format == PRINT_TABLE)
        print_table_rows(result, style, &head, &tail);
    else
        head = result->show_rows >= 0 && result->show_rows < relation->rows ? result->show_rows : relation->rows;
    enum status status = relation_fetch(relation, 0, head, span, diags);
    if (status == STATUS_OK)
        status = relation_fetch(relation, relation->rows - tail, relation->rows, span, diags);
    return status;
}

/* A single value as its bytes; for NumPy a zero-dimensional array. */
static void print_binary_scalar(struct strbuf *out, const struct scalar *scalar, enum print_format format)
{
    if (format == PRINT_NPY)
        npy_add_scalar_header(out, type_of_kind(scalar->kind));
    int64_t integer = (int64_t)scalar->integer;
    if (scalar->kind == KIND_FLOAT)
        strbuf_add(out, (const char *)&scalar->number, sizeof scalar->number);
    else
        strbuf_add(out, (const char *)&integer, type_table[type_of_kind(scalar->kind)].size);
}

static bool scalar_is_plain(const struct scalar *scalar)
{
    return scalar->logical.kind == LOGICAL_NUMBER && !scalar->missing;
}

enum status print_check(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags)
{
    const struct row_style *encoding = style->format == PRINT_TABLE ? NULL : row_styles[style->format];
    if (result->quiet || result->kind == RESULT_NONE || !encoding)
        return STATUS_OK;
    if (encoding->binary && style->terminal)
        return diag_error_hint(diags, span, "redirect the output, use `save`, or choose another format with .format",
                               "this format is binary and cannot be shown on a terminal");
    if (encoding->binary && result->kind == RESULT_SCALAR && !scalar_fits(&result->scalar))
        return diag_error(diags, span, "the value exceeds 64 bits, the widest type of this format");
    if (encoding->binary && result->kind == RESULT_SCALAR && !scalar_is_plain(&result->scalar))
        return diag_error_hint(diags, span, "choose another format with .format",
                               "this format holds plain numbers only");
    if (encoding->binary && result->view != VIEW_ROWS && result->view != VIEW_HISTOGRAM)
        return diag_error_hint(diags, span, "choose another format with .format, or remove the last stage",
                               "this result has no binary form");
    if (result->kind != RESULT_RELATION || !encoding->check)
        return STATUS_OK;
    struct relation *shown = relation_shown(result);
    const enum status status = encoding->check(shown, span, diags);
    relation_unref(shown);
    return status;
}

void print_result(struct printer *out, const struct result *result, const struct print_style *style)
{
    if (result->quiet || (result->kind == RESULT_NONE && result->view != VIEW_DESCRIPTION))
        return;
    if (result->view == VIEW_DESCRIPTION) {
        print_description(&out->text, result->description, style);
    } else if (result->kind == RESULT_RELATION && style->format == PRINT_TABLE) {
        print_table(out, result, style);
    } else if (result->kind == RESULT_RELATION) {
        struct relation *shown = relation_shown(result);
        print_rows(out, shown, shown->rows, style);
        relation_unref(shown);
    } else if (style->format != PRINT_TABLE && row_styles[style->format]->binary) {
        print_binary_scalar(&out->text, &result->scalar, style->format);
    } else {
        print_scalar(&out->text, &result->scalar, style);
    }
}

bool print_relieve(struct printer *out, const struct relation *relation)
{
    const bool damaged = printer_is_full(out) && changed_column(relation->columns, relation->count);
    return !damaged && printer_relieve(out);
}
