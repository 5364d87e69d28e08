#include "cl/compile/compile.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#ifndef OPTIMISED_KERNELS
#define OPTIMISED_KERNELS true /* false in instrumented builds, whose tests wait for little but kernels */
#endif

/* No option that lets a compiler round differently from the evaluator. */
static const char *const build_options = OPTIMISED_KERNELS ? "-cl-std=CL1.2 -w" : "-cl-std=CL1.2 -w -cl-opt-disable";

enum { LOG_SHOWN = 400 };

/* The beginning of a key: parts that end in a NUL. The text follows, with a NUL too. */
static struct strbuf key_of_device(const struct device *device)
{
    const char *const parts[] = {"rql " RQL_VERSION, device->driver, device->name, build_options};
    struct strbuf key = {0};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        strbuf_add(&key, parts[k], strlen(parts[k]) + 1);
    return key;
}

struct blob compile_key(const struct device *device, const char *text)
{
    struct strbuf key = key_of_device(device);
    strbuf_add(&key, text, strlen(text) + 1);
    return (struct blob){key.text, key.length};
}

const char *compile_text(const struct blob *key, const struct device *device)
{
    struct strbuf ours = key_of_device(device);
    const size_t length = ours.length;
    const char *bytes = key->bytes;
    const bool same = key->size > length && memcmp(bytes, ours.text, length) == 0 && bytes[key->size - 1] == '\0';
    strbuf_free(&ours);
    return same ? bytes + length : NULL;
}

/* Appends the build log, shortened to one line. */
static void add_log(cl_program program, cl_device_id device, struct strbuf *text)
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

/* Builds it, or releases it. */
static cl_program build(cl_program program, const struct device *device, const char *more_options,
                        struct failure *failure, struct strbuf *log)
{
    struct strbuf options = {0};
    strbuf_printf(&options, "%s%s", build_options, more_options);
    cl_int code = clBuildProgram(program, 1, &device->id, options.text, NULL, NULL);
    strbuf_free(&options);
    if (cl_ok(failure, "clBuildProgram", code))
        return program;
    if (log)
        add_log(program, device->id, log);
    clReleaseProgram(program);
    return NULL;
}

cl_program compile_source(cl_context context, const struct device *device, const char *text, const char *more_options,
                          struct failure *failure, struct strbuf *log)
{
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    return cl_ok(failure, "clCreateProgramWithSource", code) ? build(program, device, more_options, failure, log)
                                                             : NULL;
}

bool compile_save(cl_program program, struct blob *binary, struct failure *failure)
{
    size_t size = 0;
    if (!cl_ok(failure, "clGetProgramInfo",
               clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL)))
        return false;
    if (size == 0)
        return cl_ok(failure, "clGetProgramInfo", CL_INVALID_BINARY);
    unsigned char *bytes = heap_array(size, 1);
    if (!cl_ok(failure, "clGetProgramInfo",
               clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL))) {
        free(bytes);
        return false;
    }
    *binary = (struct blob){bytes, size};
    return true;
}

cl_program compile_load(cl_context context, const struct device *device, const struct blob *binary,
                        struct failure *failure)
{
    const unsigned char *bytes = binary->bytes;
    cl_int code, status = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(context, 1, &device->id, &binary->size, &bytes, &status, &code);
    if (!cl_ok(failure, "clCreateProgramWithBinary", code))
        return NULL;
    if (!cl_ok(failure, "clCreateProgramWithBinary", status)) {
        clReleaseProgram(program);
        return NULL;
    }
    return build(program, device, "", failure, NULL);
}
