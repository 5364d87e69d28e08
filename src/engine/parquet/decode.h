/* Decoding a page's values into rows of a column. */
#ifndef RQL_ENGINE_PARQUET_DECODE_H
#define RQL_ENGINE_PARQUET_DECODE_H

#include "engine/parquet/leaf.h"
#include "engine/parquet/page.h"
#include "engine/storage/row_set.h"

/* A value that the column cannot hold; a time that was no whole microseconds. */
enum { VALUE_BAD = 1, VALUE_FLOORED = 2 };

/* The values of a dictionary page as elements of a column. */
struct page_dictionary {
    size_t count;
    void *values;     /* owned */
    uint8_t *dubious; /* of each: VALUE_BAD or VALUE_FLOORED, else 0. NULL: there are none. Owned */
    int64_t lo, hi;   /* of integers */
};

struct decoded {
    int64_t bad;     /* READ_NOT_IN_RANGE, READ_NOT_UTF8: which of the values that are not missing */
    int64_t floored; /* times that were no whole microseconds */
    int64_t lo, hi;  /* bounds of integers; lo > hi: of nothing */
};

/* Decodes a dictionary of numbers. Its memory is to be freed even after an error. */
enum read_error decode_dictionary(const struct leaf *leaf, const struct page_values *values, struct scratch *scratch,
                                  struct page_dictionary *dictionary);

/* Makes elements of `size` bytes ones of `to` bytes, which hold them. */
void page_dictionary_narrow(struct page_dictionary *dictionary, size_t size, size_t to);

/* Entry i cannot be a value of the column, which is an error only if a row has it. */
void page_dictionary_mark_bad(struct page_dictionary *dictionary, size_t i);

void page_dictionary_free(struct page_dictionary *dictionary);

/* Decodes the values that are not missing, one after another, into `to`: indices of the dictionary, translated to its
 * values of `size` bytes. */
enum read_error decode_indices(const struct page_values *values, const struct page_dictionary *dictionary, size_t size,
                               void *to, struct decoded *decoded);

/* Decodes those of the page's values that are in rows of the set, of which `first` is the page's first; none is missing
 * and the dictionary has no dubious values. */
enum read_error decode_some_indices(const struct page_values *values, const struct page_dictionary *dictionary,
                                    size_t size, const struct row_set *rows, int64_t first, void *to,
                                    struct decoded *decoded);

/* Decodes a page without a dictionary, of any type but text. */
enum read_error decode_numbers(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                               struct scratch *scratch, void *to, struct decoded *decoded);

/* Decodes 64-bit integers, stored as they are needed, into elements of 32 bits: correct if the range that is found fits
 * them. */
enum read_error decode_narrow(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                              struct scratch *scratch, int32_t *to, struct decoded *decoded);

/* Finds or decodes the values of a page of leaf->width bytes each. */
enum read_error decode_fixed(const struct leaf *leaf, int64_t encoding, const struct page_values *in,
                             struct scratch *scratch, const uint8_t **values);

/* Moves `present` elements of `size` bytes to the `rows` places whose byte of `validity` is 1; others become 0. */
void decode_spread(void *elements, size_t size, const uint8_t *validity, size_t rows, size_t present);

#endif
