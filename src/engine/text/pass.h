/* One pass over all records, which parses some of the columns. */
#ifndef RQL_ENGINE_TEXT_PASS_H
#define RQL_ENGINE_TEXT_PASS_H

#include "base/strbuf.h"
#include "engine/text/table.h"

#include <string.h>

/* Zero at first; free `at`. */
struct cell_ends {
    uint32_t *at; /* offsets from the chunk's begin of the character behind each cell, row by row; the first is that
                     before the first cell, -1 */
    size_t capacity;
};

/* Lists the cells of a chunk in which each record has as many as there are columns, and quotes surround whole cells.
 * False: it is not such a chunk, or one of 4 GB. Not for JSON. */
bool cell_ends_find(const struct table *table, const struct chunk *chunk, struct cell_ends *ends);

struct interner; /* engine/values/dictionary.h */

/* What one thread has seen of a column. */
struct seen {
    struct evidence evidence; /* values that are not of the column's kind */
    int64_t lo, hi;           /* of integers */
    int64_t values, missing;
    int64_t cut;    /* timestamps with digits below microseconds */
    int64_t faults; /* values with errors that are missing, the first of them at: */
    const char *first_fault;
    struct interner *interner; /* the strings of text; NULL: none yet */
    uint32_t strings;          /* in the interner */
    struct text_batch *batch;  /* of text; NULL: none yet (parse_value.c) */
};

/* A column to parse, in the order of the file. */
struct step {
    struct table_column *column;
    size_t number;   /* among the steps */
    size_t skip;     /* columns between the step before and this one */
    void *data;      /* elements of the column's type, zero where missing; text: a string's number in the interner of
                        the thread that parsed its chunk, + 1; a list: its first element, the next behind its last */
    uint8_t *absent; /* 1 where the value is missing; within the pass's */
    struct column *values; /* owns the data */
};

static inline void clear_value(const struct step *step, int64_t row)
{
    const size_t size = type_table[step->column->type].size;
    memset((char *)step->data + (size_t)row * size, 0, size);
}

/* One thread's part of a pass. */
struct member {
    struct seen *seen;   /* by step */
    int64_t *last_rows;  /* JSON, by node: the last row with its key, + 1 */
    int64_t *stored;     /* JSON, by step: the last row with a value, + 1 */
    int64_t *next;       /* JSON, by space: its next row; the first is not used */
    const char *unknown; /* JSON: the first key that is no column's */
    struct strbuf scratch;
    struct cell_ends ends; /* of its chunk */
};

struct pass {
    const struct table *table;
    struct step *steps;
    size_t count;
    uint8_t *absent; /* of all steps, in one block: a process can have only some 65 000 */
    size_t absent_bytes;
    size_t *step_of;                      /* JSON, by column: its step, or `count` */
    size_t *space_steps;                  /* JSON, by space: the first of its steps, which follow each other */
    unsigned char *wanted, *wanted_lists; /* JSON, by node: of `enum wanted`; what is to be counted */
    bool counts;                          /* JSON: the elements of lists, and nothing else */
    int64_t *first_rows, *rows_of;        /* JSON, by space and chunk */
    int64_t *space_rows;                  /* by space */
    struct member *members;
    int member_count;
    _Atomic int64_t failed; /* the first chunk with an error, or chunk_count */
};

/* JSON: what of a node's values is wanted. */
enum wanted { WANTED_VALUES = 1, WANTED_FIELDS = 2, WANTED_ELEMENTS = 4 };

/* Sets up what a pass over JSON needs beside steps, and frees it. (json_spaces.c) */
void pass_open_json(struct pass *pass);
void pass_free_json(struct pass *pass);

/* Counts the elements of wanted lists, which sets space_rows. Returns false if cancelled. (json_spaces.c) */
bool pass_count_elements(struct pass *pass, const struct workers *workers);

/* The row at which a chunk's begin in the rows that the step has values of, and how many these are. */
static inline int64_t chunk_first_row(const struct pass *pass, const struct step *step, int64_t chunk, int64_t *rows)
{
    const size_t space = step->column->space, at = space * (size_t)pass->table->chunk_count + (size_t)chunk;
    *rows = space == 0 ? pass->table->chunks[chunk].rows : pass->rows_of[at];
    return space == 0 ? pass->table->chunks[chunk].first_row : pass->first_rows[at];
}

/* Makes lists of the columns that read_columns has parsed: of a list all[k] has the first elements, behind which is the
 * number of elements; it becomes the column of lists. False: no memory. (json_spaces.c) */
bool json_make_lists(const struct table *table, struct column **all);

/* The lists of a column of which only the types are known; the caller's reference. (json_spaces.c) */
struct list_store *json_unread_lists(const struct table *table, size_t k);

/* The parsed column of step `number`, with one reference; `seen` is what all threads have seen. NULL: no memory.
 * (finish.c) */
struct column *pass_finish(struct pass *pass, size_t number, const struct seen *seen, const struct workers *workers);

/* A thread at work on a chunk. */
struct parser {
    const struct pass *pass;
    const struct table *table;
    struct chunk *chunk;
    size_t part; /* the chunk's number */
    struct member *member;
    const char *end, *record;
    const unsigned char *wanted; /* JSON */
    bool counts;
    bool may_stop;                    /* JSON: what follows the last wanted value of a record is sound */
    size_t left;                      /* of a record, the wanted values that were not met yet, if it may */
    char delimiter, closing, bracket; /* what ends a value: the latter newlines, or the brackets of JSON */
};

/* Parses all chunks, or counts elements of lists. Returns false if cancelled. (parse.c) */
bool pass_run(struct pass *pass, const struct workers *workers, bool counts);

/* JSON: sets a member's rows of lists to those of its chunk, and takes down how many there are. (json_spaces.c) */
void pass_begin_chunk(struct parser *parser);
void pass_end_chunk(struct parser *parser);

/* Records the chunk's problem; returns false. */
bool parse_fail(struct parser *parser, enum problem_kind kind, const char *at, size_t column);

/* Parses the value at *at into its row and moves *at to its end. False: a problem. (parse_value.c) */
bool parse_value(struct parser *parser, const char **at, const struct step *step, int64_t row);

/* Finishes the values of a chunk. False: one of them is a problem, the first of the chunk. (parse_value.c) */
bool parse_batches(struct parser *parser);

/* Parses a column of all rows of a chunk whose cells end there. False: a problem. (parse_value.c) */
bool parse_column(struct parser *parser, const struct step *step, const struct cell_ends *ends);

/* Parses a record that is a JSON object; *from moves behind it. (parse_json.c) */
bool parse_object(struct parser *parser, const char **from, int64_t row);

/* store_value.c: values of any form, stored one by one: what the loops of parse_value.c leave. */

/* What became of a value. */
enum outcome { STORED, OTHER, OUT_OF_RANGE };

static inline void seen_integer(struct seen *seen, int64_t value)
{
    seen->values++;
    seen->lo = value < seen->lo ? value : seen->lo;
    seen->hi = value > seen->hi ? value : seen->hi;
}

/* Stores the value if it is of the column's kind, which is not text. */
enum outcome value_store(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                         struct cell cell);

#endif
