/* Keys that the first records do not have. All records are walked through in parallel; those with something new are
 * learned from in their order, and all that had something unknown are walked through again, until nothing is new. The
 * first walk counts rows, too. */
#include "engine/json/json_keys.h"

#include "base/heap.h"
#include "engine/json/json.h"
#include "engine/json/json_walk.h"
#include "engine/text/records.h"

#include <stdlib.h>

/* What one thread has found. */
struct finder {
    struct json_walker walker;
    const char *record;
    const char **records, **unknown; /* each with something that its earlier ones do not have; all with such things */
    size_t count, capacity, unknown_count, unknown_capacity;
    struct arena *arena;
    struct key_index *known; /* of what was found */
    struct strbuf label;
    bool blank, malformed; /* there are such lines */
};

struct search {
    struct json_keys *keys;
    const struct table *table;
    struct finder *finders;
    const char **again; /* the records to walk through; NULL: all */
    size_t again_count;
};

/* Notes that the record has something new for the node: a key, or a kind of values. */
static void found(void *context, size_t node, struct text what)
{
    struct finder *finder = context;
    if (finder->unknown_count == 0 || finder->unknown[finder->unknown_count - 1] != finder->record) {
        finder->unknown =
            heap_reserve(finder->unknown, finder->unknown_count, &finder->unknown_capacity, sizeof *finder->unknown);
        finder->unknown[finder->unknown_count++] = finder->record;
    }
    if (!finder->known) {
        finder->arena = arena_new();
        finder->known = key_index_new(finder->arena);
    }
    strbuf_clear(&finder->label);
    strbuf_printf(&finder->label, "%zu", node);
    strbuf_add(&finder->label, what.at, what.length);
    const struct text label = {finder->label.text, finder->label.length};
    if (key_index_find(finder->known, label) < key_index_count(finder->known) ||
        key_index_count(finder->known) > MAX_COLUMNS)
        return;
    key_index_add(finder->known, (struct text){arena_text(finder->arena, label.at, label.length), label.length});
    *HEAP_PUSH(finder->records, finder->count, finder->capacity) = finder->record;
}

static struct finder *begin_part(const struct search *search, int member)
{
    struct finder *finder = &search->finders[member];
    if (!finder->walker.keys) {
        finder->walker.found = found;
        finder->walker.context = finder;
        json_walker_init(&finder->walker, search->keys, search->table);
    }
    return finder;
}

/* Walks through a record, and returns the next; NULL: it is malformed, and which is the next cannot be told. */
static const char *walk_record(struct finder *finder, const char *at, const char *end)
{
    const struct table *table = finder->walker.table;
    finder->record = at;
    if (*at == '{') {
        at = json_walk(&finder->walker, at);
        if (at && at < end && *at == '\n' && !table->values)
            return at + 1;
    }
    const char *limit = record_limit(table, finder->record, end);
    const char *begin = json_skip_blank(finder->record, limit);
    if (at == finder->record)
        at = begin < limit && *begin == '{' ? json_walk(&finder->walker, begin) : NULL;
    const char *next = at ? record_next(table, at, limit, end) : NULL;
    finder->blank = finder->blank || begin == limit;
    finder->malformed = finder->malformed || !next;
    return next || table->values ? next : limit + (limit < end);
}

static void search_chunk(void *context, int member, int64_t part)
{
    const struct search *search = context;
    struct finder *finder = begin_part(search, member);
    struct chunk *chunk = &search->table->chunks[part];
    int64_t rows = 0;
    for (const char *at = chunk->begin; at && at < chunk->end; rows++)
        at = walk_record(finder, at, chunk->end);
    if (!search->table->values)
        chunk->rows = rows;
}

enum { AGAIN = 256 }; /* records of a part */

static void search_again(void *context, int member, int64_t part)
{
    const struct search *search = context;
    struct finder *finder = begin_part(search, member);
    const size_t first = (size_t)part * AGAIN;
    for (size_t i = first; i < first + AGAIN && i < search->again_count; i++)
        (void)walk_record(finder, search->again[i], search->table->end);
}

static int compare_places(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return x < y ? -1 : x > y;
}

/* Learns from what was found, and sets which records are walked through again. Returns whether something is new. */
static bool learn(struct search *search, int threads)
{
    const char **records = NULL;
    size_t count = 0, capacity = 0, again_capacity = 0;
    const size_t before = search->keys->learned;
    free(search->again);
    search->again = NULL;
    search->again_count = 0;
    for (int i = 0; i < threads; i++) {
        const struct finder *finder = &search->finders[i];
        for (size_t k = 0; k < finder->count; k++) {
            *HEAP_PUSH(records, count, capacity) = finder->records[k];
        }
        for (size_t k = 0; k < finder->unknown_count; k++) {
            *HEAP_PUSH(search->again, search->again_count, again_capacity) = finder->unknown[k];
        }
    }
    if (count > 0)
        qsort(records, count, sizeof *records, compare_places);
    for (size_t i = 0; i < count; i++)
        (void)json_learn(search->keys, search->table, records[i],
                         record_limit(search->table, records[i], search->table->end));
    free(records);
    return search->keys->learned > before;
}

/* Takes down what kinds of records there are. */
static void look_at_records(struct table *table, const struct search *search, int threads)
{
    for (int i = 0; i < threads; i++) {
        const struct finder *finder = &search->finders[i];
        table->blank_lines = table->blank_lines || finder->blank;
        table->sound = table->sound && !finder->malformed && !finder->walker.twice;
    }
}

static void free_finders(struct search *search, int threads)
{
    for (int i = 0; i < threads; i++) {
        struct finder *finder = &search->finders[i];
        json_walker_free(&finder->walker);
        strbuf_free(&finder->label);
        free(finder->records);
        free(finder->unknown);
        if (finder->arena)
            arena_free(finder->arena);
    }
    free(search->finders);
}

bool json_learn_all(struct json_keys *keys, struct table *table, const struct workers *workers)
{
    struct search search = {.keys = keys, .table = table};
    bool done = true, more = true;
    table->sound = true;
    while (more && done) {
        const int64_t parts = (int64_t)(search.again_count + AGAIN - 1) / AGAIN;
        search.finders = heap_array((size_t)workers->threads, sizeof *search.finders);
        done = search.again ? workers_run(workers, parts, search_again, &search)
                            : workers_run(workers, table->chunk_count, search_chunk, &search);
        look_at_records(table, &search, workers->threads);
        more = done && learn(&search, workers->threads);
        free_finders(&search, workers->threads);
    }
    table->sound = table->sound && search.again_count == 0;
    free(search.again);
    if (!table->values)
        table_number_rows(table);
    return done;
}
