#include "engine/text/pass.h"

#include "base/heap.h"
#include "base/number_text.h"
#include "base/time/calendar.h"
#include "base/utf8.h"
#include "engine/json/json.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/scan.h"
#include "engine/text/ways.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { FAST_DIGITS = 18 /* always fit 64 bits */ };

static struct seen *seen_of(const struct parser *parser, const struct step *step)
{
    return &parser->member->seen[step->number];
}

/* Whether a value may end here. */
static inline bool ends_value(const struct parser *parser, const char *at)
{
    return at == parser->end || *at == parser->delimiter || *at == parser->closing || *at == parser->bracket;
}

/* A value with an error. */
static bool take_as_missing(struct parser *parser, const struct step *step, int64_t row, const char *at)
{
    struct seen *seen = seen_of(parser, step);
    clear_value(step, row);
    step->absent[row] = 1;
    seen->missing++;
    seen->faults++;
    seen->first_fault = seen->first_fault && seen->first_fault < at ? seen->first_fault : at;
    return true;
}

/* Notes what a value that is not of the column's kind is, or fails if the type is stated. */
static bool note_other(struct parser *parser, const struct step *step, int64_t row, struct cell cell,
                       enum outcome outcome)
{
    const size_t k = (size_t)(step->column - parser->table->columns);
    const enum value_class value_class = classify(parser->table, cell);
    const bool time = value_class == CLASS_TIMESTAMP || value_class == CLASS_UTC;
    if (step->column->stated && !(step->column->kind == VALUE_TIMESTAMP && time)) {
        if (parser->table->errors == ERRORS_MISSING)
            return take_as_missing(parser, step, row, cell.at);
        return parse_fail(parser, outcome == OUT_OF_RANGE ? PROBLEM_RANGE : PROBLEM_VALUE, cell.at, k);
    }
    struct evidence *evidence = &seen_of(parser, step)->evidence;
    (void)evidence_add_cell(evidence, parser->table, cell);
    const unsigned way = step->column->way;
    const struct ways ways = way ? ways_of(parser->table, cell) : (struct ways){0};
    const bool decimals = step->column->kind == VALUE_INT && ((ways.decimals & way) || ways.unit == UNIT_PER_CENT);
    evidence->refused |= decimals ? 0 : way; /* so that it is parsed again */
    return true;
}

static bool parse_slowly(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    struct seen *seen = seen_of(parser, step);
    struct cell cell;
    clear_value(step, row); /* of a value that is missing, or not of the column's kind */
    const char *next = cell_scan(parser->table->dialect, *at, parser->end, &cell);
    if (!next)
        return parse_fail(parser, PROBLEM_QUOTE, *at, (size_t)(step->column - parser->table->columns));
    *at = next;
    if (cell_is_missing(parser->table, cell, step->column->kind)) {
        step->absent[row] = 1;
        seen->missing++;
        if (cell.at < cell.end && !step->column->stated)
            evidence_add(&seen->evidence, CLASS_WORD, cell.at);
        return true;
    }
    const enum outcome outcome = value_store(parser->table, step, seen, row, cell);
    if (outcome == STORED && step->column->doubtful) {
        (void)evidence_add_cell(&seen->evidence, parser->table, cell);
    } else if (outcome == STORED && step->column->stated) {
        seen->evidence.units |= ways_of(parser->table, cell).unit;
    } else if (outcome == STORED && step->column->way) {
        const struct ways ways = ways_of(parser->table, cell);
        if (ways.value_class == CLASS_TEXT)
            (void)evidence_add_cell(&seen->evidence, parser->table, cell);
        else
            evidence_add_ways(&seen->evidence, &ways, cell.at);
    }
    return outcome == STORED || note_other(parser, step, row, cell, outcome);
}

/* Parsing a value in the form that almost all have. False: it is to be parsed slowly. */
typedef bool value_fn(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                      struct cell cell);

/* Whether the eight bytes before the end of a value are within the text. */
static inline bool has_word(const struct parser *parser, struct cell cell)
{
    return cell.end - parser->table->text >= 8;
}

/* Up to 18 digits, in an i64 column. */
static inline bool parse_int(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                             struct cell cell)
{
    const bool negative = cell.at < cell.end && *cell.at == '-';
    const char *digit = cell.at + negative;
    const size_t length = (size_t)(cell.end - digit);
    if (length - 1 >= FAST_DIGITS || (*digit == '0' && length > 1) || !has_word(parser, cell))
        return false;
    bool all = true;
    uint64_t high = 0, low;
    for (; cell.end - digit > 8; digit++) {
        const unsigned c = (unsigned)(unsigned char)*digit - '0';
        all = all && c <= 9;
        high = high * 10 + c;
    }
    if (!eight_digits(load_digits(cell.end, length), &low) || !all)
        return false;
    const uint64_t sum = high * 100000000 + low;
    const int64_t value = negative ? -(int64_t)sum : (int64_t)sum;
    ((int64_t *)step->data)[row] = value;
    seen_integer(seen, value);
    return true;
}

