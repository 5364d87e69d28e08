/* What is released goes back to the file system on a thread of its own: dropping its pages and discarding blocks may
 * take a second a gigabyte. */
#include "base/spill_area.h"
#include "base/path.h"

#include "base/heap.h"
#include "base/thread_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    RELEASED_ONCE = 64 << 20 /* a write to the file waits for so much */
};
static const size_t address_bytes = (size_t)1 << 44, least_address_bytes = (size_t)1 << 36;

struct released {
    struct released *next;
    char *at;
    size_t size;
};

/* A file. Another one follows if another directory is set while blocks of this one are in use: byte k of each is the
 * byte k of the addresses, from `begin` on. */
struct spill_file {
    struct spill_file *before; /* the one before it, or NULL */
    int file;
    char *directory;
    size_t begin, used;
    size_t pending; /* bytes that wait, or that the thread releases */
};

struct spill_area {
    pthread_mutex_t lock;
    pthread_cond_t changed;    /* there is something to release, or it has been released */
    struct released *released; /* waits for the thread */
    size_t pending;            /* bytes of all files that wait, or that it releases */
    pthread_t thread;
    bool started, closing;
    char *directory;         /* as it was set, or NULL */
    char *_Atomic addresses; /* reserved when first needed; NULL: they could not be */
    size_t address_bytes;
    struct spill_file *files; /* the last one; NULL: none */
    size_t next;              /* its first byte that has not been used */
    size_t used;
    _Atomic bool failed; /* to give the last block, */
    _Atomic bool lacked; /* for want of room */
};

struct spill_area *spill_area_new(void)
{
    struct spill_area *area = heap_array(1, sizeof *area);
    pthread_mutex_init(&area->lock, NULL);
    pthread_cond_init(&area->changed, NULL);
    return area;
}

/* Whose block it is; the lock is held. */
static struct spill_file *file_of(const struct spill_area *area, const void *at)
{
    const size_t offset = (size_t)((const char *)at - area->addresses);
    struct spill_file *file = area->files;
    while (file->begin > offset)
        file = file->before;
    return file;
}

static void close_file(struct spill_file *file)
{
    close(file->file);
    free(file->directory);
    free(file);
}

/* Forgets files of which nothing is in use. */
static void close_unused(struct spill_area *area)
{
    struct spill_file **link = &area->files;
    while (*link) {
        struct spill_file *file = *link;
        if (file->used > 0) {
            link = &file->before;
            continue;
        }
        *link = file->before;
        close_file(file);
    }
    if (!area->files)
        area->next = 0;
}

/* ---- releasing ---- */

/* Zeroing makes one extent of the many that pages written out of order are: file systems that discard what is freed do
 * so for each, which took 8 s for 400 MB in pieces of 22 KB, and takes one. */
