#include "engine/storage/unsorted_column.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 4, WORD_BITS = 64 };

static inline uint32_t load_code(const struct column *column, int64_t row)
{
    uint32_t code = 0;
    const size_t size = type_table[column->store].size;
    memcpy(&code, (const char *)column->data + (size_t)row * size, size); /* little-endian */
    return code;
}

static inline void store_code(struct column *column, int64_t row, uint32_t code)
{
    memcpy(column_at(column, row), &code, type_table[column->store].size);
}

/* The codes that rows have, as bits, and how many are in the words before each. */
struct used_codes {
    uint64_t *bits;
    uint32_t *ranks;
    size_t words, count;
};

static struct used_codes find_used(const struct row_set *set, const struct column *column)
{
    struct used_codes used = {.words = (size_t)column->logical.dictionary->count / WORD_BITS + 1};
    used.bits = heap_array(used.words, sizeof *used.bits);
    used.ranks = heap_array(used.words, sizeof *used.ranks);
    for (size_t i = 0; i < set->count; i++) {
        for (int64_t row = set->begins[i]; row < set->ends[i]; row++) {
            const uint32_t code = load_code(column, row);
            used.bits[code / WORD_BITS] |= (uint64_t)1 << code % WORD_BITS;
        }
    }
    for (size_t i = 0; i < used.words; i++) {
        used.ranks[i] = (uint32_t)used.count;
        used.count += (size_t)__builtin_popcountll(used.bits[i]);
    }
    return used;
}

static inline uint32_t rank_of(const struct used_codes *used, uint32_t code)
{
    const uint64_t below = ((uint64_t)1 << code % WORD_BITS) - 1;
    return used->ranks[code / WORD_BITS] + (uint32_t)__builtin_popcountll(used->bits[code / WORD_BITS] & below);
}

/* Copies a string to `at`, behind its length, and returns the end; *place: where it is. */
static char *copy_string(struct text text, char *at, const char **place)
{
    const uint32_t length = (uint32_t)text.length;
    memcpy(at, &length, sizeof length);
    *place = at + LENGTH_BYTES;
    if (length > 0)
        memcpy(at + LENGTH_BYTES, text.at, length);
    return at + LENGTH_BYTES + length;
}

/* Copies the strings of the used codes, or (`bytes` NULL) only measures them; returns the bytes that they take. */
static uint64_t copy_strings(const struct used_codes *used, const struct dictionary *dictionary, const char **places,
                             char *bytes)
{
    uint64_t at = 0;
    size_t number = 0;
    for (size_t i = 0; i < used->words; i++) {
        for (uint64_t left = used->bits[i]; left != 0; left &= left - 1) {
            const struct text text = dictionary_text(dictionary, (int64_t)(i * WORD_BITS) + __builtin_ctzll(left));
            if (bytes)
                (void)copy_string(text, bytes + at, &places[number++]);
            at += LENGTH_BYTES + text.length;
        }
    }
    return at;
}

static struct dictionary *dictionary_of_used(const struct used_codes *used, const struct dictionary *all)
{
    const char **places;
    char *bytes;
    struct dictionary *dictionary =
        dictionary_unsorted(NULL, used->count, copy_strings(used, all, NULL, NULL), &places, &bytes);
    if (dictionary)
        copy_strings(used, all, places, bytes);
    return dictionary;
}

static struct column *take_validity(const struct row_set *set, const struct column *column, struct column *taken)
{
    if (!taken || !column->validity)
        return taken;
    struct column *validity = row_set_take(set, column->validity, NULL);
    if (validity) {
        column_set_validity(taken, validity);
        return taken;
    }
    column_unref(taken);
    return NULL;
}

