/* A list as a source: [3, 1, 2], ["a", missing]. */
#include "engine/bind/bind_internal.h"

#include "base/time/time_zone.h"

#include <stdlib.h>

/* The values of a list: their common type, in the terms that they would have side by side. */
struct list {
    struct scalar *values;
    size_t count;
    struct scalar like; /* of the common type */
    bool typed;         /* some value is not the literal `missing` */
    bool missing;       /* some is */
};

/* Widens the type of the list to hold this value; false, with an error, if it cannot. */
static bool widen(struct binder *binder, struct list *list, const struct scalar *scalar, const struct expr *expr)
{
    struct scalar *like = &list->like;
    list->missing = list->missing || scalar->missing;
    if (scalar->missing)
        return true;
    const bool first = !list->typed;
    list->typed = true;
    if (first) {
        *like = *scalar;
        return true;
    }
    if (like->logical.kind != scalar->logical.kind || !like->logical.zone != !scalar->logical.zone)
        return bind_error(binder, expr->span, NULL,
                          "the values of a list are of one type, but `%s` is not like those before it",
                          text_of_span(binder->arena, expr->span, 40));
    if (like->logical.zone != scalar->logical.zone)
        like->logical.zone = &time_zone_utc; /* instants of different zones */
    if (scalar->kind == KIND_FLOAT)
        like->kind = KIND_FLOAT;
    if (scalar->kind == KIND_INT && like->kind == KIND_BOOL)
        like->kind = KIND_INT;
    if (scalar->logical.scale > like->logical.scale)
        like->logical.scale = scalar->logical.scale;
    return true;
}

/* Evaluates the values; false after an error or, in a check, if one is unknown. */
static bool list_values(struct binder *binder, const struct source_node *source, struct list *list)
{
    struct scope scope = scope_without_columns(binder, NULL, "the values of a list cannot use columns");
    bool known = true;
    list->like = scalar_int(0);
    for (size_t i = 0; i < list->count && !bind_gave_up(binder); i++) {
        struct scalar *scalar = &list->values[i];
        const enum known found = bind_constant(&scope, source->items[i], scalar);
        known = found == KNOWN_VALUE && known;
        if (found != KNOWN_NOTHING && !widen(binder, list, scalar, source->items[i]))
            return false;
    }
    return known;
}

static struct column *column_of_numbers(const struct list *list, struct arena *arena)
{
    int64_t *integers = arena_array(arena, list->count, sizeof *integers);
    double *numbers = arena_array(arena, list->count, sizeof *numbers);
    for (size_t i = 0; i < list->count; i++) {
        const struct scalar *scalar = &list->values[i];
        integers[i] = (int64_t)scalar->integer;
        numbers[i] = scalar->kind == KIND_FLOAT ? scalar->number : (double)scalar->integer;
        for (int scale = scalar->logical.scale; scale < list->like.logical.scale && !scalar->missing; scale++)
            integers[i] *= 10;
    }
    return list->like.kind == KIND_FLOAT ? column_of_floats(numbers, (int64_t)list->count)
                                         : column_of_ints(integers, (int64_t)list->count);
}

/* The list's bools, or with `validity` which values there are. */
static struct column *column_of_bools(const struct list *list, bool validity)
{
    struct column *column = column_reserve(TYPE_BOOL, TYPE_BOOL, (int64_t)list->count);
    for (size_t i = 0; i < list->count && column; i++)
        column_set_int(column, (int64_t)i, !list->values[i].missing && (validity || list->values[i].integer != 0));
    if (column)
        column_finish(column, (int64_t)list->count);
    return column;
}

/* A column of codes, and its dictionary, with one reference, in *dictionary. */
static struct column *column_of_texts(const struct list *list, struct arena *arena, struct dictionary **dictionary)
{
    struct interner *interner = interner_new();
    uint32_t *map;
    int64_t *codes = arena_array(arena, list->count, sizeof *codes);
    for (size_t i = 0; i < list->count; i++) {
        if (!list->values[i].missing)
            codes[i] = interner_add(interner, list->values[i].text);
    }
    *dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    const enum type type = dictionary_code_type((*dictionary)->count);
    struct column *column = column_reserve(type, type, (int64_t)list->count);
    for (size_t i = 0; i < list->count && column; i++)
        column_set_int(column, (int64_t)i, list->values[i].missing ? 0 : map[codes[i]]);
    if (column)
        column_finish(column, (int64_t)list->count);
    free(map);
    interner_free(interner);
    return column;
}

/* A column with one reference, which the queue takes over; NULL: no memory. */
static struct column *column_of_list(const struct list *list, struct arena *arena)
{
    struct logical_type logical = list->like.logical;
    const bool text = logical.kind == LOGICAL_TEXT;
    struct column *column = text                           ? column_of_texts(list, arena, &logical.dictionary)
                            : list->like.kind == KIND_BOOL ? column_of_bools(list, false)
                                                           : column_of_numbers(list, arena);
    struct column *validity = list->missing ? column_of_bools(list, true) : NULL;
    if (column) {
        column_set_logical(column, logical);
        column_set_validity(column, validity);
    }
    if (text)
        dictionary_unref(logical.dictionary);
    return column;
}

struct column *bind_list(struct binder *binder, const struct source_node *source, struct slot *slot)
{
    struct list list = {.count = source->item_count};
    list.values = arena_array(binder->arena, list.count, sizeof *list.values);
    const bool known = list_values(binder, source, &list);
    *slot = (struct slot){.name = "c1", .known = known, .logical = list.like.logical};
    slot->type = type_of_kind(list.like.kind);
    if (!known || bind_gave_up(binder))
        return NULL;
    struct column *column = column_of_list(&list, binder->arena);
    if (!column) {
        bind_error(binder, source->span, NULL, "not enough memory for this list");
        return NULL;
    }
    slot->type = column->type;
    slot->logical = column->logical;
    queue_hold(binder->queue, column);
    return column;
}
