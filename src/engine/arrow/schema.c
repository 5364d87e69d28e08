#include "engine/arrow/schema.h"

#include "base/time/time_zone.h"
#include "engine/arrow/ipc.h"
#include "engine/storage/pandas_index.h"

/* Nested fields may share tables, so that few bytes could describe very many. */
enum { MAX_DEPTH = 64, MAX_FIELDS = 1 << 17 };

static const char *const type_names[ARROW_TYPES] = {
    [ARROW_NULL] = "null",
    [ARROW_INT] = "integer",
    [ARROW_FLOAT] = "float",
    [ARROW_BINARY] = "binary",
    [ARROW_UTF8] = "text",
    [ARROW_BOOL] = "bool",
    [ARROW_DECIMAL] = "decimal",
    [ARROW_DATE] = "date",
    [ARROW_TIME] = "time",
    [ARROW_TIMESTAMP] = "timestamp",
    [ARROW_INTERVAL] = "interval",
    [ARROW_LIST] = "list",
    [ARROW_STRUCT] = "struct",
    [ARROW_UNION] = "union",
    [ARROW_FIXED_BINARY] = "fixed-size binary",
    [ARROW_FIXED_LIST] = "fixed-size list",
    [ARROW_MAP] = "map",
    [ARROW_DURATION] = "duration",
    [ARROW_LARGE_BINARY] = "large binary",
    [ARROW_LARGE_UTF8] = "large text",
    [ARROW_LARGE_LIST] = "large list",
    [ARROW_RUN_END] = "run-end encoded",
    [ARROW_BINARY_VIEW] = "binary view",
    [ARROW_UTF8_VIEW] = "text view",
    [ARROW_LIST_VIEW] = "list view",
    [ARROW_LARGE_LIST_VIEW] = "large list view",
};

/* The state of walking through the fields of a schema. */
struct walk {
    struct arena *arena;
    const char *path;
    struct diags *diags;
    int64_t version;
    struct arrow_schema *schema;
    size_t seen;
    bool failed;
};

static void set_numbers(struct arrow_field *field, enum reading reading, size_t width, enum type as)
{
    field->reading = reading;
    field->width = width;
    field->as = as;
}

static void read_integer(struct arrow_field *field, const struct flat_table *type)
{
    const int64_t bits = flat_int(type, 0, 4, 0);
    const bool is_signed = flat_int(type, 1, 1, 0) != 0;
    if (bits == 8)
        set_numbers(field, READING_COPY, 1, is_signed ? TYPE_I8 : TYPE_U8);
    else if (bits == 16)
        set_numbers(field, READING_COPY, 2, is_signed ? TYPE_I16 : TYPE_U16);
    else if (bits == 32)
        set_numbers(field, READING_COPY, 4, is_signed ? TYPE_I32 : TYPE_U32);
    else if (bits == 64)
        set_numbers(field, is_signed ? READING_COPY : READING_U64, 8, TYPE_I64);
}

static void read_float(struct arrow_field *field, const struct flat_table *type)
{
    const int64_t precision = flat_int(type, 0, 2, ARROW_HALF);
    if (precision == ARROW_HALF)
        set_numbers(field, READING_HALF, 2, TYPE_F32);
    else if (precision == ARROW_SINGLE)
        set_numbers(field, READING_COPY, 4, TYPE_F32);
    else if (precision == ARROW_DOUBLE)
        set_numbers(field, READING_COPY, 8, TYPE_F64);
}

/* Times in a unit, to microseconds. */
static void read_unit(struct arrow_field *field, int64_t unit, size_t width, enum logical kind)
{
    static const int64_t multiply[] = {1000000, 1000, 1, 1};
    if (unit < ARROW_SECOND || unit > ARROW_NANOSECOND || (width != 4 && width != 8))
        return;
    const bool same = unit == ARROW_MICROSECOND && width == 8;
    set_numbers(field, same ? READING_COPY : READING_TIME, width, TYPE_I64);
    field->multiply = multiply[unit];
    field->divide = unit == ARROW_NANOSECOND ? 1000 : 1;
    field->logical.kind = kind;
}

