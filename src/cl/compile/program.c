#include "cl/compile/program.h"

#include "cl/compile/compile.h"
#include "cl/compile/compile_client.h"
#include "cl/device/pocl_home.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

/* A key that was remembered last of those with its place. */
struct remembered {
    char *key;
    size_t size;
    struct program *program;
};

enum { REMEMBERED = 256 };

struct programs {
    struct program **at;
    size_t count, capacity;
    struct remembered remembered[REMEMBERED];
};

struct programs *programs_new(void)
{
    return heap_array(1, sizeof(struct programs));
}

static void program_free(struct program *program)
{
    for (size_t k = 0; k < program->kernel_count; k++) {
        if (program->kernels[k])
            clReleaseKernel(program->kernels[k]);
    }
    free(program->kernels);
    free(program->names);
    if (program->program)
        clReleaseProgram(program->program);
    free(program->text);
    free(program->error);
    free(program);
}

void programs_free(struct programs *programs)
{
    if (!programs)
        return;
    for (size_t k = 0; k < programs->count; k++) {
        compile_job_free(programs->at[k]->job);
        program_free(programs->at[k]);
    }
    for (size_t k = 0; k < REMEMBERED; k++)
        free(programs->remembered[k].key);
    free(programs->at);
    free(programs);
}

/* Word by word: the text of a sort has 20 kB. */
static uint64_t hash_words(const char *bytes, size_t size)
{
    uint64_t hash = size, word = 0;
    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, size);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static struct program *find(const struct programs *programs, const char *text, uint64_t hash)
{
    for (size_t k = 0; k < programs->count; k++) {
        if (programs->at[k]->hash == hash && strcmp(programs->at[k]->text, text) == 0)
            return programs->at[k];
    }
    return NULL;
}

static struct program *add(struct programs *programs, const char *text, uint64_t hash, const char *const *names,
                           size_t count)
{
    struct program *program = heap_array(1, sizeof *program);
    program->text = heap_text(text);
    program->hash = hash;
    program->kernels = heap_array(count, sizeof *program->kernels);
    program->names = heap_array(count, sizeof *program->names);
    memcpy(program->names, names, count * sizeof *names);
    program->kernel_count = count;
    *HEAP_PUSH(programs->at, programs->count, programs->capacity) = program;
    return program;
}

static bool create_kernels(struct accelerator *accelerator, struct program *program)
{
    for (size_t k = 0; k < program->kernel_count; k++) {
        cl_int code;
        if (!program->names[k])
            continue;
        program->kernels[k] = clCreateKernel(program->program, program->names[k], &code);
        if (!cl_ok(&accelerator->failure, "clCreateKernel", code))
            return false;
    }
    return true;
}

/* Sets the error text of a program, from the accelerator's failure if there is one, which is cleared. */
static void set_error(struct accelerator *accelerator, struct program *program, const char *why)
{
    struct strbuf text = {0};
    if (accelerator->failure.call)
        cl_failure_text(&accelerator->failure, accelerator->device.name, &text);
    else
        strbuf_puts(&text, "part of the query runs without OpenCL: ");
    strbuf_puts(&text, why);
    program->error = text.text;
    accelerator->failure = (struct failure){0};
}

static void build_here(struct accelerator *accelerator, struct program *program)
{
    struct strbuf log = {0};
    struct thread_signals before;
    signals_hold_interrupt(&before);
    program->program =
        compile_source(accelerator->context, &accelerator->device, program->text, "", &accelerator->failure, &log);
    if (!program->program || !create_kernels(accelerator, program))
        set_error(accelerator, program, log.text ? log.text : "");
    signals_restore(&accelerator->signals);
    signals_release(&before);
    strbuf_free(&log);
}

/* Whether PoCL can write what it loads; else sets the error text. */
static bool has_room(const struct accelerator *accelerator, struct program *program, size_t bytes)
{
    struct strbuf text = {0};
    if (!accelerator->home || pocl_home_has_room(accelerator->home, bytes))
        return true;
    strbuf_puts(&text, "part of the query runs without OpenCL: no space left for the files of its program");
    if (accelerator->home->path) {
        strbuf_puts(&text, " on the disk of ");
        strbuf_add_visible(&text, accelerator->home->path, strlen(accelerator->home->path));
    }
    program->error = text.text;
    return false;
}

/* Loads a binary and frees it. Returns false with the accelerator's failure or the program's error. Room is looked for
 * again when the files are written: the disk may have filled meanwhile. */
static bool load(struct accelerator *accelerator, struct program *program, struct blob *binary)
{
    struct thread_signals before;
    signals_hold_interrupt(&before);
    if (has_room(accelerator, program, binary->size))
        program->program = compile_load(accelerator->context, &accelerator->device, binary, &accelerator->failure);
    const bool loaded = program->program && create_kernels(accelerator, program) && has_room(accelerator, program, 0);
    signals_restore(&accelerator->signals);
    signals_release(&before);
    free(binary->bytes);
    return loaded;
}

