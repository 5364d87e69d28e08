#include "engine/text/ways.h"

#include "base/text.h"

#include "engine/text/classify.h"

#include <string.h>

enum { MOST_BODY = 64 };

static const struct {
    unsigned way;
    char thousands, decimal;
} forms[] = {{WAY_POINT, ',', '.'}, {WAY_SPACE_POINT, ' ', '.'}, {WAY_APOSTROPHE_POINT, '\'', '.'},
             {WAY_COMMA, '.', ','}, {WAY_SPACE_COMMA, ' ', ','}, {WAY_APOSTROPHE_COMMA, '\'', ','}};

enum { FORMS = sizeof forms / sizeof *forms };

/* Currencies; those of letters are set off by a space. */
static const char *const currencies[] = {"$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY"};

/* A number without its sign and unit. Spaces and apostrophes of all kinds are those of ASCII. */
struct body {
    char text[MOST_BODY];
    size_t length;
    bool negative, signs; /* it has signs between digits, or a unit */
    unsigned unit;
};

unsigned ways_stated(const struct text_options *options)
{
    unsigned ways = WAYS_OF_NUMBERS | WAYS_OF_DATES;
    static const unsigned orders[] = {WAYS_OF_DATES, WAY_DMY, WAY_MDY, WAY_YMD};
    if (!options)
        return ways;
    for (size_t i = 0; i < FORMS; i++) {
        if ((options->decimal && options->decimal != forms[i].decimal) ||
            (options->thousands && options->thousands != forms[i].thousands))
            ways &= ~forms[i].way;
    }
    return ways & (WAYS_OF_NUMBERS | orders[options->dates]);
}

/* Takes a word off the beginning, or the end, of a cell, with the space between. */
static bool take(struct cell *cell, const char *word, bool from_end)
{
    const size_t length = strlen(word);
    if ((size_t)(cell->end - cell->at) <= length || memcmp(from_end ? cell->end - length : cell->at, word, length) != 0)
        return false;
    cell->at += from_end ? 0 : length;
    cell->end -= from_end ? length : 0;
    return true;
}

static bool take_space(struct cell *cell, bool from_end)
{
    return take(cell, " ", from_end) || take(cell, "\xc2\xa0", from_end) || take(cell, "\xe2\x80\xaf", from_end);
}

static void take_unit(struct cell *cell, bool from_end, struct body *body)
{
    if (body->unit != UNIT_NONE)
        return;
    if (from_end && take(cell, "%", true))
        body->unit = UNIT_PER_CENT;
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies && body->unit == UNIT_NONE; i++) {
        if (take(cell, currencies[i], from_end))
            body->unit = (unsigned)UNIT_CURRENCY << i;
    }
    if (body->unit != UNIT_NONE)
        (void)take_space(cell, from_end);
}

static void take_sign(struct cell *cell, struct body *body, bool *seen)
{
    if (*seen || cell->at == cell->end || (*cell->at != '-' && *cell->at != '+'))
        return;
    body->negative = *cell->at++ == '-';
    *seen = true;
}

/* Copies the digits and the signs between them; false: there is something else. */
static bool copy_body(struct cell cell, struct body *body)
{
    while (cell.at < cell.end) {
        char c = *cell.at;
        if (take_space(&cell, false))
            c = ' ';
        else if (take(&cell, "\xe2\x80\x99", false))
            c = '\'';
        else
            cell.at++;
        if (!is_digit(c) && !strchr(",.' ", c))
            return false;
        if (body->length == MOST_BODY || c == '\0')
            return false;
        body->signs = body->signs || !is_digit(c);
        body->text[body->length++] = c;
    }
    return body->length > 0 && is_digit(body->text[body->length - 1]);
}

static bool take_apart(struct cell cell, struct body *body)
{
    *body = (struct body){.unit = UNIT_NONE};
    if (cell.end - cell.at > MOST_BODY || cell.at == cell.end)
        return false;
    const bool bracketed = *cell.at == '(' && cell.end[-1] == ')' && cell.end - cell.at > 2;
    bool seen = bracketed, behind = false;
    cell.at += bracketed;
    cell.end -= bracketed;
    take_sign(&cell, body, &seen);
    take_unit(&cell, false, body);
    take_sign(&cell, body, &seen);
    take_unit(&cell, true, body);
    if (!seen && cell.end - cell.at > 1 && cell.end[-1] == '-') {
        cell.end--;
        behind = true;
    }
    body->negative = body->negative || bracketed || behind;
    if (!copy_body(cell, body))
        return false;
    /* A number in brackets, or with a sign behind it, is one of an account only if it looks like that. */
    return !(bracketed || behind) || body->signs || body->unit != UNIT_NONE;
}

/* Whether the body is a number in this form; *fraction: it has decimals. Writes its digits, with a point, to `plain`
 * unless that is NULL. */
static bool fits_form(const struct body *body, size_t form, bool *fraction, char *plain)
{
    const char *at = body->text, *end = at + body->length;
    size_t group = 0;
    for (; at < end && is_digit(*at); at++, group++) {
        if (plain)
            *plain++ = *at;
    }
    if (group > 1 && body->text[0] == '0')
        return false;
    const bool groups = at < end && *at == forms[form].thousands;
    if (groups && (group == 0 || group > 3 || body->text[0] == '0'))
        return false;
    while (at < end && *at == forms[form].thousands) {
        if (end - at < 4 || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3]))
            return false;
        for (int i = 1; i <= 3 && plain; i++)
            *plain++ = at[i];
        at += 4;
    }
    *fraction = at < end && *at == forms[form].decimal;
    if (*fraction) {
        if (plain)
            *plain++ = '.';
        for (at++; at < end && is_digit(*at); at++) {
            if (plain)
                *plain++ = *at;
        }
    }
    if (plain)
        *plain = '\0';
    return at == end;
}

