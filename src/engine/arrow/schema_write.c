#include "engine/arrow/schema.h"

#include "base/time_zone.h"
#include "base/utf8.h"
#include "engine/arrow/flatbuffer.h"
#include "engine/arrow/ipc.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { DECIMAL_BITS = 128, DECIMAL_DIGITS = 18, DECIMAL_MOST_DIGITS = 19 };

bool arrow_dictionary_is_large(const struct dictionary *dictionary)
{
    return dictionary->offsets[dictionary->count] - dictionary->offsets[0] > INT32_MAX;
}

static size_t add_integer(struct strbuf *buffer, enum type type)
{
    const struct type_info *info = &type_table[type];
    struct flat_slot slots[] = {{.width = 4, .value = 8 * (int64_t)info->size}, {.width = 1, .value = info->lo < 0}};
    return flat_add_table(buffer, slots, 2);
}

/* A type of one enumeration of 16 bits. */
static size_t add_unit(struct strbuf *buffer, int64_t unit)
{
    struct flat_slot slot = {.width = 2, .value = unit};
    return flat_add_table(buffer, &slot, 1);
}

static size_t add_timestamp(struct strbuf *buffer, const struct time_zone *zone)
{
    struct flat_slot slots[] = {{.width = 2, .value = ARROW_MICROSECOND}, {.width = zone ? 4 : 0}};
    const size_t table = flat_add_table(buffer, slots, 2);
    if (zone)
        flat_link(buffer, slots[1].at, flat_add_text(buffer, zone->name, strlen(zone->name)));
    return table;
}

/* With as many digits as 64 bits hold only where a value needs them: readers keep 18 in 64 bits. */
static size_t add_decimal(struct strbuf *buffer, const struct column *column)
{
    static const int64_t limit = INT64_C(1000000000000000000);
    int64_t digits = DECIMAL_DIGITS;
    for (int64_t row = 0; row < column->rows && digits == DECIMAL_DIGITS; row++) {
        const int64_t value = column_get_int(column, row);
        if (value <= -limit || value >= limit)
            digits = DECIMAL_MOST_DIGITS;
    }
    struct flat_slot slots[] = {{.width = 4, .value = digits},
                                {.width = 4, .value = column->logical.scale},
                                {.width = 4, .value = DECIMAL_BITS}};
    return flat_add_table(buffer, slots, 3);
}

static size_t add_number(struct strbuf *buffer, enum type type, enum arrow_type *kind)
{
    if (type == TYPE_BOOL) {
        *kind = ARROW_BOOL;
        return flat_add_table(buffer, NULL, 0);
    }
    if (type_table[type].kind == KIND_FLOAT) {
        *kind = ARROW_FLOAT;
        return add_unit(buffer, type == TYPE_F32 ? ARROW_SINGLE : ARROW_DOUBLE);
    }
    return add_integer(buffer, type);
}

static size_t add_type(struct strbuf *buffer, const struct column *column, enum arrow_type *kind)
{
    static const enum arrow_type kinds[] = {
        [LOGICAL_NUMBER] = ARROW_INT,
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, evidence, annotation,      \
                     converted, arrow, ...)                                                                            \
    [LOGICAL_##kind] = arrow,
#include "engine/values/logical_types.def"
    };
    *kind = kinds[column->logical.kind];
    switch (column->logical.kind) {
    case LOGICAL_TEXT:
        *kind = arrow_dictionary_is_large(column->logical.dictionary) ? ARROW_LARGE_UTF8 : *kind;
        return flat_add_table(buffer, NULL, 0);
    case LOGICAL_DATE:
        return add_unit(buffer, 0);
    case LOGICAL_TIMESTAMP:
        return add_timestamp(buffer, column->logical.zone);
    case LOGICAL_DURATION:
        return add_unit(buffer, ARROW_MICROSECOND);
    case LOGICAL_DECIMAL:
        return add_decimal(buffer, column);
    case LOGICAL_NUMBER:
    case LOGICAL_LIST:
        break;
    }
    return add_number(buffer, column->type, kind);
}

