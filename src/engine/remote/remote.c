#include "engine/remote/remote.h"

#include "base/cachedir.h"
#include "base/hash.h"
#include "base/heap.h"
#include "engine/remote/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 16 * BLOCK_BYTES, END_BYTES = 4 * BLOCK_BYTES, DEFAULT_TIMEOUT = 60 };

struct remote *remote_new(void)
{
    struct remote *remote = heap_array(1, sizeof *remote);
    pthread_mutex_init(&remote->mutex, NULL);
    remote->timeout = DEFAULT_TIMEOUT;
    remote->limit = (int64_t)10 * 1000 * 1000 * 1000;
    return remote;
}

void remote_free(struct remote *remote)
{
    for (size_t i = 0; i < remote->idle_count; i++)
        remote->curl.multi_cleanup(remote->idle[i]);
    pthread_mutex_destroy(&remote->mutex);
    free(remote->directory);
    free(remote);
}

void remote_set_timeout(struct remote *remote, int seconds)
{
    remote->timeout = seconds;
}

void remote_set_limit(struct remote *remote, int64_t bytes)
{
    remote->limit = bytes;
}

struct remote_traffic remote_traffic(const struct remote *remote)
{
    return (struct remote_traffic){remote->requests, remote->bytes, remote->nanoseconds};
}

/* Finds the place for files on the disk. */
static void find_directory(struct remote *remote)
{
    struct strbuf path = {0};
    if (remote->directory)
        return;
    int problem = cachedir_create(&path);
    if (problem == 0) {
        strbuf_puts(&path, "/files");
        problem = cachedir_create_subdir(path.text);
    }
    if (problem == 0)
        remote->directory = heap_text(path.text);
    strbuf_free(&path);
}

struct remote_cache remote_cache(struct remote *remote, struct arena *arena)
{
    struct remote_cache cache = {0};
    pthread_mutex_lock(&remote->mutex);
    find_directory(remote);
    pthread_mutex_unlock(&remote->mutex);
    if (remote->directory) {
        const struct block_usage usage = block_files_usage(remote->directory);
        cache = (struct remote_cache){arena_text(arena, remote->directory, strlen(remote->directory)), usage.files,
                                      usage.bytes};
    }
    return cache;
}

void remote_cache_clear(struct remote *remote)
{
    pthread_mutex_lock(&remote->mutex);
    find_directory(remote);
    pthread_mutex_unlock(&remote->mutex);
    if (remote->directory)
        block_files_sweep(remote->directory, 0);
}

bool remote_begin(struct remote *remote)
{
    pthread_mutex_lock(&remote->mutex);
    if (!remote->loaded) {
        remote->loaded = curl_library_load(&remote->curl);
        find_directory(remote);
    }
    const bool loaded = remote->loaded;
    pthread_mutex_unlock(&remote->mutex);
    return loaded;
}

static void close_object(struct mapping_source *source)
{
    struct object *object = (struct object *)source;
    block_file_free(object->file);
    arena_free(object->arena);
    free(object);
}

static bool object_changed(const struct mapping_source *source)
{
    return ((const struct object *)source)->changed;
}

static const struct mapping_source_ops object_ops = {
    .need = object_need, .changed = object_changed, .close = close_object};

/* Changes with the content. */
static struct file_stamp stamp_of(const struct object *object)
{
    const struct validators *validators = block_file_validators(object->file);
    uint64_t hash = hash_text(hash_init(), object->address.url);
    hash = hash_text(hash_text(hash, validators->etag), validators->modified);
    if (!object->strong) { /* no other is known to be the same */
        const int64_t request = object->remote->requests;
        hash = hash_bytes(hash, &request, sizeof request);
    }
    return (struct file_stamp){.device = UINT64_MAX - 1, .inode = hash, .size = object->size};
}

/* A header by which an object that is there is not sent again; NULL: none. */
static const char *condition_of(const struct object *object, struct arena *arena)
{
    const struct validators *validators = object->file ? block_file_validators(object->file) : NULL;
    if (!validators)
        return NULL;
    return *validators->etag ? arena_printf(arena, "If-None-Match: %s", validators->etag)
                             : arena_printf(arena, "If-Modified-Since: %s", validators->modified);
}

static enum status ask_first(struct object *object, bool end, const struct workers *workers, struct span span,
                             struct diags *diags)
{
    struct transfer transfer = {.remote = object->remote,
                                .address = &object->address,
                                .arena = object->arena,
                                .workers = workers,
                                .span = span,
                                .diags = diags,
                                .condition = condition_of(object, diags->arena),
                                .first = true,
                                .total = -1,
                                .context = object,
                                .answered = object_answered_first,
                                .received = object_received};
    struct piece piece = {.begin = end ? END_BYTES : 0, .end = end ? -1 : FIRST_BYTES, .suffix = end};
    return transfer_run(&transfer, &piece, 1);
}

static struct object *new_object(struct remote *remote, const char *path, struct span span, struct diags *diags)
{
    struct arena *arena = arena_new();
    struct diags own;
    struct address address;
    diags_init(&own, arena);
    if (address_parse(path, &address, span, &own) != STATUS_OK) {
        diags_add_errors(diags, &own);
        arena_free(arena);
        return NULL;
    }
    struct object *object = heap_array(1, sizeof *object);
    object->source.ops = &object_ops;
    object->remote = remote;
    object->arena = arena;
    object->address = address;
    object->path = arena_text(arena, path, strlen(path));
    object->kept = remote->directory && remote->limit > 0;
    object->directory = remote->directory;
    object->file = object->kept ? block_file_find(remote->directory, address.url) : NULL;
    return object;
}

enum status remote_open(struct remote *remote, struct mappings *mappings, const char *path, bool end, bool any_type,
                        const struct workers *workers, struct span span, struct remote_file *file, struct diags *diags)
{
    if (!remote_begin(remote))
        return curl_library_missing(span, diags);
    struct object *object = new_object(remote, path, span, diags);
    if (!object)
        return STATUS_FAILED;
    object->any_type = any_type;
    const enum status status = ask_first(object, end, workers, span, diags);
    if (status != STATUS_OK) {
        close_object(&object->source);
        return status;
    }
    file->encoded = object->encoded;
    return mapping_of_source(mappings, object->address.shown, block_file_descriptor(object->file),
                             block_file_begin(object->file), (size_t)object->size, stamp_of(object), &object->source,
                             span, &file->mapping, diags);
}
