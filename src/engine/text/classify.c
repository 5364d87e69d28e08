#include "engine/text/classify.h"

#include "base/number_text.h"
#include "base/time/calendar.h"
#include "base/time/time_zone.h"
#include "engine/text/ways.h"

#include <string.h>
#include <strings.h>

static size_t length_of(struct cell cell)
{
    return (size_t)(cell.end - cell.at);
}

static bool is_word(struct cell cell, const char *word)
{
    const size_t length = strlen(word);
    return length_of(cell) == length && strncasecmp(cell.at, word, length) == 0;
}

/* Whether the cell is one of the usual words for a missing value. */
static bool is_missing_word(struct cell cell)
{
    static const char *const words[] = {"-", "?", "na", "\\n", "n/a", "null", "none", "#n/a"};
    if (length_of(cell) > 4 || (cell.at < cell.end && *cell.at >= '0' && *cell.at <= '9'))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_word(cell, words[i]))
            return true;
    }
    return false;
}

static bool is_stated_missing(const struct table *table, struct cell cell)
{
    for (size_t i = 0; i < table->missing_count; i++) {
        if (strlen(table->missing[i]) == length_of(cell) && memcmp(table->missing[i], cell.at, length_of(cell)) == 0)
            return true;
    }
    return false;
}

bool cell_is_missing(const struct table *table, struct cell cell, enum value_kind kind)
{
    if (is_stated_missing(table, cell))
        return true;
    if (table->dialect->json)
        return !cell.quoted && length_of(cell) == 4 && memcmp(cell.at, "null", 4) == 0;
    if (cell.at == cell.end)
        return kind != VALUE_TEXT || !cell.quoted;
    if (table->dialect->escapes && !cell.quoted && length_of(cell) == 2 && memcmp(cell.at, "\\N", 2) == 0)
        return true;
    return kind != VALUE_TEXT && !table->missing && is_missing_word(cell);
}

bool cell_is_bool(struct cell cell, bool *value)
{
    /* Letters differ in one bit by their case, which no other character of these words shares. */
    const size_t length = length_of(cell);
    const char *at = cell.at;
    *value = length == 4 && (at[0] | 32) == 't' && (at[1] | 32) == 'r' && (at[2] | 32) == 'u' && (at[3] | 32) == 'e';
    return *value || (length == 5 && (at[0] | 32) == 'f' && (at[1] | 32) == 'a' && (at[2] | 32) == 'l' &&
                      (at[3] | 32) == 's' && (at[4] | 32) == 'e');
}

bool cell_has_leading_zero(struct cell cell)
{
    const char *at = cell.at + (cell.at < cell.end && (*cell.at == '-' || *cell.at == '+'));
    return cell.end - at >= 2 && at[0] == '0' && at[1] >= '0' && at[1] <= '9';
}

static enum value_class class_of_number(struct cell cell)
{
    int64_t integer;
    double number;
    if (cell_has_leading_zero(cell))
        return CLASS_TEXT;
    switch (read_int(cell.at, cell.end, &integer)) {
    case READ_INT:
        return CLASS_INT;
    case READ_OVERFLOW:
        return CLASS_WIDE;
    case READ_FLOAT:
    case READ_INVALID:
        break;
    }
    return read_float(cell.at, cell.end, &number) == READ_FLOAT ? CLASS_FLOAT : CLASS_TEXT;
}

static enum value_class class_of_time(struct cell cell)
{
    int64_t time;
    bool zoned, cut;
    if (date_read(cell.at, cell.end, &time))
        return CLASS_DATE;
    if (duration_read(cell.at, cell.end, &time))
        return CLASS_CLOCK;
    if (timestamp_read(cell.at, cell.end, &time, &zoned, &cut))
        return zoned ? CLASS_UTC : CLASS_TIMESTAMP;
    return CLASS_TEXT;
}

enum value_class classify(const struct table *table, struct cell cell)
{
    bool truth;
    if (cell_is_missing(table, cell, VALUE_TEXT))
        return CLASS_BLANK;
    if (table->dialect->json && cell.quoted)
        return class_of_time(cell);
    if (table->dialect->json && cell.at < cell.end && (*cell.at == '{' || *cell.at == '['))
        return CLASS_NESTED;
    if (cell_is_missing(table, cell, VALUE_INT))
        return CLASS_WORD;
    if (looks_like_number(cell.at, cell.end)) {
        const enum value_class value_class = class_of_number(cell);
        /* A point that is no decimal one is between thousands. */
        const bool point = value_class == CLASS_FLOAT && !(table->ways & WAYS_OF_POINT) &&
                           memchr(cell.at, '.', (size_t)(cell.end - cell.at));
        return point ? ways_of(table, cell).value_class : value_class;
    }
    const enum value_class value_class = cell_is_bool(cell, &truth) ? CLASS_BOOL : class_of_time(cell);
    return value_class == CLASS_TEXT ? ways_of(table, cell).value_class : value_class;
}

