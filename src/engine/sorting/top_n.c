/* The first rows of an order, without sorting all.
 *
 * All threads read the rows once. Each collects candidates and rejects rows behind a cut, mostly by comparing vectors
 * of the first key. A full buffer is sorted and truncated; its last row is the new cut. The first cut comes from a
 * sample, so that rows in the opposite order are not all collected. */
#include "base/cpu_dispatch.h"
#include "base/hash.h"
#include "base/timing.h"
#include "engine/sorting/radix_sort.h"
#include "engine/sorting/sort_rows.h"
#include "engine/vector/elements.h"
#include "engine/vector/selection.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 16,
    STEP = 256,                  /* rows compared and prefetched at once */
    LEAST_ROOM = 16 * KEY_BLOCK, /* least capacity: for few rows, buffers hardly ever fill up */
    PLACES = 1024,               /* of the sample */
    PLACE_ROWS = 8,
    SAMPLE = PLACES * PLACE_ROWS,
    SPARE = 2 * PLACE_ROWS /* the rank of the first cut in the sample is twice the expected one plus this */
};

/* A bound on candidates: rows behind `row` are rejected and, if `strictly`, those with equal keys too. */
struct cut {
    bool any, strictly;
    uint64_t row;
    uint64_t *words; /* the row's codes */
};

struct member {
    uint64_t *rows; /* candidates */
    int64_t count;
    struct cut cut;
    uint64_t *codes; /* of a block, word by word */
    enum status status;
};

struct selection {
    const struct keys *keys;
    const struct workers *workers;
    int64_t rows, first;
    int64_t room; /* of a thread's buffer, in rows */
    struct member *members;
};

/* ---- cuts ---- */

static void set_cut(const struct keys *keys, struct cut *cut, uint64_t row, bool strictly)
{
    cut->any = true;
    cut->strictly = strictly;
    cut->row = row;
    for (int word = 0; word < keys->words; word++)
        keys_read_at(keys, word, &row, 1, &cut->words[word]);
}

/* Marks the elements before the cut or, with `ties`, equal to it; never a NaN. */
#define AHEAD(name, type)                                                                                              \
    CPU_CLONES static void ahead_##name(const void *values, int count, const void *cut, bool descending, bool ties,    \
                                        uint8_t *mask)                                                                 \
    {                                                                                                                  \
        const type *restrict in = values;                                                                              \
        uint8_t *restrict out = mask;                                                                                  \
        const type at = *(const type *)cut;                                                                            \
        if (descending && ties) {                                                                                      \
            for (int i = 0; i < count; i++)                                                                            \
                out[i] = in[i] >= at;                                                                                  \
        } else if (descending) {                                                                                       \
            for (int i = 0; i < count; i++)                                                                            \
                out[i] = in[i] > at;                                                                                   \
        } else if (ties) {                                                                                             \
            for (int i = 0; i < count; i++)                                                                            \
                out[i] = in[i] <= at;                                                                                  \
        } else {                                                                                                       \
            for (int i = 0; i < count; i++)                                                                            \
                out[i] = in[i] < at;                                                                                   \
        }                                                                                                              \
    }
#define INTEGER_TYPE(type, element, ...) AHEAD(type, element)
#define FLOAT_TYPE(type, element, ...)   AHEAD(type, element)
#include "engine/values/types.def"
#undef AHEAD

static const char *element(const struct column *column, uint64_t row)
{
    return (const char *)column->data + row * type_table[column->store].size;
}

/* Lists the rows of a block, relative to its first, that are before the cut by the first key; ties where other keys may
 * decide. Returns how many. */
static int list_before(const struct keys *keys, const struct cut *cut, int64_t row, int count, uint16_t *listed)
{
    static void (*const loops[TYPE_COUNT])(const void *, int, const void *, bool, bool, uint8_t *) = {
#define INTEGER_TYPE(type, ...) [TYPE_##type] = ahead_##type,
#define FLOAT_TYPE(type, ...)   [TYPE_##type] = ahead_##type,
#include "engine/values/types.def"
    };
    const struct key *key = &keys->at[0];
    const struct column *column = key->column;
    const bool ties = !cut->strictly || keys->count > 1;
    uint8_t mask[KEY_BLOCK];
    for (int i = 0; i < count; i += STEP) {
        operator_prefetch(column, row + i + KEY_BLOCK, STEP); /* a few lines at a time: issuing all at once stalls */
        loops[column->store](element(column, (uint64_t)(row + i)), count - i < STEP ? count - i : STEP,
                             element(column, cut->row), key->descending, ties, mask + i);
    }
    return selection_list_few(mask, count, count, listed);
}

