#include "cl/device/device.h"

#include "base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Device queries and the members that receive the answers. */
static const struct query {
    cl_device_info info;
    size_t offset, size;
} queries[] = {
#define QUERY(info, member)                                                                                            \
    {                                                                                                                  \
        info, offsetof(struct device, member), sizeof(((struct device *)0)->member)                                    \
    }
    QUERY(CL_DEVICE_NAME, name),
    QUERY(CL_DEVICE_TYPE, type),
    QUERY(CL_DEVICE_MAX_COMPUTE_UNITS, units),
    QUERY(CL_DEVICE_GLOBAL_MEM_SIZE, memory),
    QUERY(CL_DEVICE_MAX_MEM_ALLOC_SIZE, largest_buffer),
    QUERY(CL_DEVICE_MAX_WORK_GROUP_SIZE, group),
    QUERY(CL_DEVICE_LOCAL_MEM_SIZE, local),
    QUERY(CL_DEVICE_MAX_PARAMETER_SIZE, parameters),
#undef QUERY
};

static bool query_info(struct failure *failure, const struct device *device, cl_device_info info, size_t size,
                       void *value)
{
    return cl_ok(failure, "clGetDeviceInfo", clGetDeviceInfo(device->id, info, size, value, NULL));
}

static bool is_true(struct failure *failure, const struct device *device, cl_device_info info)
{
    cl_bool value = CL_FALSE;
    return query_info(failure, device, info, sizeof value, &value) && value;
}

static bool has_extension(struct failure *failure, const struct device *device, const char *name)
{
    size_t size = 0, length = strlen(name);
    bool found = false;
    if (!cl_ok(failure, "clGetDeviceInfo", clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, 0, NULL, &size)))
        return false;
    char *names = heap_array(size + 1, 1);
    if (query_info(failure, device, CL_DEVICE_EXTENSIONS, size, names)) {
        for (const char *at = names; !found && (at = strstr(at, name)); at += length)
            found = (at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
    }
    free(names);
    return found;
}

static void describe_driver(struct device *device, struct failure *failure)
{
    char platform[96] = "", version[48] = "";
    cl_ok(failure, "clGetPlatformInfo",
          clGetPlatformInfo(device->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL));
    query_info(failure, device, CL_DRIVER_VERSION, sizeof version, version);
    snprintf(device->driver, sizeof device->driver, "%s %s", platform, version);
}

/* Whether warps can be synchronised and groups wait for each other, as from NVIDIA's compute capability 7 on. Other
 * platforms drive the same hardware, so the platform decides; the queries are those of its extension
 * cl_nv_device_attribute_query. */
static bool has_warps(const struct device *device)
{
    enum { COMPUTE_CAPABILITY_MAJOR = 0x4000, WARP_SIZE = 0x4003, MIN_MAJOR = 7, LANES = 32 };
    char platform[96] = "";
    cl_uint major = 0, size = 0;
    return clGetPlatformInfo(device->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL) == CL_SUCCESS &&
           strcmp(platform, "NVIDIA CUDA") == 0 &&
           clGetDeviceInfo(device->id, COMPUTE_CAPABILITY_MAJOR, sizeof major, &major, NULL) == CL_SUCCESS &&
           clGetDeviceInfo(device->id, WARP_SIZE, sizeof size, &size, NULL) == CL_SUCCESS && major >= MIN_MAJOR &&
           size == LANES;
}

/* Queries a device whose id and platform are set; a failed query leaves zero, which device_usable detects. */
static void query_device(struct device *device, struct failure *failure)
{
    cl_device_fp_config doubles = 0;
    for (size_t k = 0; k < sizeof queries / sizeof *queries; k++)
        query_info(failure, device, queries[k].info, queries[k].size, (char *)device + queries[k].offset);
    device->name[sizeof device->name - 1] = '\0';
    device->doubles = query_info(failure, device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles) && doubles != 0;
    device->compiler = is_true(failure, device, CL_DEVICE_COMPILER_AVAILABLE);
    device->available = is_true(failure, device, CL_DEVICE_AVAILABLE);
    device->little_endian = is_true(failure, device, CL_DEVICE_ENDIAN_LITTLE);
    device->long_atomics = has_extension(failure, device, "cl_khr_int64_extended_atomics");
    device->warps = has_warps(device);
    describe_driver(device, failure);
}

/* PoCL looks for the machine's processors in /sys and ends the process if it finds none, as in a bare chroot. */
static bool would_abort(cl_platform_id platform)
{
    char name[96] = "";
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
           strcmp(name, "Portable Computing Language") == 0 && access("/sys/devices/system/cpu", F_OK) != 0;
}

