/* A statement's way: it is bound; what that needs is provided, until it needs nothing; it runs; if that fails, all of
 * it once more, with care. */
#include "engine/run/run.h"

#include "engine/backend/backend_choice.h"
#include "engine/backend/memory_limit.h"
#include "engine/run/provide.h"
#include "engine/run/run_bound.h"
#include "engine/storage/column_stats.h"
#include "engine/storage/file_reader.h"
#include "engine/storage/residency.h"

#include <string.h>

enum status bind_ready(struct runner *runner, struct facts *facts, struct arena *arena, struct bound *bound,
                       struct diags *diags)
{
    const struct workers workers = {.threads = parallel_threads(),
                                    .cancel = runner ? runner->cancel : NULL,
                                    .progress = runner ? runner->progress : NULL,
                                    .whole = {.what = "join"},
                                    .pool = runner ? runner->pool : NULL};
    const struct join_device device = {.named = runner ? runner->device : NULL,
                                       .chooser = runner ? runner->chooser : NULL,
                                       .no_wait = runner && runner->no_wait,
                                       .timing = facts->timing};
    enum status status = STATUS_OK;
    bool ready = false;
    facts->runs = runner && !facts->checking;
    facts->workers = facts->runs ? &workers : NULL;
    facts->device = facts->runs ? &device : NULL;
    if (!facts->values)
        facts->values = arena_alloc(arena, sizeof *facts->values);
    while (status == STATUS_OK && !ready) {
        struct needs needs;
        struct diags binding;
        diags_init(&binding, diags->arena);
        status = bind_tree(facts, arena, bound, &needs, &binding);
        ready = needs.what == NEED_NOTHING;
        if (ready) {
            diags_append(diags, &binding);
        } else { /* and its errors mean nothing yet */
            status = provide(runner, facts, bound, &needs, arena, diags);
            queue_release(&bound->queue);
        }
    }
    facts_close(facts);
    if (status == STATUS_OK)
        file_cache_touch(facts->env->file_cache, bound->queue.held, bound->queue.held_count);
    if (status == STATUS_OK)
        timing_add_files(facts->timing, (int64_t)bound->file_count, (int64_t)bound->opened_count);
    if (status != STATUS_OK)
        queue_release(&bound->queue);
    return status;
}

/* Fetches the deferred rows that a queue recomputes; false if that fails for all, and if there are none. Then an error
 * names a row as the user counts them, in the rows that were shown. */
static bool fetch_recomputed(const struct queue *queue, struct arena *arena)
{
    struct diags dropped;
    bool fetched = false;
    diags_init(&dropped, arena);
    for (size_t i = 0; i < queue->recomputed_count; i++) {
        const struct relation *relation = queue->recomputed[i];
        fetched = relation_fetch(relation, 0, relation->rows, (struct span){0}, &dropped) == STATUS_OK || fetched;
    }
    return fetched;
}

/* Whether a run of the first row in which something fails has told so: then the error has the row's number in the
 * table, as have its own rows. */
static bool tells_failing(const struct file_reader *failing, enum status status, struct diags *attempt)
{
    static const char first[] = "row 0";
    const size_t length = sizeof first - 1;
    struct diag *error = NULL;
    size_t errors = 0;
    for (size_t i = 0; i < attempt->count; i++) {
        if (attempt->at[i].severity == SEVERITY_ERROR) {
            error = &attempt->at[i];
            errors++;
        }
    }
    const size_t whole = errors == 1 ? strlen(error->message) : 0;
    if (!failing || failing->rows != 1 || status != STATUS_FAILED || whole < length ||
        strcmp(error->message + whole - length, first) != 0)
        return false;
    error->message =
        arena_printf(attempt->arena, "%.*s%lld", (int)(whole - 1), error->message, (long long)failing->place);
    return true;
}

/* Runs only the first row in which something fails. False: that tells nothing. */
static bool run_failing(struct runner *runner, struct facts *facts, const struct stmt *stmt, struct arena *arena,
                        struct diags *diags)
{
    struct bound bound;
    struct diags attempt;
    struct result result = {.kind = RESULT_NONE, .show_rows = SHOW_SOME};
    diags_init(&attempt, diags->arena);
    facts->seeks = true;
    facts->failing = NULL;
    enum status status = bind_ready(runner, facts, arena, &bound, &attempt);
    bound.save_path.text = NULL;
    if (status == STATUS_OK && facts->failing)
        status = run_bound(runner, facts, stmt, &bound, arena, &result, &attempt);
    queue_release(&bound.queue);
    result_release(&result);
    facts->seeks = false;
    const bool told = tells_failing(facts->failing, status, &attempt);
    if (told)
        diags_append(diags, &attempt);
    return told;
}

