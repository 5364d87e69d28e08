#include "engine/operators/scan_sums.h"

#include "engine/vector/elements.h"

#include "base/integer.h"

#include <string.h>

enum {
    PLACE_ROWS = 1 << 16, /* of doubles, read in place, at once */
    WIDENED_ROWS = 4096   /* of other floats */
};

/* Rows as doubles: in place, or at most WIDENED_ROWS of them in `space`. */
static const double *doubles_at(const struct scan_sums *scan, int64_t begin, int64_t count, double *space)
{
    if (scan->from->store == TYPE_F64)
        return (const double *)scan->from->data + begin;
    for (int64_t i = 0; i < count; i += OPERATOR_BLOCK)
        operator_values(scan->from, begin + i, (int)min_int64(count - i, OPERATOR_BLOCK), space + i);
    return space;
}

static int64_t rows_at_once(const struct scan_sums *scan)
{
    return scan->from->store == TYPE_F64 ? PLACE_ROWS : WIDENED_ROWS;
}

void scan_sums_total(const struct scan_sums *scan, int64_t begin, int64_t end, struct compensated_sum *sum)
{
    double space[WIDENED_ROWS];
    for (int64_t count; begin < end; begin += count) {
        count = min_int64(end - begin, rows_at_once(scan));
        compensated_scan_total(&scan->how, doubles_at(scan, begin, count, space), count, sum);
    }
}

bool scan_sums_chain(const struct scan_sums *scan, int64_t begin, int64_t end, struct compensated_sum *sum)
{
    double space[WIDENED_ROWS];
    bool certain = true;
    for (int64_t count; begin < end && certain; begin += count) {
        count = min_int64(end - begin, rows_at_once(scan));
        certain = compensated_scan_chain(&scan->how, doubles_at(scan, begin, count, space), count, sum,
                                         column_at(scan->to, begin));
    }
    return certain;
}

int64_t scan_sums_segments(const struct scan_sums *scan, int64_t segment, int64_t begin, int64_t end,
                           const struct compensated_sum *start, bool *certain)
{
    double space[WIDENED_ROWS];
    const int64_t segments = min_int64(end - begin, rows_at_once(scan)) / segment, rows = segments * segment;
    *certain &= compensated_scan_segments(&scan->how, doubles_at(scan, begin, rows, space), segment, segments, start,
                                          column_at(scan->to, begin));
    return rows;
}

bool scan_sums_columns(const struct scan_sums *scan, int64_t begin, int64_t end, int columns, int64_t stride,
                       const struct compensated_sum *start)
{
    enum { ROWS = 16 };
    double in[ROWS * SCAN_SUMS_COLUMNS], out[ROWS * SCAN_SUMS_COLUMNS];
    struct compensated_sum sums[SCAN_SUMS_COLUMNS];
    for (int i = 0; i < columns; i++)
        sums[i] = *start;
    bool certain = true;
    while (begin < end && certain) {
        /* Rows of all columns, or the last one, which may be shorter. */
        const int64_t left = end - begin, whole = left < columns ? 0 : (left - columns) / stride + 1;
        const int rows = (int)(whole < 1 ? 1 : min_int64(whole, ROWS));
        const int width = (int)min_int64(left, columns);
        for (int row = 0; row < rows; row++)
            operator_values(scan->from, begin + row * stride, width, in + (size_t)row * (size_t)width);
        certain = compensated_scan_columns(&scan->how, in, width, rows, sums, out);
        for (int row = 0; row < rows; row++)
            memcpy(column_at(scan->to, begin + row * stride), out + (size_t)row * (size_t)width,
                   (size_t)width * sizeof *out);
        begin += rows * stride;
    }
    return certain;
}
