/* A ranked join index: a bit for each combination of the keys, and how many there are up to each word. */
#include "base/heap.h"
#include "base/integer.h"
#include "engine/join_index/join_keys.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { WORD_BITS = JOIN_WORD_BITS, WORD_PART = 1 << 14 };
static const uint64_t LOW_32 = UINT32_MAX;

struct ranking {
    struct index_build *build;
    _Atomic uint64_t *words; /* in the lower half the bits, in the upper half their number up to the end of the word */
    int64_t *counts;         /* of each part of words: bits, then those before it */
};

/* Sets the bits of a part of the rows: those of one word together, for keys are often in order. */
static void mark_part(void *context, struct part part)
{
    const struct ranking *ranking = context;
    const int64_t end = part.end;
    int64_t places[JOIN_BLOCK], word = -1;
    uint64_t bits = 0;
    for (int64_t row = part.begin; row < end && !workers_cancelled(ranking->build->workers); row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        join_row_places(ranking->build, SIZE_MAX, row, count, places);
        for (int i = 0; i < count; i++) {
            if (places[i] < 0)
                continue;
            if (places[i] / WORD_BITS != word) {
                if (bits)
                    atomic_fetch_or_explicit(&ranking->words[word], bits, memory_order_relaxed);
                word = places[i] / WORD_BITS;
                bits = 0;
            }
            bits |= UINT64_C(1) << (places[i] % WORD_BITS);
        }
    }
    if (bits)
        atomic_fetch_or_explicit(&ranking->words[word], bits, memory_order_relaxed);
}

static uint64_t word_at(const struct ranking *ranking, int64_t word)
{
    return atomic_load_explicit(&ranking->words[word], memory_order_relaxed);
}

static void count_part(void *context, struct part part)
{
    const struct ranking *ranking = context;
    for (int64_t word = part.begin; word < part.end; word++)
        ranking->counts[part.number] += __builtin_popcountll(word_at(ranking, word));
}

static void rank_part(void *context, struct part part)
{
    const struct ranking *ranking = context;
    uint64_t rank = (uint64_t)ranking->counts[part.number];
    for (int64_t word = part.begin; word < part.end; word++) {
        const uint64_t bits = word_at(ranking, word);
        rank += (uint64_t)__builtin_popcountll(bits);
        atomic_store_explicit(&ranking->words[word], rank << WORD_BITS | bits, memory_order_relaxed);
    }
}

static void id_part(void *context, struct part part)
{
    const struct ranking *ranking = context;
    const struct index_build *build = ranking->build;
    const int64_t end = part.end;
    int64_t places[JOIN_BLOCK];
    for (int64_t row = part.begin; row < end && !workers_cancelled(build->workers); row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        join_row_places(build, SIZE_MAX, row, count, places);
        for (int i = 0; i < count; i++) {
            const uint64_t word = places[i] < 0 ? 0 : word_at(ranking, places[i] / WORD_BITS);
            const int following = __builtin_popcountll((word & LOW_32) >> (places[i] & (WORD_BITS - 1)));
            build->ids[row + i] = places[i] < 0 ? -1 : (int32_t)(word >> WORD_BITS) - following;
        }
    }
}

static bool rank(struct ranking *ranking, const struct parts *words)
{
    struct index_build *build = ranking->build;
    const struct workers *workers = build->workers;
    if (!workers_run_parts(workers, &build->parts, mark_part, ranking) ||
        !workers_run_parts(workers, words, count_part, ranking))
        return false;
    build->index->ids = begins_of_counts(ranking->counts, words->count);
    return workers_run_parts(workers, words, rank_part, ranking) &&
           (build->asked->members_only || workers_run_parts(workers, &build->parts, id_part, ranking));
}

void join_finish_words(struct join_index *index, int64_t count)
{
    column_finish(index->words, count);
    column_set_range(index->words, true, 0, (index->ids << WORD_BITS) | (int64_t)LOW_32);
}

enum status join_rank_build(struct index_build *build, int64_t combinations)
{
    struct join_index *index = build->index;
    const int64_t count = divide_up(combinations, WORD_BITS);
    if (!join_has_memory(index, count * (int64_t)sizeof(uint64_t)))
        return STATUS_FAILED;
    index->words = column_reserve(TYPE_I64, TYPE_I64, count);
    if (!index->words)
        return STATUS_FAILED;
    const struct parts words = partition_rows(build->workers, count, WORD_PART);
    struct ranking ranking = {.build = build, .words = column_at(index->words, 0)};
    ranking.counts = heap_array((size_t)words.count + 1, sizeof *ranking.counts);
    const bool done = rank(&ranking, &words);
    free(ranking.counts);
    join_finish_words(index, count);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