/* Up to eight characters, of which one may be a point. */
static inline bool read_short_float(struct cell cell, double *value)
{
    const size_t length = (size_t)(cell.end - cell.at);
    uint64_t word = load_digits(cell.end, length), digits;
    const uint64_t points = zero_bytes(word ^ repeat_character('.'));
    int decimals = 0;
    if (points) { /* the characters before it take its place */
        const int place = first_byte(points);
        const uint64_t below = ((uint64_t)1 << 8 * place) - 1;
        word = (word & ~(below << 8 | 0xff)) | (word & below) << 8 | '0';
        decimals = 7 - place;
    }
    if (length == (points != 0) || !eight_digits(word, &digits))
        return false;
    *value = digits ? number_scaled(digits, -decimals) : 0;
    return true;
}

/* In an f64 column. */
static inline bool parse_float(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                               struct cell cell)
{
    struct cell digits = cell;
    const bool negative = cell.at < cell.end && *cell.at == '-';
    digits.at += negative;
    if (digits.end - digits.at > 1 && digits.at[0] == '0' && digits.at[1] >= '0' && digits.at[1] <= '9')
        return false;
    double value;
    if (digits.end - digits.at <= 8 && has_word(parser, cell) && read_short_float(digits, &value))
        value = negative ? -value : value;
    else if (scan_float(cell.at, cell.end, &value) != cell.end)
        return false;
    ((double *)step->data)[row] = value;
    seen->values++;
    return true;
}

/* In a bool column. */
static inline bool parse_bool(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                              struct cell cell)
{
    (void)parser;
    bool truth;
    if (!cell_is_bool(cell, &truth))
        return false;
    ((uint8_t *)step->data)[row] = truth;
    seen_integer(seen, truth);
    return true;
}

/* In an i32 column. */
static inline bool parse_date(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                              struct cell cell)
{
    (void)parser;
    int64_t days;
    if (!date_read(cell.at, cell.end, &days))
        return false;
    ((int32_t *)step->data)[row] = (int32_t)days;
    seen_integer(seen, days);
    return true;
}

/* In an i64 column. */
static inline bool parse_timestamp(const struct parser *parser, const struct step *step, struct seen *seen, int64_t row,
                                   struct cell cell)
{
    (void)parser;
    int64_t time;
    bool zoned, cut;
    if (!timestamp_read(cell.at, cell.end, &time, &zoned, &cut) || zoned != step->column->utc)
        return false;
    ((int64_t *)step->data)[row] = time;
    seen->cut += cut;
    seen_integer(seen, time);
    return true;
}

/* A stated word for missing values may look like a value. */
static inline value_fn *value_function(const struct parser *parser, const struct table_column *column)
{
    static const struct {
        value_fn *parse;
        enum type type;
    } functions[VALUE_KINDS] = {[VALUE_INT] = {parse_int, TYPE_I64},
                                [VALUE_FLOAT] = {parse_float, TYPE_F64},
                                [VALUE_BOOL] = {parse_bool, TYPE_BOOL},
                                [VALUE_DATE] = {parse_date, TYPE_I32},
                                [VALUE_TIMESTAMP] = {parse_timestamp, TYPE_I64}};
    const bool points = column->kind != VALUE_FLOAT || ((parser->table->ways & WAYS_OF_POINT) && !column->doubtful);
    const bool usual =
        functions[column->kind].type == column->type && parser->table->missing_count == 0 && !column->way && points;
    return usual ? functions[column->kind].parse : NULL;
}

static bool is_sound(struct text text)
{
    return text.length == 0 || (utf8_is_valid(text.at, text.length) && !memchr(text.at, '\0', text.length));
}

/* Texts that are in the file as they are, to be interned together. */
struct text_batch {
    struct text texts[INTERNER_BATCH];
    int64_t rows[INTERNER_BATCH];
    size_t count;
};

enum { BATCHED_STRINGS = 4096 }; /* as many are not in the nearest cache, and a batch is small beside them */

