/* The cache of opened files: an unchanged file is the same column object each time it is named, so its statistics and
 * device copies survive between queries. */
#ifndef RQL_ENGINE_FORMATS_FILE_CACHE_H
#define RQL_ENGINE_FORMATS_FILE_CACHE_H

#include "base/progress.h"
#include "engine/storage/column.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/unreadable.h"

#include <stdatomic.h>

struct format;        /* formats.h */
struct reader_column; /* engine/storage/file_reader.h */
struct file_reader;   /* file_reader.h */
struct format_job;    /* file_reader.h */
struct queue;         /* engine/plan/task.h */
struct table_columns; /* open_file.h */
struct file_list;     /* file_list.h */
struct row_set;       /* row_set.h */
struct table_source;  /* open_file.h */
struct remote;        /* engine/remote/remote.h */
struct text_options;  /* text_options.h */
struct mentioned;     /* file_reader.h */

struct file_cache;
struct file_cache *file_cache_new(struct mappings *mappings, const atomic_int *cancel); /* `cancel` may be NULL */
void file_cache_free(struct file_cache *file_cache);
const atomic_int *file_cache_cancel(const struct file_cache *file_cache); /* as given; may be NULL */

/* Columns loaded from a path, in order, with names derived from the files. */
struct loaded {
    struct column **columns; /* one reference each, owned by the caller */
    const char **names;      /* in the diags' arena */
    size_t count;
    struct shape shape;                   /* of an image */
    bool types_from_values;               /* of a text file: types can be stated */
    const struct file_list *list;         /* of a path that stands for several files, in the diags' arena; else NULL */
    bool listed;                          /* only the first of them is open */
    struct unreadable_columns unreadable; /* that are left out, in the diags' arena */
};

/* Standard input supplies statements and is rejected as data. */
void file_cache_reserve_stdin(struct file_cache *file_cache);

/* Sets the pool that gives the memory of columns, once; takes a reference. */
void file_cache_set_pool(struct file_cache *file_cache, struct buffer_pool *pool);

/* Sets what opens tables on servers; borrowed. */
void file_cache_set_tables(struct file_cache *file_cache, const struct table_source *tables);
const struct table_source *file_cache_tables(const struct file_cache *file_cache); /* as set; NULL: none */

/* What loads addresses (engine/remote/remote.h). */
struct remote *file_cache_remote(const struct file_cache *file_cache);

/* Sets the progress listener for reading files; NULL: none. */
void file_cache_set_progress(struct file_cache *file_cache, struct progress *progress);

/* From now on paths can be neither programs nor addresses, each for a reason; NULL: they can. */
void file_cache_refuse(struct file_cache *file_cache, const char *programs, const char *addresses);

/* Records an error if the path can never be loaded. Opens nothing. */
enum status file_cache_check(const struct file_cache *file_cache, const char *path, struct span span,
                             struct diags *diags);

/* How a file is to be read, where its extension and contents do not say so. */
struct load_options {
    const struct format *format;     /* NULL: by the extension */
    const struct text_options *text; /* NULL: nothing is stated */
    const struct mentioned
        *mentioned; /* the columns that will be read are mostly among these; NULL: that is not known */
    /* Where the names of folders tell columns, only the first file is opened: all others are taken to have its columns,
     * and a number of rows that is not theirs. The bounds of the columns that folders tell say which to open then. */
    bool lists;
    const struct file_list *list; /* as `loaded` had it; NULL: it is made */
    const bool *chosen;           /* those of the list to open, at least one; NULL: all */
};

/* Opens a file (and waits for the data of a pipe), a directory of column files in name order (a splayed table; files
 * whose extension gives no type are skipped), or the files of a pattern or of a folder as one (file_list.h). Columns of
 * files that are read column by column may be unread. `options` NULL: nothing is stated. */
enum status file_cache_load(struct file_cache *file_cache, const char *path, struct span span,
                            const struct load_options *options, struct loaded *loaded, struct diags *diags);

/* Finds the names and types of a file's columns, in the arena, from its beginning or its footer, however long it is.
 * The types of a text file are guesses. False: it is compressed, no file, or of a format that is read as a whole. */
bool file_cache_peek(const struct file_cache *file_cache, const char *path, const struct format *format,
                     struct arena *arena, const struct reader_column **columns, size_t *count);

/* Reads the unread ones of the columns, which file_cache_load gave, and replaces each by the column that it stands for,
 * with its reference. */
enum status file_cache_read(struct file_cache *file_cache, struct column **columns, size_t count, struct span span,
                            struct diags *diags);

/* Likewise for what only looks at single strings: columns of text may be replaced by ones with unsorted dictionaries
 * (dictionary.h). */
