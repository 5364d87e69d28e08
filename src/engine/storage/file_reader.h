/* Files that are read column by column, and tables on servers: opening one finds its columns, and only those that a
 * query needs are read.
 *
 * The columns of an open reader may be provisional: where types depend on all values of a column (text formats) they
 * come from a sample, and read returns the column with its true type. */
#ifndef RQL_ENGINE_STORAGE_FILE_READER_H
#define RQL_ENGINE_STORAGE_FILE_READER_H

#include "base/parallel.h"
#include "engine/storage/column.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/row_set.h"
#include "engine/storage/unreadable.h"
#include "engine/storage/zonemap.h"

struct format;       /* engine/formats/formats.h */
struct text_options; /* text_options.h */

/* Paths that a statement mentions, some of which may be those of columns. */
struct mentioned {
    const char **paths;
    size_t count, capacity;
};

/* The context of reading or writing one file. */
struct format_job {
    const struct format *format;
    const struct workers *workers; /* threads to use */
    struct span span;              /* the path in the query, for errors */
    struct diags *diags;
    const struct text_options *text;   /* reading text files: what the user states; NULL: nothing */
    const struct mentioned *mentioned; /* opening what text_keep_mentioned made: these; else NULL */
    int64_t
        unsorted_from; /* columns of text with as many strings may have unsorted dictionaries (dictionary.h); 0: none */
    _Atomic int64_t *unpacked; /* of read_rows: the rows of a column that were unpacked to find the wanted ones are
                                  added, if the format knows; NULL: nobody asks */
};

struct reader_column {
    const char *name;            /* owned by the reader */
    enum type type;              /* of text: TYPE_U32; the column may be narrower */
    struct logical_type logical; /* without a dictionary */
    bool nullable;               /* values may be missing */
    int64_t bytes;               /* in the file; 0: they are not known */
    bool left_out;               /* it was opened without the values, which another reader of the whole file has */
};

/* What a file says of a column in one of its row groups. */
struct group_bounds {
    bool has_zone; /* bounds the values, or 0 where they are missing; of text: `least` and `most` do */
    struct zone zone;
    struct text least, most; /* in the file */
    bool missing, present;   /* whether there may be missing values, and others */
};

struct file_reader;

struct file_reader_ops {
    /* Reads the columns with wanted[k], each into columns[k] with one reference; others are left as they are. On
     * failure no reference is left. STATUS_UNABLE, of the result of a query: something in it fails, of which only the
     * exact evaluator can tell. */
    enum status (*read)(struct file_reader *reader, const struct format_job *job, const bool *wanted,
                        struct column **columns);
    /* Finds out how many rows there are: until then, or until columns are read, reader->rows is a guess. NULL: it is
     * not to be found out before. */
    enum status (*count)(struct file_reader *reader, const struct format_job *job);
    /* Reads columns of as many rows, of which only the first `head` and last `tail` can be read and nothing else is
     * known. NULL: the format does not read parts. */
    enum status (*read_ends)(struct file_reader *reader, const struct format_job *job, const bool *wanted, int64_t head,
                             int64_t tail, struct column **columns);
    /* Reads only these rows: the columns have no others. NULL: the format does not. */
    enum status (*read_rows)(struct file_reader *reader, const struct format_job *job, const bool *wanted,
                             const struct row_set *rows, struct column **columns);
    /* Reads the single value that the reader has instead of columns; NULL: it has columns. STATUS_UNABLE as below. */
    enum status (*value)(struct file_reader *reader, const struct format_job *job, struct scalar *value);
    /* The bounds of column k in row group `group` of reader->group_count. NULL: the format has none. */
    void (*bounds)(const struct file_reader *reader, size_t group, size_t k, struct group_bounds *bounds);
    /* Of the result of a query, a reader of the first row of its table in which something fails; NULL: it is not known.
     */
    struct file_reader *(*failing)(const struct file_reader *reader);
    void (*close)(struct file_reader *reader);
    bool leaves_unsorted; /* text may have unsorted dictionaries, by job->unsorted_from */
};

/* The first member of a format's own struct. */
struct file_reader {
    const struct file_reader_ops *ops;
    bool provisional;   /* the columns' types come from a sample */
    bool live;          /* rows may change at any time: what is read is not kept, and `rows` is the last number */
    bool unordered;     /* live rows that have no order: they cannot be read as columns, but be queried */
    int64_t place;      /* of the only row, if it is one of a table that fails: its number there */
    int64_t rows;       /* reading a text file for the first time may show another number */
    size_t group_count; /* parts of the file with bounds; */
    const int64_t *group_begins; /* of each its first row, and behind the last the number of rows */
    size_t count;
    struct reader_column *columns;        /* owned by the reader */
    struct unreadable_columns unreadable; /* owned by the reader; told when all others are read, or one is named */
    const char *query;  /* the text of the query whose result it reads; NULL: it reads a file or a table */
    const char *unless; /* in which cases, in words, the result is not what is asked for, but all rows are; or NULL */
};

#endif
