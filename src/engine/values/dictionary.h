/* Dictionaries: the distinct strings of text columns, sorted, so that codes compare like strings.
 *
 * A reader interns the strings of its part of a file on each thread, in the order in which they appear, and then joins
 * the interners into one dictionary and translates the numbers to codes. Dictionaries are immutable and reference
 * counted. */
#ifndef RQL_ENGINE_VALUES_DICTIONARY_H
#define RQL_ENGINE_VALUES_DICTIONARY_H

#include "base/parallel.h"
#include "base/text.h"
#include "engine/values/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer_pool; /* buffer_pool.h */

struct dictionary {
    int64_t count;           /* distinct strings, ascending by their bytes (for UTF-8, by code points) */
    const uint64_t *offsets; /* count + 1: string k is bytes offsets[k] .. offsets[k + 1] - 1; NULL: it is unsorted */
    const char *bytes;
    /* Strings in any order, and perhaps several times: codes say nothing but where a string is, and no row need have
     * it. String k is at places[k], and has its length in the four bytes before, little-endian. */
    bool unsorted;
    const char *const *places;
    struct text_block *blocks; /* of an unsorted one: its memory, malloc'd, */
    size_t block_count;
    struct buffer_pool *pool; /* of this pool, one reference */
    _Atomic int refs;
};

struct text_block {
    void *pages;
    size_t size;
};

enum { DICTIONARY_MAX = INT32_MAX };       /* strings of one dictionary */
static const size_t TEXT_MAX = UINT32_MAX; /* bytes of one string */

struct dictionary *dictionary_ref(struct dictionary *dictionary); /* NULL is allowed */
void dictionary_unref(struct dictionary *dictionary);             /* NULL is allowed */

/* The string of a code in 0..count-1. All other functions take sorted dictionaries. */
struct text dictionary_text(const struct dictionary *dictionary, int64_t code);

/* An unsorted dictionary of `count` strings in `bytes` bytes of a pool (or NULL), which the caller fills in. NULL: no
 * memory. */
struct dictionary *dictionary_unsorted(struct buffer_pool *pool, size_t count, size_t bytes, const char ***places_at,
                                       char **bytes_at);

/* Has the dictionary, which is unsorted and not shared yet, release these blocks of its pool, too. */
void dictionary_add_blocks(struct dictionary *dictionary, const struct text_block *blocks, size_t count);

/* The bytes of its strings and of what says where they are. */
int64_t dictionary_size(const struct dictionary *dictionary);

/* Whether the strings begin .. end - 1 of an unsorted one, at least one, are one behind the other in one block. */
bool dictionary_is_run(const struct dictionary *dictionary, int64_t begin, int64_t end);

/* The code of the string, or -1 if it is not in the dictionary. */
int64_t dictionary_find(const struct dictionary *dictionary, struct text text);

/* The number of strings less than `text`: the code that it has, or would have. */
int64_t dictionary_lower_bound(const struct dictionary *dictionary, struct text text);

/* The narrowest of u8, u16 and u32 that holds the codes of this many strings. */
enum type dictionary_code_type(int64_t count);

/* The distinct strings that one thread has seen, numbered from 0 in the order of their first appearance. */
struct interner;
struct interner *interner_new(void);
void interner_free(struct interner *interner); /* NULL is allowed */
int64_t interner_count(const struct interner *interner);

/* The number of the string, which is copied if it is new. If it is longer than TEXT_MAX, the interner has
 * DICTIONARY_MAX strings already, or there is no memory for many more, the number is 0 and the interner is full from
 * then on. */
uint32_t interner_add(struct interner *interner, struct text text);

/* The same for several at once, which costs a fraction where the interner has outgrown the caches or strings repeat. */
enum { INTERNER_BATCH = 64 };
void interner_add_batch(struct interner *interner, const struct text *texts, size_t count, uint32_t *numbers);
bool interner_full(const struct interner *interner);

/* Joins interners into one dictionary, with one reference for the caller, and sets maps[i][n] to the code of string
 * number n of interner i; the caller frees each map. An interner may be NULL, and so is its map then. Runs on all
 * threads; `workers` may be NULL. Returns NULL, and all maps are NULL, if it is cancelled, an interner is full or there
 * are more than DICTIONARY_MAX distinct strings. */
struct dictionary *dictionary_of_interners(struct interner *const *interners, size_t count, uint32_t **maps,
                                           const struct workers *workers);

/* Joins dictionaries into a new one; maps as above. */
struct dictionary *dictionary_join(struct dictionary *const *dictionaries, size_t count, uint32_t **maps,
                                   const struct workers *workers);

/* Joins two, in one thread; if one holds all strings of the other, it is the result, with one more reference. NULL as
 * above. */
struct dictionary *dictionary_union(struct dictionary *a, struct dictionary *b, uint32_t *maps[2],
                                    const struct workers *workers);

/* Sets map[code], for each code of `from`, to the number of strings of `to` that are less than its string; with
 * `equal`, or equal to it. Otherwise as dictionary_map. */
bool dictionary_map_order(const struct dictionary *from, const struct dictionary *to, bool equal,
                          const struct workers *workers, int32_t *map);

/* Sets map[code], for each code of `from`, to that string's code in `to`, or -1. Runs on all threads; `workers` may be
 * NULL. False if cancelled. */
bool dictionary_map(const struct dictionary *from, const struct dictionary *to, const struct workers *workers,
                    int32_t *map);

#endif
