/* What several stages share: arguments, column names, aggregates, row counts. */
#include "engine/bind/bind_internal.h"

#include <string.h>

struct expr *expr_of_column(struct arena *arena, size_t k, struct span span)
{
    const struct expr column = {.kind = EXPR_POSITION, .span = span, .integer = (int64_t)k + 1, .depth = 1};
    return arena_copy(arena, &column, sizeof column);
}

const struct expr *stage_expr(struct binder *binder, const struct stage *stage)
{
    if (stage->item_count > 0)
        return stage->items[0].expr;
    bind_error(binder, stage->span, arena_printf(binder->arena, "usage: %s", stage->word->usage),
               "`%s` needs an argument", text_of_word(binder->arena, stage));
    return NULL;
}

/* The rows of `head` and its like without a number. */
static bool default_rows(struct binder *binder, const struct stage *stage, int64_t *count)
{
    enum { DEFAULT_ROWS = 10 };
    const enum stage_kind kind = stage->word->stage;
    if (stage->item_count > 0 || (kind != STAGE_TAKE && kind != STAGE_TAIL))
        return false;
    *count = strcmp(text_of_word(binder->arena, stage), "first") == 0 ? 1 : DEFAULT_ROWS;
    return true;
}

/* 1e3 and 10 / 2 are floats, but whole numbers. */
static void take_whole_number(struct scalar *scalar)
{
    const double exact = 9007199254740992.0; /* 2^53 */
    const double number = scalar->number;
    if (scalar->kind == KIND_FLOAT && number >= 0 && number <= exact && number == (double)(int64_t)number)
        *scalar = (struct scalar){.kind = KIND_INT, .integer = (int64_t)number};
}

bool stage_number(struct binder *binder, const struct stage *stage, int64_t least, int64_t *count)
{
    if (default_rows(binder, stage, count))
        return true;
    const struct expr *expr = stage_expr(binder, stage);
    const char *word = text_of_word(binder->arena, stage);
    struct scalar scalar;
    if (!expr)
        return false;
    struct scope scope = scope_without_columns(
        binder, NULL, arena_printf(binder->arena, "the number of `%s` is the same for all rows", word));
    const enum known known = bind_constant(&scope, expr, &scalar);
    const char *hint =
        arena_printf(binder->arena, "for example `%s %d`", word, stage->word->stage == STAGE_NTH ? 1 : 10);
    if (known == KNOWN_VALUE)
        take_whole_number(&scalar);
    if (known != KNOWN_NOTHING && scalar.kind != KIND_INT)
        return bind_error(binder, expr->span, hint, "`%s` takes an integer", word);
    if (known != KNOWN_VALUE)
        return false;
    if (scalar.integer < least)
        return bind_error(binder, expr->span, hint, "`%s` takes a number of at least %lld, not %lld", word,
                          (long long)least, (long long)scalar.integer);
    *count = (int64_t)scalar.integer;
    return true;
}

void task_aggregate(struct binder *binder, const struct stage *stage, struct task *task, struct flow *flow,
                    struct aggregate what)
{
    what.span = stage->span;
    task->sink = SINK_AGGREGATE;
    task->aggregates = arena_alloc(binder->arena, sizeof *task->aggregates);
    task->aggregates[0] = what;
    task->aggregate_count = 1;
    flow->task = task;
    flow->scalar = true;
    flow->scalar_name = what.name;
    flow->last = stage;
}

/* Some stages take the column as an expression; before the others it is picked. */
static const char *how_to_choose(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    const char *word = text_of_word(binder->arena, stage), *columns = text_of_columns(binder->arena, flow);
    const char *last = name_written(flow->columns[flow->count - 1].name, binder->arena);
    const enum stage_kind kind = stage->word->stage;
    if ((kind == STAGE_SCAN || kind == STAGE_REDUCE) && stage->head && stage->head->count == 2)
        return arena_printf(
            binder->arena, "choose one: `pick %s | %s`, or combine rows: `%s |%s, %s| %s.%s + %s.%s as %s, ...`", last,
            text_of_span(binder->arena, stage->span, 40), word, stage->head->names[0].text, stage->head->names[1].text,
            stage->head->names[0].text, last, stage->head->names[1].text, last, last);
    if (kind == STAGE_SCAN || kind == STAGE_REDUCE || kind == STAGE_HIST)
        return arena_printf(binder->arena, "choose one: `pick %s | %s`; the columns are %s", last,
                            text_of_span(binder->arena, stage->span, 40), columns);
    return arena_printf(binder->arena, "choose one, with `%s %s` or `pick %s | %s`; the columns are %s", word, last,
                        last, word, columns);
}

bool stage_column(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (flow->open)
        return false;
    if (flow->count != 1)
        return bind_error(binder, stage->span, how_to_choose(binder, stage, flow),
                          "`%s` takes one column, but there are %zu", text_of_word(binder->arena, stage), flow->count);
    return flow->columns[0].known;
}

enum aggregate_kind aggregate_of(const struct stage *stage)
{
    return aggregate_find(stage->word->canonical)->kind;
}

/* count E counts the rows where a condition holds, those equal to E if it is a constant, or else those that have E. */
value bind_counted(struct scope *scope, const struct stage *stage)
{
    struct binder *binder = scope->binder;
    const struct expr *expr = stage->items[0].expr;
    struct term term = bind_term(scope, expr);
    if (!term_is_known(term))
        return NO_VALUE;
    if (class_of(scope->code, term) == CLASS_BOOL)
        return term_settled(scope->code, term, expr->span);
    if (scope->reads_row)
        return term.present != NO_VALUE ? term.present : code_bool(scope->code, true, expr->span);
    const struct flow *flow = scope->flow;
    if (!flow->open && flow->count != 1) {
        const char *last = name_written(flow->columns[flow->count - 1].name, binder->arena);
        bind_error(binder, stage->span,
                   arena_printf(binder->arena, "name the column, as in `count %s == %s`; the columns are %s", last,
                                text_of_span(binder->arena, expr->span, 40), text_of_columns(binder->arena, flow)),
                   "`count` compares one column with a value, but there are %zu", flow->count);
        return NO_VALUE;
    }
    if (flow->open || !flow->columns[0].known)
        return NO_VALUE;
    const struct expr column = {.kind = EXPR_NAME, .span = expr->span};
    struct term equal =
        bind_compare(scope, OP_EQ, term_of_column(scope->code, flow, 0, expr->span), &column, term, expr, expr->span);
    return term_is_known(equal) ? term_settled(scope->code, equal, expr->span) : NO_VALUE;
}
