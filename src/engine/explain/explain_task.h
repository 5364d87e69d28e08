/* A task as text: the parts of explain's listings. */
#ifndef RQL_ENGINE_EXPLAIN_EXPLAIN_TASK_H
#define RQL_ENGINE_EXPLAIN_EXPLAIN_TASK_H

#include "engine/plan/loop.h"
#include "engine/plan/task.h"

enum { TASK_PARTS = 4 }; /* title, reads, keeps, gives */

/* Each appends text without control characters, of bounded length, possibly none. The `keeps` part of an operator shows
 * its keys. */
void task_title(struct strbuf *out, const struct task *task);        /* MappingFilter+Sum */
void task_detail(struct strbuf *out, const struct task *task);       /* of one stage: ids == 42 && amounts > 0 */
void task_reads(struct strbuf *out, const struct task *task);        /* reads ids:i32, amounts:i32  1000 rows */
void task_keeps(struct strbuf *out, const struct task *task);        /* keep ids == 42 && amounts > 0  take 3 */
void task_result_text(struct strbuf *out, const struct task *task);  /* gives sum(amounts) */
void task_result_names(struct strbuf *out, const struct task *task); /* ids, amounts  drops price */

/* The names of the task's inputs, for code_print. */
const char *const *task_input_names(const struct task *task);

/* explain.c: a line for each task, or several, after the indent. */
void explain_tasks(struct strbuf *out, const struct queue *queue, const char *indent);

struct buffer_pool;

/* explain_spilled.c: a line for each task that may take more than memory has room for. */
void explain_spilled(struct strbuf *out, const struct queue *queue, struct buffer_pool *pool);

/* explain_kernels.c: the typed code of a task that is no operator, with lanes and intervals, and what it keeps and
 * gives. */
void explain_code(struct strbuf *out, const struct task *task);

/* rounds_form.c: how the rounds of a loop run. */

/* A phrase or two, in the arena. `queues` are those of the loop, optimised, in the order of loop_queue. */
const char *rounds_form(const struct loop *loop, const struct queue *const *queues, struct arena *arena);

#endif
