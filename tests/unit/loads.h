/* Loads one path after another. Every function is static inline because a test program is one source
 * file. */
#ifndef RQL_TESTS_LOADS_H
#define RQL_TESTS_LOADS_H

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"
#include "scratch.h"

/* Loads a path as it is, of the format that the word states (NULL: by its ending); what was loaded and told before is
 * let go. */
static inline enum status load_anew(struct scratch *scratch, struct file_cache *file_cache, const char *path,
                                    const char *word, struct loaded *loaded)
{
    loaded_release(loaded);
    scratch->diags.count = 0;
    return file_cache_load(file_cache, path, scratch->span, word ? format_by_word(word) : NULL, loaded,
                           &scratch->diags);
}

#endif
