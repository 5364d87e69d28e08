/* The compiler process: requests arrive on its standard input, a socket, and answers are sent there. */
#include "cl/compile/compile.h"
#include "cl/compile/compile_client.h"
#include "cl/compile/opencl_process.h"
#include "cl/compile/warm_up.h"
#include "cl/device/pocl_home.h"

#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

const char compile_role[] = "--compile-programs";

enum {
    IDLE_MS = 60000, /* without a request: the driver takes seconds to start again */
    NICENESS = 5,    /* queries run meanwhile without programs */
    KEY_MOST_BYTES = 1 << 26,
    LOCK_TRIES = 250, /* of 20 ms: then its holder is stuck, and the program is compiled by both */
    STRIPES = 16      /* locks: programs with different locks are compiled concurrently */
};

/* The state for requests, initialised by the first. */
struct server {
    const char *number;    /* of the device */
    const char *directory; /* of the cache, or NULL */
    struct cache *cache;   /* or NULL */
    struct device *devices;
    const struct device *device;
    cl_context context;
};

static bool receive(void *bytes, size_t size)
{
    char *at = bytes;
    for (size_t done = 0; done < size;) {
        const ssize_t got = recv(STDIN_FILENO, at + done, size - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool answer(bool built, const void *bytes, size_t size)
{
    struct answer head = {.built = built, .size = size};
    const char *parts[] = {(const char *)&head, bytes};
    const size_t sizes[] = {sizeof head, size};
    for (size_t k = 0; k < 2; k++) {
        for (size_t done = 0; done < sizes[k];) {
            const ssize_t sent = send(STDIN_FILENO, parts[k] + done, sizes[k] - done, MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR)
                return false; /* the client has ended */
            done += sent > 0 ? (size_t)sent : 0;
        }
    }
    return true;
}

static bool open_device(struct server *server, struct failure *failure)
{
    size_t count;
    cl_int code;
    if (server->context)
        return true;
    server->devices = devices_find(&count, failure);
    server->device = device_choose(server->number, server->devices, count);
    if (!server->device)
        return cl_ok(failure, "clGetDeviceIDs", CL_DEVICE_NOT_FOUND);
    *failure = (struct failure){0};
    server->context = clCreateContext(NULL, 1, &server->device->id, NULL, NULL, &code);
    return cl_ok(failure, "clCreateContext", code);
}

static void store(const struct server *server, const struct blob *key, const struct blob *binary)
{
    if (server->cache)
        (void)cache_store(server->cache, key, binary);
}

static cl_program build(const struct server *server, const char *text, struct failure *failure, struct strbuf *log)
{
    return compile_source(server->context, server->device, text, warm_up_option, failure, log);
}

/* Builds the program again and warms it up, so that its binary needs no further compilation. The first build's binary
 * is unaffected by launches, so another one is needed; PoCL reuses its files. */
static void finish(const struct server *server, const struct blob *key, const char *text, struct blob *binary)
{
    struct failure failure = {0};
    struct blob finished;
    cl_program program = build(server, text, &failure, NULL);
    if (!program)
        return;
    warm_up(server->context, server->device, program);
    if (compile_save(program, &finished, &failure)) {
        free(binary->bytes);
        *binary = finished;
        store(server, key, binary);
    }
    clReleaseProgram(program);
}

/* Compiles the program of a key, or appends the error. The binary is stored before the warm-up: if that crashes, the
 * driver can finish compilation after loading. */
static bool compile(struct server *server, const struct blob *key, struct blob *binary, struct strbuf *error)
{
    struct failure failure = {0};
    struct strbuf log = {0};
    const char *text = open_device(server, &failure) ? compile_text(key, server->device) : NULL;
    cl_program program = text ? build(server, text, &failure, &log) : NULL;
    const bool done = program && compile_save(program, binary, &failure);
    if (program)
        clReleaseProgram(program);
    if (done) {
        store(server, key, binary);
        if (warm_up_pays(server->device))
            finish(server, key, text, binary);
    } else {
        if (!failure.call)
            cl_ok(&failure, "compiling for another device or driver", CL_INVALID_DEVICE);
        cl_failure_text(&failure, server->device ? server->device->name : "OpenCL", error);
        strbuf_puts(error, log.text ? log.text : "");
    }
    strbuf_free(&log);
    return done;
}

/* A lock held while a program is compiled and stored, so that other processes find it in the cache; released when the
 * process ends. -1: none. */
static int lock_for(const struct server *server, const struct blob *key)
{
    struct strbuf path = {0};
    unsigned stripe = 0;
    const unsigned char *bytes = key->bytes;
    if (!server->cache)
        return -1;
    for (size_t k = 0; k < key->size; k++)
        stripe = stripe * 31 + bytes[k];
    strbuf_printf(&path, "%s/lock.%x", server->directory, stripe % STRIPES);
    const int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_free(&path);
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int k = 0; fd >= 0 && k < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; k++)
        (void)nanosleep(&pause, NULL);
    return fd;
}

static bool serve(struct server *server, const struct blob *key)
{
    struct blob binary = {0};
    struct strbuf error = {0};
    struct failure failure = {0};
    (void)open_device(server, &failure); /* before others wait for the lock; a failure is reported below */
    const int lock = lock_for(server, key);
    bool built = server->cache && cache_find(server->cache, key, &binary);
    if (!built)
        built = compile(server, key, &binary, &error);
    if (lock >= 0)
        close(lock);
    const bool sent = built ? answer(true, binary.bytes, binary.size) : answer(false, error.text, error.length);
    free(binary.bytes);
    strbuf_free(&error);
    return sent;
}

/* Waits for a request; false if there is none. */
static bool wait_for_request(void)
{
    struct pollfd order = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready;
    do
        ready = poll(&order, 1, IDLE_MS);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

int compile_serve(int argc, char **argv)
{
    static const struct rlimit no_core = {0};
    struct server server = {.number = argc > 2 ? argv[2] : "", .directory = argc > 3 ? argv[3] : NULL};
    struct pocl_home home = {0};
    struct blob key = {0};
    struct failure failure = {0};
    uint64_t size;
    int problem;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (server.directory)
        server.cache = opencl_process_open_cache(server.directory, &problem);
    pocl_home_create(&home, server.directory);
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    (void)alarm(COMPILE_LIMIT_SECONDS);
    (void)open_device(&server, &failure); /* while the first request may be on its way */
    (void)alarm(0);
    while (wait_for_request() && receive(&size, sizeof size) && size > 0 && size < KEY_MOST_BYTES) {
        key = (struct blob){heap_array((size_t)size, 1), (size_t)size};
        bool served = receive(key.bytes, key.size);
        /* The client enforces the limit; this is for clients that have ended. */
        (void)alarm(COMPILE_LIMIT_SECONDS);
        served = served && serve(&server, &key);
        (void)alarm(0);
        free(key.bytes);
        if (!served)
            break;
    }
    pocl_home_remove(&home);
    _exit(0); /* drivers take long at a regular exit */
}