enum value_class evidence_add_cell(struct evidence *evidence, const struct table *table, struct cell cell)
{
    const enum value_class value_class = classify(table, cell);
    struct ways ways = {0};
    switch (value_class) {
    case CLASS_FLOAT:
    case CLASS_DRESSED:
    case CLASS_ORDERED:
    case CLASS_MOMENT:
        ways = ways_of(table, cell);
        if (value_class == CLASS_FLOAT) {
            if (ways.value_class == CLASS_TEXT) /* an exponent, or nan */
                ways.ways = memchr(cell.at, '.', (size_t)(cell.end - cell.at)) ? WAYS_OF_POINT : WAYS_OF_NUMBERS;
            ways = (struct ways){.value_class = CLASS_FLOAT, .ways = ways.ways};
        }
        evidence_add_ways(evidence, &ways, cell.at);
        break;
    case CLASS_DATE:
    case CLASS_TIMESTAMP:
        evidence->refused |= WAY_DMY | WAY_MDY;
        evidence_add(evidence, value_class, cell.at);
        break;
    default:
        evidence_add(evidence, value_class, cell.at);
    }
    return value_class;
}

static unsigned bit(enum value_class value_class)
{
    return 1u << value_class;
}

void evidence_add(struct evidence *evidence, enum value_class value_class, const char *at)
{
    evidence->classes |= bit(value_class);
    const char *known = evidence->first[value_class];
    evidence->first[value_class] = known && (!at || known < at) ? known : at;
}

void evidence_merge(struct evidence *into, const struct evidence *from)
{
    into->refused |= from->refused;
    into->decimals |= from->decimals;
    into->units |= from->units;
    into->differ = into->differ || from->differ;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        if (from->classes & 1u << i)
            evidence_add(into, (enum value_class)i, from->first[i]);
    }
}

static unsigned values_of(const struct evidence *evidence)
{
    return evidence->classes & ~(bit(CLASS_WORD) | bit(CLASS_BLANK));
}

bool evidence_has_values(const struct evidence *evidence)
{
    return values_of(evidence) != 0;
}

bool evidence_is_numbers(const struct evidence *evidence)
{
    const unsigned numbers = bit(CLASS_INT) | bit(CLASS_WIDE) | bit(CLASS_FLOAT) | bit(CLASS_DRESSED);
    return values_of(evidence) && !(values_of(evidence) & ~numbers);
}

/* The classes of which one needs a way. */
static unsigned classes_with_ways(void)
{
    return bit(CLASS_DRESSED) | bit(CLASS_ORDERED) | bit(CLASS_MOMENT);
}

/* The kind of a column that is read in a way, and the way. `parsed`: as the kind and in the way that it has. */
static enum value_kind kind_by_way(const struct table *table, struct table_column *column, unsigned classes,
                                   bool parsed)
{
    const unsigned numbers = bit(CLASS_INT) | bit(CLASS_WIDE) | bit(CLASS_FLOAT) | bit(CLASS_DRESSED);
    const bool dates = !(classes & ~(bit(CLASS_DATE) | bit(CLASS_ORDERED)));
    const bool moments = !(classes & ~(bit(CLASS_TIMESTAMP) | bit(CLASS_MOMENT)));
    const bool in_way = column->way || column->kind == VALUE_TEXT;
    bool open = false;
    column->way = 0;
    if (!dates && !moments && (classes & ~numbers))
        return VALUE_TEXT;
    const unsigned way = evidence_way(&column->evidence, table->ways, &open);
    column->open = open && parsed && in_way; /* all values were looked at */
    if (column->open || !way)
        return VALUE_TEXT;
    column->way = way;
    if (dates || moments)
        return dates ? VALUE_DATE : VALUE_TIMESTAMP;
    const bool floats = (column->evidence.decimals & way) || (classes & (bit(CLASS_FLOAT) | bit(CLASS_WIDE))) ||
                        (column->evidence.units & UNIT_PER_CENT);
    return floats ? VALUE_FLOAT : VALUE_INT;
}

static enum value_kind kind_of(unsigned classes)
{
    if (classes == bit(CLASS_CLOCK))
        return VALUE_DURATION;
    if (classes == bit(CLASS_INT))
        return VALUE_INT;
    if ((classes & bit(CLASS_FLOAT)) && !(classes & ~(bit(CLASS_INT) | bit(CLASS_WIDE) | bit(CLASS_FLOAT))))
        return VALUE_FLOAT;
    if (classes == bit(CLASS_BOOL))
        return VALUE_BOOL;
    if (classes == bit(CLASS_DATE))
        return VALUE_DATE;
    return classes == bit(CLASS_TIMESTAMP) || classes == bit(CLASS_UTC) ? VALUE_TIMESTAMP : VALUE_TEXT;
}

