#include "engine/parquet_write/write_schema.h"

#include "engine/parquet/footer.h"

#include <string.h>

/* The values of ConvertedType for groups. */
enum { CONVERTED_MAP = 1, CONVERTED_LIST = 3 };

static const char element_name[] = "element";

static const char *list_group_name(const struct nest *list)
{
    return list->is_map ? "key_value" : "list";
}

/* The fields of an annotation: the member of LogicalType with this number. */
static void put_annotation(struct thrift_out *element, const struct column_format *format)
{
    const struct column *column = format->column;
    const struct logical_type *logical = &column->logical;
    const bool is_integer = logical->kind == LOGICAL_NUMBER && type_table[column->type].kind == KIND_INT;
    if ((is_integer && (column->type == TYPE_I64 || column->type == TYPE_I32)) ||
        (logical->kind == LOGICAL_NUMBER && !is_integer) || (logical->kind == LOGICAL_DURATION && !format->is_time))
        return;
    static const int annotations[] = {
        [LOGICAL_NUMBER] = ANNOTATION_INTEGER,
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, evidence, annotation, ...) \
    [LOGICAL_##kind] = annotation,
#include "engine/values/logical_types.def"
    };
    struct thrift_out annotation = thrift_put_struct(element, 10);
    struct thrift_out members = thrift_put_struct(&annotation, annotations[logical->kind]);
    if (logical->kind == LOGICAL_TIMESTAMP || logical->kind == LOGICAL_DURATION) {
        thrift_put_bool(&members, 1, logical->zone);
        struct thrift_out unit = thrift_put_struct(&members, 2);
        struct thrift_out micros = thrift_put_struct(&unit, UNIT_MICROS);
        thrift_end(&micros);
        thrift_end(&unit);
    } else if (logical->kind == LOGICAL_DECIMAL) {
        thrift_put_int32(&members, 1, logical->scale);
        thrift_put_int32(&members, 2, format->physical == PHYSICAL_FIXED ? MAX_DIGITS + 1 : MAX_DIGITS);
    } else if (logical->kind == LOGICAL_NUMBER) {
        thrift_put_int8(&members, 1, (int8_t)(8 * type_table[column->type].size));
        thrift_put_bool(&members, 2, type_table[column->type].lo < 0);
    }
    thrift_end(&members);
    thrift_end(&annotation);
}

/* The number of the older annotation ConvertedType, or -1: that of timestamps says that they are in UTC. */
static int converted_of(const struct column *column)
{
    static const int numbers[TYPE_COUNT] = {
        [TYPE_U8] = 11, [TYPE_U16] = 12, [TYPE_U32] = 13, [TYPE_I8] = 15, [TYPE_I16] = 16};
    static const int others[] = {
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, evidence, annotation,      \
                     converted, ...)                                                                                   \
    [LOGICAL_##kind] = converted,
#include "engine/values/logical_types.def"
    };
    const struct logical_type *logical = &column->logical;
    if (logical->kind == LOGICAL_NUMBER)
        return numbers[column->type] ? numbers[column->type] : -1;
    return logical->kind == LOGICAL_TIMESTAMP && !logical->zone ? -1 : others[logical->kind];
}

static void put_nest(struct thrift_out *footer, const struct schema_formats *formats, const struct nest *nest,
                     const char *name, bool nullable);

static void put_fields(struct thrift_out *footer, const struct schema_formats *formats, const struct nest *parent)
{
    for (const struct nest *field = parent->first; field; field = field->next)
        put_nest(footer, formats, field, field->name, nest_is_nullable(field));
}

static void put_leaf(struct thrift_out *footer, const struct column_format *format, const char *name, bool nullable)
{
    const struct column *column = format->column;
    struct thrift_out element = {.to = footer->to};
    thrift_put_int32(&element, 1, (int32_t)format->physical);
    if (format->physical == PHYSICAL_FIXED)
        thrift_put_int32(&element, 2, (int32_t)format->width);
    thrift_put_int32(&element, 3, nullable ? REPETITION_OPTIONAL : REPETITION_REQUIRED);
    thrift_put_binary(&element, 4, name, strlen(name));
    const int converted = converted_of(column);
    if (converted >= 0)
        thrift_put_int32(&element, 6, converted);
    if (column->logical.kind == LOGICAL_DECIMAL) {
        thrift_put_int32(&element, 7, column->logical.scale);
        thrift_put_int32(&element, 8, format->physical == PHYSICAL_FIXED ? MAX_DIGITS + 1 : MAX_DIGITS);
    }
    put_annotation(&element, format);
    thrift_end(&element);
}

/* A group; `annotation`: of lists or maps, else 0. */
static void put_group(struct thrift_out *footer, const char *name, enum repetition repetition, size_t children,
                      enum annotation annotation)
{
    struct thrift_out element = {.to = footer->to};
    thrift_put_int32(&element, 3, (int32_t)repetition);
    thrift_put_binary(&element, 4, name, strlen(name));
    thrift_put_int32(&element, 5, (int32_t)children);
    if (annotation != ANNOTATION_NONE) {
        thrift_put_int32(&element, 6, annotation == ANNOTATION_MAP ? CONVERTED_MAP : CONVERTED_LIST);
        struct thrift_out logical = thrift_put_struct(&element, 10);
        struct thrift_out of_type = thrift_put_struct(&logical, (int)annotation);
        thrift_end(&of_type);
        thrift_end(&logical);
    }
    thrift_end(&element);
}

