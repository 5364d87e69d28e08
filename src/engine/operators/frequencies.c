#include "engine/operators/describe.h"

#include "engine/values/dictionary.h"
#include "engine/vector/elements.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>

enum {
    PART_ROWS = 1 << 16,
    OWN_CODES = 1 << 14 /* with up to this many codes each thread has counts of its own, which fit its cache */
};

struct counting {
    const struct column *column;
    _Atomic int64_t *shared; /* by code, or: */
    int64_t *own;            /* by thread and code */
    int64_t codes;
    int64_t *present; /* rows by thread */
};

static void count_part(void *context, struct part part)
{
    struct counting *counting = context;
    int64_t *own = counting->own ? counting->own + part.member * counting->codes : NULL;
    int64_t values[OPERATOR_BLOCK], end = part.end;
    for (int64_t row = part.begin; row < end; row += OPERATOR_BLOCK) {
        const int count =
            operator_present_values(counting->column, row, (int)min_int64(end - row, OPERATOR_BLOCK), values);
        for (int i = 0; i < count && own; i++)
            own[values[i]]++;
        for (int i = 0; i < count && !own; i++)
            atomic_fetch_add_explicit(&counting->shared[values[i]], 1, memory_order_relaxed);
        counting->present[part.member] += count;
    }
}

static void add_up(const struct counting *counting, int threads, struct frequencies *frequencies)
{
    frequencies->missing = counting->column->rows;
    for (int i = 0; i < threads; i++)
        frequencies->missing -= counting->present[i];
    for (int64_t code = 0; code < counting->codes; code++) {
        int64_t *count = &frequencies->counts[code];
        if (!counting->own)
            *count = atomic_load_explicit(&counting->shared[code], memory_order_relaxed);
        for (int i = 0; i < threads && counting->own; i++)
            *count += counting->own[i * counting->codes + code];
        frequencies->distinct += *count > 0;
    }
}

bool frequencies_count(struct frequencies *frequencies, const struct column *column, const struct workers *workers)
{
    size_t codes = (size_t)column->logical.dictionary->count, threads = (size_t)workers->threads;
    struct counting counting = {
        .column = column, .codes = (int64_t)codes, .present = heap_array(threads, sizeof *counting.present)};
    if (codes <= OWN_CODES)
        counting.own = heap_array(threads * codes, sizeof *counting.own);
    else
        counting.shared = heap_array(codes, sizeof *counting.shared);
    const bool done = workers_run_rows(workers, column->rows, PART_ROWS, count_part, &counting);
    *frequencies = (struct frequencies){.codes = (int64_t)codes};
    if (done) {
        frequencies->counts = heap_array(codes, sizeof *frequencies->counts);
        add_up(&counting, workers->threads, frequencies);
    }
    free(counting.own);
    free(counting.shared);
    free(counting.present);
    return done;
}

void frequencies_free(struct frequencies *frequencies)
{
    free(frequencies->counts);
}

static bool is_before(const struct frequencies *frequencies, int64_t a, int64_t b)
{
    const int64_t more = frequencies->counts[a] - frequencies->counts[b];
    return more != 0 ? more > 0 : a < b;
}

/* Moves the code at the root of a heap, whose root comes last, to its place. */
static void sift_down(const struct frequencies *frequencies, int64_t *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(frequencies, heap[child], heap[child + 1]))
            child++;
        if (!is_before(frequencies, heap[at], heap[child]))
            return;
        const int64_t code = heap[at];
        heap[at] = heap[child];
        heap[child] = code;
    }
}

static void sift_up(const struct frequencies *frequencies, int64_t *heap, size_t at)
{
    for (size_t parent; at > 0 && is_before(frequencies, heap[parent = (at - 1) / 2], heap[at]); at = parent) {
        const int64_t code = heap[at];
        heap[at] = heap[parent];
        heap[parent] = code;
    }
}

size_t frequencies_top(const struct frequencies *frequencies, int64_t *codes, size_t most)
{
    size_t count = 0;
    for (int64_t code = 0; code < frequencies->codes && most > 0; code++) {
        if (frequencies->counts[code] == 0)
            continue;
        if (count < most) {
            codes[count] = code;
            sift_up(frequencies, codes, count++);
        } else if (is_before(frequencies, code, codes[0])) {
            codes[0] = code;
            sift_down(frequencies, codes, count);
        }
    }
    for (size_t left = count; left > 1; left--) {
        const int64_t last = codes[0];
        codes[0] = codes[left - 1];
        codes[left - 1] = last;
        sift_down(frequencies, codes, left - 1);
    }
    return count;
}
