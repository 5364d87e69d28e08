/* The program that sorts by one word of codes: radix passes over its digits, least significant first. The first pass
 * computes codes from columns, the last writes the results. */
#ifndef RQL_CL_OPERATORS_SORT_TEXT_H
#define RQL_CL_OPERATORS_SORT_TEXT_H

#include "cl/operators/sort_key.h"

enum { SORT_BINS = 256, SORT_DIGIT_BITS = 8 };

/* How a pass works: radix_tiles.cl, radix_onesweep.cl. */
enum sort_method {
    SORT_TILES,   /* tiles for each group of SORT_BINS work-items */
    SORT_ONESWEEP /* needs warps and forward progress of started groups */
};

struct sort_layout {
    enum sort_method method;
    size_t group;        /* work-items */
    size_t items;        /* per work-item and tile */
    bool wide_positions; /* row numbers have 64 bits */
};

/* A result of the last pass: decoded from the code, or bits at `shift` of the payload. */
struct sort_result {
    struct column *from, *to;
    const struct sort_key *key; /* or NULL */
    int shift;
};

enum sort_payload {
    SORT_NO_PAYLOAD,
    SORT_PAYLOAD_ELEMENTS, /* of results that are not keys */
    SORT_PAYLOAD_ROW
};

struct sort_word {
    const struct sort_key *keys; /* keys of this word */
    size_t key_count;
    struct sort_result *results;
    size_t result_count;
    enum sort_payload payload;
    size_t code_size, payload_size; /* bytes: 4 or 8 */
    bool ordered;                   /* rows come in the order of the previous word */
    size_t passes;
};

/* Kernels by number. Counting and moving kernels have the same parameters. */
enum sort_role {
    SORT_COUNT_FIRST,
    SORT_COUNT,
    SORT_OFFSETS,
    SORT_MOVE_ONLY, /* first and last pass in one */
    SORT_MOVE_FIRST,
    SORT_MOVE,
    SORT_MOVE_LAST,
    SORT_ROLE_COUNT
};

/* Appends the program and sets the names of its kernels, NULL for those it lacks. */
void sort_add_text(struct strbuf *out, const struct sort_word *word, const struct sort_layout *layout,
                   const char **names, struct arena *arena);

/* Appends the kernel sort_gather, which copies the listed rows of a column with elements of `size` bytes. */
void sort_add_gather(struct strbuf *out, size_t size, bool wide_positions, const struct kernel_config *config,
                     struct arena *arena);

#endif
