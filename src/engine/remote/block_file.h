/* What has been received of an object: a sparse file of its size, of which blocks are there or not yet, before them a
 * header with the object's validators and a byte for each block.
 *
 * Files lie in ~/.cache/rql/files, one for an address. They are shared by processes: all write the same bytes. A block
 * is marked after it was written, which holds until the machine goes down: files of an earlier start are not used.
 * Objects without validators have a file without a name. */
#ifndef RQL_ENGINE_REMOTE_BLOCK_FILE_H
#define RQL_ENGINE_REMOTE_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_BYTES = 64 << 10, ETAG_BYTES = 256, MODIFIED_BYTES = 64 };

/* What tells an object from a changed one; empty texts are unknown. */
struct validators {
    char etag[ETAG_BYTES];
    char modified[MODIFIED_BYTES];
    int64_t size; /* -1: unknown */
};

/* Whether they are those of one object. An unknown size is that of any. */
bool validators_equal(const struct validators *a, const struct validators *b);

struct block_file;

/* The file of an address; NULL: there is none. */
struct block_file *block_file_find(const char *directory, const char *url);

/* A new one. If `kept`, it takes the place of an old one; else it has no name. `directory` NULL: in memory. Of an
 * unknown size: one without blocks, which grows. NULL with errno. */
struct block_file *block_file_new(const char *directory, const char *url, const struct validators *validators,
                                  bool kept);
void block_file_free(struct block_file *file); /* NULL is allowed */

const struct validators *block_file_validators(const struct block_file *file);
int block_file_descriptor(const struct block_file *file);
size_t block_file_begin(const struct block_file *file); /* where the object's bytes begin */

/* False with errno. */
bool block_file_write(const struct block_file *file, int64_t offset, const void *bytes, size_t length);

/* Marks the blocks that lie in these bytes, which are written; the last one of the file may be shorter. */
void block_file_mark(struct block_file *file, int64_t begin, int64_t end);

bool block_file_has(const struct block_file *file, int64_t block);

/* Of the files in the directory. */
struct block_usage {
    int64_t files, bytes;
};
struct block_usage block_files_usage(const char *directory);

/* Removes those that have been used longest ago until `limit` bytes are left, but none that a process uses. */
void block_files_sweep(const char *directory, int64_t limit);

#endif