/* Stores the number of a text. Each string is checked when the thread sees it first. */
static inline bool store_number(struct parser *parser, const struct step *step, int64_t row, uint32_t number,
                                struct text text, const char *at)
{
    struct seen *seen = seen_of(parser, step);
    ((uint32_t *)step->data)[row] = number + 1;
    seen->values++;
    if (number < seen->strings)
        return true;
    seen->strings = number + 1;
    return is_sound(text) || parse_fail(parser, PROBLEM_ENCODING, at, (size_t)(step->column - parser->table->columns));
}

/* Stores the texts of the step's batch. */
static bool store_batch(struct parser *parser, const struct step *step)
{
    struct seen *seen = seen_of(parser, step);
    struct text_batch *batch = seen->batch;
    uint32_t numbers[INTERNER_BATCH];
    bool ok = true;
    if (!batch || batch->count == 0)
        return true;
    interner_add_batch(seen->interner, batch->texts, batch->count, numbers);
    for (size_t i = 0; i < batch->count && ok; i++)
        ok = store_number(parser, step, batch->rows[i], numbers[i], batch->texts[i], batch->texts[i].at);
    batch->count = 0;
    return ok;
}

bool parse_batches(struct parser *parser)
{
    struct problem *found = &parser->chunk->problem, first = {0};
    if (found->kind == PROBLEM_ENCODING)
        first = *found;
    for (size_t s = 0; s < parser->pass->count; s++) {
        if (!store_batch(parser, &parser->pass->steps[s]) && (first.kind == PROBLEM_NONE || found->at < first.at))
            first = *found;
    }
    if (first.kind != PROBLEM_NONE) /* what is in a batch stands before any other problem */
        *found = first;
    return first.kind == PROBLEM_NONE;
}

/* Stores a text that was written at `at`. */
static inline bool store_text(struct parser *parser, const struct step *step, int64_t row, struct text text,
                              const char *at)
{
    struct seen *seen = seen_of(parser, step);
    if (parser->table->errors == ERRORS_MISSING && !is_sound(text))
        return take_as_missing(parser, step, row, at);
    if (!seen->interner)
        seen->interner = interner_new();
    if (text.at != at || seen->strings < BATCHED_STRINGS)
        return store_number(parser, step, row, interner_add(seen->interner, text), text, at);
    if (!seen->batch)
        seen->batch = heap_array(1, sizeof *seen->batch);
    struct text_batch *batch = seen->batch;
    batch->texts[batch->count] = text;
    batch->rows[batch->count++] = row;
    return batch->count < INTERNER_BATCH || store_batch(parser, step);
}

static bool parse_text_slowly(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const struct table *table = parser->table;
    struct cell cell;
    const char *next = cell_scan_text(table->dialect, *at, parser->end, &cell);
    if (!next)
        return parse_fail(parser, PROBLEM_QUOTE, *at, (size_t)(step->column - table->columns));
    *at = next;
    if (cell_is_missing(table, cell, VALUE_TEXT)) {
        clear_value(step, row);
        step->absent[row] = 1;
        seen_of(parser, step)->missing++;
        return true;
    }
    struct text text = cell_text(table->dialect, cell, &parser->member->scratch);
    return store_text(parser, step, row, text, cell.at);
}

/* A text that is neither missing nor has marks to be removed: without quotes or escapes, or in quotes without quotes.
 */
static inline bool plain_text(const struct parser *parser, struct cell cell, struct text *text)
{
    const struct dialect *dialect = parser->table->dialect;
    if (cell.at == cell.end || parser->table->missing_count > 0)
        return false;
    const bool quoted = *cell.at == '"';
    if (quoted && (!dialect->quotes || cell.end - cell.at < 2 || cell.end[-1] != '"'))
        return false;
    cell.at += quoted;
    cell.end -= quoted;
    if ((quoted || dialect->escapes) && find_any(cell.at, cell.end, '"', dialect->escapes ? '\\' : '"', '"') < cell.end)
        return false;
    *text = (struct text){cell.at, (size_t)(cell.end - cell.at)};
    return true;
}

/* Finds the end of a value without quotes or escapes, or of a JSON string without escapes. NULL: it may have some. */
static const char *find_plain(const struct parser *parser, const char *at, struct cell *cell)
{
    const struct dialect *dialect = parser->table->dialect;
    const char *end = parser->end, *next;
    if (!dialect->json) {
        next = find_any(at, end, parser->delimiter, '\n', dialect->escapes ? '\\' : '"');
        *cell = (struct cell){at, without_return(at, next, end), false};
        return ends_value(parser, next) ? next : NULL;
    }
    const bool quoted = at < end && *at == '"';
    next = quoted ? find_any(at + 1, end, '"', '\\', '\n') : find_any(at, end, ',', '}', ']');
    *cell = (struct cell){at + quoted, next, quoted};
    while (!quoted && cell->end > at && json_is_blank(cell->end[-1]))
        cell->end--;
    if (quoted && (next == end || *next++ != '"'))
        return NULL;
    next = json_skip_blank(next, end);
    return ends_value(parser, next) ? next : NULL;
}

