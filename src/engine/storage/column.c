#include "engine/storage/column.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/storage/list_store.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/residency.h"
#include "engine/values/dictionary.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct column *column_new(enum type type, enum type store)
{
    struct column *column = heap_array(1, sizeof *column);
    column->type = type;
    column->store = store;
    column->refs = 1;
    return column;
}

struct column *column_ref(struct column *column)
{
    assert(column->refs > 0);
    atomic_fetch_add_explicit(&column->refs, 1, memory_order_relaxed);
    return column;
}

bool column_is_unsorted(const struct column *column)
{
    return column->logical.dictionary && column->logical.dictionary->unsorted;
}

/* Columns with reserved memory own it and may write to it. */
static void *owned_data(const struct column *column)
{
    union {
        const void *shared;
        void *owned;
    } data = {.shared = column->data};
    return data.owned;
}

void column_unref(struct column *column)
{
    assert(!column || column->refs > 0);
    if (!column || atomic_fetch_sub_explicit(&column->refs, 1, memory_order_acq_rel) > 1)
        return;
    residency_discard(column, 0);
    if (column->reserved)
        buffer_pool_release(column->pool, owned_data(column), column->reserved);
    buffer_pool_unref(column->pool);
    if (column->stats)
        column->release_stats(column->stats);
    mapping_unref(column->mapping);
    column_unref(column->validity);
    dictionary_unref(column->logical.dictionary);
    list_store_unref(column->logical.lists);
    free(column);
}

void column_set_range(struct column *column, bool known, int64_t lo, int64_t hi)
{
    column->range_known = known;
    column->lo = lo;
    column->hi = hi;
}

void columns_finish(struct column **columns, size_t count, int64_t rows, bool good)
{
    for (size_t k = 0; k < count; k++) {
        if (columns[k] && good)
            column_finish(columns[k], rows);
        else if (columns[k])
            column_unref(columns[k]), columns[k] = NULL;
    }
}

void columns_unref(struct column *const *columns, size_t count)
{
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
}

void column_set_logical(struct column *column, struct logical_type logical)
{
    assert(!column->logical.dictionary && !column->logical.lists);
    column->logical = logical;
    dictionary_ref(logical.dictionary);
    list_store_ref(logical.lists);
}

void column_set_validity(struct column *column, struct column *validity)
{
    assert(!column->validity && (!validity || validity->type == TYPE_BOOL));
    column->validity = validity;
}

bool column_is_missing(const struct column *column, int64_t row)
{
    return column->validity && !((const uint8_t *)column->validity->data)[row];
}

bool column_has_missing(const struct column *column, int64_t rows)
{
    return column->validity && rows > 0 && memchr(column->validity->data, 0, (size_t)rows);
}

struct column *column_of_part(enum type type, struct mapping *mapping, size_t offset, int64_t rows)
{
    assert(offset % type_table[type].size == 0 &&
           offset + (size_t)rows * type_table[type].size <= mapping_length(mapping));
    struct column *column = column_new(type, type);
    column->rows = rows;
    column->data = rows > 0 ? (const char *)mapping_data(mapping) + offset : NULL;
    column->mapping = mapping_ref(mapping);
    return column;
}

struct column *column_of_mapping(enum type type, struct mapping *mapping)
{
    return column_of_part(type, mapping, 0, (int64_t)(mapping_length(mapping) / type_table[type].size));
}

struct column *column_unread(enum type type, struct logical_type logical, int64_t rows, bool nullable, bool provisional)
{
    struct column *column = column_new(type, type);
    struct column *validity = nullable ? column_new(TYPE_BOOL, TYPE_BOOL) : NULL;
    column->rows = rows;
    column->unread = true;
    column->provisional = provisional;
    column_set_logical(column, logical);
    if (validity) {
        validity->rows = rows;
        validity->unread = true;
    }
    column_set_validity(column, validity);
    return column;
}

int64_t column_get_int(const struct column *column, int64_t row)
{
    assert(row >= 0 && column->data && type_table[column->store].kind != KIND_FLOAT);
    const void *data = column->data;
    switch (column->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        return ((const element *)data)[row];
#define FLOAT_TYPE(type, ...)                                                                                          \
    case TYPE_##type:                                                                                                  \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
    return 0;
}

void column_set_int(struct column *column, int64_t row, int64_t value)
{
    void *at = column_at(column, row);
    switch (type_table[column->store].size) {
    case 1:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)value;
        break;
    default:
        *(int64_t *)at = value;
    }
}

