/* .npy files as relations. */
#include "engine/numpy/npy.h"
#include "engine/numpy/npy_array.h"

#include <string.h>

enum { MAX_LISTED = 8 };

static void note_skipped(const struct npy_array *array)
{
    const struct npy_header *header = &array->header;
    const char *list = "";
    size_t count = 0;
    for (size_t k = 0; k < header->count; k++) {
        /* Fields without a name are padding. */
        if (header->fields[k].reading == NPY_NOT_READ && *header->fields[k].name && count++ < MAX_LISTED)
            list = arena_printf(array->job->diags->arena, "%s%s`%s` (%s)", list, *list ? ", " : "",
                                header->fields[k].name, header->fields[k].type);
    }
    if (count > 0)
        diag_note(array->job->diags, (struct span){0}, "`%s`: skipped fields of unsupported types: %s%s", array->path,
                  list, count > MAX_LISTED ? ", ..." : "");
}

static enum status check_types(const struct npy_array *array)
{
    const struct npy_header *header = &array->header;
    for (size_t k = 0; k < header->count; k++) {
        if (header->fields[k].reading != NPY_NOT_READ)
            return STATUS_OK;
    }
    const char *type = header->count > 0 ? header->fields[0].type : "nothing";
    return diag_error_hint(
        array->job->diags, array->job->span,
        "convert it in NumPy with `a.astype(...)` to bool, int8 to int64, uint8 to uint32, float32 or float64",
        "`%s` has the unsupported type %s", array->path, type);
}

static void set_shape(struct relation *relation, const struct npy_header *header)
{
    struct shape shape = {.axes = (int)header->dimension_count};
    memcpy(shape.extents, header->dimensions, header->dimension_count * sizeof *shape.extents);
    relation_set_shape(relation, &shape);
}

static enum status read_columns(const struct npy_array *array, struct relation **relation)
{
    const struct npy_header *header = &array->header;
    struct arena *arena = array->job->diags->arena;
    struct column **columns = arena_array(arena, header->count, sizeof(struct column *));
    const char **names = arena_array(arena, header->count, sizeof *names);
    size_t count = 0;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < header->count && status == STATUS_OK; k++) {
        const struct npy_field *field = &header->fields[k];
        if (field->reading == NPY_NOT_READ)
            continue;
        names[count] = field->name;
        status = npy_array_column(array, field, &columns[count]);
        count += status == STATUS_OK;
    }
    if (status == STATUS_OK) {
        note_skipped(array);
        *relation = relation_new(array->rows, count, columns, names);
        if (header->dimension_count >= 2 && array->rows > 0)
            set_shape(*relation, header);
    }
    columns_unref(columns, count);
    return status;
}

enum status read_npy(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    struct npy_array array = {.job = job, .path = mapping_path(mapping)};
    enum status status = npy_array_open(&array, mapping, 0, mapping_length(mapping));
    if (status == STATUS_OK)
        status = check_types(&array);
    if (status == STATUS_OK)
        status = read_columns(&array, relation);
    npy_array_close(&array);
    return status;
}
