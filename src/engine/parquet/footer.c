#include "engine/parquet/footer.h"

#include "engine/arrow/stored_schema.h"
#include "engine/parquet/thrift.h"
#include "engine/storage/pandas_index.h"

enum { OTHER_ENCODING_BIT = 31 };

/* The values of the enum ConvertedType. */
enum converted {
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MILLIS = 7,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_INT_8 = 15,
    CONVERTED_JSON = 19,
    CONVERTED_BSON = 20,
    CONVERTED_INTERVAL = 21,
    CONVERTED_COUNT
};

static const struct {
    enum annotation annotation;
    enum time_unit unit;
} converted_table[CONVERTED_COUNT] = {
    [CONVERTED_UTF8] = {ANNOTATION_STRING, 0},
    [CONVERTED_MAP] = {ANNOTATION_MAP, 0},
    [CONVERTED_MAP_KEY_VALUE] = {ANNOTATION_MAP, 0},
    [CONVERTED_LIST] = {ANNOTATION_LIST, 0},
    [CONVERTED_ENUM] = {ANNOTATION_ENUM, 0},
    [CONVERTED_DECIMAL] = {ANNOTATION_DECIMAL, 0},
    [CONVERTED_DATE] = {ANNOTATION_DATE, 0},
    [CONVERTED_TIME_MILLIS] = {ANNOTATION_TIME, UNIT_MILLIS},
    [CONVERTED_TIME_MICROS] = {ANNOTATION_TIME, UNIT_MICROS},
    [CONVERTED_TIMESTAMP_MILLIS] = {ANNOTATION_TIMESTAMP, UNIT_MILLIS},
    [CONVERTED_TIMESTAMP_MICROS] = {ANNOTATION_TIMESTAMP, UNIT_MICROS},
    [CONVERTED_JSON] = {ANNOTATION_JSON, 0},
    [CONVERTED_BSON] = {ANNOTATION_BSON, 0},
    [CONVERTED_INTERVAL] = {ANNOTATION_INTERVAL, 0},
};

/* Sets what an old annotation says. Four unsigned integers precede four signed ones. */
static void set_converted(struct schema_element *element, int64_t converted)
{
    if (converted >= CONVERTED_UINT_8 && converted < CONVERTED_JSON) {
        element->annotation = ANNOTATION_INTEGER;
        element->is_unsigned = converted < CONVERTED_INT_8;
        element->bits = 8 << (converted - CONVERTED_UINT_8) % 4;
    } else if (converted >= 0 && converted < CONVERTED_COUNT) {
        element->annotation = converted_table[converted].annotation;
        element->unit = (int)converted_table[converted].unit;
        element->utc = true;
    } else {
        element->annotation = INT64_MAX;
    }
}

/* The members of DecimalType, TimeType, TimestampType or IntType. */
static void read_annotation(struct thrift *in, struct schema_element *element)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        const bool is_time = element->annotation == ANNOTATION_TIME || element->annotation == ANNOTATION_TIMESTAMP;
        if (is_time && field.id == 1) {
            element->utc = thrift_bool(in, field.type);
        } else if (is_time && field.id == 2 && thrift_struct(in, field.type)) {
            struct thrift_field unit = {0};
            while (thrift_next(in, &unit)) {
                element->unit = (int)unit.id;
                thrift_skip(in, unit.type);
            }
        } else if (element->annotation == ANNOTATION_INTEGER && field.id == 1) {
            element->bits = thrift_int32(in, field.type);
        } else if (element->annotation == ANNOTATION_INTEGER && field.id == 2) {
            element->is_unsigned = !thrift_bool(in, field.type);
        } else if (element->annotation == ANNOTATION_DECIMAL && field.id == 1) {
            element->scale = thrift_int32(in, field.type);
        } else {
            thrift_skip(in, field.type);
        }
    }
}

static void read_logical(struct thrift *in, struct schema_element *element)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        element->annotation = field.id;
        if (thrift_struct(in, field.type))
            read_annotation(in, element);
    }
}

static void read_element(struct thrift *in, struct schema_element *element)
{
    struct thrift_field field = {0};
    int64_t converted = -1;
    bool annotated = false;
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 1:
            element->is_leaf = true;
            element->physical = thrift_int32(in, field.type);
            break;
        case 2:
            element->width = thrift_int32(in, field.type);
            break;
        case 3:
            element->repetition = thrift_int32(in, field.type);
            break;
        case 4:
            element->name = thrift_binary(in, field.type);
            break;
        case 5:
            element->children = thrift_int32(in, field.type);
            break;
        case 6:
            converted = thrift_int(in, field.type);
            break;
        case 7:
            element->scale = thrift_int32(in, field.type);
            break;
        case 10:
            annotated = thrift_struct(in, field.type);
            read_logical(in, element);
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
    if (converted >= 0 && !annotated)
        set_converted(element, converted);
    if (element->children < 0 || (element->children > 0 && element->is_leaf))
        in->failed = true;
}

static void read_encodings(struct thrift *in, enum thrift_type type, struct chunk *chunk)
{
    const size_t count = thrift_list(in, type, THRIFT_I32);
    for (size_t i = 0; i < count && !in->failed; i++) {
        const int64_t encoding = thrift_int(in, THRIFT_I32);
        const bool known = encoding >= 0 && encoding < ENCODING_COUNT && encoding != 1;
        chunk->encodings |= 1u << (known ? encoding : OTHER_ENCODING_BIT);
    }
}

