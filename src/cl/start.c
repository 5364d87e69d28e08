/* A thread loads the drivers and opens the device: at a prompt with a GPU at once, otherwise for a query that has run
 * for 15 ms and has more than 60 ms of work left, ten times as much where no GPU is to be expected. Only a query for a
 * device that the user has named waits for it, and Ctrl-C ends that wait. A process that ends while a driver starts
 * calls _exit, because exit would wait for the loader's lock. */
#include "cl/start.h"

#include "cl/accelerator_open.h"
#include "cl/compile/compile.h"
#include "cl/compile/compile_client.h"

#include "base/heap.h"
#include "base/parallel.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POLL_MS = 50 /* between checks of `cancel`, which may be set just before a wait begins */ };

struct start {
    char *choice;
    struct opencl_process *process;
    struct signals signals; /* those of `process`, or recorded here */
    bool begun;
    pthread_t thread;
    bool threaded, joined;
    int done_fd; /* readable when the thread is done; -1: none, so the thread is joined without polling */

    pthread_mutex_t lock;
    bool done, abandoned;
    struct accelerator *accelerator; /* NULL: there is none, because: */
    char *why_not, *hint;
};

struct start *start_new(const char *choice, struct opencl_process *process)
{
    struct start *start = heap_array(1, sizeof *start);
    start->choice = heap_text(choice);
    start->process = process;
    start->done_fd = -1;
    if (process)
        start->signals = process->signals;
    else
        signals_record(&start->signals);
    pthread_mutex_init(&start->lock, NULL);
    return start;
}

/* Writes that the chosen device does not exist, and which devices do. */
static void explain_no_device(struct start *start, const struct device *devices, size_t count,
                              const struct failure *failure)
{
    struct strbuf why = {0}, hint = {0};
    if (strcmp(start->choice, "auto") == 0)
        strbuf_puts(&why, "there is no OpenCL device, so queries run without");
    else if (strcmp(start->choice, "cpu") == 0)
        strbuf_puts(&why, "there is no OpenCL device that is a CPU");
    else if (strcmp(start->choice, "gpu") == 0)
        strbuf_puts(&why, "there is no OpenCL device that is a GPU");
    else
        strbuf_printf(&why, "there is no usable OpenCL device %s", start->choice);
    if (count == 0 && failure->call && strcmp(start->choice, "auto") != 0)
        strbuf_printf(&why, ": %s gave %s (%d)", failure->call, cl_error_name(failure->code), failure->code);
    strbuf_puts(&hint, count > 0 ? "there is " : "`.devices` says what to install; `.device host` needs none");
    for (size_t k = 0; k < count; k++) {
        strbuf_puts(&hint, k > 0 ? ", " : "");
        device_title(&devices[k], &hint);
        const char *lacks = device_usable(&devices[k]) ? NULL : device_lacks(&devices[k]);
        if (lacks)
            strbuf_printf(&hint, ", but %s", lacks);
    }
    start->why_not = why.text;
    start->hint = hint.text;
}

/* A driver takes 200 MB and one thread; the evaluator goes on meanwhile. */
static size_t compiler_processes(void)
{
    enum { THREADS_EACH = 2, MOST = 8 };
    const int processes = parallel_threads() / THREADS_EACH;
    return processes < 1 ? 1 : processes > MOST ? MOST : (size_t)processes;
}

/* NULL: this process compiles. Where no program is kept yet, many will be wanted as soon as the device has started, and
 * a few processes start beside it: four at once take 2 s, eight 3.3. */
static struct compiler *make_compiler(const struct device *device, const struct opencl_process *process)
{
    enum { AT_ONCE = 3 };
    char number[24];
    const char *const arguments[] = {"rql", compile_role, number, process->directory, NULL};
    snprintf(number, sizeof number, "%zu", device->number);
    if (!process->executable)
        return NULL;
    struct compiler *compiler =
        compiler_new(process->executable, arguments, COMPILE_LIMIT_SECONDS * 1000, compiler_processes());
    if ((device->type & CL_DEVICE_TYPE_GPU) != 0 && process->cache && cache_is_empty(process->cache))
        compiler_start(compiler, AT_ONCE);
    return compiler;
}

