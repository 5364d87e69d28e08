/* Checks a statement before anything runs. What only running can compute is assumed to be right. */
#include "engine/run/run.h"

#include "engine/env/env.h"
#include "engine/plan/result.h"
#include "engine/run/run_bound.h"

/* A relation with the columns of the last task, and no data; columns that are unread can be read later. */
static struct relation *outline(const struct task *last, struct arena *arena)
{
    struct column **columns = arena_array(arena, last->output_count, sizeof(struct column *));
    bool made = true;
    for (size_t k = 0; k < last->output_count; k++) {
        struct column *column = output_column(last, k);
        const bool unread = column && column->unread;
        columns[k] = unread ? column_ref(column) : column_without_rows(last->outputs[k].type, last->outputs[k].type);
        made = made && columns[k];
    }
    struct relation *relation = made ? relation_of_outputs(last, -1, columns) : NULL;
    columns_unref(columns, last->output_count);
    return relation;
}

static void define(struct env *env, const char *name, const struct bound *bound, struct arena *arena)
{
    const struct queue *queue = &bound->queue;
    struct scalar kind_only = {.kind = bound->scalar_kind, .logical = bound->scalar_logical};
    kind_only.logical.dictionary = NULL; /* released with the queue */
    struct relation *relation = NULL;
    switch (bound->kind) {
    case BOUND_CONSTANT:
        env_set_scalar(env, name, bound->scalar);
        return;
    case BOUND_SCALAR:
        env_set_unknown(env, name, BINDING_SCALAR)->scalar = kind_only;
        return;
    case BOUND_RELATION:
        relation = outline(queue->tasks[queue->count - 1], arena);
        if (relation)
            relation_set_shape(relation, &bound->shape);
        break;
    case BOUND_UNKNOWN:
        break;
    }
    env_set_unknown(env, name, BINDING_RELATION)->relation = relation;
}

enum status check_naming(const struct stmt *stmt, struct diags *diags)
{
    const struct pipeline *pipeline = stmt->pipeline;
    const struct stage *last =
        pipeline && pipeline->stage_count > 0 ? &pipeline->stages[pipeline->stage_count - 1] : NULL;
    if (!last || last->word->stage != STAGE_PLOT)
        return STATUS_OK;
    diag_error(diags, last->span, "`%s` only shows rows, so there is no result to name", last->word->text);
    return diag_hint(diags, "name the rows without it, then write `%s | %s`", stmt->name.text, last->word->text);
}

/* Notes the file that the statement writes, if any. */
static void note_made_file(struct env *env, const struct stmt *stmt, struct arena *arena)
{
    const struct pipeline *pipeline = stmt->pipeline;
    const struct name *path =
        pipeline && pipeline->stage_count > 0 ? &pipeline->stages[pipeline->stage_count - 1].path : NULL;
    struct diags own;
    struct name meant;
    diags_init(&own, arena);
    if (path && path->text && path_substitute(env, path, arena, &meant, &own) == STATUS_OK)
        made_files_add(&env->made, meant.text);
}

enum status check_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags)
{
    struct env *inside = def->stages ? env_copy(env) : NULL;
    struct facts facts = {.env = inside ? inside : env, .function = inside ? NULL : def, .checking = true};
    struct bound bound;
    enum status status = STATUS_FAILED;
    if (inside)
        facts.pipeline = bind_stage_definition(inside, def, arena, diags);
    if (facts.function || facts.pipeline) {
        status = bind_ready(NULL, &facts, arena, &bound, diags);
        queue_release(&bound.queue);
    }
    if (inside)
        env_free(inside);
    return status;
}

enum status check_statement(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    if (stmt->kind == STMT_COMMAND)
        return STATUS_OK;
    if (stmt->kind == STMT_DEF) {
        const enum status status = check_definition(env, stmt, arena, diags);
        if (status == STATUS_OK)
            env_set_definition(env, stmt);
        else /* Callers report only errors of their own. */
            env_set_unknown(env, stmt->name.text, stmt->stages ? BINDING_STAGE : BINDING_FUNCTION);
        return status;
    }
    struct bound bound;
    struct facts facts = {.env = env,
                          .pipeline = stmt->pipeline,
                          .expr = stmt->expr,
                          .checking = true,
                          .unread = stmt->kind == STMT_LET ? UNREAD_NAMED : UNREAD_NONE};
    const enum status status = bind_ready(NULL, &facts, arena, &bound, diags);
    note_made_file(env, stmt, arena);
    if (stmt->kind == STMT_ASSERT && status == STATUS_OK)
        return assertion_check(stmt, &bound, diags);
    const bool named = stmt->kind == STMT_LET && check_naming(stmt, diags) == STATUS_OK;
    if (named && status == STATUS_OK)
        define(env, stmt->name.text, &bound, arena);
    else if (stmt->kind == STMT_LET)
        env_set_unknown(env, stmt->name.text, BINDING_RELATION);
    if (env->keeps_last && status == STATUS_OK && stmt->kind != STMT_EXPLAIN)
        define(env, ENV_LAST, &bound, arena);
    queue_release(&bound.queue);
    return stmt->kind == STMT_LET && !named ? STATUS_FAILED : status;
}
