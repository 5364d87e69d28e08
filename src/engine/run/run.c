#include "engine/run/run.h"

#include "base/integer.h"
#include "engine/backend/backend_choice.h"
#include "engine/bind/bind.h"
#include "engine/bind/check.h"
#include "engine/formats/save.h"
#include "engine/operators/describe.h"
#include "engine/run/file_need.h"
#include "engine/run/run_queue.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/residency.h"

/* A relation of one row, to save a scalar. NULL, with an error, if no column type holds it. */
static struct relation *relation_of_scalar(const struct scalar *scalar, const char *name, struct span span,
                                           struct diags *diags)
{
    int64_t integer = (int64_t)scalar->integer;
    if (scalar->kind != KIND_FLOAT && !scalar_fits(scalar)) {
        diag_error(diags, span, "the value does not fit in 64 bits, the widest column type");
        return NULL;
    }
    struct column *column =
        scalar->kind == KIND_FLOAT ? column_of_floats(&scalar->number, 1) : column_of_ints(&integer, 1);
    if (!column) {
        diag_error(diags, span, "not enough memory");
        return NULL;
    }
    struct relation *relation = relation_new(1, 1, &column, &name);
    column_unref(column);
    return relation;
}

static enum status save_result(const struct runner *runner, const struct bound *bound, struct result *result,
                               struct diags *diags)
{
    const struct name *path = &bound->save_path;
    struct relation *relation = result->relation;
    if (result->kind == RESULT_SCALAR) {
        relation = relation_of_scalar(&result->scalar, bound->scalar_name, path->span, diags);
    } else {
        relation_ref(relation);
    }
    if (!relation)
        return STATUS_FAILED;
    struct workers workers = {.threads = parallel_threads(),
                              .cancel = runner->cancel,
                              .progress = runner->progress,
                              .whole = {.what = "save", .rows = relation->rows, .passes = 1}};
    enum status status =
        save_relation(relation, path->text, file_cache_tables(runner->env->file_cache), &workers, path->span, diags);
    relation_unref(relation);
    result->quiet = true;
    return status;
}

static enum status run_source(void *context, const struct pipeline *pipeline, const bool *wanted, struct arena *arena,
                              struct relation **relation, struct diags *diags);

struct source_runner source_runner_of(struct runner *runner)
{
    return (struct source_runner){
        .run = run_source,
        .find_rows = find_needed_rows,
        .context = runner,
        .workers = {.threads = parallel_threads(),
                    .cancel = runner->cancel,
                    .progress = runner->progress,
                    .whole = {.what = "join"}},
    };
}

/* Evaluates the source of a join, or of `x in (...)`. */
static enum status run_source(void *context, const struct pipeline *pipeline, const bool *wanted, struct arena *arena,
                              struct relation **relation, struct diags *diags)
{
    struct runner *runner = context;
    const struct source_runner sources = source_runner_of(runner);
    struct bind_request request = {
        .pipeline = pipeline, .runner = &sources, .wanted = wanted, .timing = runner->timing};
    struct bound bound;
    const size_t before = diags->count;
    for (;; request.whole = true) {
        struct result result = {0};
        enum status status = bind_pipeline(runner->env, &request, arena, &bound, diags);
        if (status != STATUS_OK)
            return status;
        status = run_queue(runner, &bound.queue, DEFER_NEVER, &result, diags);
        *relation = result.relation;
        queue_release(&bound.queue);
        if (status != STATUS_FAILED || !bound.narrowed)
            return status;
        diags->count = before;
    }
}

static enum status bind_value(struct runner *runner, const struct stmt *stmt, bool whole, struct arena *arena,
                              struct bound *bound, struct diags *diags)
{
    enum status status;
    if (stmt->pipeline) {
        file_cache_set_progress(runner->env->file_cache, runner->progress);
        const struct source_runner sources = source_runner_of(runner);
        const enum unread_kept shown = runner->defer == DEFER_LONG ? UNREAD_SHOWN : UNREAD_NONE;
        const struct bind_request request = {.pipeline = stmt->pipeline,
                                             .whole = whole,
                                             .runner = &sources,
                                             .unread = stmt->kind == STMT_LET ? UNREAD_NAMED : shown,
                                             .timing = runner->timing};
        status = bind_pipeline(runner->env, &request, arena, bound, diags);
        file_cache_set_progress(runner->env->file_cache, NULL);
        return status;
    }
    const int64_t began = now_ns();
    status = bind_expression(runner->env, stmt->expr, NULL, false, arena, bound, diags);
    timing_add(runner->timing, PHASE_BIND, "", now_ns() - began, 0);
    return status;
}

