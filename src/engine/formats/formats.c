#include "engine/formats/formats.h"

#include "base/path.h"
#include "engine/arrow/arrow.h"
#include "engine/compression/compression.h"
#include "engine/formats/netpbm.h"
#include "engine/formats/raw.h"
#include "engine/formats/row_formats.h"
#include "engine/numpy/npy.h"
#include "engine/parquet/reader.h"
#include "engine/parquet_write/writer.h"
#include "engine/storage/file_errors.h"
#include "engine/text/text_files.h"

#include <string.h>
#include <strings.h>

static bool add_to_file(void *context, struct strbuf *piece)
{
    struct writer *writer = context;
    writer_add(writer, piece->text, piece->length);
    return writer->error == 0;
}

/* `write` for formats with a row style. */
static enum status write_styled(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const struct row_style *style = job->format->style;
    if (style->check && style->check(relation, job->span, job->diags) != STATUS_OK)
        return STATUS_FAILED;
    struct frame frame;
    frame_init(&frame, style, relation);
    writer_add(writer, frame.head.text, frame.head.length);
    const bool complete = encode_rows(style, &frame, relation, relation->rows, job->workers, add_to_file, writer);
    writer_add(writer, frame.foot.text, frame.foot.length);
    frame_free(&frame);
    return complete || writer->error ? STATUS_OK : STATUS_CANCELLED;
}

const struct format format_table[] = {
    {".bin", TYPE_I32, 1, false, NULL, read_raw, NULL, write_raw, "a column of i32, as raw elements"},
    {".i8", TYPE_I8, 1, false, NULL, read_raw, NULL, write_raw, "a column of i8"},
    {".i16", TYPE_I16, 1, false, NULL, read_raw, NULL, write_raw, "a column of i16"},
    {".i32", TYPE_I32, 1, false, NULL, read_raw, NULL, write_raw, "a column of i32"},
    {".i64", TYPE_I64, 1, false, NULL, read_raw, NULL, write_raw, "a column of i64"},
    {".u8", TYPE_U8, 1, false, NULL, read_raw, NULL, write_raw, "a column of u8"},
    {".u16", TYPE_U16, 1, false, NULL, read_raw, NULL, write_raw, "a column of u16"},
    {".u32", TYPE_U32, 1, false, NULL, read_raw, NULL, write_raw, "a column of u32"},
    {".f32", TYPE_F32, 1, false, NULL, read_raw, NULL, write_raw, "a column of f32"},
    {".f64", TYPE_F64, 1, false, NULL, read_raw, NULL, write_raw, "a column of f64"},
    {".npy", TYPE_COUNT, 0, false, &style_npy, read_npy, NULL, write_styled,
     "a NumPy array, structured if there are several columns"},
    {".npz", TYPE_COUNT, 0, false, NULL, NULL, open_npz, write_npz,
     "columns with names, as NumPy arrays in an archive"},
    {".parquet", TYPE_COUNT, 0, false, NULL, NULL, open_parquet, write_parquet, "columns with names, a Parquet file"},
    {".pq", TYPE_COUNT, 0, false, NULL, NULL, open_parquet, write_parquet, "the same"},
    {".arrow", TYPE_COUNT, 0, false, NULL, NULL, open_arrow, write_arrow_file, "columns with names, an Arrow IPC file"},
    {".feather", TYPE_COUNT, 0, false, NULL, NULL, open_arrow, write_arrow_file, "the same: a Feather file, version 2"},
    {".ipc", TYPE_COUNT, 0, false, NULL, NULL, open_arrow, write_arrow_file, "the same: an Arrow IPC file"},
    {".arrows", TYPE_COUNT, 0, false, NULL, NULL, open_arrow, write_arrow_stream, "an Arrow IPC stream"},
    {".txt", TYPE_COUNT, 1, false, &style_text, NULL, open_text, write_styled, "a column, one value per line"},
    {".log", TYPE_COUNT, 1, false, &style_text, NULL, open_text, write_styled, "the same"},
    {".tsv", TYPE_COUNT, 0, false, &style_tsv, NULL, open_tsv, write_styled, "columns with names, separated by tabs"},
    {".tab", TYPE_COUNT, 0, false, &style_tsv, NULL, open_tsv, write_styled, "the same"},
    {".csv", TYPE_COUNT, 0, false, &style_csv, NULL, open_csv, write_styled, "columns with names, separated by commas"},
    {".psv", TYPE_COUNT, 0, false, NULL, NULL, open_csv, NULL, "the same, separated by |; loaded only"},
    {".jsonl", TYPE_COUNT, 0, false, &style_jsonl, NULL, open_jsonl, write_styled, "one JSON object per line"},
    {".ndjson", TYPE_COUNT, 0, false, &style_jsonl, NULL, open_jsonl, write_styled, "the same"},
    {".json", TYPE_COUNT, 0, false, &style_json, NULL, open_jsonl, write_styled, "a JSON array of objects"},
    {".md", TYPE_COUNT, 0, false, &style_markdown, NULL, NULL, write_styled, "a Markdown table; saved only"},
    {".pgm", TYPE_COUNT, 1, true, NULL, read_image, NULL, write_image, "a grey image"},
    {".ppm", TYPE_COUNT, 3, true, NULL, read_image, NULL, write_image, "an image: columns red, green and blue"},
};
const size_t format_count = sizeof format_table / sizeof format_table[0];

const struct format *format_of_path(const char *path)
{
    for (size_t i = 0; i < format_count; i++) {
        if (path_has_extension(path, format_table[i].extension))
            return &format_table[i];
    }
    return NULL;
}