static void set_process(struct accelerator *accelerator, const struct opencl_process *process,
                        struct compiler *compiler)
{
    accelerator->cache = process->cache;
    accelerator->no_cache = process->no_directory;
    accelerator->home = (accelerator->device.type & CL_DEVICE_TYPE_CPU) != 0 ? &process->home : NULL;
    accelerator->compiler = compiler;
}

static void open_device(struct start *start)
{
    struct failure failure = {0};
    size_t count;
    struct device *devices = devices_find(&count, &failure);
    const struct device *device = device_choose(start->choice, devices, count);
    if (!device) {
        explain_no_device(start, devices, count, &failure);
    } else {
        struct compiler *compiler = start->process ? make_compiler(device, start->process) : NULL;
        failure = (struct failure){0};
        start->accelerator = accelerator_open(device, device_kernel_config(device), &failure);
        if (start->accelerator) {
            start->accelerator->signals = start->signals;
            if (start->process)
                set_process(start->accelerator, start->process, compiler);
        } else {
            compiler_free(compiler);
            struct strbuf why = {0};
            cl_failure_text(&failure, device->name, &why);
            start->why_not = why.text;
            start->hint = heap_text("`.device host` runs queries without OpenCL");
        }
    }
    free(devices);
}

static void release(struct start *start)
{
    accelerator_close(start->accelerator);
    if (start->done_fd >= 0)
        close(start->done_fd);
    pthread_mutex_destroy(&start->lock);
    free(start->choice);
    free(start->why_not);
    free(start->hint);
    free(start);
}

/* The thread. Of the thread and start_free, the last one releases the start. */
static void *run(void *argument)
{
    struct start *start = argument;
    struct opencl_process *process = start->process;
    struct thread_signals before;
    signals_hold(&before);
    open_device(start);
    signals_restore(&start->signals);
    pthread_mutex_lock(&start->lock);
    start->done = true;
    const bool abandoned = start->abandoned;
    if (start->done_fd >= 0)
        eventfd_write(start->done_fd, 1);
    pthread_mutex_unlock(&start->lock);
    if (abandoned)
        release(start);
    if (process)
        process->starting--;
    signals_release(&before);
    return NULL;
}

void start_begin(struct start *start)
{
    if (start->begun)
        return;
    start->begun = true;
    if (start->process)
        opencl_process_prepare(start->process);
    start->done_fd = eventfd(0, EFD_CLOEXEC);
    if (start->process)
        start->process->starting++;
    start->threaded = pthread_create(&start->thread, NULL, run, start) == 0;
    if (!start->threaded)
        run(start);
}

bool start_finished(struct start *start)
{
    pthread_mutex_lock(&start->lock);
    const bool done = start->done;
    pthread_mutex_unlock(&start->lock);
    return done;
}

bool start_wait(struct start *start, const atomic_int *cancel)
{
    start_begin(start);
    while (start->done_fd >= 0 && !start_finished(start)) {
        struct pollfd done = {.fd = start->done_fd, .events = POLLIN};
        if (cancel && *cancel)
            return false;
        poll(&done, 1, POLL_MS);
    }
    if (start->threaded && !start->joined) {
        pthread_join(start->thread, NULL);
        start->joined = true;
    }
    return true;
}

struct accelerator *start_accelerator(const struct start *start)
{
    return start->accelerator;
}

const char *start_error(const struct start *start, const char **hint)
{
    *hint = start->hint;
    return start->why_not;
}

void start_free(struct start *start)
{
    if (!start)
        return;
    pthread_mutex_lock(&start->lock);
    const bool running = start->begun && !start->done;
    start->abandoned = running;
    if (running)
        pthread_detach(start->thread); /* before unlocking: after that the thread may release the start at any time */
    pthread_mutex_unlock(&start->lock);
    if (running)
        return;
    if (start->threaded && !start->joined)
        pthread_join(start->thread, NULL);
    release(start);
}
