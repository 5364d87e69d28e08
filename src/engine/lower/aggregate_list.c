/* list(E), collect(E): the texts of a group's rows are made before the stage is bound (engine/expression/row_text.h):
 * each row has the text of its whole group, and the value is that of the group's first row. */
#include "engine/expression/row_text.h"
#include "engine/lower/aggregate_functions.h"

/* The text between values: a constant. NULL after an error. */
static const struct text *separator_of(struct scope *scope, const struct expr *call)
{
    static const struct text usual = {", ", 2};
    if (call->arg_count < 2)
        return &usual;
    const struct term term = bind_term(scope, call->args[1]);
    if (!term.text && term_is_known(term))
        bind_error(scope->binder, call->args[1]->span, "usage: list(x [, separator])",
                   "the separator of a list is a constant text");
    return term.text;
}

static void begin_list(struct lowering *lowering, struct aggregate_call *call)
{
    const struct aggregation *of = lowering->of;
    struct binder *binder = of->binder;
    const struct span span = call->expr->span;
    struct task *task = task_reading(binder, "map", span, of->flow);
    struct scope scope = scope_of_stage(binder, task, of->flow, NULL);
    scope.head = of->stage->head;
    struct term terms[2] = {bind_term(&scope, call->expr->args[0])};
    const bool collects = call->function->kind == AGG_COLLECT;
    const struct text *separator = separator_of(&scope, call->expr);
    call->known =
        separator && term_is_known(terms[0]) &&
        bind_aggregated(&scope, call->function->kind, &terms[0], call->expr->args[0], call->function->name, span);
    struct term list = unknown_term;
    if (call->known) {
        terms[1] = term_of(of->by_ids ? code_input(scope.code, (int64_t)of->ids, KIND_INT, span)
                                      : code_exact_int(scope.code, 0, span));
        const struct row_text_use use = {.scope = &scope,
                                         .name = call->function->name,
                                         .format = collects ? NULL : text_format_concat(1, binder->arena),
                                         .arguments = terms,
                                         .count = 2,
                                         .span = span,
                                         .separator = separator,
                                         .makes = collects ? ROW_COLLECTS : ROW_TEXT};
        list = bind_row_text(&use);
        call->known = term_is_known(list);
    }
    call->slot = slot_of_term(&scope, list);
    call->slot.name = call->function->name;
    call->at = *of->flow;
    task_set_outputs(binder, task, &call->at, &call->slot, &list, 1);
    call->pass = &lowering->first;
    call->partial[0] =
        pass_add_plain(&lowering->first, AGG_MIN, code_row(lowering->first.operands.scope.code, span), span);
    aggregate_count_values(lowering, call, term_of(terms[0].value));
}

static struct term finish_list(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    return element_at(reader, call, reader_value(reader, call->pass, call->partial[0], call->expr->span));
}

const struct aggregate_recipe recipe_list = {.begin = begin_list, .finish = finish_list, .by_ids = true};
