/* Logical types: what a column's integers stand for. Kernels and operators see numbers only; the binder, the formats
 * and the printer see these. */
#ifndef RQL_ENGINE_VALUES_LOGICAL_TYPE_H
#define RQL_ENGINE_VALUES_LOGICAL_TYPE_H

#include "engine/values/types.h"

#include "base/integer.h"

#include <stdbool.h>
#include <stdint.h>

struct dictionary; /* dictionary.h */

enum logical {
    LOGICAL_NUMBER,    /* the number itself, or a bool */
    LOGICAL_TEXT,      /* u8, u16 or u32: a code, the string's position in a sorted dictionary */
    LOGICAL_DATE,      /* i32: days since 1970-01-01, proleptic Gregorian */
    LOGICAL_TIMESTAMP, /* i64: microseconds since 1970-01-01T00:00:00 */
    LOGICAL_DURATION,  /* i64: microseconds */
    LOGICAL_DECIMAL    /* i64: the number times 10^scale */
};

enum { DECIMAL_MAX_SCALE = 18 };

/* Zero-initialised: a plain number. */
struct logical_type {
    enum logical kind;
    uint8_t scale;                 /* LOGICAL_DECIMAL: digits after the point, at most DECIMAL_MAX_SCALE */
    bool utc;                      /* LOGICAL_TIMESTAMP: in UTC; otherwise as written, without a zone */
    struct dictionary *dictionary; /* LOGICAL_TEXT; borrowed, except where a holder says that it has a reference */
};

/* Whether the values are numbers: plain ones or decimals. */
bool logical_is_number(struct logical_type logical);

/* Whether they are dates, timestamps or durations. */
bool logical_is_time(struct logical_type logical);

/* Whether values of the two are the same values; of text, codes into the same dictionary. */
bool logical_is_same(const struct logical_type *a, const struct logical_type *b);

/* The name of a column's type: "text", "date", "decimal(2)"; of plain numbers that of the type, "i64". */
const char *logical_type_name(struct logical_type logical, enum type type);

/* Writes what an integer stands for, of any kind but text, at most LOGICAL_TEXT_BYTES bytes without a NUL; returns its
 * end. */
enum { LOGICAL_TEXT_BYTES = 48 };
char *logical_text(char *at, struct logical_type logical, int64_t value);

/* Writes value / 10^scale with all digits, in at most LOGICAL_TEXT_BYTES bytes: -0.05, 12.00. */
char *decimal_text(char *at, int128 value, int scale);

#endif
