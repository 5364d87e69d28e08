#include "engine/text/pass.h"

#include "base/number_text.h"
#include "base/time/calendar.h"
#include "base/utf8.h"
#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/records.h"
#include "engine/text/ways.h"

#include <math.h>
#include <string.h>

/* Stores an integer if the column's type holds it. */
static enum outcome store_int(const struct step *step, struct seen *seen, int64_t row, int64_t value)
{
    const struct type_info *info = &type_table[step->column->type];
    if (value < info->lo || value > info->hi)
        return OUT_OF_RANGE;
    memcpy((char *)step->data + (size_t)row * info->size, &value, info->size); /* little-endian */
    seen_integer(seen, value);
    return STORED;
}

static enum outcome store_float(const struct step *step, struct seen *seen, int64_t row, double value)
{
    seen->values++;
    if (step->column->type == TYPE_F64) {
        ((double *)step->data)[row] = value;
        return STORED;
    }
    const float narrow = (float)value;
    ((float *)step->data)[row] = narrow;
    return isinf(narrow) && !isinf(value) ? OUT_OF_RANGE : STORED;
}

/* Reads digits with an optional point as an integer scaled by 10^scale. */
static enum outcome read_decimal(struct cell cell, int scale, int64_t *value)
{
    const char *at = cell.at;
    bool negative = at < cell.end && *at == '-', point = false, digits = false;
    int64_t sum = 0;
    int places = 0;
    at += at < cell.end && (*at == '-' || *at == '+');
    enum outcome outcome = STORED;
    for (; at < cell.end; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        const int digit = *at - '0';
        if (digit < 0 || digit > 9)
            return OTHER;
        digits = true;
        if (point && ++places > scale) {
            places = scale;
            outcome = digit != 0 ? OUT_OF_RANGE : outcome;
        } else if (__builtin_mul_overflow(sum, 10, &sum) ||
                   __builtin_add_overflow(sum, negative ? -digit : digit, &sum)) {
            return OUT_OF_RANGE;
        }
    }
    for (; places < scale; places++) {
        if (__builtin_mul_overflow(sum, 10, &sum))
            return OUT_OF_RANGE;
    }
    *value = sum;
    return digits ? outcome : OTHER;
}

/* The way of the column; without one, the only way to read the cell, or one of several that give the same. 0: there is
 * none. */
static unsigned way_of(const struct table *table, const struct table_column *column, struct cell cell)
{
    if (column->way)
        return column->way;
    const struct ways ways = ways_of(table, cell);
    return ways.value_class == CLASS_TEXT || ways.differ ? 0 : ways.ways & (0 - ways.ways);
}

static enum outcome store_time(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                               struct cell cell)
{
    int64_t time = 0;
    bool zoned = false, cut = false, valid = false;
    if (step->column->kind == VALUE_DATE)
        valid = date_read(cell.at, cell.end, &time);
    else if (step->column->kind == VALUE_TIMESTAMP)
        valid = timestamp_read(cell.at, cell.end, &time, &zoned, &cut) && zoned == step->column->utc;
    else
        valid = duration_read(cell.at, cell.end, &time) || clock_read_in(cell, &time, &cut);
    const unsigned way = valid || step->column->kind == VALUE_DURATION ? 0 : way_of(table, step->column, cell);
    if (way && step->column->kind == VALUE_DATE)
        valid = date_read_in(table, cell, way, &time);
    else if (way && !step->column->utc)
        valid = moment_read_in(table, cell, way, &time, &cut);
    if (!valid)
        return OTHER;
    seen->cut += cut;
    return store_int(step, seen, row, time);
}

static enum outcome store_plain_number(const struct step *step, struct seen *seen, int64_t row, struct cell cell)
{
    const struct table_column *column = step->column;
    int64_t integer = 0;
    double number = 0;
    if (column->kind == VALUE_DECIMAL) {
        const enum outcome outcome = read_decimal(cell, column->scale, &integer);
        return outcome == STORED ? store_int(step, seen, row, integer) : outcome;
    }
    if (!column->stated && cell_has_leading_zero(cell))
        return OTHER;
    if (column->kind == VALUE_FLOAT && scan_float(cell.at, cell.end, &number) == cell.end)
        return store_float(step, seen, row, number);
    enum reading reading =
        column->kind == VALUE_INT ? read_int(cell.at, cell.end, &integer) : read_float(cell.at, cell.end, &number);
    switch (reading) {
    case READ_INT:
        return store_int(step, seen, row, integer);
    case READ_FLOAT:
        return store_float(step, seen, row, number);
    case READ_OVERFLOW:
        return OUT_OF_RANGE;
    case READ_INVALID:
        break;
    }
    return OTHER;
}