struct column *unsorted_take(const struct row_set *set, const struct column *column)
{
    const struct used_codes used = find_used(set, column);
    struct dictionary *dictionary = dictionary_of_used(&used, column->logical.dictionary);
    struct column *taken = dictionary ? column_reserve_codes(NULL, dictionary, set->rows) : NULL;
    dictionary_unref(dictionary);
    int64_t place = 0;
    for (size_t i = 0; i < set->count && taken; i++) {
        for (int64_t row = set->begins[i]; row < set->ends[i]; row++)
            store_code(taken, place++, rank_of(&used, load_code(column, row)));
    }
    free(used.bits);
    free(used.ranks);
    if (taken)
        column_finish(taken, set->rows);
    return take_validity(set, column, taken);
}

/* The bytes of the strings of a dictionary, with their lengths. */
static uint64_t string_bytes(const struct dictionary *dictionary)
{
    uint64_t bytes = 0;
    for (int64_t code = 0; code < dictionary->count; code++)
        bytes += LENGTH_BYTES + dictionary_text(dictionary, code).length;
    return bytes;
}

/* Appends the rows of a column, whose codes begin at `code` now. */
static void append_rows(struct column *to, int64_t row, const struct column *from, uint32_t code)
{
    for (int64_t i = 0; i < from->rows; i++)
        store_code(to, row + i, code + load_code(from, i));
    uint8_t *present = to->validity ? column_at(to->validity, row) : NULL;
    for (int64_t i = 0; i < from->rows && present; i++)
        present[i] = from->validity ? ((const uint8_t *)from->validity->data)[i] : 1;
}

struct column *unsorted_concatenate(struct column *const *columns, size_t count)
{
    const char **places;
    uint64_t size = 0, strings = 0;
    int64_t rows = 0;
    bool missing = false;
    char *bytes;
    for (size_t i = 0; i < count; i++) {
        const struct dictionary *dictionary = columns[i]->logical.dictionary;
        size += string_bytes(dictionary);
        strings += (uint64_t)dictionary->count;
        rows += columns[i]->rows;
        missing = missing || columns[i]->validity;
    }
    struct dictionary *dictionary =
        strings <= DICTIONARY_MAX ? dictionary_unsorted(NULL, strings, size, &places, &bytes) : NULL;
    struct column *column = dictionary ? column_reserve_codes(NULL, dictionary, rows) : NULL;
    struct column *validity = column && missing ? column_reserve(TYPE_BOOL, TYPE_BOOL, rows) : NULL;
    dictionary_unref(dictionary);
    if (!column || (missing && !validity)) {
        column_unref(column);
        return NULL;
    }
    if (validity) {
        column_finish(validity, rows);
        column_set_validity(column, validity);
    }
    strings = 0;
    rows = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dictionary *from = columns[i]->logical.dictionary;
        for (int64_t code = 0; code < from->count; code++)
            bytes = copy_string(dictionary_text(from, code), bytes, &places[strings + (uint64_t)code]);
        append_rows(column, rows, columns[i], (uint32_t)strings);
        strings += (uint64_t)from->count;
        rows += columns[i]->rows;
    }
    column_finish(column, rows);
    return column;
}

struct column *column_of_places(struct buffer_pool *pool, struct dictionary *dictionary, const uint8_t *present)
{
    const int64_t rows = dictionary->count;
    struct column *column = column_reserve_codes(pool, dictionary, rows);
    if (!column)
        return NULL;
    switch (column->store) {
#define NUMBER_ROWS(type, element)                                                                                     \
    case type:                                                                                                         \
        for (int64_t row = 0; row < rows; row++)                                                                       \
            ((element *)column_at(column, 0))[row] = (element)(!present || present[row] ? row : 0);                    \
        break;
        NUMBER_ROWS(TYPE_U8, uint8_t)
        NUMBER_ROWS(TYPE_U16, uint16_t)
    default:
        NUMBER_ROWS(TYPE_U32, uint32_t)
#undef NUMBER_ROWS
    }
    column_finish(column, rows);
    column_set_range(column, true, 0, rows > 0 ? rows - 1 : 0);
    return column;
}

