#include "cl/start.h"

#include "cl/accelerator_open.h"
#include "cl/compile/compile.h"
#include "cl/compile/compile_client.h"

#include "base/heap.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_MS = 50 /* between two looks at the interrupt, which may arrive just before a wait begins */ };

struct start {
    char *choice;
    struct opencl_process *process;
    struct signals signals; /* in place of the site's */
    bool begun;
    pthread_t thread;
    bool threaded, joined;
    int over_fd; /* readable when it is over; -1: there was none to be had, and the thread is just waited for */

    pthread_mutex_t lock;
    bool over, abandoned;
    struct accelerator *accelerator; /* NULL: there is none, for this reason: */
    char *why_not, *hint;
};

struct start *start_new(const char *choice, struct opencl_process *process)
{
    struct start *start = heap_array(1, sizeof *start);

    start->choice = heap_text(choice);
    start->process = process;
    start->over_fd = -1;
    if (process)
        start->signals = process->signals;
    else
        signals_record(&start->signals);
    pthread_mutex_init(&start->lock, NULL);
    return start;
}

/* Says that there is no device of the kind chosen, and which there are. */
static void explain_lack(struct start *start, const struct device *devices, size_t count, const struct failure *failure)
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

static void equip(struct accelerator *accelerator, const struct opencl_process *process)
{
    char number[24];
    const char *const arguments[] = {"rql", compile_role, number, process->directory, NULL};

    snprintf(number, sizeof number, "%zu", accelerator->device.number);
    accelerator->cache = process->cache;
    accelerator->no_cache = process->no_directory;
    if (process->executable)
        accelerator->compiler = compiler_new(process->executable, arguments, COMPILE_LIMIT_SECONDS * 1000);
}

static void open_device(struct start *start)
{
    struct failure failure = {0};
    size_t count;
    struct device *devices = devices_find(&count, &failure);
    const struct device *device = device_choose(start->choice, devices, count);

    if (!device) {
        explain_lack(start, devices, count, &failure);
    } else {
        failure = (struct failure){0};
        start->accelerator = accelerator_open(device, device_kernel_config(device), &failure);
        if (start->accelerator) {
            start->accelerator->signals = start->signals;
            if (start->process)
                equip(start->accelerator, start->process);
        } else {
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
    if (start->over_fd >= 0)
        close(start->over_fd);
    pthread_mutex_destroy(&start->lock);
    free(start->choice);
    free(start->why_not);
    free(start->hint);
    free(start);
}

/* The thread. Whoever is second to let go of the start releases it. */
static void *run(void *argument)
{
    struct start *start = argument;
    struct opencl_process *process = start->process;
    struct thread_signals before;

    signals_hold(&before);
    open_device(start);
    signals_restore(&start->signals);
    pthread_mutex_lock(&start->lock);
    start->over = true;
    bool abandoned = start->abandoned;
    if (start->over_fd >= 0)
        eventfd_write(start->over_fd, 1);
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
    start->over_fd = eventfd(0, EFD_CLOEXEC);
    if (start->process)
        start->process->starting++;
    start->threaded = pthread_create(&start->thread, NULL, run, start) == 0;
    if (!start->threaded)
        run(start);
}

bool start_is_over(struct start *start)
{
    pthread_mutex_lock(&start->lock);
    bool over = start->over;
    pthread_mutex_unlock(&start->lock);
    return over;
}

bool start_wait(struct start *start, const atomic_int *cancel)
{
    start_begin(start);
    while (start->over_fd >= 0 && !start_is_over(start)) {
        struct pollfd over = {.fd = start->over_fd, .events = POLLIN};
        if (cancel && *cancel)
            return false;
        poll(&over, 1, LOOK_MS);
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

const char *start_lack(const struct start *start, const char **hint)
{
    *hint = start->hint;
    return start->why_not;
}

void start_free(struct start *start)
{
    if (!start)
        return;
    pthread_mutex_lock(&start->lock);
    bool running = start->begun && !start->over;
    start->abandoned = running;
    if (running)
        pthread_detach(start->thread); /* under the lock: behind it the thread may release the start at once */
    pthread_mutex_unlock(&start->lock);
    if (running)
        return;
    if (start->threaded && !start->joined)
        pthread_join(start->thread, NULL);
    release(start);
}
