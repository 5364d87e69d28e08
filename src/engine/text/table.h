/* Parallel parsing of delimited text.
 *
 * The text is divided into chunks of whole records. A newline within quotes ends no record, so the quotes before a
 * chunk must be counted to find its first record: a separate pass at memory bandwidth. Each chunk is then parsed into
 * its rows of the wanted columns. Each value is parsed as its column's provisional kind; one that is not of it is
 * classified, and a column whose classes decide on another kind is parsed again. */
#ifndef RQL_ENGINE_TEXT_TABLE_H
#define RQL_ENGINE_TEXT_TABLE_H

#include "base/strbuf.h"
#include "engine/storage/file_reader.h"
#include "engine/storage/text_options.h"

struct dialect {
    const char *extension; /* of such files, for messages */
    char delimiter;        /* '\n': one value per line */
    bool header;           /* the first line may hold column names */
    bool quotes;           /* cells may be quoted and then contain any character */
    bool escapes;          /* names and text contain the escapes \t, \n, \r and \\ */
    bool json;             /* each line is a JSON object */
};

/* What a column is parsed as. */
enum value_kind {
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_BOOL,
#define LOGICAL_TYPE(kind, ...) VALUE_##kind, /* VALUE_TEXT, VALUE_DATE ...: some only if stated */
#include "engine/values/logical_types.def"
};

enum { VALUE_KINDS = VALUE_BOOL + LOGICAL_KINDS };

/* What a cell is. */
enum value_class {
    CLASS_INT,
    CLASS_WIDE, /* an integer beyond 64 bits */
    CLASS_FLOAT,
    CLASS_BOOL,
    CLASS_DATE,
    CLASS_TIMESTAMP,
    CLASS_UTC,     /* a timestamp with a zone */
    CLASS_DRESSED, /* a number with other signs in it, or a unit (ways.h) */
    CLASS_ORDERED, /* a date of another order than 2024-01-31 */
    CLASS_MOMENT,  /* a timestamp that begins with such a date */
    CLASS_CLOCK,   /* a time of day */
    CLASS_TEXT,
    CLASS_NESTED, /* a JSON object or array that is text */
    CLASS_WORD,   /* `NA` and the like: missing except in text columns */
    CLASS_BLANK,  /* missing */
    CLASS_COUNT
};

/* The classes of a column's values, as bits, and the first value of each. */
struct evidence {
    unsigned classes;
    const char *first[CLASS_COUNT];
    unsigned refused, decimals, units; /* ways that a value does not have; in which some has decimals; ways.h */
    bool differ;                       /* some value is not the same in all of its ways */
};

/* The text of a cell, without surrounding white space and quotes. */
struct cell {
    const char *at, *end;
    bool quoted;
};

struct table_column {
    const char *name;
    enum value_kind kind;
    enum type type;            /* of the elements; of text TYPE_U32 until the codes are known */
    uint8_t scale;             /* VALUE_DECIMAL */
    bool utc;                  /* VALUE_TIMESTAMP: all have a zone; otherwise none has */
    bool stated;               /* values of other types are errors */
    bool open;                 /* there are two ways to read it */
    bool doubtful;             /* points may be between thousands; all values are looked at */
    unsigned way;              /* in which numbers, dates and timestamps are read; 0: as rql writes them */
    size_t node;               /* of JSON: whose values (json_keys.h) */
    bool member;               /* of JSON: the name is a path of several keys */
    bool left_out;             /* of JSON: as of struct reader_column */
    size_t list;               /* of JSON: the column whose elements have it; NO_COLUMN: records do */
    size_t space;              /* the rows that it has a value of: 0, the records, or the elements of a list; */
    size_t elements;           /* of a list, those of its elements */
    struct list_store *unread; /* of a list, the types; one reference */
    struct evidence evidence;
    size_t texts, others; /* of the sample: values that are text by themselves, and others */
    int64_t missing, cut; /* values missing, timestamps cut; set when it is read */
    int64_t faults;       /* of those missing, values with errors; the first of them at: */
    const char *first_fault;
};

enum problem_kind {
    PROBLEM_NONE,
    PROBLEM_VALUE,   /* not of the stated type */
    PROBLEM_UNIT,    /* of another unit than those before it */
    PROBLEM_RANGE,   /* beyond the stated type, or more digits after the point than it has */
    PROBLEM_COUNT,   /* of the cells of a record; a record that is no JSON object */
    PROBLEM_QUOTE,   /* malformed quotes */
    PROBLEM_KEY,     /* twice in a JSON object */
    PROBLEM_ENCODING /* not UTF-8 */
};

/* The first error in a part of the text. */
struct problem {
    enum problem_kind kind;
    const char *at; /* the value; the record if its number of cells is wrong */
    size_t column;  /* of PROBLEM_KEY: the node */
};

/* Whole lines of a text that are no rows: blank ones, comments, and those with errors that are skipped. */
struct left_out {
    const char *begin, *end;
};

