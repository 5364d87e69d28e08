#include "engine/env/env.h"

#include "base/heap.h"
#include "base/path.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The path from the root, without links in folders that exist, trailing slashes or dots, and an address of a table
 * without its options; in the arena. */
static const char *absolute(const char *path, struct arena *arena)
{
    size_t length = strlen(path);
    if (strstr(path, "://"))
        return arena_text(arena, path, strcspn(path, "?"));
    while (length > 1 && path[length - 1] == '/')
        length--;
    const char *trimmed = arena_text(arena, path, length), *folder = path_directory(trimmed, arena);
    if (length <= 1 && *path == '/')
        return path;
    char *found = realpath(folder, NULL);
    if (!found && strcmp(folder, ".") == 0)
        return trimmed;
    const char *whole = arena_printf(arena, "%s/%s", found ? found : absolute(folder, arena), path_base(trimmed));
    free(found);
    return whole;
}

void made_files_add(struct made_files *made, const char *path)
{
    made->paths = heap_reserve(made->paths, made->count, &made->capacity, sizeof *made->paths);
    struct arena *arena = arena_new();
    made->paths[made->count++] = heap_text(absolute(path, arena));
    arena_free(arena);
}

void made_files_free(struct made_files *made)
{
    for (size_t i = 0; i < made->count; i++)
        free(made->paths[i]);
    free(made->paths);
    *made = (struct made_files){0};
}

static bool is_within(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool made_files_have(const struct made_files *made, const char *path)
{
    bool found = false;
    if (made->count == 0)
        return false;
    struct arena *arena = arena_new();
    const char *whole = absolute(path, arena);
    for (size_t i = 0; i < made->count && !found; i++) {
        const char *one = made->paths[i];
        found = is_within(whole, one) || is_within(one, whole) || fnmatch(path_base(whole), path_base(one), 0) == 0;
    }
    arena_free(arena);
    return found;
}
