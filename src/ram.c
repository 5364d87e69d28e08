#include "ram.h"

#include "integer.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file that holds one number; INT64_MAX if it does not. */
static int64_t read_limit(const char *path)
{
    FILE *file = fopen(path, "re");
    long long limit = INT64_MAX;
    if (file) {
        if (fscanf(file, "%lld", &limit) != 1 || limit <= 0)
            limit = INT64_MAX;
        (void)fclose(file);
    }
    return limit;
}

int64_t ram_bytes(void)
{
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < INT64_MAX)
        bytes = least(bytes, (int64_t)limit.rlim_cur);
    bytes = least(bytes, read_limit("/sys/fs/cgroup/memory.max"));
    return least(bytes, read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}
