/* Titles of tasks, for messages and timings. */
#ifndef RQL_ENGINE_PLAN_TASK_TITLE_H
#define RQL_ENGINE_PLAN_TASK_TITLE_H

#include "base/progress.h"
#include "engine/plan/task.h"

/* "select+snds+sum"; of many stages the first few, and how many more. */
const char *stages_title(const struct task *task, struct arena *arena);

/* "load ids.bin | select id > 7": the stages as written, shortened like the title. */
const char *stages_text(const struct task *task, struct arena *arena);

/* The task's progress step: its title, and the bytes of the inputs it reads. */
struct progress_step task_whole(const struct task *task, struct column *const *inputs, int64_t rows,
                                struct arena *arena);

/* About how many passes over its rows the task takes. */
int task_passes(const struct task *task);

/* The stage that contains the span, or NULL: the text of a user function is in none. */
const struct stage_mark *stage_of_span(const struct task *task, struct span span);

#endif