static enum status describe_result(const struct runner *runner, struct span span, struct arena *arena,
                                   struct result *result, struct diags *diags)
{
    const struct relation *relation = result->relation;
    const enum status status = relation_fetch(relation, 0, relation->rows, span, diags);
    if (status != STATUS_OK)
        return status;
    enum { PASSES = 2 }; /* over each column */
    const struct workers workers = {.threads = parallel_threads(),
                                    .cancel = runner->cancel,
                                    .progress = runner->progress,
                                    .whole = {.what = "describe",
                                              .rows = relation->rows,
                                              .passes = PASSES * (int)min_int64((int64_t)relation->count, 1000)}};
    return describe(relation, &workers, arena, &result->description);
}

/* At the prompt, tells what a plain join has left out: rows that found nothing, where each found at most one, and keys
 * that are double. */
static void note_join(const struct runner *runner, const struct join_note *join, int64_t rows, struct diags *diags)
{
    struct arena *arena = diags->arena;
    const char *nothing = "", *doubles = "";
    if (!join || !runner->env->keeps_last)
        return;
    if (join->rows >= 0 && join->doubles == 0 && rows < join->rows)
        nothing = arena_printf(arena, "%lld of %lld rows found nothing in `%s`", (long long)(join->rows - rows),
                               (long long)join->rows, join->source);
    if (join->doubles > 0)
        doubles = arena_printf(arena, "%lld key%s of `%s` %s double", (long long)join->doubles,
                               join->doubles == 1 ? "" : "s", join->source, join->doubles == 1 ? "is" : "are");
    if (*nothing || *doubles)
        diag_note(diags, (struct span){0}, "%s%s", nothing, doubles);
}

/* Runs a bound statement: its queue, checks, and what is done with the result. */
static enum status run_bound(struct runner *runner, const struct stmt *stmt, struct bound *bound, struct arena *arena,
                             struct result *result, struct diags *diags)
{
    result->show_rows = bound->show_rows;
    result->view = bound->view;
    result->plot_path = bound->plot_path;
    enum status status = STATUS_OK;
    if (bound->kind == BOUND_CONSTANT) {
        result->kind = RESULT_SCALAR;
        result->scalar = bound->scalar;
    } else {
        const bool defers =
            runner->fusion && stmt->kind != STMT_LET && bound->view == VIEW_ROWS && !bound->save_path.text;
        status = run_queue(runner, &bound->queue, defers ? runner->defer : DEFER_NEVER, result, diags);
        if (status == STATUS_OK && result->kind == RESULT_RELATION)
            relation_set_shape(result->relation, &bound->shape);
        if (status == STATUS_OK && result->kind == RESULT_RELATION)
            note_join(runner, bound->joined, result->relation->rows, diags);
    }
    if (status == STATUS_OK && bound->check_count > 0)
        status = assertion_run_checks(runner->env, bound, &result->scalar, arena, diags);
    if (status == STATUS_OK && result->view == VIEW_DESCRIPTION)
        status = describe_result(runner, stmt->span, arena, result, diags);
    if (status == STATUS_OK && bound->save_path.text)
        status = save_result(runner, bound, result, diags);
    return status;
}

/* Evaluates a pipeline that is a value within an expression. */
static enum status run_pipeline_value(void *context, const struct pipeline *pipeline, struct arena *arena,
                                      struct scalar *scalar, struct diags *diags)
{
    struct runner *runner = context;
    const struct stmt stmt = {.kind = STMT_LET, .span = pipeline->span};
    const struct source_runner sources = source_runner_of(runner);
    struct bind_request request = {.pipeline = pipeline, .runner = &sources, .timing = runner->timing};
    const size_t before = diags->count;
    struct result result = {0};
    bool retry = true;
    enum status status = STATUS_OK;
    for (; retry; request.whole = true) { /* errors say more about whole files */
        struct bound bound;
        diags->count = before;
        status = bind_pipeline(runner->env, &request, arena, &bound, diags);
        if (status != STATUS_OK)
            return status;
        if (bound_is_value(&bound))
            status = run_bound(runner, &stmt, &bound, arena, &result, diags);
        else
            status = bound_is_no_value(pipeline->span, diags);
        retry = status == STATUS_FAILED && bound.narrowed && !request.whole;
        queue_release(&bound.queue);
        if (retry)
            result_release(&result);
    }
    if (status == STATUS_OK)
        *scalar = result.scalar;
    if (status == STATUS_OK && scalar->logical.kind == LOGICAL_TEXT && !scalar->missing)
        scalar->text.at = arena_text(arena, scalar->text.at, scalar->text.length);
    result_release(&result);
    return status;
}

