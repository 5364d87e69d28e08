/* Compiling, saving and loading programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cl/compile/compile.h"
#include "cl/compile/warm_up.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void add(__global int *out, int n)\n"
    "{ for (int k = 0; k < n; ++k) out[k] += k; }\n"
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void set(__global long *out,\n"
    "    long2 pair, uint n, __constant uchar *in)\n"
    "{ if (n > 0) out[0] = pair.x + in[n - 1]; }\n";

struct bench {
    struct device *devices;
    const struct device *device;
    cl_context context;
};

static int open_bench(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct failure failure = {0};
    size_t count;
    cl_int code;
    assert_non_null(bench);
    bench->devices = devices_find(&count, &failure);
    bench->device = device_choose("auto", bench->devices, count);
    if (bench->device)
        bench->context = clCreateContext(NULL, 1, &bench->device->id, NULL, NULL, &code);
    *state = bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    if (bench->context)
        clReleaseContext(bench->context);
    free(bench->devices);
    free(bench);
    return 0;
}

static const struct bench *bench_of(void **state)
{
    const struct bench *bench = *state;
    if (!bench->context)
        skip();
    return bench;
}

static cl_program compile(const struct bench *bench)
{
    struct failure failure = {0};
    struct strbuf log = {0};
    cl_program program = compile_source(bench->context, bench->device, text, warm_up_option, &failure, &log);
    assert_non_null(program);
    assert_int_equal(log.length, 0);
    return program;
}

static void keys_tell_programs_apart(void **state)
{
    (void)state;
    struct device one = {.name = "one", .driver = "driver 1"}, newer = {.name = "one", .driver = "driver 2"};
    struct device joined = {.name = "", .driver = "driver 1one"};
    struct blob key = compile_key(&one, text), other = compile_key(&one, "another");
    struct blob shorter = {key.bytes, key.size - 1}, nothing = {key.bytes, 0};
    assert_string_equal(compile_text(&key, &one), text);
    assert_string_equal(compile_text(&other, &one), "another");
    assert_null(compile_text(&key, &newer));
    assert_null(compile_text(&key, &joined));
    assert_null(compile_text(&shorter, &one));
    assert_null(compile_text(&nothing, &one));
    free(key.bytes);
    free(other.bytes);
}

/* A loaded program runs like the compiled one. */
static void saved_programs_load(void **state)
{
    enum { COUNT = 5 };
    const struct bench *bench = bench_of(state);
    struct failure failure = {0};
    struct blob binary;
    cl_program program = compile(bench);
    warm_up(bench->context, bench->device, program);
    assert_true(compile_save(program, &binary, &failure));
    clReleaseProgram(program);
    program = compile_load(bench->context, bench->device, &binary, &failure);
    assert_non_null(program);

    cl_int code, numbers[COUNT] = {10, 10, 10, 10, 10}, count = COUNT;
    cl_command_queue queue = clCreateCommandQueue(bench->context, bench->device->id, 0, &code);
    cl_mem out = clCreateBuffer(bench->context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &code);
    cl_kernel kernel = clCreateKernel(program, "add", &code);
    const size_t one = 1;
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof count, &count), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL), CL_SUCCESS);
    for (int k = 0; k < COUNT; k++)
        assert_int_equal(numbers[k], 10 + k);
    clReleaseKernel(kernel);
    clReleaseMemObject(out);
    clReleaseCommandQueue(queue);
    clReleaseProgram(program);
    free(binary.bytes);
}

static void what_does_not_compile_is_explained(void **state)
{
    const struct bench *bench = bench_of(state);
    struct failure failure = {0};
    struct strbuf log = {0};
    /* The driver's compiler writes to standard error too, which rql closes where it compiles (compile_client.c). */
    int error = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    cl_program program =
        compile_source(bench->context, bench->device, "__kernel void f() { nonsense; }", "", &failure, &log);
    dup2(error, STDERR_FILENO);
    close(error);
    close(nowhere);
    assert_null(program);
    assert_string_equal(failure.call, "clBuildProgram");
    assert_non_null(strstr(log.text, "nonsense"));
    strbuf_free(&log);
}

static void what_is_no_program_does_not_load(void **state)
{
    const struct bench *bench = bench_of(state);
    static const char *const bytes[] = {"x", "this is not a program of any driver, and is longer than a header"};
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
        const struct blob binary = {(void *)(uintptr_t)bytes[k], strlen(bytes[k])};
        struct failure failure = {0};
        assert_null(compile_load(bench->context, bench->device, &binary, &failure));
        assert_non_null(failure.call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_tell_programs_apart),
        cmocka_unit_test(saved_programs_load),
        cmocka_unit_test(what_does_not_compile_is_explained),
        cmocka_unit_test(what_is_no_program_does_not_load),
    };
    return cmocka_run_group_tests_name("cl_compile", tests, open_bench, close_bench);
}
