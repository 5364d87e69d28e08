/* Non-temporal copies. */
#include "scratch.h"

#include "base/nontemporal_copy.h"

#include <string.h>

enum { ROOM = 1024, MARGIN = 128, MOST = ROOM - 2 * MARGIN };

/* At varying offsets in a cache line and lengths: copies all bytes, and writes nothing else. */
static void bytes_arrive_and_nothing_else(void **state)
{
    (void)state;
    unsigned char from[ROOM], to[ROOM], expected[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 256 + 1);
    for (size_t place = 0; place < 64; place += 3) {
        for (size_t shift = 0; shift < 64; shift += 5) {
            for (size_t size = 0; size + place + shift < MOST; size += size < 200 ? 1 : 61) {
                memset(to, 0xee, sizeof to);
                memset(expected, 0xee, sizeof expected);
                memcpy(expected + MARGIN + place, from + shift, size);
                copy_nontemporal(to + MARGIN + place, from + shift, size);
                assert_memory_equal(to, expected, sizeof to);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
