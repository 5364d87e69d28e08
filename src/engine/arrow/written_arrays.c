#include "engine/arrow/written_arrays.h"

#include "base/heap.h"
#include "engine/arrow/schema.h"
#include "engine/storage/list_store.h"

#include <stdlib.h>

/* Rows begin..begin+count-1, or those listed. */
struct chosen {
    const int64_t *rows; /* NULL: the former */
    int64_t begin, count;
};

static const char no_memory[] = "there is not enough memory";

static int64_t row_of(const struct chosen *chosen, int64_t i)
{
    return chosen->rows ? chosen->rows[i] : chosen->begin + i;
}

static void *own(struct written_arrays *arrays, size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        return NULL;
    arrays->memory =
        heap_reserve((void *)arrays->memory, arrays->memory_count, &arrays->memory_capacity, sizeof *arrays->memory);
    return arrays->memory[arrays->memory_count++] = memory;
}

static const char *find_fields(struct written_arrays *arrays, const struct nest *parent, const struct chosen *chosen);

/* Adds an array whose values are missing where `present` is 0. */
static struct written_array *add_array(struct written_arrays *arrays, const struct chosen *chosen,
                                       const uint8_t *present)
{
    uint8_t *valid = present && chosen->rows ? own(arrays, (size_t)chosen->count, 1) : NULL;
    if (present && chosen->rows && !valid)
        return NULL;
    arrays->at = heap_reserve(arrays->at, arrays->count, &arrays->capacity, sizeof *arrays->at);
    struct written_array *array = &arrays->at[arrays->count++];
    *array = (struct written_array){.rows = chosen->count};
    for (int64_t i = 0; present && i < chosen->count; i++) {
        const uint8_t there = present[row_of(chosen, i)];
        array->missing += !there;
        if (valid)
            valid[i] = there;
    }
    if (array->missing > 0)
        array->valid = valid ? valid : present + chosen->begin;
    return array;
}

static const char *find_values(struct written_arrays *arrays, const struct column *column, const struct chosen *chosen)
{
    struct written_array *array =
        add_array(arrays, chosen, column->validity ? (const uint8_t *)column->validity->data : NULL);
    if (!array)
        return no_memory;
    array->column = column;
    array->begin = chosen->begin;
    if (!chosen->rows)
        return NULL;
    struct column *taken = nest_take(column, chosen->rows, chosen->count);
    if (!taken)
        return no_memory;
    arrays->columns =
        heap_reserve((void *)arrays->columns, arrays->column_count, &arrays->column_capacity, sizeof *arrays->columns);
    arrays->columns[arrays->column_count++] = taken;
    array->column = taken;
    array->begin = 0;
    return NULL;
}

/* Sets where the elements of each list begin; of missing lists there are none. */
static int64_t *find_offsets(struct written_arrays *arrays, const struct column *column, const struct chosen *chosen)
{
    const struct list_store *store = column->logical.lists;
    int64_t *offsets = own(arrays, (size_t)chosen->count + 1, sizeof *offsets);
    for (int64_t i = 0; offsets && i < chosen->count; i++) {
        const int64_t row = row_of(chosen, i);
        offsets[i + 1] = offsets[i];
        if (!column_is_missing(column, row))
            offsets[i + 1] += column_get_int(store->lengths, column_get_int(column, row));
    }
    return offsets;
}

static const char *find_lists(struct written_arrays *arrays, const struct nest *list, const struct chosen *chosen)
{
    const struct column *column = list->column;
    const struct list_store *store = column->logical.lists;
    struct written_array *array =
        add_array(arrays, chosen, column->validity ? (const uint8_t *)column->validity->data : NULL);
    int64_t *offsets = array ? find_offsets(arrays, column, chosen) : NULL;
    if (!offsets)
        return no_memory;
    array->offsets = offsets;
    array->is_large = !list->is_map && arrow_list_is_large(list);
    const int64_t count = offsets[chosen->count];
    if (!array->is_large && count > INT32_MAX)
        return "its lists have too many elements";
    int64_t *rows = own(arrays, (size_t)count, sizeof *rows);
    if (!rows)
        return no_memory;
    for (int64_t i = 0; i < chosen->count; i++) {
        const int64_t length = offsets[i + 1] - offsets[i];
        const int64_t first = length > 0 ? column_get_int(store->starts, column_get_int(column, row_of(chosen, i))) : 0;
        for (int64_t k = 0; k < length; k++)
            rows[offsets[i] + k] = first + k;
    }
    const struct chosen elements = {.rows = rows, .count = count};
    if (!nest_elements_are_plain(list) && !add_array(arrays, &elements, list->present))
        return no_memory;
    return find_fields(arrays, list, &elements);
}

static const char *find_fields(struct written_arrays *arrays, const struct nest *parent, const struct chosen *chosen)
{
    const char *problem = NULL;
    for (const struct nest *field = parent->first; field && !problem; field = field->next) {
        if (field->is_list)
            problem = find_lists(arrays, field, chosen);
        else if (field->column)
            problem = find_values(arrays, field->column, chosen);
        else
            problem = add_array(arrays, chosen, field->present) ? find_fields(arrays, field, chosen) : no_memory;
    }
    return problem;
}

const char *written_arrays_find(const struct nest *root, int64_t begin, int64_t rows, struct written_arrays *arrays)
{
    *arrays = (struct written_arrays){0};
    return find_fields(arrays, root, &(struct chosen){.begin = begin, .count = rows});
}

void written_arrays_free(struct written_arrays *arrays)
{
    for (size_t i = 0; i < arrays->memory_count; i++)
        free(arrays->memory[i]);
    columns_unref(arrays->columns, arrays->column_count);
    free((void *)arrays->memory);
    free((void *)arrays->columns);
    free(arrays->at);
}
