
#include "engine/formats/append_column.h"

#include "base/heap.h"
#include "base/text.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

static size_t find_field(const struct relation *elements, const char *name)
{
    size_t k = 0;
    while (k < elements->count && strcmp(elements->names[k], name) != 0)
        k++;
    return k;
}

bool lists_are_empty(const struct list_store *store)
{
    return !store->unread && store->elements->rows == 0;
}

/* Whether all that is in the lists are `{}`, which are texts for want of fields, or objects that have some. */
static bool are_bare_objects(const struct list_store *store)
{
    if (store->unread || !list_store_is_plain(store) || store->elements->count != 1)
        return false;
    const struct dictionary *dictionary = store->elements->columns[0]->logical.dictionary;
    return dictionary && dictionary->count == 1 && text_is(dictionary_text(dictionary, 0), "{}");
}

static bool are_objects(const struct list_store *store)
{
    return !list_store_is_plain(store) && !store->is_map;
}

bool lists_fit(const struct list_store *a, const struct list_store *b)
{
    if (lists_are_empty(a) || lists_are_empty(b))
        return true;
    if ((are_bare_objects(a) && are_objects(b)) || (are_objects(a) && are_bare_objects(b)))
        return true;
    bool fits = list_store_is_plain(a) == list_store_is_plain(b) && a->is_map == b->is_map;
    for (size_t k = 0; k < a->elements->count && fits; k++) {
        const size_t other = find_field(b->elements, a->elements->names[k]);
        if (other == b->elements->count)
            continue;
        const struct column *one = a->elements->columns[k], *two = b->elements->columns[other];
        struct column_type type = {one->type, one->logical};
        if (!a->unread && !b->unread && (column_is_vacant(one) || column_is_vacant(two)))
            continue;
        fits = type_widen(&type, (struct column_type){two->type, two->logical});
    }
    return fits;
}

/* How long the beginning is that two paths share, up to a point or the end of one. */
static size_t shared_path(const char *a, const char *b)
{
    size_t shared = 0;
    for (size_t i = 0;; i++) {
        const bool ends[] = {a[i] == '\0' || a[i] == '.', b[i] == '\0' || b[i] == '.'};
        if (ends[0] && ends[1])
            shared = i + 1;
        if (a[i] != b[i] || a[i] == '\0')
            return shared;
    }
}

/* Where a field's name is put: fields of one object stand together, behind the value that the object may be. */
static size_t place_of(const char *const *names, size_t count, const char *name)
{
    const size_t length = strlen(name);
    size_t place = count, longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t shared = shared_path(names[i], name);
        if (shared > length)
            return i;
        place = shared > 0 && shared >= longest ? i + 1 : place;
        longest = shared > longest ? shared : longest;
    }
    return place;
}

/* The fields of all stores, each once; those of a store without elements count if no store has any, and objects without
 * fields have none if others have. */
static const char **all_fields(struct list_store *const *stores, size_t count, size_t *fields, bool *is_map)
{
    bool all_empty = true, objects = false;
    for (size_t s = 0; s < count; s++) {
        all_empty = all_empty && lists_are_empty(stores[s]);
        objects = objects || (are_objects(stores[s]) && !lists_are_empty(stores[s]));
    }
    size_t capacity = 0;
    const char **names = NULL;
    *fields = 0;
    for (size_t s = 0; s < count; s++) {
        const struct relation *elements = stores[s]->elements;
        if ((lists_are_empty(stores[s]) && !all_empty) || (objects && are_bare_objects(stores[s])))
            continue;
        *is_map = stores[s]->is_map;
        for (size_t k = 0; k < elements->count; k++) {
            size_t seen = 0;
            while (seen < *fields && strcmp(names[seen], elements->names[k]) != 0)
                seen++;
            if (seen < *fields)
                continue;
            names = heap_reserve((void *)names, *fields, &capacity, sizeof *names);
            const size_t place = place_of(names, *fields, elements->names[k]);
            memmove((void *)(names + place + 1), (void *)(names + place), ((*fields)++ - place) * sizeof *names);
            names[place] = elements->names[k];
        }
    }
    return names;
}

/* The elements' columns of this name, one behind the other. */
static struct column *append_field(struct list_store *const *stores, size_t count, const char *name,
                                   const int64_t *rows, int64_t total, const struct workers *workers, bool *too_large)
{
    struct column **pieces = heap_array(count, sizeof(struct column *));
    struct column_type type = {.type = TYPE_I64};
    bool known = false, vacant = false, fits = true;
    for (size_t s = 0; s < count; s++) {
        const struct relation *elements = stores[s]->elements;
        const size_t k = find_field(elements, name);
        pieces[s] = k < elements->count ? elements->columns[k] : NULL;
        if (!pieces[s])
            continue;
        const struct column_type own = {pieces[s]->type, pieces[s]->logical};
        const bool is_vacant = column_is_vacant(pieces[s]);
        if (!known || (vacant && !is_vacant))
            type = own;
        else if (!is_vacant)
            fits = type_widen(&type, own) && fits;
        vacant = is_vacant && (!known || vacant);
        known = true;
    }
    type.logical.dictionary = NULL;
    const struct column_pieces all = {pieces, rows, count, total};
    struct column *column = fits ? append_columns(&all, type, workers, too_large) : NULL;
    free(pieces);
    return column;
}

/* The starts and lengths, behind each other; starts are moved by where the elements begin. */
static bool append_bounds(struct list_store *const *stores, size_t count, const int64_t *rows, int64_t lists,
                          struct column **starts, struct column **lengths)
{
    *starts = column_reserve(TYPE_I64, TYPE_I64, lists);
    *lengths = column_reserve(TYPE_I64, TYPE_I64, lists);
    if (!*starts || !*lengths) {
        column_unref(*starts);
        column_unref(*lengths);
        return false;
    }
    int64_t first = 0, at = 0;
    for (size_t s = 0; s < count; first += rows[s++]) {
        for (int64_t k = 0; k < stores[s]->count; k++, at++) {
            column_set_int(*starts, at, first + column_get_int(stores[s]->starts, k));
            column_set_int(*lengths, at, column_get_int(stores[s]->lengths, k));
        }
    }
    column_finish(*starts, lists);
    column_finish(*lengths, lists);
    return true;
}

struct list_store *append_lists(struct list_store *const *stores, size_t count, int64_t *firsts,
                                const struct workers *workers, bool *too_large)
{
    int64_t *rows = heap_array(count, sizeof *rows), total = 0, lists = 0;
    size_t fields, made = 0;
    *too_large = false;
    for (size_t s = 0; s < count; s++) {
        firsts[s] = lists;
        rows[s] = stores[s]->elements->rows;
        total += rows[s];
        lists += stores[s]->count;
    }
    bool is_map = false;
    const char **names = all_fields(stores, count, &fields, &is_map);
    struct column **columns = heap_array(fields, sizeof(struct column *)), *starts, *lengths;
    bool fine = true;
    for (; made < fields && fine; made++) {
        columns[made] = append_field(stores, count, names[made], rows, total, workers, too_large);
        fine = columns[made];
    }
    struct list_store *store = NULL;
    if (fine && append_bounds(stores, count, rows, lists, &starts, &lengths))
        store = list_store_new(starts, lengths, relation_new(total, fields, columns, names), is_map);
    columns_unref(columns, made);
    free(columns);
    free((void *)names);
    free(rows);
    return store;
}
