#include "base/cachedir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER_ONLY = 0700 };

/* The XDG specification says to ignore a relative XDG_CACHE_HOME. */
static bool append_path(struct strbuf *path)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (cache && cache[0] == '/')
        strbuf_puts(path, cache);
    else if (home && home[0] == '/')
        strbuf_printf(path, "%s/.cache", home);
    else
        return false;
    strbuf_puts(path, "/rql");
    return true;
}

/* Errors are ignored: creating the directory itself will report them. */
static void create_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, OWNER_ONLY);
        *slash = '/';
    }
}

int cachedir_create_subdir(const char *path)
{
    struct stat status;
    if (mkdir(path, OWNER_ONLY) != 0 && errno != EEXIST)
        return errno;
    if (stat(path, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    if (status.st_uid != geteuid())
        return EPERM;
    if ((status.st_mode & 0777) != OWNER_ONLY && chmod(path, OWNER_ONLY) != 0)
        return errno;
    return access(path, W_OK | X_OK) == 0 ? 0 : errno;
}

int cachedir_create(struct strbuf *path)
{
    if (!append_path(path))
        return ENOENT;
    create_parents(path->text);
    return cachedir_create_subdir(path->text);
}
