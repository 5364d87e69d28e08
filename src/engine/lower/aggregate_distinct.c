/* distinct(E): the groups by the keys and E, grouped again by the keys. Servers count different values themselves. */
#include "engine/bind/facts.h"
#include "engine/expression/texts.h"
#include "engine/lower/aggregate_functions.h"

/* Counts, by the keys, the rows of the finer groups in which E is present: column `missing` says where it is not. */
static void count_groups(struct aggregate_call *call, const struct aggregation *of, const struct pass *finer,
                         bool nullable)
{
    struct pass *pass = &call->distinct;
    struct arena *arena = of->binder->arena;
    const struct span span = call->expr->span;
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    struct flow *flow = arena_alloc(arena, sizeof *flow);
    struct aggregation *again = arena_alloc(arena, sizeof *again);
    *stage = *of->stage;
    stage->head = NULL;
    *flow = finer->flow;
    *again = (struct aggregation){.binder = of->binder, .stage = stage, .flow = flow};
    const size_t keys = finer->key_columns - 1 - nullable;
    pass_begin(pass, again);
    struct code *code = pass->operands.scope.code;
    for (size_t i = 0; i < keys; i++)
        pass_group_by(pass, i);
    value present = NO_VALUE;
    if (nullable)
        present = code_op(code, OP_NOT, code_input(code, (int64_t)keys, KIND_BOOL, span), NO_VALUE, NO_VALUE, span);
    call->partial[0] = pass_add_count(pass, present, span);
    pass_end(pass);
}

static void count_remotely(struct lowering *lowering, struct aggregate_call *call)
{
    struct scope *scope = &lowering->first.operands.scope;
    const struct span span = call->expr->span;
    const struct term term = term_as_column(scope->binder, bind_term(scope, call->expr->args[0]));
    call->known = term_is_known(term);
    call->slot = (struct slot){.name = "distinct", .type = TYPE_I64, .known = call->known};
    call->plain = true;
    call->pass = &lowering->first;
    call->partial[0] = pass_add_distinct(&lowering->first, call->known ? term.value : NO_VALUE,
                                         call->known ? term.present : NO_VALUE, call->slot, span);
}

static void begin_distinct(struct lowering *lowering, struct aggregate_call *call)
{
    const struct aggregation *of = lowering->of;
    if (of->binder->facts->remote) {
        count_remotely(lowering, call);
        return;
    }
    const struct item item = {.expr = call->expr->args[0], .span = call->expr->args[0]->span};
    struct pass finer;
    pass_begin(&finer, of);
    struct key_operands value_key = operands_add_key(&finer.operands, &item);
    if (value_key.nullable)
        pass_add_key(&finer, value_key.missing);
    pass_add_key(&finer, value_key.value);
    pass_end(&finer);
    call->known = term_is_known(value_key.term);
    call->slot = (struct slot){.name = "distinct", .type = TYPE_I64, .known = call->known};
    call->pass = &call->distinct;
    count_groups(call, of, &finer, value_key.nullable);
}

static struct term finish_distinct(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    return reader_partial(reader, &call->distinct, call->partial[0], call->expr->span);
}

const struct aggregate_recipe recipe_distinct = {.begin = begin_distinct, .finish = finish_distinct};
