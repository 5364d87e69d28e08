#include "engine/formats/formats.h"

#include "base/path.h"
#include "engine/formats/netpbm.h"
#include "engine/formats/npy.h"
#include "engine/formats/raw.h"
#include "engine/formats/row_formats.h"
#include "engine/formats/text_read.h"
#include "engine/storage/compression_table.h"

#include <string.h>
#include <strings.h>

static bool add_to_file(void *context, struct strbuf *piece)
{
    struct writer *writer = context;
    writer_add(writer, piece->text, piece->length);
    return writer->error == 0;
}

/* The write of formats whose rows have a style. */
static enum status write_styled(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const struct row_style *style = job->format->style;
    if (style->check && style->check(relation, job->span, job->diags) != STATUS_OK)
        return STATUS_FAILED;
    struct frame frame;
    frame_init(&frame, style, relation);
    writer_add(writer, frame.head.text, frame.head.length);
    bool whole = encode_rows(style, &frame, relation, relation->rows, job->workers, add_to_file, writer);
    writer_add(writer, frame.foot.text, frame.foot.length);
    frame_free(&frame);
    return whole || writer->error ? STATUS_OK : STATUS_CANCELLED;
}

const struct format format_table[] = {
    {".bin", TYPE_I32, 1, false, NULL, read_raw, write_raw, "a column of i32: its elements and nothing else"},
    {".i8", TYPE_I8, 1, false, NULL, read_raw, write_raw, "a column of i8"},
    {".i16", TYPE_I16, 1, false, NULL, read_raw, write_raw, "a column of i16"},
    {".i32", TYPE_I32, 1, false, NULL, read_raw, write_raw, "a column of i32"},
    {".i64", TYPE_I64, 1, false, NULL, read_raw, write_raw, "a column of i64"},
    {".u8", TYPE_U8, 1, false, NULL, read_raw, write_raw, "a column of u8"},
    {".u16", TYPE_U16, 1, false, NULL, read_raw, write_raw, "a column of u16"},
    {".u32", TYPE_U32, 1, false, NULL, read_raw, write_raw, "a column of u32"},
    {".f32", TYPE_F32, 1, false, NULL, read_raw, write_raw, "a column of f32"},
    {".f64", TYPE_F64, 1, false, NULL, read_raw, write_raw, "a column of f64"},
    {".npy", TYPE_COUNT, 0, false, &style_npy, read_npy, write_styled,
     "an array of NumPy, with fields if there are several columns"},
    {".txt", TYPE_COUNT, 1, false, &style_text, read_text, write_styled, "a column, one number a line"},
    {".tsv", TYPE_COUNT, 0, false, &style_tsv, read_tsv, write_styled,
     "columns under their names, tabs between values"},
    {".csv", TYPE_COUNT, 0, false, &style_csv, read_csv, write_styled,
     "columns under their names, commas between values"},
    {".jsonl", TYPE_COUNT, 0, false, &style_jsonl, read_jsonl, write_styled, "a JSON object a line"},
    {".json", TYPE_COUNT, 0, false, &style_json, NULL, write_styled, "a JSON array of objects; saved only"},
    {".md", TYPE_COUNT, 0, false, &style_markdown, NULL, write_styled, "a table in Markdown; saved only"},
    {".pgm", TYPE_COUNT, 1, true, NULL, read_image, write_image, "a picture, grey"},
    {".ppm", TYPE_COUNT, 3, true, NULL, read_image, write_image, "a picture: red, green and blue"},
};
const size_t format_count = sizeof format_table / sizeof format_table[0];

const struct format *format_of_path(const char *path)
{
    const char *ending = path_ending(path);
    const struct compression *compression = compression_of_path(path);
    size_t length = strlen(ending) - (compression ? strlen(compression->ending) : 0);
    for (size_t i = 0; i < format_count; i++) {
        if (strlen(format_table[i].ending) == length && strncasecmp(format_table[i].ending, ending, length) == 0)
            return &format_table[i];
    }
    return NULL;
}

const char *format_word(const struct format *format)
{
    return format->ending + 1;
}

const struct format *format_by_word(const char *word)
{
    for (size_t i = 0; i < format_count; i++) {
        if (strcmp(format_word(&format_table[i]), word) == 0)
            return &format_table[i];
    }
    return NULL;
}

static const char by_database[] = "DuckDB writes it as one that is: COPY (FROM ...) TO 'x.csv'";
static const char by_spreadsheet[] = "a spreadsheet saves its sheets as .csv";
static const char by_numpy[] = "numpy.save writes each of its arrays as .npy";
static const char by_lines[] = "`jq -c '.[]' x.json > x.jsonl` makes it an object a line";
static const char by_unpacking[] = "it is packed in a way that rql does not know; .gz and .zst it does";

/* Formats that people have and rql does not read, with the way to one that it does. */
static const struct {
    const char *ending, *advice;
} foreign_formats[] = {
    {".parquet", by_database}, {".feather", by_database}, {".arrow", by_database}, {".orc", by_database},
    {".duckdb", by_database},  {".sqlite", by_database},  {".db", by_database},    {".xlsx", by_spreadsheet},
    {".xls", by_spreadsheet},  {".ods", by_spreadsheet},  {".npz", by_numpy},      {".json", by_lines},
    {".zip", by_unpacking},    {".bz2", by_unpacking},    {".xz", by_unpacking},
};

const char *format_advice(const char *ending)
{
    for (size_t i = 0; i < sizeof foreign_formats / sizeof *foreign_formats; i++) {
        if (strcasecmp(foreign_formats[i].ending, ending) == 0)
            return foreign_formats[i].advice;
    }
    return NULL;
}

const struct format *format_of_type(enum type type)
{
    const char *ending = type_table[type].ending;
    size_t i = 0;
    while (strcmp(format_table[i].ending, ending) != 0)
        i++;
    return &format_table[i];
}

const char *format_endings(struct arena *arena, enum format_use use)
{
    const char *list = "";
    for (size_t i = 0; i < format_count; i++) {
        const struct format *format = &format_table[i];
        if (use == FORMAT_READ ? format->read != NULL : format->write != NULL)
            list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", format->ending);
    }
    return list;
}

enum status format_write(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    enum status status = job->format->write(job, relation, writer);
    if (status != STATUS_OK)
        return status;
    /* A mapped file that was cut short has given zeroes, or a failed write. */
    for (size_t i = 0; i < relation->count; i++) {
        const struct mapping *mapping = relation->columns[i]->mapping;
        if (mapping && mapping_changed(mapping))
            return diag_error(job->diags, job->span, "`%s` changed while it was read", mapping_path(mapping));
    }
    return writer_finish(writer, job->span, job->diags);
}