static void read_date(struct arrow_field *field, const struct flat_table *type)
{
    const bool milliseconds = flat_int(type, 0, 2, 1) != 0;
    set_numbers(field, milliseconds ? READING_TIME : READING_COPY, milliseconds ? 8 : 4, TYPE_I32);
    field->divide = milliseconds ? 86400000 : 1;
    field->logical.kind = LOGICAL_DATE;
}

static void read_decimal(struct arrow_field *field, const struct flat_table *type)
{
    int64_t scale = flat_int(type, 1, 4, 0), bits = flat_int(type, 2, 4, 128);
    if (scale < -DECIMAL_MAX_SCALE || scale > DECIMAL_MAX_SCALE)
        return;
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256)
        return;
    set_numbers(field, bits == 64 && scale >= 0 ? READING_COPY : READING_DECIMAL, (size_t)bits / 8, TYPE_I64);
    for (int64_t s = scale; s < 0; s++)
        field->multiply *= 10;
    field->logical.kind = LOGICAL_DECIMAL;
    field->logical.scale = (uint8_t)(scale > 0 ? scale : 0);
}

static void read_text(struct arrow_field *field, enum reading reading, size_t width, bool binary)
{
    set_numbers(field, reading, width, TYPE_U32);
    field->binary = binary;
    field->logical.kind = LOGICAL_TEXT;
}

/* An instant has a zone. */
static void read_timestamp(const struct walk *walk, struct arrow_field *field, const struct flat_table *type)
{
    read_unit(field, flat_int(type, 0, 2, ARROW_SECOND), 8, LOGICAL_TIMESTAMP);
    const struct text zone = flat_string(type, 1);
    if (zone.length > 0)
        field->logical.zone = zone_of_file(zone, field->path, walk->path, walk->diags);
}

static void read_list(struct arrow_field *field, enum reading reading, size_t width)
{
    set_numbers(field, reading, width, TYPE_I64);
    field->logical.kind = LOGICAL_LIST;
}

static void read_type(const struct walk *walk, struct arrow_field *field, int64_t kind, const struct flat_table *type)
{
    switch (kind) {
    case ARROW_NULL: /* text, for want of any sign of another type */
        read_text(field, READING_NULL, 0, false);
        break;
    case ARROW_INT:
        read_integer(field, type);
        break;
    case ARROW_FLOAT:
        read_float(field, type);
        break;
    case ARROW_BOOL:
        set_numbers(field, READING_BITS, 0, TYPE_BOOL);
        break;
    case ARROW_DECIMAL:
        read_decimal(field, type);
        break;
    case ARROW_DATE:
        read_date(field, type);
        break;
    case ARROW_TIME:
        read_unit(field, flat_int(type, 0, 2, ARROW_MILLISECOND), (size_t)flat_int(type, 1, 4, 32) / 8,
                  LOGICAL_DURATION);
        break;
    case ARROW_TIMESTAMP:
        read_timestamp(walk, field, type);
        break;
    case ARROW_DURATION:
        read_unit(field, flat_int(type, 0, 2, ARROW_MILLISECOND), 8, LOGICAL_DURATION);
        break;
    case ARROW_UTF8:
    case ARROW_BINARY:
        read_text(field, READING_TEXT, 4, kind == ARROW_BINARY);
        break;
    case ARROW_LARGE_UTF8:
    case ARROW_LARGE_BINARY:
        read_text(field, READING_TEXT, 8, kind == ARROW_LARGE_BINARY);
        break;
    case ARROW_UTF8_VIEW:
    case ARROW_BINARY_VIEW:
        read_text(field, READING_VIEW, 16, kind == ARROW_BINARY_VIEW);
        break;
    case ARROW_STRUCT:
        field->reading = READING_STRUCT;
        break;
    case ARROW_LIST:
    case ARROW_MAP:
    case ARROW_LARGE_LIST:
        read_list(field, READING_LIST, kind == ARROW_LARGE_LIST ? 8 : 4);
        field->is_map = kind == ARROW_MAP;
        break;
    case ARROW_LIST_VIEW:
    case ARROW_LARGE_LIST_VIEW:
        read_list(field, READING_LIST_VIEW, kind == ARROW_LARGE_LIST_VIEW ? 8 : 4);
        break;
    case ARROW_FIXED_LIST:
        read_list(field, READING_FIXED_LIST, 0);
        field->list_size = flat_int(type, 0, 4, 0);
        break;
    default:
        break;
    }
}

