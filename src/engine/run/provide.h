/* Finding out what a binding needs. */
#ifndef RQL_ENGINE_RUN_PROVIDE_H
#define RQL_ENGINE_RUN_PROVIDE_H

#include "engine/bind/bind_remote.h"
#include "engine/run/run.h"

/* Adds to the facts what the binding `bound` needs. `runner` NULL: nothing is evaluated. */
enum status provide(struct runner *runner, struct facts *facts, const struct bound *bound, struct needs *needs,
                    struct arena *arena, struct diags *diags);

/* provide_texts.c: makes the texts of rows that a binding needs (engine/expression/row_text.h). */

/* Runs what comes before the stages of the calls, as far as it reads no other texts that are needed, for the values of
 * their arguments, and adds the results to the facts. */
enum status provide_row_texts(struct runner *runner, struct facts *facts, const struct queue *queue,
                              const struct needs *needs, struct arena *arena, struct diags *diags);

/* narrow_sources.c: leaving out rows of files that a statement does not need, before the rest of their columns is read.
 */

/* Narrows files to the rows that pass the filters of the only task that reads them: first by the bounds that a file
 * tells of its parts, then by the values of the columns that the filters read. *narrowed: the pipeline has to be bound
 * again. Else `needed` is cut to the columns that have to be read next. */
enum status narrow_sources(struct runner *runner, struct sources *sources, const struct queue *queue,
                           struct needed_columns *needed, bool *narrowed, struct arena *arena, struct diags *diags);

/* choose_files.c: opens of listed sources the files in which a row can pass the filters of the only task that reads
 * them, by what the names of their folders tell. `queue` NULL: opens all files that are not open. */
enum status choose_files(struct env *env, struct sources *sources, const struct queue *queue, struct timing *timing,
                         struct arena *arena, struct diags *diags);

/* file_need.c: which rows of a file a statement needs: those that pass the filters of the only task that reads it. */

struct file_need {
    const struct queue *queue; /* the statement as bound with the file's columns as they are */
    struct column *const *columns;
    size_t count;
    int64_t rows;              /* of each */
    bool by_bounds;            /* by the bounds of the file's parts alone, else by the values that the filters read */
    bool found;                /* the statement reads only these of the rows: */
    struct row_set found_rows; /* in the arena */
    bool *first; /* not found: of each column, whether it has to be read before the rows can be found. NULL: all rows
                    are needed */
};

/* Finds them. Bounds that a file states are taken as true. */
enum status find_needed_rows(const struct runner *runner, struct file_need *need, struct arena *arena);

/* bounds_search.c: prunes the parts of a file, such as row groups, by the bounds of columns that the file states. */

/* Adds to `rows` the rows of all parts but those in which, by the bounds, a filter of the task is false for every row
 * and nothing evaluated before it can fail. of_file[k]: the task's input k is a column of the file. False: the file
 * states no bounds. */
bool rows_within_bounds(const struct env *env, const struct queue *queue, const struct task *task, const bool *of_file,
                        struct row_set *rows, struct arena *arena);

/* ask_server.c: having a server run what it can of a pipeline. */

/* Asks for the part, and closes its reader or has it adopted. Of a value, which is the whole pipeline, facts->answer is
 * set. Rows, which are not read yet, take the table's place as the source of facts->rest. STATUS_UNABLE: something in
 * the part fails, of which the pipeline without the server tells. */
enum status ask_server(struct facts *facts, const struct remote_part *part, struct arena *arena, struct diags *diags);

#endif