/* Removes what a failed load left. */
static void discard_load(struct accelerator *accelerator, struct program *program)
{
    accelerator->failure = (struct failure){0};
    for (size_t k = 0; k < program->kernel_count; k++) {
        if (program->kernels[k])
            clReleaseKernel(program->kernels[k]);
        program->kernels[k] = NULL;
    }
    if (program->program)
        clReleaseProgram(program->program);
    program->program = NULL;
}

/* Loads a new program from the cache, or compiles it. */
static void begin(struct accelerator *accelerator, struct program *program)
{
    struct blob key = compile_key(&accelerator->device, program->text), binary;
    bool cached = accelerator->cache && cache_find(accelerator->cache, &key, &binary);
    if (cached && !load(accelerator, program, &binary) && !program->error) {
        discard_load(accelerator, program);
        cache_drop(accelerator->cache, &key);
        cached = false;
    }
    program->compiled = !cached;
    if (!cached && accelerator->compiler)
        program->job = compiler_submit(accelerator->compiler, &key);
    else if (!cached)
        build_here(accelerator, program);
    free(key.bytes);
}

static bool find_cached(const struct accelerator *accelerator, const struct program *program, struct blob *binary)
{
    struct blob key = compile_key(&accelerator->device, program->text);
    const bool found = accelerator->cache && cache_find(accelerator->cache, &key, binary);
    free(key.bytes);
    return found;
}

/* Takes the result of a job that has ended. */
static void collect(struct accelerator *accelerator, struct program *program, enum compile_state state)
{
    struct blob binary;
    if (state == COMPILE_PENDING)
        return;
    if (state == COMPILE_DONE) {
        binary = compile_job_program(program->job);
        if (!load(accelerator, program, &binary) && !program->error)
            set_error(accelerator, program, "");
    } else if (!find_cached(accelerator, program, &binary) ||
               (!load(accelerator, program, &binary) && !program->error)) {
        /* The compiler process may have stored it before it failed. */
        set_error(accelerator, program, compile_job_error(program->job));
    }
    compile_job_free(program->job);
    program->job = NULL;
}

struct program *program_find(struct accelerator *accelerator, const char *text, const char *const *names, size_t count)
{
    const uint64_t hash = hash_words(text, strlen(text));
    struct program *program = find(accelerator->programs, text, hash);
    if (!program) {
        program = add(accelerator->programs, text, hash, names, count);
        begin(accelerator, program);
    }
    return program;
}

static struct remembered *place_of(struct programs *programs, const char *key, size_t size)
{
    return &programs->remembered[hash_words(key, size) % REMEMBERED];
}

struct program *program_recall(const struct accelerator *accelerator, const char *key, size_t size)
{
    const struct remembered *place = place_of(accelerator->programs, key, size);
    return place->size == size && memcmp(place->key, key, size) == 0 ? place->program : NULL;
}

void program_remember(struct accelerator *accelerator, const char *key, size_t size, struct program *program)
{
    struct remembered *place = place_of(accelerator->programs, key, size);
    place->key = heap_resize(place->key, size, 1);
    memcpy(place->key, key, size);
    place->size = size;
    place->program = program;
}

/* Brings its state up to date. */
static void update(struct accelerator *accelerator, struct program *program)
{
    if (program->job)
        collect(accelerator, program, compiler_poll(accelerator->compiler, program->job));
}

struct program *program_ready(struct accelerator *accelerator, struct program *program, struct diags *diags)
{
    update(accelerator, program);
    if (program->compiled && accelerator->no_cache)
        diag_note(diags, (struct span){0}, "%s", accelerator->no_cache);
    program->compiled = false;
    if (program->job && !accelerator->no_wait)
        collect(accelerator, program, compiler_wait(accelerator->compiler, program->job, accelerator->cancel));
    if (program->job)
        return NULL;
    if (!program->error)
        return program;
    diag_note(diags, (struct span){0}, "%s", program->error);
    return NULL;
}

struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags)
{
    return program_ready(accelerator, program_find(accelerator, text, names, count), diags);
}

enum readiness program_state(struct accelerator *accelerator, struct program *program)
{
    update(accelerator, program);
    return program->job ? BACKEND_PENDING : program->error ? BACKEND_UNABLE : BACKEND_READY;
}

enum readiness program_begin_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                  size_t count)
{
    return program_state(accelerator, program_find(accelerator, text, names, count));
}

size_t programs_count(const struct programs *programs, size_t *under_way)
{
    *under_way = 0;
    for (size_t k = 0; k < programs->count; k++)
        *under_way += programs->at[k]->job ? 1 : 0;
    return programs->count;
}
