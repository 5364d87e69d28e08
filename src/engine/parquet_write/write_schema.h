/* The schema of a Parquet file that is written: lists in three levels, and maps, as LogicalTypes.md has them. */
#ifndef RQL_ENGINE_PARQUET_WRITE_WRITE_SCHEMA_H
#define RQL_ENGINE_PARQUET_WRITE_WRITE_SCHEMA_H

#include "engine/parquet/thrift.h"
#include "engine/parquet_write/write_chunk.h"

enum { MAX_DIGITS = 18 }; /* of a decimal in PHYSICAL_INT64 */

struct schema_formats {
    const struct nest *root;
    struct column_format *at; /* of each leaf, */
    struct leaf_path *paths;  /* and where it is */
    size_t count;
};

/* Finds the leaves; how they are stored is set by the caller. The memory is the arena's. */
void schema_formats_init(struct schema_formats *formats, const struct relation *relation, struct arena *arena);

/* Writes the field of the footer with the schema, */
void schema_put(struct thrift_out *footer, const struct schema_formats *formats);

/* and a field with the names on a leaf's path. */
void schema_put_path(struct thrift_out *chunk, int id, const struct leaf_path *path);

#endif
