#include "engine/storage/list_store.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/storage/file_reader.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct list_store *list_store_ref(struct list_store *store)
{
    assert(!store || store->refs > 0);
    if (store)
        atomic_fetch_add_explicit(&store->refs, 1, memory_order_relaxed);
    return store;
}

void list_store_unref(struct list_store *store)
{
    assert(!store || store->refs > 0);
    if (!store || atomic_fetch_sub_explicit(&store->refs, 1, memory_order_acq_rel) > 1)
        return;
    column_unref(store->starts);
    column_unref(store->lengths);
    relation_unref(store->elements);
    free(store->type.name);
    free(store);
}

bool list_store_is_plain(const struct list_store *store)
{
    return store->elements->count == 1 && store->elements->names[0][0] == '\0';
}

/* "list of text", "map of text to i64", "list of (price f64, qty i64)". */
static char *type_name(const struct relation *elements, bool is_map)
{
    enum { MOST_SHOWN = 64 };
    struct strbuf name = {0};
    const bool entries = is_map && elements->count == 2;
    const bool fields = !entries && (elements->count > 1 || elements->names[0][0] != '\0');
    strbuf_puts(&name, is_map ? "map of " : "list of ");
    strbuf_puts(&name, fields ? "(" : "");
    for (size_t k = 0; k < elements->count; k++) {
        const struct column *column = elements->columns[k];
        if (k > 0)
            strbuf_puts(&name, entries ? " to " : ", ");
        if (elements->names[k][0] != '\0' && !entries)
            strbuf_printf(&name, "%s ", elements->names[k]);
        strbuf_puts(&name, logical_type_name(column->logical, column->type));
        if (name.length > MOST_SHOWN && k + 1 < elements->count) {
            strbuf_printf(&name, ", ... (%zu fields)", elements->count);
            break;
        }
    }
    strbuf_puts(&name, fields ? ")" : "");
    char *text = heap_text(name.text);
    strbuf_free(&name);
    return text;
}

