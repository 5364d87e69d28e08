/* What the user states about a text file: `load t.csv price decimal(2), id text` and `missing "x", "y"`. */
#ifndef RQL_ENGINE_STORAGE_TEXT_OPTIONS_H
#define RQL_ENGINE_STORAGE_TEXT_OPTIONS_H

#include "engine/values/logical_type.h"
#include "engine/values/types.h"

#include <stdbool.h>
#include <stddef.h>

/* A column's stated type: an integer type, f32, f64 or bool with LOGICAL_NUMBER, or another logical type (for a
 * timestamp, the file's zones decide on utc). A value of the file that is not of it is an error. */
struct stated_type {
    const char *name;
    enum type type; /* of LOGICAL_NUMBER only */
    struct logical_type logical;
};

struct text_options {
    const struct stated_type *columns;
    size_t count;
    const char *const *missing; /* strings that mean a missing value in any column, instead of the usual ones; NULL:
                                   those */
    size_t missing_count;
    bool head; /* only whole lines at the beginning of the file are looked at, as its names are what is wanted */
};

#endif