enum status run_with_care(struct runner *runner, struct facts *facts, const struct stmt *stmt, struct arena *arena,
                          struct result *result, struct diags *diags)
{
    for (;;) {
        struct bound bound;
        struct diags attempt;
        diags_init(&attempt, diags->arena);
        *result = (struct result){.kind = RESULT_NONE, .show_rows = SHOW_SOME};
        enum status status = bind_ready(runner, facts, arena, &bound, &attempt);
        bool again =
            !facts->careful && (status == STATUS_UNABLE || (status == STATUS_FAILED && bound.hasty && !facts->broken));
        if (status == STATUS_OK) {
            status = run_bound(runner, facts, stmt, &bound, arena, result, &attempt);
            again = status == STATUS_FAILED && (fetch_recomputed(&bound.queue, arena) || bound.hasty);
        }
        queue_release(&bound.queue);
        if (status != STATUS_OK)
            result_release(result);
        if (!again) {
            diags_append(diags, &attempt);
            return status;
        }
        facts->careful = true;
        if (run_failing(runner, facts, stmt, arena, diags))
            return STATUS_FAILED;
    }
}

/* Whether the pipeline ends in `describe` and begins with a table on a server, as far as its text tells. */
static bool may_describe_there(const struct pipeline *pipeline)
{
    static const char scheme[] = "clickhouse";
    const struct source_node *source = &pipeline->source;
    const bool path = source->kind == SOURCE_LOAD && source->path_count == 1 &&
                      strncmp(source->paths[0].path.text, scheme, strlen(scheme)) == 0;
    return (path || source->kind == SOURCE_NAME) && pipeline->stage_count > 0 &&
           pipeline->stages[pipeline->stage_count - 1].word->stage == STAGE_DESCRIBE;
}

/* STATUS_UNABLE: the rows have to be read. */
static enum status run_description(struct runner *runner, const struct facts *facts, struct arena *arena,
                                   struct result *result)
{
    struct pipeline *before = arena_copy(arena, facts->pipeline, sizeof *before);
    if (!may_describe_there(before))
        return STATUS_UNABLE;
    before->stage_count--;
    *result = (struct result){.kind = RESULT_NONE, .view = VIEW_DESCRIPTION, .show_rows = SHOW_SOME};
    return describe_by_server(runner, facts, before, arena, &result->description);
}

static enum status run_value(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                             struct diags *diags)
{
    const enum unread_kept shown = runner->defer == DEFER_LONG ? UNREAD_SHOWN : UNREAD_NONE;
    struct facts facts = {.env = runner->env,
                          .pipeline = stmt->pipeline,
                          .expr = stmt->expr,
                          .unread = stmt->kind == STMT_LET ? UNREAD_NAMED : shown,
                          .any_order = stmt->kind == STMT_LET || !runner->env->keeps_last,
                          .timing = runner->timing};
    const enum status described =
        stmt->pipeline && stmt->kind != STMT_LET ? run_description(runner, &facts, arena, result) : STATUS_UNABLE;
    if (described != STATUS_UNABLE)
        return described;
    return run_with_care(runner, &facts, stmt, arena, result, diags);
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
    const enum status status = check_definition(runner->env, stmt, arena, diags);
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
    *result = (struct result){.kind = RESULT_NONE, .show_rows = SHOW_SOME};
    switch (stmt->kind) {
    case STMT_DEF:
        status = run_def(runner, stmt, arena, diags);
        break;
    case STMT_ASSERT:
        status = assertion_run(runner, stmt, arena, diags);
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
    if (status != STATUS_OK) {
        result_release(result);
        memory_errors_explain(runner->pool, diags);
    }
    file_cache_sweep(runner->env->file_cache);
    kept_sweep(runner->env->kept);
    stats_collector_start(runner->collector);
    sweep_devices(runner);
    return status;
}