/* Sets the known range; false if an element is not in 0..INT64_MAX. */
static bool find_range(struct column *column)
{
    int64_t least = INT64_MAX, most = 0;
    for (int64_t k = 0; k < column->rows; k++) {
        const int64_t value = column_get_int(column, k);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    column_set_range(column, true, column->rows > 0 ? least : 0, most);
    return column->lo >= 0;
}

static bool are_within(const struct column *starts, const struct column *lengths, int64_t elements)
{
    if (starts->hi <= elements && lengths->hi <= elements - starts->hi)
        return true;
    for (int64_t k = 0; k < starts->rows; k++) {
        const int64_t start = column_get_int(starts, k), length = column_get_int(lengths, k);
        if (start > elements || length > elements - start)
            return false;
    }
    return true;
}

/* In place of columns without rows, those of one empty list. */
static struct column *one_at_least(struct column *column)
{
    static const int64_t zero = 0;
    if (!column || column->rows > 0)
        return column;
    column_unref(column);
    return column_of_ints(&zero, 1);
}

struct list_store *list_store_new(struct column *starts, struct column *lengths, struct relation *elements, bool is_map)
{
    struct column *first = one_at_least(starts), *count = one_at_least(lengths);
    if (!first || !count || !elements || elements->count == 0 || first->rows != count->rows || first->validity ||
        count->validity || !find_range(first) || !find_range(count) || !are_within(first, count, elements->rows)) {
        column_unref(first);
        column_unref(count);
        relation_unref(elements);
        return NULL;
    }
    return HEAP_NEW(struct list_store, .type.name = type_name(elements, is_map), .count = first->rows, .starts = first,
                    .lengths = count, .elements = elements, .is_map = is_map, .refs = 1);
}

struct list_store *list_store_of_offsets(const int64_t *offsets, int64_t count, struct relation *elements, bool is_map)
{
    int64_t longest = 0;
    bool ascend = true;
    for (int64_t k = 0; k < count; k++) {
        ascend = ascend && offsets[k] >= 0 && offsets[k + 1] >= offsets[k];
        longest = ascend && offsets[k + 1] - offsets[k] > longest ? offsets[k + 1] - offsets[k] : longest;
    }
    const enum type narrow = longest <= UINT8_MAX ? TYPE_U8 : longest <= INT32_MAX ? TYPE_I32 : TYPE_I64;
    const enum type wide = count == 0 || (ascend && offsets[count] <= INT32_MAX) ? TYPE_I32 : TYPE_I64;
    struct column *starts = ascend ? column_reserve(TYPE_I64, wide, count) : NULL;
    struct column *lengths = ascend ? column_reserve(TYPE_I64, narrow, count) : NULL;
    for (int64_t k = 0; k < count && starts && lengths; k++) {
        column_set_int(starts, k, offsets[k]);
        column_set_int(lengths, k, offsets[k + 1] - offsets[k]);
    }
    if (starts)
        column_finish(starts, count);
    if (lengths)
        column_finish(lengths, count);
    return list_store_new(starts, lengths, elements, is_map);
}

struct list_store *list_store_unread(struct relation *elements, bool is_map)
{
    static const int64_t zero = 0;
    struct list_store *store = list_store_of_offsets(&zero, 0, elements, is_map);
    if (!store)
        heap_exhausted();
    store->unread = true;
    return store;
}

struct list_store *list_store_unread_like(const struct list_store *store)
{
    const struct relation *elements = store->elements;
    struct reader_column *described = heap_array(elements->count, sizeof *described);
    for (size_t k = 0; k < elements->count; k++) {
        const struct column *column = elements->columns[k];
        described[k] = (struct reader_column){.name = elements->names[k],
                                              .type = column->type,
                                              .logical = column->logical,
                                              .nullable = column->validity || column->unread};
        list_store_ref(column->logical.lists);
    }
    struct list_store *unread = list_store_of_described(described, elements->count, store->is_map);
    free(described);
    return unread;
}

struct list_store *list_store_of_described(const struct reader_column *described, size_t count, bool is_map)
{
    struct column **columns = heap_array(count, sizeof *columns);
    const char **names = heap_array(count, sizeof *names);
    for (size_t k = 0; k < count; k++) {
        names[k] = described[k].name;
        columns[k] = column_unread(described[k].type, described[k].logical, 0, described[k].nullable, false);
        list_store_unref(described[k].logical.lists);
    }
    struct relation *elements = relation_new(0, count, columns, names);
    columns_unref(columns, count);
    free((void *)columns);
    free((void *)names);
    return list_store_unread(elements, is_map);
}

struct column *column_of_lists(struct list_store *store, int64_t rows, struct column *validity)
{
    const enum type narrow = rows <= INT32_MAX ? TYPE_I32 : TYPE_I64;
    struct column *column = store ? column_reserve(TYPE_I64, narrow, rows) : NULL;
    if (!column) {
        list_store_unref(store);
        column_unref(validity);
        return NULL;
    }
    assert(rows <= store->count && (!validity || validity->rows >= rows));
    for (int64_t k = 0; k < rows; k++) {
        const bool missing = validity && !((const uint8_t *)validity->data)[k];
        column_set_int(column, k, missing ? 0 : k);
    }
    column_finish(column, rows);
    column->range_known = true;
    column->hi = rows > 0 ? rows - 1 : 0;
    column_set_logical(column, (struct logical_type){.kind = LOGICAL_LIST, .lists = store});
    column_set_validity(column, validity);
    list_store_unref(store);
    return column;
}

struct column *list_lengths(const struct column *lists)
{
    const struct column *lengths = lists->logical.lists->lengths;
    struct column *column = column_reserve(TYPE_I64, lengths->store, lists->rows);
    if (!column)
        return NULL;
    for (int64_t row = 0; row < lists->rows; row++) {
        if (!column_is_missing(lists, row))
            column_set_int(column, row, column_get_int(lengths, column_get_int(lists, row)));
    }
    column_finish(column, lists->rows);
    column_set_validity(column, lists->validity ? column_ref(lists->validity) : NULL);
    return column;
}
