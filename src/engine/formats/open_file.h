/* Opening a file of any format: mapped or read from a pipe, decompressed, and read unless its format reads columns one
 * by one. */
#ifndef RQL_ENGINE_FORMATS_OPEN_FILE_H
#define RQL_ENGINE_FORMATS_OPEN_FILE_H

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"

struct pipes; /* pipe_input.h */

/* What opens paths that name no file: tables on servers. */
struct table_source {
    bool (*accepts)(const char *path);
    enum status (*open)(const char *path, const struct format_job *job, struct file_reader **reader);
    /* Checks a path before what it is to hold is computed. Opens nothing. */
    enum status (*save_check)(const char *path, struct span span, struct diags *diags);
    /* Saves rows, which are on the host; on any error, and if cancelled, what was there stays. */
    enum status (*save)(const char *path, const struct relation *relation, const struct format_job *job);
};

struct opener {
    struct mappings *mappings;
    struct pipes *pipes;
    const atomic_int *cancel;
    struct progress *progress;
    struct buffer_pool *pool;          /* for columns and buffers; may be NULL */
    struct thread_pool *thread_pool;   /* owned by the file cache */
    const struct table_source *tables; /* NULL: paths name files */
};

struct opened_file {
    const struct format *format;
    struct file_stamp stamp;
    struct relation *relation;  /* all columns, or NULL: */
    struct file_reader *reader; /* reads them */
    struct mapping *mapping;    /* of the reader, a reference; NULL if it reads several files */
};

/* The threads for reading `path`. */
struct workers opener_workers(const struct opener *opener, const char *path, struct arena *arena);

/* Whether the path names a table on a server. */
bool opener_has_table(const struct opener *opener, const char *path);

/* Without a format, the file's content gives it. */
enum status open_file(const struct opener *opener, const char *path, struct span span,
                      const struct load_options *options, struct opened_file *file, struct diags *diags);
void opened_file_close(struct opened_file *file);

#endif
