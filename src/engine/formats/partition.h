/* Columns that the names of folders tell: `year=2024/month=01/x.parquet`, as Hive writes them. */
#ifndef RQL_ENGINE_FORMATS_PARTITION_H
#define RQL_ENGINE_FORMATS_PARTITION_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "engine/storage/column.h"
#include "engine/storage/file_reader.h"

/* What stands for a missing value, in place of the value. */
#define PARTITION_MISSING "__HIVE_DEFAULT_PARTITION__"

struct partition_value {
    bool missing;
    int64_t integer;  /* of text its place among the key's texts */
    struct text text; /* as written, decoded */
};

/* A column. It is i64 if all values are integers, none of which begins with a zero but those of at most two digits;
 * date if all are dates; else text. An empty value is missing but in a text. */
struct partition_key {
    const char *name;
    struct logical_type logical; /* without a dictionary */
    bool nullable;
    struct partition_value *values; /* of each file */
};

struct partitions {
    size_t count;
    struct partition_key *keys;
};

/* Whether any folder in the paths names a column. */
bool paths_have_keys(const char *const *paths, size_t count);

/* The keys in the order in which the paths name them. A file whose path lacks one has a missing value. In the arena. */
struct partitions partitions_of_paths(const char *const *paths, size_t count, struct arena *arena);

/* Leaves the values of some of the files, whose numbers ascend. */
void partitions_keep(struct partitions *partitions, const size_t *files, size_t count);

enum type partition_type(const struct partition_key *key);

/* What a file says of the column. */
struct group_bounds partition_bounds(const struct partition_key *key, size_t file);

/* The column, of which rows[f] rows are file f's. NULL: no memory. */
struct column *partition_column(const struct partition_key *key, const int64_t *rows, size_t count,
                                const struct workers *workers);

/* How partition_name writes KEY=VALUE, the name of a folder, of a column of this type. */
const char *partition_usual_name(const char *folder, const char *key, struct logical_type type, struct arena *arena);

/* Adds KEY=VALUE, encoded where a name of a file cannot hold a character. `value` NULL: it is missing. */
void partition_name(struct strbuf *out, const char *key, const struct text *value);

#endif
