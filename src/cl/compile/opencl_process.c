#include "cl/compile/opencl_process.h"

#include "base/cachedir.h"

#include <stdlib.h>
#include <string.h>

static const int64_t cache_most_bytes = INT64_C(256) << 20;

void opencl_process_open(struct opencl_process *process, const char *executable)
{
    signals_record(&process->signals);
    process->executable = executable;
}

struct cache *opencl_process_open_cache(const char *directory, int *problem)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/programs", directory);
    struct cache *cache = cache_open(path.text, cache_most_bytes, problem);
    strbuf_free(&path);
    return cache;
}

void opencl_process_prepare(struct opencl_process *process)
{
    struct strbuf path = {0}, why = {0};
    if (process->prepared)
        return;
    process->prepared = true;
    int problem = cachedir_create(&path);
    if (problem == 0)
        process->cache = opencl_process_open_cache(path.text, &problem);
    if (process->cache) {
        process->directory = path.text;
    } else {
        strbuf_puts(&why, "compiled programs are not cached: ");
        if (path.text)
            strbuf_add_visible(&why, path.text, path.length);
        else
            strbuf_puts(&why, "HOME");
        strbuf_printf(&why, ": %s", path.text ? strerror(problem) : "not set");
        process->no_directory = why.text;
        strbuf_free(&path);
    }
    pocl_home_create(&process->home, process->directory);
}

void opencl_process_close(struct opencl_process *process)
{
    pocl_home_remove(&process->home);
    if (process->starting > 0)
        return; /* a thread may be reading the rest */
    cache_close(process->cache);
    free(process->directory);
    free(process->no_directory);
}
