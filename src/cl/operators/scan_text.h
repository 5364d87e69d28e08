/* The program of a scan: what a state is and how states are joined, and the kernels that do it. */
#ifndef RQL_CL_OPERATORS_SCAN_TEXT_H
#define RQL_CL_OPERATORS_SCAN_TEXT_H

#include "cl/codegen/user_function.h"
#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* Parameters of all kernels, `$parameters`:
 *   integers: long integer, int given;  floats: double number, int given, double terms;  then a function's literals,
 * where `given` says whether the integer or the number is what stands before the first row, and `terms` is how many
 * roundings a float sum may be the result of. In front of and behind them:
 *   scan_totals, scan_rows: in, from (rows: out, to, carries; totals: totals); base, rows, chunk, segment, flag
 *   scan_carries: totals, carry; first, chunks, flag
 *   scan_column_totals, scan_column_rows: the same as above; rows, width, lines, items, flag
 *   scan_column_carries: totals; width, items, flag */
enum scan_kernel {
    SCAN_TOTALS,
    SCAN_CARRIES,
    SCAN_ROWS,
    SCAN_COLUMN_TOTALS,
    SCAN_COLUMN_CARRIES,
    SCAN_COLUMN_ROWS,
    SCAN_CLEAR,    /* where a tile may wait for those before it: words, tiles, next */
    SCAN_LOOKBACK, /* in, from, out, to, words, next, carry; first, rows, flag */
    SCAN_KERNEL_COUNT
};

enum { SCAN_STATE_BYTES = 64 /* at most, of a chain's state on a device */ };

struct scan_text {
    const char *text; /* in the arena */
    const char *names[SCAN_KERNEL_COUNT];
    bool is_float; /* the first parameters are those of floats */
    bool lookback; /* SCAN_LOOKBACK does it in one pass */
    size_t items;  /* rows of a work-item in a tile */
    bool has_function;
    struct function function;
    size_t literals; /* of it */
};

/* The program for the job's breaker: `checked` if sums may not fit 64 bits. False if it has no OpenCL form. */
bool scan_text_make(struct scan_text *text, const struct operator_job *job, const struct accelerator *accelerator,
                    bool checked);

#endif