/* The number of buffers of an array of this type, its children's and variadic ones not counted; -1: unknown. */
static int buffers_of(int64_t kind, const struct flat_table *type, int64_t version)
{
    switch (kind) {
    case ARROW_NULL:
    case ARROW_RUN_END:
        return 0;
    case ARROW_STRUCT:
    case ARROW_FIXED_LIST:
        return 1;
    case ARROW_UNION: /* before version 5 with a validity */
        return (flat_int(type, 0, 2, 0) != 0 ? 2 : 1) + (version < ARROW_V5 ? 1 : 0);
    case ARROW_BINARY:
    case ARROW_UTF8:
    case ARROW_LARGE_BINARY:
    case ARROW_LARGE_UTF8:
    case ARROW_LIST_VIEW:
    case ARROW_LARGE_LIST_VIEW:
        return 3;
    default:
        return kind > 0 && kind < ARROW_TYPES ? 2 : -1;
    }
}

static void read_dictionary(struct walk *walk, const struct flat_table *table, struct arrow_field *field)
{
    struct flat_table encoding = flat_child(table, FIELD_DICTIONARY);
    struct flat_table index = flat_child(&encoding, ENCODING_INDEX);
    const int64_t bits = flat_int(&index, 0, 4, index.buffer ? 0 : 32);
    walk->failed = walk->failed || (bits != 8 && bits != 16 && bits != 32 && bits != 64);
    field->in_dictionary = true;
    field->dictionary = flat_int(&encoding, ENCODING_ID, 8, 0);
    field->index_width = (size_t)bits / 8;
    field->index_signed = !index.buffer || flat_int(&index, 1, 1, 0) != 0;
    if (field->reading != READING_TEXT && field->reading != READING_VIEW) {
        field->reading = READING_NONE;
        field->type = arena_printf(walk->arena, "dictionary of %s", field->type);
    }
}

static void walk_field(struct walk *walk, const struct flat_table *table, int depth, const struct arrow_field *parent,
                       struct arrow_field *field);

static void walk_children(struct walk *walk, const struct flat_table *table, int depth, struct arrow_field *field)
{
    const struct flat_vector children = flat_vector(table, FIELD_CHILDREN, 4);
    if (children.count > MAX_FIELDS - walk->seen) {
        walk->failed = true;
        return;
    }
    field->children = arena_array(walk->arena, children.count, sizeof *field->children);
    for (size_t k = 0; k < children.count && !walk->failed; k++) {
        const struct flat_table child = flat_vector_table(&children, k);
        walk_field(walk, &child, depth + 1, field, &field->children[field->child_count++]);
    }
}

/* Whether it has the children that it must have. */
static bool has_children(const struct arrow_field *field)
{
    if (field->is_map)
        return field->child_count == 1 && field->children[0].reading == READING_STRUCT &&
               field->children[0].child_count == 2;
    return field->reading == READING_STRUCT || field->child_count == 1;
}

static bool is_sized(const struct arrow_field *field)
{
    switch (field->reading) {
    case READING_NONE:
    case READING_NULL:
        return false;
    case READING_STRUCT:
        for (size_t k = 0; k < field->child_count; k++) {
            if (field->children[k].sized)
                return true;
        }
        return false;
    case READING_FIXED_LIST:
        return field->list_size > 0 && field->children[0].sized;
    default:
        return true;
    }
}

/* The fields within lists have no names of their own in a path. */
static const char *path_of(const struct walk *walk, const struct arrow_field *field)
{
    const struct arrow_field *parent = field->parent;
    if (!parent)
        return field->name;
    return parent->reading == READING_STRUCT ? arena_printf(walk->arena, "%s.%s", parent->path, field->name)
                                             : parent->path;
}