/* How many digits certainly fit 64 bits. */
enum { SAFE_DIGITS = 18 };

static struct ways ways_of_number(const struct table *table, struct cell cell)
{
    struct ways ways = {.value_class = CLASS_TEXT};
    struct body body;
    if (!take_apart(cell, &body))
        return ways;
    unsigned whole = 0;
    size_t digits = 0;
    for (size_t i = 0; i < body.length; i++)
        digits += is_digit(body.text[i]);
    for (size_t i = 0; i < FORMS; i++) {
        bool fraction;
        if (!(table->ways & forms[i].way) || !fits_form(&body, i, &fraction, NULL))
            continue;
        ways.ways |= forms[i].way;
        ways.decimals |= fraction ? forms[i].way : 0;
        whole |= fraction ? 0 : forms[i].way;
    }
    ways.differ = ways.decimals && whole;
    if (digits > SAFE_DIGITS)
        ways.decimals = ways.ways;
    ways.unit = body.unit;
    ways.value_class = ways.ways ? CLASS_DRESSED : CLASS_TEXT;
    return ways;
}

struct ways ways_of(const struct table *table, struct cell cell)
{
    const struct ways ways = ways_of_number(table, cell);
    return ways.value_class == CLASS_TEXT ? ways_of_time(table, cell) : ways;
}

bool plain_number(struct cell cell, unsigned way, char plain[PLAIN_TEXT], struct cell *written)
{
    struct body body;
    bool fraction;
    size_t form = 0;
    while (form < FORMS && forms[form].way != way)
        form++;
    if (form == FORMS || !take_apart(cell, &body))
        return false;
    plain[0] = '-';
    if (!fits_form(&body, form, &fraction, plain + 1))
        return false;
    size_t length = 1 + strlen(plain + 1);
    if (body.unit == UNIT_PER_CENT) {
        memcpy(plain + length, "e-2", 3);
        length += 3;
    }
    *written = (struct cell){plain + !body.negative, plain + length, false};
    return true;
}

void evidence_add_ways(struct evidence *evidence, const struct ways *ways, const char *at)
{
    evidence_add(evidence, ways->value_class, at);
    evidence->refused |= ~ways->ways;
    evidence->decimals |= ways->decimals;
    evidence->units |= ways->unit;
    if (ways->differ)
        evidence->differ = true;
}

static bool has_one(unsigned bits)
{
    return (bits & (bits - 1)) == 0;
}

static unsigned lowest(unsigned bits)
{
    return bits & (0 - bits);
}

/* Of numbers, ways with the same sign before decimals give the same values. Groups between spaces or points alone may
 * be telephone numbers. */
static unsigned way_of_numbers(const struct evidence *evidence, unsigned ways, unsigned stated, bool *open)
{
    const unsigned way = lowest(ways), currencies_seen = evidence->units & ~(unsigned)(UNIT_NONE | UNIT_PER_CENT);
    const bool per_cent = evidence->units & UNIT_PER_CENT;
    const unsigned plain = 1u << CLASS_INT | 1u << CLASS_WIDE | 1u << CLASS_FLOAT;
    if ((per_cent && (evidence->units != UNIT_PER_CENT || (evidence->classes & plain))) || !has_one(currencies_seen))
        return 0;
    *open = evidence->differ && (ways & WAYS_OF_POINT) && (ways & WAYS_OF_COMMA);
    const unsigned doubtful = WAY_COMMA | WAY_SPACE_POINT | WAY_SPACE_COMMA;
    if (!(ways & ~doubtful) && !(evidence->decimals & ways) && evidence->units == UNIT_NONE &&
        (stated & WAYS_OF_NUMBERS) == WAYS_OF_NUMBERS)
        *open = true;
    return way;
}

unsigned evidence_way(const struct evidence *evidence, unsigned stated, bool *open)
{
    const unsigned ways = stated & ~evidence->refused;
    *open = false;
    if (evidence->classes & 1u << CLASS_DRESSED)
        return ways & WAYS_OF_NUMBERS ? way_of_numbers(evidence, ways & WAYS_OF_NUMBERS, stated, open) : 0;
    *open = evidence->differ && !has_one(ways & WAYS_OF_DATES);
    return lowest(ways & WAYS_OF_DATES);
}

bool points_are_doubtful(const struct table *table, const struct table_column *column)
{
    const unsigned points = 1u << CLASS_FLOAT, left = table->ways & ~column->evidence.refused;
    if (column->stated || column->kind != VALUE_FLOAT || column->way || !(column->evidence.classes & points) ||
        !(left & WAYS_OF_COMMA))
        return false;
    bool comma = table->dialect->quotes && table->dialect->delimiter == ';';
    for (size_t k = 0; k < table->count; k++) {
        const struct evidence *evidence = &table->columns[k].evidence;
        const unsigned way = table->columns[k].way;
        comma = comma || (evidence->decimals & way & WAYS_OF_COMMA);
        if (!way && evidence_is_numbers(evidence) && (evidence->classes & points) &&
            !(table->ways & ~evidence->refused & WAYS_OF_COMMA))
            return false;
    }
    return comma;
}
