/* distinct(E) and mode(E): the groups by the keys and E, grouped again by the keys. Servers count different values
 * themselves. */
#include "engine/expression/texts.h"
#include "engine/lower/aggregate_functions.h"

/* The groups by the keys and E: column `missing`, if there is one, says where E is, and E comes behind it. */
struct finer {
    struct pass pass;
    struct key_operands value_key;
    size_t keys; /* columns before these */
};

static void finer_begin(const struct aggregation *of, const struct aggregate_call *call, struct finer *finer)
{
    const struct item item = {.expr = call->expr->args[0], .span = call->expr->args[0]->span};
    pass_begin(&finer->pass, of);
    finer->value_key = operands_add_key(&finer->pass.operands, &item);
    finer->keys = finer->pass.key_columns;
    if (finer->value_key.nullable)
        pass_add_key(&finer->pass, finer->value_key.missing);
    pass_add_key(&finer->pass, finer->value_key.value);
}

/* Begins a pass over `groups`, which have the columns of the finer ones, by the keys. */
static void coarser_begin(const struct aggregation *of, const struct finer *finer, const struct flow *groups,
                          struct pass *pass)
{
    struct arena *arena = of->binder->arena;
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    struct flow *flow = arena_alloc(arena, sizeof *flow);
    struct aggregation *again = arena_alloc(arena, sizeof *again);
    *stage = *of->stage;
    stage->head = NULL;
    *flow = *groups;
    *again = (struct aggregation){.binder = of->binder, .stage = stage, .flow = flow};
    pass_begin(pass, again);
    for (size_t i = 0; i < finer->keys; i++)
        pass_group_by(pass, i);
}

static void begin_distinct(struct lowering *lowering, struct aggregate_call *call)
{
    const struct aggregation *of = lowering->of;
    struct finer finer;
    finer_begin(of, call, &finer);
    pass_end(&finer.pass);
    call->known = term_is_known(finer.value_key.term);
    call->slot = (struct slot){.name = "distinct", .type = TYPE_I64, .known = call->known};
    call->pass = &call->coarser;
    coarser_begin(of, &finer, &finer.pass.flow, &call->coarser);
    struct code *code = call->coarser.operands.scope.code;
    const struct span span = call->expr->span;
    value present = NO_VALUE;
    if (finer.value_key.nullable)
        present = code_unary(code, OP_NOT, code_input(code, (int64_t)finer.keys, KIND_BOOL, span), span);
    call->partial[0] = pass_add_count(&call->coarser, present, span);
    pass_end(&call->coarser);
}

static struct term finish_distinct(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    return reader_partial(reader, &call->coarser, call->partial[0], call->expr->span);
}

/* The finer groups with the most rows first, and those without E last; others stay in the order of E. */
static struct flow order_by_count(const struct aggregation *of, const struct finer *finer, size_t count,
                                  struct span span)
{
    struct flow ordered = finer->pass.flow;
    const bool nullable = finer->value_key.nullable;
    struct task *task = operator_new(of->binder, "mode", span, &ordered, OPERATOR_SORT, 1 + nullable);
    task->column_op->keys[0] = finer->keys;
    task->column_op->keys[nullable] = finer->pass.key_columns + count;
    task->column_op->descending[nullable] = true;
    task_pass_inputs(of->binder, task, &ordered);
    return ordered;
}

static void begin_mode(struct lowering *lowering, struct aggregate_call *call)
{
    const struct aggregation *of = lowering->of;
    const struct span span = call->expr->span;
    struct finer finer;
    finer_begin(of, call, &finer);
    const size_t count = pass_add_count(&finer.pass, NO_VALUE, span);
    pass_end(&finer.pass);
    call->known = term_is_known(finer.value_key.term);
    call->at = order_by_count(of, &finer, count, span);
    call->at_column = finer.keys + finer.value_key.nullable;
    call->slot = call->at.columns[call->at_column];
    call->slot.name = "mode";
    call->slot.known = call->known;
    coarser_begin(of, &finer, &call->at, &call->coarser);
    call->partial[0] = pass_add_plain(&call->coarser, AGG_MIN, code_row(call->coarser.operands.scope.code, span), span);
    pass_end(&call->coarser);
    call->pass = &lowering->first;
    if (call->known)
        aggregate_count_values(lowering, call, bind_term(&lowering->first.operands.scope, call->expr->args[0]));
}

static struct term finish_mode(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    return element_at(reader, call, reader_value(reader, &call->coarser, call->partial[0], call->expr->span));
}

const struct aggregate_recipe recipe_mode = {.begin = begin_mode, .finish = finish_mode};
const struct aggregate_recipe recipe_distinct = {.begin = begin_distinct, .finish = finish_distinct};
