#include "cl/device/pocl_home.h"

#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "pocl.";

enum {
    MAX_OPEN = 8,      /* directories that nftw keeps open */
    FRESH_SECONDS = 60 /* a new directory has no lock yet */
};
static const size_t room_bytes = 1 << 20; /* beyond those of a program */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    (void)remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Locks a directory; -1 if another process has it locked. */
static int lock_directory(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void remove_if_abandoned(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        time(NULL) - status.st_mtime < FRESH_SECONDS)
        return;
    const int lock = lock_directory(path);
    if (lock < 0)
        return;
    remove_tree(path);
    close(lock);
}

static void sweep(const char *base)
{
    DIR *directory = opendir(base);
    for (const struct dirent *file; directory && (file = readdir(directory));) {
        struct strbuf path = {0};
        if (strncmp(file->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        strbuf_printf(&path, "%s/%s", base, file->d_name);
        remove_if_abandoned(path.text);
        strbuf_free(&path);
    }
    if (directory)
        closedir(directory);
}

/* Reserves the bytes and gives them back, which a quota may refuse where the disk is not full. */
static bool has_room(const char *directory, size_t bytes)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/room", directory);
    const int fd = open(path.text, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool room = fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0;
    if (fd >= 0) {
        close(fd);
        unlink(path.text);
    }
    strbuf_free(&path);
    return room;
}

static char *make_directory(const char *base)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%sXXXXXX", base, prefix);
    if (mkdtemp(path.text)) {
        if (has_room(path.text, room_bytes))
            return path.text;
        (void)rmdir(path.text);
    }
    strbuf_free(&path);
    return NULL;
}

/* PoCL sets this variable on the thread that starts it, while other threads may read the environment. Changing a
 * variable that exists does not reallocate the environment. */
static void preset_plugins_path(void)
{
    (void)setenv("HWLOC_PLUGINS_PATH", "/dev/null", 0);
}

void pocl_home_create(struct pocl_home *home, const char *base)
{
    const char *temporary = getenv("TMPDIR");
    preset_plugins_path();
    if (!temporary || temporary[0] != '/')
        temporary = "/tmp";
    if (base)
        sweep(base);
    home->path = base ? make_directory(base) : NULL;
    if (!home->path)
        home->path = make_directory(temporary);
    if (!home->path)
        return;
    home->lock = lock_directory(home->path);
    (void)setenv("POCL_CACHE_DIR", home->path, 1);
}

bool pocl_home_has_room(const struct pocl_home *home, size_t program_bytes)
{
    return home->path && has_room(home->path, 2 * program_bytes + room_bytes);
}

void pocl_home_remove(struct pocl_home *home)
{
    if (!home->path)
        return;
    remove_tree(home->path);
    if (home->lock >= 0)
        close(home->lock);
    free(home->path);
    home->path = NULL;
}
