/* Keys that the first records do not have. All records are walked through in parallel; those with something new are
 * learned from in their order, and all are walked through again, until nothing is new. */
#include "engine/text/json_keys.h"

#include "base/heap.h"
#include "engine/text/classify.h"
#include "engine/text/json.h"
#include "engine/text/records.h"

#include <stdlib.h>

/* What one thread has found: records, each with something that its earlier ones do not have. */
struct finder {
    const struct json_keys *keys;
    const struct table *table;
    const char *record;
    const char **records;
    size_t count, capacity;
    struct arena *arena;
    struct key_index *known; /* of what was found */
    struct strbuf scratch, label;
};

struct search {
    const struct json_keys *keys;
    const struct table *table;
    struct finder *finders;
};

/* Notes that the record has something new for the node: a key, or a kind of values. */
static void found(struct finder *finder, size_t node, struct text what)
{
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
    finder->records = heap_reserve(finder->records, finder->count, &finder->capacity, sizeof *finder->records);
    finder->records[finder->count++] = finder->record;
}

static const char *walk_value(struct finder *finder, size_t k, const char *at, const char *end);

static const char *walk_object(struct finder *finder, size_t k, const char *at, const char *end)
{
    size_t guess = 0;
    at = json_enter(at, end);
    bool more = at == end || *at != '}';
    at += !more;
    while (at && more) {
        struct cell key;
        size_t field = json_expected(finder->keys, k, &at, end, &guess, &key);
        if (!field) {
            at = json_key(at, end, &key);
            if (!at)
                break;
            field = json_field(finder->keys, k, key, &guess, finder->table->dialect, &finder->scratch);
            if (!field)
                found(finder, k, (struct text){key.at - 1, (size_t)(key.end - key.at) + 1});
        }
        at = field ? walk_value(finder, field, at, end) : json_skip_value(at, end);
        at = at ? json_next(at, end, '}', &more) : NULL;
    }
    return at;
}

static const char *walk_array(struct finder *finder, size_t elements, const char *at, const char *end)
{
    at = json_enter(at, end);
    bool more = at == end || *at != ']';
    at += !more;
    while (at && more) {
        at = walk_value(finder, elements, at, end);
        at = at ? json_next(at, end, ']', &more) : NULL;
    }
    return at;
}

static const char *walk_value(struct finder *finder, size_t k, const char *at, const char *end)
{
    const struct json_node *node = &finder->keys->nodes[k];
    const char first = at < end ? *at : '\0';
    const bool object = first == '{', array = first == '[';
    if (object && node->fields)
        return walk_object(finder, k, at, end);
    if (array && node->elements)
        return walk_array(finder, node->elements, at, end);
    const bool nested = (object || array) && node->level < JSON_LEVELS;
    if (nested || (first != 'n' && !evidence_has_values(&node->evidence)))
        found(finder, k, (struct text){nested ? at : "v", 1});
    return json_skip_value(at, end);
}

static void search_chunk(void *context, int member, int64_t part)
{
    const struct search *search = context;
    struct finder *finder = &search->finders[member];
    const struct table *table = finder->table = search->table;
    const char *end = table->chunks[part].end;
    finder->keys = search->keys;
    for (const char *at = table->chunks[part].begin; at < end;) {
        const char *record_end = record_limit(table, at, end), *next;
        finder->record = at;
        at = json_skip_blank(at, record_end);
        next = at < record_end && *at == '{' ? walk_object(finder, 0, at, record_end) : NULL;
        next = record_next(table, next ? next : record_end, record_end, end);
        at = next || table->values ? next : record_end + (record_end < end);
        if (!at)
            break; /* malformed, which parsing will report */
    }
}

static int compare_places(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return x < y ? -1 : x > y;
}

static void learn_from(struct json_keys *keys, const struct table *table, struct finder *finders, int count)
{
    struct finder all = {0};
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < finders[i].count; k++) {
            all.records = heap_reserve(all.records, all.count, &all.capacity, sizeof *all.records);
            all.records[all.count++] = finders[i].records[k];
        }
    }
    if (all.count > 0)
        qsort(all.records, all.count, sizeof *all.records, compare_places);
    for (size_t i = 0; i < all.count; i++)
        (void)json_learn(keys, table, all.records[i], record_limit(table, all.records[i], table->end));
    free(all.records);
}

bool json_learn_all(struct json_keys *keys, const struct table *table, const struct workers *workers)
{
    bool done = true, more = true;
    while (more && done) {
        struct search search = {keys, table, heap_array((size_t)workers->threads, sizeof *search.finders)};
        const size_t before = keys->learned;
        done = workers_run(workers, table->chunk_count, search_chunk, &search);
        more = false;
        for (int i = 0; i < workers->threads; i++)
            more = more || search.finders[i].count > 0;
        if (more && done)
            learn_from(keys, table, search.finders, workers->threads);
        more = more && keys->learned > before;
        for (int i = 0; i < workers->threads; i++) {
            struct finder *finder = &search.finders[i];
            strbuf_free(&finder->scratch);
            strbuf_free(&finder->label);
            free(finder->records);
            if (finder->arena)
                arena_free(finder->arena);
        }
        free(search.finders);
    }
    return done;
}
