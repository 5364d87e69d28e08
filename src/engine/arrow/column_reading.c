#include "engine/arrow/column_reading.h"

#include "base/utf8.h"
#include "engine/arrow/batch.h"

#include <string.h>

/* `row` is one of the batch, or -1. */
static void fail(const struct piece *piece, struct reading_failure *failure, int64_t row, const char *what)
{
    mtx_lock(&failure->mutex);
    if (!failure->piece || piece < failure->piece) {
        failure->piece = piece;
        failure->row = row < 0 || piece->values || piece->reading->field->parent ? -1 : piece->first + row;
        failure->what = what;
    }
    failure->failed = true;
    mtx_unlock(&failure->mutex);
}

static const char no_buffer[] = "a buffer is damaged or too short";

/* Clears the bytes of the rows in which the value of a field is missing. */
static bool clear_missing(const struct arrow_array *array, int64_t begin, int64_t end, uint8_t *bytes)
{
    struct arrow_bytes bits;
    const bool loaded = arrow_bytes_load(array, 0, &bits) && bits.size >= ((size_t)array->rows + 7) / 8;
    for (int64_t row = begin; loaded && row < end; row++)
        bytes[row - begin] &= (uint8_t)(bits.data[row / 8] >> (row % 8) & 1);
    arrow_bytes_release(&bits);
    return loaded;
}

bool arrow_validity_of(const struct arrow_batch *batch, const struct arrow_field *field, int64_t begin, int64_t end,
                       uint8_t *bytes, bool *any, int64_t *missing)
{
    const struct arrow_field *around = field;
    *any = false;
    *missing = 0;
    do {
        struct arrow_array array;
        if (!arrow_array_of(batch, around, false, &array))
            return false;
        if (array.missing > 0 && around->reading != READING_NULL) {
            if (!*any)
                memset(bytes, 1, (size_t)(end - begin));
            *any = true;
            if (!clear_missing(&array, begin, end, bytes))
                return false;
        }
        around = around->parent;
    } while (around && around->reading == READING_STRUCT);
    for (int64_t i = 0; *any && i < end - begin; i++)
        *missing += !bytes[i];
    return true;
}

/* Finds the piece's array and writes the validity of its rows; *valid is a byte for each of them, or NULL if none of
 * them is missing. Values of a dictionary have their own bytes, to be freed. */
static bool open_array(const struct piece *piece, struct reading_failure *failure, struct arrow_array *array,
                       const uint8_t **valid)
{
    struct column_reading *reading = piece->reading;
    *valid = NULL;
    if (!arrow_array_of(piece->batch, reading->field, piece->values, array)) {
        fail(piece, failure, -1, no_buffer);
        return false;
    }
    if (!reading->validity || piece->values)
        return true;
    uint8_t *bytes = column_at(reading->validity, piece->first + piece->begin);
    const int64_t rows = piece->end - piece->begin;
    int64_t missing;
    bool any;
    if (!arrow_validity_of(piece->batch, reading->field, piece->begin, piece->end, bytes, &any, &missing)) {
        fail(piece, failure, -1, no_buffer);
        return false;
    }
    if (any)
        *valid = bytes;
    else
        memset(bytes, 1, (size_t)rows);
    reading->missing += missing;
    return true;
}

static const char *misfit_of(const struct arrow_field *field)
{
    if (field->reading == READING_U64)
        return "the value exceeds 9223372036854775807, the largest integer";
    if (field->reading == READING_DECIMAL)
        return "the decimal does not fit 64 bits";
    return "the time is too far from 1970 for microseconds in 64 bits";
}

/* Checks elements that stay where they are. */
static void check_in_place(const struct piece *piece, const struct decoding *decoding, struct reading_failure *failure)
{
    if (decoding->valid && !decode_zero_where_missing(decoding)) {
        piece->reading->unclean = true;
        return;
    }
    for (int64_t row = piece->begin; decoding->field->reading == READING_U64 && row < piece->end; row++) {
        if (load_int(decoding->from + row * 8, 8) < 0) {
            fail(piece, failure, row, misfit_of(decoding->field));
            return;
        }
    }
}

void piece_decode(struct piece *piece, struct reading_failure *failure)
{
    struct column_reading *reading = piece->reading;
    struct arrow_array array;
    struct decoding decoding = {.field = reading->field, .begin = piece->begin, .end = piece->end};
    if (!open_array(piece, failure, &array, &decoding.valid))
        return;
    struct arrow_bytes bytes;
    const size_t needed = reading->field->reading == READING_BITS ? ((size_t)array.rows + 7) / 8
                                                                  : (size_t)array.rows * reading->field->width;
    if (!arrow_bytes_load(&array, 1, &bytes) || bytes.size < needed) {
        fail(piece, failure, -1, no_buffer);
    } else {
        decoding.from = bytes.data;
        if (reading->in_place) {
            check_in_place(piece, &decoding, failure);
        } else {
            decoding.to = column_at(reading->column, piece->first + piece->begin);
            const int64_t row = decode_rows(&decoding);
            if (row < piece->end)
                fail(piece, failure, row, misfit_of(reading->field));
            reading->cut += decoding.cut;
        }
    }
    arrow_bytes_release(&bytes);
}

