/* Tables as text: lines of values between delimiters, read by all threads. Private to text_read.c and table_*.c.
 *
 * The text is cut into chunks of whole records. A newline inside quotes ends no record, so the quotes before a chunk
 * must be counted before its first record is known; counting is a pass of its own at the speed of memory. Then each
 * chunk is parsed into its part of the columns. A column of integers that meets a float is parsed once more. */
#ifndef RQL_ENGINE_FORMATS_TEXT_TABLE_H
#define RQL_ENGINE_FORMATS_TEXT_TABLE_H

#include "base/number_text.h"
#include "engine/formats/formats.h"

struct dialect {
    char delimiter; /* '\n': there is one value a line */
    bool header;    /* the first line may name the columns */
    bool quotes;    /* a value may be quoted, and then hold anything */
    bool escapes;   /* names have \t, \n and \\ for what cannot stand in them */
    bool json;      /* each line is an object */
};

enum value_kind {
    VALUE_LEFT_OUT, /* text, or nothing at all */
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT
};

/* A value in the text, without white space and quotes around it. */
struct piece {
    const char *at, *end;
    bool quoted;
};

struct table_column {
    const char *name;
    struct piece key; /* the name as each line of JSON has it */
    enum value_kind kind;
    bool wanted;         /* in this pass */
    _Atomic bool floats; /* a column of integers has met a float */
    struct column *column;
};

enum problem_kind { PROBLEM_NONE, PROBLEM_MISSING, PROBLEM_VALUE, PROBLEM_OVERFLOW, PROBLEM_COUNT, PROBLEM_QUOTE };

/* The first thing wrong in a stretch of text. */
struct problem {
    enum problem_kind kind;
    const char *at; /* the value, or the record if its number of values is wrong */
    size_t column;
};

/* What a chunk knows of one column: the range of its integers, and the first that is too large. */
struct chunk_column {
    int64_t lo, hi;
    const char *big;
};

struct chunk {
    const char *begin, *end; /* whole records */
    int64_t first_row, rows;
    struct problem problem;
    struct chunk_column *columns;
};

struct table {
    const struct dialect *dialect;
    const char *text;        /* from the beginning of the file */
    const char *begin, *end; /* the records */
    struct table_column *columns;
    size_t count;
    struct chunk *chunks;
    int64_t chunk_count;
    int64_t rows;
    _Atomic int64_t failed; /* the first chunk with a problem, or chunk_count */
};

/* The value that begins at `at`, and where it ends: at a delimiter, a newline (with \r before it passed over) or `end`.
 * NULL: its quotes are wrong. */
const char *table_value(const struct dialect *dialect, const char *at, const char *end, struct piece *piece);

/* Whether the piece stands for a value that is not there. */
bool table_is_missing(struct piece piece);
bool table_is_bool(struct piece piece, bool *value);

/* text_chunks.c: cuts the records into chunks and counts their rows. False if the crew was stopped. The chunks are
 * released by table_free_chunks. */
bool table_cut(struct table *table, const struct workers *workers);
void table_free_chunks(struct table *table);

/* text_parse.c: parses the wanted columns, which have room for all rows. False if the crew was stopped. */
bool table_parse(struct table *table, const struct workers *workers);

/* text_json.c: the same as table_value for what is behind a key; it ends at a comma or a brace. */
const char *table_json_value(const char *at, const char *end, struct piece *piece);

/* From the beginning of an object, or behind a comma in it, to the value of column k. NULL: its key is not there. */
const char *table_json_key(const struct table *table, const char *at, const char *end, size_t k);

/* The first object's keys, or only how many they are if `keys` is NULL; 0: it is no object, or has more than `most`. */
size_t table_json_keys(const struct table *table, struct piece *keys, size_t most);
const char *table_json_name(struct piece key, struct arena *arena);

/* What to do with a file of one column whose first line has delimiters of other formats in it; NULL: it has none. */
const char *table_delimiter_advice(const struct table *table);

/* text_error.c: records the error; STATUS_FAILED. */
enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path);

#endif
