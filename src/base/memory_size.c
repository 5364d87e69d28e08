#include "base/memory_size.h"

#include "base/integer.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4200 };

/* The files of a memory control group in cgroup v2 and v1. */
struct layout {
    const char *controller; /* its name in /proc/self/cgroup */
    const char *root;       /* mount point */
    const char *limit, *usage;
    const char *stat, *file_pages[2]; /* parts of the usage that are file pages */
};
static const struct layout layouts[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "memory.stat", {"inactive_file", "active_file"}},
    {"memory",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     "memory.stat",
     {"total_inactive_file", "total_active_file"}},
};

/* The positive number in a file; INT64_MAX if there is none. */
static int64_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    long long number = INT64_MAX;
    if (file) {
        if (fscanf(file, "%lld", &number) != 1 || number <= 0)
            number = INT64_MAX;
        (void)fclose(file);
    }
    return number;
}

/* The sum of the numbers after these words at starts of lines; `absent` if there are none. */
static int64_t read_fields(const char *path, const char *const *words, int count, int64_t absent)
{
    FILE *file = fopen(path, "re");
    char line[LINE_BYTES];
    int64_t sum = 0;
    int found = 0;
    while (file && found < count && fgets(line, sizeof line, file)) {
        for (int i = 0; i < count; i++) {
            const size_t length = strlen(words[i]);
            long long number;
            if (strncmp(line, words[i], length) == 0 && sscanf(line + length, "%*[: ]%lld", &number) == 1) {
                sum += number;
                found++;
            }
        }
    }
    if (file)
        (void)fclose(file);
    return found > 0 ? sum : absent;
}

/* The path of a group's file, in `path`. */
static const char *group_file(char *path, const struct layout *layout, const char *group, const char *file)
{
    if (snprintf(path, PATH_BYTES, "%s%s/%s", layout->root, group, file) >= PATH_BYTES)
        *path = '\0'; /* no such file */
    return path;
}

/* The group's limit less its usage; file pages count as free. */
static int64_t group_free(const struct layout *layout, const char *group, int64_t limit)
{
    char path[PATH_BYTES];
    int64_t used = read_number(group_file(path, layout, group, layout->usage));
    group_file(path, layout, group, layout->stat);
    const int64_t files = read_fields(path, layout->file_pages, 2, 0);
    if (used == INT64_MAX)
        return limit;
    used -= min_int64(files, used);
    return limit - min_int64(used, limit);
}

static int64_t machine_bytes(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* The lowest limit of a group and its parents, or with `free` the least free memory. A limit beyond what the machine
 * has is none: to ask what such a group uses takes the kernel long. */
static int64_t groups_bytes(const struct layout *layout, char *group, bool free)
{
    const int64_t most = machine_bytes();
    int64_t bytes = INT64_MAX;
    for (;;) {
        char path[PATH_BYTES];
        const int64_t limit = read_number(group_file(path, layout, group, layout->limit));
        if (limit < most)
            bytes = min_int64(bytes, free ? group_free(layout, group, limit) : limit);
        char *slash = strrchr(group, '/');
        if (!slash)
            return bytes;
        *slash = '\0';
    }
}

/* Sets `group` to the process's group. In a container that path often does not exist, so callers check the root as
 * well. */
static bool own_group(const struct layout *layout, char *group)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[LINE_BYTES];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        found = strcmp(controllers + 1, layout->controller) == 0 && strlen(path) < PATH_BYTES;
        if (found)
            (void)snprintf(group, PATH_BYTES, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    if (file)
        (void)fclose(file);
    return found;
}

static int64_t limits(bool free)
{
    int64_t bytes = INT64_MAX;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char group[PATH_BYTES] = "";
        (void)own_group(&layouts[i], group);
        bytes = min_int64(bytes, groups_bytes(&layouts[i], group, free));
    }
    return bytes;
}

int64_t system_memory_bytes(void)
{
    int64_t bytes = machine_bytes();
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < INT64_MAX)
        bytes = min_int64(bytes, (int64_t)limit.rlim_cur);
    return min_int64(bytes, limits(false));
}

int64_t system_memory_free_bytes(void)
{
    enum { KIB = 1024 };
    static const char *const available = "MemAvailable";
    const int64_t kib = read_fields("/proc/meminfo", &available, 1, INT64_MAX / KIB);
    return min_int64(kib * KIB, limits(true));
}

int64_t process_memory_bytes(void)
{
    long long resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    const bool known = file && fscanf(file, "%*d %lld %lld", &resident, &shared) == 2;
    if (file)
        (void)fclose(file);
    return known ? (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

bool system_memory_has(int64_t bytes)
{
    return bytes <= MEMORY_UNCHECKED_BYTES || bytes <= system_memory_free_bytes();
}
