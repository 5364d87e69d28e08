/* Notes on the ways in which columns are read. */
#include "engine/text/notes.h"

#include "engine/text/classify.h"
#include "engine/text/ways.h"
#include "engine/values/dictionary.h"

#include <string.h>

/* What a way shows in a column, and the clause that states it. */
static const struct {
    unsigned way;
    const char *what, *clause;
} told[] = {
    {WAY_POINT, "commas between thousands", "thousands \",\""},
    {WAY_SPACE_POINT, "spaces between thousands", "thousands \" \""},
    {WAY_APOSTROPHE_POINT, "apostrophes between thousands", "thousands \"'\""},
    {WAYS_OF_COMMA, "a decimal comma", "decimal \",\""},
    {WAY_DMY, "day, month, year", "dates dmy"},
    {WAY_MDY, "month, day, year", "dates mdy"},
    {WAY_YMD, "year, month, day", "dates ymd"},
};

/* Whether the way is the only one of its kind that is left, so that the column shows it. */
static bool shows(const struct table *table, const struct table_column *column, unsigned way)
{
    const unsigned left = table->ways & ~column->evidence.refused;
    if (!(column->way & way) || column->stated)
        return false;
    if (way == WAYS_OF_COMMA)
        return (table->ways & WAYS_OF_POINT) && column->evidence.decimals & column->way;
    if (way & WAYS_OF_DATES)
        return (table->ways & WAYS_OF_DATES) == WAYS_OF_DATES;
    return (table->ways & WAYS_OF_POINT) != way && (left & WAYS_OF_POINT) == way;
}

static void add_questions(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const char *const *first = column->evidence.first;
        if (!read[k] || !column->open || !note_next(&list))
            continue;
        const char *number = first[CLASS_DRESSED];
        const char *at = number ? number : first[CLASS_ORDERED] ? first[CLASS_ORDERED] : first[CLASS_MOMENT];
        const char *clauses = !number                   ? "`dates dmy` or `dates mdy`"
                              : column->evidence.differ ? "`thousands \",\"` or `decimal \",\"`"
                              : memchr(number, ' ', 12) ? "`thousands \" \"` if it is a number"
                                                        : "`thousands \".\"` if it is a number";
        strbuf_printf(out, "`%s` is text: `%s` can be read in two ways (%s)", column->name,
                      table_shown_cell(table, at, arena), clauses);
    }
}

static const char *clause_of(unsigned ways)
{
    size_t i = 0;
    while (!(told[i].way & ways))
        i++;
    return told[i].clause;
}

/* Two strings of a column that no way reads both, or of different units. */
struct odd_pair {
    struct text text[2];
    unsigned ways[2], units[2];
};

/* Whether the string has ways, which become those of pair[i]. */
static bool set_string(const struct table *table, const struct dictionary *strings, int64_t code, int i,
                       struct odd_pair *pair)
{
    const struct text text = pair->text[i] = dictionary_text(strings, code);
    const struct ways ways = ways_of(table, (struct cell){text.at, text.at + text.length, false});
    pair->ways[i] = ways.ways;
    pair->units[i] = ways.unit;
    return ways.value_class != CLASS_TEXT;
}

static bool find_odd_pair(const struct table *table, const struct dictionary *strings, struct odd_pair *pair)
{
    unsigned left = WAYS_OF_NUMBERS | WAYS_OF_DATES, units = 0;
    int64_t last = 0;
    for (; last < strings->count && left && (units & (units - 1)) == 0; last++) {
        if (!set_string(table, strings, last, 1, pair))
            continue;
        left &= pair->ways[1];
        units |= pair->units[1];
    }
    for (int64_t code = 0; code < last && (!left || (units & (units - 1))); code++) {
        if (set_string(table, strings, code, 0, pair) &&
            (!(pair->ways[0] & pair->ways[1]) || pair->units[0] != pair->units[1]))
            return true;
    }
    return false;
}

/* Columns of dates or numbers each of which can be read, but not all in one way. */
static void add_mixed(struct strbuf *out, const struct table *table, const bool *read, struct column *const *columns,
                      struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count && !table->dialect->json; k++) {
        const struct table_column *column = &table->columns[k];
        const char *const *first = column->evidence.first;
        const bool has_ways = first[CLASS_DRESSED] || first[CLASS_ORDERED] || first[CLASS_MOMENT];
        struct odd_pair pair;
        if (!read[k] || column->stated || column->open || column->kind != VALUE_TEXT || !has_ways ||
            first[CLASS_TEXT] || odd_value(table, column) || !columns[k]->logical.dictionary ||
            !find_odd_pair(table, columns[k]->logical.dictionary, &pair) || !note_next(&list))
            continue;
        if (pair.ways[0] & pair.ways[1])
            strbuf_printf(out, "`%s` is text: `%s` and `%s` have different units", column->name,
                          arena_text(arena, pair.text[0].at, pair.text[0].length),
                          arena_text(arena, pair.text[1].at, pair.text[1].length));
        else
            strbuf_printf(out, "`%s` is text: no way reads both `%s` (`%s`) and `%s` (`%s`)", column->name,
                          arena_text(arena, pair.text[0].at, pair.text[0].length), clause_of(pair.ways[0]),
                          arena_text(arena, pair.text[1].at, pair.text[1].length), clause_of(pair.ways[1]));
    }
}

