/* Types of ClickHouse columns, how their values are sent in format Native, and what they become here. */
#ifndef RQL_SQL_WIRE_WIRE_TYPE_H
#define RQL_SQL_WIRE_WIRE_TYPE_H

#include "base/arena.h"
#include "base/text.h"
#include "engine/values/logical_type.h"
#include "engine/values/types.h"

/* What follows of a value's bytes. */
enum wire_form {
    WIRE_AS_IS,     /* an element of the column */
    WIRE_UNSIGNED,  /* 64 bits; at most INT64_MAX here */
    WIRE_DAYS,      /* 16 bits: a date */
    WIRE_SECONDS,   /* 32 bits: a time stamp */
    WIRE_TICKS,     /* 64 bits: a time stamp in units of 10^-scale seconds */
    WIRE_DECIMAL,   /* 4, 8 or 16 bytes: a number times 10^scale */
    WIRE_TEXT,      /* its length and its bytes */
    WIRE_FIXED_TEXT /* `width` bytes, the last of which may be NUL */
};

struct wire_type {
    enum wire_form form;
    size_t width; /* bytes of a value; WIRE_TEXT: 0 */
    int scale;    /* WIRE_TICKS and WIRE_DECIMAL */
    bool nullable;
    enum type type;              /* of the column here; of text TYPE_U32 */
    struct logical_type logical; /* without a dictionary */
    const char *name;            /* of the server's type, as given */
    const char *cast;            /* the type that the server has to convert to before it sends, or NULL */
    const char *values;          /* of a nullable Enum its type without Nullable, else NULL; */
    int value;                   /* a number that it has */
};

/* The type of this name, which is borrowed, as "Nullable(Decimal(9, 2))". False: values of it have no type here. */
bool wire_type_parse(const char *name, struct arena *arena, struct wire_type *type);

/* What the server is to send in place of the column `raw` of this type. */
const char *wire_type_sent(const struct wire_type *type, const char *raw, struct arena *arena);

/* Whether values of the type, or of that which it is cast to, are what a server sends under this name. */
bool wire_type_is_sent_as(const struct wire_type *type, struct text name);

#endif