enum status file_cache_read_unsorted(struct file_cache *file_cache, struct column **columns, size_t count,
                                     struct span span, struct diags *diags);

/* Likewise for showing rows: columns of long files may be replaced by columns of as many rows of which only the first
 * `head` and last `tail` can be read; these are read again by file_cache_read. */
enum status file_cache_read_ends(struct file_cache *file_cache, struct column **columns, size_t count, int64_t head,
                                 int64_t tail, struct span span, struct diags *diags);

/* Replaces a column with an unsorted dictionary by one with a sorted one. */
enum status file_cache_order(const struct file_cache *file_cache, struct column **column, struct span span,
                             struct diags *diags);

/* Finds out how many rows the table of the unread column has. STATUS_UNABLE: reading tells. */
enum status file_cache_count(struct file_cache *file_cache, const struct column *unread, struct span span,
                             struct diags *diags);

/* The reader of the file that has the unread column, as its column *k; NULL: there is none. */
const struct file_reader *file_cache_reader(const struct file_cache *file_cache, const struct column *unread,
                                            size_t *k);

/* The same for the validity of its column *k. */
const struct file_reader *file_cache_reader_of_validity(const struct file_cache *file_cache,
                                                        const struct column *validity, size_t *k);

/* A reader of the queue's result, which a server computes (open_file.h); NULL: it cannot. */
struct file_reader *file_cache_lower(const struct file_cache *file_cache, const struct queue *queue,
                                     const struct table_columns *from, const char **refusal);

/* Reads the value that a reader has instead of columns. */
enum status file_cache_value(const struct file_cache *file_cache, struct file_reader *reader, struct span span,
                             struct scalar *value, struct diags *diags);

/* Takes over a reader as that of a file which is dropped when nothing waits for its columns; these are appended to
 * `loaded`, unread. */
enum status file_cache_adopt(struct file_cache *file_cache, struct file_reader *reader, const char *name,
                             struct span span, struct loaded *loaded, struct diags *diags);

/* What reading `rows` rows of a column costs, of which `unpacked` rows have to be decompressed, as the number of rows
 * that cost as much if all are read. */
int64_t file_cache_rows_worth(const struct column *unread, int64_t unpacked, int64_t rows);

/* Whether reading `rows` rows of the unread column, which are not kept, is cheaper in the long run than reading and
 * keeping all: such reads have not cost yet what reading all does (as in the ski rental problem, the total is at most
 * twice the least possible). */
bool file_cache_spares(const struct file_cache *file_cache, const struct column *unread, int64_t rows);

/* Reads these rows of the unread ones of the columns and replaces each by a column of them, with one reference. */
enum status file_cache_read_rows(struct file_cache *file_cache, struct column **columns, size_t count,
                                 const struct row_set *rows, struct span span, struct diags *diags);

/* Reads these rows of an unread column of text, which file_cache_reader knows, as a column with one reference. It is
 * not kept, and may have an unsorted dictionary. */
enum status file_cache_read_batch(struct file_cache *file_cache, const struct column *unread,
                                  const struct row_set *rows, struct span span, struct diags *diags,
                                  struct column **column);

/* Replaces those of the columns that stand for columns which have been read meanwhile. */
void file_cache_renew(const struct file_cache *file_cache, struct column **columns, size_t count);

/* Releases the columns and empties the struct. */
void loaded_release(struct loaded *loaded);

/* Whether the unchanged file is cached in this format, so that loading it takes no time. */
bool file_cache_contains(const struct file_cache *file_cache, const char *path, const struct format *format);

/* Sets how many bytes of memory columns may take that have been read of files, and that only the cache refers to. */
void file_cache_set_limit(struct file_cache *file_cache, int64_t bytes);

/* Marks columns that a statement uses. */
void file_cache_touch(const struct file_cache *file_cache, struct column *const *columns, size_t count);

/* Columns in memory that have been read of files. */
struct file_cache_columns {
    size_t count;
    int64_t bytes;
};
struct file_cache_columns file_cache_columns(const struct file_cache *file_cache);

/* Drops columns that only the cache refers to until they take at most `limit` bytes: first those that take the least
 * time to read again for their bytes, and for the statements since their last use. */
void file_cache_shrink(struct file_cache *file_cache, int64_t limit);

/* About the nanoseconds that reading an element of an unread column takes. */
double file_cache_time_to_read(const struct column *column);

/* Whether that is long: of text that is stored string by string. */
bool file_cache_is_slow(const struct column *column);

/* Drops entries whose file has changed, unless unread columns of it are referred to, and the least recently used of
 * those that only the cache refers to, and columns beyond the limit. */
void file_cache_sweep(struct file_cache *file_cache);

#endif