/* Numbers are read as rql writes them, or written so first. */
static enum outcome store_number(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                                 struct cell cell)
{
    const struct table_column *column = step->column;
    const bool points = !column->way && (table->ways & WAYS_OF_POINT);
    enum outcome outcome = OTHER;
    if (points || !memchr(cell.at, '.', (size_t)(cell.end - cell.at)))
        outcome = store_plain_number(step, seen, row, cell);
    if (outcome != OTHER || table->dialect->json || (!column->way && !column->stated))
        return outcome;
    char plain[PLAIN_TEXT];
    struct cell written;
    const unsigned way = way_of(table, column, cell);
    return way && plain_number(cell, way, plain, &written) ? store_plain_number(step, seen, row, written) : OTHER;
}

enum outcome value_store(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                         struct cell cell)
{
    bool truth, string = table->dialect->json && cell.quoted;
    switch (step->column->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_DECIMAL:
        return string && !step->column->stated ? OTHER : store_number(table, step, seen, row, cell);
    case VALUE_BOOL:
        return string || !cell_is_bool(cell, &truth) ? OTHER : store_int(step, seen, row, truth);
    case VALUE_DATE:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return store_time(table, step, seen, row, cell);
    case VALUE_TEXT:
    case VALUE_LIST:
        break;
    }
    return OTHER;
}

/* Whether a cell is what its column is stated to be. */
static bool is_stated(const struct table *table, struct table_column *column, struct cell cell)
{
    int64_t element;
    struct seen seen = {0};
    struct step step = {.column = column, .data = &element};
    if (column->kind == VALUE_TEXT || cell_is_missing(table, cell, column->kind))
        return true;
    const enum value_class value_class = classify(table, cell);
    return (column->kind == VALUE_TIMESTAMP && (value_class == CLASS_TIMESTAMP || value_class == CLASS_UTC)) ||
           value_store(table, &step, &seen, 0, cell) == STORED;
}

/* Whether a value within a sound object has an error; moves behind it. */
static bool json_has_errors(const struct table *table, size_t node, const char **at, const char *end,
                            struct strbuf *scratch)
{
    const struct json_node *of = &table->keys->nodes[node];
    const char close = **at == '{' ? '}' : ']';
    const bool object = close == '}' && **at == '{' && of->fields, array = **at == '[' && of->elements;
    bool wrong = false, more = true;
    if ((!object && !array) || of->raw) {
        struct cell value;
        const char *begin = *at;
        *at = json_skip_value(begin, end);
        value = (struct cell){begin + (*begin == '"'), *at - (*begin == '"'), *begin == '"'};
        struct table_column *column = of->column == NO_COLUMN ? NULL : &table->columns[of->column];
        return column && ((value.quoted && json_bad_escape(value).length > 0) ||
                          (column->stated && !is_stated(table, column, value)));
    }
    size_t guess = 0;
    *at = json_enter(*at, end);
    more = **at != close;
    *at += !more;
    while (more && !wrong) {
        struct cell key;
        size_t inner = of->elements;
        if (object) {
            *at = json_key(*at, end, &key);
            inner = json_field(table->keys, node, key, &guess, table->dialect, scratch);
        }
        if (inner)
            wrong = json_has_errors(table, inner, at, end, scratch);
        else
            *at = json_skip_value(*at, end);
        if (!wrong)
            *at = json_next(*at, end, close, &more);
    }
    return wrong;
}

static bool object_has_errors(const struct table *table, const char *at, const char *end)
{
    struct strbuf scratch = {0};
    at = json_skip_blank(at, end);
    const bool wrong = json_has_errors(table, 0, &at, end, &scratch);
    strbuf_free(&scratch);
    return wrong;
}

bool record_has_errors(const struct table *table, const char *at, const char *end)
{
    if (!utf8_is_valid(at, (size_t)(end - at)) || memchr(at, '\0', (size_t)(end - at)))
        return true;
    if (table->dialect->json)
        return object_has_errors(table, at, end);
    for (size_t k = 0; k < table->count; k++) {
        struct cell cell;
        const char *next = cell_scan(table->dialect, at, end, &cell);
        if (!next || (table->columns[k].stated && !is_stated(table, &table->columns[k], cell)))
            return true;
        if (next == end)
            break;
        at = next + 1;
    }
    return false;
}
