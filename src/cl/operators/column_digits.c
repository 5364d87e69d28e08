#include "cl/operators/column_minmax.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 16 };

struct search {
    const struct column *column;
    struct column_minmax *found; /* of each part */
};

static void add(struct column_minmax *digits, uint64_t number, uint64_t exponent, bool infinite)
{
    if (number == 0)
        return;
    const uint64_t place = exponent > 0 ? exponent : 1;
    const uint64_t least = place + (uint64_t)__builtin_ctzll(number), most = place + (uint64_t)bit_width(number);
    digits->least = least < digits->least ? least : digits->least;
    digits->most = most > digits->most ? most : digits->most;
    digits->nan = digits->nan || infinite;
}

static void search_part(void *context, struct part part)
{
    enum { DOUBLE_BITS = 52, DOUBLE_INFINITE = 0x7ff, FLOAT_BITS = 23, FLOAT_INFINITE = 0xff };
    const struct search *search = context;
    struct column_minmax digits = {.least = UINT64_MAX};
    for (int64_t row = part.begin; row < part.end; row++) {
        if (search->column->store == TYPE_F64) {
            const uint64_t bits = ((const uint64_t *)search->column->data)[row];
            const uint64_t exponent = bits >> DOUBLE_BITS & DOUBLE_INFINITE;
            const uint64_t implied = (uint64_t)(exponent > 0) << DOUBLE_BITS;
            add(&digits, (bits & low_ones(DOUBLE_BITS)) | implied, exponent, exponent == DOUBLE_INFINITE);
        } else {
            const uint32_t bits = ((const uint32_t *)search->column->data)[row];
            const uint64_t exponent = bits >> FLOAT_BITS & FLOAT_INFINITE;
            const uint64_t implied = (uint64_t)(exponent > 0) << FLOAT_BITS;
            add(&digits, (bits & low_ones(FLOAT_BITS)) | implied, exponent, exponent == FLOAT_INFINITE);
        }
    }
    search->found[part.number] = digits;
}

enum status column_digits_on_host(const struct operator_job *job, const struct column *column,
                                  struct column_minmax *digits)
{
    const struct workers workers = {.threads = parallel_threads(), .cancel = job->cancel};
    const struct parts parts = partition_rows(&workers, job->rows, PART_ROWS);
    struct search search = {column, NULL};
    if (column->residency || column->lost)
        return STATUS_UNABLE;
    search.found = heap_array((size_t)parts.count + 1, sizeof *search.found);
    const bool done = workers_run_parts(&workers, &parts, search_part, &search);
    *digits = (struct column_minmax){.least = UINT64_MAX};
    for (int64_t part = 0; part < parts.count && done; part++)
        column_minmax_join(digits, &search.found[part]);
    free(search.found);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
