/* The names of zones: the files of the directory and of those in it. */
#include "base/text.h"
#include "base/time/time_zone.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, DEPTH = 3 /* America/Argentina/Salta */ };

struct names {
    const char **at;
    size_t count, capacity;
    struct arena *arena;
};

/* Names of zones begin with capitals; `posix` and `right` hold all of them again, and `tzdata.zi` is none. */
static bool may_be_zone(const char *entry)
{
    return entry[0] >= 'A' && entry[0] <= 'Z' && !strchr(entry, '.');
}

static void add_names(struct names *names, const char *below, int depth)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", time_zone_directory(), below);
    DIR *directory = length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        struct stat about;
        if (!may_be_zone(entry->d_name))
            continue;
        const char *name = arena_printf(names->arena, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        length = snprintf(path, sizeof path, "%s/%s", time_zone_directory(), name);
        if (length <= 0 || (size_t)length >= sizeof path || stat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode) && depth < DEPTH)
            add_names(names, name, depth + 1);
        if (!S_ISREG(about.st_mode))
            continue;
        names->at =
            arena_reserve(names->arena, (void *)names->at, names->count, &names->capacity, sizeof(const char *));
        names->at[names->count++] = name;
    }
    (void)closedir(directory);
}

const char **time_zone_names(struct arena *arena)
{
    struct names names = {.arena = arena};
    add_names(&names, "", 1);
    if (names.count > 0)
        qsort((void *)names.at, names.count, sizeof *names.at, compare_words);
    const char **all = arena_grow(arena, (const void *)names.at, names.count, names.count + 1, sizeof(const char *));
    return all;
}

const struct time_zone *zone_of_file(struct text name, const char *column, const char *path, struct diags *diags)
{
    const char *text = arena_text(diags->arena, name.at, name.length);
    const struct time_zone *zone;
    if (time_zone_find(text, &zone) == TIME_ZONE_FOUND)
        return zone;
    diag_note(diags, (struct span){0}, "`%s`: `%s` has the time zone %s, of which there is no file in %s: shown in UTC",
              path, column, text, time_zone_directory());
    return &time_zone_utc;
}
