/* The schema of an Arrow file: its fields, and how the values of each are read. */
#ifndef RQL_ENGINE_ARROW_SCHEMA_H
#define RQL_ENGINE_ARROW_SCHEMA_H

#include "base/strbuf.h"
#include "engine/arrow/flatbuffer.h"
#include "engine/storage/column.h"
#include "engine/storage/file_reader.h"
#include "engine/storage/nesting.h"

/* How the values of a field become those of a column. */
enum reading {
    READING_NONE,      /* not at all: the column is left out */
    READING_NULL,      /* all missing, without any buffers */
    READING_BITS,      /* a bit for each bool */
    READING_COPY,      /* the same elements */
    READING_U64,       /* i64, if they fit */
    READING_HALF,      /* f32 */
    READING_TIME,      /* integers times `multiply`, divided by `divide` and rounded down */
    READING_DECIMAL,   /* i64, if they fit, times `multiply` */
    READING_TEXT,      /* offsets of `width` bytes, then the strings' bytes */
    READING_VIEW,      /* 16 bytes each with a short string, or the place of a longer one in one of several buffers */
    READING_STRUCT,    /* its children, of as many rows */
    READING_LIST,      /* offsets of `width` bytes into the child */
    READING_LIST_VIEW, /* offsets of `width` bytes into the child, and as many lengths */
    READING_FIXED_LIST /* `list_size` rows of the child each */
};

struct arrow_field {
    const char *name; /* in the arena */
    const char *path; /* the names of the structs and lists that it is in before it, for messages */
    const char *type; /* for messages: "list" */
    enum reading reading;
    size_t width; /* bytes of an element, or of an offset */
    enum type as; /* of the column; text: TYPE_U32 */
    struct logical_type logical;
    int64_t multiply, divide; /* one of them is 1 */
    bool binary;              /* text if all of it is UTF-8 */
    bool in_dictionary;       /* record batches hold indices into a dictionary of such values */
    int64_t dictionary;
    size_t index_width;
    bool index_signed;
    size_t node, buffer, variadic;    /* FieldNodes, Buffers and counts of variadic buffers before this field's */
    const struct arrow_field *parent; /* the struct or lists that it is in, or NULL */
    struct arrow_field *children;
    size_t child_count;
    int64_t list_size;
    bool is_map;
    bool sized; /* buffers say how many rows there are */
};

struct arrow_schema {
    struct arrow_field *fields; /* in the arena */
    size_t count;
    struct arrow_field **all; /* with those that are in others, behind these */
    size_t all_count, all_capacity;
    size_t nodes, buffers, variadic; /* of a record batch, with those of nested fields */
};

/* Whether the rows of a field are structs or lists. */
static inline bool arrow_is_nested(const struct arrow_field *field)
{
    return field->reading >= READING_STRUCT;
}

/* Whether it is read, and what it is in. */
bool arrow_is_wanted(const struct arrow_field *field);

/* Reads a Schema table. An error if it is damaged, big-endian, or holds nothing that can be read. Its memory is the
 * arena's. */
enum status arrow_schema_read(const struct format_job *job, const char *path, const struct flat_table *table,
                              int64_t version, struct arena *arena, struct arrow_schema *schema);

/* Appends a Schema table to a FlatBuffer; returns its place. The dictionary of a text column has its leaf's number as
 * id.
 */
size_t arrow_schema_add(struct strbuf *buffer, const struct nest *root);

/* Likewise, with the types that the columns have in Parquet: text without dictionaries, durations as times of day where
 * times[leaf], else as integers. */
size_t arrow_schema_add_stored(struct strbuf *buffer, const struct nest *root, const bool *times);

/* Whether the strings of a dictionary, or the elements of lists, need 64-bit offsets. */
bool arrow_dictionary_is_large(const struct dictionary *dictionary);
bool arrow_list_is_large(const struct nest *nest);

#endif
