/* Files at addresses: http://, https:// and s3:// (address.h).
 *
 * Opening one asks for its beginning, or its end, which tells its size and its validators. The mapping is of a file of
 * blocks (block_file.h); mapping_need asks for the blocks that lack by requests for ranges of bytes, in parallel, and
 * repeats those that fail. Each answer must have the validators of the first: an object that changes while it is read
 * is an error. A server that knows no ranges sends everything when the file is opened.
 *
 * A request is signed only for S3, and goes nowhere else then; ~/.netrc is read for https:// alone; redirects lead to
 * http:// and https:// only, from https:// to that. */
#ifndef RQL_ENGINE_REMOTE_REMOTE_H
#define RQL_ENGINE_REMOTE_REMOTE_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

struct remote;
struct remote *remote_new(void);
void remote_free(struct remote *remote);

/* A server that is silent for as many seconds is given up; 0: none is. */
void remote_set_timeout(struct remote *remote, int seconds);

/* How many bytes of objects are kept on the disk for the next load; 0: none. */
void remote_set_limit(struct remote *remote, int64_t bytes);

/* What the requests of a session have taken so far. */
struct remote_traffic {
    int64_t requests, bytes, nanoseconds;
};
struct remote_traffic remote_traffic(const struct remote *remote);

/* The files in the cache on the disk. `directory` is in the arena, NULL if there is no place for them. */
struct remote_cache {
    const char *directory;
    int64_t files, bytes;
};
struct remote_cache remote_cache(struct remote *remote, struct arena *arena);

/* Drops what no process uses. */
void remote_cache_clear(struct remote *remote);

/* What is known of a file when it is opened. */
struct remote_file {
    struct mapping *mapping; /* one reference */
    bool encoded;            /* the server says that its content is compressed */
};

/* Opens a file, of which the last bytes are there if `end`, else the first. An answer of HTML is an error, unless
 * `any_type`. */
enum status remote_open(struct remote *remote, struct mappings *mappings, const char *path, bool end, bool any_type,
                        const struct workers *workers, struct span span, struct remote_file *file, struct diags *diags);

/* Objects of a bucket, in the order of their keys. */
struct remote_object {
    const char *path; /* s3://BUCKET/KEY */
    int64_t bytes;
};

struct remote_list {
    struct remote_object *objects; /* in the diags' arena */
    size_t count;
    uint64_t hash; /* changes with them and with their contents */
};

/* Lists the objects that an address of S3 stands for: one with `*`, `?`, `[...]` or `**`, or of a folder, which ends in
 * a slash: then all below it but those with a part that begins with `.` or `_`. */
enum status remote_list(struct remote *remote, const char *path, const struct workers *workers, struct span span,
                        struct remote_list *list, struct diags *diags);

#endif
