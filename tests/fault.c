/* Preloaded into rql by tests/faults.py: the N-th call of a kind fails, once or from then on, is cut short or
 * interrupted, or the process is killed there. FAULT=KIND:N:HOW chooses; FAULT_FIRED names a file that is made when it
 * happens, and FAULT_COUNTS one for the number of calls of each kind. Calls of rql and its libraries are counted; those
 * within the C library are not seen, nor those within an OpenCL driver of its own functions. */
#include <CL/cl.h>
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
static const char *const kinds[] = {"allocate", "map",     "open",   "read",    "write",  "status",   "truncate",
                                    "sync",     "rename",  "unlink", "fork",    "pipe",   "thread",   "advise",
                                    "folder",   "context", "queue",  "program", "kernel", "argument", "buffer",
                                    "upload",   "fill",    "launch", "wait",    "fetch",  "mapping",  "ask"};
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
    FOLDER,
    CONTEXT,
    QUEUE,
    PROGRAM,
    KERNEL,
    ARGUMENT,
    BUFFER,
    UPLOAD,
    FILL,
    LAUNCH,
    AWAIT,
    FETCH,
    MAPPING,
    ASK
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
    char text[1024];
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

/* What makes an object of OpenCL returns NULL and writes its error to the last argument. */
#define MAKE(type, name, parameters, arguments, kind, error)                                                           \
    type name parameters                                                                                               \
    {                                                                                                                  \
        if (!fails(kind, 0))                                                                                           \
            return REAL(name) arguments;                                                                               \
        if (code)                                                                                                      \
            *code = error;                                                                                             \
        return NULL;                                                                                                   \
    }

typedef void CL_CALLBACK on_error(const char *, const void *, size_t, void *);
typedef void CL_CALLBACK on_built(cl_program, void *);

MAKE(cl_context, clCreateContext,
     (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices, on_error *told, void *data,
      cl_int *code),
     (properties, count, devices, told, data, code), CONTEXT, CL_OUT_OF_HOST_MEMORY)
MAKE(cl_command_queue, clCreateCommandQueue,
     (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *code),
     (context, device, properties, code), QUEUE, CL_OUT_OF_HOST_MEMORY)
MAKE(cl_program, clCreateProgramWithBinary,
     (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes, const unsigned char **texts,
      cl_int *statuses, cl_int *code),
     (context, count, devices, sizes, texts, statuses, code), PROGRAM, CL_INVALID_BINARY)
MAKE(cl_program, clCreateProgramWithSource,
     (cl_context context, cl_uint count, const char **texts, const size_t *sizes, cl_int *code),
     (context, count, texts, sizes, code), PROGRAM, CL_OUT_OF_HOST_MEMORY)
MAKE(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *code), (program, name, code), KERNEL,
     CL_OUT_OF_RESOURCES)
MAKE(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
     (context, flags, size, host, code), BUFFER, CL_MEM_OBJECT_ALLOCATION_FAILURE)
MAKE(void *, clEnqueueMapBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t at_, size_t size,
      cl_uint count, const cl_event *before, cl_event *event, cl_int *code),
     (queue, buffer, blocking, flags, at_, size, count, before, event, code), MAPPING, CL_MAP_FAILURE)

WRAP(cl_int, clBuildProgram,
     (cl_program program, cl_uint count, const cl_device_id *devices, const char *how_, on_built *told, void *data),
     (program, count, devices, how_, told, data), PROGRAM, 0, CL_BUILD_PROGRAM_FAILURE)
WRAP(cl_int, clCreateKernelsInProgram, (cl_program program, cl_uint count, cl_kernel *made, cl_uint *there),
     (program, count, made, there), KERNEL, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clSetKernelArg, (cl_kernel kernel, cl_uint number, size_t size, const void *value),
     (kernel, number, size, value), ARGUMENT, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueWriteBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t at_, size_t size, const void *data, cl_uint count,
      const cl_event *before, cl_event *event),
     (queue, buffer, blocking, at_, size, data, count, before, event), UPLOAD, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueFillBuffer,
     (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t at_, size_t size,
      cl_uint count, const cl_event *before, cl_event *event),
     (queue, buffer, pattern, pattern_size, at_, size, count, before, event), FILL, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueCopyBuffer,
     (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size, cl_uint count,
      const cl_event *before, cl_event *event),
     (queue, from, to, from_at, to_at, size, count, before, event), FILL, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueNDRangeKernel,
     (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *from, const size_t *items,
      const size_t *group, cl_uint count, const cl_event *before, cl_event *event),
     (queue, kernel, dimensions, from, items, group, count, before, event), LAUNCH, 0, CL_OUT_OF_RESOURCES)
/* Those that fail for good do wait: memory of commands that nothing waits for could never be used again. */
#define WAIT(name, parameters, arguments, error)                                                                       \
    cl_int name parameters                                                                                             \
    {                                                                                                                  \
        const int failed = fails(AWAIT, 0);                                                                            \
        const cl_int code = failed && how == ONCE ? CL_SUCCESS : REAL(name) arguments;                                 \
        return failed ? error : code;                                                                                  \
    }

WAIT(clFinish, (cl_command_queue queue), (queue), CL_OUT_OF_RESOURCES)
WAIT(clFlush, (cl_command_queue queue), (queue), CL_OUT_OF_RESOURCES)
WAIT(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events),
     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
WRAP(cl_int, clEnqueueReadBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t at_, size_t size, void *data, cl_uint count,
      const cl_event *before, cl_event *event),
     (queue, buffer, blocking, at_, size, data, count, before, event), FETCH, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueUnmapMemObject,
     (cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint count, const cl_event *before, cl_event *event),
     (queue, buffer, mapped, count, before, event), MAPPING, 0, CL_OUT_OF_RESOURCES)
WRAP(cl_int, clGetPlatformIDs, (cl_uint count, cl_platform_id *platforms, cl_uint *there), (count, platforms, there),
     ASK, 0, CL_OUT_OF_HOST_MEMORY)
WRAP(cl_int, clGetDeviceIDs,
     (cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id *devices, cl_uint *there),
     (platform, type, count, devices, there), ASK, 0, CL_DEVICE_NOT_FOUND)
WRAP(cl_int, clGetDeviceInfo, (cl_device_id device, cl_device_info name, size_t size, void *value, size_t *needed),
     (device, name, size, value, needed), ASK, 0, CL_OUT_OF_HOST_MEMORY)
WRAP(cl_int, clGetKernelWorkGroupInfo,
     (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t size, void *value, size_t *needed),
     (kernel, device, name, size, value, needed), ASK, 0, CL_OUT_OF_HOST_MEMORY)
WRAP(cl_int, clGetKernelArgInfo,
     (cl_kernel kernel, cl_uint number, cl_kernel_arg_info name, size_t size, void *value, size_t *needed),
     (kernel, number, name, size, value, needed), ASK, 0, CL_OUT_OF_HOST_MEMORY)
WRAP(cl_int, clGetKernelInfo, (cl_kernel kernel, cl_kernel_info name, size_t size, void *value, size_t *needed),
     (kernel, name, size, value, needed), ASK, 0, CL_OUT_OF_HOST_MEMORY)
WRAP(cl_int, clGetEventInfo, (cl_event event, cl_event_info name, size_t size, void *value, size_t *needed),
     (event, name, size, value, needed), ASK, 0, CL_OUT_OF_RESOURCES)

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl*) */
