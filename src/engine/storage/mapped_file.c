#include "engine/storage/mapped_file.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/path.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/growing_buffer.h"
#include "engine/storage/pipe_input.h"
#include "engine/values/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MAPPINGS = 16384, DROP_BYTES = 128 << 10, READ_BYTES = 64 << 10 };

/* Limit for files without a size. */
static const size_t max_unsized = (size_t)1 << 30;

/* One mapped address range. The signal handler may read it at any time, so `begin` is set last and cleared first. */
struct slot {
    atomic_uintptr_t begin; /* 0: free */
    atomic_uintptr_t end;
    atomic_bool faulted; /* the handler mapped zeroes */
};

struct mappings {
    size_t page_size;
    atomic_size_t used; /* slots in use so far */
    struct slot slots[MAX_MAPPINGS];
};

/* The first and last bytes of a file: a longer file that has the same ones at these places only grew. */
struct ends {
    unsigned char first[256], last[256];
};

struct mapping {
    char *path;               /* as shown in messages */
    void *data;               /* NULL if empty */
    size_t length;            /* bytes of the file */
    size_t reserved;          /* bytes mapped */
    struct slot *slot;        /* NULL for a file that was read, not mapped: */
    struct buffer_pool *pool; /* has its memory, one reference; may be NULL */
    int file;                 /* kept open to detect changes, -1 for a file that was read */
    struct file_stamp stamp;
    struct ends ends;
    struct mapping_source *source; /* NULL: the file is here */
    _Atomic int refs;
};

struct mappings *mappings_new(void)
{
    struct mappings *mappings = heap_array(1, sizeof *mappings);
    mappings->page_size = (size_t)sysconf(_SC_PAGESIZE);
    return mappings;
}

void mappings_free(struct mappings *mappings)
{
    free(mappings);
}

bool mappings_repair(struct mappings *mappings, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    const size_t used = atomic_load(&mappings->used);
    for (size_t i = 0; i < used; i++) {
        struct slot *slot = &mappings->slots[i];
        uintptr_t begin = atomic_load(&slot->begin);
        uintptr_t end = atomic_load(&slot->end);
        if (begin == 0 || at < begin || at >= end)
            continue;
        /* The pages after it are missing as well; one signal for all is enough. */
        uintptr_t page = at / mappings->page_size * mappings->page_size;
        const int saved_errno = errno;
        void *zeroes =
            mmap((void *)page, end - page, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        errno = saved_errno;
        atomic_store(&slot->faulted, true);
        return zeroes != MAP_FAILED;
    }
    return false;
}

/* Takes a free slot; several threads may open files. A slot that is being taken has an empty range. */
static struct slot *slot_acquire(struct mappings *mappings, void *data, size_t reserved)
{
    for (size_t i = 0; i < MAX_MAPPINGS; i++) {
        struct slot *slot = &mappings->slots[i];
        uintptr_t none = 0;
        if (atomic_load(&slot->begin) != 0 || !atomic_compare_exchange_strong(&slot->begin, &none, UINTPTR_MAX))
            continue;
        size_t used = atomic_load(&mappings->used);
        atomic_store(&slot->faulted, false);
        atomic_store(&slot->end, (uintptr_t)data + reserved);
        while (used <= i && !atomic_compare_exchange_weak(&mappings->used, &used, i + 1)) {
        }
        atomic_store(&slot->begin, (uintptr_t)data);
        return slot;
    }
    return NULL;
}

static struct file_stamp stamp_of(const struct stat *info)
{
    if (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode))
        return (struct file_stamp){.device = info->st_dev, .inode = info->st_ino};
    return (struct file_stamp){.device = info->st_dev,
                               .inode = info->st_ino,
                               .size = info->st_size,
                               .mtime_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec};
}

bool file_stamp_of(const char *path, struct file_stamp *stamp)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    *stamp = stamp_of(&info);
    return true;
}

enum status file_open_error(const char *full_path, struct span span, struct diags *diags)
{
    const int error = errno;
    const char *path = path_display(full_path, diags->arena);
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return file_not_found(full_path, span, diags);
    case EACCES:
    case EPERM:
        diag_error(diags, span, "cannot read `%s`: %s", path, strerror(error));
        break;
    case ENXIO:
        diag_error(diags, span, "`%s` is a socket or device, not a data file", path);
        break;
    case EMFILE: {
        struct rlimit limit = {0};
        getrlimit(RLIMIT_NOFILE, &limit);
        diag_error(diags, span, "cannot open `%s`: the limit of %llu open files is reached", path,
                   (unsigned long long)limit.rlim_cur);
        diag_hint(diags, "raise it with `ulimit -n` before starting rql");
        break;
    }
    default:
        diag_error(diags, span, "cannot open `%s`: %s", path, strerror(error));
    }
    return STATUS_FAILED;
}

static const char *file_kind(mode_t mode, int file)
{
    if (S_ISDIR(mode))
        return "a directory";
    return isatty(file) ? "a terminal" : "a device";
}

