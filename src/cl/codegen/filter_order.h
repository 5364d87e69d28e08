/* Filter order on a device: the leading filter is the condition that a row must pass before a kernel reads its other
 * columns.
 *
 * Filters are split into the conditions that && joins, in their order; if nothing can fail, an equality moves to the
 * front. The leading filter ends at the first condition after which columns are read that nothing before has read.
 * Work-items with several rows in flight load the columns of the condition for all of them, then the others for the
 * rows that pass, which keeps as many loads outstanding as without it. Nothing computed for a failing row has an
 * effect: values and guards of checked operations are behind the filters anyway.
 *
 * Memory is read in pieces of 64 bytes, so only a selective condition saves much. sum(b) where a < k, 1 G rows of two
 * i32 columns on an H200: 1.82 ms without; with a leading filter 0.93 ms if 0.1 % of the rows pass, 1.09 if 1 %, 1.48
 * if 5 %, 1.76 if 20 %, and 1.78 if all. */
#ifndef RQL_CL_CODEGEN_FILTER_ORDER_H
#define RQL_CL_CODEGEN_FILTER_ORDER_H

#include "cl/codegen/emit.h"

struct leading_filter {
    const bool *before, *all; /* values computed before the decision, and all values */
    const value *conditions;  /* all must hold */
    size_t count;
};

/* Finds the leading filter; false if there is none. What it points to is in the arena, or the task's. */
bool leading_filter_find(const struct emitter *emitter, struct live_roots needs, struct arena *arena,
                         struct leading_filter *filter);

/* The number of rows to have in flight: `most`, halved until what they read fits in registers. */
size_t leading_filter_rows(const struct emitter *emitter, const struct leading_filter *filter, size_t most);

/* The holes of row_block.cl, to be freed; `passing` ends as emit_body does. */
struct leading_filter_text {
    struct strbuf loaded, load, condition, load_rest, passing;
};
void leading_filter_emit(const struct emitter *emitter, const struct leading_filter *filter, size_t rows,
                         struct leading_filter_text *text);
void leading_filter_text_free(struct leading_filter_text *text);

/* Bytes of columns read of every row, passing or not. */
size_t leading_filter_row_bytes(const struct emitter *emitter, const struct leading_filter *filter,
                                struct arena *arena);

#endif
