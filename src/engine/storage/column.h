/* Columns and relations: immutable once made, reference counted. */
#ifndef RQL_ENGINE_STORAGE_COLUMN_H
#define RQL_ENGINE_STORAGE_COLUMN_H

#include "base/diag.h"
#include "engine/values/scalar.h"
#include "engine/values/types.h"

struct mapping;      /* mapped_file.h */
struct residency;    /* residency.h */
struct buffer_pool;  /* buffer_pool.h */
struct column_stats; /* column_stats.h */

struct column {
    enum type type;  /* as the user sees it */
    enum type store; /* how `data` is laid out: may be narrower than `type` when the range allows */
    int64_t rows;
    const void *data; /* page-aligned, or within a mapped file; NULL for a column of no rows */
    bool range_known; /* lo..hi below is what the elements are in (integers only), tighter than the type */
    int64_t lo, hi;
    struct mapping *mapping;     /* the file behind data, or NULL */
    size_t reserved;             /* bytes of anonymous memory behind data, 0 for a mapped file */
    struct residency *residency; /* rows that only a device has: see residency.h before reading data */
    bool lost;                   /* a device had some, and has lost them */
    struct buffer_pool *pool;    /* where that memory goes back to, one reference; NULL: to the system */
    struct column_stats *stats;  /* what has been found out about the elements, or NULL */
    void (*release_stats)(struct column_stats *stats); /* frees it; set with it */
    _Atomic int refs;
    _Atomic int copies; /* how many of the references are those of devices' copies, which nobody may need */
};

struct column *column_ref(struct column *column);
void column_unref(struct column *column); /* NULL is allowed */

/* Element `row` as a scalar of the column's kind. */
struct scalar column_get(const struct column *column, int64_t row);
int64_t column_get_int(const struct column *column, int64_t row);  /* of an integer or bool column */
double column_get_float(const struct column *column, int64_t row); /* of a float column */

/* Copies the elements of the `count` rows listed, as they are stored, one after another. They are on the host. */
void column_gather(const struct column *column, const uint64_t *rows, int count, void *to);

/* The elements of a raw file, in place; trailing bytes that make no whole element are left out. Takes a reference to
 * the mapping. NULL: no memory. */
struct column *column_of_mapping(enum type type, struct mapping *mapping);
/* The same for `rows` elements from a byte of the file on, which is a multiple of their size. */
struct column *column_of_part(enum type type, struct mapping *mapping, size_t offset, int64_t rows);

/* A column under construction: memory for `capacity` rows is reserved but costs nothing until written. It is zeroed. */
struct column *column_reserve(enum type type, enum type store, int64_t capacity); /* NULL: no memory */
/* The same in memory of a pool (NULL: none), which is not zeroed. */
struct column *column_reserve_from(struct buffer_pool *pool, enum type type, enum type store, int64_t capacity);
/* For elements of another column, laid out as there and within the same range. */
struct column *column_reserve_like(struct buffer_pool *pool, const struct column *from, enum type type,
                                   int64_t capacity);
void *column_at(struct column *column, int64_t row);     /* where element `row` is written; row <= capacity */
void column_finish(struct column *column, int64_t rows); /* gives back what was not used; may move the data */

/* A column of the given integers or floats (kind decides which array is read). NULL: no memory. */
struct column *column_of_ints(const int64_t *values, int64_t rows);
struct column *column_of_floats(const double *values, int64_t rows);

/* How rows are laid out in two dimensions, row after row; of 0 rows: they are not. Of -1 rows, in a check before
 * running: only running can tell. */
struct shape {
    int64_t rows, cols;
};

struct deferred; /* deferred_rows.h */

struct relation {
    int64_t rows; /* a relation may have rows and no columns (range) only inside a queue, never as a result */
    size_t count;
    struct column **columns;
    char **names;              /* malloc'd, NUL-terminated */
    struct shape shape;        /* none unless who made the relation says so */
    struct deferred *deferred; /* what computes rows that are not there yet, or NULL; one reference, released by: */
    void (*deferred_unref)(struct deferred *deferred);
    _Atomic int refs;
};

/* A relation of `count` columns, all of `rows` rows; takes a reference to each column and copies the names. Never NULL.
 */
struct relation *relation_new(int64_t rows, size_t count, struct column *const *columns, const char *const *names);
struct relation *relation_ref(struct relation *relation);
void relation_unref(struct relation *relation); /* NULL is allowed */

#endif
