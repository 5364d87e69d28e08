/* Values of the round of a loop. */
#include "engine/expression/expression.h"
#include "engine/plan/loop.h"

#include <string.h>

static bool source_reads_round(const struct binder *binder, const struct source_node *source)
{
    if (source->kind == SOURCE_PIPELINE)
        return pipeline_reads_round(binder, source->pipeline);
    for (const struct rounds *rounds = binder->rounds; rounds && source->kind == SOURCE_NAME; rounds = rounds->outer) {
        /* Hidden names begin with a space. */
        if (source->name.text[0] == ' ' || (rounds->name.text && strcmp(rounds->name.text, source->name.text) == 0))
            return true;
    }
    return false;
}

static bool stages_read_round(const struct binder *binder, const struct stage *stages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < stages[i].source_count; k++) {
            if (source_reads_round(binder, &stages[i].sources[k]))
                return true;
        }
        if (stages_read_round(binder, stages[i].body, stages[i].body_count) ||
            (stages[i].loop && pipeline_reads_round(binder, stages[i].loop)))
            return true;
    }
    return false;
}

bool pipeline_reads_round(const struct binder *binder, const struct pipeline *pipeline)
{
    return binder->rounds && (source_reads_round(binder, &pipeline->source) ||
                              stages_read_round(binder, pipeline->stages, pipeline->stage_count));
}

void refuse_in_combiner(struct scope *scope, struct span span, const char *what, const char *why)
{
    bind_error(
        scope->binder, span,
        arena_printf(scope->binder->arena, "make it a column of the rows that are combined: `derive NAME = %s`", what),
        "a function that combines values cannot read `%s`, which %s", what, why);
}

struct term bind_step(struct scope *scope, struct span span)
{
    const struct loop *loop = scope->binder->rounds->loop;
    if (!scope->task)
        return term_error(scope->binder, span, NULL,
                          "`step` differs from round to round, but a constant is needed here");
    if (scope->combines) {
        refuse_in_combiner(scope, span, "step", "differs from round to round");
        return unknown_term;
    }
    const struct input input = {.column = loop->step,
                                .type = TYPE_I64,
                                .name = "step",
                                .whole = true,
                                .range_known = true,
                                .hi = loop->rounds > 0 ? loop->rounds - 1 : 0};
    const value first = code_exact_int(scope->code, 0, span);
    return term_of(task_element(scope->task, &input, first, true, scope->binder->arena));
}

/* The hidden column of the flow that is column `index` before the round; false if there is none. */
static bool find_before(const struct binder *binder, const struct flow *flow, size_t index, size_t *before)
{
    const char *name = arena_printf(binder->arena, "before(%s)", flow->columns[index].name);
    for (*before = flow->count; *before < flow->count + flow->hidden; ++*before) {
        if (strcmp(flow->columns[*before].name, name) == 0)
            return true;
    }
    return false;
}

/* The column that the argument means, as in expressions: `x` is the only one. */
static bool resolve_column(struct scope *scope, const struct expr *expr, size_t *index)
{
    if (expr->kind == EXPR_NAME && scope->flow->count == 1) {
        const struct resolved resolved = name_resolve(scope, &expr->name);
        *index = resolved.index;
        if (resolved.meaning == MEANS_COLUMN || resolved.meaning == MEANS_UNKNOWN)
            return resolved.meaning == MEANS_COLUMN;
    }
    return name_resolve_column(scope, expr, index);
}

struct term bind_before(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    size_t index, before;
    if (!binder->rounds || !binder->rounds->until || !scope->flow)
        return term_error(binder, expr->span, "as in `repeat until max(abs(x - before(x))) < 1e-6: ...`",
                          "`before` has a meaning in the condition after `until` only");
    if (expr->arg_count != 1 || (expr->args[0]->kind != EXPR_NAME && expr->args[0]->kind != EXPR_POSITION))
        return term_error(binder, expr->span, "usage: before(NAME)", "`before` takes the name of a column");
    if (!resolve_column(scope, expr->args[0], &index) || !find_before(binder, scope->flow, index, &before))
        return unknown_term;
    binder->rounds->compares = true;
    scope->reads_row = true;
    return term_of_column(scope->code, scope->flow, before, expr->span);
}
