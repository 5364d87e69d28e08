#include "engine/run/run_bound.h"

#include "base/integer.h"
#include "engine/formats/save.h"
#include "engine/operators/describe.h"
#include "engine/storage/residency.h"
#include "engine/task/run_queue.h"

#include <string.h>

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
        diag_no_memory(diags, span, "not enough memory");
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
    const struct table_source *tables = file_cache_tables(runner->env->file_cache);
    const enum status status =
        bound->save_folders.count > 0
            ? save_in_folders(relation, path->text, &bound->save_folders, &workers, path->span, diags)
            : save_relation(relation, path->text, bound->save_way, tables, &workers, path->span, diags);
    relation_unref(relation);
    result->quiet = true;
    return status;
}

static struct workers description_workers(const struct runner *runner, const struct relation *relation)
{
    enum { PASSES = 2 }; /* over each column */
    return (struct workers){.threads = parallel_threads(),
                            .cancel = runner->cancel,
                            .progress = runner->progress,
                            .whole = {.what = "describe",
                                      .rows = relation->rows,
                                      .passes = PASSES * (int)min_int64((int64_t)relation->count, 1000)}};
}

static enum status describe_result(const struct runner *runner, struct span span, struct arena *arena,
                                   struct result *result, struct diags *diags)
{
    const struct relation *relation = result->relation;
    const enum status status = relation_fetch(relation, 0, relation->rows, span, diags);
    const struct workers workers = description_workers(runner, relation);
    return status == STATUS_OK ? describe(relation, &workers, arena, &result->description) : status;
}

static enum status describe_by_keys(const struct runner *runner, const struct evaluated *evaluated, struct arena *arena,
                                    struct result *result, struct diags *diags)
{
    struct relation *relation = result->relation, *described;
    const struct span span = evaluated->pipeline->span;
    size_t *keys = arena_array(arena, evaluated->key_count + 1, sizeof *keys);
    for (size_t i = 0; i < evaluated->key_count; i++) {
        while (keys[i] < relation->count && strcmp(relation->names[keys[i]], evaluated->keys[i]) != 0)
            keys[i]++;
        if (keys[i] == relation->count)
            return diag_error(diags, span, "there is no column `%s` to describe by", evaluated->keys[i]);
    }
    enum status status = relation_fetch(relation, 0, relation->rows, span, diags);
    const struct workers workers = description_workers(runner, relation);
    if (status == STATUS_OK)
        status = describe_groups(relation, keys, evaluated->key_count, &workers, arena, &described);
    if (status == STATUS_FAILED)
        return diag_no_memory(diags, span, "not enough memory");
    if (status != STATUS_OK)
        return status;
    relation_unref(relation);
    result->relation = described;
    return STATUS_OK;
}

enum status describe_as_relation(const struct runner *runner, const struct evaluated *evaluated, struct arena *arena,
                                 struct result *result, struct diags *diags)
{
    if (evaluated->key_count > 0)
        return describe_by_keys(runner, evaluated, arena, result, diags);
    const enum status status = describe_result(runner, evaluated->pipeline->span, arena, result, diags);
    if (status != STATUS_OK)
        return status;
    relation_unref(result->relation);
    result->relation = description_relation(result->description, arena);
    return STATUS_OK;
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

enum status run_bound(struct runner *runner, const struct facts *facts, const struct stmt *stmt, struct bound *bound,
                      struct arena *arena, struct result *result, struct diags *diags)
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
            runner->fusion && stmt && stmt->kind != STMT_LET && bound->view == VIEW_ROWS && !bound->save_path.text;
        status = run_queue(runner, &bound->queue, defers ? runner->defer : DEFER_NEVER, result, diags);
        if (status == STATUS_OK && result->kind == RESULT_RELATION)
            relation_set_shape(result->relation, &bound->shape);
        if (status == STATUS_OK && result->kind == RESULT_RELATION && stmt)
            note_join(runner, bound->joined, result->relation->rows, diags);
    }
    if (status == STATUS_OK && bound->check_count > 0)
        status = assertion_run_checks(runner, facts, bound, &result->scalar, arena, diags);
    if (status == STATUS_OK && result->view == VIEW_DESCRIPTION)
        status = describe_result(runner, stmt->span, arena, result, diags);
    if (status == STATUS_OK && bound->save_path.text)
        status = save_result(runner, bound, result, diags);
    return status;
}