struct chunk {
    const char *begin, *end; /* whole records */
    int64_t first_row, rows;
    int member; /* the thread that parsed it in this pass */
    struct problem problem;
    struct left_out *left_out; /* in order */
    size_t left_out_count, left_out_capacity;
};

struct json_keys; /* json_keys.h */

#define NO_COLUMN SIZE_MAX

struct table {
    const struct dialect *dialect;
    const char *text;        /* start of the file */
    const char *begin, *end; /* the records */
    struct table_column *columns;
    size_t count;
    struct json_keys *keys; /* of JSON objects */
    const char *pointed;    /* a key of them with a point, which reads as a path; or NULL */
    size_t list_count;      /* of JSON: lists among the columns */
    bool values;            /* JSON whose records are not lines, in an */
    bool array;             /* array */
    bool sound;             /* all records of JSON are objects, without unknown keys or, outside arrays, a key twice */
    const char *unknown;    /* a key of a JSON object that is no column's; NULL: none was seen */
    bool noted;             /* that keys are left out */
    struct text_options options; /* as stated */
    const char *const *missing;  /* stated words for missing values; NULL: the usual ones */
    size_t missing_count;
    const char *comment; /* how lines begin that are left out; NULL: none */
    unsigned ways;       /* in which values may be read (ways.h) */
    bool ragged;         /* what a short line lacks is missing */
    enum text_errors errors;
    bool blank_lines;       /* there may be some */
    int64_t blanks, faults; /* blank lines, and lines with errors, that were met where the text was cut by cells */
    const char *first_fault;
    struct chunk *chunks;
    int64_t chunk_count;
    int64_t rows;
    bool cut_by_cells;
};

/* The first records, which guesses are made of. */
enum { SAMPLE_ROWS = 1000, SAMPLE_BYTES = 1 << 20 };

enum { MAX_COLUMNS = 30000 }; /* each has blocks of memory, of which a process can have some 65 000 */

/* Divides the records into chunks and counts their rows, but of JSON lines; release them with table_free_chunks.
 * Returns false if cancelled. (chunks.c) */
bool table_cut(struct table *table, const struct workers *workers);
/* Divides them again, on one thread: right even if quotes are within cells that they do not surround, and if some lines
 * are no rows. */
void table_cut_by_cells(struct table *table);
/* Sets the first rows of chunks by how many rows each has. */
void table_number_rows(struct table *table);
void table_free_chunks(struct table *table);

/* Finds the separator and the columns, names them, and applies the job's options. Texts are allocated in `arena`.
 * Adds to `found` what is to be told. (header.c) */
enum status table_open(struct table *table, struct dialect *dialect, const struct format_job *job, const char *path,
                       struct arena *arena, struct strbuf *found);

/* Finds the separator and the first line that is not above the names; adds to `found` what to tell. (beginning.c) */
void table_find_beginning(struct table *table, struct dialect *dialect, const struct text_options *options,
                          struct strbuf *found);

/* Classifies the cells of the first records from `at` on; not for JSON. (sample.c) */
void table_sample(struct table *table, const char *at);

/* Takes the keys of the first objects. False: a problem. (sample.c) */
bool table_sample_keys(struct table *table, struct problem *problem);

/* Sets the kinds of columns without a stated type from what was seen so far. (sample.c) */
void table_guess_kinds(struct table *table);

/* What a column's elements stand for, by its kind; of text without a dictionary. (classify.c) */
struct logical_type table_column_logical(const struct table_column *column);

/* Notes what was found in the columns with read[k] (one for each column), which are columns[k], in one line, and once
 * what was left out. (notes.c) */
void table_note(struct table *table, const bool *read, struct column *const *columns, const struct format_job *job,
                const char *path);

/* A hint if a table has one column and its first two lines contain a delimiter of other formats; else NULL. */
const char *table_delimiter_advice(const struct table *table);

/* `load` of the file with these options, for hints. (error.c) */
const char *table_load_advice(const struct table *table, const struct format_job *job, const char *path,
                              struct text_options options);

/* Records the error; returns STATUS_FAILED. (error.c) */
enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path);

/* Whether a value of column k, of stated numbers, is of another unit than one before it: the first such one. (units.c)
 */
bool table_find_unit(const struct table *table, size_t k, const char **at);

/* The number of the line that contains `at`, from 1. */
int64_t table_line(const struct table *table, const char *at);

/* The column as messages name it: of the elements of a list, `tags[]`. */
const char *table_column_shown(const struct table *table, size_t k, struct arena *arena);

/* The cell that begins at `at`, or its beginning, in the arena. */
const char *table_shown_cell(const struct table *table, const char *at, struct arena *arena);

/* The reader of a text file. */
struct text_reader {
    struct file_reader base; /* its columns are the first ones of the table */
    struct arena *arena;     /* names, columns */
    struct mapping *mapping; /* one reference */
    struct dialect dialect;
    struct table table;
    bool malformed; /* the last pass found too many or few cells, or malformed quotes */
};

/* Brings base.columns[k] up to date with the table's. (open.c) */
void text_reader_describe(struct text_reader *reader, size_t k);

extern const struct file_reader_ops text_reader_ops; /* (read.c) */

#endif
