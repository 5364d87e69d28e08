/* Results as text. */
#ifndef RQL_REPL_PRINT_PRINT_H
#define RQL_REPL_PRINT_PRINT_H

#include "repl/print/printer.h"

#include "engine/run/run.h"

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
    bool header;              /* names first, where the format has such a line */
    bool terminal;            /* a person looks: tables are fitted to `width` and shortened */
    bool colour;
    bool separators; /* between thousands */
    size_t width;
    size_t height; /* lines of the terminal, 0 if not known: long tables are shortened to them */
};

/* Brings to the host the rows that print_result will print, where a device still has them; before it. An error is told
 * at `span`. */
enum status print_fetch(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags);

/* Whether the result can be printed so; adds an error, about the statement at `span`, if not: bytes are not for a
 * terminal, and not every format holds every relation. */
enum status print_check(const struct result *result, const struct print_style *style, struct span span,
                        struct diags *diags);

/* Prints a result that can be; what is not yet written stays in out->text. Returns early if `out` fails or is
 * interrupted, or if a file that the result is read from is found damaged; nothing of the damage has been written then,
 * and before the rest is written the caller asks changed_column (engine/file_changed.h) once more. */
void print_result(struct printer *out, const struct result *result, const struct print_style *style);

/* The result's relation as an aligned table (print_table.c): its first show_rows rows, or if that is < 0 all, or on a
 * terminal the first and last few. On a terminal a histogram has a bar beside each count. */
void print_table(struct printer *out, const struct result *result, const struct print_style *style);

/* How many rows at the beginning and at the end of the relation that shows. */
void print_table_rows(const struct result *result, const struct print_style *style, int64_t *head, int64_t *tail);
struct description;

/* Appends what was found out about columns, as a table in the style's format (print_description.c). */
void print_description(struct strbuf *out, const struct description *description, const struct print_style *style);

#endif
