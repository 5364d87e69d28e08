/* Whether a row's value is among the `leading` largest, or smallest, of its group, or as large as the last of these:
 * the rows that a sort has to look at. Each group keeps its best values in order; the rows are read twice. */
#include "engine/moving/moving.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Codes in the order of the values, the best the largest. */
enum { CODE_NONE, CODE_NAN, CODE_LEAST };

struct leading {
    const struct moving *moving;
    const struct workers *workers;
    size_t count; /* of values that a group keeps */
    int64_t groups;
    struct parts parts;
    uint64_t **best; /* of each part: `count` codes of each group, the best first; CODE_NONE: no value */
};

static uint64_t code_of_image(uint64_t image, bool smallest)
{
    const uint64_t code = smallest ? ~image : image;
    return code < UINT64_MAX - CODE_LEAST ? code + CODE_LEAST : UINT64_MAX;
}

static uint64_t code_of_integer(int64_t integer, bool smallest)
{
    return code_of_image((uint64_t)integer ^ UINT64_C(1) << 63, smallest);
}

static uint64_t code_of_number(double number, bool smallest)
{
    uint64_t bits;
    if (isnan(number))
        return CODE_NAN;
    number += 0.0; /* -0.0 equals 0.0 */
    memcpy(&bits, &number, sizeof bits);
    return code_of_image(bits >> 63 ? ~bits : bits | UINT64_C(1) << 63, smallest);
}

/* Up to OPERATOR_BLOCK rows. */
struct leading_block {
    int64_t groups[OPERATOR_BLOCK];
    union element_block values;
    uint64_t codes[OPERATOR_BLOCK];
};

static void read_block(const struct moving *moving, int64_t row, int count, struct leading_block *block)
{
    const bool smallest = moving->op->smallest;
    operator_values(moving->groups, row, count, block->groups);
    operator_values(moving->values, row, count, &block->values);
    for (int i = 0; i < count; i++)
        block->codes[i] = moving->number ? code_of_number(block->values.numbers[i], smallest)
                                         : code_of_integer(block->values.integers[i], smallest);
    for (int i = 0; i < count && moving->present; i++)
        block->codes[i] = moving->present[row + i] ? block->codes[i] : CODE_NONE;
}

static void insert(uint64_t *best, size_t count, uint64_t code)
{
    if (code <= best[count - 1])
        return;
    size_t at = count - 1;
    for (; at > 0 && best[at - 1] < code; at--)
        best[at] = best[at - 1];
    best[at] = code;
}

static void add_part(void *context, struct part part)
{
    const struct leading *leading = context;
    struct leading_block *block = heap_array(1, sizeof *block);
    uint64_t *best = leading->best[part.number];
    for (int64_t row = part.begin; row < part.end; row += OPERATOR_BLOCK) {
        const int count = part.end - row < OPERATOR_BLOCK ? (int)(part.end - row) : OPERATOR_BLOCK;
        if (workers_cancelled(leading->workers))
            break;
        read_block(leading->moving, row, count, block);
        for (int i = 0; i < count; i++)
            insert(&best[(size_t)block->groups[i] * leading->count], leading->count, block->codes[i]);
    }
    free(block);
}

static void take_part(void *context, struct part part)
{
    const struct leading *leading = context;
    struct leading_block *block = heap_array(1, sizeof *block);
    const uint64_t *best = leading->best[0];
    for (int64_t row = part.begin; row < part.end; row += OPERATOR_BLOCK) {
        const int count = part.end - row < OPERATOR_BLOCK ? (int)(part.end - row) : OPERATOR_BLOCK;
        int64_t leads[OPERATOR_BLOCK];
        if (workers_cancelled(leading->workers))
            break;
        read_block(leading->moving, row, count, block);
        for (int i = 0; i < count; i++)
            leads[i] = block->codes[i] >= best[((size_t)block->groups[i] + 1) * leading->count - 1];
        operator_write_ints(leading->moving->result, row, leads, count);
    }
    free(block);
}

static void merge_parts(const struct leading *leading)
{
    for (int64_t part = 1; part < leading->parts.count; part++) {
        for (int64_t group = 0; group < leading->groups; group++) {
            for (size_t i = 0; i < leading->count; i++)
                insert(&leading->best[0][(size_t)group * leading->count], leading->count,
                       leading->best[part][(size_t)group * leading->count + i]);
        }
    }
}

bool moving_leading(const struct moving *moving, int64_t groups, struct parts parts, const struct workers *workers)
{
    struct leading leading = {
        .moving = moving, .workers = workers, .count = (size_t)moving->op->leading, .groups = groups, .parts = parts};
    if (!moving->result)
        return true;
    leading.best = heap_array((size_t)parts.count, sizeof(uint64_t *));
    for (int64_t part = 0; part < parts.count; part++)
        leading.best[part] = heap_array((size_t)groups * leading.count, sizeof **leading.best);
    bool done = workers_run_parts(workers, &parts, add_part, &leading);
    merge_parts(&leading);
    done = done && workers_run_parts(workers, &parts, take_part, &leading);
    for (int64_t part = 0; part < parts.count; part++)
        free(leading.best[part]);
    free(leading.best);
    return done;
}
