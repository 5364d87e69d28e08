#include "engine/storage/compression_table.h"

#include "base/path.h"

#include <string.h>
#include <strings.h>

const struct compression *const compression_table[] = {&compression_gzip, &compression_zstd};
const size_t compression_count = sizeof compression_table / sizeof compression_table[0];

const struct compression *compression_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < compression_count && dot; i++) {
        if (strcasecmp(compression_table[i]->extension, dot) == 0)
            return compression_table[i];
    }
    return NULL;
}

const struct compression *compression_of_content(const void *data, size_t length)
{
    for (size_t i = 0; i < compression_count; i++) {
        const size_t size = strlen(compression_table[i]->magic);
        if (length >= size && memcmp(data, compression_table[i]->magic, size) == 0)
            return compression_table[i];
    }
    return NULL;
}

bool path_has_extension(const char *path, const char *extension)
{
    const char *found = path_extension(path);
    const struct compression *compression = compression_of_path(path);
    const size_t length = strlen(found) - (compression ? strlen(compression->extension) : 0);
    return strlen(extension) == length && strncasecmp(extension, found, length) == 0;
}

const char *path_extension(const char *path)
{
    const char *base = path_base(path);
    const char *dot = strrchr(base, '.');
    if (!dot || dot == base)
        return base + strlen(base);
    const char *previous = dot - 1;
    while (previous > base && *previous != '.')
        previous--;
    return compression_of_path(base) && previous > base ? previous : dot;
}
