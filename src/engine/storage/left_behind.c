#include "engine/storage/left_behind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 16 };

void lock_temporary(int file)
{
    (void)flock(file, LOCK_EX | LOCK_NB);
}

/* Whether the name is .rql-PID-HEX, of a process that is gone. */
static bool is_left(const char *name)
{
    static const char begin[] = ".rql-";
    const size_t length = sizeof begin - 1;
    if (strncmp(name, begin, length) != 0)
        return false;
    char *end;
    const long process = strtol(name + length, &end, 10);
    if (process <= 0 || process > INT_MAX || *end != '-' || end[1] == '\0' ||
        end[1 + strspn(end + 1, "0123456789abcdef")] != '\0')
        return false;
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

void sweep_directory(const char *directory)
{
    DIR *entries = opendir(directory);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (!is_left(entry->d_name) || length >= (int)sizeof path)
            continue;
        const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
            (void)nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
        if (file >= 0)
            close(file);
    }
    if (entries)
        closedir(entries);
}
