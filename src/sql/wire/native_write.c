#include "sql/wire/native.h"

#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

static const int64_t micros = 1000000, seconds_of_day = 86400;

/* The days of Date32 and DateTime64, 1900-01-01 to 2299-12-31; those of Date and DateTime end in 2105 at the latest. */
enum { FIRST_DAY = -25567, LAST_DAY = 120529, LAST_SHORT_DAY = 49709 };

static void set_range(struct stored_column *stored, const char *type, size_t width, int64_t least, int64_t most)
{
    stored->type = type;
    stored->width = width;
    stored->least = least;
    stored->most = most;
}

static void set_decimal(struct stored_column *stored, int scale, struct arena *arena)
{
    static const int64_t most = 999999999999999999; /* of 18 digits */
    set_range(stored, arena_printf(arena, "Decimal(18, %d)", scale), sizeof(int64_t), -most, most);
}

static void set_timestamp(struct stored_column *stored, const struct server_types *types)
{
    const int64_t day = seconds_of_day * micros;
    if (types->has_datetime64) {
        set_range(stored, "DateTime64(6, 'UTC')", sizeof(int64_t), FIRST_DAY * day, (LAST_DAY + 1) * day - 1);
        return;
    }
    set_range(stored, "DateTime('UTC')", sizeof(uint32_t), 0, LAST_SHORT_DAY * seconds_of_day - 1);
    stored->unit = micros;
}

static void set_type(struct stored_column *stored, const struct server_types *types, struct arena *arena)
{
    const struct column *column = stored->column;
    const enum type type = column->type;
    stored->unit = 1;
    switch (column->logical.kind) {
    case LOGICAL_TEXT:
        set_range(stored, "String", 0, INT64_MIN, INT64_MAX);
        return;
    case LOGICAL_DATE:
        if (types->has_date32)
            set_range(stored, "Date32", sizeof(int32_t), FIRST_DAY, LAST_DAY);
        else
            set_range(stored, "Date", sizeof(uint16_t), 0, LAST_SHORT_DAY - 1);
        return;
    case LOGICAL_TIMESTAMP:
        set_timestamp(stored, types);
        return;
    case LOGICAL_DECIMAL:
        set_decimal(stored, column->logical.scale, arena);
        return;
    case LOGICAL_LIST: /* refused before */
    case LOGICAL_NUMBER:
    case LOGICAL_DURATION: /* its microseconds */
        set_range(stored, type == TYPE_BOOL && types->has_bool ? "Bool" : type_table[type].server,
                  type_table[type].size, INT64_MIN, INT64_MAX);
    }
}

/* A value as the user knows it. */
static const char *value_text(const struct column *column, int64_t value, struct arena *arena)
{
    char text[LOGICAL_TEXT_BYTES];
    const char *end = logical_text(text, column->logical, value);
    return arena_text(arena, text, (size_t)(end - text));
}

static enum status check_values(const struct stored_column *stored, struct span span, struct diags *diags)
{
    const struct column *column = stored->column;
    if (stored->least == INT64_MIN && stored->most == INT64_MAX)
        return STATUS_OK;
    for (int64_t row = 0; row < column->rows; row++) {
        const int64_t value = column_get_int(column, row);
        const int64_t units = value / stored->unit;
        if (units * stored->unit == value && units >= stored->least && units <= stored->most)
            continue;
        if (column_is_missing(column, row))
            continue;
        diag_error(diags, span, "row %lld: %s of `%s` has no place in the server's type %s", (long long)row,
                   value_text(column, value, diags->arena), stored->name, stored->type);
        if (column->logical.kind != LOGICAL_DECIMAL)
            diag_hint(diags, "it has values from %s to %s%s: `select` rows with such, or save a file",
                      value_text(column, stored->least * stored->unit, diags->arena),
                      value_text(column, stored->most * stored->unit, diags->arena),
                      stored->unit > 1 ? ", in whole seconds" : "");
        return STATUS_FAILED;
    }
    return STATUS_OK;
}

