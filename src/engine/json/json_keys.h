/* The keys of a file of JSON objects, as a tree: of each object in an object or an array its own. A value that is no
 * object is one of a column; a field of an object is a column named by its path; an array is a list (list_store.h),
 * whose elements have columns as records have. */
#ifndef RQL_ENGINE_JSON_JSON_KEYS_H
#define RQL_ENGINE_JSON_JSON_KEYS_H

#include "engine/json/json.h"
#include "engine/text/cells.h"
#include "engine/text/key_index.h"
#include "engine/text/table.h"
#include "engine/text/text_files.h"

#include <string.h>

/* The keys of objects, in the order in which they were met first. */
struct json_fields {
    struct key_index *index;
    size_t *nodes;
    size_t count, capacity;
};

/* The values of a key, or the elements of arrays. */
struct json_node {
    struct cell key;  /* as first written; of elements empty */
    const char *name; /* decoded */
    size_t parent;
    int level;
    struct json_fields *fields; /* of objects; NULL: none was met */
    size_t elements;            /* the node of the elements of arrays; 0: none was met */
    struct evidence evidence;   /* of other values */
    const char *nested;         /* the first object or array that is its value; NULL: none was seen */
    const char *object;         /* the first object that is its value; NULL: none was seen */
    size_t column, list;        /* of these values, and of arrays; NO_COLUMN: none */
    bool raw;                   /* objects and arrays are texts in `column`, as they are written */
};

struct json_keys {
    struct arena *arena;
    struct json_node *nodes; /* the first is that of the records */
    size_t count, capacity;
    size_t learned; /* how many times something was new: a key, objects, arrays, or other values */
};

struct json_keys *json_keys_new(struct arena *arena);

/* The node of a key of the node's objects; 0: it has none. `guess` is the place of the key that is expected, and
 * becomes that of the next. */
static inline size_t json_field(const struct json_keys *keys, size_t node, struct cell key, size_t *guess,
                                const struct dialect *dialect, struct strbuf *scratch)
{
    const struct json_fields *fields = keys->nodes[node].fields;
    const size_t length = (size_t)(key.end - key.at);
    if (!fields)
        return 0;
    if (*guess < fields->count) {
        const struct cell *expected = &keys->nodes[fields->nodes[*guess]].key;
        if ((size_t)(expected->end - expected->at) == length && memcmp(expected->at, key.at, length) == 0)
            return fields->nodes[(*guess)++];
    }
    const size_t place = key_index_find(fields->index, cell_text(dialect, key, scratch));
    *guess = place + 1;
    return place < fields->count ? fields->nodes[place] : 0;
}

/* Whether the key that is expected, its colon and a value are at *at, as almost always: moves to the value. 0: not. */
static inline size_t json_expected(const struct json_keys *keys, size_t node, const char **at, const char *end,
                                   size_t *guess, struct cell *key)
{
    const struct json_fields *fields = keys->nodes[node].fields;
    if (!fields || *guess >= fields->count)
        return 0;
    const size_t found = fields->nodes[*guess];
    const struct cell *expected = &keys->nodes[found].key;
    const size_t length = (size_t)(expected->end - expected->at);
    const char *from = *at;
    if ((size_t)(end - from) < length + 3 || *from != '"' || from[length + 1] != '"' || from[length + 2] != ':' ||
        memcmp(from + 1, expected->at, length) != 0)
        return 0;
    ++*guess;
    *key = (struct cell){from + 1, from + 1 + length, true};
    *at = json_skip_blank(from + length + 3, end);
    return found;
}

/* Adds what a record has, an object that begins at `at`. Returns its end; NULL: it is none. */
const char *json_learn(struct json_keys *keys, const struct table *table, const char *at, const char *end);

/* Looks for keys, and objects and arrays, that are not known yet in all records of table->chunks, and adds them. Sets
 * table->sound, and counts the rows of lines. Returns false if cancelled. (json_late_keys.c) */
bool json_learn_all(struct json_keys *keys, struct table *table, const struct workers *workers);

/* What is kept of the node's values, if these paths are mentioned. */
enum json_kept { KEEP_NONE, KEEP_FIELDS, KEEP_ALL }; /* fields: of objects some of theirs, and other values */

enum json_kept json_kept(const struct json_keys *keys, size_t node, const struct mentioned *mentioned);

/* text_keep_mentioned. (json_mentioned.c) */
bool json_keep_mentioned(const struct text_pieces *pieces, const struct mentioned *mentioned,
                         const struct workers *workers, struct growing_buffer *buffer);

/* Makes the table's columns: those of the records, of which it returns the number, and behind them those of the
 * elements of lists. */
size_t json_make_columns(struct json_keys *keys, struct table *table);

#endif
