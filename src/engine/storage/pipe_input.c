#include "engine/storage/pipe_input.h"

#include "base/heap.h"
#include "base/path.h"
#include "engine/storage/growing_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_INHERITED = 256, /* shells pass descriptors below this number */
    STEP = 1 << 20,      /* bytes per read, and the requested pipe capacity */
    WAIT_MS = 50
};

struct pipe {
    struct file_stamp stamp;
    int file; /* the read end; after the end of data it only keeps the inode number from being reused */
    struct growing_buffer buffer; /* data so far */
    struct mapping *mapping;      /* all data; NULL until complete */
};

struct pipes {
    struct pipe *at;
    size_t count, capacity;
    bool stdin_reserved;
};

struct pipes *pipes_new(void)
{
    return heap_array(1, sizeof(struct pipes));
}

void pipes_free(struct pipes *pipes)
{
    for (size_t i = 0; i < pipes->count; i++) {
        struct pipe *pipe = &pipes->at[i];
        close(pipe->file);
        growing_buffer_free(&pipe->buffer);
        mapping_unref(pipe->mapping);
    }
    free(pipes->at);
    free(pipes);
}

void pipes_reserve_stdin(struct pipes *pipes)
{
    pipes->stdin_reserved = true;
}

/* The descriptor that rql inherited for this file, or -1. Opening the path instead would not do: a pipe that is opened
 * again after its writer closed it has no end. */
static int inherited_descriptor(const struct stat *info)
{
    struct stat other;
    for (int file = 0; file < MAX_INHERITED; file++) {
        if (fstat(file, &other) == 0 && other.st_dev == info->st_dev && other.st_ino == info->st_ino)
            return file;
    }
    return -1;
}

bool path_is_pipe(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 &&
           (S_ISFIFO(info.st_mode) || (S_ISSOCK(info.st_mode) && inherited_descriptor(&info) >= 0));
}

static bool same_pipe(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode;
}

bool pipes_reject(const struct pipes *pipes, const char *path, struct span span, struct diags *diags)
{
    struct stat info, input;
    const bool may_be = path_is_pipe(path) || strcmp(path, PATH_STDIN) == 0;
    if (!pipes->stdin_reserved || !may_be || stat(path, &info) != 0 || fstat(STDIN_FILENO, &input) != 0 ||
        input.st_dev != info.st_dev || input.st_ino != info.st_ino)
        return false;
    diag_error(diags, span, "`%s` supplies the statements and cannot be loaded as data", path);
    diag_hint(diags, "use `rql -c QUERY` or a script file to load data from standard input");
    return true;
}

/* Opens the read end; -1 after an error. */
static int open_read_end(const char *path, struct span span, struct diags *diags)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        (void)file_open_error(path, span, diags);
        return -1;
    }
    const int inherited = inherited_descriptor(&info);
    if (inherited >= 0 && (fcntl(inherited, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        diag_error(diags, span, "`%s` is open for output only", path);
        diag_hint(diags, "data piped into rql is read from /dev/stdin");
        return -1;
    }
    /* Without O_NONBLOCK, opening waits for a writer and cannot be interrupted. */
    const int file = inherited >= 0 ? fcntl(inherited, F_DUPFD_CLOEXEC, MAX_INHERITED)
                                    : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        (void)file_open_error(path, span, diags);
    else
        (void)fcntl(file, F_SETPIPE_SZ, STEP); /* fewer switches between writer and reader; optional */
    return file;
}

static struct pipe *pipe_find(struct pipes *pipes, const char *path, struct buffer_pool *pool, struct span span,
                              struct diags *diags)
{
    struct file_stamp stamp;
    if (!file_stamp_of(path, &stamp)) {
        (void)file_open_error(path, span, diags);
        return NULL;
    }
    for (size_t i = 0; i < pipes->count; i++) {
        if (same_pipe(&pipes->at[i].stamp, &stamp))
            return &pipes->at[i];
    }
    const int file = pipes_reject(pipes, path, span, diags) ? -1 : open_read_end(path, span, diags);
    if (file < 0)
        return NULL;
    pipes->at = heap_reserve(pipes->at, pipes->count, &pipes->capacity, sizeof *pipes->at);
    pipes->at[pipes->count] = (struct pipe){.stamp = stamp, .file = file, .buffer = {.pool = pool}};
    return &pipes->at[pipes->count++];
}

/* Reads available data; 0 at the end, -1 with errno, EINTR and EAGAIN if there is none yet. */
static ssize_t read_some(struct pipe *pipe)
{
    struct pollfd ready = {.fd = pipe->file, .events = POLLIN};
    const int count = poll(&ready, 1, WAIT_MS);
    if (count > 0)
        return read(pipe->file, pipe->buffer.data + pipe->buffer.used, STEP);
    if (count == 0)
        errno = EAGAIN;
    return -1;
}

static enum status read_all(struct pipe *pipe, const char *path, const struct workers *workers, struct span span,
                            struct diags *diags)
{
    for (;;) {
        if (workers_cancelled(workers))
            return STATUS_CANCELLED;
        progress_report(workers->progress, &workers->whole);
        if (!growing_buffer_reserve(&pipe->buffer, STEP))
            return file_memory_error(path, span, diags);
        const ssize_t got = read_some(pipe);
        if (got == 0)
            return STATUS_OK;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return diag_error(diags, span, "cannot read `%s`: %s", path, strerror(errno));
        pipe->buffer.used += got > 0 ? (size_t)got : 0;
    }
}

/* Later writers to a named pipe must not find a reader, but its inode number must not be reused. */
static void close_read_end(struct pipe *pipe)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", pipe->file);
    const int file = open(path, O_PATH | O_CLOEXEC);
    if (file >= 0) {
        close(pipe->file);
        pipe->file = file;
    }
}

enum status pipes_open(struct pipes *pipes, const char *path, const struct workers *workers, struct span span,
                       struct mapping **mapping, struct diags *diags)
{
    const char *shown = path_display(path, diags->arena);
    struct pipe *pipe = pipe_find(pipes, path, workers->pool, span, diags);
    if (!pipe)
        return STATUS_FAILED;
    const enum status status = pipe->mapping ? STATUS_OK : read_all(pipe, shown, workers, span, diags);
    if (status != STATUS_OK)
        return status;
    if (!pipe->mapping) {
        pipe->mapping = mapping_from_buffer(shown, pipe->stamp, &pipe->buffer);
        close_read_end(pipe);
    }
    *mapping = mapping_ref(pipe->mapping);
    return STATUS_OK;
}
