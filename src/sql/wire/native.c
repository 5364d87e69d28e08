#include "sql/wire/native.h"

#include "base/heap.h"
#include "engine/storage/growing_buffer.h"
#include "engine/values/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t most_bytes = (size_t)1 << 46; /* of a column: what there is of memory decides */
static const int64_t micros = 1000000;

/* The values of a column that have arrived. */
struct arriving {
    struct growing_buffer values;  /* elements of the column's type; of text numbers in the interner, u32 */
    struct growing_buffer missing; /* of a nullable column a byte for each row, 1: missing */
    struct interner *strings;      /* text */
    bool any_missing;
};

enum problem { PROBLEM_NONE, PROBLEM_FORMAT, PROBLEM_MEMORY, PROBLEM_RANGE, PROBLEM_TEXT, PROBLEM_TYPE };

struct native {
    struct native_columns expected;
    struct arriving *columns;     /* as many */
    struct growing_buffer unread; /* bytes that have arrived and are not parsed yet, from `at` on */
    size_t at;
    int64_t rows; /* of whole blocks */

    /* The block being parsed. */
    bool in_block;
    int64_t block_rows;
    size_t column; /* the next */

    enum problem problem;
    size_t problem_column;
    int64_t problem_row;
};

struct native *native_new(const struct native_columns *expected)
{
    struct native *native = HEAP_NEW(struct native, .expected = *expected, .unread = {.max = most_bytes});
    native->columns = heap_array(expected->count + 1, sizeof *native->columns);
    for (size_t k = 0; k < expected->count; k++) {
        native->columns[k].values.max = native->columns[k].missing.max = most_bytes;
        native->columns[k].strings = expected->types[k].logical.kind == LOGICAL_TEXT ? interner_new() : NULL;
    }
    return native;
}

void native_free(struct native *native)
{
    if (!native)
        return;
    for (size_t k = 0; k < native->expected.count; k++) {
        growing_buffer_free(&native->columns[k].values);
        growing_buffer_free(&native->columns[k].missing);
        if (native->columns[k].strings)
            interner_free(native->columns[k].strings);
    }
    growing_buffer_free(&native->unread);
    free(native->columns);
    free(native);
}

int64_t native_rows(const struct native *native)
{
    return native->rows;
}

/* The bytes from native->at on. */
struct cursor {
    const unsigned char *at, *end;
};

/* False: not all of it is there yet; *wrong: it is no such number. */
static bool take_number(struct cursor *cursor, uint64_t *number, bool *wrong)
{
    enum { MOST_SHIFT = 63, BITS = 7, MORE = 128 };
    *number = 0;
    for (int shift = 0; cursor->at < cursor->end; shift += BITS) {
        const unsigned char byte = *cursor->at++;
        if (shift > MOST_SHIFT || (shift == MOST_SHIFT && byte > 1)) {
            *wrong = true;
            return false;
        }
        *number |= (uint64_t)(byte % MORE) << shift;
        if (byte < MORE)
            return true;
    }
    return false;
}

static bool take_text(struct cursor *cursor, struct text *text, bool *wrong)
{
    uint64_t length;
    if (!take_number(cursor, &length, wrong))
        return false;
    if (length > TEXT_MAX)
        *wrong = true;
    if (*wrong || length > (uint64_t)(cursor->end - cursor->at))
        return false;
    *text = (struct text){(const char *)cursor->at, (size_t)length};
    cursor->at += length;
    return true;
}

static bool fail(struct native *native, enum problem problem, int64_t row)
{
    if (native->problem == PROBLEM_NONE) {
        native->problem = problem;
        native->problem_column = native->column;
        native->problem_row = native->rows + row;
    }
    return false;
}

/* Appends `size` bytes, of which there is at least one; NULL: no memory. */
static void *grow(struct native *native, struct growing_buffer *buffer, size_t size)
{
    if (!growing_buffer_reserve(buffer, size)) {
        (void)fail(native, PROBLEM_MEMORY, 0);
        return NULL;
    }
    void *place = buffer->data + buffer->used;
    buffer->used += size;
    return place;
}

/* Of the block's column, which values are missing; NULL: none can be. */
static const char *missing_of(const struct native *native)
{
    const struct growing_buffer *missing = &native->columns[native->column].missing;
    return native->expected.types[native->column].nullable ? missing->data + missing->used - native->block_rows : NULL;
}

