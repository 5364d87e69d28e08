#include "engine/bind/summary.h"

#include "engine/bind/bind_internal.h"
#include "engine/lower/aggregate_functions.h"

#include <string.h>

enum { HALF_BITS = 32 };

static enum summary_class class_of_slot(const struct slot *slot)
{
    if (slot->logical.kind == LOGICAL_TEXT)
        return SUMMARY_OF_TEXT;
    return type_table[slot->type].kind == KIND_FLOAT ? SUMMARY_OF_FLOATS : SUMMARY_OF_INTS;
}

static void set_columns(struct summary *summary, const struct flow *flow, struct arena *arena)
{
    summary->count = flow->count;
    summary->columns = arena_array(arena, flow->count + 1, sizeof *summary->columns);
    for (size_t k = 0; k < flow->count; k++) {
        const struct slot *slot = &flow->columns[k];
        summary->columns[k] = (struct summary_column){.name = arena_text(arena, slot->name, strlen(slot->name)),
                                                      .type = slot->type,
                                                      .logical = slot->logical,
                                                      .of = class_of_slot(slot)};
        summary->columns[k].logical.dictionary = NULL;
    }
}

static size_t add_distinct(struct pass *pass, value v, value where, struct span span)
{
    return pass_add_distinct(pass, v, where, (struct slot){.name = "distinct", .type = TYPE_I64, .known = true}, span);
}

/* Where a number is not NaN. */
static value is_number(struct code *code, struct term term, struct span span)
{
    return present_both(code, term.present, code_binary(code, OP_EQ, term.value, term.value, span), span);
}

static void add_floats(struct pass *pass, struct term term, bool sums, struct span span)
{
    struct code *code = pass->operands.scope.code;
    const value none = code_binary(code, OP_NE, term.value, term.value, span);
    const value number =
        code_op(code, OP_SELECT, is_number(code, term, span), term.value, code_float(code, 0, span), span);
    pass_add_plain(pass, AGG_MIN, aggregate_settled(code, AGG_MIN, term, span), span);
    pass_add_plain(pass, AGG_MAX, aggregate_settled(code, AGG_MAX, term, span), span);
    if (sums)
        pass_add_plain(pass, AGG_SUM, number, span);
    else
        pass_add_count(pass, NO_VALUE, span); /* which nothing reads */
    pass_add_count(pass, present_both(code, term.present, none, span), span);
}

static void add_ints(struct pass *pass, struct term term, struct span span)
{
    struct code *code = pass->operands.scope.code;
    const value settled = term_settled(code, term, span);
    pass_add_plain(pass, AGG_MIN, aggregate_settled(code, AGG_MIN, term, span), span);
    pass_add_plain(pass, AGG_MAX, aggregate_settled(code, AGG_MAX, term, span), span);
    pass_add_plain(pass, AGG_SUM, code_with(code, OP_SHR, settled, HALF_BITS, span), span);
    pass_add_plain(pass, AGG_SUM, code_with(code, OP_BITAND, settled, UINT32_MAX, span), span);
}

static void add_bounds(struct pass *pass, const struct summary_column *column, struct term term, struct span span)
{
    pass_add_count(pass, term.present, span);
    if (column->of == SUMMARY_OF_FLOATS)
        add_floats(pass, term, pass->of->stage->word->stage == STAGE_DESCRIBE, span);
    else if (column->of == SUMMARY_OF_INTS)
        add_ints(pass, term, span);
    else
        add_distinct(pass, term.value, term.present, span);
    for (int k = BOUND_GREATEST; k < BOUND_COLUMNS && column->of == SUMMARY_OF_TEXT; k++)
        pass_add_count(pass, NO_VALUE, span);
}

static void add_counts(struct pass *pass, const struct summary_column *column, struct term term, struct span span)
{
    struct code *code = pass->operands.scope.code;
    const bool floats = column->of == SUMMARY_OF_FLOATS;
    if (column->of == SUMMARY_OF_TEXT)
        return;
    for (size_t k = 0; k < column->edge_count; k++) {
        const value edge =
            floats ? code_float(code, column->floats[k], span) : code_exact_int(code, column->ints[k], span);
        const value from = code_binary(code, OP_LE, edge, term.value, span);
        pass_add_count(pass, present_both(code, term.present, from, span), span);
    }
    const size_t distinct = add_distinct(pass, term.value, floats ? is_number(code, term, span) : term.present, span);
    pass->partials[distinct].what.lower = column->about;
}

void bind_summary(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct summary *summary = binder->facts->summary;
    struct pass pass;
    bool known = binder->facts->remote && !flow->open;
    for (size_t k = 0; k < flow->count && known; k++)
        known = flow->columns[k].known && flow->columns[k].logical.kind != LOGICAL_LIST;
    if (!known) {
        bind_error(binder, stage->span, NULL, "only servers take this question");
        task_unknown(binder, stage, flow);
        return;
    }
    if (!summary->second)
        set_columns(summary, flow, binder->arena);
    const struct aggregation of = {
        .binder = binder, .stage = stage, .flow = arena_copy(binder->arena, flow, sizeof *flow)};
    pass_begin(&pass, &of);
    pass_add_count(&pass, NO_VALUE, stage->span);
    for (size_t k = summary->from; k < summary->to && k < flow->count; k++) {
        struct term term = term_of_column(pass.operands.scope.code, flow, k, stage->span);
        if (summary->columns[k].of != SUMMARY_OF_TEXT)
            term.value = bind_number(pass.operands.scope.code, term.value, stage->span);
        (summary->second ? add_counts : add_bounds)(&pass, &summary->columns[k], term, stage->span);
    }
    pass_end(&pass);
    *flow = pass.flow;
}
