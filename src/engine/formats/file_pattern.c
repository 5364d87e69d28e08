#include "engine/formats/file_pattern.h"

#include "base/path.h"
#include "engine/storage/compression.h"
#include "engine/storage/file_errors.h"

#include <glob.h>
#include <string.h>

static const char wildcards[] = "*?[";

bool path_is_pattern(const char *path)
{
    return strpbrk(path, wildcards) && file_is_missing(path);
}

enum status pattern_expand(const char *path, struct span span, const char ***files, size_t *count, struct diags *diags)
{
    glob_t found = {0};
    *files = NULL;
    *count = 0;
    const int problem = glob(path, 0, NULL, &found);
    if (problem == 0) {
        *files = arena_array(diags->arena, found.gl_pathc, sizeof **files);
        for (; *count < found.gl_pathc; ++*count)
            (*files)[*count] = arena_text(diags->arena, found.gl_pathv[*count], strlen(found.gl_pathv[*count]));
    }
    globfree(&found);
    if (problem == GLOB_NOSPACE)
        return diag_error(diags, span, "not enough memory");
    return problem ? diag_error(diags, span, "no file matches `%s`", path_display(path, diags->arena)) : STATUS_OK;
}

/* A step of FNV-1a, on words. */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3;
}

bool path_stamp_of(const char *path, struct file_stamp *stamp)
{
    if (!path_is_pattern(path))
        return file_stamp_of(path, stamp);
    glob_t found = {0};
    bool exist = glob(path, 0, NULL, &found) == 0;
    *stamp = (struct file_stamp){.device = UINT64_MAX, .inode = 0xcbf29ce484222325, .mtime_ns = INT64_MIN};
    for (size_t i = 0; exist && i < found.gl_pathc; i++) {
        struct file_stamp file;
        exist = file_stamp_of(found.gl_pathv[i], &file);
        if (!exist)
            break;
        const uint64_t words[] = {file.device, file.inode, (uint64_t)file.size, (uint64_t)file.mtime_ns};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            stamp->inode = hash_word(stamp->inode, words[k]);
        for (const char *c = found.gl_pathv[i]; *c; c++)
            stamp->inode = hash_word(stamp->inode, (unsigned char)*c);
        stamp->size += file.size;
        stamp->mtime_ns = file.mtime_ns > stamp->mtime_ns ? file.mtime_ns : stamp->mtime_ns;
    }
    globfree(&found);
    return exist;
}

const char *path_stem(const char *path, struct arena *arena)
{
    const char *base = path_base(path);
    size_t length = (size_t)(path_extension(path) - base);
    if (path_is_pattern(path)) {
        size_t before = strcspn(base, wildcards);
        while (before > 0 && before <= length && strchr("-_. ", base[before - 1]))
            before--;
        length = before > 0 && before < length ? before : length;
    }
    return arena_text(arena, base, length);
}
