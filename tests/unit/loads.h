/* Loads one path after another. Every function is static inline because a test program is one source
 * file. */
#ifndef RQL_TESTS_LOADS_H
#define RQL_TESTS_LOADS_H

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"
#include "scratch.h"

/* Releases the previous load and its diagnostics, then loads a path; `word` names its format (NULL: by extension). */
static inline enum status load_anew(struct scratch *scratch, struct file_cache *file_cache, const char *path,
                                    const char *word, struct loaded *loaded)
{
    loaded_release(loaded);
    scratch->diags.count = 0;
    return file_cache_load(file_cache, path, scratch->span, word ? format_by_word(word) : NULL, loaded,
                           &scratch->diags);
}

#endif
