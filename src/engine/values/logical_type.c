#include "engine/values/logical_type.h"

#include "base/time/calendar.h"
#include "base/time/time_zone.h"
#include "engine/values/scalar.h"

#include <string.h>

const struct logical_info logical_table[LOGICAL_KINDS] = {
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, ...)                                \
    [LOGICAL_##kind] = {name, stored, family, adds, means, noun, unit, written},
#include "engine/values/logical_types.def"
};

bool logical_is_number(struct logical_type logical)
{
    return logical_table[logical.kind].family == FAMILY_NUMBER;
}

bool logical_is_time(struct logical_type logical)
{
    return logical_table[logical.kind].family == FAMILY_TIME;
}

bool logical_is_same(const struct logical_type *a, const struct logical_type *b)
{
    return a->kind == b->kind && a->scale == b->scale && a->zone == b->zone && a->dictionary == b->dictionary &&
           a->lists == b->lists;
}

const char *logical_type_name(struct logical_type logical, enum type type)
{
    static const char *const decimals[DECIMAL_MAX_SCALE + 1] = {
        "decimal(0)",  "decimal(1)",  "decimal(2)",  "decimal(3)",  "decimal(4)",  "decimal(5)",  "decimal(6)",
        "decimal(7)",  "decimal(8)",  "decimal(9)",  "decimal(10)", "decimal(11)", "decimal(12)", "decimal(13)",
        "decimal(14)", "decimal(15)", "decimal(16)", "decimal(17)", "decimal(18)",
    };
    if (logical.kind == LOGICAL_NUMBER)
        return type_table[type].name;
    if (logical.lists)
        return ((const struct list_type *)(const void *)logical.lists)->name;
    if (logical.kind == LOGICAL_DECIMAL)
        return decimals[logical.scale];
    return logical.zone ? logical.zone->type_name : logical_table[logical.kind].name;
}

char *decimal_text(char *at, int128 value, int scale)
{
    char digits[LOGICAL_TEXT_BYTES];
    size_t count = (size_t)(int128_text(digits, value) - digits), sign = value < 0;
    size_t fraction = (size_t)scale, given = count - sign;
    if (fraction == 0)
        return memcpy(at, digits, count), at + count;
    if (sign > 0)
        *at++ = '-';
    const size_t whole = given > fraction ? given - fraction : 0;
    if (whole > 0)
        memcpy(at, digits + sign, whole);
    else
        *at = '0';
    at += whole > 0 ? whole : 1;
    *at++ = '.';
    const size_t zeros = given < fraction ? fraction - given : 0;
    memset(at, '0', zeros);
    memcpy(at + zeros, digits + sign + whole, given - whole);
    return at + fraction;
}

char *logical_text(char *at, struct logical_type logical, int64_t value)
{
    switch (logical.kind) {
    case LOGICAL_DATE:
        return date_text(at, value);
    case LOGICAL_TIMESTAMP:
        return timestamp_text(at, value, logical.zone);
    case LOGICAL_DURATION:
        return duration_text(at, value);
    case LOGICAL_DECIMAL:
        return decimal_text(at, value, logical.scale);
    case LOGICAL_NUMBER:
    case LOGICAL_TEXT:
    case LOGICAL_LIST:
        break;
    }
    return int_text(at, value);
}
