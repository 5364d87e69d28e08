/* What was made of columns and dictionaries, such as the index of a join, kept for later statements as long as these
 * are in use, within a limit; beyond it what was used least recently goes first. References to columns are counted as
 * those of copies on devices are: they do not keep a column in the cache of files. Main thread only. */
#ifndef RQL_ENGINE_STORAGE_KEPT_H
#define RQL_ENGINE_STORAGE_KEPT_H

#include "engine/storage/column.h"
#include "engine/values/dictionary.h"

struct kept;

/* What something was made of, and how. */
struct kept_key {
    struct column *const *columns;
    size_t count;
    struct dictionary *dictionary; /* or NULL */
    const void *how;
    size_t how_size;
};

struct kept *kept_new(void);
void kept_free(struct kept *kept); /* NULL is allowed */

/* Nothing is kept before a limit is set. */
void kept_set_limit(struct kept *kept, int64_t bytes);

/* The value of an equal key, borrowed until the next call, or NULL. `kept` may be NULL, here and below. */
void *kept_find(struct kept *kept, const struct kept_key *key);

/* Takes over a reference to the value, which `release` drops: at once if it exceeds the limit. */
void kept_add(struct kept *kept, const struct kept_key *key, void *value, void (*release)(void *value), int64_t bytes);

/* After a statement: drops what was made of columns that nothing else refers to any more. */
void kept_sweep(struct kept *kept);

/* Drops entries, the least recently used first, until at most `bytes` bytes are kept. */
void kept_shrink(struct kept *kept, int64_t bytes);

/* Bytes of a column's elements. */
int64_t kept_bytes(const struct column *column); /* NULL: 0 */

#endif
