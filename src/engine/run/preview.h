/* What a pipeline results in, without running it: for completion. */
#ifndef RQL_ENGINE_RUN_PREVIEW_H
#define RQL_ENGINE_RUN_PREVIEW_H

#include "engine/run/run.h"

/* A column of a pipeline. */
struct preview_column {
    const char *name;
    enum type type;
    struct logical_type logical; /* without a dictionary */
    bool optional;               /* values may be missing */
};

/* Finds the pipeline's columns, in the arena; of a value only its names. Loads files only where their names do not tell
 * the columns and loading is fast; of others it looks at the beginning. False: it has no columns, is wrong, or the
 * columns are unknown. */
bool preview_columns(struct env *env, const struct pipeline *pipeline, struct arena *arena,
                     struct preview_column **columns, size_t *count);

const char **preview_names(const struct preview_column *columns, size_t count, struct arena *arena);

/* The shape of the pipeline's rows, with names in the arena, as far as the check of a binding tells: else none. */
struct shape preview_shape(struct env *env, const struct pipeline *pipeline, struct arena *arena);

/* Strings of a text column that begin with `prefix`: at most `most`, in order, in the arena. */
struct preview_texts {
    const char **at;
    size_t count;
};

/* Finds those of a column of the pipeline, by its name or an abbreviation, if reading its files is fast. */
struct preview_texts preview_texts(struct env *env, const struct pipeline *pipeline, const char *name,
                                   const char *prefix, size_t most, struct arena *arena);

/* Finds those of a column of a relation. */
struct preview_texts relation_texts(const struct relation *relation, const char *name, const char *prefix, size_t most,
                                    struct arena *arena);

/* Whether the pipeline ends in a terminal. */
bool preview_is_value(struct env *env, const struct pipeline *pipeline, struct arena *arena);

#endif