static bool is_nan(const struct column *column, uint64_t row)
{
    return type_table[column->store].kind == KIND_FLOAT && isnan(column_get_float(column, (int64_t)row));
}

/* Removes the rows at or behind the cut from a list; returns how many remain. */
static int retain_before(const struct keys *keys, const struct cut *cut, uint64_t *codes, uint64_t *rows, int count)
{
    for (int word = 0; word < keys->words; word++)
        keys_read_at(keys, word, rows, count, codes + (size_t)word * KEY_BLOCK);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int word = 0;
        while (word + 1 < keys->words && codes[word * KEY_BLOCK + i] == cut->words[word])
            word++;
        const uint64_t code = codes[word * KEY_BLOCK + i];
        rows[kept] = rows[i];
        kept += code < cut->words[word] || (code == cut->words[word] && !cut->strictly);
    }
    return kept;
}

/* Lists the rows of a block that are before the cut; returns how many. */
static int filter_block(const struct selection *selection, struct member *member, int64_t row, int count,
                        uint64_t *rows)
{
    const struct keys *keys = selection->keys;
    const struct cut *cut = &member->cut;
    uint16_t listed[KEY_BLOCK + 2];
    /* Every number is before a NaN, but no comparison is true. */
    const bool by_first_key = cut->any && !is_nan(keys->at[0].column, cut->row);
    const int found = by_first_key ? list_before(keys, cut, row, count, listed) : count;
    for (int i = 0; i < found; i++)
        rows[i] = (uint64_t)row + (by_first_key ? listed[i] : (uint64_t)i);
    const bool enough = !cut->any || (by_first_key && keys->count == 1);
    return enough || found == 0 ? found : retain_before(keys, cut, member->codes, rows, found);
}

/* ---- threads ---- */

/* Sorts a thread's candidates and keeps the first. A thread reads rows in order, so equal keys stay in the order of
 * rows. */
static void compact(const struct selection *selection, struct member *member)
{
    struct workers alone = {.threads = 1, .cancel = selection->workers->cancel, .pool = selection->workers->pool};
    member->status = order_listed(selection->keys, selection->rows, &alone, member->rows, member->count);
    if (member->status != STATUS_OK)
        return;
    member->count = selection->first;
    set_cut(selection->keys, &member->cut, member->rows[member->count - 1], true);
}

static void select_part(void *context, struct part part)
{
    const struct selection *selection = context;
    struct member *member = &selection->members[part.member];
    int64_t begin = part.begin, end = part.end;
    for (int64_t row = begin; row < end && member->status == STATUS_OK; row += KEY_BLOCK) {
        uint64_t rows[KEY_BLOCK];
        const int found =
            filter_block(selection, member, row, end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK, rows);
        if (member->count + found > selection->room)
            compact(selection, member);
        if (member->status != STATUS_OK)
            return;
        memcpy(member->rows + member->count, rows, (size_t)found * sizeof *rows);
        member->count += found;
    }
}

static void member_init(const struct selection *selection, struct member *member)
{
    const size_t words = (size_t)selection->keys->words;
    member->rows = heap_array((size_t)selection->room, sizeof *member->rows);
    member->codes = heap_array(words * KEY_BLOCK, sizeof *member->codes);
    member->cut.words = heap_array(words, sizeof *member->cut.words);
}

static void free_members(const struct selection *selection)
{
    for (int i = 0; i < selection->workers->threads; i++) {
        free(selection->members[i].rows);
        free(selection->members[i].codes);
        free(selection->members[i].cut.words);
    }
    free(selection->members);
}

/* ---- the sample ---- */

/* Lists runs of rows at places spread over all rows, in an order in which the first few are spread too. Their keys are
 * read to measure the time: a cold file takes longer for each place than the pass does for many rows, so that sampling
 * stops after 5 ms. Returns how many rows are listed. */
