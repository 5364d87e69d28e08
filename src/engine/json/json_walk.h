/* Walking through records whose keys are known.
 *
 * Between two values of a record stands one of few texts, such as `,"commit":{"rev":`. The values are the states of an
 * automaton, and these texts its transitions: they are learned where they are met first, so that almost everywhere a
 * comparison of some bytes moves from a value to the next, through keys, colons, commas and brackets at once. Which
 * transition a text begins with is unambiguous, for the node of a value tells which objects and arrays are open. */
#ifndef RQL_ENGINE_JSON_JSON_WALK_H
#define RQL_ENGINE_JSON_JSON_WALK_H

#include "engine/json/json_keys.h"

/* A value of a record that is neither an object nor an array. */
struct json_found {
    size_t node;
    const char *at, *end;
};

struct json_walker {
    const struct json_keys *keys;
    const struct table *table;
    /* Called for what the keys do not have: of the node a key, with its opening quote; objects "{", arrays "[" or other
     * values "v". */
    void (*found)(void *context, size_t node, struct text what);
    void *context;
    const unsigned char *wanted; /* nodes of which the values are listed; NULL: of none */
    struct json_found *values;   /* of the record, in their order */
    size_t value_count, value_capacity;
    bool twice;     /* some record has a key twice, but within arrays */
    int64_t record; /* its number */
    struct json_state *states;
    struct json_transition *transitions;
    size_t count, capacity; /* of these */
    struct strbuf scratch;
};

/* Keys must not be added while it is used. Free it with json_walker_free, also if it is zero. */
void json_walker_init(struct json_walker *walker, const struct json_keys *keys, const struct table *table);
void json_walker_free(struct json_walker *walker);

/* Walks through an object to its end. NULL: it is none. */
const char *json_walk(struct json_walker *walker, const char *at);

#endif