static struct device *add_platform(cl_platform_id platform, struct device *devices, size_t *count,
                                   struct failure *failure)
{
    cl_uint found = 0;
    if (would_abort(platform)) {
        cl_ok(failure, "PoCL, which needs /sys to be mounted,", CL_DEVICE_NOT_AVAILABLE);
        return devices;
    }
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &found);
    if (code == CL_DEVICE_NOT_FOUND || !cl_ok(failure, "clGetDeviceIDs", code) || found == 0)
        return devices;

    cl_device_id *ids = calloc(found, sizeof(cl_device_id));
    struct device *grown = realloc(devices, (*count + found) * sizeof *grown);
    if (grown)
        devices = grown;
    if (ids && grown &&
        cl_ok(failure, "clGetDeviceIDs", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, ids, NULL))) {
        for (cl_uint k = 0; k < found; k++) {
            struct device *device = &devices[*count];
            *device = (struct device){.platform = platform, .id = ids[k], .number = *count + 1};
            query_device(device, failure);
            ++*count;
        }
    }
    free(ids);
    return devices;
}

struct device *devices_find(size_t *count, struct failure *failure)
{
    cl_uint platform_count = 0;
    struct device *devices = NULL;
    *count = 0;
    if (!cl_ok(failure, "clGetPlatformIDs", clGetPlatformIDs(0, NULL, &platform_count)) || platform_count == 0)
        return NULL;
    cl_platform_id *platforms = calloc(platform_count, sizeof(cl_platform_id));
    if (platforms && cl_ok(failure, "clGetPlatformIDs", clGetPlatformIDs(platform_count, platforms, NULL))) {
        for (cl_uint k = 0; k < platform_count; k++)
            devices = add_platform(platforms[k], devices, count, failure);
    }
    free(platforms);
    return devices;
}

static const char *kind_of(const struct device *device)
{
    return device->type & CL_DEVICE_TYPE_GPU           ? "GPU"
           : device->type & CL_DEVICE_TYPE_CPU         ? "CPU"
           : device->type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                       : "device";
}

void device_title(const struct device *device, struct strbuf *out)
{
    strbuf_printf(out, "%zu: ", device->number);
    strbuf_add_visible(out, device->name, strlen(device->name));
    strbuf_printf(out, " (%s)", kind_of(device));
}

bool device_usable(const struct device *device)
{
    return device->available && device->compiler && device->little_endian && device->units > 0 &&
           device->group >= device_kernel_config(device)->group;
}

const char *device_lacks(const struct device *device)
{
    return !device->available                                    ? "it is not available"
           : !device->compiler                                   ? "it has no compiler"
           : !device->little_endian                              ? "it is not little-endian"
           : device->group < device_kernel_config(device)->group ? "its work-groups are too small"
           : !device->doubles                                    ? "no double precision: floats run on the host"
                                                                 : NULL;
}

bool device_choice_valid(const char *choice)
{
    const size_t digits = strspn(choice, "0123456789");
    return (digits > 0 && digits < 6 && choice[digits] == '\0') || strcmp(choice, "auto") == 0 ||
           strcmp(choice, "cpu") == 0 || strcmp(choice, "gpu") == 0;
}

static const struct device *first_of(cl_device_type type, const struct device *devices, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if ((devices[k].type & type) && device_usable(&devices[k]))
            return &devices[k];
    }
    return NULL;
}

const struct device *device_choose(const char *choice, const struct device *devices, size_t count)
{
    const struct device *gpu = first_of(CL_DEVICE_TYPE_GPU, devices, count);
    if (strcmp(choice, "gpu") == 0)
        return gpu;
    if (strcmp(choice, "cpu") == 0)
        return first_of(CL_DEVICE_TYPE_CPU, devices, count);
    if (strcmp(choice, "auto") == 0)
        return gpu ? gpu : first_of(CL_DEVICE_TYPE_ALL, devices, count);
    const unsigned long number = strtoul(choice, NULL, 10);
    return number >= 1 && number <= count && device_usable(&devices[number - 1]) ? &devices[number - 1] : NULL;
}

const struct kernel_config *device_kernel_config(const struct device *device)
{
    return device->type & CL_DEVICE_TYPE_CPU ? &kernel_config_cpu
           : device->warps                   ? &kernel_config_warps
                                             : &kernel_config_grid;
}

bool device_files_exist(void)
{
    /* NVIDIA, AMD, Intel and others, Windows Subsystem for Linux. */
    static const char *const paths[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/dxg"};
    bool found = false;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        found = found || access(paths[i], F_OK) == 0;
    return found;
}
