#include "engine/arrow/columns.h"

#include "base/heap.h"
#include "engine/storage/list_store.h"
#include "engine/storage/mapped_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- the columns of a schema ---- */

static void add_field(struct arena *arena, struct arrow_columns *columns, struct arrow_field *field, const char *prefix,
                      const char *name);

static void add_children(struct arena *arena, struct arrow_columns *columns, const struct arrow_field *field,
                         const char *prefix)
{
    for (size_t k = 0; k < field->child_count; k++)
        add_field(arena, columns, &field->children[k], prefix, field->children[k].name);
}

static void add_elements(struct arena *arena, struct arrow_columns *columns, const struct arrow_field *list)
{
    struct arrow_field *child = &list->children[0];
    if (list->is_map) {
        add_field(arena, columns, &child->children[0], "", "key");
        add_field(arena, columns, &child->children[1], "", "value");
    } else {
        add_field(arena, columns, child, "", "");
    }
}

static void add_field(struct arena *arena, struct arrow_columns *columns, struct arrow_field *field, const char *prefix,
                      const char *name)
{
    const bool is_member = *prefix && *name;
    if (is_member)
        name = arena_printf(arena, "%s.%s", prefix, name);
    else if (*prefix)
        name = prefix;
    struct arrow_column column = {.name = name, .field = field};
    if (field->reading == READING_STRUCT) {
        add_children(arena, columns, field, name);
        return;
    }
    if (field->reading == READING_NONE)
        return;
    if (arrow_is_nested(field)) {
        add_elements(arena, &column.elements, field);
        if (column.elements.count == 0)
            return;
    }
    field->logical.member = is_member;
    *ARENA_PUSH(arena, columns->at, columns->count, columns->capacity) = column;
}

void arrow_columns_find(const struct arrow_schema *schema, struct arena *arena, struct arrow_columns *columns)
{
    *columns = (struct arrow_columns){0};
    for (size_t k = 0; k < schema->count; k++)
        add_field(arena, columns, &schema->fields[k], "", schema->fields[k].name);
}

bool arrow_is_nullable(const struct arrow_file *file, const struct arrow_field *field)
{
    struct arrow_array array;
    for (size_t b = 0; b < file->batch_count; b++) {
        const struct arrow_field *around = field;
        do {
            if (!arrow_array_of(&file->batches[b], around, false, &array) || array.missing > 0)
                return true;
            around = around->parent;
        } while (around && around->reading == READING_STRUCT);
    }
    for (size_t d = 0; field->in_dictionary && d < file->dictionary_count; d++) {
        if (file->dictionaries[d].id == field->dictionary &&
            (!arrow_array_of(&file->dictionaries[d].batch, field, true, &array) || array.missing > 0))
            return true;
    }
    return false;
}

int64_t arrow_rows_of(const struct arrow_batch *batch, const struct arrow_field *field)
{
    return flat_vector_int(&batch->nodes, field->node, 0, 8);
}

int64_t arrow_column_rows(const struct arrow_file *file, const struct arrow_field *field)
{
    int64_t rows = 0;
    for (size_t b = 0; b < file->batch_count; b++)
        rows += arrow_rows_of(&file->batches[b], field);
    return rows;
}

/* Stands for lists that are not read, whose types it has. */
static struct list_store *unread_lists(const struct arrow_file *file, const struct arrow_column *list)
{
    const size_t count = list->elements.count;
    struct reader_column *columns = heap_array(count, sizeof *columns);
    for (size_t k = 0; k < count; k++)
        columns[k] = arrow_column_describe(file, &list->elements.at[k]);
    struct list_store *store = list_store_of_described(columns, count, list->field->is_map);
    free(columns);
    return store;
}

struct reader_column arrow_column_describe(const struct arrow_file *file, const struct arrow_column *column)
{
    const struct arrow_field *field = column->field;
    struct reader_column described = {
        .name = column->name, .type = field->as, .logical = field->logical, .nullable = arrow_is_nullable(file, field)};
    if (column->elements.count > 0)
        described.logical.lists = unread_lists(file, column);
    return described;
}

/* ---- lists ---- */

/* The lists of one batch. */
struct batch_lists {
    const struct arrow_batch *batch;
    const struct arrow_field *field;
    struct arrow_array array;
    struct arrow_bytes offsets, lengths;
    int64_t first, elements; /* of the child's rows, the first of the batch and their number */
};

static bool open_lists(struct batch_lists *lists)
{
    const struct arrow_field *field = lists->field;
    if (!arrow_array_of(lists->batch, field, false, &lists->array))
        return false;
    if (field->reading == READING_FIXED_LIST || lists->array.rows == 0)
        return true;
    const size_t rows = (size_t)lists->array.rows;
    if (!arrow_bytes_load(&lists->array, 1, &lists->offsets))
        return false;
    if (field->reading == READING_LIST)
        return lists->offsets.size >= (rows + 1) * field->width;
    return lists->offsets.size >= rows * field->width && arrow_bytes_load(&lists->array, 2, &lists->lengths) &&
           lists->lengths.size >= rows * field->width;
}