/* `count` elements of an integer or bool column. */
static void get_integers(const struct column *column, int64_t row, int64_t count, int64_t *integers)
{
    switch (column->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            integers[i] = (int64_t)((const element *)column->data)[row + i];                                           \
        break;
#define FLOAT_TYPE(type, ...)                                                                                          \
    case TYPE_##type:                                                                                                  \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

static void copy_integers(struct column *to, const struct column *from, int64_t rows)
{
    enum { STRIP = 1024 };
    int64_t strip[STRIP];
    for (int64_t row = 0, count; row < rows; row += count) {
        count = min_int64(STRIP, rows - row);
        get_integers(from, row, count, to->store == TYPE_I64 ? column_at(to, row) : strip);
        int32_t *narrow = column_at(to, row);
        for (int64_t i = 0; i < count && to->store == TYPE_I32; i++)
            narrow[i] = (int32_t)strip[i];
        for (int64_t i = 0; i < count && to->store != TYPE_I64 && to->store != TYPE_I32; i++)
            column_set_int(to, row + i, strip[i]);
    }
}

void column_copy(struct column *to, const struct column *from, int64_t rows)
{
    if (from->store == to->store) {
        memcpy(column_at(to, 0), from->data, (size_t)rows * type_table[to->store].size);
        return;
    }
    if (to->store != TYPE_F64)
        copy_integers(to, from, rows);
    for (int64_t row = 0; row < rows && to->store == TYPE_F64; row++)
        ((double *)column_at(to, 0))[row] = column_get_float(from, row);
}

double column_get_float(const struct column *column, int64_t row)
{
    assert(row >= 0 && column->data && type_table[column->store].kind == KIND_FLOAT);
    if (column->store == TYPE_F32)
        return (double)((const float *)column->data)[row];
    return ((const double *)column->data)[row];
}

struct scalar column_get(const struct column *column, int64_t row)
{
    struct scalar scalar = {
        .kind = type_table[column->type].kind, .logical = column->logical, .missing = column_is_missing(column, row)};
    scalar.logical.dictionary = NULL;
    scalar.logical.lists = NULL;
    if (scalar.kind == KIND_FLOAT)
        scalar.number = column_get_float(column, row);
    else
        scalar.integer = column_get_int(column, row);
    if (column->logical.kind == LOGICAL_TEXT && !scalar.missing)
        scalar.text = dictionary_text(column->logical.dictionary, (int64_t)scalar.integer);
    return scalar;
}

struct column *column_without_rows(enum type type, enum type store)
{
    return column_new(type, store);
}

struct column *column_reserve(enum type type, enum type store, int64_t capacity)
{
    return column_reserve_from(NULL, type, store, capacity);
}

typedef void *alloc_fn(struct buffer_pool *pool, size_t size, size_t *allocated);

static struct column *reserve(alloc_fn *alloc, struct buffer_pool *pool, enum type type, enum type store,
                              int64_t capacity)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size;
    if (__builtin_mul_overflow((uint64_t)capacity, type_table[store].size, &size) || size > SIZE_MAX / 2)
        return NULL;
    /* One page more: a kernel may store a whole vector at the last element. */
    size_t reserved;
    void *data = alloc(pool, size + page, &reserved);
    if (!data)
        return NULL;
    struct column *column = column_new(type, store);
    column->data = data;
    column->reserved = reserved;
    column->pool = buffer_pool_ref(pool);
    return column;
}

struct column *column_reserve_from(struct buffer_pool *pool, enum type type, enum type store, int64_t capacity)
{
    return reserve(buffer_pool_alloc, pool, type, store, capacity);
}

static struct column *with_range(struct column *column, const struct column *from)
{
    if (column && from->range_known) {
        column_set_range(column, true, from->lo, from->hi);
    }
    return column;
}

struct column *column_reserve_like(struct buffer_pool *pool, const struct column *from, enum type type,
                                   int64_t capacity)
{
    return with_range(column_reserve_from(pool, type, from->store, capacity), from);
}

struct column *column_reserve_spilled(struct buffer_pool *pool, const struct column *from, int64_t capacity)
{
    return with_range(reserve(buffer_pool_alloc_spilled, pool, from->type, from->store, capacity), from);
}

void column_move_spilled(struct column *column)
{
    if (buffer_pool_holds_spilled(column->pool, column->data))
        return;
    size_t reserved;
    void *data = buffer_pool_alloc_spilled(column->pool, column->reserved, &reserved);
    if (!data)
        return;
    buffer_pool_release(column->pool, owned_data(column), column->reserved);
    column->data = data;
    column->reserved = reserved;
}

void *column_at(struct column *column, int64_t row)
{
    assert(row >= 0 && (size_t)row * type_table[column->store].size <= column->reserved);
    return (char *)owned_data(column) + (size_t)row * type_table[column->store].size;
}

/* Moves the first `used` bytes to a smaller block. On failure they stay. */
static void shrink(struct column *column, size_t used)
{
    size_t reserved;
    void *data = buffer_pool_alloc(column->pool, used, &reserved);
    if (!data)
        return;
    memcpy(data, column->data, used);
    buffer_pool_release(column->pool, owned_data(column), column->reserved);
    column->data = data;
    column->reserved = reserved;
}

void column_finish(struct column *column, int64_t rows)
{
    assert(rows >= 0 && (size_t)rows * type_table[column->store].size <= column->reserved);
    column->rows = rows;
    const size_t used = (size_t)rows * type_table[column->store].size;
    if (used > 0 && !column->residency && buffer_pool_is_oversized(column->pool, column->data, column->reserved, used))
        shrink(column, used);
    /* The device that fetches the rest writes whole vectors. */
    const size_t needed = column->residency ? used + (size_t)sysconf(_SC_PAGESIZE) : used;
    const size_t trimmed = buffer_pool_trimmed(column->reserved, needed);
    if (trimmed < column->reserved) {
        buffer_pool_release(column->pool, (char *)owned_data(column) + trimmed, column->reserved - trimmed);
        column->reserved = trimmed;
    }
    if (trimmed == 0)
        column->data = NULL;
}

struct column *column_reserve_codes(struct buffer_pool *pool, struct dictionary *dictionary, int64_t capacity)
{
    const enum type type = dictionary_code_type(dictionary->count);
    struct column *column = column_reserve_from(pool, type, type, capacity);
    if (column)
        column_set_logical(column, (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = dictionary});
    return column;
}

struct column *column_of_codes(struct dictionary *dictionary, const uint32_t *map, const uint32_t *numbers,
                               int64_t rows)
{
    struct column *column = column_reserve_codes(NULL, dictionary, rows);
    if (!column)
        return NULL;
    for (int64_t row = 0; row < rows; row++)
        column_set_int(column, row, map[numbers ? numbers[row] : row]);
    column_finish(column, rows);
    column->range_known = true;
    column->hi = dictionary->count > 0 ? dictionary->count - 1 : 0;
    return column;
}

struct column *column_of_ints(const int64_t *values, int64_t rows)
{
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, rows);
    if (!column)
        return NULL;
    if (rows > 0) {
        memcpy(column_at(column, 0), values, (size_t)rows * sizeof *values);
        column->lo = column->hi = values[0];
        column->range_known = true;
    }
    for (int64_t i = 1; i < rows; i++) {
        column->lo = values[i] < column->lo ? values[i] : column->lo;
        column->hi = values[i] > column->hi ? values[i] : column->hi;
    }
    column_finish(column, rows);
    return column;
}

