#include "engine/formats/append_column.h"

#include "base/heap.h"
#include "base/time/time_zone.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 18 };

struct join {
    const struct column_pieces *pieces;
    int64_t *begins;     /* of each piece, in the result */
    int64_t *part_count; /* parts of the pieces before */
    int64_t *factors;    /* to the result's scale */
    uint32_t **maps;     /* from codes to the result's, or NULL */
    int64_t *firsts;     /* of lists: what is added to their numbers, or NULL */
    struct column *joined;
    struct column *validity; /* or NULL */
    atomic_bool too_large;
};

static bool is_integer(struct column_type type)
{
    return type.logical.kind == LOGICAL_NUMBER && type_table[type.type].kind == KIND_INT;
}

static enum type integer_type(enum type a, enum type b)
{
    static const enum type by_width[] = {TYPE_I8, TYPE_U8, TYPE_I16, TYPE_U16, TYPE_I32, TYPE_U32};
    for (size_t i = 0; i < sizeof by_width / sizeof *by_width; i++) {
        const struct type_info *info = &type_table[by_width[i]];
        if (info->lo <= type_table[a].lo && info->lo <= type_table[b].lo && info->hi >= type_table[a].hi &&
            info->hi >= type_table[b].hi)
            return by_width[i];
    }
    return TYPE_I64;
}

static bool numbers_widen(struct column_type *type, struct column_type other)
{
    if (type->type == other.type)
        return true;
    if (type->type == TYPE_BOOL || other.type == TYPE_BOOL)
        return false;
    type->type = is_integer(*type) && is_integer(other) ? integer_type(type->type, other.type) : TYPE_F64;
    return true;
}

/* Instants of different zones are shown in UTC. */
static bool zones_widen(struct logical_type *type, const struct logical_type *other)
{
    if (type->zone != other->zone && type->zone && other->zone)
        type->zone = &time_zone_utc;
    return type->zone == other->zone || (type->zone && other->zone);
}

static bool lists_widen(struct logical_type *type, const struct logical_type *other)
{
    const bool fit = lists_fit(type->lists, other->lists);
    if (fit && lists_are_empty(type->lists))
        type->lists = other->lists;
    return fit;
}

bool column_may_be_vacant(struct logical_type type)
{
    return type.kind == LOGICAL_TEXT ? !type.dictionary : type.kind == LOGICAL_LIST && type.lists->unread;
}

bool type_widen(struct column_type *type, struct column_type other)
{
    const enum logical a = type->logical.kind, b = other.logical.kind;
    if (a == LOGICAL_NUMBER && b == LOGICAL_NUMBER)
        return numbers_widen(type, other);
    const bool decimals = (a == LOGICAL_DECIMAL || is_integer(*type)) && (b == LOGICAL_DECIMAL || is_integer(other));
    if (a == LOGICAL_LIST && b == LOGICAL_LIST)
        return lists_widen(&type->logical, &other.logical);
    if (!decimals)
        return a == b && zones_widen(&type->logical, &other.logical);
    const uint8_t scale = type->logical.scale > other.logical.scale ? type->logical.scale : other.logical.scale;
    *type = (struct column_type){TYPE_I64, {.kind = LOGICAL_DECIMAL, .scale = scale}};
    return true;
}

bool column_is_vacant(const struct column *column)
{
    const struct dictionary *dictionary = column->logical.kind == LOGICAL_TEXT ? column->logical.dictionary : NULL;
    return column->rows == 0 || (dictionary && dictionary->count == 0);
}

static void join_values(struct join *join, size_t p, int64_t from, int64_t count)
{
    const struct column *piece = join->pieces->pieces[p];
    struct column *joined = join->joined;
    const int64_t begin = join->begins[p], factor = join->factors[p];
    const uint32_t *map = join->maps ? join->maps[p] : NULL;
    const int64_t first = join->firsts ? join->firsts[p] : 0;
    const bool floats = type_table[joined->type].kind == KIND_FLOAT;
    if (piece->store == joined->store && !map && factor == 1 && first == 0) {
        const size_t size = type_table[piece->store].size;
        memcpy(column_at(joined, begin + from), (const char *)piece->data + (size_t)from * size, (size_t)count * size);
        return;
    }
    for (int64_t row = from; row < from + count; row++) {
        int64_t value;
        if (column_is_missing(piece, row))
            continue; /* 0 */
        if (floats) {
            *(double *)column_at(joined, begin + row) = type_table[piece->type].kind == KIND_FLOAT
                                                            ? column_get_float(piece, row)
                                                            : (double)column_get_int(piece, row);
            continue;
        }
        if (__builtin_mul_overflow(column_get_int(piece, row), factor, &value))
            join->too_large = true;
        column_set_int(joined, begin + row, map ? map[value] : first + value);
    }
}

