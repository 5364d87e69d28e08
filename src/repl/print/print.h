/* Prints results. */
#ifndef RQL_REPL_PRINT_PRINT_H
#define RQL_REPL_PRINT_PRINT_H

#include "engine/run/run.h"
#include "repl/print/printer.h"

enum print_format {
    PRINT_AUTO,
    PRINT_TABLE,
    PRINT_TSV,
    PRINT_CSV,
    PRINT_JSON,
    PRINT_JSONL,
    PRINT_MARKDOWN,
    PRINT_NPY,
    PRINT_RAW
};

struct print_style {
    enum print_format format; /* not PRINT_AUTO */
    bool header;              /* column names first, if the format has such a line */
    bool terminal;            /* fit tables to width and height */
    bool colour;
    bool separators; /* commas between thousands */
    bool rounds;     /* floats in tables end where more digits would not help */
    size_t width;
    size_t height; /* lines of the terminal, 0: unknown */
};

/* Fetches the rows that print_result will print from the device or computes them, if deferred. Call it first. Adds
 * errors at `span`. */
enum status print_fetch(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags);

/* Checks that the format can hold the result and, if binary, that the output is no terminal. Adds errors at `span`. */
enum status print_check(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags);

/* Prints a checked result; unwritten text stays in out->text. Returns early if `out` fails or is interrupted, or if a
 * file under the result was truncated: nothing read after that has been written. Before flushing, the caller checks
 * changed_column (engine/storage/file_errors.h) again. */
void print_result(struct printer *out, const struct result *result, const struct print_style *style);

/* Prints the relation as an aligned table (print_table.c): the first show_rows rows or, if that is < 0, all, on a
 * terminal the first and last few. On a terminal histograms have bars. */
void print_table(struct printer *out, const struct result *result, const struct print_style *style);

/* Returns the number of first and last rows that print_table shows. */
void print_table_rows(const struct result *result, const struct print_style *style, int64_t *head, int64_t *tail);

struct description;

/* Appends the summary of columns as a table in the style's format (print_description.c). */
void print_description(struct strbuf *out, const struct description *description, const struct print_style *style);

struct relation;

/* Like printer_relieve, but writes only if the relation's files are still complete: rows of a truncated file read as
 * zeroes. */
bool print_relieve(struct printer *out, const struct relation *relation);

#endif
