#include "engine/remote/block_file.h"

#include "base/hash.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 4096, BOOT_BYTES = 40, URL_BYTES = 3072, PATH_BYTES = 4096 };

static const char magic[8] = "RQLBLK1";

struct header {
    char magic[sizeof magic];
    char boot[BOOT_BYTES]; /* of the machine, when the file was made */
    struct validators validators;
    uint64_t begin;      /* of the object's bytes */
    char url[URL_BYTES]; /* or its beginning */
};

_Static_assert(sizeof(struct header) <= HEADER_BYTES, "the header has a page");

struct block_file {
    int descriptor;
    struct header *header; /* mapped with the marks; NULL: the size is unknown */
    _Atomic unsigned char *marks;
    struct validators validators; /* if there is no header */
};

bool validators_equal(const struct validators *a, const struct validators *b)
{
    if (a->size >= 0 && b->size >= 0 && a->size != b->size)
        return false;
    return strcmp(a->etag, b->etag) == 0 && (*a->etag || strcmp(a->modified, b->modified) == 0);
}

static int64_t count_of_blocks(int64_t size)
{
    return (size + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static uint64_t begin_of(int64_t size)
{
    const uint64_t step = BLOCK_BYTES;
    return (HEADER_BYTES + (uint64_t)count_of_blocks(size) + step - 1) / step * step;
}

/* Identifies the time since the machine was started; false: unknown. */
static bool boot_of_machine(char boot[BOOT_BYTES])
{
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, boot, BOOT_BYTES - 1);
    if (file >= 0)
        close(file);
    boot[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static void path_of(const char *directory, const char *url, const char *suffix, char path[PATH_BYTES])
{
    /* Two hashes of 64 bits, with what they begin with. */
    const uint64_t first = hash_text(hash_init(), url), second = hash_text(hash_text(hash_init(), "2"), url);
    (void)snprintf(path, PATH_BYTES, "%s/%016llx%016llx%s", directory, (unsigned long long)first,
                   (unsigned long long)second, suffix);
}

/* Takes over both. */
static struct block_file *file_of(int descriptor, struct header *header)
{
    struct block_file *file = heap_array(1, sizeof *file);
    file->descriptor = descriptor;
    file->header = header;
    file->marks = header ? (_Atomic unsigned char *)header + HEADER_BYTES : NULL;
    return file;
}

static struct header *map_header(int descriptor, size_t begin)
{
    void *header = mmap(NULL, begin, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return header == MAP_FAILED ? NULL : header;
}

/* Whether a file is one of these, complete, and made since the machine was started. */
static bool is_valid(const struct header *header, const struct stat *info, const char *url)
{
    char boot[BOOT_BYTES];
    const struct validators *validators = &header->validators;
    if (memcmp(header->magic, magic, sizeof magic) != 0 || !boot_of_machine(boot) || validators->size < 0 ||
        !memchr(header->boot, '\0', BOOT_BYTES) || strcmp(header->boot, boot) != 0 ||
        !memchr(validators->etag, '\0', ETAG_BYTES) || !memchr(validators->modified, '\0', MODIFIED_BYTES))
        return false;
    return header->begin == begin_of(validators->size) && strncmp(header->url, url, URL_BYTES - 1) == 0 &&
           info->st_size == (off_t)header->begin + validators->size;
}

struct block_file *block_file_find(const char *directory, const char *url)
{
    char path[PATH_BYTES];
    struct stat info;
    struct header *header = NULL;
    path_of(directory, url, "", path);
    const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return NULL;
    struct header copy;
    const bool sized = flock(descriptor, LOCK_SH | LOCK_NB) == 0 && fstat(descriptor, &info) == 0 &&
                       S_ISREG(info.st_mode) && pread(descriptor, &copy, sizeof copy, 0) == (ssize_t)sizeof copy;
    if (sized && is_valid(&copy, &info, url))
        header = map_header(descriptor, copy.begin);
    if (!header) {
        close(descriptor);
        return NULL;
    }
    (void)futimens(descriptor, NULL); /* used now */
    return file_of(descriptor, header);
}

/* An empty file: of the path, for the user alone, or without a name. */
static int create(const char *path)
{
    return path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                : memfd_create("rql", MFD_CLOEXEC);
}

/* Room for the header and the marks, so that writing to their pages cannot fail. */
static struct header *write_header(int descriptor, const char *url, const struct validators *validators)
{
    const uint64_t begin = begin_of(validators->size);
    if (ftruncate(descriptor, (off_t)begin + validators->size) != 0)
        return NULL;
    const int error = posix_fallocate(descriptor, 0, (off_t)begin);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    struct header *header = map_header(descriptor, begin);
    if (!header)
        return NULL;
    memcpy(header->magic, magic, sizeof magic);
    (void)boot_of_machine(header->boot);
    header->validators = *validators;
    header->begin = begin;
    (void)snprintf(header->url, URL_BYTES, "%s", url);
    return header;
}

struct block_file *block_file_new(const char *directory, const char *url, const struct validators *validators,
                                  bool kept)
{
    char path[PATH_BYTES], temporary[PATH_BYTES] = "", suffix[64];
    const bool sized = validators->size >= 0;
    if (directory) {
        path_of(directory, url, "", path);
        (void)snprintf(suffix, sizeof suffix, ".%ld-%p", (long)getpid(), (void *)path);
        path_of(directory, url, suffix, temporary);
    }
    const int descriptor = create(directory ? temporary : NULL);
    if (descriptor < 0)
        return NULL;
    (void)flock(descriptor, LOCK_SH | LOCK_NB);
    struct header *header = sized ? write_header(descriptor, url, validators) : NULL;
    bool made = header || !sized;
    if (made && directory)
        made = (kept && sized ? rename(temporary, path) : unlink(temporary)) == 0;
    struct block_file *file = file_of(descriptor, header);
    file->validators = *validators;
    if (made)
        return file;
    const int error = errno;
    if (directory)
        (void)unlink(temporary);
    block_file_free(file);
    errno = error;
    return NULL;
}

void block_file_free(struct block_file *file)
{
    if (!file)
        return;
    if (file->header)
        munmap(file->header, begin_of(block_file_validators(file)->size));
    close(file->descriptor);
    free(file);
}

const struct validators *block_file_validators(const struct block_file *file)
{
    return file->header ? &file->header->validators : &file->validators;
}

int block_file_descriptor(const struct block_file *file)
{
    return file->descriptor;
}

size_t block_file_begin(const struct block_file *file)
{
    return file->header ? file->header->begin : 0;
}

bool block_file_write(const struct block_file *file, int64_t offset, const void *bytes, size_t length)
{
    const char *at = bytes;
    off_t place = (off_t)block_file_begin(file) + offset;
    while (length > 0) {
        const ssize_t wrote = pwrite(file->descriptor, at, length, place);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            at += wrote;
            place += wrote;
            length -= (size_t)wrote;
        }
    }
    return true;
}

void block_file_mark(struct block_file *file, int64_t begin, int64_t end)
{
    if (!file->header)
        return;
    const int64_t size = file->header->validators.size;
    const int64_t last = end >= size ? count_of_blocks(size) : end / BLOCK_BYTES;
    for (int64_t block = count_of_blocks(begin); block < last; block++)
        atomic_store_explicit(&file->marks[block], 1, memory_order_release);
}

bool block_file_has(const struct block_file *file, int64_t block)
{
    return !file->header || atomic_load_explicit(&file->marks[block], memory_order_acquire) != 0;
}