/* The fields 1 and 2 are deprecated bounds, whose order of text and unsigned integers was never specified. */
static void read_statistics(struct thrift *in, struct chunk_statistics *statistics)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 3:
            statistics->missing = thrift_int(in, field.type);
            break;
        case 5:
            statistics->most = thrift_binary(in, field.type);
            statistics->has_most = true;
            break;
        case 6:
            statistics->least = thrift_binary(in, field.type);
            statistics->has_least = true;
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
}

static void read_column_metadata(struct thrift *in, struct chunk *chunk)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 2:
            read_encodings(in, field.type, chunk);
            break;
        case 4:
            chunk->codec = thrift_int(in, field.type);
            break;
        case 5:
            chunk->values = thrift_int(in, field.type);
            break;
        case 7:
            chunk->bytes = thrift_int(in, field.type);
            break;
        case 9:
            chunk->data = thrift_int(in, field.type);
            break;
        case 11:
            chunk->dictionary = thrift_int(in, field.type);
            break;
        case 12:
            if (thrift_struct(in, field.type))
                read_statistics(in, &chunk->statistics);
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
}

static void read_chunk(struct thrift *in, struct chunk *chunk)
{
    chunk->statistics.missing = -1;
    struct thrift_field field = {0};
    bool found = false;
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 1:
            chunk->elsewhere = thrift_binary(in, field.type).length > 0;
            break;
        case 3:
            found = thrift_struct(in, field.type);
            read_column_metadata(in, chunk);
            break;
        case 8:
            chunk->encrypted = true;
            thrift_skip(in, field.type);
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
    if (!found && !chunk->encrypted)
        in->failed = true;
}

static void read_row_group(struct thrift *in, struct arena *arena, struct row_group *group)
{
    struct thrift_field field = {0};
    size_t capacity = 0;
    while (thrift_next(in, &field)) {
        if (field.id == 1) {
            const size_t count = thrift_list(in, field.type, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !in->failed; i++) {
                group->chunks = arena_reserve(arena, group->chunks, group->count, &capacity, sizeof *group->chunks);
                read_chunk(in, &group->chunks[group->count++]);
            }
        } else if (field.id == 3) {
            group->rows = thrift_int(in, field.type);
        } else {
            thrift_skip(in, field.type);
        }
    }
}

static void read_pair(struct thrift *in, struct footer *footer)
{
    struct thrift_field field = {0};
    struct text key = {0}, value = {0};
    while (thrift_next(in, &field)) {
        if (field.id == 1)
            key = thrift_binary(in, field.type);
        else if (field.id == 2)
            value = thrift_binary(in, field.type);
        else
            thrift_skip(in, field.type);
    }
    if (text_is(key, duration_key))
        footer->durations = value;
    else if (text_is(key, pandas_key))
        footer->pandas = value;
    else if (text_is(key, stored_schema_key))
        footer->schema = value;
}

static void read_footer(struct thrift *in, struct arena *arena, struct footer *footer)
{
    struct thrift_field field = {0};
    size_t count, element_capacity = 0, group_capacity = 0;
    while (thrift_next(in, &field)) {
        switch (field.id) {
        case 2:
            count = thrift_list(in, field.type, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !in->failed; i++) {
                footer->elements = arena_reserve(arena, footer->elements, footer->element_count, &element_capacity,
                                                 sizeof *footer->elements);
                read_element(in, &footer->elements[footer->element_count++]);
            }
            break;
        case 4:
            count = thrift_list(in, field.type, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !in->failed; i++) {
                footer->groups =
                    arena_reserve(arena, footer->groups, footer->group_count, &group_capacity, sizeof *footer->groups);
                read_row_group(in, arena, &footer->groups[footer->group_count++]);
            }
            break;
        case 5:
            count = thrift_list(in, field.type, THRIFT_STRUCT);
            for (size_t i = 0; i < count && !in->failed; i++)
                read_pair(in, footer);
            break;
        case 8:
            footer->encrypted = true;
            thrift_skip(in, field.type);
            break;
        default:
            thrift_skip(in, field.type);
        }
    }
}

/* The number of leaves, or -1 if the tree does not have exactly the elements. */
static int64_t count_leaves(const struct footer *footer)
{
    int64_t leaves = 0, expected = 1; /* elements still to come of the groups seen so far */
    for (size_t i = 0; i < footer->element_count; i++) {
        if (expected-- == 0)
            return -1;
        expected += footer->elements[i].children;
        leaves += footer->elements[i].is_leaf;
    }
    return expected == 0 && !footer->elements[0].is_leaf ? leaves : -1;
}

const char *footer_parse(const uint8_t *bytes, size_t length, struct arena *arena, struct footer *footer)
{
    struct thrift in = {bytes, bytes + length, false};
    read_footer(&in, arena, footer);
    if (in.failed || footer->element_count == 0)
        return "its footer cannot be parsed";
    const int64_t leaves = count_leaves(footer);
    if (leaves < 0)
        return "its schema is not a tree";
    for (size_t i = 0; i < footer->group_count; i++) {
        const struct row_group *group = &footer->groups[i];
        if ((int64_t)group->count != leaves)
            return "a row group has more or fewer columns than the schema";
        if (group->rows < 0 || __builtin_add_overflow(footer->rows, group->rows, &footer->rows))
            return "the number of rows of a row group is invalid";
    }
    return NULL;
}
