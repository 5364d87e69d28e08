#include "engine/arrow/schema.h"

#include "base/time/time_zone.h"
#include "base/utf8.h"
#include "engine/arrow/flatbuffer.h"
#include "engine/arrow/ipc.h"
#include "engine/storage/list_store.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { DECIMAL_BITS = 128, DECIMAL_DIGITS = 18, DECIMAL_MOST_DIGITS = 19 };

bool arrow_dictionary_is_large(const struct dictionary *dictionary)
{
    return dictionary->offsets[dictionary->count] - dictionary->offsets[0] > INT32_MAX;
}

bool arrow_list_is_large(const struct nest *nest)
{
    return nest->column->logical.lists->elements->rows > INT32_MAX;
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

/* The state of adding fields. */
struct adding {
    struct strbuf *buffer;
    const bool *times; /* as of arrow_schema_add_stored, or NULL */
};

static void add_fields(const struct adding *adding, const struct nest *parent, size_t at);

static size_t add_list_type(struct strbuf *buffer, const struct nest *nest, enum arrow_type *kind)
{
    *kind = nest->is_map ? ARROW_MAP : arrow_list_is_large(nest) ? ARROW_LARGE_LIST : ARROW_LIST;
    return flat_add_table(buffer, NULL, 0);
}

static size_t add_nest_type(const struct adding *adding, const struct nest *nest, enum arrow_type *kind)
{
    struct strbuf *buffer = adding->buffer;
    if (nest->is_list)
        return add_list_type(buffer, nest, kind);
    if (nest->column && adding->times && nest->column->logical.kind == LOGICAL_DURATION)
        return add_stored_duration(buffer, adding->times[nest->leaf], kind);
    if (nest->column)
        return add_type(buffer, nest->column, kind);
    *kind = ARROW_STRUCT;
    return flat_add_table(buffer, NULL, 0);
}

/* Adds a field, and the fields of `children` below it. */
static size_t add_field(const struct adding *adding, const struct nest *nest, const char *name, bool nullable)
{
    struct strbuf *buffer = adding->buffer;
    const bool text = nest->column && nest->column->logical.kind == LOGICAL_TEXT && !adding->times;
    struct flat_slot slots[FIELD_FIELDS] = {
        [FIELD_NAME] = {.width = 4},
        [FIELD_NULLABLE] = {.width = 1, .value = nullable},
        [FIELD_TYPE_TYPE] = {.width = 1},
        [FIELD_TYPE] = {.width = 4},
        [FIELD_DICTIONARY] = {.width = text ? 4 : 0},
        [FIELD_CHILDREN] = {.width = 4},
    };
    const size_t table = flat_add_table(buffer, slots, FIELD_FIELDS);
    flat_link(buffer, slots[FIELD_NAME].at, add_name(buffer, name));
    enum arrow_type kind;
    flat_link(buffer, slots[FIELD_TYPE].at, add_nest_type(adding, nest, &kind));
    flat_set(buffer, slots[FIELD_TYPE_TYPE].at, kind, 1);
    if (text)
        flat_link(buffer, slots[FIELD_DICTIONARY].at, add_encoding(buffer, nest->leaf));
    add_fields(adding, nest, slots[FIELD_CHILDREN].at);
    return table;
}

/* The struct that the elements of lists are, without a nest of its own. */
static size_t add_element_struct(const struct adding *adding, const struct nest *list)
{
    struct nest element = *list;
    element.column = NULL;
    element.is_list = false;
    return add_field(adding, &element, list->is_map ? "entries" : "item", !list->is_map);
}

/* Links the fields below a nest at a place of the buffer. */
static void add_fields(const struct adding *adding, const struct nest *parent, size_t at)
{
    struct strbuf *buffer = adding->buffer;
    const bool plain = parent->is_list && nest_elements_are_plain(parent);
    const size_t vector = flat_add_vector(buffer, parent->is_list ? 1 : parent->count, 4);
    flat_link(buffer, at, vector);
    if (parent->is_list) {
        flat_link(buffer, vector + 4,
                  plain ? add_field(adding, parent->first, "item", true) : add_element_struct(adding, parent));
        return;
    }
    size_t k = 0;
    for (const struct nest *field = parent->first; field; field = field->next, k++)
        flat_link(buffer, vector + 4 + 4 * k, add_field(adding, field, field->name, !(parent->is_map && k == 0)));
}

static size_t add_schema(const struct adding *adding, const struct nest *root)
{
    struct flat_slot slots[] = {[SCHEMA_ENDIANNESS] = {.width = 2}, [SCHEMA_FIELDS] = {.width = 4}};
    const size_t table = flat_add_table(adding->buffer, slots, 2);
    add_fields(adding, root, slots[SCHEMA_FIELDS].at);
    return table;
}

size_t arrow_schema_add(struct strbuf *buffer, const struct nest *root)
{
    return add_schema(&(struct adding){buffer, NULL}, root);
}

size_t arrow_schema_add_stored(struct strbuf *buffer, const struct nest *root, const bool *times)
{
    return add_schema(&(struct adding){buffer, times}, root);
}
