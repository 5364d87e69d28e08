/* asof join: of the rows of the right with equal keys the latest that is not after that of the left, found by a binary
 * search in typed code: as many steps as the most rows of an id need. */
#include "engine/join/join.h"

bool join_check_order(const struct join *join, struct scope *scope)
{
    if (join->kind != JOIN_ASOF)
        return true;
    const size_t last = join->key_count - 1;
    const struct slot *slot = &join->left.columns[join->left_keys[last]];
    struct term term = term_of_column(scope->code, &join->left, join->left_keys[last], join->stage->span);
    if (!term_is_known(term) || (scope->code->at[term.value].kind == KIND_INT && slot->logical.kind != LOGICAL_TEXT))
        return true;
    return bind_error(join->binder, join->stage->items[last].span, "as in `asof join quotes on sym, time`",
                      "the last key of an asof join is a time, a date or an integer, but `%s` is %s", slot->name,
                      logical_type_name(slot->logical, slot->type));
}

static value op(struct code *code, enum op which, value a, value b, struct span span)
{
    return code_op(code, which, a, b, NO_VALUE, span);
}

static struct match asof_place(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    value zero = code_exact_int(code, 0, span), one = code_exact_int(code, 1, span);
    struct match place = {.row = zero, .found = code_bool(code, false, span)};
    if (index->rows == 0)
        return place;
    struct term time = term_of_column(code, &join->left, join->left_keys[join->equal_count], span);
    const value id = join_index_id(join, scope);
    const value begin = match_table(scope, index->starts, KIND_INT, id, "starts", span);
    const value end = match_table(scope, index->starts, KIND_INT, op(code, OP_ADD, id, one, span), "starts", span);
    const value at = match_last(scope, index->order, index->most, begin, end, OP_LE, time.value, span);
    place.found = present_both(code, op(code, OP_LE, begin, at, span), time.present, span);
    place.row = op(code, OP_MAX, at, zero, span);
    if (!index->in_order)
        place.row = match_table(scope, index->row_of, KIND_INT, place.row, "rows", span);
    return place;
}

void join_asof(struct join *join, struct scope *scope, struct flow *flow)
{
    const struct match place = join->right->relation ? asof_place(join, scope) : join_any_place(join, scope);
    join_set_outputs(join, scope->task, join_left_terms(join, scope->code), place, flow);
}