static int list_sample(const struct selection *selection, uint64_t *sample)
{
    enum { STRIDE = 389, AT_ONCE = 16 }; /* STRIDE is odd, so that every place is visited */
    static const int64_t most_ns = 5000000;
    const uint64_t apart = (uint64_t)selection->rows / PLACES;
    const int64_t began = now_ns();
    int count = 0;
    for (uint64_t i = 0; i < PLACES; i++) {
        const uint64_t place = i * STRIDE % PLACES;
        const uint64_t row = place * apart + scattered(place) % (apart - PLACE_ROWS + 1);
        uint64_t codes[PLACE_ROWS];
        for (uint64_t k = 0; k < PLACE_ROWS; k++)
            sample[count + (int)k] = row + k;
        for (int word = 0; word < selection->keys->words; word++)
            keys_read_at(selection->keys, word, sample + count, PLACE_ROWS, codes);
        count += PLACE_ROWS;
        if (i % AT_ONCE == 0 && (now_ns() - began > most_ns || workers_cancelled(selection->workers)))
            break;
    }
    return count;
}

/* Sets the first cut: a row of the sample that most likely has enough rows before it. None if there are too few rows to
 * sample. */
static enum status set_cuts(const struct selection *selection)
{
    enum { TIMES = 8 };
    if (selection->rows < TIMES * SAMPLE)
        return STATUS_OK;
    uint64_t *sample = heap_array(SAMPLE, sizeof *sample);
    const int count = list_sample(selection, sample);
    const enum status status = order_listed(selection->keys, selection->rows, selection->workers, sample, count);
    const double share = (double)selection->first / (double)selection->rows;
    const int rank = SPARE + (int)(2 * count * share);
    for (int i = 0; i < selection->workers->threads && status == STATUS_OK && rank < count; i++)
        set_cut(selection->keys, &selection->members[i].cut, sample[rank], false);
    free(sample);
    return status;
}

/* ---- all threads ---- */

static enum status read_rows(struct selection *selection, int64_t *found)
{
    if (!workers_run_rows(selection->workers, selection->rows, PART_ROWS, select_part, selection))
        return STATUS_CANCELLED;
    *found = 0;
    for (int i = 0; i < selection->workers->threads; i++) {
        if (selection->members[i].status != STATUS_OK)
            return selection->members[i].status;
        *found += selection->members[i].count;
    }
    return STATUS_OK;
}

/* Too few rows are before the sample's cut: starts again without one. */
static enum status read_without_sample(struct selection *selection, int64_t *found)
{
    for (int i = 0; i < selection->workers->threads; i++) {
        selection->members[i].count = 0;
        selection->members[i].cut.any = false;
    }
    return read_rows(selection, found);
}

static void read_numbers(void *context, int64_t row, int count, void *elements)
{
    memcpy(elements, (const uint64_t *)context + row, (size_t)count * sizeof(uint64_t));
}

static void write_numbers(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    (void)member;
    memcpy((uint64_t *)context + row, elements, (size_t)count * sizeof(uint64_t));
}

/* Merges all threads' candidates: sorts them by row number, then stably by keys. */
static enum status merge_members(const struct selection *selection, uint64_t *list, int64_t count)
{
    struct radix radix = {
        .workers = selection->workers,
        .rows = count,
        .width = sizeof *list,
        .bits = 64 - __builtin_clzll((uint64_t)selection->rows),
        .read = read_numbers,
        .emit = write_numbers,
        .context = list,
    };
    uint64_t *next = list;
    for (int i = 0; i < selection->workers->threads; i++) {
        const struct member *member = &selection->members[i];
        memcpy(next, member->rows, (size_t)member->count * sizeof *list);
        next += member->count;
    }
    const enum status status = radix_sort(&radix);
    return status == STATUS_OK ? order_listed(selection->keys, selection->rows, selection->workers, list, count)
                               : status;
}

enum status top_n(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order, int64_t first)
{
    const int64_t room = 2 * first > LEAST_ROOM ? 2 * first : LEAST_ROOM;
    struct selection selection = {
        .keys = keys,
        .workers = workers,
        .rows = rows,
        .first = first,
        .room = room < rows ? room : rows,
    };
    int64_t found = 0;
    selection.members = heap_array((size_t)workers->threads, sizeof *selection.members);
    for (int i = 0; i < workers->threads; i++)
        member_init(&selection, &selection.members[i]);
    enum status status = set_cuts(&selection);
    if (status == STATUS_OK)
        status = read_rows(&selection, &found);
    if (status == STATUS_OK && found < first)
        status = read_without_sample(&selection, &found);
    if (status == STATUS_OK) {
        uint64_t *list = heap_array((size_t)found, sizeof *list);
        status = merge_members(&selection, list, found);
        memcpy(order, list, (size_t)first * sizeof *order);
        free(list);
    }
    free_members(&selection);
    return status;
}