static void free_range(const struct spill_file *file, size_t offset, size_t size)
{
    (void)fallocate(file->file, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    (void)fallocate(file->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

/* Gives back whole pages. The lock is held but for what takes long. */
static void release_now(struct spill_area *area, char *at, size_t size)
{
    const size_t offset = (size_t)(at - area->addresses);
    struct spill_file *file = file_of(area, at);
    pthread_mutex_unlock(&area->lock);
    (void)mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    free_range(file, offset, size);
    pthread_mutex_lock(&area->lock);
    area->used -= size;
    file->used -= size;
    if (offset + size == area->next)
        area->next = offset;
    close_unused(area);
}

static void *release_all(void *argument)
{
    struct spill_area *area = argument;
    pthread_mutex_lock(&area->lock);
    while (!area->closing) {
        struct released *released = area->released;
        if (!released) {
            pthread_cond_wait(&area->changed, &area->lock);
            continue;
        }
        area->released = released->next;
        while (released->size > 0 && !area->closing) {
            const size_t size = released->size < RELEASED_ONCE ? released->size : RELEASED_ONCE;
            released->size -= size;
            char *at = released->at + released->size;
            file_of(area, at)->pending -= size;
            release_now(area, at, size);
            area->pending -= size;
        }
        free(released);
        pthread_cond_broadcast(&area->changed);
    }
    pthread_mutex_unlock(&area->lock);
    return NULL;
}

/* Waits until all has been; the lock is held. */
static void wait_for_released(struct spill_area *area)
{
    while (area->pending > 0)
        pthread_cond_wait(&area->changed, &area->lock);
}

/* Small pieces one by one take longer than all at once: what waits is left. */
static void stop_releasing(struct spill_area *area)
{
    pthread_mutex_lock(&area->lock);
    area->closing = true;
    pthread_cond_broadcast(&area->changed);
    pthread_mutex_unlock(&area->lock);
    if (area->started)
        pthread_join(area->thread, NULL);
    while (area->released) {
        struct released *released = area->released;
        area->released = released->next;
        free(released);
    }
}

void spill_area_release(struct spill_area *area, void *at, size_t size)
{
    pthread_mutex_lock(&area->lock);
    if (!area->started)
        area->started = thread_start(&area->thread, release_all, area);
    if (area->started) {
        struct released *released = heap_array(1, sizeof *released);
        *released = (struct released){.next = area->released, .at = at, .size = size};
        area->released = released;
        area->pending += size;
        file_of(area, at)->pending += size;
        pthread_cond_broadcast(&area->changed);
    } else {
        release_now(area, at, size);
    }
    pthread_mutex_unlock(&area->lock);
}

/* ---- */

void spill_area_free(struct spill_area *area)
{
    if (!area)
        return;
    stop_releasing(area);
    if (area->addresses)
        munmap(area->addresses, area->address_bytes);
    for (size_t end = area->next; area->files;) {
        struct spill_file *file = area->files;
        free_range(file, file->begin, end - file->begin);
        end = file->begin;
        area->files = file->before;
        close_file(file);
    }
    pthread_cond_destroy(&area->changed);
    pthread_mutex_destroy(&area->lock);
    free(area->directory);
    free(area);
}

void spill_area_set_directory(struct spill_area *area, const char *directory)
{
    pthread_mutex_lock(&area->lock);
    free(area->directory);
    area->directory = directory ? heap_text(directory) : NULL;
    pthread_mutex_unlock(&area->lock);
}

static bool is_in_memory(const struct statfs *system)
{
    return system->f_type == TMPFS_MAGIC || system->f_type == RAMFS_MAGIC;
}

static const char *directory_of(const struct spill_area *area)
{
    static const char *const usual[] = {"/tmp", "/var/tmp"};
    const char *named = area->directory ? area->directory : getenv("TMPDIR");
    struct statfs system;
    if (named && *named)
        return named;
    return statfs(usual[0], &system) == 0 && !is_in_memory(&system) ? usual[0] : usual[1];
}

/* A block of a file that is open needs no directory. */
static const char *problem_of(const char *directory, bool is_open, const struct statfs *system)
{
    if (!is_open && !path_is_directory(directory))
        return "is no directory";
    if (is_in_memory(system))
        return "is in memory itself";
    return is_open || access(directory, W_OK) == 0 ? NULL : "cannot be written";
}

static const char *problem_of_error(int error)
{
    return error == ENOENT ? "does not exist" : error == ENOTDIR ? "is no directory" : "cannot be used";
}

const char *spill_directory_problem(const char *directory)
{
    struct statfs system;
    return statfs(directory, &system) == 0 ? problem_of(directory, false, &system) : problem_of_error(errno);
}

/* The file that is open in the directory that is set, or NULL. */
static struct spill_file *open_there(const struct spill_area *area)
{
    return area->files && strcmp(area->files->directory, directory_of(area)) == 0 ? area->files : NULL;
}

/* Room is left for others. */
struct spill_room spill_area_room(struct spill_area *area)
{
    const int64_t most_left = INT64_C(1) << 30, share_left = 20;
    struct spill_room room = {0};
    struct statfs system;
    pthread_mutex_lock(&area->lock);
    (void)snprintf(room.directory, sizeof room.directory, "%s", directory_of(area));
    const struct spill_file *file = open_there(area);
    const bool known = file ? fstatfs(file->file, &system) == 0 : statfs(directory_of(area), &system) == 0;
    const int error = errno;
    const int64_t pending = file ? (int64_t)file->pending : 0;
    pthread_mutex_unlock(&area->lock);
    room.problem = known ? problem_of(room.directory, file, &system) : problem_of_error(error);
    if (!room.problem) {
        const int64_t free_bytes = (int64_t)system.f_bavail * (int64_t)system.f_bsize + pending;
        const int64_t share = free_bytes / share_left;
        room.bytes = free_bytes - (share < most_left ? share : most_left);
        room.failed = area->failed;
        room.lacked = area->lacked;
    }
    return room;
}

/* Under a limit of addresses a range for later would take what others need. */
static bool reserve_addresses(struct spill_area *area)
{
    struct rlimit limit;
    if (area->addresses)
        return true;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return false;
    for (size_t bytes = address_bytes; bytes >= least_address_bytes; bytes /= 2) {
        void *addresses = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (addresses == MAP_FAILED)
            continue;
        area->addresses = addresses;
        area->address_bytes = bytes;
        return true;
    }
    return false;
}

static int open_unnamed(const char *directory)
{
    char path[PATH_BYTES];
    int file = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0 || snprintf(path, sizeof path, "%s/rql-XXXXXX", directory) >= PATH_BYTES)
        return file;
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(path);
    return file;
}

static bool open_file(struct spill_area *area)
{
    struct statfs system;
    const char *directory = directory_of(area);
    if (!reserve_addresses(area))
        return false;
    if (open_there(area))
        return true;
    const int opened = open_unnamed(directory);
    if (opened < 0 || fstatfs(opened, &system) != 0 || is_in_memory(&system)) {
        if (opened >= 0)
            close(opened);
        return false;
    }
    (void)posix_fadvise(opened, 0, 0, POSIX_FADV_RANDOM); /* of spill_area_read; faults still read ahead */
    struct spill_file *file = heap_array(1, sizeof *file);
    *file = (struct spill_file){
        .before = area->files, .file = opened, .directory = heap_text(directory), .begin = area->next};
    area->files = file;
    return true;
}

/* Appends `size` bytes to what is mapped of the last file. */
static bool append(struct spill_area *area, size_t size)
{
    struct spill_file *file = area->files;
    int failed;
    if (size > area->address_bytes - area->next)
        return false;
    do
        failed = fallocate(file->file, 0, (off_t)area->next, (off_t)size);
    while (failed != 0 && errno == EINTR);
    char *at = area->addresses + area->next;
    if (failed != 0 ||
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->file, (off_t)area->next) == MAP_FAILED) {
        (void)fallocate(file->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)area->next, (off_t)size);
        return false;
    }
    area->next += size;
    area->used += size;
    file->used += size;
    return true;
}