/* Counts the nodes and buffers of a field and those within it, and describes it in *field. */
static void walk_field(struct walk *walk, const struct flat_table *table, int depth, const struct arrow_field *parent,
                       struct arrow_field *field)
{
    struct arrow_schema *schema = walk->schema;
    const int64_t kind = flat_int(table, FIELD_TYPE_TYPE, 1, 0) & 0xff;
    struct flat_table type = flat_child(table, FIELD_TYPE);
    struct text name = flat_string(table, FIELD_NAME);
    *field = (struct arrow_field){.name = arena_text(walk->arena, name.at, name.length),
                                  .type = kind < ARROW_TYPES && type_names[kind] ? type_names[kind] : "unknown",
                                  .multiply = 1,
                                  .divide = 1,
                                  .node = schema->nodes,
                                  .buffer = schema->buffers,
                                  .variadic = schema->variadic,
                                  .parent = parent};
    const int buffers = buffers_of(kind, &type, walk->version);
    if (!table->buffer || table->buffer->failed || buffers < 0 || depth > MAX_DEPTH || walk->seen++ > MAX_FIELDS) {
        walk->failed = true;
        return;
    }
    field->path = path_of(walk, field);
    read_type(walk, field, kind, &type);
    schema->all = arena_reserve(walk->arena, schema->all, schema->all_count, &schema->all_capacity, sizeof field);
    schema->all[schema->all_count++] = field;
    schema->nodes++;
    if (flat_has(table, FIELD_DICTIONARY)) { /* of nested values, only the indices are in the record batch */
        read_dictionary(walk, table, field);
        schema->buffers += 2;
        field->sized = is_sized(field);
        return;
    }
    schema->buffers += (size_t)buffers;
    schema->variadic += kind == ARROW_UTF8_VIEW || kind == ARROW_BINARY_VIEW;
    walk_children(walk, table, depth, field);
    if (arrow_is_nested(field) && (!has_children(field) || field->list_size < 0))
        walk->failed = true;
    field->sized = !walk->failed && is_sized(field);
}

bool arrow_is_wanted(const struct arrow_field *field)
{
    for (; field; field = field->parent) {
        if (field->reading == READING_NONE)
            return false;
    }
    return true;
}

/* Without other columns nothing attests the number of rows of columns without values. */
static void drop_lone_nulls(struct arrow_schema *schema)
{
    for (size_t k = 0; k < schema->count; k++) {
        if (schema->fields[k].sized)
            return;
    }
    for (size_t k = 0; k < schema->count; k++)
        schema->fields[k].reading = READING_NONE;
}

static enum status check_any(const struct format_job *job, const char *path, const struct arrow_schema *schema)
{
    for (size_t k = 0; k < schema->count; k++) {
        if (schema->fields[k].reading != READING_NONE)
            return STATUS_OK;
    }
    if (schema->count == 0)
        return diag_error(job->diags, job->span, "`%s` has no columns", path);
    return diag_error(job->diags, job->span, "`%s` has no column that can be read: `%s` is of type %s", path,
                      schema->fields[0].name, schema->fields[0].type);
}

enum status arrow_schema_read(const struct format_job *job, const char *path, const struct flat_table *table,
                              int64_t version, struct arena *arena, struct arrow_schema *schema)
{
    struct walk walk = {.arena = arena, .path = path, .diags = job->diags, .version = version, .schema = schema};
    *schema = (struct arrow_schema){0};
    if (flat_int(table, SCHEMA_ENDIANNESS, 2, 0) != 0)
        return diag_error_hint(job->diags, job->span,
                               "write it again on a machine that is not, for example with pyarrow",
                               "`%s` is big-endian", path);
    struct flat_vector fields = flat_vector(table, SCHEMA_FIELDS, 4);
    schema->fields = arena_array(walk.arena, fields.count, sizeof *schema->fields);
    for (size_t k = 0; k < fields.count && !walk.failed; k++) {
        struct flat_table field = flat_vector_table(&fields, k);
        walk_field(&walk, &field, 0, NULL, &schema->fields[schema->count++]);
    }
    if (walk.failed || !table->buffer || table->buffer->failed)
        return diag_error(job->diags, job->span, "`%s` is damaged: its schema is not valid", path);
    drop_lone_nulls(schema);
    pandas_note_range(flat_pair(table, SCHEMA_METADATA, pandas_key), path, job->diags);
    return check_any(job, path, schema);
}