static void put_nest(struct thrift_out *footer, const struct schema_formats *formats, const struct nest *nest,
                     const char *name, bool nullable)
{
    const enum repetition repetition = nullable ? REPETITION_OPTIONAL : REPETITION_REQUIRED;
    if (nest->column && !nest->is_list) {
        put_leaf(footer, &formats->at[nest->leaf], name, nullable);
    } else if (!nest->is_list) {
        put_group(footer, name, repetition, nest->count, ANNOTATION_NONE);
        put_fields(footer, formats, nest);
    } else if (nest->is_map) {
        put_group(footer, name, repetition, 1, ANNOTATION_MAP);
        put_group(footer, list_group_name(nest), REPETITION_REPEATED, nest->count, ANNOTATION_NONE);
        put_fields(footer, formats, nest);
    } else {
        put_group(footer, name, repetition, 1, ANNOTATION_LIST);
        put_group(footer, list_group_name(nest), REPETITION_REPEATED, 1, ANNOTATION_NONE);
        if (nest_elements_are_plain(nest)) {
            put_nest(footer, formats, nest->first, element_name, nest_is_nullable(nest->first));
        } else {
            put_group(footer, element_name, nest->present ? REPETITION_OPTIONAL : REPETITION_REQUIRED, nest->count,
                      ANNOTATION_NONE);
            put_fields(footer, formats, nest);
        }
    }
}

/* The elements of the schema that a nest has, itself included. */
static size_t count_elements(const struct nest *nest)
{
    size_t count = 1;
    if (nest->is_list)
        count += nest->is_map || nest_elements_are_plain(nest) ? 1 : 2;
    for (const struct nest *field = nest->first; field; field = field->next)
        count += count_elements(field);
    return count;
}

void schema_put(struct thrift_out *footer, const struct schema_formats *formats)
{
    thrift_put_list(footer, 2, THRIFT_STRUCT, count_elements(formats->root));
    struct thrift_out root = {.to = footer->to};
    thrift_put_binary(&root, 4, "schema", strlen("schema"));
    thrift_put_int32(&root, 5, (int32_t)formats->root->count);
    thrift_end(&root);
    put_fields(footer, formats, formats->root);
}

/* ---- the paths of leaves ---- */

/* The nests from the root to one of its leaves. */
struct walk {
    struct arena *arena;
    struct schema_formats *formats;
    const struct nest **nests;
    size_t count, capacity;
};

static void walk_leaves(struct walk *walk, const struct nest *nest)
{
    for (const struct nest *field = nest->first; field; field = field->next) {
        walk->nests = arena_reserve(walk->arena, (void *)walk->nests, walk->count, &walk->capacity, sizeof nest);
        walk->nests[walk->count++] = field;
        if (field->column && !field->is_list) {
            struct leaf_path *path = &walk->formats->paths[field->leaf];
            const struct nest **nests = arena_array(walk->arena, walk->count, sizeof nest);
            memcpy((void *)nests, (const void *)walk->nests, walk->count * sizeof nest);
            *path = (struct leaf_path){.nests = nests, .count = walk->count};
            leaf_path_set_levels(path);
            struct column_format *format = &walk->formats->at[field->leaf];
            format->column = field->column;
            format->path = walk->count > 1 ? path : NULL;
        }
        walk_leaves(walk, field);
        walk->count--;
    }
}

void schema_formats_init(struct schema_formats *formats, const struct relation *relation, struct arena *arena)
{
    formats->root = nest_of_relation(relation, arena, &formats->count);
    formats->at = arena_array(arena, formats->count, sizeof *formats->at);
    formats->paths = arena_array(arena, formats->count, sizeof *formats->paths);
    struct walk walk = {.arena = arena, .formats = formats};
    walk_leaves(&walk, formats->root);
}

static void add_name(struct thrift_out *out, const char *name)
{
    thrift_add_binary(out, name, strlen(name));
}

void schema_put_path(struct thrift_out *chunk, int id, const struct leaf_path *path)
{
    size_t names = path->count;
    for (size_t k = 0; k + 1 < path->count; k++) {
        const struct nest *nest = path->nests[k];
        names += nest->is_list ? (nest->is_map || nest_elements_are_plain(nest) ? 1 : 2) : 0;
    }
    thrift_put_list(chunk, id, THRIFT_BINARY, names);
    for (size_t k = 0; k < path->count; k++) {
        const struct nest *nest = path->nests[k];
        const bool is_element = k > 0 && path->nests[k - 1]->is_list && nest_elements_are_plain(path->nests[k - 1]);
        add_name(chunk, is_element ? element_name : nest->name);
        if (nest->is_list)
            add_name(chunk, list_group_name(nest));
        if (nest->is_list && !nest->is_map && !nest_elements_are_plain(nest))
            add_name(chunk, element_name);
    }
}