static size_t add_encoding(struct strbuf *buffer, size_t id)
{
    struct flat_slot slots[ENCODING_FIELDS] = {
        [ENCODING_ID] = {.width = 8, .value = (int64_t)id}, [ENCODING_INDEX] = {.width = 4}};
    const size_t table = flat_add_table(buffer, slots, ENCODING_FIELDS);
    flat_link(buffer, slots[ENCODING_INDEX].at, add_integer(buffer, TYPE_I32));
    return table;
}

/* The name with U+FFFD for each byte that is not UTF-8. */
static size_t add_name(struct strbuf *buffer, const char *name)
{
    struct strbuf clean = {0};
    const size_t length = strlen(name);
    for (size_t at = 0; at < length;) {
        uint32_t code;
        const size_t size = utf8_decode(name + at, length - at, &code);
        strbuf_add(&clean, size ? name + at : "\xef\xbf\xbd", size ? size : 3);
        at += size ? size : 1;
    }
    const size_t place = flat_add_text(buffer, clean.text, clean.length);
    strbuf_free(&clean);
    return place;
}

/* A duration as Parquet has it. */
static size_t add_stored_duration(struct strbuf *buffer, bool time, enum arrow_type *kind)
{
    *kind = time ? ARROW_TIME : ARROW_INT;
    if (!time)
        return add_integer(buffer, TYPE_I64);
    struct flat_slot slots[] = {{.width = 2, .value = ARROW_MICROSECOND}, {.width = 4, .value = 64}};
    return flat_add_table(buffer, slots, 2);
}

/* `times`: as of arrow_schema_add_stored, or NULL. */
static size_t add_field(struct strbuf *buffer, const struct column *column, const char *name, size_t id,
                        const bool *times)
{
    const bool text = column->logical.kind == LOGICAL_TEXT && !times;
    struct flat_slot slots[FIELD_FIELDS] = {
        [FIELD_NAME] = {.width = 4}, [FIELD_NULLABLE] = {.width = 1, .value = 1},  [FIELD_TYPE_TYPE] = {.width = 1},
        [FIELD_TYPE] = {.width = 4}, [FIELD_DICTIONARY] = {.width = text ? 4 : 0}, [FIELD_CHILDREN] = {.width = 4},
    };
    const size_t table = flat_add_table(buffer, slots, FIELD_FIELDS);
    flat_link(buffer, slots[FIELD_NAME].at, add_name(buffer, name));
    enum arrow_type kind;
    const bool duration = times && column->logical.kind == LOGICAL_DURATION;
    flat_link(buffer, slots[FIELD_TYPE].at,
              duration ? add_stored_duration(buffer, times[id], &kind) : add_type(buffer, column, &kind));
    flat_set(buffer, slots[FIELD_TYPE_TYPE].at, kind, 1);
    if (text)
        flat_link(buffer, slots[FIELD_DICTIONARY].at, add_encoding(buffer, id));
    flat_link(buffer, slots[FIELD_CHILDREN].at, flat_add_vector(buffer, 0, 4));
    return table;
}

static size_t add_schema(struct strbuf *buffer, const struct relation *relation, const bool *times)
{
    struct flat_slot slots[] = {[SCHEMA_ENDIANNESS] = {.width = 2}, [SCHEMA_FIELDS] = {.width = 4}};
    const size_t table = flat_add_table(buffer, slots, 2);
    const size_t fields = flat_add_vector(buffer, relation->count, 4);
    flat_link(buffer, slots[SCHEMA_FIELDS].at, fields);
    for (size_t k = 0; k < relation->count; k++)
        flat_link(buffer, fields + 4 + 4 * k, add_field(buffer, relation->columns[k], relation->names[k], k, times));
    return table;
}

size_t arrow_schema_add(struct strbuf *buffer, const struct relation *relation)
{
    return add_schema(buffer, relation, NULL);
}

size_t arrow_schema_add_stored(struct strbuf *buffer, const struct relation *relation, const bool *times)
{
    return add_schema(buffer, relation, times);
}
