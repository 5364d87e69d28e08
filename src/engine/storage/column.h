/* Columns and relations: immutable once finished, reference counted. */
#ifndef RQL_ENGINE_STORAGE_COLUMN_H
#define RQL_ENGINE_STORAGE_COLUMN_H

#include "base/diag.h"
#include "engine/storage/shape.h"
#include "engine/values/logical_type.h"
#include "engine/values/scalar.h"
#include "engine/values/types.h"

struct mapping;      /* mapped_file.h */
struct residency;    /* residency.h */
struct buffer_pool;  /* buffer_pool.h */
struct column_stats; /* column_stats.h */

struct column {
    struct logical_type logical; /* with a reference to the dictionary of text, the store of lists */
    struct column *validity;     /* TYPE_BOOL, 1 where there is a value: missing values have 0 in `data`. One reference;
                                    NULL: no value is missing */
    enum type type;              /* as declared */
    enum type store;             /* the type of the elements in `data`; may be narrower than `type` */
    int64_t rows;
    const void *data; /* page-aligned, or within a mapped file; NULL if there are no rows */
    bool range_known; /* lo..hi bounds the elements (integers only), tighter than the type */
    int64_t lo, hi;
    struct mapping *mapping;     /* the file that holds the data, or NULL */
    size_t reserved;             /* bytes of anonymous memory at data, 0 for a mapped file */
    struct residency *residency; /* rows held only by a device: see residency.h before reading data */
    bool lost;                   /* a device held rows and lost them */
    bool unread;                 /* stands for a column of a file that has not been read: has no data */
    int64_t packed;              /* likewise: about how many bytes it has in the file; 0: it is not known */
    bool provisional;            /* likewise, and reading may show another type */
    bool live;                   /* likewise, and rows may change at any time: columns of one source are read at once */
    struct buffer_pool *pool;    /* receives the memory back, one reference; NULL: it is unmapped */
    uint64_t used;               /* of a file: the last statement that used it, as its cache counts them */
    struct column_stats *stats;  /* column statistics, or NULL */
    void (*release_stats)(struct column_stats *stats); /* frees `stats`; set together with it */
    _Atomic int refs;
    _Atomic int copies; /* references held by copies on devices, and by kept.h */
};

struct column *column_ref(struct column *column);
void column_unref(struct column *column); /* NULL is allowed */
void columns_unref(struct column *const *columns, size_t count);
/* Sets whether the elements are known to lie in lo..hi. */
void column_set_range(struct column *column, bool known, int64_t lo, int64_t hi);

/* Finishes the columns, which have `rows` rows, or (`good` false) drops them and sets them to NULL. Some may be NULL.
 */
void columns_finish(struct column **columns, size_t count, int64_t rows, bool good);

/* Sets the logical type of a column under construction; takes a reference to its dictionary or store. */
void column_set_logical(struct column *column, struct logical_type logical);

/* Sets the validity of a column under construction; takes over one reference. NULL: no value is missing. */
void column_set_validity(struct column *column, struct column *validity);

/* Whether it is text with an unsorted dictionary. */
bool column_is_unsorted(const struct column *column);

/* Whether the value of a row is missing. The rows must be on the host. */
bool column_is_missing(const struct column *column, int64_t row);

/* Whether any value of the first `rows` rows is, which validity alone does not say after rows were dropped. */
bool column_has_missing(const struct column *column, int64_t rows);

/* Element `row` as a scalar of the column's kind; its text lives as long as the column. The rows must be on the host.
 */
struct scalar column_get(const struct column *column, int64_t row);
int64_t column_get_int(const struct column *column, int64_t row);  /* of an integer or bool column */
double column_get_float(const struct column *column, int64_t row); /* of a float column */

/* Sets element `row` of an integer or bool column under construction; its store holds the value. */
void column_set_int(struct column *column, int64_t row, int64_t value);

