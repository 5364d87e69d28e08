/* Parquet files as readers: the footer is parsed when a file is opened, and pages of wanted columns are decoded when it
 * is read. After the specification of Apache Parquet. Columns that cannot be read are left out with a note. */
#ifndef RQL_ENGINE_PARQUET_READER_H
#define RQL_ENGINE_PARQUET_READER_H

#include "engine/parquet/leaf.h"
#include "engine/storage/file_reader.h"

/* fields.c: what a schema describes: columns, each a leaf or lists. A group is no column: its leaves have paths. */

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

/* Finds the columns that can be read, and their leaves, of which there are at most as many as elements. Lists which
 * cannot be read. */
void fields_find(struct parquet_reader *reader);

/* A NUL-terminated copy in which whatever is not text is `?`. */
char *clean_name(struct arena *arena, struct text name);

struct parquet_reader {
    struct file_reader base;
    struct arena *arena; /* owns what follows */
    struct mapping *mapping;
    struct footer footer;
    struct fields fields; /* one for each column */
    struct leaf *leaves;  /* of all of them, in the order of the schema */
    size_t leaf_count;
};

/* `open` of the format. */
enum status open_parquet(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* `read` of the reader. */
enum status parquet_read(struct file_reader *base, const struct format_job *job, const bool *wanted,
                         struct column **columns);

/* `read_ends` of the reader: decodes the pages with these rows. */
enum status parquet_read_ends(struct file_reader *base, const struct format_job *job, const bool *wanted, int64_t head,
                              int64_t tail, struct column **columns);

/* `read_rows` of the reader: decodes the pages with these rows, and of pages of dictionary indices only these rows. */
enum status parquet_read_rows(struct file_reader *base, const struct format_job *job, const bool *wanted,
                              const struct row_set *rows, struct column **columns);

/* The begin of the first page of a chunk; NULL if it is not within the file. */
const uint8_t *parquet_chunk_begin(const struct parquet_reader *reader, const struct chunk *chunk);

/* The bytes of a chunk's pages, to be asked for; of length 0 if they do not begin within the file. */
struct byte_range parquet_chunk_range(const struct parquet_reader *reader, const struct chunk *chunk);

/* The end of what may be read of a chunk: of a file that is here, that of all pages, since some writers tell too few
 * bytes of a chunk. */
const uint8_t *parquet_chunk_end(const struct parquet_reader *reader, const struct chunk *chunk);

/* Whether the first values of a column of bytes look like text. */
bool parquet_looks_like_text(const struct parquet_reader *reader, const struct leaf *leaf);

/* Lists the row groups. */
void parquet_list_groups(struct parquet_reader *reader);

/* `bounds` of the reader. The file is believed, as other readers do, except where its bounds are malformed, beyond the
 * column's type, or NaN. */
void parquet_bounds(const struct file_reader *base, size_t group, size_t k, struct group_bounds *bounds);

#endif
