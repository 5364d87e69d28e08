/* Finding out what a binding needs. */
#ifndef RQL_ENGINE_RUN_PROVIDE_H
#define RQL_ENGINE_RUN_PROVIDE_H

#include "engine/operators/describe.h"
#include "engine/run/run.h"
#include "engine/source/bind_remote.h"

/* Adds to the facts what the binding `bound` needs. `runner` NULL: nothing is evaluated. */
enum status provide(struct runner *runner, struct facts *facts, const struct bound *bound, struct needs *needs,
                    struct arena *arena, struct diags *diags);

/* provide_texts.c: makes the texts of rows that a binding needs (engine/expression/row_text.h). */

/* Runs what comes before the stages of the calls, as far as it reads no other texts that are needed, for the values of
 * their arguments, and adds the results to the facts. */
enum status provide_row_texts(struct runner *runner, struct facts *facts, const struct queue *queue,
                              const struct needs *needs, struct arena *arena, struct diags *diags);

/* Puts those of the facts' texts in order that are marked so, and columns of sources that have to be. */
enum status order_texts(const struct runner *runner, struct facts *facts, struct diags *diags);

/* narrow_sources.c: leaving out rows of files that a statement does not need, before the rest of their columns is read.
 */

/* Narrows files to the rows that the only task that reads them needs: first by the bounds that a file tells of its
 * parts, then by the values of the columns that its filters read, then by windows and the keys of a sort behind it.
 * *narrowed: the pipeline has to be bound again. Else `needed` is cut to the columns that have to be read next. */
enum status narrow_sources(struct runner *runner, struct sources *sources, const struct queue *queue,
                           struct needed_columns *needed, bool *narrowed, struct arena *arena, struct diags *diags);

/* choose_files.c: opens of listed sources the files in which a row can pass the filters of the only task that reads
 * them, by what the names of their folders tell. `queue` NULL: opens all files that are not open. */
enum status choose_files(struct env *env, struct sources *sources, const struct queue *queue, struct timing *timing,
                         struct arena *arena, struct diags *diags);

/* file_need.c: which rows of a file a statement needs: those that pass the filters of the only task that reads it, and
 * of these the ones that a window or a sort chooses. */

struct file_need {
    const struct queue *queue; /* the statement as bound with the file's columns as they are */
    struct column *const *columns;
    size_t count;
    int64_t rows;              /* of each */
    enum row_search search;    /* how: by the bounds of the file's parts, by the values that filters read, by what
                                  chooses among the rows that pass */
    int64_t most_rows;         /* more are not worth being found */
    size_t tried;              /* how many conditions of filters rows have been looked for by; is set */
    bool found;                /* the statement reads only these of the rows: */
    struct row_set found_rows; /* in the arena */
    struct column **taken;     /* of each column its values in these rows, one reference, if they were read already;
                                  NULL: of none */
    bool *first; /* not found: of each column, whether it has to be read before the rows can be found. NULL: all rows
                    are needed */
    bool *first_ordered; /* of each of these, whether that takes the order of its texts, should the statement do so */
};

/* Finds them. Bounds that a file states are taken as true. */
enum status find_needed_rows(const struct runner *runner, struct file_need *need, struct arena *arena);

/* For the next two files: */

bool need_is_of_file(const struct file_need *need, const struct column *column);

/* Whether the task reads columns of the file, or a loop that it is does. */
bool need_reads_file(const struct file_need *need, const struct task *task);

/* Whether the task reads the file from its first row on, if at all, and what it computes of a row depends on that row
 * alone. `from`: a task whose outputs it may read, else NULL. */
bool need_reads_own_rows(const struct file_need *need, const struct task *task, const struct task *from,
                         struct arena *arena);

/* Whether something marked in the task's code is a text that is not made yet: of each row, or (`of_rows` false) also of
 * a dictionary that is not known yet. */
bool need_awaits_text(const struct file_need *need, const struct task *task, const bool *marks, bool of_rows);

/* The inputs that what is marked in the task's code reads. */
bool *need_inputs(const struct task *task, const bool *marks, struct arena *arena);

/* `runner` for running a task on the host, unseen by traces. */
struct runner need_host_runner(const struct runner *runner);

/* Marks in need->first the columns of the file that the task's inputs with read[k] are, values or validity, and in
 * need->first_ordered those with ordered[k]. */
void need_read_first(struct file_need *need, const struct task *task, const bool *read, const bool *ordered,
                     struct arena *arena);

/* filtered_rows.c: the rows that pass the filters of the task, as far as these can be evaluated; else need->first.
 * of_file[k]: the task's input k is a column of the file. */
enum status find_filtered_rows(const struct runner *runner, struct file_need *need, const struct task *task,
                               const bool *of_file, struct arena *arena);

/* filter_batches.c: the rows of a file that pass a test of one column of text, which is not read yet. */

/* Tests the column batch by batch of rows, if the condition `keep` of the task is nothing else and most rows fail:
 * need->found and need->taken. */
enum status find_rows_in_batches(const struct runner *runner, struct file_need *need, const struct task *task,
                                 value keep, struct arena *arena);

/* late_rows.c, late materialization: finds the rows that the first rows of a sort, or a window without filters, choose,
 * by the columns that this takes, before other columns are read. `fused`: the optimised queue. */
enum status find_late_rows(const struct runner *runner, struct file_need *need, const struct queue *fused,
                           struct arena *arena);

/* bounds_search.c: prunes the parts of a file, such as row groups, by the bounds of columns that the file states. */

/* Adds to `rows` the rows of all parts but those in which, by the bounds, a filter of the task is false for every row
 * and nothing evaluated before it can fail. of_file[k]: the task's input k is a column of the file. False: the file
 * states no bounds. */
bool rows_within_bounds(const struct env *env, const struct queue *queue, const struct task *task, const bool *of_file,
                        struct row_set *rows, struct arena *arena);

/* Another pipeline of the same statement. */
struct facts facts_within(const struct facts *outer, const struct pipeline *pipeline);

/* ask_summary.c: the result of `describe` of the pipeline, and of one that ends in `hist` of so many bins, for which a
 * server is asked if it runs all of it. STATUS_UNABLE: it does not, or the rows are few, or there is an error. */
enum status describe_by_server(struct runner *runner, const struct facts *facts, const struct pipeline *before,
                               struct arena *arena, struct description **description);
enum status hist_by_server(struct runner *runner, const struct facts *facts, const struct pipeline *pipeline,
                           int64_t bins, struct arena *arena, struct relation **relation);

/* ask_server.c: having a server run what it can of a pipeline. */

/* Asks for the part, and closes its reader or has it adopted. Of a value, which is the whole pipeline, facts->answer is
 * set. Rows, which are not read yet, take the table's place as the source of facts->rest. STATUS_UNABLE: something in
 * the part fails, of which the pipeline without the server tells. */
enum status ask_server(struct facts *facts, const struct remote_part *part, struct arena *arena, struct diags *diags);

#endif
