/* The state of reading columns; private to the files that do it. All pages are found first, and then decoded by all
 * threads, each page straight into its rows of the column. */
#ifndef RQL_ENGINE_PARQUET_READ_H
#define RQL_ENGINE_PARQUET_READ_H

#include "engine/parquet/decode.h"
#include "engine/parquet/reader.h"
#include "engine/storage/row_set.h"

#include <string.h>

/* Where the strings of a page are in an unsorted dictionary. */
struct text_place {
    uint32_t code; /* of the first */
    uint64_t byte; /* where the page's bytes are, */
    uint64_t room; /* and their number */
};

struct page_read {
    struct page_header header;
    const struct chunk_read *chunk;
    int64_t row;  /* the first */
    int64_t to;   /* where its first row goes in the column */
    int64_t kept; /* rows that are read */
    struct text_place place;
    size_t present; /* values that are not missing */
    int member;     /* of text without indices: the thread that interned its strings */
    enum read_error error;
    struct decoded decoded;
};

/* The pages of a column in a row group. */
struct chunk_read {
    struct column_read *column;
    const struct chunk *chunk;
    size_t group;
    int64_t first_row, row_count; /* of the group */
    int64_t row, rows;            /* the values, among all of the column; rows -1: there are too many */
    bool has_dictionary;
    struct page_header dictionary_page;
    struct page_dictionary dictionary;
    struct text_place place; /* of the dictionary page */
    uint32_t *numbers;       /* of text: each dictionary entry's number in the interner of thread `member` */
    int member;
    int64_t *elements; /* of a leaf in lists: how many it has of each depth; of depth 0: rows */
    struct page_read *pages;
    size_t count, capacity;
    enum read_error error;
};

struct column_read {
    const struct leaf *leaf;
    struct chunk_read *chunks; /* those of this column, in read->chunks */
    size_t chunk_count;
    int64_t rows;               /* of the file; of a leaf in lists: its values in the groups that are read */
    const struct row_set *kept; /* of these rows, those that the column gets; NULL: all */
    struct column *column;
    struct column *validity;                  /* of all rows; NULL: no value can be missing */
    struct column *definitions, *repetitions; /* of a leaf in lists: its levels */
    bool unsorted;                            /* text whose dictionary is to have no order: */
    const char **places;                      /* where the strings are in it, */
    char *bytes;                              /* and their memory */
    bool guessed;                             /* that all values fit a narrower type than the leaf's */
    _Atomic bool too_wide;                    /* which was wrong */
    bool done;                                /* all pages are decoded */
    struct column *numbers;      /* of text without indices: of all rows of the file, numbers of interned strings,
                                    packed in each page */
    struct interner **interners; /* one for each thread, of text */
    uint32_t **maps;             /* their numbers to codes */
};

struct read {
    const struct parquet_reader *reader;
    const struct format_job *job;
    const struct row_set *rows; /* of the file, those that the columns get; NULL: all */
    int64_t head, tail;         /* only pages with some of the first or last rows are decoded; head INT64_MAX: all */
    struct scratch *scratch;    /* one for each thread */
    struct column_read *columns;
    size_t column_count;
    struct chunk_read *chunks; /* all groups' of the first column, the second ...; without pages where none is read */
    size_t chunk_count;
    struct page_read **pages; /* in this order too */
    size_t page_count;
};

static inline bool leaf_is_text(const struct leaf *leaf)
{
    return leaf->logical.kind == LOGICAL_TEXT;
}

/* The rows that the column gets. */
static inline int64_t column_read_rows(const struct column_read *column)
{
    return column->kept ? column->kept->rows : column->rows;
}

static inline bool page_has_indices(const struct page_read *page)
{
    return page->header.encoding == ENCODING_PLAIN_DICTIONARY || page->header.encoding == ENCODING_RLE_DICTIONARY;
}

/* Sets element i of codes of `size` bytes. */
static inline void store_code(void *codes, size_t size, size_t i, uint32_t code)
{
    memcpy((char *)codes + i * size, &code, size); /* little-endian */
}

/* Opens a page, with its levels to the column. */
enum read_error read_open_page(const struct page_read *page, struct scratch *scratch, struct page_values *values);

/* Runs a step on all threads and reports its errors. */
enum status read_step(struct read *read, size_t parts, part_fn *part);

/* Leaves the elements of lists in their columns, when all pages are decoded. */
enum status lists_keep_elements(struct read *read);

/* The column of a field, from finished columns of its leaves, of which *next is the first; moves that behind them. */
enum status lists_make_column(struct read *read, const struct field *field, struct column_read **next,
                              struct column **made);

/* Reserves what the columns need before their dictionaries are read, */
enum status reserve_columns(struct read *read);

/* and what numbers need when these are; these are made as narrow. */
enum status reserve_numbers(struct read *read);
enum status reserve_elements(struct read *read, struct column_read *column, enum type store);

/* Interns the entries of a chunk's dictionary page. */
enum read_error text_intern_dictionary(const struct read *read, struct chunk_read *chunk,
                                       const struct page_values *values, int member);

/* Interns the strings of a page without indices. */
void text_intern_page(const struct read *read, struct page_read *page, int member);

/* Joins the interners of all text columns and reserves their columns; makes each chunk's dictionary one of codes. */
enum status text_join(struct read *read);

/* Translates a page's numbers to codes, elements of the column. */
void text_translate_page(const struct page_read *page, void *codes);

/* The same for just the rows that are read, of a page in which no value is missing. */
void text_translate_rows(const struct read *read, const struct page_read *page, void *codes);

/* unsorted_text.c: reserves an unsorted dictionary for the column's many strings, and its codes. False: it has few, or
 * ones that are not stored one by one, or there is no memory. */
bool unsorted_text_reserve(const struct read *read, struct column_read *column);

/* Decompresses a chunk's dictionary page into the dictionary, and makes it one of codes. */
enum read_error unsorted_text_dictionary(const struct read *read, struct chunk_read *chunk, int member);

/* Decompresses a page without indices into the dictionary, and sets the codes of its strings. */
enum read_error unsorted_text_decode(const struct read *read, struct page_read *page, int member, void *codes);

/* Reports the first error that a thread has recorded; STATUS_OK: there is none. */
enum status read_report(const struct read *read);

#endif
