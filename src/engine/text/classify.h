/* What a cell is by itself, and what a column is by its cells. */
#ifndef RQL_ENGINE_TEXT_CLASSIFY_H
#define RQL_ENGINE_TEXT_CLASSIFY_H

#include "engine/text/table.h"

/* Not CLASS_NESTED. */
enum value_class classify(const struct table *table, struct cell cell);

/* Adds a cell to what is known of a column. Returns its class. */
enum value_class evidence_add_cell(struct evidence *evidence, const struct table *table, struct cell cell);

/* Whether the cell is missing in a column of this kind. */
bool cell_is_missing(const struct table *table, struct cell cell, enum value_kind kind);

bool cell_is_bool(struct cell cell, bool *value);

/* Whether a zero leads another digit: an identifier, such as 00501. */
bool cell_has_leading_zero(struct cell cell);

void evidence_add(struct evidence *evidence, enum value_class value_class, const char *at);
void evidence_merge(struct evidence *into, const struct evidence *from);

/* Whether any class but that of missing values was seen. */
bool evidence_has_values(const struct evidence *evidence);

/* Whether all values seen are numbers. */
bool evidence_is_numbers(const struct evidence *evidence);

/* Sets the kind that the evidence decides on, with its type, unless that is stated. Without values it is an integer
 * column if there are no rows, else text. Where there are two ways to read it, that is one of them until it has been
 * `parsed` so, and then text. Returns whether the column must be parsed as another kind than it was, or in another way.
 */
bool decide_kind(const struct table *table, struct table_column *column, int64_t rows, bool parsed);

/* The class of values that a kind's own values have. */
enum value_class class_of_kind(enum value_kind kind, bool utc);

/* The value that made a column text whose first value, or most of whose sample, is of another class, or a number beyond
 * all floats; NULL: none. */
const char *odd_value(const struct table *table, const struct table_column *column);

#endif