enum status stored_column_of(const struct column *column, const char *name, const struct server_types *types,
                             struct stored_column *stored, struct span span, struct diags *diags)
{
    *stored = (struct stored_column){.column = column, .name = name};
    set_type(stored, types, diags->arena);
    if (check_values(stored, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    stored->nullable = column_has_missing(column, column->rows);
    if (stored->nullable)
        stored->type = arena_printf(diags->arena, "Nullable(%s)", stored->type);
    return STATUS_OK;
}

/* The range of a decimal of as many digits as its type says: "Decimal(9, 2)". */
static void set_digits(struct stored_column *stored, const char *type)
{
    enum { MOST_DIGITS = 18 };
    const char *at = strstr(type, "Decimal(");
    const int digits = at ? atoi(at + strlen("Decimal(")) : MOST_DIGITS;
    stored->most = 0;
    for (int i = 0; i < digits && i < MOST_DIGITS; i++)
        stored->most = 10 * stored->most + 9;
    stored->least = -stored->most;
}

/* How values of the column become those of a type; false: they do not. */
static bool set_wire(struct stored_column *stored, const struct wire_type *wire)
{
    enum { MICRO_SCALE = 6 };
    const struct column *column = stored->column;
    const enum kind kind = type_table[column->type].kind, theirs = type_table[wire->type].kind;
    const struct logical_type *logical = &column->logical;
    const int64_t day = seconds_of_day * micros;
    if (logical->kind != wire->logical.kind || (kind == KIND_FLOAT) != (theirs == KIND_FLOAT))
        return false;
    stored->width = wire->width;
    switch (wire->form) {
    case WIRE_AS_IS:
        stored->least = logical->kind == LOGICAL_DATE ? FIRST_DAY
                        : kind == KIND_FLOAT          ? INT64_MIN
                                                      : type_table[wire->type].lo;
        stored->most = logical->kind == LOGICAL_DATE ? LAST_DAY
                       : kind == KIND_FLOAT          ? INT64_MAX
                                                     : type_table[wire->type].hi;
        return kind != KIND_FLOAT || column->type == TYPE_F32 || wire->type == TYPE_F64;
    case WIRE_UNSIGNED:
        stored->least = 0;
        return true;
    case WIRE_DAYS:
        stored->least = 0;
        stored->most = LAST_SHORT_DAY - 1;
        return true;
    case WIRE_SECONDS:
        stored->unit = micros;
        stored->least = 0;
        stored->most = LAST_SHORT_DAY * seconds_of_day - 1;
        return true;
    case WIRE_TICKS:
        for (int i = wire->scale; i < MICRO_SCALE; i++)
            stored->unit *= 10;
        stored->least = FIRST_DAY * day / stored->unit;
        stored->most = ((LAST_DAY + 1) * day - 1) / stored->unit;
        return wire->scale <= MICRO_SCALE;
    case WIRE_DECIMAL:
        set_digits(stored, wire->name);
        return logical->scale == wire->scale;
    case WIRE_TEXT:
        return !wire->cast || strncmp(wire->name, "LowCardinality", strlen("LowCardinality")) == 0;
    default:
        return false;
    }
}

enum status stored_column_as(const struct column *column, const char *name, const char *type,
                             struct stored_column *stored, struct span span, struct diags *diags)
{
    struct wire_type wire;
    *stored = (struct stored_column){.column = column, .name = name, .unit = 1, .least = INT64_MIN, .most = INT64_MAX};
    if (!wire_type_parse(type, diags->arena, &wire) || !set_wire(stored, &wire))
        return diag_error_hint(diags, span, "have a view or a table of other types take them",
                               "values of `%s` here do not go into its type %s there", name, type);
    stored->type = wire.cast ? wire.cast : type;
    stored->nullable = wire.nullable;
    if (column_has_missing(column, column->rows) && !wire.nullable)
        return diag_error_hint(diags, span, "`derive` them with `??`, or `select` rows that have all",
                               "values of `%s` are missing, and its type %s there takes none such", name, type);
    return check_values(stored, span, diags);
}

static void add_number(struct strbuf *out, uint64_t number)
{
    enum { BITS = 7, MORE = 128 };
    for (; number >= MORE; number >>= BITS)
        strbuf_putc(out, (char)(number % MORE + MORE));
    strbuf_putc(out, (char)number);
}

static void add_text(struct strbuf *out, const char *text, size_t length)
{
    add_number(out, length);
    strbuf_add(out, text, length);
}

static void add_texts(struct strbuf *out, const struct stored_column *stored, int64_t begin, int64_t end)
{
    const struct column *column = stored->column;
    for (int64_t row = begin; row < end; row++) {
        if (stored->nullable && column_is_missing(column, row)) {
            add_text(out, "", 0);
            continue;
        }
        const struct text text = dictionary_text(column->logical.dictionary, column_get_int(column, row));
        add_text(out, text.at, text.length);
    }
}

/* Values of one width: the low bytes of integers, or floats. Missing ones are 0. */
static void add_values(struct strbuf *out, const struct stored_column *stored, int64_t begin, int64_t end)
{
    const struct column *column = stored->column;
    const size_t width = stored->width, rows = (size_t)(end - begin);
    char *to = strbuf_reserve(out, rows * width);
    for (int64_t row = begin; !column && row < end; row++, to += width)
        memcpy(to, &row, width);
    if (!column) {
        strbuf_commit(out, rows * width);
        return;
    }
    if (stored->unit == 1 && column->store == column->type && type_table[column->store].size == width) {
        memcpy(to, (const char *)column->data + (size_t)begin * width, rows * width);
        strbuf_commit(out, rows * width);
        return;
    }
    const bool floats = type_table[column->type].kind == KIND_FLOAT;
    for (int64_t row = begin; row < end; row++, to += width) {
        const int128 value = floats ? 0 : column_get_int(column, row) / stored->unit;
        const double number = floats ? column_get_float(column, row) : 0;
        const float narrow = (float)number;
        memcpy(to, !floats ? (const void *)&value : width == sizeof number ? (const void *)&number : &narrow, width);
    }
    strbuf_commit(out, rows * width);
}

void native_write_block(struct strbuf *out, const struct stored_column *columns, size_t count, int64_t begin,
                        int64_t end)
{
    add_number(out, count);
    add_number(out, (uint64_t)(end - begin));
    for (size_t k = 0; k < count; k++) {
        const struct stored_column *stored = &columns[k];
        add_text(out, stored->name, strlen(stored->name));
        add_text(out, stored->type, strlen(stored->type));
        for (int64_t row = begin; stored->nullable && row < end; row++)
            strbuf_putc(out, column_is_missing(stored->column, row));
        if (stored->width == 0)
            add_texts(out, stored, begin, end);
        else
            add_values(out, stored, begin, end);
    }
}
