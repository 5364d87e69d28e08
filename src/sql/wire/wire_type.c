#include "sql/wire/wire_type.h"

#include "base/text.h"
#include "base/time/time_zone.h"

#include <stdlib.h>
#include <string.h>

/* Types without arguments. */
static const struct plain_type {
    const char *name;
    enum wire_form form;
    size_t width;
    enum type type;
    struct logical_type logical;
} plain_types[] = {
    {"Int8", WIRE_AS_IS, 1, TYPE_I8, {0}},
    {"Int16", WIRE_AS_IS, 2, TYPE_I16, {0}},
    {"Int32", WIRE_AS_IS, 4, TYPE_I32, {0}},
    {"Int64", WIRE_AS_IS, 8, TYPE_I64, {0}},
    {"UInt8", WIRE_AS_IS, 1, TYPE_U8, {0}},
    {"UInt16", WIRE_AS_IS, 2, TYPE_U16, {0}},
    {"UInt32", WIRE_AS_IS, 4, TYPE_U32, {0}},
    {"UInt64", WIRE_UNSIGNED, 8, TYPE_I64, {0}},
    {"Float32", WIRE_AS_IS, 4, TYPE_F32, {0}},
    {"Float64", WIRE_AS_IS, 8, TYPE_F64, {0}},
    {"Bool", WIRE_AS_IS, 1, TYPE_BOOL, {0}},
    {"Date", WIRE_DAYS, 2, TYPE_I32, {.kind = LOGICAL_DATE}},
    {"Date32", WIRE_AS_IS, 4, TYPE_I32, {.kind = LOGICAL_DATE}},
    {"DateTime", WIRE_SECONDS, 4, TYPE_I64, {.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc}},
    {"String", WIRE_TEXT, 0, TYPE_U32, {.kind = LOGICAL_TEXT}},
};

/* Types that are sent as another one: as text, or LowCardinality(T) as T. */
static const char *const cast_to_text[] = {"UUID", "IPv4", "IPv6", "Enum8", "Enum16"};

/* Whether the name is `start` with arguments in parentheses; these are the arena's. */
static bool has_arguments(const char *name, const char *start, struct arena *arena, const char **arguments)
{
    const size_t length = strlen(name), begin = strlen(start);
    if (length < begin + 2 || strncmp(name, start, begin) != 0 || name[begin] != '(' || name[length - 1] != ')')
        return false;
    *arguments = arena_text(arena, name + begin + 1, length - begin - 2);
    return true;
}

static bool find_plain(const char *name, struct wire_type *type)
{
    const struct plain_type *plain = TABLE_ROW(plain_types, name);
    if (!plain)
        return false;
    type->form = plain->form;
    type->width = plain->width;
    type->type = plain->type;
    type->logical = plain->logical;
    return true;
}

static bool parse_decimal(const char *arguments, struct wire_type *type)
{
    enum { DIGITS_4 = 9, DIGITS_8 = 18, DIGITS_16 = 38 };
    char *end;
    const long digits = strtol(arguments, &end, 10);
    const long scale = *end == ',' ? strtol(end + 1, &end, 10) : -1;
    if (*end || digits < 1 || digits > DIGITS_16 || scale < 0 || scale > DECIMAL_MAX_SCALE || scale > digits)
        return false;
    type->form = WIRE_DECIMAL;
    type->width = digits <= DIGITS_4 ? sizeof(int32_t) : digits <= DIGITS_8 ? sizeof(int64_t) : sizeof(int128);
    type->scale = (int)scale;
    type->type = TYPE_I64;
    type->logical = (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = (uint8_t)scale};
    return true;
}

