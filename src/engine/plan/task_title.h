/* What a task is called in messages and timings: the stages it stands for. */
#ifndef RQL_ENGINE_PLAN_TASK_TITLE_H
#define RQL_ENGINE_PLAN_TASK_TITLE_H

#include "base/progress.h"
#include "engine/plan/task.h"

/* "select+snds+sum"; of many stages the first few, and how many more. */
const char *stages_title(const struct task *task, struct arena *arena);

/* "load ids.bin | select id > 7": what the task's rows come from, as written and cut short like the title. */
const char *stages_text(const struct task *task, struct arena *arena);

/* What is told of the task's progress: its title, and the bytes of the inputs it reads. */
struct progress_step task_whole(const struct task *task, struct column *const *inputs, int64_t rows,
                                struct arena *arena);

/* The stage that the span lies in, or NULL: a function's text lies in none. */
const struct stage_mark *stage_of_span(const struct task *task, struct span span);

#endif
