/* Blocks compressed and decompressed by every codec of this build: random and repetitive data of many sizes, wrong
 * lengths, truncated and damaged blocks, which a sanitizer watches. */
#include "engine/compression/block_codec.h"

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

/* Decompresses the block, and wrong, truncated and damaged ones of it, into memory of exactly the size. */
static void check_decompress(struct block_decoder *decoder, enum block_codec codec, const char *block, size_t size,
                             const char *data, size_t length, uint32_t *state)
{
    char *back = malloc(length + 1);
    assert_non_null(back);
    memset(back, 0x55, length + 1);
    assert_true(block_decompress(decoder, codec, block, size, back, length));
    assert_memory_equal(back, data, length);
    assert_int_equal(back[length], 0x55);

    assert_false(block_decompress(decoder, codec, block, size, back, length - 1) && length > 1);
    assert_false(block_decompress(decoder, codec, block, size, back, length + 1));
    free(back);
    back = malloc(length);
    assert_non_null(back);
    for (int i = 0; i < 20; i++) { /* without a checksum damage may pass, but nothing may be written elsewhere */
        char *cut = malloc(size);
        assert_non_null(cut);
        memcpy(cut, block, size);
        assert_false(block_decompress(decoder, codec, cut, next_random(state) % size, back, length));
        cut[next_random(state) % size] ^= (char)(1 << next_random(state) % 8);
        (void)block_decompress(decoder, codec, cut, size, back, length);
        free(cut);
    }
    free(back);
}

static void check_block(enum block_codec codec, const char *data, size_t length, uint32_t *state)
{
    size_t capacity = block_bound(codec, length);
    char *block = malloc(capacity + 1);
    assert_non_null(block);
    size_t size = block_compress(codec, data, length, block, capacity);
    assert_true(size > 0 && size <= capacity);
    struct block_decoder decoder = {0};
    check_decompress(NULL, codec, block, size, data, length, state);
    check_decompress(&decoder, codec, block, size, data, length, state);
    block_decoder_release(&decoder);
    free(block);
}

static void every_codec(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 17, 1000, 65536, 65537, MAX_LENGTH};
    static const uint32_t distinct[] = {1, 3, 256};
    uint32_t random = 1;
    for (int codec = 0; codec < BLOCK_CODEC_COUNT; codec++) {
        assert_non_null(block_codec_name((enum block_codec)codec));
        if (block_codec_lacks((enum block_codec)codec) || codec == BLOCK_SNAPPY) /* which is only read */
            continue;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (size_t k = 0; k < sizeof distinct / sizeof *distinct; k++) {
                char *data = random_bytes(lengths[i], distinct[k], &random);
                check_block((enum block_codec)codec, data, lengths[i], &random);
                free(data);
            }
        }
        assert_true(block_decompress(NULL, (enum block_codec)codec, "", 0, NULL, 0));
    }
}

static char *put_bytes(char *to, size_t value, size_t bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *to++ = (char)(value & 0xff);
    return to;
}

/* Makes a Snappy block of random literals and copies, and the data that it stands for. Returns the block's size. */
static size_t random_snappy(char *block, char *data, size_t length, uint32_t *state)
{
    char *to = block;
    for (size_t left = length; left > 0 || to == block; left >>= 7)
        *to++ = (char)((left & 0x7f) | (left >> 7 ? 0x80 : 0));
    for (size_t done = 0; done < length;) {
        size_t kind = done == 0 ? 0 : next_random(state) % 4, left = length - done, far = done;
        if (kind == 1 && left < 4)
            kind = 2;
        size_t most = kind == 0 ? (next_random(state) % 4 ? 20 : 70000) : kind == 1 ? 8 : 64;
        size_t least = kind == 1 ? 4 : 1, count = least + next_random(state) % most;
        count = count < left ? count : left;
        if (kind == 0) {
            size_t bytes = count <= 60 ? 0 : count <= 1 << 8 ? 1 : count <= 1 << 16 ? 2 : 3;
            bytes += bytes > 0 && bytes < 4 ? next_random(state) % (5 - bytes) : 0;
            *to++ = (char)((bytes ? 59 + bytes : count - 1) << 2);
            to = put_bytes(to, count - 1, bytes);
            for (size_t i = 0; i < count; i++)
                *to++ = data[done++] = (char)next_random(state);
            continue;
        }
        far = far < 40 || next_random(state) % 2 ? far : 40;
        far = kind == 1 && far > 2047 ? 2047 : kind == 2 && far > 65535 ? 65535 : far;
        size_t offset = 1 + next_random(state) % far;
        *to++ = (char)(kind == 1 ? offset >> 8 << 5 | (count - 4) << 2 | 1 : (count - 1) << 2 | kind);
        to = put_bytes(to, offset, kind == 1 ? 1 : kind == 2 ? 2 : 4);
        for (size_t i = 0; i < count; i++, done++)
            data[done] = data[done - offset];
    }
    return (size_t)(to - block);
}

static void snappy_blocks(void **state)
{
    (void)state;
    uint32_t random = 1;
    char *data = malloc(MAX_LENGTH), *block = malloc(8 * MAX_LENGTH);
    assert_non_null(data);
    assert_non_null(block);
    for (size_t i = 0; i < 600; i++) {
        size_t length = i < 300 ? i + 1 : 1 + next_random(&random) % (i < 590 ? 3000 : MAX_LENGTH);
        size_t size = random_snappy(block, data, length, &random);
        char *exact = malloc(size);
        assert_non_null(exact);
        memcpy(exact, block, size);
        check_decompress(NULL, BLOCK_SNAPPY, exact, size, data, length, &random);
        free(exact);
    }
    /* Copies of nothing and from before the beginning; a literal of 2^32 bytes. */
    static const char *const bad[] = {"\4\0a\12\0\0", "\4\0a\12\2\0", "\4\374\377\377\377\377abcd"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(block_decompress(NULL, BLOCK_SNAPPY, bad[i], i < 2 ? 6 : 10, data, 4));
    free(block);
    free(data);
}

/* Two members of the gzip format are one block. */
static void gzip_members(void **state)
{
    (void)state;
    char block[200], text[11] = {0};
    size_t first = block_compress(BLOCK_GZIP, "hello", 5, block, 100);
    size_t second = block_compress(BLOCK_GZIP, "world", 5, block + first, 100);
    assert_true(first > 0 && second > 0);
    assert_true(block_decompress(NULL, BLOCK_GZIP, block, first + second, text, 10));
    assert_string_equal(text, "helloworld");
    assert_false(block_decompress(NULL, BLOCK_GZIP, block, first, text, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec),
        cmocka_unit_test(snappy_blocks),
        cmocka_unit_test(gzip_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