static enum status check_regular(const struct stat *info, int file, const char *path, struct span span,
                                 struct diags *diags)
{
    if (S_ISREG(info->st_mode))
        return STATUS_OK;
    const bool standard = strcmp(path, PATH_STDIN) == 0;
    diag_error(diags, span, standard ? "%s is %s, not a data file" : "`%s` is %s, not a data file",
               standard ? "standard input" : path, file_kind(info->st_mode, file));
    if (standard || isatty(file))
        diag_hint(diags, "to load a program's output: `PROGRAM | rql -c 'load - csv'`");
    else if (!S_ISDIR(info->st_mode))
        diag_hint(diags, "copy its data to a file and load that");
    return STATUS_FAILED;
}

enum status file_memory_error(const char *path, struct span span, struct diags *diags)
{
    return diag_no_memory(diags, span, "not enough memory to load `%s`", path);
}

static enum status read_to_end(struct growing_buffer *buffer, int file, const char *path, struct span span,
                               struct diags *diags)
{
    for (;;) {
        if (buffer->max - buffer->used < READ_BYTES)
            return diag_error(diags, span, "`%s` has no known size and is larger than 1 GiB", path);
        if (!growing_buffer_reserve(buffer, READ_BYTES))
            return file_memory_error(path, span, diags);
        const ssize_t got = read(file, buffer->data + buffer->used, buffer->size - buffer->used);
        if (got == 0)
            return STATUS_OK;
        if (got < 0 && errno != EINTR)
            return diag_error(diags, span, "cannot read `%s`: %s", path, strerror(errno));
        buffer->used += got > 0 ? (size_t)got : 0;
    }
}

/* For files without a size (/proc) and file systems without mmap. */
static enum status read_whole(struct mapping *mapping, int file, struct span span, struct diags *diags)
{
    struct growing_buffer buffer = {.max = max_unsized + READ_BYTES};
    const enum status status = read_to_end(&buffer, file, mapping->path, span, diags);
    mapping->data = buffer.data;
    mapping->length = buffer.used;
    mapping->reserved = buffer.size;
    return status;
}

/* Takes the slot of the mapped pages. */
static enum status guard(struct mappings *mappings, struct mapping *mapping, size_t size, struct span span,
                         struct diags *diags)
{
    const size_t page = mappings->page_size;
    mapping->length = size;
    mapping->reserved = (size + page - 1) / page * page;
    mapping->slot = slot_acquire(mappings, mapping->data, mapping->reserved);
    if (!mapping->slot)
        return diag_error(diags, span, "cannot map `%s`: the limit of %d mapped files is reached", mapping->path,
                          MAX_MAPPINGS);
    return STATUS_OK;
}

/* No madvise: MADV_SEQUENTIAL would evict pages early, but the next query reads the column again. */
static enum status map_whole(struct mappings *mappings, struct mapping *mapping, int file, struct span span,
                             struct diags *diags)
{
    const size_t size = (size_t)mapping->stamp.size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED && (errno == ENODEV || errno == EINVAL || errno == EACCES))
        return read_whole(mapping, file, span, diags);
    if (data == MAP_FAILED)
        return diag_error(diags, span, "cannot map `%s`: %s", mapping->path, strerror(errno));
    mapping->data = data;
    return guard(mappings, mapping, size, span, diags);
}

/* The ends of what the file was when it had this size. */
static struct ends read_ends(int file, int64_t size)
{
    struct ends ends = {{0}, {0}};
    const int64_t length = sizeof ends.last;
    (void)!pread(file, ends.first, sizeof ends.first, 0);
    (void)!pread(file, ends.last, sizeof ends.last, size > length ? size - length : 0);
    const size_t read = (size_t)(size < length ? size : length);
    memset(ends.first + read, 0, sizeof ends.first - read);
    memset(ends.last + read, 0, sizeof ends.last - read);
    return ends;
}

