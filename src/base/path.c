#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MAX_DISPLAY = 200, DISPLAY_PART = 80 };

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_directory(const char *path, struct arena *arena)
{
    const char *base = path_base(path);
    return base == path ? "." : arena_text(arena, path, (size_t)(base - path));
}

static const char s3[] = "s3://";

bool path_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool path_is_address(const char *path)
{
    static const char *const schemes[] = {"http://", "https://", s3};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncasecmp(path, schemes[i], strlen(schemes[i])) == 0)
            return true;
    }
    return false;
}

bool path_is_bucket(const char *path)
{
    return strncasecmp(path, s3, strlen(s3)) == 0;
}

const char *path_of_file(const char *path, struct arena *arena)
{
    const bool whole = !path_is_address(path) || path_is_bucket(path);
    return whole ? path : arena_text(arena, path, strcspn(path, "?#"));
}

const char *path_expand_home(const char *path, struct arena *arena)
{
    const char *home = getenv("HOME");
    const bool has_tilde = path[0] == '~' && (path[1] == '/' || path[1] == '\0');
    return has_tilde && home && *home ? arena_printf(arena, "%s%s", home, path + 1) : path;
}

bool path_of_user(struct strbuf *path, const char *variable, const char *fallback, const char *file)
{
    const char *directory = getenv(variable), *home = getenv("HOME");
    if (directory && directory[0] == '/')
        strbuf_printf(path, "%s%s", directory, file);
    else if (home && home[0] == '/')
        strbuf_printf(path, "%s%s%s", home, fallback, file);
    else
        return false;
    return true;
}

void path_create_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

const char *path_resolve(const char *path, struct arena *arena)
{
    char link[PATH_MAX];
    for (int i = 0; i < MAX_LINKS; i++) {
        const ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0)
            return path;
        link[length] = '\0';
        const char *base = path_base(path);
        path = link[0] == '/' ? arena_text(arena, link, (size_t)length)
                              : arena_printf(arena, "%.*s%s", (int)(base - path), path, link);
    }
    errno = ELOOP;
    return NULL;
}

const char *path_temporary(const char *path, struct arena *arena)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *base = path_base(path);
    return arena_printf(arena, "%.*s.rql-%ld-%lx", (int)(base - path), path, (long)getpid(),
                        (unsigned long)now.tv_nsec + (unsigned long)now.tv_sec * 1000000000u);
}

static bool sync_by(const char *directory, int (*sync)(int file))
{
    const int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return errno == EACCES; /* a directory without read permission cannot be synced */
    const bool synced = sync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int error = errno;
    close(file);
    errno = error;
    return synced;
}

bool directory_sync(const char *directory)
{
    return sync_by(directory, fsync);
}

bool filesystem_sync(const char *directory)
{
    return sync_by(directory, syncfs);
}

const char *path_display(const char *path, struct arena *arena)
{
    const size_t length = strlen(path);
    if (length <= MAX_DISPLAY)
        return path;
    const char *end = path + length - DISPLAY_PART;
    int begin = DISPLAY_PART;
    /* Do not split a character. */
    while (begin > 0 && (path[begin] & 0xc0) == 0x80)
        begin--;
    while ((*end & 0xc0) == 0x80)
        end++;
    return arena_printf(arena, "%.*s...%s", begin, path, end);
}

const char *path_written(const char *path, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    if (path[strspn(path, plain)] == '\0' && path[0] != '-' && path[strcspn(path, "./")] != '\0')
        return path;
    if (!strchr(path, '\''))
        return arena_printf(arena, "'%s'", path);
    struct strbuf text = {0};
    strbuf_add_literal(&text, path);
    return strbuf_take(&text, arena);
}
