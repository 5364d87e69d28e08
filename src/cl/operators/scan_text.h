/* The program of a scan. */
#ifndef RQL_CL_OPERATORS_SCAN_TEXT_H
#define RQL_CL_OPERATORS_SCAN_TEXT_H

#include "cl/codegen/user_function.h"
#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* `$parameters` of all kernels: integers: long integer, int given; floats: double number, int given, double terms; then
 * the literals of a user function. `given`: the integer or number precedes the first row; `terms`: the maximum number
 * of roundings in a float sum. The other parameters, before and after those: scan_totals: in, from, totals; base, rows,
 * chunk, segment, flag scan_rows: in, from, out, to, carries; base, rows, chunk, segment, flag scan_carries: totals,
 * carry; first, chunks, flag scan_column_totals, scan_column_rows: as scan_totals and scan_rows; rows, width, lines,
 * items, flag scan_column_carries: totals; width, items, flag */
enum scan_kernel {
    SCAN_TOTALS,
    SCAN_CARRIES,
    SCAN_ROWS,
    SCAN_COLUMN_TOTALS,
    SCAN_COLUMN_CARRIES,
    SCAN_COLUMN_ROWS,
    SCAN_LOOKBACK, /* in, from, out, to, words, epoch, carry; first, rows, flag */
    SCAN_KERNEL_COUNT
};

enum { SCAN_STATE_BYTES = 64 /* maximum size of a chain on a device */ };

struct scan_text {
    const char *text; /* in the arena */
    const char *names[SCAN_KERNEL_COUNT];
    bool is_float; /* the parameters are those of floats */
    bool lookback; /* one pass, SCAN_LOOKBACK */
    size_t group;  /* work-items */
    size_t items;  /* rows of a work-item in a tile */
    bool has_function;
    struct function function;
    size_t literals; /* of the function */
};

/* Creates the program of the job's operator; `checked`: sums may exceed 64 bits. Returns false if there is no OpenCL
 * form. */
bool scan_text_make(struct scan_text *text, const struct operator_job *job, const struct accelerator *accelerator,
                    bool checked);

#endif