/* Whether all strings of a column are dates in this way. */
static bool all_dates(const struct table *table, const struct column *column, unsigned way)
{
    const struct dictionary *strings = column->logical.dictionary;
    struct table stated = *table;
    int64_t days;
    stated.ways = way;
    for (int64_t code = 0; strings && code < strings->count; code++) {
        const struct text text = dictionary_text(strings, code);
        if (!date_read_in(&stated, (struct cell){text.at, text.at + text.length, false}, way, &days))
            return false;
    }
    return strings && strings->count > 0;
}

/* Dates with years of two digits, whose order is to be stated. */
static void add_short_dates(struct strbuf *out, const struct table *table, const bool *read,
                            struct column *const *columns, struct arena *arena)
{
    static const struct {
        unsigned way;
        const char *word;
    } orders[] = {{WAY_DMY, "dmy"}, {WAY_MDY, "mdy"}, {WAY_YMD, "ymd"}};
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count && !table->dialect->json; k++) {
        const struct table_column *column = &table->columns[k];
        const char *at = column->evidence.first[CLASS_TEXT];
        if (!read[k] || column->stated || column->kind != VALUE_TEXT || !at)
            continue;
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            if (!all_dates(table, columns[k], orders[i].way) || !note_next(&list))
                continue;
            strbuf_printf(out, "`%s` is text: `%s` has a year of two digits (`dates %s` or another order)",
                          column->name, table_shown_cell(table, at, arena), orders[i].word);
            break;
        }
    }
}

/* Texts that would be numbers with the other sign before decimals. */
static void add_other_sign(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    const bool comma = !(table->ways & WAYS_OF_POINT);
    struct table other = *table;
    other.ways = comma ? WAY_POINT : WAY_COMMA;
    if (table->dialect->json || (!comma && (table->ways & WAYS_OF_COMMA)))
        return;
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const char *at = column->evidence.first[CLASS_TEXT];
        if (!read[k] || column->stated || column->kind != VALUE_TEXT || !at || odd_value(table, column))
            continue;
        const char *text = table_shown_cell(table, at, arena);
        if (!ways_of(&other, (struct cell){text, text + strlen(text), false}).decimals || !note_next(&list))
            continue;
        strbuf_printf(out, "%s%s%s is text: `%s` in line %lld is no number with a decimal %s", *column->name ? "`" : "",
                      *column->name ? column->name : "it", *column->name ? "`" : "", text,
                      (long long)table_line(table, at), comma ? "comma" : "point");
    }
}

/* Numbers whose points may be between thousands. */
static void add_doubtful(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const char *at = column->evidence.first[CLASS_FLOAT];
        if (!read[k] || !points_are_doubtful(table, column) || !at || !note_next(&list))
            continue;
        strbuf_printf(out, "`%s` in `%s` is read with a decimal point (`decimal \",\"` if it is between thousands)",
                      table_shown_cell(table, at, arena), column->name);
    }
}

static void add_units(struct strbuf *out, const struct table *table, const bool *read, unsigned units, const char *what)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        if (!read[k] || !column->way || !(column->evidence.units & units) || !note_next(&list))
            continue;
        strbuf_printf(out, "%s`%s`", list.count == 1 ? what : "", column->name);
    }
}

void note_ways(struct strbuf *out, const struct table *table, const bool *read, struct column *const *columns,
               struct arena *arena)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
        for (size_t k = 0; k < table->count; k++) {
            const struct table_column *column = &table->columns[k];
            if (!read[k] || !shows(table, column, told[i].way) || !note_next(&list))
                continue;
            const bool date = told[i].way & WAYS_OF_DATES;
            if (list.count == 1 && !date)
                strbuf_printf(out, "%s in ", told[i].what);
            strbuf_printf(out, "`%s`", column->name);
        }
        if (list.count > 0 && told[i].way & WAYS_OF_DATES)
            strbuf_printf(out, " read as %s", told[i].what);
        if (list.count > 0)
            strbuf_printf(out, " (`%s`)", told[i].clause);
    }
    add_units(out, table, read, UNIT_PER_CENT, "12% is 0.12 in ");
    add_units(out, table, read, ~(unsigned)(UNIT_NONE | UNIT_PER_CENT), "signs of currency are left out in ");
    add_questions(out, table, read, arena);
    add_mixed(out, table, read, columns, arena);
    add_short_dates(out, table, read, columns, arena);
    add_other_sign(out, table, read, arena);
    add_doubtful(out, table, read, arena);
}
