/* A block of places is compared with the first and the last byte of the part at once (Mula, "SIMD-friendly algorithms
 * for substring searching", 2016): most blocks have no place at which both are right. */
#include "engine/text_functions/text_call.h"

#include "base/cpu_dispatch.h"
#include "engine/values/text_bytes.h"

#include <limits.h>
#include <string.h>

enum { BLOCK = 32, WORDS = BLOCK / sizeof(uint64_t) };

static const uint64_t LOWEST_BITS = UINT64_C(0x0101010101010101);

typedef char block __attribute__((vector_size(BLOCK)));

/* The first place of a part of at least two bytes in at .. end-1, or NULL. */
CPU_CLONES static const char *search(const char *at, const char *end, struct text part)
{
    const size_t last = part.length - 1;
    const block firsts = part.at[0] - (block){0}, lasts = part.at[last] - (block){0};
    for (; (size_t)(end - at) >= BLOCK + last; at += BLOCK) {
        block begin, end_of_part;
        memcpy(&begin, at, sizeof begin);
        memcpy(&end_of_part, at + last, sizeof end_of_part);
        const block equal = (block)(begin == firsts) & (block)(end_of_part == lasts);
        uint64_t words[WORDS], any = 0;
        memcpy(words, &equal, sizeof words);
        for (int k = 0; k < WORDS; k++)
            any |= words[k];
        for (size_t k = 0; any && k < WORDS; k++) {
            for (uint64_t left = words[k] & LOWEST_BITS; left != 0; left &= left - 1) {
                const char *place = at + k * sizeof *words + (size_t)__builtin_ctzll(left) / CHAR_BIT;
                const struct text here = {place, part.length};
                if (text_equal(here, part))
                    return place;
            }
        }
    }
    return end > at ? memmem(at, (size_t)(end - at), part.at, part.length) : NULL;
}

struct text text_batch_run(const struct text_batch *batch, int64_t count)
{
    enum { MOST_BETWEEN = 8 };
    struct text run = {0};
    for (int64_t i = 0; i < count; i++) {
        const struct text text = batch->texts[i];
        if (!batch->present[i])
            continue;
        const uintptr_t between = (uintptr_t)text.at - (uintptr_t)(run.at + run.length);
        if (run.at && between > MOST_BETWEEN)
            return (struct text){0};
        run.length = run.at ? run.length + between + text.length : text.length;
        run.at = run.at ? run.at : text.at;
    }
    return run;
}

const char *find_in_run(struct text_call *call, struct text text, struct text part)
{
    const struct text run = call->run;
    if (run.length == 0 || part.length < 2)
        return find_text(text, part);
    if (call->ahead < text.at) {
        const char *end = run.at + run.length, *found = search(text.at, end, part);
        call->ahead = found ? found : end;
    }
    return call->ahead + part.length <= text.at + text.length ? call->ahead : NULL; /* not across its end */
}

static struct text longest_literal(struct text pattern)
{
    struct text longest = {pattern.at, 0};
    size_t begin = 0;
    for (size_t k = 0; k <= pattern.length; k++) {
        if (k < pattern.length && !memchr("%_\\", pattern.at[k], 3))
            continue;
        if (k - begin > longest.length)
            longest = (struct text){pattern.at + begin, k - begin};
        k += k < pattern.length && pattern.at[k] == '\\'; /* what is escaped is in no part */
        begin = k + 1;
    }
    return longest;
}

struct text text_needed_part(const struct text_function *function, const struct text_argument *args)
{
    struct text part = {"", 0};
    if (function->number == text_contains)
        part = args[0].text;
    else if (function->number == text_like)
        part = longest_literal(args[0].text);
    part.length = part.length >= 2 ? part.length : 0;
    return part;
}

bool text_search_strings(const struct text_function *function, struct text_call *call,
                         const struct dictionary *dictionary, struct text part, int64_t begin, int64_t end,
                         uint8_t *truths)
{
    const struct text last = dictionary_text(dictionary, end - 1);
    const char *stop = last.at + last.length;
    if (dictionary->unsorted && !dictionary_is_run(dictionary, begin, end))
        return false;
    memset(truths + begin, 0, (size_t)(end - begin));
    /* What stands for missing values is the same empty string, far before the others. */
    int64_t code = begin;
    while (code < end && dictionary_text(dictionary, code).length < part.length)
        code++;
    const char *first = code < end ? dictionary_text(dictionary, code).at : stop;
    for (const char *at = first; (at = search(at, stop, part));) {
        while (code + 1 < end && dictionary_text(dictionary, code + 1).at <= at)
            code++;
        const struct text text = dictionary_text(dictionary, code);
        int64_t truth = 0;
        if (at < text.at || (size_t)(at - text.at) + part.length > text.length) { /* it is across their border */
            at++;
            continue;
        }
        (void)function->number(call, text, &truth);
        truths[code] = (uint8_t)truth;
        at = text.at + text.length;
    }
    return true;
}