/* Texts, if all of them have arrived. False: not yet, or no such texts (native->problem). */
static bool take_texts(struct native *native, struct cursor *cursor)
{
    struct arriving *column = &native->columns[native->column];
    const struct cursor start = *cursor;
    struct text text;
    bool wrong = false;
    for (int64_t row = 0; row < native->block_rows; row++) {
        if (!take_text(cursor, &text, &wrong))
            return wrong ? fail(native, PROBLEM_FORMAT, row) : false;
    }
    *cursor = start;
    uint32_t *numbers = grow(native, &column->values, (size_t)native->block_rows * sizeof *numbers);
    const char *missing = missing_of(native);
    for (int64_t row = 0; numbers && row < native->block_rows; row++) {
        (void)take_text(cursor, &text, &wrong);
        numbers[row] = missing && missing[row] ? 0 : interner_add(column->strings, text);
    }
    if (interner_full(column->strings))
        return fail(native, PROBLEM_TEXT, 0);
    return numbers;
}

static void take_fixed_texts(struct native *native, const unsigned char *from, uint32_t *numbers)
{
    struct arriving *column = &native->columns[native->column];
    const size_t width = native->expected.types[native->column].width;
    const char *missing = missing_of(native);
    for (int64_t row = 0; row < native->block_rows; row++) {
        struct text text = {(const char *)from + (size_t)row * width, width};
        while (text.length > 0 && !text.at[text.length - 1])
            text.length--;
        numbers[row] = missing && missing[row] ? 0 : interner_add(column->strings, text);
    }
}

/* Units of 10^-scale seconds as microseconds, those below downwards. False: too far from 1970. */
static bool micros_of_ticks(int64_t ticks, int scale, int64_t *result)
{
    enum { MICRO_SCALE = 6 };
    int64_t unit = 1;
    for (int i = scale; i != MICRO_SCALE; i += i < MICRO_SCALE ? 1 : -1)
        unit *= 10;
    if (scale <= MICRO_SCALE)
        return !__builtin_mul_overflow(ticks, unit, result);
    *result = ticks / unit - (ticks % unit < 0);
    return true;
}

/* One value as an element of 64 bits. False: it has no place in that. */
static bool convert(const struct wire_type *type, const unsigned char *from, int64_t *to)
{
    uint32_t seconds;
    int32_t small;
    int64_t number;
    int128 large;
    switch (type->form) {
    case WIRE_SECONDS:
        memcpy(&seconds, from, sizeof seconds);
        *to = seconds * micros;
        return true;
    case WIRE_TICKS:
        memcpy(&number, from, sizeof number);
        return micros_of_ticks(number, type->scale, to);
    case WIRE_DECIMAL:
        if (type->width == sizeof large) {
            memcpy(&large, from, sizeof large);
            *to = (int64_t)large;
            return *to == large;
        }
        if (type->width == sizeof small) {
            memcpy(&small, from, sizeof small);
            *to = small;
            return true;
        }
        memcpy(to, from, sizeof *to);
        return true;
    default: /* WIRE_UNSIGNED */
        memcpy(to, from, sizeof *to);
        return *to >= 0;
    }
}

/* Values of one width, all of which have arrived. */
static bool take_values(struct native *native, const unsigned char *from)
{
    const struct wire_type *type = &native->expected.types[native->column];
    struct arriving *column = &native->columns[native->column];
    const char *missing = missing_of(native);
    const size_t size = type->form == WIRE_FIXED_TEXT ? sizeof(uint32_t) : type_table[type->type].size;
    void *to = grow(native, &column->values, (size_t)native->block_rows * size);
    if (!to)
        return false;
    switch (type->form) {
    case WIRE_AS_IS:
        memcpy(to, from, (size_t)native->block_rows * size);
        return true;
    case WIRE_FIXED_TEXT:
        take_fixed_texts(native, from, to);
        return true;
    case WIRE_DAYS:
        for (int64_t row = 0; row < native->block_rows; row++) {
            uint16_t days;
            memcpy(&days, from + (size_t)row * sizeof days, sizeof days);
            ((int32_t *)to)[row] = days;
        }
        return true;
    default:
        for (int64_t row = 0; row < native->block_rows; row++) {
            int64_t *element = (int64_t *)to + row;
            if (missing && missing[row])
                *element = 0;
            else if (!convert(type, from + (size_t)row * type->width, element))
                return fail(native, PROBLEM_RANGE, row);
        }
        return true;
    }
}

static bool any_set(const char *bytes, size_t count)
{
    unsigned char any = 0;
    for (size_t i = 0; i < count; i++)
        any |= (unsigned char)bytes[i];
    return any != 0;
}