void run_begin_values(struct runner *runner)
{
    runner->env->values = (struct value_runner){.run = run_pipeline_value, .context = runner};
}

void run_end_values(struct runner *runner)
{
    runner->env->values = (struct value_runner){0};
}

/* Fetches the deferred rows that a queue recomputes; false if that fails for all, and if there are none. */
static bool fetch_recomputed(const struct queue *queue, struct span span, struct diags *diags)
{
    const size_t before = diags->count;
    bool fetched = false;
    for (size_t i = 0; i < queue->recomputed_count; i++) {
        const struct relation *relation = queue->recomputed[i];
        fetched = relation_fetch(relation, 0, relation->rows, span, diags) == STATUS_OK || fetched;
    }
    diags->count = before;
    return fetched;
}

/* Binds and runs a pipeline or expression; `whole`: on all rows of its files. *retry: it has failed, but deferred rows
 * that it recomputed have been fetched since, or rows of a file were left out. */
static enum status run_once(struct runner *runner, const struct stmt *stmt, bool whole, struct arena *arena,
                            struct result *result, bool *retry, struct diags *diags)
{
    struct bound bound;
    enum status status = bind_value(runner, stmt, whole, arena, &bound, diags);
    if (status != STATUS_OK)
        return status;
    status = run_bound(runner, stmt, &bound, arena, result, diags);
    *retry = status == STATUS_FAILED && (fetch_recomputed(&bound.queue, stmt->span, diags) || bound.narrowed);
    queue_release(&bound.queue);
    return status;
}

/* A query that recomputes deferred rows and fails is run again on the rows themselves: its error names a row, and the
 * user counts in the rows that were shown, or that the file has. */
static enum status run_value(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                             struct diags *diags)
{
    const size_t before = diags->count;
    bool retry = false;
    const enum status status = run_once(runner, stmt, false, arena, result, &retry, diags);
    if (!retry)
        return status;
    result_release(result);
    diags->count = before;
    return run_once(runner, stmt, true, arena, result, &retry, diags);
}

static enum status run_let(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                           struct diags *diags)
{
    enum status status = check_naming(stmt, diags);
    if (status == STATUS_OK)
        status = run_value(runner, stmt, arena, result, diags);
    if (status != STATUS_OK)
        return status;
    if (result->kind == RESULT_SCALAR)
        env_set_scalar(runner->env, stmt->name.text, result->scalar);
    else
        env_set_relation(runner->env, stmt->name.text, result->relation);
    result->quiet = true;
    return STATUS_OK;
}

static enum status run_def(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    const enum status status = bind_definition(runner->env, stmt, arena, diags);
    if (status == STATUS_OK)
        env_set_definition(runner->env, stmt);
    return status;
}

/* Releases devices' copies of columns that have just been released. */
static void sweep_devices(const struct runner *runner)
{
    if (runner->device)
        runner->device->ops->sweep(runner->device);
    for (size_t k = 0; runner->chooser && k < chooser_count(runner->chooser); k++) {
        struct backend *backend = chooser_backend(runner->chooser, k);
        backend->ops->sweep(backend);
    }
}

/* A device starts while the query is bound. */
static void begin_device(const struct runner *runner)
{
    if (runner->device)
        (void)runner->device->ops->begin(runner->device, NULL);
}

enum status run_statement(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                          struct diags *diags)
{
    enum status status;
    *result = (struct result){.kind = RESULT_NONE, .show_rows = -1};
    run_begin_values(runner);
    switch (stmt->kind) {
    case STMT_DEF:
        status = run_def(runner, stmt, arena, diags);
        break;
    case STMT_ASSERT:
        status = assertion_run(runner->env, stmt, arena, diags);
        break;
    case STMT_LET:
        begin_device(runner);
        status = run_let(runner, stmt, arena, result, diags);
        break;
    default:
        begin_device(runner);
        status = run_value(runner, stmt, arena, result, diags);
        break;
    }
    if (status != STATUS_OK)
        result_release(result);
    run_end_values(runner);
    file_cache_sweep(runner->env->file_cache);
    stats_collector_start(runner->collector);
    sweep_devices(runner);
    return status;
}
