/* Parquet files as readers: the footer is parsed when a file is opened, and pages of wanted columns are decoded when it
 * is read. After the specification of Apache Parquet. Columns that cannot be read are left out with a note. */
#ifndef RQL_ENGINE_PARQUET_READER_H
#define RQL_ENGINE_PARQUET_READER_H

#include "engine/parquet/fields.h"
#include "engine/storage/file_reader.h"

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
