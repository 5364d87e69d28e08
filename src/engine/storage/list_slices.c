#include "engine/storage/list_slices.h"

#include "base/integer.h"

/* Where a list of this length has its element `position`, or would have it. */
static int64_t from_begin(int64_t position, int64_t length)
{
    if (position >= length)
        return length;
    return position >= 0 ? position : position < -length ? -1 : length + position;
}

/* The elements `first` to `last` of a list, as row `to` of the columns. */
static void set_slice(const struct list_store *store, int64_t list, int64_t first, int64_t last, int64_t to,
                      struct column *starts, struct column *lengths)
{
    const int64_t length = column_get_int(store->lengths, list), last_of = from_begin(last, length);
    const int64_t from = max_int64(from_begin(first, length), 0), end = last_of < length ? last_of + 1 : length;
    column_set_int(starts, to, column_get_int(store->starts, list) + (end > from ? from : 0));
    column_set_int(lengths, to, end > from ? end - from : 0);
}

static struct list_store *store_of(const struct list_store *of, struct column *starts, struct column *lengths,
                                   int64_t count)
{
    if (starts)
        column_finish(starts, count);
    if (lengths)
        column_finish(lengths, count);
    return list_store_new(starts, lengths, relation_ref(of->elements), of->is_map);
}

struct list_store *list_store_slice(const struct list_store *store, int64_t first, int64_t last)
{
    struct column *starts = column_reserve(TYPE_I64, store->starts->store, store->count);
    struct column *lengths = column_reserve(TYPE_I64, store->lengths->store, store->count);
    for (int64_t k = 0; k < store->count && starts && lengths; k++)
        set_slice(store, k, first, last, k, starts, lengths);
    return store_of(store, starts, lengths, store->count);
}

static bool is_present(const struct row_value *value, int64_t row)
{
    return !value->missing && (!value->present || column_get_int(value->present, row));
}

static int64_t value_of(const struct row_value *value, int64_t row)
{
    return value->column ? column_get_int(value->column, row) : value->constant;
}

struct column *column_of_slices(const struct row_value *lists, const struct row_value *first,
                                const struct row_value *last)
{
    const struct list_store *store = lists->column->logical.lists;
    const int64_t rows = lists->column->rows;
    struct column *starts = column_reserve(TYPE_I64, store->starts->store, rows);
    struct column *lengths = column_reserve(TYPE_I64, store->lengths->store, rows);
    struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, rows);
    bool all = true;
    for (int64_t row = 0; row < rows && starts && lengths && validity; row++) {
        const bool present = is_present(lists, row) && is_present(first, row) && is_present(last, row);
        ((uint8_t *)column_at(validity, 0))[row] = present;
        all = all && present;
        if (present)
            set_slice(store, column_get_int(lists->column, row), value_of(first, row), value_of(last, row), row, starts,
                      lengths);
    }
    struct list_store *made = store_of(store, starts, lengths, rows);
    if (validity)
        column_finish(validity, rows);
    if (!validity || all) {
        column_unref(validity);
        return validity ? column_of_lists(made, rows, NULL) : (list_store_unref(made), NULL);
    }
    return column_of_lists(made, rows, validity);
}
