/* What the user states about a text file: `load t.csv price decimal(2), id text`, `missing "x", "y"`, and the clauses
 * that say how it is written (parser/clauses.def). */
#ifndef RQL_ENGINE_STORAGE_TEXT_OPTIONS_H
#define RQL_ENGINE_STORAGE_TEXT_OPTIONS_H

#include "base/arena.h"
#include "engine/values/logical_type.h"
#include "engine/values/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column's stated type: an integer type, f32, f64 or bool with LOGICAL_NUMBER, or another logical type (for a
 * timestamp, the file's zones decide on utc). A value of the file that is not of it is an error. */
struct stated_type {
    const char *name;
    enum type type; /* of LOGICAL_NUMBER only */
    struct logical_type logical;
};

/* In the order of the clause's words, behind what is so without it; so the next. */
enum date_order { DATES_ANY, DATES_DMY, DATES_MDY, DATES_YMD };

/* What becomes of values that are not what they are stated to be, and of lines with too many or few. */
enum text_errors { ERRORS_TELL, ERRORS_MISSING, ERRORS_SKIP };

struct text_options {
    const struct stated_type *columns;
    size_t count;
    const char *const *missing; /* strings that mean a missing value in any column, instead of the usual ones; NULL:
                                   those */
    size_t missing_count;
    bool head; /* only whole lines at the beginning of the file are looked at, as its names are what is wanted */
    bool skips;
    int64_t skip;         /* lines before the names, if `skips`; else they are looked for */
    const char *comment;  /* how lines begin that are left out; NULL: none */
    const char *encoding; /* NULL: UTF-8, or UTF-16 after a byte order mark */
    char separator;       /* of values; 0: what the first line has most of */
    char quote;           /* of values; 0: `"` */
    char decimal, thousands;
    enum date_order dates;
    bool ragged;
    enum text_errors errors;
};

/* A copy whose texts are in the arena; of NULL what states nothing. */
struct text_options text_options_copy(const struct text_options *options, struct arena *arena);

/* All that is stated, as it is written behind a path, each clause after a blank. Equal texts mean that a file is read
 * alike. In the arena. */
const char *text_options_written(const struct text_options *options, struct arena *arena);

#endif
