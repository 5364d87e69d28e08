/* A gate: the condition that a row has to pass before a kernel reads the rest of its columns.
 *
 * Filters are taken apart into the conditions that && joins, in their order, but where nothing can fail one that asks
 * for equality comes first. The gate is behind the first of them where what follows reads columns that nothing before
 * has read. Work-items that have several rows under way read what the condition needs of all of them, then the rest of
 * those that pass, so that as much of memory is on its way as without a gate; then they do the work of those that have
 * passed. What would be computed for others has no effect anyway: it is behind the filters, and so are the guards of
 * what may fail.
 *
 * Memory comes in pieces of 64 bytes, so a condition has to be rare to save much of it. sum(b) where a < k, 1 G rows of
 * two i32 columns on an H200: 1.82 ms without a gate; with one 0.93 ms if 0.1 % of the rows pass, 1.09 if 1 % do, 1.48
 * if 5 %, 1.76 if 20 %, and 1.78 if all do. */
#ifndef RQL_CL_CODEGEN_FILTER_ORDER_H
#define RQL_CL_CODEGEN_FILTER_ORDER_H

#include "cl/codegen/emit.h"

struct leading_filter {
    const bool *before, *all; /* the values that are computed to know whether a row passes, and all that are needed */
    const value *conditions;  /* the row passes if all of these hold */
    size_t count;
};

/* False if there is none. What the gate points to is in the arena, or the task's. */
bool leading_filter_find(const struct emitter *emitter, struct live_roots needs, struct arena *arena,
                         struct leading_filter *filter);

/* How rows rows to have under way, of `most`, a power of two: they take registers. */
size_t leading_filter_rows(const struct emitter *emitter, const struct leading_filter *filter, size_t most);

/* Text for rows_gated.cl, to be freed; `rest` ends as emit_body does. */
struct leading_filter_text {
    struct strbuf loaded, load, condition, load_rest, passing;
};
void leading_filter_emit(const struct emitter *emitter, const struct leading_filter *filter, size_t rows,
                         struct leading_filter_text *text);
void leading_filter_text_free(struct leading_filter_text *text);

/* The bytes of columns that are read of every row, passed or not. */
size_t leading_filter_row_bytes(const struct emitter *emitter, const struct leading_filter *filter,
                                struct arena *arena);

#endif
