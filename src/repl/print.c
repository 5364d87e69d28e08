#include "print.h"

#include "../engine/away.h"
#include "../engine/damage.h"
#include "../engine/encode.h"

#include <math.h>
#include <string.h>

/* The formats that write a row a line. */
static const struct row_style *const row_styles[] = {
    [PRINT_TSV] = &style_tsv,
    [PRINT_CSV] = &style_csv,
    [PRINT_JSONL] = &style_jsonl,
};

struct print_style print_style_for(const struct settings *settings, bool terminal, bool colour, size_t width)
{
    enum print_format format = (enum print_format)settings->format;
    if (format == PRINT_AUTO) {
        format = terminal ? PRINT_TABLE : PRINT_TSV;
    }
    bool header = format == PRINT_TABLE || format == PRINT_CSV;
    if (settings->header != HEADER_AUTO) {
        header = settings->header == HEADER_ON;
    }
    return (struct print_style){format, header, terminal, colour, width, 0};
}

/* A file's name may hold anything, so on a terminal its control bytes are made visible; tabs separate and stay. */
static void print_header(struct strbuf *out, const struct row_style *rows, const struct relation *relation,
                         bool terminal)
{
    if (!terminal) {
        rows->header(out, relation);
        return;
    }
    struct strbuf line = {0};
    rows->header(&line, relation);
    size_t end = line.length - 1;
    for (size_t at = 0; at < end; at++) {
        size_t plain = strcspn(line.text + at, "\t");
        plain = plain < end - at ? plain : end - at;
        strbuf_add_visible(out, line.text + at, plain);
        at += plain;
        strbuf_puts(out, at < end ? "\t" : "");
    }
    strbuf_putc(out, '\n');
    strbuf_free(&line);
}

bool print_relieve(struct printer *out, const struct relation *relation)
{
    bool damaged = printer_is_full(out) && damaged_column(relation->columns, relation->count);
    return !damaged && printer_relieve(out);
}

static void print_rows(struct printer *out, const struct relation *relation, int64_t show,
                       const struct print_style *style)
{
    const struct row_style *rows = row_styles[style->format];
    if (style->header && rows->header) {
        print_header(&out->text, rows, relation, style->terminal);
    }
    int64_t count = show >= 0 && show < relation->rows ? show : relation->rows;
    for (int64_t row = 0; row < count && print_relieve(out, relation); row++) {
        rows->row(&out->text, relation, row);
    }
}

static void print_scalar(struct strbuf *out, const struct scalar *scalar, enum print_format format)
{
    bool has_no_json = format == PRINT_JSONL && scalar->kind == KIND_FLOAT && !isfinite(scalar->number);
    if (has_no_json) {
        strbuf_puts(out, "null");
    } else {
        scalar_print(out, scalar);
    }
    strbuf_putc(out, '\n');
}

enum status print_fetch(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags)
{
    const struct relation *relation = result->relation;
    int64_t head = 0;
    int64_t tail = 0;
    if (result->quiet || result->kind != RESULT_RELATION) {
        return STATUS_OK;
    }
    if (style->format == PRINT_TABLE) {
        print_table_rows(result, style, &head, &tail);
    } else {
        head = result->show_rows >= 0 && result->show_rows < relation->rows ? result->show_rows : relation->rows;
    }
    enum status status = relation_fetch(relation, 0, head, span, diags);
    if (status == STATUS_OK) {
        status = relation_fetch(relation, relation->rows - tail, relation->rows, span, diags);
    }
    return status;
}

void print_result(struct printer *out, const struct result *result, const struct print_style *style)
{
    if (result->quiet || result->kind == RESULT_NONE) {
        return;
    }
    if (result->kind == RESULT_SCALAR) {
        print_scalar(&out->text, &result->scalar, style->format);
    } else if (style->format == PRINT_TABLE) {
        print_table(out, result, style);
    } else {
        print_rows(out, result->relation, result->show_rows, style);
    }
}
