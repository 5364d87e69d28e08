#include "engine/grouping/first_rows.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>

enum {
    FEW_BITS = 12,  /* codes of this many bits are always marked in tables, */
    MOST_BITS = 21, /* and of this many bits if there are as many rows as codes: the bytes fit a core's caches */
    PART_ROWS = 1 << 15,
    MOST_PARTS = 1 << 7,
    SEEN = 1 << 7,
    WORD_BITS = 64
};

struct marking {
    const struct keys *keys;
    const struct workers *workers;
    struct parts parts; /* whole words of the bitmap */
    size_t codes;       /* possible ones */
    uint8_t **seen;     /* of each thread, for each code: SEEN + the first of its parts with that, or 0 */
    int *members;       /* the threads that took each part */
    _Atomic uint64_t *kept;
    _Atomic int64_t count;
    _Atomic bool failed;
};

bool first_rows_pays(const struct keys *keys, int64_t rows)
{
    const int bits = keys->word_bits[0];
    return bits <= FEW_BITS || (bits <= MOST_BITS && (INT64_C(1) << bits) <= rows);
}

/* A part's words are its own. */
static void set_kept(const struct marking *marking, int64_t row, uint64_t rows)
{
    atomic_store_explicit(&marking->kept[row / WORD_BITS], rows, memory_order_relaxed);
}

/* Whether none of these rows is the first with its code. Four chains, because one would take a cycle a row. Without
 * this, a distinct of 10^7 rows with few values takes 1.5 times the time on 16 cores of an H100's host, and 1.1 to 1.4
 * times on a 2-core EPYC. */
static bool are_seen(const uint8_t *seen, const uint32_t *codes, int count)
{
    enum { AT_ONCE = 4 };
    uint8_t a = SEEN, b = SEEN, c = SEEN, d = SEEN;
    int i = 0;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        a &= seen[codes[i]];
        b &= seen[codes[i + 1]];
        c &= seen[codes[i + 2]];
        d &= seen[codes[i + 3]];
    }
    for (; i < count; i++)
        a &= seen[codes[i]];
    return (a & b & c & d) != 0;
}

/* The bits of those of up to 64 rows that are the first with their codes. A thread takes parts in ascending order, so
 * it sees the first of its rows with a code first. Rows with codes not seen before are listed without a branch, which
 * might go either way; of these, most are first, or most repeat the one before. */
static uint64_t see_rows(uint8_t *seen, int64_t part, const uint32_t *codes, int count)
{
    uint8_t fresh[WORD_BITS];
    uint64_t kept = 0;
    int listed = 0;
    for (int i = 0; i < count; i++) {
        fresh[listed] = (uint8_t)i;
        listed += !seen[codes[i]];
    }
    for (int k = 0; k < listed; k++) {
        const int i = fresh[k];
        if (!seen[codes[i]]) {
            seen[codes[i]] = (uint8_t)(SEEN + part);
            kept |= UINT64_C(1) << i;
        }
    }
    return kept;
}

static void see_part(void *context, struct part part)
{
    enum { MANY = WORD_BITS / 16, READ_ROWS = KEY_BLOCK / 2 }; /* few enough lines to prefetch without waiting */
    struct marking *marking = context;
    uint32_t codes[READ_ROWS];
    bool look = false; /* whether all rows are seen, before they are listed: not where many were first just before */
    marking->members[part.number] = part.member;
    if (!marking->seen[part.member])
        marking->seen[part.member] = zeroed_alloc(marking->codes);
    if (!marking->seen[part.member])
        marking->failed = true;
    uint8_t *seen = marking->seen[part.member];
    for (int64_t row = part.begin; row < part.end && !marking->failed && !workers_cancelled(marking->workers);
         row += READ_ROWS) {
        const int count = part.end - row < READ_ROWS ? (int)(part.end - row) : READ_ROWS;
        keys_read_32(marking->keys, row, count, codes);
        for (int i = 0; i < count; i += WORD_BITS) {
            const int some = count - i < WORD_BITS ? count - i : WORD_BITS;
            if (look && are_seen(seen, codes + i, some))
                continue;
            const uint64_t kept = see_rows(seen, part.number, codes + i, some);
            look = __builtin_popcountll(kept) < MANY;
            if (kept != 0)
                set_kept(marking, row + i, kept);
        }
    }
}

static bool is_seen_before(const struct marking *marking, uint64_t code, int64_t part)
{
    bool before = false;
    for (int i = 0; i < marking->workers->threads; i++) {
        if (i != marking->members[part] && marking->seen[i])
            before |= (marking->seen[i][code] ^ SEEN) < part; /* 0 becomes the greatest */
    }
    return before;
}

/* Drops those of 64 rows whose codes another thread has seen in a part before; returns how many are left.
 * `kept` is not 0. */
static int drop_rows(const struct marking *marking, int64_t part, int64_t row, uint64_t kept)
{
    uint64_t rows[WORD_BITS], codes[WORD_BITS];
    uint64_t left = kept;
    int count = 0;
    do {
        rows[count++] = (uint64_t)(row + __builtin_ctzll(left));
        left &= left - 1;
    } while (left != 0);
    keys_read_at(marking->keys, 0, rows, count, codes);
    for (int i = 0; i < count; i++) {
        const uint64_t before = is_seen_before(marking, codes[i], part);
        kept &= ~(before << (rows[i] % WORD_BITS));
    }
    set_kept(marking, row, kept);
    return __builtin_popcountll(kept);
}

static void drop_part(void *context, struct part part)
{
    struct marking *marking = context;
    int64_t kept_rows = 0;
    for (int64_t row = part.begin; row < part.end; row += WORD_BITS) {
        if (row % KEY_BLOCK == 0 && workers_cancelled(marking->workers))
            break;
        const uint64_t kept = atomic_load_explicit(&marking->kept[row / WORD_BITS], memory_order_relaxed);
        if (kept != 0)
            kept_rows += drop_rows(marking, part.number, row, kept);
    }
    atomic_fetch_add_explicit(&marking->count, kept_rows, memory_order_relaxed);
}

static struct parts parts_of(const struct workers *workers, int64_t rows)
{
    const int64_t least = rows / MOST_PARTS + 1;
    struct parts parts = partition_rows(workers, rows, least > PART_ROWS ? least : PART_ROWS);
    parts.size = (parts.size + KEY_BLOCK - 1) / KEY_BLOCK * KEY_BLOCK;
    parts.count = (rows + parts.size - 1) / parts.size;
    return parts;
}

enum status first_rows(const struct keys *keys, int64_t rows, const struct workers *workers, _Atomic uint64_t *kept,
                       int64_t *count)
{
    struct marking marking = {.keys = keys, .workers = workers, .codes = (size_t)1 << keys->word_bits[0], .kept = kept};
    marking.parts = parts_of(workers, rows);
    marking.seen = heap_array((size_t)workers->threads, sizeof *marking.seen);
    marking.members = heap_array((size_t)marking.parts.count, sizeof *marking.members);
    bool done = workers_run_parts(workers, &marking.parts, see_part, &marking);
    if (done && !marking.failed)
        done = workers_run_parts(workers, &marking.parts, drop_part, &marking);
    for (int i = 0; i < workers->threads; i++)
        zeroed_free(marking.seen[i], marking.codes);
    free(marking.seen);
    free(marking.members);
    *count = marking.count;
    return !done ? STATUS_CANCELLED : marking.failed ? STATUS_FAILED : STATUS_OK;
}