static void join_part(void *context, int member, int64_t part)
{
    struct join *join = context;
    size_t p = 0, after = join->pieces->count; /* the piece is among these */
    (void)member;
    while (p + 1 < after) {
        const size_t middle = p + (after - p) / 2;
        if (join->part_count[middle] <= part)
            p = middle;
        else
            after = middle;
    }
    const struct column *piece = join->pieces->pieces[p];
    const int64_t from = (part - join->part_count[p]) * PART_ROWS;
    const int64_t left = join->pieces->rows[p] - from, count = left < PART_ROWS ? left : PART_ROWS;
    if (!piece || column_is_vacant(piece))
        return; /* new memory is zero: missing */
    join_values(join, p, from, count);
    if (!join->validity)
        return;
    void *valid = column_at(join->validity, join->begins[p] + from);
    if (piece->validity)
        memcpy(valid, (const uint8_t *)piece->validity->data + from, (size_t)count);
    else
        memset(valid, 1, (size_t)count);
}

/* The type of the result's elements, and their range where all are known. */
static enum type joined_store(const struct join *join, struct column_type type, bool *range_known, int64_t *lo,
                              int64_t *hi)
{
    enum type store = TYPE_COUNT;
    *range_known = type_table[type.type].kind == KIND_INT && !join->maps && !join->firsts;
    *lo = *hi = 0; /* of missing values */
    bool first = true;
    for (size_t p = 0; p < join->pieces->count; p++) {
        const struct column *piece = join->pieces->pieces[p];
        if (!piece || column_is_vacant(piece)) {
            *lo = *lo < 0 ? *lo : 0;
            *hi = *hi > 0 ? *hi : 0;
            first = false;
            continue;
        }
        store = store == TYPE_COUNT || store == piece->store ? piece->store : integer_type(store, piece->store);
        *range_known = *range_known && piece->range_known && join->factors[p] == 1;
        *lo = first || piece->lo < *lo ? piece->lo : *lo;
        *hi = first || piece->hi > *hi ? piece->hi : *hi;
        first = false;
        if (join->factors[p] != 1 || join->firsts)
            store = TYPE_I64;
    }
    return type_table[type.type].kind == KIND_INT && store != TYPE_COUNT ? store : type.type;
}

/* Joins the dictionaries of text columns. */
static struct dictionary *join_dictionaries(struct join *join, const struct workers *workers)
{
    const size_t count = join->pieces->count;
    struct dictionary **dictionaries = heap_array(count, sizeof(struct dictionary *));
    uint32_t **maps = heap_array(count, sizeof *maps);
    size_t found = 0;
    for (size_t p = 0; p < count; p++) {
        const struct column *piece = join->pieces->pieces[p];
        if (piece && piece->logical.kind == LOGICAL_TEXT)
            dictionaries[found++] = piece->logical.dictionary;
    }
    struct dictionary *joined = dictionary_join(dictionaries, found, maps, workers);
    join->maps = heap_array(count, sizeof *join->maps);
    for (size_t p = count; p-- > 0;) {
        const struct column *piece = join->pieces->pieces[p];
        join->maps[p] = piece && piece->logical.kind == LOGICAL_TEXT ? maps[--found] : NULL;
    }
    free(dictionaries);
    free(maps);
    return joined;
}

