/* The program cache on disk.
 *
 * An entry is a file named by a hash of its key that holds the full key, the program and a checksum. It is written to a
 * temporary file and renamed, so that concurrent processes see a whole entry or none. An invalid entry is removed and
 * reported as missing: a cache has no errors. */
#ifndef RQL_CL_COMPILE_PROGRAM_CACHE_H
#define RQL_CL_COMPILE_PROGRAM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes. */
struct blob {
    void *bytes; /* malloc'd */
    size_t size;
};

struct cache;

/* The cache in a directory, which is created (not its parent) for the user alone. Above `most_bytes` the least recently
 * used entries are removed. NULL with *problem set to the errno if it cannot be used. */
struct cache *cache_open(const char *directory, int64_t most_bytes, int *problem);
void cache_close(struct cache *cache); /* NULL is allowed */

/* Finds the program of a key, to be freed; false if there is none. */
bool cache_find(const struct cache *cache, const struct blob *key, struct blob *program);

/* Stores a program, replacing the entry of its key. False if it could not be written; nothing is changed then. */
bool cache_store(const struct cache *cache, const struct blob *key, const struct blob *program);

/* Whether no program is kept. */
bool cache_is_empty(const struct cache *cache);

/* Removes an entry that a driver rejected. */
void cache_drop(const struct cache *cache, const struct blob *key);

#endif
