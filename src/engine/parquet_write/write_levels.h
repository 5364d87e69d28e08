/* The levels of a leaf within structs and lists, for writing it. */
#ifndef RQL_ENGINE_PARQUET_WRITE_LEVELS_H
#define RQL_ENGINE_PARQUET_WRITE_LEVELS_H

#include "engine/storage/nesting.h"

/* From a field of the root to a leaf. */
struct leaf_path {
    const struct nest *const *nests;
    size_t count;
    unsigned definition, repetition; /* the highest levels */
};

/* The levels of some rows; the rows of the leaf that have a value. */
struct row_levels {
    uint8_t *definitions, *repetitions;
    int64_t *rows; /* of the values that are there */
    size_t count, present;
};

/* How deep a leaf is, from the nests of its path. */
void leaf_path_set_levels(struct leaf_path *path);

/* The levels of rows begin..end-1. False: no memory; otherwise free them. */
bool row_levels_find(const struct leaf_path *path, int64_t begin, int64_t end, struct row_levels *levels);
void row_levels_free(struct row_levels *levels);

#endif
