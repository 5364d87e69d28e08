#include "engine/operators/operator.h"

#include "engine/operators/operator_kinds.h"

enum status break_run_team(const struct break_job *job, struct team *team, bool *flagged)
{
    static break_fn *const table[] = {
        [BREAK_SCAN] = break_scan,         [BREAK_SORT] = break_sort,       [BREAK_GROUP] = break_group,
        [BREAK_DISTINCT] = break_distinct, [BREAK_SCATTER] = break_scatter, [BREAK_HIST] = break_hist,
    };
    struct crew crew = {.threads = team_threads(team),
                        .team = team,
                        .cancel = job->cancel,
                        .progress = job->progress,
                        .whole = job->whole,
                        .pool = job->pool};
    return table[job->task->breaker->kind](job, &crew, flagged);
}

enum status break_run_threads(const struct break_job *job, int threads, bool *flagged)
{
    struct team *team = team_new(threads);
    enum status status = break_run_team(job, team, flagged);
    team_free(team);
    return status;
}

enum status break_run(const struct break_job *job, bool *flagged)
{
    return break_run_threads(job, parallel_threads(), flagged);
}