static enum status open_regular(struct mappings *mappings, struct mapping *mapping, int file, struct span span,
                                struct diags *diags)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return file_open_error(mapping->path, span, diags);
    if (check_regular(&info, file, mapping->path, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    mapping->stamp = stamp_of(&info);
    mapping->ends = read_ends(file, info.st_size);
    return info.st_size == 0 ? read_whole(mapping, file, span, diags) : map_whole(mappings, mapping, file, span, diags);
}

enum status mapping_open(struct mappings *mappings, const char *path, struct span span, struct mapping **mapping,
                         struct diags *diags)
{
    /* Without O_NONBLOCK, opening a named pipe waits for a writer. */
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return file_open_error(path, span, diags);
    struct mapping *opened = heap_array(1, sizeof *opened);
    opened->refs = 1;
    opened->file = -1;
    opened->path = heap_text(path_display(path, diags->arena));
    const enum status status = open_regular(mappings, opened, file, span, diags);
    if (opened->slot)
        opened->file = file;
    else
        close(file);
    if (status != STATUS_OK) {
        mapping_unref(opened);
        return status;
    }
    *mapping = opened;
    return STATUS_OK;
}

struct mapping *mapping_from_buffer(const char *path, struct file_stamp stamp, struct growing_buffer *buffer)
{
    struct mapping *mapping = HEAP_NEW(struct mapping, .path = heap_text(path), .data = buffer->data,
                                       .length = buffer->used, .reserved = buffer->size,
                                       .pool = buffer_pool_ref(buffer->pool), .file = -1, .stamp = stamp, .refs = 1);
    *buffer = (struct growing_buffer){0};
    return mapping;
}

enum status mapping_of_source(struct mappings *mappings, const char *path, int file, size_t offset, size_t length,
                              struct file_stamp stamp, struct mapping_source *source, struct span span,
                              struct mapping **mapping, struct diags *diags)
{
    struct mapping *opened =
        HEAP_NEW(struct mapping, .path = heap_text(path), .file = -1, .stamp = stamp, .source = source, .refs = 1);
    enum status status = STATUS_OK;
    void *data = length > 0 ? mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)offset) : NULL;
    if (data == MAP_FAILED) {
        status = diag_error(diags, span, "cannot map what was received of `%s`: %s", path, strerror(errno));
    } else if (data) {
        opened->data = data;
        status = guard(mappings, opened, length, span, diags);
    }
    if (status == STATUS_OK)
        *mapping = opened;
    else
        mapping_unref(opened);
    return status;
}

bool mapping_is_partial(const struct mapping *mapping)
{
    return mapping->source;
}

enum status mapping_need(struct mapping *mapping, const struct byte_range *ranges, size_t count,
                         const struct workers *workers, struct span span, struct diags *diags)
{
    return mapping->source && count > 0
               ? mapping->source->ops->need(mapping->source, ranges, count, workers, span, diags)
               : STATUS_OK;
}

enum status mapping_need_all(struct mapping *mapping, const struct workers *workers, struct span span,
                             struct diags *diags)
{
    const struct byte_range all = {0, mapping->length};
    return mapping_need(mapping, &all, 1, workers, span, diags);
}

struct mapping *mapping_ref(struct mapping *mapping)
{
    atomic_fetch_add_explicit(&mapping->refs, 1, memory_order_relaxed);
    return mapping;
}

void mapping_unref(struct mapping *mapping)
{
    if (!mapping || atomic_fetch_sub_explicit(&mapping->refs, 1, memory_order_acq_rel) > 1)
        return;
    if (mapping->slot)
        atomic_store(&mapping->slot->begin, 0);
    if (mapping->data && mapping->slot)
        munmap(mapping->data, mapping->reserved);
    else
        buffer_pool_release(mapping->pool, mapping->data, mapping->reserved);
    buffer_pool_unref(mapping->pool);
    if (mapping->file >= 0)
        close(mapping->file);
    if (mapping->source)
        mapping->source->ops->close(mapping->source);
    free(mapping->path);
    free(mapping);
}

const void *mapping_data(const struct mapping *mapping)
{
    return mapping->data;
}

size_t mapping_length(const struct mapping *mapping)
{
    return mapping->length;
}

const char *mapping_path(const struct mapping *mapping)
{
    return mapping->path;
}

struct file_stamp mapping_stamp(const struct mapping *mapping)
{
    return mapping->stamp;
}

bool mapping_is_file(const struct mapping *mapping)
{
    return mapping->slot;
}

bool mapping_changed(const struct mapping *mapping)
{
    if (mapping->slot && atomic_load(&mapping->slot->faulted))
        return true;
    if (mapping->source)
        return mapping->source->ops->changed(mapping->source);
    if (!mapping->slot)
        return false;
    struct stat info;
    if (fstat(mapping->file, &info) != 0)
        return true;
    const struct file_stamp now = stamp_of(&info);
    if (now.size <= mapping->stamp.size)
        return now.size < mapping->stamp.size || now.mtime_ns != mapping->stamp.mtime_ns;
    const struct ends ends = read_ends(mapping->file, mapping->stamp.size);
    return memcmp(&ends, &mapping->ends, sizeof ends) != 0;
}

enum status mapping_check_unchanged(const struct mapping *mapping, struct span span, struct diags *diags)
{
    return mapping_changed(mapping) ? mapping_report_change(mapping, span, diags) : STATUS_OK;
}

enum status mapping_report_change(const struct mapping *mapping, struct span span, struct diags *diags)
{
    return diag_error(diags, span, "`%s` changed while it was read%s", mapping->path,
                      mapping->source ? ": load it again" : "");
}

void mapping_drop_pages(const struct mapping *mapping, size_t offset, size_t length)
{
    /* Aligned to the blocks in which the page cache holds files: it does not drop part of one. */
    const size_t step = DROP_BYTES;
    size_t begin = (offset + step - 1) / step * step, end = (offset + length) / step * step;
    if (!mapping->slot || begin >= end)
        return;
    (void)madvise((char *)mapping->data + begin, end - begin, MADV_DONTNEED);
    if (mapping->file >= 0)
        (void)posix_fadvise(mapping->file, (off_t)begin, (off_t)(end - begin), POSIX_FADV_DONTNEED);
}
