/* Interning strings and joining interners and dictionaries, against qsort of all strings. */
#include "engine/values/dictionary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { LONGEST = 80 };

/* Strings that differ early, late, in their length, in zeroes only, ... */
enum form { FORM_DIGITS, FORM_FEW_LETTERS, FORM_ZEROES, FORM_COMMON_PREFIX, FORM_TWO_PREFIXES, FORM_ANY, FORM_COUNT };

static size_t random_string(enum form form, char *text, uint64_t *state)
{
    uint64_t random = next_random(state), word = next_random(state);
    size_t length = 0;
    switch (form) {
    case FORM_DIGITS:
        return (size_t)snprintf(text, LONGEST, "%llu", (unsigned long long)(word >> (random % 64)));
    case FORM_FEW_LETTERS:
        for (length = random % 12; word != 0 && length < 12; word >>= 2, length++)
            ;
        length = random % 24;
        for (size_t k = 0; k < length; k++)
            text[k] = (char)('a' + (random >> (2 * k + 5) & 1));
        return length;
    case FORM_ZEROES:
        length = random % 20;
        memset(text, 0, length);
        if (length > 0 && (random >> 20) % 3 == 0)
            text[random % length] = 'x';
        return length;
    case FORM_COMMON_PREFIX:
        return (size_t)snprintf(text, LONGEST, "Customer#with a long name %06u", (unsigned)(word % 100000));
    case FORM_TWO_PREFIXES:
        return (size_t)snprintf(text, LONGEST, "%s/%x/%u", random % 2 ? "https://www.example.org/path" : "http://w",
                                (unsigned)(word % 3), (unsigned)(random >> 40) % 5000);
    case FORM_ANY:
    case FORM_COUNT:
        break;
    }
    length = random % LONGEST;
    for (size_t k = 0; k < length; k++)
        text[k] = (char)next_random(state);
    return length;
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

enum { MOST_PARTS = 5 };

/* `count` random strings, each given to one interner or to several. */
struct sample {
    char *bytes;
    struct text *texts;
    size_t count, part_count;
    struct interner *interners[MOST_PARTS];
    uint32_t *numbers[MOST_PARTS]; /* of each string there */
};

static struct sample sample_new(enum form form, size_t count, size_t part_count, uint64_t seed)
{
    struct sample sample = {.count = count, .part_count = part_count};
    uint64_t state = seed;
    sample.bytes = malloc(count * LONGEST + 1);
    sample.texts = malloc((count + 1) * sizeof *sample.texts);
    for (size_t i = 0; i < count; i++)
        sample.texts[i] =
            (struct text){sample.bytes + i * LONGEST, random_string(form, sample.bytes + i * LONGEST, &state)};
    for (size_t part = 0; part < part_count; part++) {
        sample.interners[part] = interner_new();
        sample.numbers[part] = calloc(count + 1, sizeof *sample.numbers[part]);
        int64_t before = 0;
        for (size_t i = 0; i < count; i++) {
            if (part_count > 1 && i % part_count != part && i % 7 != 0)
                continue;
            sample.numbers[part][i] = interner_add(sample.interners[part], sample.texts[i]);
            int64_t now = interner_count(sample.interners[part]);
            assert_true(now == before ? sample.numbers[part][i] < now
                                      : sample.numbers[part][i] == before && now == before + 1);
            before = now;
        }
        assert_false(interner_full(sample.interners[part]));
    }
    return sample;
}

static void sample_free(struct sample *sample)
{
    for (size_t part = 0; part < sample->part_count; part++) {
        interner_free(sample->interners[part]);
        free(sample->numbers[part]);
    }
    free(sample->bytes);
    free(sample->texts);
}

/* Batches give the strings the numbers that they get one by one, where some follow each other. */
static void test_batches(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct sample sample = sample_new(FORM_ANY, COUNT, 1, 11);
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 3 != 0)
            sample.texts[i] = sample.texts[i - 1];
    }
    struct interner *one = interner_new(), *batched = interner_new();
    uint32_t numbers[INTERNER_BATCH];
    for (size_t begin = 0, count = 1; begin < COUNT; begin += count, count = (begin * 7 + 1) % INTERNER_BATCH + 1) {
        count = begin + count > COUNT ? COUNT - begin : count;
        interner_add_batch(batched, sample.texts + begin, count, numbers);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(numbers[i], interner_add(one, sample.texts[begin + i]));
        assert_int_equal(interner_count(one), interner_count(batched));
    }
    interner_free(one);
    interner_free(batched);
    sample_free(&sample);
}

