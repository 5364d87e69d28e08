#include "engine/storage/compression_table.h"

#include "base/path.h"

#include <string.h>
#include <strings.h>

const struct compression *const compression_table[] = {&packing_gzip, &packing_zstd};
const size_t compression_count = sizeof compression_table / sizeof compression_table[0];

const struct compression *compression_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < compression_count && dot; i++) {
        if (strcasecmp(compression_table[i]->ending, dot) == 0)
            return compression_table[i];
    }
    return NULL;
}

const struct compression *compression_of_content(const void *data, size_t length)
{
    for (size_t i = 0; i < compression_count; i++) {
        size_t size = strlen(compression_table[i]->magic);
        if (length >= size && memcmp(data, compression_table[i]->magic, size) == 0)
            return compression_table[i];
    }
    return NULL;
}

const char *path_ending(const char *path)
{
    const char *base = path_base(path);
    const char *dot = strrchr(base, '.');
    if (!dot || dot == base)
        return base + strlen(base);
    const char *before = dot - 1;
    while (before > base && *before != '.')
        before--;
    return compression_of_path(base) && before > base ? before : dot;
}