/* Calls the function directly: a row of JSON has values of all kinds. */
static inline bool parse_plain(const struct parser *parser, const struct step *step, int64_t row, struct cell cell)
{
    struct seen *seen = seen_of(parser, step);
    value_fn *parse = value_function(parser, step->column);
    if (parse == parse_int)
        return parse_int(parser, step, seen, row, cell);
    if (parse == parse_float)
        return (!parser->table->dialect->json || json_is_number(cell.at, cell.end)) &&
               parse_float(parser, step, seen, row, cell);
    return parse && parse(parser, step, seen, row, cell);
}

bool parse_value(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const enum value_kind kind = step->column->kind;
    const bool json = parser->table->dialect->json, is_text = kind == VALUE_TEXT;
    struct cell cell;
    const char *next = find_plain(parser, *at, &cell);
    if (next && cell.quoted == (json && kind != VALUE_INT && kind != VALUE_FLOAT)) {
        struct text text = {cell.at, (size_t)(cell.end - cell.at)};
        const bool plain = is_text && (json ? parser->table->missing_count == 0 : plain_text(parser, cell, &text));
        if (plain || parse_plain(parser, step, row, cell)) {
            *at = next;
            return !plain || store_text(parser, step, row, text, text.at);
        }
    }
    return is_text ? parse_text_slowly(parser, at, step, row) : parse_slowly(parser, at, step, row);
}

/* The cells of a column in a chunk. */
struct cells {
    const char *text;
    const uint32_t *ends; /* of the cell before the first */
    size_t stride;
    bool last; /* of its record */
};

static inline struct cell cell_at(const struct cells *cells, int64_t i)
{
    const uint32_t *ends = cells->ends + (size_t)i * cells->stride;
    const char *begin = cells->text + (uint32_t)(ends[0] + 1), *end = cells->text + ends[1];
    return (struct cell){begin, end - (cells->last && end > begin && end[-1] == '\r'), false};
}

/* Inlined for each function, with what is seen in registers. */
static inline __attribute__((always_inline)) bool parse_cells(struct parser *parser, const struct step *step,
                                                              const struct cells *cells, value_fn *parse)
{
    const int64_t first = parser->chunk->first_row;
    struct seen now = {.lo = INT64_MAX, .hi = INT64_MIN}, *seen = seen_of(parser, step);
    bool ok = true;
    for (int64_t i = 0; i < parser->chunk->rows && ok; i++) {
        struct cell cell = cell_at(cells, i);
        if (!parse || !parse(parser, step, &now, first + i, cell))
            ok = parse_slowly(parser, &cell.at, step, first + i);
    }
    seen->lo = now.lo < seen->lo ? now.lo : seen->lo;
    seen->hi = now.hi > seen->hi ? now.hi : seen->hi;
    seen->values += now.values;
    seen->cut += now.cut;
    return ok;
}

static bool parse_text_cells(struct parser *parser, const struct step *step, const struct cells *cells)
{
    const int64_t first = parser->chunk->first_row;
    bool ok = true;
    for (int64_t i = 0; i < parser->chunk->rows && ok; i++) {
        struct cell cell = cell_at(cells, i);
        struct text text;
        ok = plain_text(parser, cell, &text) ? store_text(parser, step, first + i, text, text.at)
                                             : parse_text_slowly(parser, &cell.at, step, first + i);
    }
    return store_batch(parser, step) && ok;
}

bool parse_column(struct parser *parser, const struct step *step, const struct cell_ends *ends)
{
    const size_t count = parser->table->count, k = (size_t)(step->column - parser->table->columns);
    const struct cells cells = {parser->chunk->begin, ends->at + k, count, k + 1 == count};
    if (step->column->kind == VALUE_TEXT)
        return parse_text_cells(parser, step, &cells);
    value_fn *parse = value_function(parser, step->column);
    if (parse == parse_int)
        return parse_cells(parser, step, &cells, parse_int);
    if (parse == parse_float)
        return parse_cells(parser, step, &cells, parse_float);
    if (parse == parse_timestamp)
        return parse_cells(parser, step, &cells, parse_timestamp);
    return parse_cells(parser, step, &cells, parse);
}
