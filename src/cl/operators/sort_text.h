/* The program that sorts by one word of codes: radix passes over its digits, least significant first. The first pass
 * computes the codes from the columns, the last writes the results. */
#ifndef RQL_CL_OPERATORS_SORT_TEXT_H
#define RQL_CL_OPERATORS_SORT_TEXT_H

#include "cl/operators/sort_key.h"

enum { SORT_BINS = 256, SORT_DIGIT_BITS = 8 };

/* How a pass is done. */
enum sort_method {
    SORT_CHUNKS,  /* each work-item counts, then moves, a contiguous chunk */
    SORT_TILES,   /* each group of SORT_BINS work-items does so, in tiles */
    SORT_ONESWEEP /* one kernel counts and moves: needs warps, and that groups that have begun go on */
};

struct sort_layout {
    enum sort_method method;
    size_t group;        /* work-items */
    size_t items;        /* of each in a tile */
    bool wide_positions; /* constants of rows have 64 bits */
};

/* A result that the last pass writes: from the code, or from what lies at `shift` in the load beside it. */
struct sort_result {
    struct column *from, *to;
    const struct sort_key *key; /* or NULL */
    int shift;
};

enum sort_payload {
    SORT_NO_PAYLOAD,
    SORT_PAYLOAD_ELEMENTS, /* of the results that are no keys */
    SORT_PAYLOAD_ROW
};

struct sort_word {
    const struct sort_key *keys; /* those of this word */
    size_t key_count;
    struct sort_result *results;
    size_t result_count;
    enum sort_payload payload;
    size_t code_size, payload_size; /* bytes: 4 or 8 */
    bool ordered;                   /* the rows come in the order of the word before */
    size_t passes;
};

/* The kernels in the order of their constants, named by sort_kernel_names. Counting and moving kernels have the same
 * parameters, which sort.c lists. */
enum sort_role {
    SORT_COUNT_FIRST,
    SORT_COUNT,
    SORT_OFFSETS,
    SORT_MOVE_ONLY, /* the first pass and the last in one */
    SORT_MOVE_FIRST,
    SORT_MOVE,
    SORT_MOVE_LAST,
    SORT_ROLE_COUNT
};

/* Appends the program and sets the names of the kernels that it has; the others become NULL. */
void sort_add_text(struct strbuf *out, const struct sort_word *word, const struct sort_layout *layout,
                   const char **names, struct arena *arena);

/* Appends the kernel sort_gather, which copies the listed rows of a column with elements of `size` bytes. */
void sort_add_gather(struct strbuf *out, size_t size, bool wide_positions, const struct kernel_config *shape,
                     struct arena *arena);

#endif
