/* Logical types: what a column's integers stand for. Kernels and operators see numbers only; the binder, the formats
 * and the printer see these. */
#ifndef RQL_ENGINE_VALUES_LOGICAL_TYPE_H
#define RQL_ENGINE_VALUES_LOGICAL_TYPE_H

#include "engine/values/types.h"

#include "base/integer.h"

#include <stdbool.h>
#include <stdint.h>

struct dictionary; /* dictionary.h */
struct time_zone;  /* base/time/time_zone.h */
struct list_store; /* engine/storage/list_store.h */

/* LOGICAL_NUMBER: the number itself, or a bool. LOGICAL_TEXT: a code of u8, u16 or u32, the string's position in a
 * sorted dictionary. LOGICAL_DATE: days, proleptic Gregorian. LOGICAL_DECIMAL: the number times 10^scale. LOGICAL_LIST:
 * the number of a list in its store. The table is logical_types.def. */
enum logical {
    LOGICAL_NUMBER,
#define LOGICAL_TYPE(kind, ...) LOGICAL_##kind,
#include "engine/values/logical_types.def"
};

enum {
    LOGICAL_KINDS = 1
#define LOGICAL_TYPE(...) +1
#include "engine/values/logical_types.def"
};

/* What the values are to operators and formats: JSON has numbers as they are, and others in quotes. */
enum logical_family { FAMILY_NUMBER, FAMILY_TEXT, FAMILY_TIME, FAMILY_LIST };

struct logical_info {
    const char *name; /* as a column of a text file is stated to be, and as types are printed */
    enum type stored; /* of a column that is read from a file: of text, before its codes are known; computed values of
                         other types are i64 */
    enum logical_family family;
    bool adds;           /* sums and differences of two values are values of the type. Of LOGICAL_NUMBER: false */
    bool means;          /* so is a mean, rounded; of a type that only adds, a mean is a float */
    const char *noun;    /* "a date" */
    const char *unit;    /* what its integers count, for a format that holds these; NULL: they are refused */
    const char *written; /* a hint of how its constants are written, or NULL */
};

extern const struct logical_info logical_table[LOGICAL_KINDS];

enum { DECIMAL_MAX_SCALE = 18 };

/* Zero-initialised: a plain number. */
struct logical_type {
    enum logical kind;
    uint8_t scale;                /* LOGICAL_DECIMAL: digits after the point, at most DECIMAL_MAX_SCALE */
    const struct time_zone *zone; /* LOGICAL_TIMESTAMP: the values are instants, microseconds in UTC, which are shown in
                                     this zone; NULL: as written, without a zone */
    struct dictionary *dictionary; /* LOGICAL_TEXT; borrowed, except where a holder says that it has a reference */
    struct list_store *lists;      /* LOGICAL_LIST; likewise */
    bool member;                   /* of a column: the points in its name are levels of structs */
};

/* How the type of lists is written, which is the beginning of a struct list_store. */
struct list_type {
    char *name; /* "list of text" */
};

/* Whether the values are numbers: plain ones or decimals. */
bool logical_is_number(struct logical_type logical);

/* Whether they are of FAMILY_TIME. */
bool logical_is_time(struct logical_type logical);

/* Whether values of the two are the same values; of text, codes into the same dictionary; of lists, numbers of the same
 * store. */
bool logical_is_same(const struct logical_type *a, const struct logical_type *b);

/* The name of a column's type: "text", "date", "decimal(2)"; of plain numbers that of the type, "i64". */
const char *logical_type_name(struct logical_type logical, enum type type);

/* Writes what an integer stands for, of any kind but text and lists, at most LOGICAL_TEXT_BYTES bytes without a NUL;
 * returns its end. */
enum { LOGICAL_TEXT_BYTES = 48 };
char *logical_text(char *at, struct logical_type logical, int64_t value);

/* Writes value / 10^scale with all digits, in at most LOGICAL_TEXT_BYTES bytes: -0.05, 12.00. */
char *decimal_text(char *at, int128 value, int scale);

#endif
