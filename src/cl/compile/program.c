#include "cl/compile/program.h"

#include "cl/compile/compile.h"
#include "cl/compile/compile_client.h"

#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

struct programs {
    struct program **at;
    size_t count, capacity;
};

struct programs *programs_new(void)
{
    return heap_array(1, sizeof(struct programs));
}

static void program_free(struct program *program)
{
    for (size_t k = 0; k < program->kernel_count; k++)
        if (program->kernels[k])
            clReleaseKernel(program->kernels[k]);
    free(program->kernels);
    free(program->names);
    if (program->program)
        clReleaseProgram(program->program);
    free(program->text);
    free(program->why_not);
    free(program);
}

void programs_free(struct programs *programs, struct compiler *compiler)
{
    if (!programs)
        return;
    for (size_t k = 0; k < programs->count; k++) {
        order_free(compiler, programs->at[k]->order);
        program_free(programs->at[k]);
    }
    free(programs->at);
    free(programs);
}

static struct program *find(const struct programs *programs, const char *text, uint64_t hash)
{
    for (size_t k = 0; k < programs->count; k++)
        if (programs->at[k]->hash == hash && strcmp(programs->at[k]->text, text) == 0)
            return programs->at[k];
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
    if (programs->count == programs->capacity) {
        programs->capacity = programs->capacity ? programs->capacity * 2 : 16;
        programs->at = heap_resize(programs->at, programs->capacity, sizeof *programs->at);
    }
    programs->at[programs->count++] = program;
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

/* Makes what is to be said of a program that cannot be had; the accelerator's failure is part of it if there is one. */
static void give_up(struct accelerator *accelerator, struct program *program, const char *why)
{
    struct strbuf text = {0};

    if (accelerator->failure.call)
        cl_failure_text(&accelerator->failure, accelerator->device.name, &text);
    else
        strbuf_puts(&text, "part of this runs without OpenCL: ");
    strbuf_puts(&text, why);
    program->why_not = text.text;
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
        give_up(accelerator, program, log.text ? log.text : "");
    signals_put_back(&accelerator->signals);
    signals_release(&before);
    strbuf_free(&log);
}

/* Whether the driver takes the binary; if not the accelerator's failure says why. Frees it. */
static bool load(struct accelerator *accelerator, struct program *program, struct blob *binary)
{
    struct thread_signals before;

    signals_hold_interrupt(&before);
    program->program = compile_load(accelerator->context, &accelerator->device, binary, &accelerator->failure);
    bool loaded = program->program && create_kernels(accelerator, program);
    signals_put_back(&accelerator->signals);
    signals_release(&before);
    free(binary->bytes);
    return loaded;
}

/* What a failed load left is not to be seen by the next attempt. */
static void forget_load(struct accelerator *accelerator, struct program *program)
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

/* Takes a new program from the cache, or has it compiled. */
static void begin(struct accelerator *accelerator, struct program *program)
{
    struct blob key = compile_key(&accelerator->device, program->text), binary;
    bool kept = accelerator->cache && cache_find(accelerator->cache, &key, &binary);

    if (kept && !load(accelerator, program, &binary)) {
        forget_load(accelerator, program);
        cache_drop(accelerator->cache, &key);
        kept = false;
    }
    program->made = !kept;
    if (!kept && accelerator->compiler)
        program->order = compiler_order(accelerator->compiler, &key);
    else if (!kept)
        build_here(accelerator, program);
    free(key.bytes);
}

static bool find_kept(const struct accelerator *accelerator, const struct program *program, struct blob *binary)
{
    struct blob key = compile_key(&accelerator->device, program->text);
    bool found = accelerator->cache && cache_find(accelerator->cache, &key, binary);

    free(key.bytes);
    return found;
}

/* Takes what has become of an order. */
static void collect(struct accelerator *accelerator, struct program *program, enum order_state state)
{
    struct blob binary;

    if (state == ORDER_UNDER_WAY)
        return;
    if (state == ORDER_DONE) {
        binary = order_program(program->order);
        if (!load(accelerator, program, &binary))
            give_up(accelerator, program, "");
    } else if (!find_kept(accelerator, program, &binary) || !load(accelerator, program, &binary)) {
        /* It may have been kept before what went wrong. */
        give_up(accelerator, program, order_problem(program->order));
    }
    order_free(accelerator->compiler, program->order);
    program->order = NULL;
}

/* The program of a text as far as it is now. */
static struct program *seek(struct accelerator *accelerator, const char *text, const char *const *names, size_t count)
{
    uint64_t hash = hash_text(hash_init(), text);
    struct program *program = find(accelerator->programs, text, hash);

    if (!program) {
        program = add(accelerator->programs, text, hash, names, count);
        begin(accelerator, program);
    }
    if (program->order)
        collect(accelerator, program, compiler_ask(accelerator->compiler, program->order));
    return program;
}

struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags)
{
    struct program *program = seek(accelerator, text, names, count);

    if (program->made && accelerator->no_cache)
        diag_note(diags, (struct span){0}, "%s", accelerator->no_cache);
    program->made = false;
    if (program->order && !accelerator->no_wait)
        collect(accelerator, program, compiler_wait(accelerator->compiler, program->order, accelerator->cancel));
    if (program->order)
        return NULL;
    if (!program->why_not)
        return program;
    diag_note(diags, (struct span){0}, "%s", program->why_not);
    return NULL;
}

enum readiness program_begin_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                  size_t count)
{
    const struct program *program = seek(accelerator, text, names, count);

    return program->order ? BACKEND_PENDING : program->why_not ? BACKEND_UNABLE : BACKEND_READY;
}

size_t programs_count(const struct programs *programs, size_t *under_way)
{
    *under_way = 0;
    for (size_t k = 0; k < programs->count; k++)
        *under_way += programs->at[k]->order != NULL;
    return programs->count;
}
