/* Outputs that are staged by lines. */
#include "scratch.h"

#include "base/nontemporal_copy.h"
#include "engine/evaluator/staged_lines.h"

#include <string.h>

enum { ROOM = 40000, MARGIN = 128, BLOCK_BYTES = 16384, TURNS = 300 };

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Blocks of random lengths, written into the room or copied, at random places: their bytes arrive one after another,
 * and nothing else is written. */
static void blocks_follow_each_other(void **state)
{
    (void)state;
    static unsigned char from[ROOM], to[ROOM], expected[ROOM];
    static _Alignas(STREAM_LINE) unsigned char buffer[BLOCK_BYTES + 2 * STREAM_LINE];
    uint64_t random = 3;
    for (int turn = 0; turn < TURNS; turn++) {
        struct staged_lines staged = {.buffer = buffer};
        const struct ahead ahead = {.at = (const char *)from, .lines = turn % 3};
        const size_t first = MARGIN + next(&random) % STREAM_LINE,
                     longest = 1 + next(&random) % (turn % 2 ? 300 : BLOCK_BYTES);
        size_t done = 0;
        for (size_t i = 0; i < sizeof from; i++)
            from[i] = (unsigned char)next(&random);
        memset(to, 0xee, sizeof to);
        memset(expected, 0xee, sizeof expected);
        staged_lines_begin(&staged, to + first);
        for (int block = 0; block < 12; block++) {
            const size_t size = next(&random) % 4 == 0 ? next(&random) % 9 : next(&random) % longest;
            if (first + done + size + MARGIN > ROOM)
                break;
            if (next(&random) % 2) {
                memcpy(staged_lines_room(&staged), from + done, size);
                staged_lines_add(&staged, size, &ahead);
            } else {
                staged_lines_copy(&staged, from + done, size, &ahead);
            }
            done += size;
        }
        staged_lines_end(&staged);
        stream_fence();
        memcpy(expected + first, from, done);
        assert_memory_equal(to, expected, sizeof to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