/* Copies all elements to a column under construction, of the same type or, if they are integers, with a store
 * that holds them. They must be on the host. */
void column_copy(struct column *to, const struct column *from, int64_t rows);

/* Gathers the elements of the `count` rows listed into `to`, as stored. The rows must be on the host. */
void column_gather(const struct column *column, const uint64_t *rows, int count, void *to);

/* A column of a raw file's elements, in place; trailing bytes that form no whole element are ignored. Takes a reference
 * to the mapping. NULL: no memory. */
struct column *column_of_mapping(enum type type, struct mapping *mapping);
/* A column of `rows` elements at byte `offset` of the file, a multiple of their size. NULL: no memory. */
struct column *column_of_part(enum type type, struct mapping *mapping, size_t offset, int64_t rows);

/* Stands for a column of a file until it is read, with a validity that stands for its own if it is `nullable`. NULL: no
 * memory. */
struct column *column_unread(enum type type, struct logical_type logical, int64_t rows, bool nullable,
                             bool provisional);

/* A column without rows, which stands for others of its type. NULL: no memory. */
struct column *column_without_rows(enum type type, enum type store);

/* A column under construction. Memory for `capacity` rows is reserved but costs nothing until written; it is zeroed. */
struct column *column_reserve(enum type type, enum type store, int64_t capacity); /* NULL: no memory */
/* Reserves memory from a pool (or NULL), which is not zeroed. NULL: no memory. */
struct column *column_reserve_from(struct buffer_pool *pool, enum type type, enum type store, int64_t capacity);
/* Reserves memory for elements of `from`, with its layout and range. NULL: no memory. */
struct column *column_reserve_like(struct buffer_pool *pool, const struct column *from, enum type type,
                                   int64_t capacity);
/* Likewise on the disk. NULL: it has no room. */
struct column *column_reserve_spilled(struct buffer_pool *pool, const struct column *from, int64_t capacity);
/* Moves a column under construction, of which nothing has been written, to the disk, if that has room. */
void column_move_spilled(struct column *column);
void *column_at(struct column *column, int64_t row);     /* address of element `row` for writing; row <= capacity */
void column_finish(struct column *column, int64_t rows); /* releases unused memory; may move the data */

/* A column under construction for text of this dictionary, from a pool (or NULL) likewise. NULL: no memory. */
struct column *column_reserve_codes(struct buffer_pool *pool, struct dictionary *dictionary, int64_t capacity);

/* Text of this dictionary: row k has the code map[numbers[k]], or map[k] if `numbers` is NULL. NULL: no memory. */
struct column *column_of_codes(struct dictionary *dictionary, const uint32_t *map, const uint32_t *numbers,
                               int64_t rows);

/* A column with copies of the values. NULL: no memory. */
struct column *column_of_ints(const int64_t *values, int64_t rows);
struct column *column_of_floats(const double *values, int64_t rows);

struct deferred; /* deferred_rows.h */

struct relation {
    int64_t rows; /* rows without columns (range) occur only inside a queue, never in a result */
    size_t count;
    struct column **columns;
    char **names;                /* malloc'd, NUL-terminated */
    struct shape shape;          /* set by relation_set_shape; */
    char *axis_names[MOST_AXES]; /* its names, malloc'd, or NULL */
    struct deferred *deferred;   /* computes the rows still missing, or NULL; one reference, released by: */
    void (*deferred_unref)(struct deferred *deferred);
    _Atomic int refs;
};

/* A relation of the first `rows` rows of `count` columns. Takes a reference to each column and copies the names. Never
 * NULL. */
struct relation *relation_new(int64_t rows, size_t count, struct column *const *columns, const char *const *names);
/* Gives a relation that is not shared yet a shape; copies the names. */
void relation_set_shape(struct relation *relation, const struct shape *shape);
struct relation *relation_ref(struct relation *relation);
void relation_unref(struct relation *relation); /* NULL is allowed */

#endif