/* Interns the string of a row; false if it cannot be. */
static bool intern(const struct piece *piece, const struct arrow_strings *strings, struct interner *interner,
                   int64_t row, uint32_t *number, struct reading_failure *failure)
{
    struct column_reading *reading = piece->reading;
    struct text text;
    if (!arrow_string_at(strings, row, &text)) {
        fail(piece, failure, row, "the text is not within its buffer");
        return false;
    }
    const int64_t before = interner_count(interner);
    *number = interner_add(interner, text);
    if (*number < before)
        return true;
    if (!utf8_is_valid(text.at, text.length)) {
        fail(piece, failure, row, "the text is not UTF-8");
        return false;
    }
    if (reading->field->reading == READING_VIEW &&
        atomic_fetch_add(&reading->view_bytes, text.length) + text.length > reading->most_view_bytes) {
        fail(piece, failure, row, "the texts overlap too much");
        return false;
    }
    return true;
}

void piece_intern(struct piece *piece, int member, struct reading_failure *failure)
{
    struct column_reading *reading = piece->reading;
    struct arrow_array array;
    const uint8_t *valid;
    if (!open_array(piece, failure, &array, &valid))
        return;
    struct arrow_strings strings;
    struct arrow_bytes bits = {0};
    bool loaded = arrow_strings_open(&array, reading->field, &strings);
    if (loaded && piece->values && array.missing > 0)
        loaded = arrow_bytes_load(&array, 0, &bits) && bits.size >= ((size_t)array.rows + 7) / 8;
    if (!loaded)
        fail(piece, failure, -1, no_buffer);
    if (!reading->interners[member])
        reading->interners[member] = interner_new();
    piece->member = member;
    uint32_t *numbers = reading->numbers + piece->first;
    for (int64_t row = piece->begin; loaded && row < piece->end; row++) {
        const bool missing =
            (valid && !valid[row - piece->begin]) || (bits.data && !(bits.data[row / 8] >> (row % 8) & 1));
        numbers[row] = NUMBER_MISSING;
        if (!missing)
            loaded = intern(piece, &strings, reading->interners[member], row, &numbers[row], failure);
    }
    arrow_bytes_release(&bits);
    arrow_strings_close(&strings);
}

/* Stores codes in the column; a missing one is 0. */
static void store_codes(struct column *column, int64_t row, const uint32_t *codes, int64_t count)
{
    void *to = column_at(column, row);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t code = codes[i] == NUMBER_MISSING ? 0 : codes[i];
        if (column->type == TYPE_U8)
            ((uint8_t *)to)[i] = (uint8_t)code;
        else if (column->type == TYPE_U16)
            ((uint16_t *)to)[i] = (uint16_t)code;
        else
            ((uint32_t *)to)[i] = code;
    }
}

void piece_translate(const struct piece *piece)
{
    const struct column_reading *reading = piece->reading;
    uint32_t *numbers = reading->numbers + piece->first + piece->begin;
    const uint32_t *map = reading->maps[piece->member];
    const int64_t count = piece->end - piece->begin;
    for (int64_t i = 0; i < count; i++) {
        if (numbers[i] != NUMBER_MISSING)
            numbers[i] = map[numbers[i]];
    }
    if (!piece->values)
        store_codes(reading->column, piece->first + piece->begin, numbers, count);
}

/* The code of the dictionary's value that row `row` of the array means; false if there is no such value. */
static bool look_up(const struct column_reading *reading, const unsigned char *indices,
                    const struct arrow_window *window, int64_t row, uint32_t *code)
{
    const struct arrow_field *field = reading->field;
    int64_t index = load_int(indices + (size_t)row * field->index_width, field->index_width);
    if (!field->index_signed && field->index_width < 8)
        index &= (INT64_C(1) << (8 * field->index_width)) - 1;
    if (index < 0 || index >= window->end - window->first)
        return false;
    *code = reading->numbers[window->first + index];
    return true;
}

void piece_look_up(const struct piece *piece, const struct arrow_window *window, struct reading_failure *failure)
{
    enum { STEP = 1024 };
    struct column_reading *reading = piece->reading;
    struct arrow_array array;
    const uint8_t *valid;
    if (!open_array(piece, failure, &array, &valid))
        return;
    struct arrow_bytes indices;
    bool loaded =
        arrow_bytes_load(&array, 1, &indices) && indices.size >= (size_t)array.rows * reading->field->index_width;
    if (!loaded)
        fail(piece, failure, -1, no_buffer);
    uint32_t codes[STEP];
    uint8_t *validity = reading->validity ? column_at(reading->validity, piece->first + piece->begin) : NULL;
    for (int64_t at = piece->begin; loaded && at < piece->end; at += STEP) {
        const int64_t count = piece->end - at < STEP ? piece->end - at : STEP;
        for (int64_t i = 0; i < count && loaded; i++) {
            codes[i] = NUMBER_MISSING;
            if (valid && !valid[at - piece->begin + i])
                continue;
            loaded = look_up(reading, indices.data, window, at + i, &codes[i]);
            if (!loaded)
                fail(piece, failure, at + i, "the index is not in the column's dictionary");
            else if (codes[i] == NUMBER_MISSING && validity) { /* a missing value in the dictionary */
                validity[at - piece->begin + i] = 0;
                reading->missing++;
            }
        }
        if (loaded)
            store_codes(reading->column, piece->first + at, codes, count);
    }
    arrow_bytes_release(&indices);
}