/* Joins the stores of columns of lists. */
static struct list_store *join_stores(struct join *join, const struct workers *workers)
{
    const size_t count = join->pieces->count;
    struct list_store **stores = heap_array(count, sizeof(struct list_store *));
    int64_t *firsts = heap_array(count, sizeof *firsts);
    size_t found = 0;
    bool too_large = false;
    for (size_t p = 0; p < count; p++) {
        const struct column *piece = join->pieces->pieces[p];
        if (piece && piece->logical.kind == LOGICAL_LIST)
            stores[found++] = piece->logical.lists;
    }
    struct list_store *joined = append_lists(stores, found, firsts, workers, &too_large);
    join->too_large = too_large;
    for (size_t p = count; p-- > 0;) {
        const struct column *piece = join->pieces->pieces[p];
        firsts[p] = piece && piece->logical.kind == LOGICAL_LIST ? firsts[--found] : 0;
    }
    join->firsts = firsts;
    free(stores);
    return joined;
}

static bool any_missing(const struct column_pieces *pieces)
{
    bool any = false;
    for (size_t p = 0; p < pieces->count; p++) {
        const struct column *piece = pieces->pieces[p];
        any = any || (pieces->rows[p] > 0 && (!piece || piece->validity || column_is_vacant(piece)));
    }
    return any;
}

/* Where each piece begins, in how many parts it is copied, and how it is scaled. */
static void plan_parts(struct join *join, struct column_type type)
{
    int64_t begin = 0;
    for (size_t p = 0; p < join->pieces->count; p++) {
        const struct column *piece = join->pieces->pieces[p];
        join->begins[p] = begin;
        begin += join->pieces->rows[p];
        join->part_count[p + 1] = join->part_count[p] + (join->pieces->rows[p] + PART_ROWS - 1) / PART_ROWS;
        join->factors[p] = 1;
        for (int scale = piece ? piece->logical.scale : 0;
             piece && type.logical.kind == LOGICAL_DECIMAL && scale < type.logical.scale; scale++)
            join->factors[p] *= 10;
    }
}

static bool join_run(struct join *join, struct column_type type, const struct workers *workers)
{
    const int64_t total = join->pieces->total;
    struct dictionary *dictionary = NULL;
    bool range_known;
    int64_t lo, hi;
    if (type.logical.kind == LOGICAL_TEXT) {
        dictionary = join_dictionaries(join, workers);
        if (!dictionary)
            return false;
        type.type = dictionary_code_type(dictionary->count);
        type.logical.dictionary = dictionary;
    }
    struct list_store *lists = NULL;
    if (type.logical.kind == LOGICAL_LIST) {
        lists = join_stores(join, workers);
        if (!lists)
            return false;
        type.logical.lists = lists;
    }
    const enum type store = joined_store(join, type, &range_known, &lo, &hi);
    join->joined = column_reserve(type.type, dictionary ? type.type : store, total);
    bool fine = join->joined;
    if (fine) {
        column_set_logical(join->joined, type.logical);
        column_set_range(join->joined, range_known && total > 0, lo, hi);
    }
    dictionary_unref(dictionary);
    list_store_unref(lists);
    if (fine && any_missing(join->pieces)) {
        join->validity = column_reserve(TYPE_BOOL, TYPE_BOOL, total);
        fine = join->validity;
        column_set_validity(join->joined, join->validity);
    }
    fine = fine && workers_run(workers, join->part_count[join->pieces->count], join_part, join) && !join->too_large;
    if (fine) {
        column_finish(join->joined, total);
        if (join->validity)
            column_finish(join->validity, total);
    }
    return fine;
}

struct column *append_columns(const struct column_pieces *pieces, struct column_type type,
                              const struct workers *workers, bool *too_large)
{
    struct join join = {.pieces = pieces};
    join.begins = heap_array(pieces->count, sizeof *join.begins);
    join.part_count = heap_array(pieces->count + 1, sizeof *join.part_count);
    join.factors = heap_array(pieces->count, sizeof *join.factors);
    plan_parts(&join, type);
    if (!join_run(&join, type, workers)) {
        column_unref(join.joined);
        join.joined = NULL;
    }
    *too_large = join.too_large;
    for (size_t p = 0; join.maps && p < pieces->count; p++)
        free(join.maps[p]);
    free(join.maps);
    free(join.firsts);
    free(join.begins);
    free(join.part_count);
    free(join.factors);
    return join.joined;
}