/* The first element and their number of the list in a row; false if they are not within the child's. */
static bool list_at(const struct batch_lists *lists, int64_t row, int64_t *start, int64_t *length)
{
    const struct arrow_field *field = lists->field;
    const size_t width = field->width, at = (size_t)row * width;
    if (field->reading == READING_FIXED_LIST) {
        *start = row * field->list_size;
        *length = field->list_size;
    } else {
        *start = load_int(lists->offsets.data + at, width);
        *length = field->reading == READING_LIST
                      ? (int64_t)((uint64_t)load_int(lists->offsets.data + at + width, width) - (uint64_t)*start)
                      : load_int(lists->lengths.data + at, width);
    }
    return *start >= 0 && *length >= 0 && *start <= lists->elements && *length <= lists->elements - *start;
}

/* The columns of starts and lengths being made, and which lists are missing. */
struct making {
    struct column *starts, *lengths, *validity;
    int64_t missing;
};

static const char *read_batch(const struct batch_lists *lists, int64_t row, struct making *making)
{
    int64_t missing, *starts = column_at(making->starts, row), *lengths = column_at(making->lengths, row);
    uint8_t *valid = column_at(making->validity, row);
    const int64_t rows = lists->array.rows;
    bool any;
    if (!arrow_validity_of(lists->batch, lists->field, 0, rows, valid, &any, &missing))
        return "a buffer is damaged or too short";
    if (!any)
        memset(valid, 1, (size_t)rows);
    making->missing += missing;
    for (int64_t i = 0; i < rows; i++) {
        starts[i] = lengths[i] = 0;
        if (!valid[i])
            continue;
        if (!list_at(lists, i, &starts[i], &lengths[i]))
            return "a list is not within its elements";
        starts[i] += lists->first;
    }
    return NULL;
}

static const char *read_lists(const struct arrow_file *file, const struct arrow_field *field, struct making *making)
{
    const char *problem = NULL;
    int64_t row = 0, first = 0;
    for (size_t b = 0; b < file->batch_count && !problem; b++) {
        const struct arrow_batch *batch = &file->batches[b];
        struct batch_lists lists = {.batch = batch, .field = field, .first = first};
        lists.elements = arrow_rows_of(batch, &field->children[0]);
        problem = open_lists(&lists) ? read_batch(&lists, row, making) : "a buffer is damaged or too short";
        arrow_bytes_release(&lists.offsets);
        arrow_bytes_release(&lists.lengths);
        row += lists.array.rows;
        first += lists.elements;
    }
    return problem;
}

static enum status no_memory(const struct arrow_lists *lists)
{
    return file_memory_error(mapping_path(lists->file->mapping), lists->job->span, lists->job->diags);
}

/* Makes the column of lists of these elements, to which it takes over the reference. */
static enum status make_lists(const struct arrow_lists *lists, const struct arrow_field *field,
                              struct relation *elements, struct column **made)
{
    const int64_t rows = arrow_column_rows(lists->file, field);
    struct making making = {.starts = column_reserve(TYPE_I64, TYPE_I64, rows),
                            .lengths = column_reserve(TYPE_I64, TYPE_I64, rows),
                            .validity = column_reserve(TYPE_BOOL, TYPE_BOOL, rows)};
    const bool reserved = making.starts && making.lengths && making.validity;
    const char *problem = reserved ? read_lists(lists->file, field, &making) : NULL;
    if (!reserved || problem) {
        column_unref(making.starts);
        column_unref(making.lengths);
        column_unref(making.validity);
        relation_unref(elements);
        return problem ? diag_error(lists->job->diags, lists->job->span, "`%s`, column `%s`: %s",
                                    mapping_path(lists->file->mapping), field->path, problem)
                       : no_memory(lists);
    }
    column_finish(making.starts, rows);
    column_finish(making.lengths, rows);
    column_finish(making.validity, rows);
    if (making.missing == 0) {
        column_unref(making.validity);
        making.validity = NULL;
    }
    struct list_store *store = list_store_new(making.starts, making.lengths, elements, field->is_map);
    *made = column_of_lists(store, rows, making.validity);
    if (!*made)
        return no_memory(lists);
    (*made)->logical.member = field->logical.member;
    return STATUS_OK;
}

enum status arrow_column_make(const struct arrow_lists *lists, const struct arrow_column *column,
                              struct column_reading **next, struct column **made)
{
    const size_t count = column->elements.count;
    if (count == 0) {
        *made = (*next)->column;
        (*next)++->column = NULL;
        return STATUS_OK;
    }
    struct column **columns = heap_array(count, sizeof *columns);
    const char **names = heap_array(count, sizeof *names);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && status == STATUS_OK; k++) {
        names[k] = column->elements.at[k].name;
        status = arrow_column_make(lists, &column->elements.at[k], next, &columns[k]);
    }
    if (status == STATUS_OK)
        status = make_lists(lists, column->field, relation_new(columns[0]->rows, count, columns, names), made);
    columns_unref(columns, count);
    free((void *)columns);
    free((void *)names);
    return status;
}