static void decide_unstated(const struct table *table, struct table_column *column, unsigned classes, bool parsed)
{
    if (classes & classes_with_ways()) {
        column->kind = kind_by_way(table, column, classes, parsed);
        return;
    }
    column->way = 0;
    column->kind = kind_of(classes);
}

bool decide_kind(const struct table *table, struct table_column *column, int64_t rows, bool parsed)
{
    static const enum type types[VALUE_KINDS] = {
        [VALUE_INT] = TYPE_I64,
        [VALUE_FLOAT] = TYPE_F64,
        [VALUE_BOOL] = TYPE_BOOL,
#define LOGICAL_TYPE(kind, name, stored, ...) [VALUE_##kind] = stored,
#include "engine/values/logical_types.def"
    };
    const unsigned classes = values_of(&column->evidence);
    const enum value_kind kind = column->kind;
    const bool utc = column->utc;
    const unsigned way = column->way;
    const unsigned zones = bit(CLASS_TIMESTAMP) | bit(CLASS_UTC);
    if (!column->stated) {
        if (classes || rows > 0)
            decide_unstated(table, column, classes, parsed);
        else
            column->kind = VALUE_INT;
        column->type = types[column->kind];
    }
    bool open = false;
    if (column->stated && !parsed && (classes & classes_with_ways())) {
        column->way = evidence_way(&column->evidence, table->ways, &open);
        column->way = open ? 0 : column->way;
    }
    column->utc = column->kind == VALUE_TIMESTAMP && (classes & zones) == bit(CLASS_UTC);
    return column->kind != kind || column->utc != utc || column->way != way;
}

enum value_class class_of_kind(enum value_kind kind, bool utc)
{
    static const enum value_class classes[VALUE_KINDS] = {
        [VALUE_INT] = CLASS_INT,
        [VALUE_FLOAT] = CLASS_FLOAT,
        [VALUE_BOOL] = CLASS_BOOL,
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, evidence, ...)             \
    [VALUE_##kind] = evidence,
#include "engine/values/logical_types.def"
    };
    return kind == VALUE_TIMESTAMP && utc ? CLASS_UTC : classes[kind];
}

/* The first value of any of the classes. */
static const char *first_of(const struct evidence *evidence, unsigned classes, enum value_class *found)
{
    const char *first = NULL;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        const char *at = evidence->first[i];
        if ((classes & 1u << i) && at && (!first || at < first)) {
            first = at;
            *found = (enum value_class)i;
        }
    }
    return first;
}

/* Whether a number without quotes begins at `at` that no float holds. */
static bool is_beyond_floats(const char *at, const char *text_end)
{
    const char *end = at;
    double number;
    while (end < text_end && strchr("+-.eE0123456789", *end) && *end)
        end++;
    return at[-1] != '"' && read_float(at, end, &number) == READ_OVERFLOW;
}

const char *odd_value(const struct table *table, const struct table_column *column)
{
    const struct evidence *evidence = &column->evidence;
    const unsigned numbers = bit(CLASS_INT) | bit(CLASS_WIDE) | bit(CLASS_FLOAT);
    enum value_class first = CLASS_COUNT, odd;
    if (column->kind != VALUE_TEXT || column->stated || !first_of(evidence, values_of(evidence), &first) ||
        first == CLASS_NESTED)
        return NULL;
    if (first == CLASS_TEXT) {
        const char *text = evidence->first[CLASS_TEXT];
        const bool told = column->others > column->texts || (text > table->text && is_beyond_floats(text, table->end));
        return told ? text : NULL;
    }
    const bool whole = !(values_of(evidence) & ~(bit(CLASS_INT) | bit(CLASS_DRESSED)));
    if (whole && !(WAYS_OF_NUMBERS & ~evidence->refused)) /* a pair of them is told */
        return NULL;
    const unsigned others = values_of(evidence) & ~(numbers & bit(first) ? numbers : bit(first));
    return first_of(evidence, others ? others : bit(CLASS_WIDE), &odd);
}

struct logical_type table_column_logical(const struct table_column *column)
{
    static const enum logical logicals[VALUE_KINDS] = {
        [VALUE_INT] = LOGICAL_NUMBER,
        [VALUE_FLOAT] = LOGICAL_NUMBER,
        [VALUE_BOOL] = LOGICAL_NUMBER,
#define LOGICAL_TYPE(kind, ...) [VALUE_##kind] = LOGICAL_##kind,
#include "engine/values/logical_types.def"
    };
    const struct time_zone *zone = column->utc ? &time_zone_utc : NULL;
    return (struct logical_type){
        .kind = logicals[column->kind], .scale = column->scale, .zone = zone, .member = column->member};
}
