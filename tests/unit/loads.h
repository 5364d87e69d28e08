/* Loads one path after another. Every function is static inline because a test program is one source
 * file. */
#ifndef RQL_TESTS_LOADS_H
#define RQL_TESTS_LOADS_H

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"
#include "scratch.h"

/* Releases the previous load and its diagnostics, then loads a path and reads all columns; `word` names its format
 * (NULL: by extension). */
static inline enum status load_anew(struct scratch *scratch, struct file_cache *file_cache, const char *path,
                                    const char *word, struct loaded *loaded)
{
    loaded_release(loaded);
    scratch->diags.count = 0;
    const struct load_options options = {.format = word ? format_by_word(word) : NULL};
    enum status status = file_cache_load(file_cache, path, scratch->span, &options, loaded, &scratch->diags);
    if (status == STATUS_OK)
        status = file_cache_read(file_cache, loaded->columns, loaded->count, scratch->span, &scratch->diags);
    if (status != STATUS_OK)
        loaded_release(loaded);
    return status;
}

#endif
