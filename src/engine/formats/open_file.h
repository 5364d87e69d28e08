/* Opening a file of any format: mapped or read from a pipe, decompressed, and read unless its format reads columns one
 * by one. */
#ifndef RQL_ENGINE_FORMATS_OPEN_FILE_H
#define RQL_ENGINE_FORMATS_OPEN_FILE_H

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"

struct pipes;  /* pipe_input.h */
struct remote; /* engine/remote/remote.h */

struct servers; /* sql/wire/servers.h */
struct queue;   /* engine/plan/task.h */

/* A server that the session has used; texts that are not known are NULL. */
struct table_connection {
    const char *server, *user, *version;
    const char *clusters; /* with the numbers of their shards */
    const char *state;    /* how soon it answers, or why it does not */
};

/* What the queries of a session have taken so far. */
struct table_traffic {
    int64_t queries;
    int64_t nanoseconds; /* from sending a query until its answer was whole */
    int64_t rows, bytes; /* of answers, bytes as they came over */
    int64_t rows_read;   /* by servers, as far as they tell: those until 2019 do so of queries of a fifth of a second or
                            more, about */
    int64_t queries_told; /* how many told it */
};

/* How many rows tables on servers have while tasks are lowered: that is known when they are read. */
static const int64_t TABLE_ROWS = INT64_C(1) << 61;

/* Rows from here that go to the server with a query. */
struct sent_rows {
    size_t number;             /* of these in the query */
    struct relation *relation; /* NULL: it is not evaluated yet */
    bool *used;                /* set while the query is lowered: of each column, whether it reads that */
};

/* What stands for the columns of a table in a queue: columns[k], of TABLE_ROWS rows, for number places[k] of the
 * reader's, or of the relation's. */
struct table_columns {
    const struct file_reader *reader; /* NULL: `sent` has the rows */
    const struct sent_rows *sent;
    struct column *const *columns;
    const size_t *places;
    size_t count;
    const char *dialect;              /* only for the text of the query, in this dialect; NULL: to be run */
    const struct table_columns *next; /* another table that the queue reads, or NULL */
};

/* Of statements on servers. */
struct table_limits {
    int seconds;    /* without progress, until a query is given up; 0: none is */
    int64_t fetch;  /* bytes that an answer has at most; 0: any number */
    int64_t upload; /* bytes of rows from here that go up with a query at most; 0: none do */
};

/* What opens paths that name no file: tables on servers. */
struct table_source {
    struct servers *servers; /* of the session, passed to each of these: */
    bool (*accepts)(const char *path);
    enum status (*open)(struct servers *servers, const char *path, const struct format_job *job,
                        struct file_reader **reader);
    /* Checks a path before what it is to hold is computed. Opens nothing. */
    enum status (*save_check)(const char *path, struct span span, struct diags *diags);
    /* Saves rows, which are on the host; on any error, and if cancelled, what was there stays. */
    enum status (*save)(struct servers *servers, const char *path, enum save_way way, const struct relation *relation,
                        const struct format_job *job);
    void (*set_limits)(struct servers *servers, const struct table_limits *limits);
    struct table_limits (*limits)(const struct servers *servers);
    /* A file as a table of statements that are only shown, in the arena; NULL: the dialect reads no such files. */
    struct file_reader *(*of_file)(const char *path, const struct file_reader *file, const char *dialect,
                                   struct arena *arena);
    /* Whether one query can read both tables. */
    bool (*together)(const struct file_reader *a, const struct file_reader *b);
    struct table_traffic (*traffic)(const struct servers *servers);
    /* A statement has ended: what the tables are is asked anew. */
    void (*forget)(struct servers *servers);
    /* The servers, in the arena; takes a second at most for each. */
    struct table_connection *(*connections)(struct servers *servers, struct arena *arena, size_t *count);
    /* The names and types of a table's columns, in the arena, for completion; takes 300 ms at most. False: unknown. */
    bool (*peek)(struct servers *servers, const char *path, struct arena *arena, const struct reader_column **columns,
                 size_t *count);
    /* Name k of the dialects of SQL, NULL behind the last. */
    const char *(*dialect)(size_t k);
    /* Paths that begin as the one being typed, in the arena; takes 300 ms at most. */
    const char **(*complete)(struct servers *servers, const char *typed, struct arena *arena, size_t *count);
    /* Has the server run a bound queue that reads these columns alone: a reader of its result, which needs those of the
     * tables. NULL: it cannot; *refusal says what not. */
    struct file_reader *(*lower)(const struct queue *queue, const struct table_columns *from, const char **refusal);
};

struct opener {
    struct mappings *mappings;
    struct pipes *pipes;
    struct remote *remote;
    const atomic_int *cancel;
    struct progress *progress;
    struct buffer_pool *pool;          /* for columns and buffers; may be NULL */
    struct thread_pool *thread_pool;   /* owned by the file cache */
    const struct table_source *tables; /* NULL: paths name files */
    const char *no_programs;           /* why paths cannot be programs; NULL: they can */
    const char *no_addresses;          /* likewise */
};

struct opened_file {
    const struct format *format;
    struct file_stamp stamp;
    struct relation *relation;  /* all columns, or NULL: */
    struct file_reader *reader; /* reads them */
    struct mapping *mapping;    /* of the reader, a reference; NULL if it reads several files */
    bool listed;                /* several files, of which only the first is open: see struct load_options */
};

/* The threads for reading `path`. */
struct workers opener_workers(const struct opener *opener, const char *path, struct arena *arena);

/* Whether the path names a table on a server. */
bool opener_has_table(const struct opener *opener, const char *path);

/* Without a format, the file's content gives it. */
enum status open_file(const struct opener *opener, const char *path, struct span span,
                      const struct load_options *options, struct opened_file *file, struct diags *diags);
void opened_file_close(struct opened_file *file);

/* append_reader.c: several files read as one, their rows one after another. Columns are found by their names, in the
 * order in which files have them first. Those of the same name must be of one type, or of types that type_widen joins;
 * where a file lacks one, its values are missing there. Columns that the names of folders tell (partition.h) come last,
 * and hide those of the same name. */

/* Opens those of options->list that are chosen, at least one; the result has a reader and the first file's format.
 * `options->format` NULL: each file's extension gives its format, which can be loaded. */
enum status open_appended(const struct opener *opener, const struct load_options *options, struct span span,
                          struct opened_file *appended, struct diags *diags);

#endif
