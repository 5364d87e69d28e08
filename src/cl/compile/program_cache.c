#include "cl/compile/program_cache.h"

#include "base/cachedir.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_DIGITS = 16,
    NAME_BYTES = 64, /* including a suffix while it is written */
    OWNER_FILE = 0600,
    ABANDONED_SECONDS = 3600 /* older temporary files are abandoned */
};
static const int64_t entry_most_bytes = INT64_C(1) << 28;
static const char entry_suffix[] = ".program", new_suffix[] = ".new";
static const char magic[8] = "rqlprog1";

struct cache {
    int directory;
    int64_t most_bytes;
};

/* The header of an entry, followed by its key and program. */
struct header {
    char magic[sizeof magic];
    uint64_t key_size, program_size;
    uint64_t checksum; /* of the entry with zero here */
};

struct cache *cache_open(const char *directory, int64_t most_bytes, int *problem)
{
    *problem = cachedir_create_subdir(directory);
    if (*problem != 0)
        return NULL;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        *problem = errno;
        return NULL;
    }
    return HEAP_NEW(struct cache, .directory = fd, .most_bytes = most_bytes);
}

void cache_close(struct cache *cache)
{
    if (!cache)
        return;
    close(cache->directory);
    free(cache);
}

static void entry_name(const struct blob *key, char name[NAME_BYTES])
{
    const uint64_t hash = hash_bytes(hash_init(), key->bytes, key->size);
    snprintf(name, NAME_BYTES, "%0*llx%s", NAME_DIGITS, (unsigned long long)hash, entry_suffix);
}

static uint64_t checksum(const struct header *header, const void *key, const void *program)
{
    struct header plain = *header;
    plain.checksum = 0;
    uint64_t hash = hash_bytes(hash_init(), &plain, sizeof plain);
    hash = hash_bytes(hash, key, (size_t)header->key_size);
    return hash_bytes(hash, program, (size_t)header->program_size);
}

static bool read_whole(int fd, char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = read(fd, bytes + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_whole(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(fd, at + done, size - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Reads the file if its size is possible for an entry. */
static char *read_entry(int fd, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        status.st_size < (off_t)sizeof(struct header) || status.st_size > entry_most_bytes)
        return NULL;
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size);
    if (bytes && read_whole(fd, bytes, *size))
        return bytes;
    free(bytes);
    return NULL;
}

/* Whether the bytes are a valid entry of this key. */
static bool is_entry(const char *bytes, size_t size, const struct blob *key)
{
    struct header header;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0 || header.key_size != key->size ||
        header.key_size > size - sizeof header || header.program_size != size - sizeof header - header.key_size)
        return false;
    const char *its_key = bytes + sizeof header;
    return memcmp(its_key, key->bytes, key->size) == 0 &&
           header.checksum == checksum(&header, its_key, its_key + key->size);
}

bool cache_find(const struct cache *cache, const struct blob *key, struct blob *program)
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    char name[NAME_BYTES];
    size_t size = 0;
    entry_name(key, name);
    const int fd = openat(cache->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    char *bytes = read_entry(fd, &size);
    const bool found = bytes && is_entry(bytes, size, key);
    if (found)
        (void)futimens(fd, now); /* mark it as used */
    close(fd);
    if (!found) {
        free(bytes);
        unlinkat(cache->directory, name, 0);
        return false;
    }
    program->size = size - sizeof(struct header) - key->size;
    memmove(bytes, bytes + sizeof(struct header) + key->size, program->size);
    program->bytes = bytes;
    return true;
}

void cache_drop(const struct cache *cache, const struct blob *key)
{
    char name[NAME_BYTES];
    entry_name(key, name);
    unlinkat(cache->directory, name, 0);
}

/* A file of the directory. */
struct cache_file {
    char name[NAME_BYTES];
    int64_t bytes;
    struct timespec used;
};

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct cache_file *)left)->used, *b = &((const struct cache_file *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Lists all entries, to be freed, and removes abandoned temporary files. */
static struct cache_file *list_entries(const struct cache *cache, size_t *count)
{
    struct cache_file *entries = NULL;
    size_t capacity = 0;
    const int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    *count = 0;
    if (!directory && fd >= 0)
        close(fd);
    for (const struct dirent *file; directory && (file = readdir(directory));) {
        struct stat status;
        if (strlen(file->d_name) >= NAME_BYTES ||
            fstatat(cache->directory, file->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (ends_in(file->d_name, new_suffix) && time(NULL) - status.st_mtime > ABANDONED_SECONDS)
            unlinkat(cache->directory, file->d_name, 0);
        if (!ends_in(file->d_name, entry_suffix))
            continue;
        entries = heap_reserve(entries, *count, &capacity, sizeof *entries);
        struct cache_file *entry = &entries[(*count)++];
        *entry = (struct cache_file){.bytes = status.st_size, .used = status.st_mtim};
        strcpy(entry->name, file->d_name);
    }
    if (directory)
        closedir(directory);
    return entries;
}

bool cache_is_empty(const struct cache *cache)
{
    size_t count;
    free(list_entries(cache, &count));
    return count == 0;
}

/* Removes a quarter of a full cache, so that the next program does not fill it again. */
static void trim(const struct cache *cache)
{
    size_t count;
    struct cache_file *entries = list_entries(cache, &count);
    int64_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += entries[k].bytes;
    if (bytes > cache->most_bytes) {
        qsort(entries, count, sizeof *entries, by_use);
        for (size_t k = 0; k < count && bytes > cache->most_bytes / 4 * 3; k++) {
            unlinkat(cache->directory, entries[k].name, 0);
            bytes -= entries[k].bytes;
        }
    }
    free(entries);
}

bool cache_store(const struct cache *cache, const struct blob *key, const struct blob *program)
{
    struct header header = {.key_size = key->size, .program_size = program->size};
    char name[NAME_BYTES], beside[2 * NAME_BYTES];
    entry_name(key, name);
    snprintf(beside, sizeof beside, "%.*s.%ld%s", NAME_DIGITS, name, (long)getpid(), new_suffix);
    memcpy(header.magic, magic, sizeof magic);
    header.checksum = checksum(&header, key->bytes, program->bytes);
    unlinkat(cache->directory, beside, 0);
    const int fd = openat(cache->directory, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OWNER_FILE);
    if (fd < 0)
        return false;
    bool written = write_whole(fd, &header, sizeof header) && write_whole(fd, key->bytes, key->size) &&
                   write_whole(fd, program->bytes, program->size);
    written = close(fd) == 0 && written;
    if (!written || renameat(cache->directory, beside, cache->directory, name) != 0) {
        unlinkat(cache->directory, beside, 0);
        return false;
    }
    trim(cache);
    return true;
}