static void check_dictionary(const struct dictionary *dictionary, const struct sample *sample)
{
    struct text *sorted = malloc((sample->count + 1) * sizeof *sorted);
    memcpy(sorted, sample->texts, sample->count * sizeof *sorted);
    qsort(sorted, sample->count, sizeof *sorted, compare_texts);
    int64_t count = 0;
    assert_int_equal(dictionary->offsets[0], 0);
    for (size_t i = 0; i < sample->count; i++) {
        if (i > 0 && text_compare(sorted[i - 1], sorted[i]) == 0)
            continue;
        assert_true(count < dictionary->count);
        assert_int_equal(text_compare(dictionary_text(dictionary, count), sorted[i]), 0);
        count++;
    }
    assert_int_equal(dictionary->count, count);
    for (size_t i = 0; i < sample->count; i += 1 + sample->count / 50) {
        int64_t code = dictionary_find(dictionary, sample->texts[i]);
        assert_true(code >= 0 && dictionary_lower_bound(dictionary, sample->texts[i]) == code);
    }
    free(sorted);
}

/* The union is `expected`, and maps into and out of it agree with dictionary_find. */
static void check_union(struct dictionary *a, struct dictionary *b, const struct dictionary *expected,
                        const struct workers *workers)
{
    uint32_t *maps[2];
    struct dictionary *both[2] = {a, b}, *joined = dictionary_union(a, b, maps, workers);
    assert_int_equal(joined->count, expected->count);
    for (int64_t code = 0; code < joined->count; code++)
        assert_int_equal(text_compare(dictionary_text(joined, code), dictionary_text(expected, code)), 0);
    for (int k = 0; k < 2; k++) {
        int32_t *into = malloc((size_t)both[k]->count * sizeof *into + 1),
                *out = malloc((size_t)joined->count * sizeof *out + 1);
        assert_true(dictionary_map(both[k], joined, workers, into));
        assert_true(dictionary_map(joined, both[k], workers, out));
        for (int64_t code = 0; code < both[k]->count; code++)
            assert_true(into[code] == (int32_t)maps[k][code] &&
                        into[code] == dictionary_find(joined, dictionary_text(both[k], code)));
        for (int64_t code = 0; code < joined->count; code++)
            assert_int_equal(out[code], dictionary_find(both[k], dictionary_text(joined, code)));
        free(into);
        free(out);
        free(maps[k]);
    }
    dictionary_unref(joined);
}

static void check_cancelled(struct dictionary *a, struct dictionary *b, const struct workers *workers)
{
    const atomic_int cancel = 1;
    struct workers stopped = workers ? *workers : (struct workers){.threads = 1};
    uint32_t *maps[2];
    int32_t *into = malloc((size_t)a->count * sizeof *into + 1);
    stopped.cancel = &cancel;
    assert_false(dictionary_map(a, b, &stopped, into));
    assert_null(dictionary_union(a, b, maps, &stopped));
    assert_null(maps[0]);
    free(into);
}

static void check_form(enum form form, size_t count, size_t part_count, const struct workers *workers)
{
    struct sample sample = sample_new(form, count, part_count, 88172645463325252u + form + 16 * count);
    uint32_t *maps[MOST_PARTS], *joined_maps[2];
    struct dictionary *dictionary = dictionary_of_interners(sample.interners, part_count, maps, workers);
    assert_non_null(dictionary);
    check_dictionary(dictionary, &sample);
    for (size_t part = 0; part < part_count; part++) {
        for (size_t i = 0; i < count; i++) {
            if (part_count > 1 && i % part_count != part && i % 7 != 0)
                continue;
            uint32_t code = maps[part][sample.numbers[part][i]];
            assert_true(code < dictionary->count);
            assert_int_equal(text_compare(dictionary_text(dictionary, code), sample.texts[i]), 0);
        }
    }
    /* Halves joined again. */
    struct dictionary *halves[2], *joined;
    for (int half = 0; half < 2; half++) {
        struct interner *interner = interner_new();
        uint32_t *map;
        for (int64_t code = 0; code < dictionary->count; code++) {
            if (code % 2 == half || code % 3 == 0)
                (void)interner_add(interner, dictionary_text(dictionary, code));
        }
        halves[half] = dictionary_of_interners(&interner, 1, &map, workers);
        free(map);
        interner_free(interner);
    }
    joined = dictionary_join(halves, 2, joined_maps, workers);
    check_dictionary(joined, &sample);
    check_union(halves[0], halves[1], joined, workers);
    check_union(joined, halves[1], joined, workers);
    check_union(halves[0], joined, joined, workers);
    check_cancelled(halves[0], halves[1], workers);
    for (int half = 0; half < 2; half++) {
        for (int64_t code = 0; code < halves[half]->count; code++)
            assert_int_equal(dictionary_find(joined, dictionary_text(halves[half], code)), joined_maps[half][code]);
        dictionary_unref(halves[half]);
        free(joined_maps[half]);
    }
    dictionary_unref(joined);
    if (dictionary->count > 64) { /* few strings in many */
        struct interner *interner = interner_new();
        uint32_t *map;
        (void)interner_add(interner, dictionary_text(dictionary, 5));
        struct dictionary *one = dictionary_of_interners(&interner, 1, &map, NULL);
        check_union(dictionary, one, dictionary, workers);
        check_union(one, dictionary, dictionary, workers);
        check_cancelled(dictionary, one, workers);
        dictionary_unref(one);
        free(map);
        (void)interner_add(interner, (struct text){"not among them", 14});
        struct dictionary *few = dictionary_of_interners(&interner, 1, &map, NULL);
        int32_t codes[2];
        assert_true(dictionary_map(few, dictionary, NULL, codes));
        for (int64_t code = 0; code < few->count; code++)
            assert_int_equal(codes[code], dictionary_find(dictionary, dictionary_text(few, code)));
        dictionary_unref(few);
        interner_free(interner);
        free(map);
    }
    dictionary_unref(dictionary);
    for (size_t part = 0; part < part_count; part++)
        free(maps[part]);
    sample_free(&sample);
}

