#include "program.h"

#include "../heap.h"

#include <stdlib.h>
#include <string.h>

struct programs {
    struct program **at;
    size_t count, capacity;
};

/* Nothing that lets a compiler round otherwise than the evaluator does. */
static const char build_options[] = "-cl-std=CL1.2 -w";

enum { LOG_SHOWN = 400 };

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
    if (program->program)
        clReleaseProgram(program->program);
    free(program->text);
    free(program->why_not);
    free(program);
}

void programs_free(struct programs *programs)
{
    if (!programs)
        return;
    for (size_t k = 0; k < programs->count; k++)
        program_free(programs->at[k]);
    free(programs->at);
    free(programs);
}

/* FNV-1a. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static struct program *find(const struct programs *programs, const char *text, uint64_t hash)
{
    for (size_t k = 0; k < programs->count; k++)
        if (programs->at[k]->hash == hash && strcmp(programs->at[k]->text, text) == 0)
            return programs->at[k];
    return NULL;
}

static struct program *add(struct programs *programs, const char *text, uint64_t hash)
{
    struct program *program = heap_array(1, sizeof *program);

    program->text = heap_text(text);
    program->hash = hash;
    if (programs->count == programs->capacity) {
        programs->capacity = programs->capacity ? programs->capacity * 2 : 16;
        programs->at = heap_resize(programs->at, programs->capacity, sizeof *programs->at);
    }
    programs->at[programs->count++] = program;
    return program;
}

/* Appends what the compiler had to say, on one line and not too long. */
static void add_build_log(cl_program program, cl_device_id device, struct strbuf *text)
{
    size_t size = 0;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size < 2)
        return;
    char *log = heap_array(size + 1, 1);
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS) {
        for (char *c = log; *c; c++)
            *c = *c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c;
        strbuf_puts(text, ": ");
        strbuf_add_visible(text, log, strnlen(log, LOG_SHOWN));
    }
    free(log);
}

static bool create_kernels(struct accelerator *accelerator, struct program *program, const char *const *names)
{
    for (size_t k = 0; k < program->kernel_count; k++) {
        cl_int code;
        if (!names[k])
            continue;
        program->kernels[k] = clCreateKernel(program->program, names[k], &code);
        if (!cl_ok(&accelerator->failure, "clCreateKernel", code))
            return false;
    }
    return true;
}

static bool compile(struct accelerator *accelerator, struct program *program, const char *const *names)
{
    struct failure *failure = &accelerator->failure;
    const char *text = program->text;
    cl_int code;

    program->program = clCreateProgramWithSource(accelerator->context, 1, &text, NULL, &code);
    if (!cl_ok(failure, "clCreateProgramWithSource", code))
        return false;
    code = clBuildProgram(program->program, 1, &accelerator->device.id, build_options, NULL, NULL);
    return cl_ok(failure, "clBuildProgram", code) && create_kernels(accelerator, program, names);
}

static void build(struct accelerator *accelerator, struct program *program, const char *const *names)
{
    struct strbuf why_not = {0};
    sigset_t before;

    signals_hold_interrupt(&before);
    bool built = compile(accelerator, program, names);
    signals_put_back(&accelerator->signals);
    signals_release(&before);
    if (built)
        return;
    cl_failure_text(&accelerator->failure, accelerator->device.name, &why_not);
    if (program->program)
        add_build_log(program->program, accelerator->device.id, &why_not);
    program->why_not = why_not.text;
    accelerator->failure = (struct failure){0};
}

struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags)
{
    uint64_t hash = hash_text(text);
    struct program *program = find(accelerator->programs, text, hash);

    if (!program) {
        program = add(accelerator->programs, text, hash);
        program->kernels = heap_array(count, sizeof *program->kernels);
        program->kernel_count = count;
        build(accelerator, program, names);
    }
    if (!program->why_not)
        return program;
    diag_note(diags, (struct span){0}, "%s", program->why_not);
    return NULL;
}

struct program *program_for(struct accelerator *accelerator, const struct plan *plan, struct diags *diags)
{
    const char *names[KERNEL_ROLE_COUNT];

    for (size_t role = 0; role < KERNEL_ROLE_COUNT; role++)
        names[role] = plan->roles[role] ? kernel_names[role] : NULL;
    return program_of_text(accelerator, plan->text, names, KERNEL_ROLE_COUNT, diags);
}
