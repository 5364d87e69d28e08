/* The directory of files with blocks, and its limit. */
#include "engine/remote/block_file.h"

#include "base/heap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512 };

struct cached {
    char *name;
    int64_t bytes;
    struct timespec used;
};

struct listing {
    int directory;
    struct cached *files;
    size_t count, capacity;
    int64_t bytes; /* that they take on the disk */
};

static void list(struct listing *listing, const char *path)
{
    DIR *directory = opendir(path);
    *listing = (struct listing){.directory = directory ? dup(dirfd(directory)) : -1};
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat info;
        if (entry->d_name[0] == '.' || fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        listing->files = heap_reserve(listing->files, listing->count, &listing->capacity, sizeof *listing->files);
        struct cached *file = &listing->files[listing->count++];
        *file = (struct cached){heap_text(entry->d_name), (int64_t)info.st_blocks * SECTOR_BYTES, info.st_mtim};
        listing->bytes += file->bytes;
    }
    if (directory)
        closedir(directory);
}

static void listing_free(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->files[i].name);
    free(listing->files);
    if (listing->directory >= 0)
        close(listing->directory);
}

static int compare_used(const void *a, const void *b)
{
    const struct timespec *one = &((const struct cached *)a)->used, *other = &((const struct cached *)b)->used;
    if (one->tv_sec != other->tv_sec)
        return one->tv_sec < other->tv_sec ? -1 : 1;
    return (one->tv_nsec > other->tv_nsec) - (one->tv_nsec < other->tv_nsec);
}

struct block_usage block_files_usage(const char *directory)
{
    struct listing listing;
    list(&listing, directory);
    const struct block_usage usage = {(int64_t)listing.count, listing.bytes};
    listing_free(&listing);
    return usage;
}

/* Who uses a file has a lock on it. */
static bool remove_unused(int directory, const char *name)
{
    const int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool unused = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0;
    if (file >= 0)
        close(file);
    return unused;
}

void block_files_sweep(const char *directory, int64_t limit)
{
    struct listing listing;
    list(&listing, directory);
    if (listing.bytes > limit && listing.count > 1)
        qsort(listing.files, listing.count, sizeof *listing.files, compare_used);
    for (size_t i = 0; i < listing.count && listing.bytes > limit; i++) {
        if (remove_unused(listing.directory, listing.files[i].name))
            listing.bytes -= listing.files[i].bytes;
    }
    listing_free(&listing);
}
