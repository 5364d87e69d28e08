/* Aggregates that servers alone have in one pass. */
#include "engine/expression/texts.h"
#include "engine/lower/aggregate_functions.h"

static void begin_distinct(struct lowering *lowering, struct aggregate_call *call)
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

/* Partial 2 says whether there is a value in the row, as far as one may be missing there. */
static void begin_element(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->first;
    struct scope *scope = &pass->operands.scope;
    const struct span span = call->expr->span;
    const enum aggregate_kind kind = call->function->kind;
    const bool nearest = kind == AGG_FIRST || kind == AGG_LAST, least = kind == AGG_FIRST || kind == AGG_ARGMIN;
    const enum aggregate_kind at = least ? AGG_AT_LEAST : AGG_AT_MOST;
    struct term term = term_as_column(scope->binder, bind_term(scope, call->expr->args[!nearest])), by = term;
    if (!nearest) {
        by = aggregate_argument(lowering, call, least ? AGG_MIN : AGG_MAX, 0);
        by.value = call->known ? bind_number(scope->code, by.value, span) : NO_VALUE;
    }
    call->known = (nearest || call->known) && term_is_known(term);
    call->slot = slot_of_term(scope, term);
    call->slot.name = call->function->canonical;
    call->pass = pass;
    const value v = call->known ? term.value : NO_VALUE, other = nearest || !call->known ? NO_VALUE : by.value;
    const value where = call->known ? by.present : NO_VALUE;
    call->partial[0] = pass_add_element(pass, at, v, other, where, call->slot, span);
    aggregate_count_values(lowering, call, by);
    call->partly = call->known && !nearest && term.present != NO_VALUE;
    if (call->partly)
        call->partial[2] =
            pass_add_element(pass, at, code_unary(scope->code, OP_BOOL_TO_INT, term.present, span), other, where,
                             (struct slot){.name = "present", .type = TYPE_I64, .known = true}, span);
}

static struct term finish_element(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    struct term term = reader_partial(reader, call->pass, call->partial[0], span);
    term.logical = call->slot.logical;
    term.present = any_counted(reader, call);
    if (call->partly) {
        const value there = reader_value(reader, call->pass, call->partial[2], span);
        term.present = present_both(code, term.present,
                                    code_binary(code, OP_NE, there, code_exact_int(code, 0, span), span), span);
    }
    term.settled = term.present == NO_VALUE;
    return term;
}

const struct aggregate_recipe *aggregate_recipe_remote(const struct aggregate_call *call)
{
    static const struct aggregate_recipe distinct = {.begin = begin_distinct},
                                         element = {.begin = begin_element, .finish = finish_element};
    switch (call->function->kind) {
    case AGG_DISTINCT:
        return &distinct;
    case AGG_FIRST:
    case AGG_LAST:
        return &element;
    case AGG_ARGMIN:
    case AGG_ARGMAX:
        return call->expr->arg_count == 2 ? &element : NULL; /* else it is the number of a row */
    default:
        return NULL;
    }
}