struct column *column_of_floats(const double *values, int64_t rows)
{
    struct column *column = column_reserve(TYPE_F64, TYPE_F64, rows);
    if (!column)
        return NULL;
    if (rows > 0)
        memcpy(column_at(column, 0), values, (size_t)rows * sizeof *values);
    column_finish(column, rows);
    return column;
}

/* Inlined once for each size, so that the size is a constant in the loop. */
static inline __attribute__((always_inline)) void gather_as(const void *from, const uint64_t *rows, int count, void *to,
                                                            size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy((char *)to + (size_t)i * size, (const char *)from + rows[i] * size, size);
}

void column_gather(const struct column *column, const uint64_t *rows, int count, void *to)
{
    switch (type_table[column->store].size) {
    case 1:
        gather_as(column->data, rows, count, to, 1);
        break;
    case 2:
        gather_as(column->data, rows, count, to, 2);
        break;
    case 4:
        gather_as(column->data, rows, count, to, 4);
        break;
    default:
        gather_as(column->data, rows, count, to, 8);
    }
}

struct relation *relation_new(int64_t rows, size_t count, struct column *const *columns, const char *const *names)
{
    struct relation *relation = heap_array(1, sizeof *relation);
    relation->rows = rows;
    relation->count = count;
    relation->columns = heap_array(count, sizeof(struct column *));
    relation->names = heap_array(count, sizeof(char *));
    relation->refs = 1;
    for (size_t i = 0; i < count; i++) {
        assert(columns[i]->rows >= rows);
        relation->columns[i] = column_ref(columns[i]);
        relation->names[i] = heap_text(names[i]);
    }
    return relation;
}

static void free_axis_names(struct relation *relation)
{
    for (size_t i = 0; i < MOST_AXES; i++)
        free(relation->axis_names[i]);
}

void relation_set_shape(struct relation *relation, const struct shape *shape)
{
    free_axis_names(relation);
    relation->shape = *shape;
    for (size_t i = 0; i < MOST_AXES; i++) {
        relation->axis_names[i] = shape->names[i] ? heap_text(shape->names[i]) : NULL;
        relation->shape.names[i] = relation->axis_names[i];
    }
}

struct relation *relation_ref(struct relation *relation)
{
    assert(relation->refs > 0);
    atomic_fetch_add_explicit(&relation->refs, 1, memory_order_relaxed);
    return relation;
}

void relation_unref(struct relation *relation)
{
    if (!relation || atomic_fetch_sub_explicit(&relation->refs, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < relation->count; i++) {
        column_unref(relation->columns[i]);
        free(relation->names[i]);
    }
    if (relation->deferred)
        relation->deferred_unref(relation->deferred);
    free_axis_names(relation);
    free(relation->columns);
    free(relation->names);
    free(relation);
}
