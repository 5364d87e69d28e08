#include "formats.h"

#include "encode.h"
#include "imagefile.h"
#include "path.h"
#include "rawfile.h"
#include "textfile.h"

#include <string.h>

static const struct format format_table[] = {
    {".bin", TYPE_I32, 1, false, NULL, read_raw, write_raw},
    {".i8", TYPE_I8, 1, false, NULL, read_raw, write_raw},
    {".i16", TYPE_I16, 1, false, NULL, read_raw, write_raw},
    {".i32", TYPE_I32, 1, false, NULL, read_raw, write_raw},
    {".i64", TYPE_I64, 1, false, NULL, read_raw, write_raw},
    {".u8", TYPE_U8, 1, false, NULL, read_raw, write_raw},
    {".u16", TYPE_U16, 1, false, NULL, read_raw, write_raw},
    {".u32", TYPE_U32, 1, false, NULL, read_raw, write_raw},
    {".f32", TYPE_F32, 1, false, NULL, read_raw, write_raw},
    {".f64", TYPE_F64, 1, false, NULL, read_raw, write_raw},
    {".txt", TYPE_COUNT, 1, false, &style_text, read_text, write_styled},
    {".tsv", TYPE_COUNT, 0, false, &style_tsv, NULL, write_styled},
    {".csv", TYPE_COUNT, 0, false, &style_csv, NULL, write_styled},
    {".jsonl", TYPE_COUNT, 0, false, &style_jsonl, NULL, write_styled},
    {".pgm", TYPE_COUNT, 1, true, NULL, read_image, write_image},
    {".ppm", TYPE_COUNT, 3, true, NULL, read_image, write_image},
};
enum { FORMAT_COUNT = sizeof format_table / sizeof format_table[0] };

const struct format *format_of_path(const char *path)
{
    const char *ending = path_ending(path);
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
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
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct format *format = &format_table[i];
        if (use == FORMAT_READ ? format->read != NULL : format->write != NULL)
            list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", format->ending);
    }
    return list;
}

enum status format_write(const struct format *format, const struct relation *relation, struct writer *writer,
                         struct span span, struct diags *diags)
{
    enum status status = format->write(format, relation, writer, span, diags);
    if (status != STATUS_OK)
        return status;
    /* A mapped file that was cut short has given zeroes, or a failed write. */
    for (size_t i = 0; i < relation->count; i++) {
        const struct mapping *mapping = relation->columns[i]->mapping;
        if (mapping && mapping_damaged(mapping))
            return diag_error(diags, span, "`%s` changed while it was read", mapping_path(mapping));
    }
    return writer_finish(writer, span, diags);
}
