#include "cl/compile/site.h"

#include "base/cachedir.h"

#include <stdlib.h>
#include <string.h>

static const int64_t cache_most_bytes = INT64_C(256) << 20;

void site_open(struct site *site, const char *executable)
{
    signals_record(&site->signals);
    site->executable = executable;
}

struct cache *site_open_cache(const char *directory, int *problem)
{
    struct strbuf path = {0};

    strbuf_printf(&path, "%s/programs", directory);
    struct cache *cache = cache_open(path.text, cache_most_bytes, problem);
    strbuf_free(&path);
    return cache;
}

void site_prepare(struct site *site)
{
    struct strbuf path = {0}, why = {0};

    if (site->prepared)
        return;
    site->prepared = true;
    int problem = cachedir_make(&path);
    if (problem == 0)
        site->cache = site_open_cache(path.text, &problem);
    if (site->cache) {
        site->directory = path.text;
    } else {
        strbuf_puts(&why, "built programs are not kept for later: ");
        if (path.text)
            strbuf_add_visible(&why, path.text, path.length);
        else
            strbuf_puts(&why, "HOME");
        strbuf_printf(&why, ": %s", path.text ? strerror(problem) : "not set");
        site->no_directory = why.text;
        strbuf_free(&path);
    }
    pocl_home_make(&site->home, site->directory);
}

void site_close(struct site *site)
{
    pocl_home_remove(&site->home);
    if (site->starting > 0)
        return; /* a thread may be reading the rest */
    cache_close(site->cache);
    free(site->directory);
    free(site->no_directory);
}
