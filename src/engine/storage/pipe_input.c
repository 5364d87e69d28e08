#include "engine/storage/pipe_input.h"

#include "base/heap.h"
#include "base/memory_size.h"
#include "base/path.h"
#include "engine/storage/growing_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Shells number the descriptors that they give below this. */
enum { MAX_GIVEN = 256 };

enum { STEP = 1 << 20, /* bytes read at once, and what a pipe is asked to hold */ WAIT_MS = 50 };

struct pipe {
    struct file_stamp stamp;
    int file; /* its data comes from here; when all has come, it only keeps others from having the same stamp */
    struct growing_buffer room; /* what has come so far */
    struct mapping *whole;      /* NULL until all has come */
};

struct pipes {
    struct pipe *at;
    size_t count, capacity;
    bool input_kept;
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
        if (pipe->room.data)
            munmap(pipe->room.data, pipe->room.size);
        mapping_unref(pipe->whole);
    }
    free(pipes->at);
    free(pipes);
}

void pipes_reserve_stdin(struct pipes *pipes)
{
    pipes->input_kept = true;
}

/* The descriptor that was open for this file when rql was started, or -1. Opening the path instead would not do: once
 * its writer has gone, a pipe that is opened anew does not end. */
static int given_descriptor(const struct stat *info)
{
    struct stat other;
    for (int file = 0; file < MAX_GIVEN; file++) {
        if (fstat(file, &other) == 0 && other.st_dev == info->st_dev && other.st_ino == info->st_ino)
            return file;
    }
    return -1;
}

bool path_is_pipe(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 &&
           (S_ISFIFO(info.st_mode) || (S_ISSOCK(info.st_mode) && given_descriptor(&info) >= 0));
}

static bool same_pipe(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode;
}

bool pipes_reject(const struct pipes *pipes, const char *path, struct span span, struct diags *diags)
{
    struct stat info, input;
    if (!pipes->input_kept || !path_is_pipe(path) || stat(path, &info) != 0 || fstat(STDIN_FILENO, &input) != 0 ||
        input.st_dev != info.st_dev || input.st_ino != info.st_ino)
        return false;
    diag_error(diags, span, "statements come through `%s`, so there is no data in it", path);
    diag_hint(diags, "`rql -c QUERY`, or a script in a file, leaves standard input to data");
    return true;
}

/* Opens the end that data comes from; -1 after an error. */
static int open_end(const char *path, struct span span, struct diags *diags)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        (void)file_open_error(path, span, diags);
        return -1;
    }
    int given = given_descriptor(&info);
    if (given >= 0 && (fcntl(given, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        diag_error(diags, span, "rql writes to `%s`, and cannot read from it", path);
        diag_hint(diags, "what is piped into rql comes through /dev/stdin");
        return -1;
    }
    /* Without O_NONBLOCK opening would wait for a writer, whatever the user says meanwhile. */
    int file = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, MAX_GIVEN)
                          : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        (void)file_open_error(path, span, diags);
    else
        (void)fcntl(file, F_SETPIPE_SZ, STEP); /* fewer turns between writer and reader, if it may be */
    return file;
}

static struct pipe *pipe_find(struct pipes *pipes, const char *path, struct span span, struct diags *diags)
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
    int file = pipes_reject(pipes, path, span, diags) ? -1 : open_end(path, span, diags);
    if (file < 0)
        return NULL;
    if (pipes->count == pipes->capacity) {
        pipes->capacity = pipes->capacity ? 2 * pipes->capacity : 4;
        pipes->at = heap_resize(pipes->at, pipes->capacity, sizeof *pipes->at);
    }
    pipes->at[pipes->count] =
        (struct pipe){.stamp = stamp, .file = file, .room = {.most = (size_t)system_memory_bytes()}};
    return &pipes->at[pipes->count++];
}

/* What is there now; 0 at the end, -1 with errno, of which EINTR and EAGAIN say that there is nothing yet. */
static ssize_t read_some(struct pipe *pipe)
{
    struct pollfd ready = {.fd = pipe->file, .events = POLLIN};
    int count = poll(&ready, 1, WAIT_MS);
    if (count > 0)
        return read(pipe->file, pipe->room.data + pipe->room.used, STEP);
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
        if (!growing_buffer_reserve(&pipe->room, STEP))
            return diag_error(diags, span, "there is no memory for what comes through `%s`", path);
        ssize_t got = read_some(pipe);
        if (got == 0)
            return STATUS_OK;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return diag_error(diags, span, "cannot read `%s`: %s", path, strerror(errno));
        pipe->room.used += got > 0 ? (size_t)got : 0;
    }
}

/* Nobody who writes to a named pipe later is to think that somebody reads, but its number must not go to another. */
static void keep_number_only(struct pipe *pipe)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", pipe->file);
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file >= 0) {
        close(pipe->file);
        pipe->file = file;
    }
}

enum status pipes_open(struct pipes *pipes, const char *path, const struct workers *workers, struct span span,
                       struct mapping **mapping, struct diags *diags)
{
    const char *shown = path_display(path, diags->arena);
    struct pipe *pipe = pipe_find(pipes, path, span, diags);
    if (!pipe)
        return STATUS_FAILED;
    enum status status = pipe->whole ? STATUS_OK : read_all(pipe, shown, workers, span, diags);
    if (status != STATUS_OK)
        return status;
    if (!pipe->whole) {
        pipe->whole = mapping_from_memory(shown, pipe->stamp, pipe->room.data, pipe->room.used, pipe->room.size);
        pipe->room.data = NULL;
        keep_number_only(pipe);
    }
    *mapping = mapping_ref(pipe->whole);
    return STATUS_OK;
}
