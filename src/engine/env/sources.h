/* The files that a pipeline reads, loaded before it is bound, and the relations that it names of which columns of files
 * are unread. */
#ifndef RQL_ENGINE_ENV_SOURCES_H
#define RQL_ENGINE_ENV_SOURCES_H

#include "base/diag.h"
#include "base/timing.h"
#include "engine/env/env.h"
#include "engine/storage/row_set.h"
#include "engine/storage/unreadable.h"

struct source_column {
    const char *name;
    enum type type;
    struct logical_type logical; /* the dictionary is the column's */
    struct column *column; /* one reference; NULL in a check; may be unread, or text with an unsorted dictionary */
    struct column *unread; /* of the latter: what stands for the column with a sorted one, one reference; in a check, of
                              lists: a column that holds their type */
};

/* A column that a pipeline reads. */
struct needed_column {
    struct column *column;
    bool ordered; /* text: its strings are compared, or leave the statement. Else an unsorted dictionary does */
};

struct needed_columns {
    struct needed_column *at; /* NULL: those whose type is provisional */
    size_t count, capacity;
    bool at_once; /* all columns of a live source are read as soon as one is, since it is not known yet which are needed
                   */
    bool kept;    /* all others stay unread, as of live sources their numbers of rows */
};

/* How far a statement's need of a file's rows is known (sources.h). */
enum row_search {
    SEARCH_BOUNDS, /* the bounds of its parts are to be compared with the statement's filters, */
    SEARCH_VALUES, /* then the filters are to be evaluated, */
    SEARCH_LATE,   /* then what chooses among the rows that pass, */
    SEARCH_DONE    /* and then the rest is read */
};

struct source_file {
    const struct name *written; /* in the tree: what identifies it */
    struct name path;           /* that this stands for; of a relation its name */
    struct source_column *columns;
    size_t count;
    struct unreadable_columns unreadable; /* other columns of a file */
    bool known;                           /* its columns; if not, an error was recorded or only loading can tell */
    bool shape_unknown;                   /* its rows have a shape, which only loading can tell */
    bool outdated; /* how many rows a live source has is not known, or was so to an earlier statement */
    struct shape shape;
    enum row_search search;
    size_t tried;                /* conditions that rows were looked for by */
    const struct row_set *rows;  /* the columns have only these rows of the file; NULL: all */
    struct source_column *whole; /* then the columns with all rows */
    /* Of a path that stands for several files, */
    const struct file_list *list;       /* these; else NULL */
    const struct load_options *options; /* how they are loaded */
    size_t list_count, opened;          /* how many there are, and are open, */
    bool listed;                        /* the first, and those to open have yet to be chosen */
};

struct sources {
    struct source_file *files; /* in the order of the tree */
    size_t count, capacity;
    size_t next;    /* where sources_find looks first: binding asks in the same order */
    size_t errors;  /* recorded, at most LIMIT_ERRORS */
    bool checking;  /* types of texts are without their dictionaries */
    bool cancelled; /* while a file was read */
};

/* Loads all files that the pipeline names, through the environment's file cache; each is timed as PHASE_MAP (`timing`
 * may be NULL). With `checking`, files are opened as env->opens_files says; of others the columns are those that file
 * names tell. Records an error for each file that cannot be loaded. The caller calls sources_release. */
void sources_load(const struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                  struct timing *timing, struct sources *sources, struct diags *diags);
void sources_release(struct sources *sources);

/* Opens those files of a source that are chosen; NULL: all. Its columns are theirs then. */
enum status source_open(struct sources *sources, struct source_file *file, const struct env *env, const bool *chosen,
                        struct timing *timing, struct diags *diags);

/* Whether the files of some source have yet to be chosen. */
bool sources_listed(const struct sources *sources);

/* Whether some files of a source are not open. */
bool source_leaves_out(const struct source_file *file);

/* Has servers count the rows of live sources, so that these are no longer outdated. *counted: it is done for one. */
enum status sources_count(struct sources *sources, const struct env *env, bool *counted, struct diags *diags);

/* Whether some column is unread, or has an unsorted dictionary. */
bool sources_unread(const struct sources *sources);

/* Whether some of the needed columns, or columns whose validity is needed, are unread, or have no order though they
 * need it. A text file of which nothing was read lacks a column. */
bool sources_lack(const struct sources *sources, const struct needed_columns *needed, struct arena *arena);

/* The places of those of a file, at most file->count; returns their number. */
size_t source_lacks(const struct source_file *file, const struct needed_columns *needed, size_t *places);

/* The column of this name of a source that cannot be read; NULL: there is none. */
const struct unreadable_column *sources_unreadable(const struct sources *sources, const char *name);

/* Reads these, and tells of columns that cannot be read if all others of a file are. */
enum status sources_read(struct sources *sources, const struct env *env, const struct needed_columns *needed,
                         struct timing *timing, struct diags *diags);

/* The file, or the relation with unread columns, named at this place of the tree; NULL if there is none, or loading
 * stopped before it. */
const struct source_file *sources_find(struct sources *sources, const struct name *written);

/* Whether loading all of them takes no time that a user would notice. */
bool sources_load_fast(const struct env *env, const struct pipeline *pipeline, struct arena *arena);

/* source_columns.c, source_rows.c, source_files.c: private to the files of sources and to what narrows them. */

/* Loads the file's path. `options` live as long as the sources. */
enum status source_load_files(struct sources *sources, struct source_file *file, const struct env *env,
                              const struct load_options *options, struct timing *timing, struct diags *diags);

/* The column with its reference. A check needs no texts, of which functions would be computed in vain. */
struct source_column source_column(const struct sources *sources, const char *name, struct column *column);

/* Leaves only these rows of those that the file's columns have: columns without data stand for its columns. `rows` and
 * its arena live as long as the file. False: no memory. */
bool source_narrow(struct source_file *file, const struct row_set *rows, struct arena *arena);

/* Sets one of its columns to what was read of these rows, and takes over the reference. */
void source_set_column(struct source_file *file, size_t k, struct column *column);

/* Reads file->rows of the columns at these places, which is changed, and sets them. `unsorted`: text may have unsorted
 * dictionaries. */
enum status source_read_rows(const struct sources *sources, struct source_file *file, const struct env *env,
                             size_t *places, size_t count, bool unsorted, struct diags *diags);

#endif
