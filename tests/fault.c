/* Preloaded into rql by tests/faults.py: the N-th call of a kind fails, once or from then on, is cut short or
 * interrupted, or the process is killed there. FAULT=KIND:N:HOW chooses; FAULT_FIRED names a file that is made when it
 * happens, and FAULT_COUNTS one for the number of calls of each kind. Calls of rql and its libraries are counted; those
 * within the C library are not seen. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum how { ONCE, ON, SHORT, INTERRUPTED, KILLED };

static const char *const hows[] = {"once", "on", "short", "interrupted", "killed"};
static const char *const kinds[] = {"allocate", "map",    "open", "read", "write",  "status", "truncate", "sync",
                                    "rename",   "unlink", "fork", "pipe", "thread", "advise", "folder"};
enum kind {
    ALLOCATE,
    MAP,
    OPEN,
    READ,
    WRITE,
    STATUS,
    TRUNCATE,
    SYNC,
    RENAME,
    UNLINK,
    FORK,
    PIPE,
    THREAD,
    ADVISE,
    FOLDER
};

static int chosen = -1;
static enum how how;
static long at;
static const char *fired_path;
static atomic_long calls[sizeof kinds / sizeof *kinds];

/* Before main, and before the environment is given on: other programs run without faults. */
__attribute__((constructor)) static void start(void)
{
    const char *fault = getenv("FAULT");
    char kind[16], manner[16];
    long number;
    if (fault && sscanf(fault, "%15[a-z]:%ld:%15[a-z]", kind, &number, manner) == 3) {
        at = number;
        fired_path = getenv("FAULT_FIRED");
        for (size_t k = 0; k < sizeof hows / sizeof *hows; k++)
            how = strcmp(hows[k], manner) == 0 ? (enum how)k : how;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            chosen = strcmp(kinds[k], kind) == 0 ? (int)k : chosen;
    }
    unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void report(void)
{
    char text[512];
    size_t length = 0;
    const char *path = getenv("FAULT_COUNTS");
    const long file = path ? syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %ld\n", kinds[k], (long)calls[k]);
    if (file >= 0)
        syscall(SYS_write, file, text, length);
}

/* Whether this call fails; then errno is set. */
static int fails(enum kind kind, int error)
{
    const long call = ++calls[kind];
    if ((int)kind != chosen)
        return 0;
    if (call != at && !(how == ON && call > at))
        return 0;
    if (call == at && fired_path) {
        const long file = syscall(SYS_openat, AT_FDCWD, fired_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0)
            syscall(SYS_close, file);
    }
    if (how == KILLED)
        (void)raise(SIGKILL);
    errno = how == INTERRUPTED ? EINTR : error;
    return 1;
}

#define REAL(name) (__extension__((__typeof__(&name))real(#name)))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The parameters of the C library have names that are reserved for it. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl*) */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails(ALLOCATE, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(ALLOCATE, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(ALLOCATE, ENOMEM) ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || fails(ALLOCATE, ENOMEM)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(ALLOCATE, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *got = fails(ALLOCATE, ENOMEM) ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = fails(ALLOCATE, ENOMEM) ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    return fails(MAP, ENOMEM) ? MAP_FAILED : (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return fails(OPEN, EMFILE) ? NULL : REAL(fopen)(path, mode);
}

/* What is left of a count if the call is cut short. */
static size_t cut(size_t size)
{
    return size > 1 ? size / 2 : size;
}

#define TRANSFER(kind, error, size, call)                                                                              \
    do {                                                                                                               \
        if (fails(kind, error)) {                                                                                      \
            if (how != SHORT)                                                                                          \
                return -1;                                                                                             \
            size = cut(size);                                                                                          \
        }                                                                                                              \
        return call;                                                                                                   \
    } while (0)

ssize_t read(int file, void *data, size_t size)
{
    TRANSFER(READ, EIO, size, syscall(SYS_read, file, data, size));
}

ssize_t pread(int file, void *data, size_t size, off_t offset)
{
    TRANSFER(READ, EIO, size, syscall(SYS_pread64, file, data, size, offset));
}

ssize_t write(int file, const void *data, size_t size)
{
    if (file == STDERR_FILENO)
        return syscall(SYS_write, file, data, size);
    TRANSFER(WRITE, ENOSPC, size, syscall(SYS_write, file, data, size));
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    TRANSFER(WRITE, ENOSPC, size, syscall(SYS_pwrite64, file, data, size, offset));
}

#define WRAP(type, name, parameters, arguments, kind, error, failed)                                                   \
    type name parameters                                                                                               \
    {                                                                                                                  \
        return fails(kind, error) ? failed : REAL(name) arguments;                                                     \
    }

WRAP(int, stat, (const char *path, struct stat *info), (path, info), STATUS, EIO, -1)
WRAP(int, lstat, (const char *path, struct stat *info), (path, info), STATUS, EIO, -1)
WRAP(int, fstat, (int file, struct stat *info), (file, info), STATUS, EIO, -1)
WRAP(int, fstatat, (int at_, const char *path, struct stat *info, int flags), (at_, path, info, flags), STATUS, EIO, -1)
WRAP(int, ftruncate, (int file, off_t size), (file, size), TRUNCATE, ENOSPC, -1)
WRAP(int, fallocate, (int file, int mode, off_t from, off_t size), (file, mode, from, size), TRUNCATE, ENOSPC, -1)
WRAP(int, fsync, (int file), (file), SYNC, EIO, -1)
WRAP(int, fdatasync, (int file), (file), SYNC, EIO, -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), RENAME, ENOSPC, -1)
WRAP(int, unlink, (const char *path), (path), UNLINK, EIO, -1)
WRAP(pid_t, fork, (void), (), FORK, EAGAIN, -1)
WRAP(int, pipe, (int ends[2]), (ends), PIPE, EMFILE, -1)
WRAP(int, pipe2, (int ends[2], int flags), (ends, flags), PIPE, EMFILE, -1)
WRAP(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends), PIPE, EMFILE,
     -1)
WRAP(int, madvise, (void *memory, size_t size, int advice), (memory, size, advice), ADVISE, ENOMEM, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), FOLDER, ENOSPC, -1)
WRAP(char *, mkdtemp, (char *path), (path), FOLDER, ENOSPC, NULL)
WRAP(DIR *, opendir, (const char *path), (path), FOLDER, EMFILE, NULL)

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[])
{
    return fails(FORK, EAGAIN) ? EAGAIN : REAL(posix_spawn)(process, path, actions, attributes, arguments, variables);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return fails(THREAD, EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl*) */