/* The name, type and values of the block's next column, if all of it has arrived. False: not yet, or native->problem.
 */
static bool take_column(struct native *native, struct cursor *cursor)
{
    const struct wire_type *type = &native->expected.types[native->column];
    struct arriving *column = &native->columns[native->column];
    const size_t rows = (size_t)native->block_rows;
    struct text name, type_name;
    bool wrong = false;
    if (!take_text(cursor, &name, &wrong) || !take_text(cursor, &type_name, &wrong))
        return wrong ? fail(native, PROBLEM_FORMAT, 0) : false;
    char expected[32];
    (void)snprintf(expected, sizeof expected, "rql_%zu", native->column);
    if (name.length != strlen(expected) || memcmp(name.at, expected, name.length) != 0)
        return fail(native, PROBLEM_FORMAT, 0);
    if (!wire_type_is_sent_as(type, type_name))
        return fail(native, PROBLEM_TYPE, 0);
    if (rows == 0) {
        native->column++;
        return true;
    }
    const size_t fixed = (type->nullable ? rows : 0) + rows * type->width;
    if ((size_t)(cursor->end - cursor->at) < fixed)
        return false;
    const size_t missing_before = column->missing.used;
    if (type->nullable) {
        char *missing = grow(native, &column->missing, rows);
        if (!missing)
            return false;
        memcpy(missing, cursor->at, rows);
        column->any_missing = column->any_missing || any_set(missing, rows);
        cursor->at += rows;
    }
    const bool taken = type->form == WIRE_TEXT ? take_texts(native, cursor) : take_values(native, cursor->at);
    if (!taken) {
        column->missing.used = missing_before; /* it will be taken again */
        return false;
    }
    cursor->at += rows * type->width;
    native->column++;
    return true;
}

/* The numbers of columns and rows that a block begins with. An exception begins with other numbers. */
static bool take_block_start(struct native *native, struct cursor *cursor)
{
    enum { MOST_ROWS = 1 << 30 };
    uint64_t columns, rows;
    bool wrong = false;
    if (!take_number(cursor, &columns, &wrong) || !take_number(cursor, &rows, &wrong))
        return wrong ? fail(native, PROBLEM_FORMAT, 0) : false;
    if ((columns != native->expected.count && (columns != 0 || rows != 0)) || rows > MOST_ROWS)
        return fail(native, PROBLEM_FORMAT, 0);
    native->block_rows = (int64_t)rows;
    native->column = columns == 0 ? native->expected.count : 0;
    native->in_block = true;
    return true;
}

/* The next part of a block, if all of it has arrived. */
static bool take_part(struct native *native, struct cursor *cursor)
{
    if (!native->in_block)
        return take_block_start(native, cursor);
    if (native->column < native->expected.count)
        return take_column(native, cursor);
    native->rows += native->block_rows;
    native->in_block = false;
    return true;
}

/* Parses what has arrived as far as possible. */
static void parse(struct native *native)
{
    const unsigned char *data = (const unsigned char *)native->unread.data;
    const unsigned char *end = data + native->unread.used;
    struct cursor cursor = {data + native->at, end};
    while (cursor.at < end || native->in_block) {
        const struct cursor before = cursor;
        if (!take_part(native, &cursor)) {
            cursor = before;
            break;
        }
    }
    native->at = (size_t)(cursor.at - data);
}

bool native_receive(void *context, const char *bytes, size_t length)
{
    struct native *native = context;
    struct growing_buffer *unread = &native->unread;
    if (native->at > 0) {
        unread->used -= native->at;
        memmove(unread->data, unread->data + native->at, unread->used);
        native->at = 0;
    }
    void *place = grow(native, unread, length);
    if (!place)
        return false;
    memcpy(place, bytes, length);
    if (native->problem == PROBLEM_NONE)
        parse(native);
    /* What is no block may be an exception, which is wanted whole. */
    return native->problem == PROBLEM_NONE || (native->problem == PROBLEM_FORMAT && unread->used < SERVER_ERROR_BYTES);
}

bool native_exception(const struct native *native, struct arena *arena, struct server_error *error)
{
    /* All of the last part: its first bytes may have been taken for values. */
    return server_error_find(native->unread.data ? native->unread.data : "", native->unread.used, arena, error);
}

/* What was received and is no block. */
static enum status report_rest(const struct native *native, const char *source, struct span span, struct diags *diags)
{
    struct server_error error;
    if (native_exception(native, diags->arena, &error))
        return server_error_report(&error, source, span, diags);
    if (native->problem == PROBLEM_NONE)
        return diag_error(diags, span, "the answer of `%s` ends within a block of rows", source);
    return diag_error(diags, span, "the answer of `%s` is not what was asked for", source);
}

