/* Parallel parsing of delimited text.
 *
 * The text is divided into chunks of whole records. A newline within quotes ends no record, so the quotes before a
 * chunk must be counted to find its first record: a separate pass at memory bandwidth. Each chunk is then parsed into
 * its rows of the columns. An integer column with a float is parsed again. */
#ifndef RQL_ENGINE_FORMATS_TEXT_TABLE_H
#define RQL_ENGINE_FORMATS_TEXT_TABLE_H

#include "base/number_text.h"
#include "engine/formats/formats.h"

struct dialect {
    char delimiter; /* '\n': one value per line */
    bool header;    /* the first line may hold column names */
    bool quotes;    /* values may be quoted and then contain any character */
    bool escapes;   /* names contain the escapes \t, \n and \\ */
    bool json;      /* each line is a JSON object */
};

enum value_kind {
    VALUE_SKIPPED, /* text or no values */
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT
};

/* The text of a value, without surrounding white space and quotes. */
struct piece {
    const char *at, *end;
    bool quoted;
};

struct table_column {
    const char *name;
    struct piece key; /* the key in each JSON object */
    enum value_kind kind;
    bool wanted;         /* parsed in this pass */
    _Atomic bool floats; /* an integer column has a float */
    struct column *column;
};

enum problem_kind { PROBLEM_NONE, PROBLEM_MISSING, PROBLEM_VALUE, PROBLEM_OVERFLOW, PROBLEM_COUNT, PROBLEM_QUOTE };

/* The first error in a part of the text. */
struct problem {
    enum problem_kind kind;
    const char *at; /* the value; the record if its number of values is wrong */
    size_t column;
};

/* A chunk's statistics of a column: the range of its integers and the first overflow. */
struct chunk_column {
    int64_t lo, hi;
    const char *overflow;
};

struct chunk {
    const char *begin, *end; /* whole records */
    int64_t first_row, rows;
    struct problem problem;
    struct chunk_column *columns;
};

struct table {
    const struct dialect *dialect;
    const char *text;        /* start of the file */
    const char *begin, *end; /* the records */
    struct table_column *columns;
    size_t count;
    struct chunk *chunks;
    int64_t chunk_count;
    int64_t rows;
    _Atomic int64_t failed; /* the first chunk with an error, or chunk_count */
};

/* Sets *piece to the value at `at` and returns its end: a delimiter, a newline (skipping \r before it) or `end`. NULL:
 * malformed quotes. */
const char *table_value(const struct dialect *dialect, const char *at, const char *end, struct piece *piece);

/* Whether the text denotes a missing value. */
bool table_is_missing(struct piece piece);
bool table_is_bool(struct piece piece, bool *value);

/* Divides the records into chunks and counts their rows; release them with table_free_chunks. Returns false if
 * cancelled. (text_chunks.c) */
bool table_cut(struct table *table, const struct workers *workers);
void table_free_chunks(struct table *table);

/* Parses the wanted columns, which have memory for all rows. Returns false if cancelled. (text_parse.c) */
bool table_parse(struct table *table, const struct workers *workers);

/* table_value for the value of a JSON key; ends at a comma or a brace. (text_json.c) */
const char *table_json_value(const char *at, const char *end, struct piece *piece);

/* From the start of an object or after a comma, returns the start of the value of column k. NULL: another key. */
const char *table_json_key(const struct table *table, const char *at, const char *end, size_t k);

/* Writes the keys of the first object to `keys`, unless that is NULL, and returns their number; 0: no object or more
 * than `max` keys. */
size_t table_json_keys(const struct table *table, struct piece *keys, size_t most);
const char *table_json_name(struct piece key, struct arena *arena);

/* A hint if a table has one column and its first line contains delimiters of other formats; else NULL. */
const char *table_delimiter_advice(const struct table *table);

/* Records the error; returns STATUS_FAILED. (text_error.c) */
enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path);

#endif
