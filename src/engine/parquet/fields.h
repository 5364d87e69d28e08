/* What a schema describes: columns, each a leaf or lists. A group is no column: its leaves have paths. */
#ifndef RQL_ENGINE_PARQUET_FIELDS_H
#define RQL_ENGINE_PARQUET_FIELDS_H

#include "engine/parquet/leaf.h"
#include "engine/storage/file_reader.h"

struct parquet_reader;

struct fields {
    struct field *at;
    size_t count, capacity;
};

/* A column, or one of the columns that the elements of lists have. */
struct field {
    const char *name;        /* unique among those beside it; of elements that are no structs: empty */
    const struct leaf *leaf; /* NULL: lists, */
    struct fields elements;  /* whose elements have these columns */
    unsigned depth;          /* of these lists, from 1: their repetition level */
    uint8_t definition;      /* the level of an element; a list without elements has one less */
    bool nullable, is_map;
    bool is_member; /* the points in the name are levels of structs */
};

/* Finds the columns that can be read, and their leaves, of which there are at most as many as elements. Tells which are
 * left out. */
void fields_find(struct parquet_reader *reader, const struct format_job *job);

/* A NUL-terminated copy in which whatever is not text is `?`. */
char *clean_name(struct arena *arena, struct text name);

#endif
