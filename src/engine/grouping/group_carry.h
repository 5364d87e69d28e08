/* What goes with a row's code where rows are partitioned or sorted by it: the values that the aggregates read, if these
 * fit a word, or a few beside several words of keys, so that they need not be fetched from all over the columns; else
 * the number of the row. A sum of i32 by 10^6 keys, 10^7 rows, two threads, takes 1.4 to 1.8 times as long without. */
#ifndef RQL_ENGINE_GROUPING_GROUP_CARRY_H
#define RQL_ENGINE_GROUPING_GROUP_CARRY_H

#include "engine/grouping/group_aggregate.h"
#include "engine/sorting/sort_keys.h"

/* A column's values, or row numbers, in a payload: integers as their distance from the least, floats as doubles. */
struct carried_values {
    const struct column *column; /* NULL: row numbers */
    int word, shift;
    uint64_t mask; /* after shifting */
    int64_t low;
};

/* Words of keys or of payloads in an element, at most, and of both. */
enum { CARRIED_WORDS = 7, ELEMENT_WORDS = 8 };

struct group_carry {
    const struct keys *keys;
    int payload_bits; /* of the last word */
    int payload_words;
    size_t words; /* of an element: those of the key, then those of the payload; 1: a code and, below it, its payload */
    struct carried_values *values;
    size_t count;
};

/* Payloads have at most `most` words. */
void group_carry_init(struct group_carry *carry, const struct keys *keys, int64_t rows,
                      const struct group_aggregate *group_aggs, size_t group_agg_count, int most);
void group_carry_free(struct group_carry *carry);
size_t group_carry_width(const struct group_carry *carry); /* of an element, in bytes */

bool group_carry_has(const struct group_carry *carry, const struct column *column); /* or its values are fetched */

/* Makes elements of rows, at most KEY_BLOCK. */
void group_carry_read(const struct group_carry *carry, int64_t row, int count, void *elements);

/* The codes of elements, and words in which their payloads are, maybe in `space`: word w of them from w * KEY_BLOCK on.
 */
void group_carry_codes(const struct group_carry *carry, const void *elements, int count, uint64_t *codes);
const uint64_t *group_carry_payloads(const struct group_carry *carry, const void *elements, int count, uint64_t *space);

/* Writes a column's values, as operator_values does, or row numbers (`column` is NULL); false if payloads have none. */
bool group_carry_values(const struct group_carry *carry, const struct column *column, const uint64_t *payloads,
                        int count, void *values);

#endif
