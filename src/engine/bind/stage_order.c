#include "engine/bind/stage_order.h"

#include "base/arena.h"
#include "engine/expression/expression.h"
#include "engine/plan/functions.h"
#include "engine/text_functions/text_functions.h"

#include <string.h>

static bool each(const struct expr *expr, bool (*holds)(const struct env *env, const struct expr *expr),
                 const struct env *env)
{
    bool all = holds(env, expr);
    for (size_t k = 0; k < expr->arg_count && all; k++)
        all = each(expr->args[k], holds, env);
    return all;
}

/* The function that is called, unless it is an aggregate, or one of the user. */
static const struct function *function_called(const struct env *env, const struct expr *call)
{
    const struct function *function = env_find(env, call->name.text) ? NULL : function_find(call->name.text);
    const bool fits = function && call->arg_count >= (size_t)function->least &&
                      (call->arg_count <= (size_t)function->most || function->most == MANY_ARGUMENTS);
    return fits ? function : NULL;
}

/* Whether the node reads only its own row, whichever its number is. */
static bool is_of_row(const struct env *env, const struct expr *expr)
{
    const struct function *function;
    switch (expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_TEXT:
    case EXPR_DATE:
    case EXPR_TIMESTAMP:
    case EXPR_DURATION:
    case EXPR_MONTHS:
    case EXPR_BOOL:
    case EXPR_MISSING:
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_TERNARY:
    case EXPR_IN_RANGE:
    case EXPR_IN_LIST:
        return true;
    case EXPR_NAME:
        return strcmp(expr->name.text, "row") != 0 && !strchr(expr->name.text, '.') && !expr->definition;
    case EXPR_CALL:
        function = function_called(env, expr);
        return function && function->signature != SIGNATURE_ROWS && function->signature != SIGNATURE_RANDOM;
    default:
        return false;
    }
}

static bool makes_no_text(const struct env *env, const struct expr *expr)
{
    if (expr->kind == EXPR_BINARY && expr->op.binary == BINARY_ADD)
        return expr->args[0]->kind != EXPR_TEXT && expr->args[1]->kind != EXPR_TEXT;
    const struct function *function = expr->kind == EXPR_CALL ? function_called(env, expr) : NULL;
    return !function || (function->signature != SIGNATURE_TO_TEXT && function->signature != SIGNATURE_FORMAT &&
                         function->signature != SIGNATURE_CONCAT && function->signature != SIGNATURE_TEXT);
}

static bool items_hold(const struct env *env, const struct stage *stage,
                       bool (*holds)(const struct env *env, const struct expr *expr))
{
    bool all = true;
    for (size_t k = 0; k < stage->item_count && all; k++)
        all = stage->items[k].expr && each(stage->items[k].expr, holds, env);
    return all;
}

/* Whether it says which rows there are by their number alone. */
static bool is_window(const struct stage *stage)
{
    const enum stage_kind kind = stage->word->stage;
    return (kind == STAGE_TAKE || kind == STAGE_SKIP || kind == STAGE_TAIL) &&
           (stage->item_count == 0 || (stage->item_count == 1 && stage->items[0].expr->kind == EXPR_INT));
}

static bool is_choice(const struct env *env, const struct stage *stage)
{
    const enum stage_kind kind = stage->word->stage;
    return (kind == STAGE_SELECT || kind == STAGE_REJECT || kind == STAGE_SORT ||
            (kind == STAGE_TOP && stage->most && stage->most->expr->kind == EXPR_INT)) &&
           !stage->head && !stage->along.text && stage->item_count > 0 && items_hold(env, stage, is_of_row);
}

/* Whether the expression has a name that is this one, or could stand for it. */
static bool mentions(const struct expr *expr, const char *name)
{
    bool found =
        expr->kind == EXPR_NAME && (strcmp(expr->name.text, name) == 0 || name_abbreviates(expr->name.text, name));
    for (size_t k = 0; k < expr->arg_count && !found; k++)
        found = mentions(expr->args[k], name);
    return found;
}

static bool stage_mentions(const struct stage *stage, const char *name)
{
    bool found = false;
    for (size_t k = 0; k < stage->item_count && !found; k++)
        found = mentions(stage->items[k].expr, name);
    return found;
}

/* Whether a derive of each row makes nothing that the other stage reads. */
static bool makes_others(const struct env *env, const struct stage *derive, const struct stage *moved)
{
    bool others = !derive->head && items_hold(env, derive, is_of_row);
    for (size_t k = 0; k < derive->item_count && others; k++) {
        const struct item *item = &derive->items[k];
        others = item->name.text && !item->pattern && !item->columns &&
                 (is_window(moved) || !stage_mentions(moved, item->name.text));
    }
    return others;
}

static bool drops_others(const struct stage *drop, const struct stage *moved)
{
    bool others = true;
    for (size_t k = 0; k < drop->item_count && others; k++) {
        const struct expr *expr = drop->items[k].expr;
        others = expr && expr->kind == EXPR_NAME && !stage_mentions(moved, expr->name.text);
    }
    return others;
}

/* Whether `moved` gives the same before the stage. */
static bool moves_over(const struct env *env, const struct stage *stage, const struct stage *moved)
{
    switch (stage->word->stage) {
    case STAGE_DERIVE:
        return makes_others(env, stage, moved);
    case STAGE_MAP:
        return is_window(moved) && !stage->head && items_hold(env, stage, is_of_row);
    case STAGE_DROP:
        return is_window(moved) || drops_others(stage, moved);
    case STAGE_PICK:
    case STAGE_RENAME:
        return is_window(moved);
    default:
        return false;
    }
}

/* Where the stage at `from` may go: before the first of the stages before it that make texts; `from` if nowhere. */
static size_t place_of(const struct env *env, const struct stage *stages, size_t from)
{
    const struct stage *moved = &stages[from];
    size_t place = from;
    if (moved->call || !(is_window(moved) || is_choice(env, moved)))
        return from;
    for (size_t k = from; k > 0; k--) {
        const struct stage *before = &stages[k - 1];
        const enum stage_kind kind = before->word->stage;
        if (before->call || !moves_over(env, before, moved))
            break;
        if ((kind == STAGE_DERIVE || kind == STAGE_MAP) && !items_hold(env, before, makes_no_text))
            place = k - 1;
    }
    return place;
}

const struct pipeline *rows_before_texts(const struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct pipeline *moved = NULL;
    struct stage *stages = pipeline->stages;
    for (size_t k = 1; k < pipeline->stage_count; k++) {
        const size_t place = place_of(env, stages, k);
        if (place == k)
            continue;
        if (!moved) {
            moved = arena_copy(arena, pipeline, sizeof *moved);
            stages = moved->stages = arena_copy(arena, stages, pipeline->stage_count * sizeof *stages);
        }
        const struct stage stage = stages[k];
        memmove(&stages[place + 1], &stages[place], (k - place) * sizeof *stages);
        stages[place] = stage;
    }
    return moved ? moved : pipeline;
}
