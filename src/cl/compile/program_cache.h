/* Programs on disk: built ones are found again by the next process.
 *
 * An entry is a file of its own, named by a hash of its key and holding the key in full, the program, and a checksum of
 * all of it. It is written beside and renamed, so that readers see a whole entry or none, whatever other processes do.
 * Whatever is not exactly as it was written is removed and reported as missing: a cache has no errors. */
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

/* The cache in a directory, which is made (its parent is not) for the user alone. Above `most_bytes` the entries used
 * longest ago go. NULL, with *problem the errno, if it cannot be used. */
struct cache *cache_open(const char *directory, int64_t most_bytes, int *problem);
void cache_close(struct cache *cache); /* NULL is allowed */

/* The program kept under a key, to be freed; false if there is none. */
bool cache_find(const struct cache *cache, const struct blob *key, struct blob *program);

/* Keeps a program in place of what was there. False if it could not be written: nothing is changed then. */
bool cache_keep(const struct cache *cache, const struct blob *key, const struct blob *program);

/* Forgets it: a driver would not have it. */
void cache_drop(const struct cache *cache, const struct blob *key);

#endif
