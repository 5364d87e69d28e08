/* Elements at equal distances, against the elements one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/vector/ahead.h"
#include "engine/vector/border_rows.h"
#include "engine/vector/ops.h"

#include <string.h>

enum { ROWS = 5 * BLOCK_ROWS, MARGIN = 8 };

static void check(const struct column *column, struct progression progression, int64_t row, int count)
{
    const size_t size = type_table[column->store].size;
    unsigned char out[(BLOCK_ROWS + 1) * MARGIN];
    memset(out, 0xa5, sizeof out);
    const unsigned char *got = progression_rows(column, &progression, row, count, out);
    for (int i = 0; i < count; i++) {
        const int64_t at = progression.first + (row + i) * progression.by;
        assert_memory_equal(got + (size_t)i * size, (const unsigned char *)column->data + (size_t)at * size, size);
    }
    for (size_t i = 0; i < MARGIN; i++)
        assert_int_equal(out[(size_t)count * size + i], 0xa5);
}

static void all_counts(void **state)
{
    (void)state;
    static const enum type types[] = {TYPE_U8, TYPE_I16, TYPE_I32, TYPE_F64};
    static const int counts[] = {1,         2, 15, 16, 17, STRIP_ROWS - 1, STRIP_ROWS, STRIP_ROWS + 1, BLOCK_ROWS - 1,
                                 BLOCK_ROWS};
    static const int64_t steps[] = {-5, -2, -1, 1, 2, 4};
    static uint64_t words[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        words[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct column column = {.store = types[t], .type = types[t], .rows = ROWS, .data = words};
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
                const int64_t by = steps[s], span = (counts[c] - 1) * by;
                if (span >= ROWS || -span >= ROWS)
                    continue;
                check(&column, (struct progression){by > 0 ? 0 : -span, by}, 0, counts[c]); /* to the first row */
                check(&column, (struct progression){by > 0 ? ROWS - 1 - span : ROWS - 1, by}, 0, counts[c]);
                check(&column, (struct progression){(by > 0 ? 0 : -span) - 7 * by, by}, 7, counts[c]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