/* Interning of a dictionary's strings by parts. */
struct ordering {
    const struct column *column;
    struct interner **interners; /* one for each thread */
    uint32_t **maps;             /* their numbers to codes */
    uint32_t *numbers;           /* of each string: that in the interner of member_of[part]; then the code */
    int *member_of;
    struct column *ordered;
};

static void intern_part(void *context, struct part part)
{
    struct ordering *ordering = context;
    const struct dictionary *dictionary = ordering->column->logical.dictionary;
    struct interner **interner = &ordering->interners[part.member];
    struct text texts[INTERNER_BATCH];
    ordering->member_of[part.number] = part.member;
    *interner = *interner ? *interner : interner_new();
    for (int64_t code = part.begin; code < part.end; code += INTERNER_BATCH) {
        const size_t count = (size_t)min_int64(INTERNER_BATCH, part.end - code);
        for (size_t i = 0; i < count; i++)
            texts[i] = dictionary_text(dictionary, code + (int64_t)i);
        interner_add_batch(*interner, texts, count, ordering->numbers + code);
    }
}

static void map_part(void *context, struct part part)
{
    struct ordering *ordering = context;
    const uint32_t *map = ordering->maps[ordering->member_of[part.number]];
    for (int64_t code = part.begin; code < part.end; code++)
        ordering->numbers[code] = map[ordering->numbers[code]];
}

static void translate_part(void *context, struct part part)
{
    struct ordering *ordering = context;
    const struct column *column = ordering->column;
    const uint8_t *present = column->validity ? column->validity->data : NULL;
    for (int64_t row = part.begin; row < part.end; row++)
        store_code(ordering->ordered, row, !present || present[row] ? ordering->numbers[load_code(column, row)] : 0);
}

/* False: cancelled, or no memory. */
static bool put_in_order(struct ordering *ordering, const struct workers *workers)
{
    enum { LEAST_PART = 1 << 14 };
    const struct column *column = ordering->column;
    const struct parts parts = partition_rows(workers, column->logical.dictionary->count, LEAST_PART);
    ordering->member_of = heap_array((size_t)parts.count + 1, sizeof *ordering->member_of);
    if (!workers_run_parts(workers, &parts, intern_part, ordering))
        return false;
    struct dictionary *dictionary =
        dictionary_of_interners(ordering->interners, (size_t)workers->threads, ordering->maps, workers);
    ordering->ordered = dictionary ? column_reserve_codes(workers->pool, dictionary, column->rows) : NULL;
    dictionary_unref(dictionary);
    return ordering->ordered && workers_run_parts(workers, &parts, map_part, ordering) &&
           workers_run_rows(workers, column->rows, LEAST_PART, translate_part, ordering);
}

struct column *unsorted_in_order(const struct column *column, const struct workers *workers)
{
    const size_t threads = (size_t)workers->threads;
    struct workers own = *workers;
    own.progress = NULL;
    struct ordering ordering = {.column = column,
                                .interners = heap_array(threads, sizeof(struct interner *)),
                                .maps = heap_array(threads, sizeof(uint32_t *))};
    struct column *numbers =
        column_reserve_from(workers->pool, TYPE_U32, TYPE_U32, column->logical.dictionary->count + 1);
    ordering.numbers = numbers ? column_at(numbers, 0) : NULL;
    const bool done = numbers && put_in_order(&ordering, &own);
    for (size_t i = 0; i < threads; i++) {
        interner_free(ordering.interners[i]);
        free(ordering.maps[i]);
    }
    free((void *)ordering.interners);
    free((void *)ordering.maps);
    free(ordering.member_of);
    column_unref(numbers);
    if (!done) {
        column_unref(ordering.ordered);
        return NULL;
    }
    column_finish(ordering.ordered, column->rows);
    if (column->validity)
        column_set_validity(ordering.ordered, column_ref(column->validity));
    return ordering.ordered;
}