static enum status report(const struct native *native, const char *source, struct span span, struct diags *diags)
{
    const bool computed = native->expected.computed;
    const char *name =
        native->problem_column < native->expected.count ? native->expected.names[native->problem_column] : "";
    switch (native->problem) {
    case PROBLEM_MEMORY:
        return diag_no_memory(diags, span, "not enough memory for the rows of `%s`", source);
    case PROBLEM_RANGE:
        diag_error(diags, span, "a value of `%s` does not fit in 64 bits here%s", name,
                   computed ? "" : arena_printf(diags->arena, ", row %lld", (long long)native->problem_row));
        diag_hint(diags, "leave the column out, or have a view on the server convert it");
        return computed ? STATUS_UNABLE : STATUS_FAILED;
    case PROBLEM_TEXT:
        return diag_error(diags, span, "`%s` has too many different strings", name);
    case PROBLEM_TYPE:
        return diag_error_hint(diags, span, "load the table again",
                               "the type of `%s` has changed on `%s` since the table was loaded", name, source);
    default:
        return report_rest(native, source, span, diags);
    }
}

/* A column of `rows` elements of the type; NULL: no memory. */
static struct column *column_with(enum type type, const void *values, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    if (!column)
        return NULL;
    if (rows > 0)
        memcpy(column_at(column, 0), values, (size_t)rows * type_table[type].size);
    column_finish(column, rows);
    return column;
}

/* Text: a sorted dictionary of the strings, and their numbers as codes. NULL: no memory, or too many strings. */
static struct column *text_column(struct arriving *arriving, int64_t rows, const struct workers *workers)
{
    uint32_t *codes;
    const uint32_t *numbers = (const uint32_t *)(const void *)arriving->values.data;
    struct dictionary *dictionary = dictionary_of_interners(&arriving->strings, 1, &codes, workers);
    if (!dictionary)
        return NULL;
    struct column *column = column_reserve(TYPE_U32, dictionary_code_type(dictionary->count), rows);
    const char *missing = arriving->any_missing ? arriving->missing.data : NULL;
    for (int64_t row = 0; column && row < rows; row++)
        column_set_int(column, row, missing && missing[row] ? 0 : codes[numbers[row]]);
    if (column) {
        column_set_logical(column, (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = dictionary});
        column_finish(column, rows);
    }
    dictionary_unref(dictionary);
    free(codes);
    return column;
}

/* Missing values are 0, whatever was sent in their place. */
static void clear_missing(const struct arriving *arriving, size_t size, int64_t rows)
{
    for (int64_t row = 0; row < rows; row++) {
        if (arriving->missing.data[row])
            memset(arriving->values.data + (size_t)row * size, 0, size);
    }
}

static struct column *finish_column(struct native *native, size_t k, const struct workers *workers)
{
    const struct wire_type *type = &native->expected.types[k];
    struct arriving *arriving = &native->columns[k];
    const bool text = type->logical.kind == LOGICAL_TEXT;
    if (arriving->any_missing && !text)
        clear_missing(arriving, type_table[type->type].size, native->rows);
    struct column *column = text ? text_column(arriving, native->rows, workers)
                                 : column_with(type->type, arriving->values.data, native->rows);
    struct column *validity =
        arriving->any_missing ? column_with(TYPE_BOOL, arriving->missing.data, native->rows) : NULL;
    if (!column || (arriving->any_missing && !validity)) {
        column_unref(column);
        column_unref(validity);
        return NULL;
    }
    for (int64_t row = 0; validity && row < native->rows; row++) {
        uint8_t *present = column_at(validity, row);
        *present = *present == 0;
    }
    if (!text)
        column_set_logical(column, type->logical);
    column_set_validity(column, validity);
    return column;
}

enum status native_finish(struct native *native, const char *source, const struct workers *workers,
                          struct column **columns, struct span span, struct diags *diags)
{
    if (native->problem != PROBLEM_NONE || native->in_block || native->at < native->unread.used)
        return report(native, source, span, diags);
    for (size_t k = 0; k < native->expected.count; k++) {
        columns[k] = finish_column(native, k, workers);
        if (columns[k])
            continue;
        while (k-- > 0)
            column_unref(columns[k]);
        return workers_cancelled(workers)
                   ? STATUS_CANCELLED
                   : diag_no_memory(diags, span, "not enough memory for the rows of `%s`", source);
    }
    return STATUS_OK;
}
