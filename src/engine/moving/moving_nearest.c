/* The first or last present value of windows. */
#include "engine/moving/moving.h"

#include <string.h>

/* The row of the window's first present value, or its end. */
static int64_t first_present(struct moving_part *part, int64_t first, int64_t last)
{
    const uint8_t *present = part->moving->present;
    if (!present)
        return first;
    if (part->nearest < first || part->nearest >= part->to) {
        int64_t seen = part->nearest >= part->to ? max_int64(first, part->to) : first; /* none is present before it */
        const uint8_t *found = seen < last ? memchr(present + seen, 1, (size_t)(last - seen)) : NULL;
        part->nearest = found ? found - present : last;
    }
    part->to = last;
    return part->nearest;
}

/* The row of the window's last present value, or one before its first row. */
static int64_t last_present(struct moving_part *part, int64_t first, int64_t last)
{
    const uint8_t *present = part->moving->present;
    if (!present)
        return last - 1;
    int64_t seen = first >= part->to ? first : part->to; /* rows before it are known: the last present is `nearest` */
    if (first >= part->to)
        part->nearest = first - 1;
    const uint8_t *found = seen < last ? memrchr(present + seen, 1, (size_t)(last - seen)) : NULL;
    if (found)
        part->nearest = found - present;
    part->to = max_int64(seen, last);
    return part->nearest;
}

/* The last present rows of windows that end with their own row, one behind the other. */
static void last_rows(struct moving_part *part, int64_t row, int count, uint64_t *rows, bool *there)
{
    const uint8_t *present = part->moving->present + row;
    int64_t nearest = last_present(part, part->first[0], part->last[0]);
    for (int i = 0; i < count; i++) {
        nearest = present[i] ? row + i : nearest;
        there[i] = nearest >= part->first[i];
        rows[i] = there[i] ? (uint64_t)nearest : 0;
    }
    part->nearest = nearest;
    part->to = row + count;
}

/* The present row that each window has the value of, 0 of none. */
static void nearest_rows(struct moving_part *part, int count, uint64_t *rows, bool *there)
{
    for (int i = 0; i < count; i++) {
        const int64_t first = part->first[i], last = part->last[i];
        const bool of_first = part->moving->op->kind == AGG_FIRST;
        const int64_t nearest = of_first ? first_present(part, first, last) : last_present(part, first, last);
        there[i] = nearest >= first && nearest < last;
        rows[i] = there[i] ? (uint64_t)nearest : 0;
    }
}

void moving_nearest_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    const struct moving_operator *op = moving->op;
    uint64_t rows[OPERATOR_BLOCK] = {0};
    bool there[OPERATOR_BLOCK];
    const bool so_far =
        op->kind != AGG_FIRST && moving->present && !moving->times && op->from_first && !op->to_last && op->last == 0;
    union element_block values;
    if (so_far)
        last_rows(part, row, count, rows, there);
    else
        nearest_rows(part, count, rows, there);
    for (int i = 0; i < count; i++)
        moving_set_present(moving, row + i, there[i]);
    if (!moving->result)
        return;
    operator_values_at(moving->values, rows, count, &values);
    for (int i = 0; i < count; i++) {
        if (there[i])
            continue;
        if (moving->number)
            values.numbers[i] = 0;
        else
            values.integers[i] = 0;
    }
    if (moving->number)
        memcpy(column_at(moving->result, row), values.numbers, (size_t)count * sizeof(double));
    else
        operator_write_ints(moving->result, row, values.integers, count);
}
