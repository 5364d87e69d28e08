/* Keys of several words whose first word differs in nearly all rows are sorted by that word, and rows that are equal in
 * it by the others. Otherwise rows are sorted by every word, least significant first. */
#ifndef RQL_ENGINE_SORTING_SORT_TIES_H
#define RQL_ENGINE_SORTING_SORT_TIES_H

#include "engine/sorting/sort_keys.h"

/* Whether a sample of the rows, or of the listed ones (or NULL), has hardly any equal first words. */
bool sort_ties_few(const struct keys *keys, const uint64_t *list, int64_t rows);

/* Sorts listed rows, whose first words are `codes` in ascending order, by the other words; stable. False: not enough
 * memory. `rows` is that of all. */
bool sort_ties(const struct keys *keys, int64_t rows, const uint64_t *codes, uint64_t *list, int64_t count);

#endif
