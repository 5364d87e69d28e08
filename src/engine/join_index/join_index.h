/* An index over keys: finds the rows of a relation by their keys in a few operations of typed code.
 *
 * A tuple of keys has an id, 0..ids-1; `ids` itself stands for a tuple that no row has. Tables map ids to rows. The id
 * is found in one of four ways:
 *
 * Dense, where the ranges of the keys have few combinations: the index of the tuple among all combinations,
 * (k0 - lo0) * extent1 + (k1 - lo1) ..., if all keys are in their ranges.
 *
 * Ranked, where they have more, but some hundred for each row at most: a bit for each combination tells whether a row
 * has it, and the number of bits that are set before it is the id (Jacobson, Space-efficient Static Trees and Graphs,
 * FOCS 1989). The bits of tuples that no row has answer for most rows of a large table whose counterparts were
 * filtered.
 *
 * Searched, where that holds for all keys but one, and few rows agree in these: their index gives the begin and end of
 * the rows that have them, sorted by the last key, which is found by a binary search. The id is the position of the
 * first row with the tuple.
 *
 * Sparse: a perfect hash function, by "hash, displace, and compress" (Belazzougui, Botelho, Dietzfelbinger, ESA 2009).
 * A hash of the keys gives a bucket and 31 bits x; the bucket's displacement, a multiplier found when the index is
 * built, gives x a slot that no other tuple has. The slot holds its tuple, to be compared. Buckets are divided among
 * partitions, each of which has the same number of slots and is built by one thread. Everything is computed in
 * non-negative 63-bit integers. */
#ifndef RQL_ENGINE_JOIN_INDEX_JOIN_INDEX_H
#define RQL_ENGINE_JOIN_INDEX_JOIN_INDEX_H

#include "base/parallel.h"
#include "engine/storage/column.h"

struct backend; /* backend.h */
struct chooser; /* backend_choice.h */
struct timing;
struct diags;

enum { JOIN_HASH_BITS = 31 };

/* The range of a key, and the factors of the lower and upper half of its 64 bits. */
struct join_key {
    int64_t lo, hi;
    int64_t low_factor, high_factor;
};

/* hash = XOR over the keys of low * low_factor ^ high * high_factor, then mixed: (hash >> 31) * mix[0] ^
 * (hash & (2^31 - 1)) * mix[1]. bucket = (hash >> 31) * buckets >> 32, x = hash & (2^31 - 1). With the displacement m
 * of the bucket, y = (x * m >> 15) & (2^31 - 1), id = (bucket >> partition_shift) * partition_slots
 * + (y * partition_slots >> 31). */
struct join_hash {
    int64_t mix[2];
    int64_t buckets;
    int partition_shift;
    int64_t partition_slots;
    struct column *displacements; /* of each bucket */
    struct column **keys;         /* of each slot; 0 where it is empty */
};

enum join_method { JOIN_DENSE, JOIN_RANKED, JOIN_SEARCHED, JOIN_SPARSE };

struct join_search {
    size_t key;            /* that is searched for */
    int64_t most;          /* rows that agree in all other keys */
    struct column *starts; /* of each place of the others: the rows are starts[place] .. starts[place + 1] - 1, */
    struct column *values; /* and these are their keys */
};

/* A second column by which rows are compared, beside `order`. */
struct join_second {
    struct column *values; /* as integers that have its order, in the places of `order`; NULL: there is none */
    bool ascending;        /* they never decrease among the rows of an id */
    bool disjoint;         /* of intervals from `order` to it: and none ends behind the beginning of the next one, */
    bool touching;         /* but one does where that begins */
    struct column
        *peaks; /* if asked for: in each place the greatest value from the first, or to the last, row of its id */
};