void *spill_area_alloc(struct spill_area *area, size_t size)
{
    const struct spill_room room = spill_area_room(area);
    area->lacked = !room.problem && size > (size_t)room.bytes;
    if (room.problem || size == 0 || size > (size_t)room.bytes)
        return NULL;
    pthread_mutex_lock(&area->lock);
    bool has = open_file(area) && append(area, size);
    if (!has && area->pending > 0) {
        wait_for_released(area);
        has = open_file(area) && append(area, size);
    }
    char *at = has ? area->addresses + area->next - size : NULL;
    area->failed = !has;
    close_unused(area);
    pthread_mutex_unlock(&area->lock);
    return at;
}

bool spill_area_extend(struct spill_area *area, void *at, size_t size, size_t more)
{
    const struct spill_room room = spill_area_room(area);
    pthread_mutex_lock(&area->lock);
    const bool extended = (char *)at + size == area->addresses + area->next && more <= (size_t)room.bytes &&
                          open_there(area) == file_of(area, at) && append(area, more);
    pthread_mutex_unlock(&area->lock);
    return extended;
}

/* The number of the file that has a block. */
static int descriptor_of(struct spill_area *area, const void *at)
{
    pthread_mutex_lock(&area->lock);
    const int file = file_of(area, at)->file;
    pthread_mutex_unlock(&area->lock);
    return file;
}

void spill_area_read(struct spill_area *area, const void *at, void *to, size_t size)
{
    const int file = descriptor_of(area, at);
    while (size > 0) {
        const ssize_t got = pread(file, to, size, (off_t)((const char *)at - area->addresses));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        at = (const char *)at + got;
        to = (char *)to + got;
        size -= (size_t)got;
    }
    memcpy(to, at, size);
}

void spill_area_write(struct spill_area *area, void *at, const void *from, size_t size)
{
    const int file = descriptor_of(area, at);
    while (size > 0) {
        const ssize_t written = pwrite(file, from, size, (off_t)((char *)at - area->addresses));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        at = (char *)at + written;
        from = (const char *)from + written;
        size -= (size_t)written;
    }
    memcpy(at, from, size);
}

bool spill_area_holds(const struct spill_area *area, const void *at)
{
    const uintptr_t begin = (uintptr_t)area->addresses, place = (uintptr_t)at;
    return begin && place >= begin && place - begin < area->address_bytes;
}

int64_t spill_area_used(struct spill_area *area)
{
    pthread_mutex_lock(&area->lock);
    const int64_t used = (int64_t)(area->used - area->pending);
    pthread_mutex_unlock(&area->lock);
    return used;
}
