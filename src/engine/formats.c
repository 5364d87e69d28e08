#include "formats.h"

#include "imagefile.h"
#include "npyfile.h"
#include "path.h"
#include "rawfile.h"
#include "styles.h"
#include "textfile.h"

#include <string.h>

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
    bool whole = encode_rows(style, &frame, relation, relation->rows, job->crew, add_to_file, writer);
    writer_add(writer, frame.foot.text, frame.foot.length);
    frame_free(&frame);
    return whole || writer->error ? STATUS_OK : STATUS_CANCELLED;
}

const struct format format_table[] = {
    {".bin", TYPE_I32, 1, false, NULL, read_raw, write_raw, "one column of i32, nothing but its elements"},
    {".i8", TYPE_I8, 1, false, NULL, read_raw, write_raw, "one column of this type, nothing but its elements"},
    {".i16", TYPE_I16, 1, false, NULL, read_raw, write_raw, "the same, little-endian"},
    {".i32", TYPE_I32, 1, false, NULL, read_raw, write_raw, "the same"},
    {".i64", TYPE_I64, 1, false, NULL, read_raw, write_raw, "the same"},
    {".u8", TYPE_U8, 1, false, NULL, read_raw, write_raw, "the same"},
    {".u16", TYPE_U16, 1, false, NULL, read_raw, write_raw, "the same"},
    {".u32", TYPE_U32, 1, false, NULL, read_raw, write_raw, "the same"},
    {".f32", TYPE_F32, 1, false, NULL, read_raw, write_raw, "the same"},
    {".f64", TYPE_F64, 1, false, NULL, read_raw, write_raw, "the same"},
    {".npy", TYPE_COUNT, 0, false, &style_npy, NULL, write_styled, "an array of NumPy"},
    {".txt", TYPE_COUNT, 1, false, &style_text, read_text, write_styled, "one number a line"},
    {".tsv", TYPE_COUNT, 0, false, &style_tsv, NULL, write_styled, "values between tabs under their names"},
    {".csv", TYPE_COUNT, 0, false, &style_csv, NULL, write_styled, "values between commas under their names"},
    {".jsonl", TYPE_COUNT, 0, false, &style_jsonl, NULL, write_styled, "a JSON object a line"},
    {".json", TYPE_COUNT, 0, false, &style_json, NULL, write_styled, "a JSON array of objects; saved only"},
    {".md", TYPE_COUNT, 0, false, &style_markdown, NULL, write_styled, "a table in Markdown; saved only"},
    {".pgm", TYPE_COUNT, 1, true, NULL, read_image, write_image, "a picture in grey"},
    {".ppm", TYPE_COUNT, 3, true, NULL, read_image, write_image, "a picture in red, green and blue"},
};
const size_t format_count = sizeof format_table / sizeof format_table[0];

const struct format *format_of_path(const char *path)
{
    const char *ending = path_ending(path);
    for (size_t i = 0; i < format_count; i++) {
        if (strcmp(format_table[i].ending, ending) == 0)
            return &format_table[i];
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
        if (mapping && mapping_damaged(mapping))
            return diag_error(job->diags, job->span, "`%s` changed while it was read", mapping_path(mapping));
    }
    return writer_finish(writer, job->span, job->diags);
}
