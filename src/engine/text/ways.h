/* Ways to read numbers and dates that are not written as rql writes them: `1.234,50 €`, `12%`, `31/12/2024`.
 *
 * A cell has one way or several. Those that all cells of a column share decide on the column; if that leaves two that
 * differ in a value, the user is asked. */
#ifndef RQL_ENGINE_TEXT_WAYS_H
#define RQL_ENGINE_TEXT_WAYS_H

#include "engine/text/table.h"

/* Numbers, by the sign between groups of three digits and that before decimals; and dates. */
enum way {
    WAY_POINT = 1 << 0, /* 1,234.50 */
    WAY_SPACE_POINT = 1 << 1,
    WAY_APOSTROPHE_POINT = 1 << 2,
    WAY_COMMA = 1 << 3, /* 1.234,50 */
    WAY_SPACE_COMMA = 1 << 4,
    WAY_APOSTROPHE_COMMA = 1 << 5,
    WAY_DMY = 1 << 6,
    WAY_MDY = 1 << 7,
    WAY_YMD = 1 << 8,
    WAYS_OF_POINT = WAY_POINT | WAY_SPACE_POINT | WAY_APOSTROPHE_POINT,
    WAYS_OF_COMMA = WAY_COMMA | WAY_SPACE_COMMA | WAY_APOSTROPHE_COMMA,
    WAYS_OF_NUMBERS = WAYS_OF_POINT | WAYS_OF_COMMA,
    WAYS_OF_DATES = WAY_DMY | WAY_MDY | WAY_YMD
};

/* What a number has beside it, as bits. */
enum { UNIT_NONE = 1 << 0, UNIT_PER_CENT = 1 << 1, UNIT_CURRENCY = 1 << 2 /* the first of several */ };

/* A cell as a number or a time in several ways. */
struct ways {
    enum value_class value_class; /* CLASS_TEXT: there is none */
    unsigned ways;
    unsigned decimals; /* those in which a number has some, or is beyond 64 bits */
    bool differ;       /* the value is not the same in all */
    unsigned unit;
};

enum { PLAIN_TEXT = 80 };

/* The ways of the options, or all. */
unsigned ways_stated(const struct text_options *options);

/* Finds the ways of a cell among those of the table. */
struct ways ways_of(const struct table *table, struct cell cell);

/* Writes a number, read in a way that it has, as rql writes it; at most PLAIN_TEXT bytes. False: it is none. */
bool plain_number(struct cell cell, unsigned way, char plain[PLAIN_TEXT], struct cell *written);

/* Reads a date, a timestamp or a time of day in one of these ways. (ways_of_time.c) */
bool date_read_in(const struct table *table, struct cell cell, unsigned way, int64_t *days);
bool moment_read_in(const struct table *table, struct cell cell, unsigned way, int64_t *microseconds, bool *cut);
bool clock_read_in(struct cell cell, int64_t *microseconds, bool *cut);

/* The ways of a cell as a time. (ways_of_time.c) */
struct ways ways_of_time(const struct table *table, struct cell cell);

/* Adds a cell that has ways to what is known of its column. */
void evidence_add_ways(struct evidence *evidence, const struct ways *ways, const char *at);

/* The way in which all cells of the evidence are read, 0: there is none, and the class of the column. *open: there are
 * several that differ, of which it is one. */
unsigned evidence_way(const struct evidence *evidence, unsigned stated, bool *open);

/* Whether a column's numbers, read with decimal points, may have these between thousands, as `1.234` where nothing in
 * the file tells, and another sign may be that before decimals. */
bool points_are_doubtful(const struct table *table, const struct table_column *column);

#endif
