/* The columns of a relation as the fields of structs that their names describe, for formats that have structs. */
#ifndef RQL_ENGINE_STORAGE_NESTING_H
#define RQL_ENGINE_STORAGE_NESTING_H

#include "base/arena.h"
#include "engine/storage/column.h"

/* A field: a struct, a column of lists, or another column. */
struct nest {
    const char *name;            /* of an element that is no struct: empty */
    const struct column *column; /* NULL: a struct, */
    struct nest *first, *last;   /* which has these fields; or a column of lists, whose elements have them */
    size_t count;                /* of these */
    struct nest *next;           /* the next field of its struct */
    const uint8_t *present;      /* of a struct: of each row, whether some field is not missing; of lists whose elements
                                    are structs: of each element. NULL: always */
    bool is_list, is_map;
    size_t leaf; /* of a column without lists: its number among all */
};

/* The fields of a relation, below a root without a name, and the number of leaves. A column whose points are levels of
 * structs is a field of these, and so is another of which the relation has such columns beside it. The rows must be on
 * the host. The memory is the arena's. */
struct nest *nest_of_relation(const struct relation *relation, struct arena *arena, size_t *leaves);

/* Whether values may be missing. */
bool nest_is_nullable(const struct nest *nest);

/* Whether the elements of lists are no structs: they have a single nameless field. */
bool nest_elements_are_plain(const struct nest *list);

/* The values of the rows listed, as a column without missing values. NULL: no memory. */
struct column *nest_take(const struct column *column, const int64_t *rows, int64_t count);

#endif
