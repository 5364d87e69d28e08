#include "base/cachedir.h"

#include "base/path.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER_ONLY = 0700 };

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
    if (!path_of_user(path, "XDG_CACHE_HOME", "/.cache", "/rql"))
        return ENOENT;
    path_create_parents(path->text);
    return cachedir_create_subdir(path->text);
}
