/* Blocks compressed and decompressed by every codec of this build: random and repetitive data of many sizes, wrong
 * lengths, truncated and damaged blocks, which a sanitizer watches. */
#include "engine/storage/block_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LENGTH = 300000 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static char *random_bytes(size_t length, uint32_t distinct, uint32_t *state)
{
    char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(next_random(state) % distinct);
    return bytes;
}

static void check_block(enum block_codec codec, const char *data, size_t length, uint32_t *state)
{
    size_t capacity = block_bound(codec, length);
    char *block = malloc(capacity + 1), *back = malloc(length + 1);
    assert_non_null(block);
    assert_non_null(back);
    size_t size = block_compress(codec, data, length, block, capacity);
    assert_true(size > 0 && size <= capacity);
    memset(back, 0x55, length + 1);
    assert_true(block_decompress(codec, block, size, back, length));
    assert_memory_equal(back, data, length);
    assert_int_equal(back[length], 0x55);

    assert_false(block_decompress(codec, block, size, back, length - 1) && length > 1);
    char *longer = malloc(length + 1);
    assert_non_null(longer);
    assert_false(block_decompress(codec, block, size, longer, length + 1));
    free(longer);
    for (int i = 0; i < 20; i++) { /* without a checksum damage may pass, but nothing may be written elsewhere */
        char *cut = malloc(size);
        assert_non_null(cut);
        memcpy(cut, block, size);
        assert_false(block_decompress(codec, cut, next_random(state) % size, back, length));
        cut[next_random(state) % size] ^= (char)(1 << next_random(state) % 8);
        (void)block_decompress(codec, cut, size, back, length);
        free(cut);
    }
    free(block);
    free(back);
}

static void every_codec(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 17, 1000, 65536, 65537, MAX_LENGTH};
    static const uint32_t distinct[] = {1, 3, 256};
    uint32_t random = 1;
    for (int codec = 0; codec < BLOCK_CODEC_COUNT; codec++) {
        assert_non_null(block_codec_name((enum block_codec)codec));
        if (block_codec_lacks((enum block_codec)codec))
            continue;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (size_t k = 0; k < sizeof distinct / sizeof *distinct; k++) {
                char *data = random_bytes(lengths[i], distinct[k], &random);
                check_block((enum block_codec)codec, data, lengths[i], &random);
                free(data);
            }
        }
        assert_true(block_decompress((enum block_codec)codec, "", 0, NULL, 0));
    }
}

/* Two members of the gzip format are one block. */
static void gzip_members(void **state)
{
    (void)state;
    char block[200], text[11] = {0};
    size_t first = block_compress(BLOCK_GZIP, "hello", 5, block, 100);
    size_t second = block_compress(BLOCK_GZIP, "world", 5, block + first, 100);
    assert_true(first > 0 && second > 0);
    assert_true(block_decompress(BLOCK_GZIP, block, first + second, text, 10));
    assert_string_equal(text, "helloworld");
    assert_false(block_decompress(BLOCK_GZIP, block, first, text, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec),
        cmocka_unit_test(gzip_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