bool format_is_text(const struct format *format)
{
    return format->open == open_csv || format->open == open_tsv || format->open == open_jsonl ||
           format->open == open_text;
}

bool format_reads_ranges(const struct format *format)
{
    return format->open == open_parquet || format->open == open_arrow;
}

bool format_loads(const struct format *format)
{
    return format->read || format->open;
}

const char *format_word(const struct format *format)
{
    return format->extension + 1;
}

const struct format *format_by_word(const char *word)
{
    for (size_t i = 0; i < format_count; i++) {
        if (strcmp(format_word(&format_table[i]), word) == 0)
            return &format_table[i];
    }
    return NULL;
}

/* Common formats that rql cannot load, and what can be done: before and behind the path. What is packed has the format
 * of the name within. */
static const struct {
    const char *extension, *before, *behind;
    bool unpacks;
} foreign_formats[] = {
    {".bz2", "load \"|bzip2 -dc ", "\" ", true},
    {".xz", "load \"|xz -dc ", "\" ", true},
    {".lz4", "load \"|lz4 -dc ", "\" ", true},
    {".zip", "load \"|unzip -p ", "\" ", true},
    {".tar", "load \"|tar -xOf ", " NAME\" csv", false},
    {".tar.gz", "load \"|tar -xOf ", " NAME\" csv", false},
    {".tgz", "load \"|tar -xOf ", " NAME\" csv", false},
    {".xlsx", "load \"|xlsx2csv ", "\" csv", false},
    {".xls", "in LibreOffice: soffice --convert-to csv ", "", false},
    {".ods", "in LibreOffice: soffice --convert-to csv ", "", false},
    {".db", "load \"|sqlite3 -csv -header ", " 'select * from TABLE'\" csv", false},
    {".sqlite", "load \"|sqlite3 -csv -header ", " 'select * from TABLE'\" csv", false},
    {".sqlite3", "load \"|sqlite3 -csv -header ", " 'select * from TABLE'\" csv", false},
    {".duckdb", "load \"|duckdb -csv ", " 'from TABLE'\" csv", false},
    {".avro", "in DuckDB: COPY (FROM read_avro('", "')) TO 'x.parquet'", false},
    {".orc", "in Python: pyarrow.parquet.write_table(pyarrow.orc.read_table('", "'), 'x.parquet')", false},
};

const char *format_advice(const char *path, struct arena *arena)
{
    const char *extension = path_extension(path);
    for (size_t i = 0; i < sizeof foreign_formats / sizeof *foreign_formats; i++) {
        if (strcasecmp(foreign_formats[i].extension, extension) != 0)
            continue;
        const struct format *inner = format_of_path(arena_text(arena, path, (size_t)(strrchr(path, '.') - path)));
        const char *word = inner ? format_word(inner) : "csv";
        return arena_printf(arena, "%s%s%s%s", foreign_formats[i].before, path_written(path, arena),
                            foreign_formats[i].behind, foreign_formats[i].unpacks ? word : "");
    }
    return NULL;
}

const struct format *format_of_type(enum type type)
{
    const char *extension = type_table[type].extension;
    size_t i = 0;
    while (strcmp(format_table[i].extension, extension) != 0)
        i++;
    return &format_table[i];
}

const char *format_extensions(struct arena *arena, enum format_use use)
{
    const char *list = "";
    for (size_t i = 0; i < format_count; i++) {
        const struct format *format = &format_table[i];
        if (use == FORMAT_READ ? format_loads(format) : !!format->write)
            list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", format->extension);
    }
    return list;
}

enum status format_write(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const enum status status = job->format->write(job, relation, writer);
    if (status != STATUS_OK)
        return status;
    /* Missing pages of a truncated file read as zeroes, or made a write fail. */
    const struct column *changed = changed_column(relation->columns, relation->count);
    if (changed)
        return mapping_check_unchanged(changed->mapping, job->span, job->diags);
    return writer_finish(writer, job->span, job->diags);
}

/* After opening or reading, which gave `status`: if the file has changed meanwhile, that is the only error, and *undo
 * is set if there is a result to be released. */
static enum status settle(const struct format_job *job, const struct mapping *mapping, size_t diags_before,
                          enum status status, bool *undo)
{
    *undo = false;
    if (status == STATUS_CANCELLED || !mapping_changed(mapping))
        return status;
    *undo = status == STATUS_OK;
    job->diags->count = diags_before;
    return mapping_report_change(mapping, job->span, job->diags);
}

enum status format_open(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    bool undo;
    const size_t diags_before = job->diags->count;
    enum status status = job->format->open(job, mapping, reader);
    status = settle(job, mapping, diags_before, status, &undo);
    if (undo)
        (*reader)->ops->close(*reader);
    return status;
}

enum status format_read_columns(const struct format_job *job, struct mapping *mapping, struct file_reader *reader,
                                const bool *wanted, struct column **columns)
{
    bool undo;
    const size_t diags_before = job->diags->count;
    enum status status = reader->ops->read(reader, job, wanted, columns);
    status = settle(job, mapping, diags_before, status, &undo);
    for (size_t k = 0; k < reader->count && undo; k++) {
        if (wanted[k])
            column_unref(columns[k]);
    }
    return status;
}

enum status format_read(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    bool undo;
    const size_t diags_before = job->diags->count;
    enum status status = job->format->read(job, mapping, relation);
    status = settle(job, mapping, diags_before, status, &undo);
    if (undo)
        relation_unref(*relation);
    return status;
}
