#include "save.h"

#include "formats.h"
#include "path.h"
#include "splayed.h"

static enum status unknown_ending(const char *path, struct span span, struct diags *diags)
{
    path = path_shown(path, diags->arena);
    diag_error(diags, span, "the ending of `%s` does not say how to save it", path);
    diag_hint(diags, "use one of %s, or a folder of raw columns: `%s/`", format_endings(diags->arena, FORMAT_WRITE),
              path);
    return STATUS_FAILED;
}

static enum status check_columns(const struct format *format, const char *path, size_t columns, struct span span,
                                 struct diags *diags)
{
    if (!format->one_column || columns == 1)
        return STATUS_OK;
    diag_error(diags, span, "`%s` can hold one column, but there are %zu", path_shown(path, diags->arena), columns);
    diag_hint(diags, "`pick` one, save a table (.tsv, .csv, .jsonl), or a folder of columns (a path that ends in /)");
    return STATUS_FAILED;
}

enum status save_check(const char *path, size_t columns, struct span span, struct diags *diags)
{
    if (splayed_is_path(path))
        return splayed_check(path, span, diags);
    /* First of all whether anything can be there: no ending would help /dev/full. */
    if (writer_check(path, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    const struct format *format = format_of_path(path);
    if (!format || !format->write)
        return unknown_ending(path, span, diags);
    return check_columns(format, path, columns, span, diags);
}

enum status save_relation(const struct relation *relation, const char *path, struct span span, struct diags *diags)
{
    enum status status = save_check(path, relation->count, span, diags);
    if (status != STATUS_OK)
        return status;
    if (splayed_is_path(path))
        return splayed_save(relation, path, span, diags);
    struct writer writer;
    status = writer_open(&writer, path, span, diags);
    if (status != STATUS_OK)
        return status;
    status = format_write(format_of_path(path), relation, &writer, span, diags);
    if (status == STATUS_OK)
        status = writer_publish(&writer, span, diags);
    writer_discard(&writer);
    return status;
}