struct join_index {
    int refs;
    size_t key_count;
    struct join_key *keys;
    enum join_method method;
    /* Of JOIN_RANKED: of each 32 combinations the bits in the lower half of 64, and in the upper half how many are set
     * in it and those before. */
    struct column *words;
    struct join_hash hash;     /* of JOIN_SPARSE */
    struct join_search search; /* of JOIN_SEARCHED */
    int64_t ids;               /* at most INT32_MAX - 2 */
    int64_t rows;              /* of the relation */
    int64_t doubles;           /* tuples that several rows have */
    int64_t
        double_rows[2]; /* the first row whose tuple an earlier row has, and that row, in this order; if doubles > 0 */
    int64_t refused;    /* bytes that it would have taken, after STATUS_FAILED for want of memory; else 0 */
    bool in_order;      /* the rows in the order of their ids are 0, 1, 2, ... */
    struct column *members; /* of each id, 0..ids: whether some row has it; may be NULL where all have */
    /* If rows were asked for: without doubles, the row of each id, 0..ids, -1: none. With doubles, all rows in the
     * order of their ids, each id's in order; those of id k are starts[k] .. starts[k + 1] - 1, for k in 0..ids. */
    struct column *row_of; /* may be NULL where the rows are in that order */
    struct column *starts; /* NULL without doubles, unless the rows of an id are in an order of their own */
    struct column *order;  /* the values by which they are, in the same places as row_of; or NULL */
    int64_t most;          /* then: the most rows of an id */
    struct join_second second;
};

/* What to index. */
struct join_keys {
    struct column *const *columns; /* of equal length; floats are compared by value: NaN equals NaN, -0.0 equals 0.0 */
    size_t count;                  /* 0: one id for all rows */
    struct column *order;          /* the rows of an id are in this order, those equal in their own; NULL: none */
    struct column *second;         /* beside `order`, or NULL */
    bool second_negated;           /* its values are ~value, which reverses their order */
    bool intervals, closed; /* from `order` to it: those are left out that have no values, nor, unless closed, length */
    const int64_t *ranks; /* of texts whose codes differ: of a code of `second`, compared with 2 * code + 1; or NULL */
    enum { PEAKS_NONE, PEAKS_FROM_FIRST, PEAKS_TO_LAST } peaks;
    bool members_only; /* no row_of and starts, and doubles are not counted */
    int64_t rows;
};

/* A device that may make an index where the keys lie. */
struct join_device {
    struct backend *named;   /* by the user; or NULL: */
    struct chooser *chooser; /* one of its candidates; or NULL */
    bool no_wait;            /* for it to start or to build programs */
    struct timing *timing;   /* or NULL */
    struct diags *diags;
};

/* An integer that has the place of these float_bits in the order of numbers. */
static inline int64_t join_ordered_bits(int64_t bits)
{
    return bits ^ ((bits >> 63) & INT64_MAX);
}

/* Indexes the keys; rows in which one, the order or the second is missing, or one of these is NaN, are left out.
 * STATUS_FAILED, without an error: not enough memory, which is checked before much is allocated. */
enum status join_index_new(const struct join_keys *keys, const struct workers *workers,
                           const struct join_device *device, struct join_index **index); /* device NULL: none */
struct join_index *join_index_ref(struct join_index *index);
void join_index_unref(struct join_index *index); /* NULL is allowed */

/* Elements of a key as integers, up to 1024; a float by its bits, equal floats by the same ones. */
void join_key_values(const struct column *column, int64_t row, int count, int64_t *values);

/* Sets the lo and hi of each key, of the rows that would be indexed; 0 and -1: there are none. */
enum status join_key_ranges(const struct join_keys *keys, const struct workers *workers, struct join_key *ranges);

/* join_probe.c: sets ids[i] to the id of these keys[0][i], keys[1][i], ...; -1: no row has them. Of an index that the
 * host has made. */
void join_probe(const struct join_index *index, const int64_t *const *keys, int count, int64_t *ids);

/* Whether a device has lost some of it. */
bool join_index_lost(const struct join_index *index);

/* Bytes of its tables. */
int64_t join_index_bytes(const struct join_index *index);

#endif