static void test_random_strings(void **context)
{
    (void)context;
    static const size_t counts[] = {0, 1, 2, 23, 25, 200, 5000, 40000};
    struct thread_pool *pool = thread_pool_new(4);
    const struct workers workers = {.threads = 4, .thread_pool = pool};
    for (enum form form = 0; form < FORM_COUNT; form++) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            check_form(form, counts[k], 1, NULL);
            check_form(form, counts[k], 1, &workers);
            check_form(form, counts[k], MOST_PARTS, &workers);
        }
    }
    check_form(FORM_ANY, 300000, 3, &workers);
    check_form(FORM_DIGITS, 300000, 2, &workers);
    check_form(FORM_TWO_PREFIXES, 300000, 1, &workers);
    thread_pool_free(pool);
}

static void test_nothing(void **context)
{
    (void)context;
    struct dictionary *dictionary = dictionary_of_interners(NULL, 0, NULL, NULL);
    assert_int_equal(dictionary->count, 0);
    assert_int_equal(dictionary_find(dictionary, (struct text){"", 0}), -1);
    assert_int_equal(dictionary_lower_bound(dictionary, (struct text){"a", 1}), 0);
    dictionary_unref(dictionary);
}

static void test_code_types(void **context)
{
    (void)context;
    assert_int_equal(dictionary_code_type(0), TYPE_U8);
    assert_int_equal(dictionary_code_type(256), TYPE_U8);
    assert_int_equal(dictionary_code_type(257), TYPE_U16);
    assert_int_equal(dictionary_code_type(65536), TYPE_U16);
    assert_int_equal(dictionary_code_type(65537), TYPE_U32);
}

static void test_too_long(void **context)
{
    (void)context;
    size_t size = TEXT_MAX + 1;
    char *zeroes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(zeroes != MAP_FAILED);
    struct interner *interners[2] = {interner_new(), interner_new()};
    uint32_t *maps[2];
    assert_int_equal(interner_add(interners[0], (struct text){"a", 1}), 0);
    assert_int_equal(interner_add(interners[1], (struct text){"b", 1}), 0);
    assert_int_equal(interner_add(interners[1], (struct text){zeroes, size}), 0);
    assert_true(!interner_full(interners[0]) && interner_full(interners[1]));
    assert_null(dictionary_of_interners(interners, 2, maps, NULL));
    assert_true(maps[0] == NULL && maps[1] == NULL);
    interner_free(interners[0]);
    interner_free(interners[1]);
    munmap(zeroes, size);
}

static void test_cancelled(void **context)
{
    (void)context;
    atomic_int cancel = 1;
    const struct workers workers = {.threads = 2, .cancel = &cancel};
    struct interner *interners[2] = {interner_new(), interner_new()};
    uint32_t *maps[2];
    for (int part = 0; part < 2; part++)
        (void)interner_add(interners[part], (struct text){"a", 1});
    assert_null(dictionary_of_interners(interners, 2, maps, &workers));
    assert_true(maps[0] == NULL && maps[1] == NULL);
    assert_null(dictionary_of_interners(interners, 1, maps, &workers));
    assert_null(maps[0]);
    interner_free(interners[0]);
    interner_free(interners[1]);
}

/* A chain of strings, each the one before and a letter: sorting must not recurse for each. */
static void test_chain(void **context)
{
    (void)context;
    enum { LINKS = 6000 };
    char *text = malloc(LINKS);
    memset(text, 'a', LINKS);
    struct interner *interner = interner_new();
    for (size_t k = 0; k < LINKS; k++)
        (void)interner_add(interner, (struct text){text, LINKS - k});
    uint32_t *map;
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    for (int64_t code = 0; code < LINKS; code++)
        assert_true(dictionary_text(dictionary, code).length == (size_t)code + 1 && map[LINKS - 1 - code] == code);
    dictionary_unref(dictionary);
    interner_free(interner);
    free(map);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_strings), cmocka_unit_test(test_nothing),   cmocka_unit_test(test_code_types),
        cmocka_unit_test(test_too_long),       cmocka_unit_test(test_cancelled), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
