#include "engine/task/task_sink.h"

#include "engine/backend/backend_choice.h"

enum {
    LONG_ROWS = 1 << 20,  /* fewer are computed at once */
    FIRST_ROWS = 1 << 18, /* enough to see how many pass, and more than are shown */
    LEAST_FIRST = 1 << 12,
    PAYS_FROM = 8,        /* one row in this many has to pass, or there is little to defer */
    MOST_OPERATIONS = 64, /* as many as fusion recomputes (fuse.c) */
    OPERATIONS_A_FUNCTION = 16
};

static int cost(const struct instr *instr)
{
    if (instr->op >= OP_SQRT && instr->op <= OP_ERF)
        return OPERATIONS_A_FUNCTION;
    if (instr->op == OP_COUNTER)
        return MOST_OPERATIONS + 1; /* loops may have any number of rounds */
    return op_table[instr->op].arity > 0;
}

/* Whether the inputs are on the host, where deferred rows are computed. */
static bool inputs_on_host(const struct job *job)
{
    for (size_t k = 0; k < job->task->input_count; k++) {
        if (job->columns[k] && job->columns[k]->residency)
            return false;
    }
    return true;
}

/* Whether a GPU may be chosen: it computes a result quickly and keeps it for the next query. */
static bool has_gpu(const struct runner *runner)
{
    for (size_t k = 0; runner->chooser && k < chooser_count(runner->chooser); k++) {
        struct backend *backend = chooser_backend(runner->chooser, k);
        struct profile profile;
        if (backend->ops->profile(backend, false, &profile) == BACKEND_READY && profile.class == CLASS_GPU)
            return true;
    }
    return false;
}

bool can_defer(const struct runner *runner, enum defer_choice choice, const struct job *job)
{
    const struct task *task = job->task;
    const bool always = choice == DEFER_ALWAYS;
    if (choice == DEFER_NEVER || task->sink != SINK_ROWS || task_has_window(task))
        return false;
    if (!always && (job->rows < LONG_ROWS || runner->device || has_gpu(runner)))
        return false;
    struct arena *arena = arena_new();
    const bool *live = task_live(task, arena);
    int operations = 0;
    for (value v = 0; v < task->code.count && operations <= MOST_OPERATIONS; v++)
        operations += live[v] ? cost(&task->code.at[v]) : 0;
    const bool suits = operations <= MOST_OPERATIONS && !code_any_checked(&task->code, live);
    arena_free(arena);
    return suits && inputs_on_host(job);
}

int64_t deferred_first_rows(enum defer_choice choice)
{
    return choice == DEFER_ALWAYS ? LEAST_FIRST : FIRST_ROWS;
}

bool deferral_pays(int64_t passed, int64_t read, enum defer_choice choice)
{
    return choice == DEFER_ALWAYS || passed >= read / PAYS_FROM;
}