/* Of a quoted argument, the zone of that name; UTC where there is none here, since values are instants anyhow. */
static const struct time_zone *zone_of(const char *argument, struct arena *arena)
{
    const struct time_zone *zone = NULL;
    const char *begin = strchr(argument, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;
    if (!end || time_zone_find(arena_text(arena, begin + 1, (size_t)(end - begin - 1)), &zone) != TIME_ZONE_FOUND)
        return &time_zone_utc;
    return zone;
}

/* The argument is the number of digits after the second, and perhaps a time zone. */
static bool parse_ticks(const char *arguments, struct arena *arena, struct wire_type *type)
{
    enum { MOST_DIGITS = 9 };
    char *end;
    const long scale = strtol(arguments, &end, 10);
    if (end == arguments || (*end && *end != ',') || scale < 0 || scale > MOST_DIGITS)
        return false;
    type->form = WIRE_TICKS;
    type->width = sizeof(int64_t);
    type->scale = (int)scale;
    type->type = TYPE_I64;
    type->logical = (struct logical_type){.kind = LOGICAL_TIMESTAMP, .zone = zone_of(end, arena)};
    return true;
}

static bool parse_fixed_text(const char *arguments, struct wire_type *type)
{
    enum { MOST_BYTES = 1 << 24 };
    char *end;
    const long width = strtol(arguments, &end, 10);
    if (*end || width < 1 || width > MOST_BYTES)
        return false;
    type->form = WIRE_FIXED_TEXT;
    type->width = (size_t)width;
    type->type = TYPE_U32;
    type->logical = (struct logical_type){.kind = LOGICAL_TEXT};
    return true;
}

static bool parse_value(const char *name, struct arena *arena, struct wire_type *type)
{
    const char *arguments;
    for (size_t i = 0; i < sizeof cast_to_text / sizeof *cast_to_text; i++) {
        if (strcmp(name, cast_to_text[i]) == 0 || has_arguments(name, cast_to_text[i], arena, &arguments)) {
            type->cast = "String";
            return find_plain("String", type);
        }
    }
    if (has_arguments(name, "DateTime", arena, &arguments) && find_plain("DateTime", type)) {
        type->logical.zone = zone_of(arguments, arena);
        return true;
    }
    if (has_arguments(name, "DateTime64", arena, &arguments))
        return parse_ticks(arguments, arena, type);
    if (has_arguments(name, "Decimal", arena, &arguments))
        return parse_decimal(arguments, type);
    if (has_arguments(name, "FixedString", arena, &arguments))
        return parse_fixed_text(arguments, type);
    return find_plain(name, type);
}

/* Whether the name is an Enum's, as "Enum8('a' = -1, 'b' = 5)", and the first of its numbers. */
static bool has_first_number(const char *name, int *number)
{
    static const char equals[] = "' = ";
    const char *at = strchr(name, '\'');
    if (strncmp(name, "Enum", strlen("Enum")) != 0 || !at)
        return false;
    for (at++; *at && *at != '\''; at++)
        at += *at == '\\' && at[1];
    if (strncmp(at, equals, strlen(equals)) != 0)
        return false;
    *number = (int)strtol(at + strlen(equals), NULL, 10);
    return true;
}

bool wire_type_parse(const char *name, struct arena *arena, struct wire_type *type)
{
    const char *inner = name;
    *type = (struct wire_type){.name = name};
    const bool coded = has_arguments(name, "LowCardinality", arena, &inner);
    if (coded)
        name = inner;
    type->nullable = has_arguments(name, "Nullable", arena, &inner);
    if (!parse_value(type->nullable ? inner : name, arena, type))
        return false;
    if (type->cast && type->nullable) {
        type->cast = "Nullable(String)";
        type->values = has_first_number(inner, &type->value) ? inner : NULL;
    } else if (coded && !type->cast)
        type->cast = name;
    return true;
}

const char *wire_type_sent(const struct wire_type *type, const char *raw, struct arena *arena)
{
    if (!type->cast)
        return raw;
    if (!type->values)
        return arena_printf(arena, "CAST(%s AS %s)", raw, type->cast);
    /* ClickHouse 18.16 has 0 in place of NULL, and converts that, too. */
    return arena_printf(
        arena, "if(isNull(%s), NULL, CAST(CAST(ifNull(CAST(%s AS Nullable(Int16)), toInt16(%d)) AS %s) AS String))",
        raw, raw, type->value, type->values);
}

bool wire_type_is_sent_as(const struct wire_type *type, struct text name)
{
    struct arena *arena = arena_new();
    struct wire_type sent;
    const bool same = wire_type_parse(arena_text(arena, name.at, name.length), arena, &sent) && !sent.cast &&
                      sent.form == type->form && sent.width == type->width && sent.scale == type->scale &&
                      sent.nullable == type->nullable && sent.type == type->type;
    arena_free(arena);
    return same;
}
