/* The process that compiles for others: orders come in at its standard input, a socket, and answers go out there. */
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
#include <unistd.h>

const char compile_role[] = "--compile-programs";

enum {
    IDLE_MS = 10000, /* without an order */
    KEY_MOST_BYTES = 1 << 26,
    STRIPES = 16 /* locks: programs are compiled at the same time unless they share one */
};

/* What an order needs, started by the first. */
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
        ssize_t got = recv(STDIN_FILENO, at + done, size - done, 0);
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
            ssize_t sent = send(STDIN_FILENO, parts[k] + done, sizes[k] - done, MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR)
                return false; /* nobody waits for it any more */
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

static void keep(const struct server *server, const struct blob *key, const struct blob *binary)
{
    if (server->cache)
        (void)cache_keep(server->cache, key, binary);
}

static cl_program build(const struct server *server, const char *text, struct failure *failure, struct strbuf *log)
{
    return compile_source(server->context, server->device, text, rehearse_option, failure, log);
}

/* Goes on to where the driver has nothing left to compile. A program that has been saved stays as it was then, so this
 * is another one; PoCL finds what the first one's compiling left. */
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
        keep(server, key, binary);
    }
    clReleaseProgram(program);
}

/* The program of a key, compiled; or why not. It is kept before it is finished: if that goes wrong, the driver can do
 * it once it is loaded. */
static bool compile(struct server *server, const struct blob *key, struct blob *binary, struct strbuf *why_not)
{
    struct failure failure = {0};
    struct strbuf log = {0};
    const char *text = open_device(server, &failure) ? compile_text(key, server->device) : NULL;
    cl_program program = text ? build(server, text, &failure, &log) : NULL;
    bool done = program && compile_save(program, binary, &failure);

    if (program)
        clReleaseProgram(program);
    if (done) {
        keep(server, key, binary);
        if (warm_up_pays(server->device))
            finish(server, key, text, binary);
    } else {
        if (!failure.call)
            cl_ok(&failure, "compiling for another device or driver", CL_INVALID_DEVICE);
        cl_failure_text(&failure, server->device ? server->device->name : "OpenCL", why_not);
        strbuf_puts(why_not, log.text ? log.text : "");
    }
    strbuf_free(&log);
    return done;
}

/* Held while a program is compiled and kept, so that processes that want the same one find the first one's; the system
 * lets go of it with the process. -1: there is none. */
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
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_free(&path);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX);
    return fd;
}

static bool serve(struct server *server, const struct blob *key)
{
    struct blob binary = {0};
    struct strbuf why_not = {0};
    int lock = lock_for(server, key);
    bool built = server->cache && cache_find(server->cache, key, &binary);

    if (!built)
        built = compile(server, key, &binary, &why_not);
    if (lock >= 0)
        close(lock);
    bool told = built ? answer(true, binary.bytes, binary.size) : answer(false, why_not.text, why_not.length);
    free(binary.bytes);
    strbuf_free(&why_not);
    return told;
}

/* Whether another order comes. */
static bool wait_for_order(void)
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
    uint64_t size;
    int problem;

    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (server.directory)
        server.cache = opencl_process_open_cache(server.directory, &problem);
    pocl_home_make(&home, server.directory);
    while (wait_for_order() && receive(&size, sizeof size) && size > 0 && size < KEY_MOST_BYTES) {
        key = (struct blob){heap_array((size_t)size, 1), (size_t)size};
        bool served = receive(key.bytes, key.size);
        /* Whoever ordered it sees to the limit; this is for when they have ended. */
        (void)alarm(COMPILE_LIMIT_SECONDS);
        served = served && serve(&server, &key);
        (void)alarm(0);
        free(key.bytes);
        if (!served)
            break;
    }
    pocl_home_remove(&home);
    _exit(0); /* nothing is left to do, and drivers take their time at an ordinary exit */
}
