/* union, except and intersect of whole rows, each of which comes once, in the order of their first appearance.
 *
 * union is append and distinct. For the others, each row says on which side it is; the rows of both are grouped by all
 * columns, so that missing values equal each other, as NaN does. */
#include "engine/bind/bind_internal.h"
#include "engine/join/join_stages.h"

#include <string.h>

static struct expr *expr_of(struct binder *binder, const struct stage *stage, struct expr expr)
{
    struct expr *copy = arena_copy(binder->arena, &expr, sizeof *copy);
    copy->span = stage->word_span;
    copy->depth = 1;
    return copy;
}

static struct expr *place_of(struct binder *binder, const struct stage *stage, size_t k)
{
    return expr_of(binder, stage, (struct expr){.kind = EXPR_POSITION, .integer = (int64_t)k + 1});
}

/* A stage of items that stands for a part of this one. */
static struct stage part_of(const struct stage *stage, const char *word, struct item *items, size_t count)
{
    struct stage part = {.word = word_find(word, strlen(word)), .span = stage->span, .word_span = stage->word_span};
    part.items = items;
    part.item_count = count;
    return part;
}

/* Adds the columns ` side` and ` row`: the row's number, of which that of the first row on the left is kept. */
static void add_side(struct binder *binder, const struct stage *stage, int64_t side, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    struct code *code = &task->code;
    const size_t count = flow->count;
    struct slot *slots = arena_array(binder->arena, count + 2, sizeof *slots);
    struct term *terms = arena_array(binder->arena, count + 2, sizeof *terms);
    for (size_t k = 0; k < count; k++) {
        slots[k] = flow->columns[k];
        terms[k] = term_of_column(code, flow, k, stage->span);
    }
    slots[count] = (struct slot){.name = " side", .type = TYPE_I64, .known = true};
    slots[count + 1] = (struct slot){.name = " row", .type = TYPE_I64, .known = true};
    terms[count] = term_of(code_exact_int(code, side, stage->span));
    terms[count + 1] = term_of(side == 0 ? code_row(code, stage->span) : code_exact_int(code, INT64_MAX, stage->span));
    flow->shape = (struct shape){0};
    task_set_outputs(binder, task, flow, slots, terms, count + 2);
}

static struct item aggregate_of_column(struct binder *binder, const struct stage *stage, const char *word, size_t k)
{
    struct expr *call = expr_of(binder, stage, (struct expr){.kind = EXPR_CALL, .arg_count = 1});
    call->name = (struct name){word, stage->word_span};
    call->args = arena_array(binder->arena, 1, sizeof *call->args);
    call->args[0] = place_of(binder, stage, k);
    return (struct item){.expr = call, .span = stage->span};
}

/* Groups the rows of both sides by their first `count` columns, and keeps the groups that the stage is about. */
static void keep_groups(struct binder *binder, const struct stage *stage, size_t count, struct flow *flow)
{
    struct item *keys = arena_array(binder->arena, count + 1, sizeof *keys);
    for (size_t k = 0; k < count; k++)
        keys[k] = (struct item){.expr = place_of(binder, stage, k), .span = stage->span};
    struct stage group = part_of(stage, "group", keys, count);
    struct item aggregates[3] = {aggregate_of_column(binder, stage, "min", count),
                                 aggregate_of_column(binder, stage, "max", count),
                                 aggregate_of_column(binder, stage, "min", count + 1)};
    group.aggregates = aggregates;
    group.aggregate_count = 3;
    bind_group(binder, &group, flow);
    if (flow->open)
        return;
    struct task *task = task_of_stage(binder, stage, flow);
    struct code *code = &task->code;
    const struct span span = stage->span;
    const value first = term_of_column(code, flow, count, span).value;
    const value last = term_of_column(code, flow, count + 1, span).value;
    const value zero = code_exact_int(code, 0, span), one = code_exact_int(code, 1, span);
    const value wanted = stage->word->stage == STAGE_EXCEPT ? zero : one;
    const value on_left = code_binary(code, OP_EQ, first, zero, span);
    const value ends = code_binary(code, OP_EQ, last, wanted, span);
    task_filter(binder, task, code_binary(code, OP_AND, on_left, ends, span), task->span);
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
    sort_by_column(binder, stage, flow, count + 2, false);
    struct stage pick = part_of(stage, "pick", keys, count);
    bind_pick(binder, &pick, flow);
}

/* Whether both have columns of the same names. */
static bool have_same_columns(struct binder *binder, const struct stage *stage, const struct flow *left,
                              const struct flow *right)
{
    bool same = left->count == right->count;
    for (size_t i = 0; i < left->count && same; i++) {
        same = flow_column(right, left->columns[i].name);
    }
    if (!same)
        bind_error_second(binder, stage->sources[0].span, stage->word_span,
                          arena_printf(binder->arena, "before it there are %s", text_of_columns(binder->arena, left)),
                          "`pick` the same columns of both; `append` takes others, too",
                          "the rows of `%s` need the same columns, but here are %s", stage->word->canonical,
                          text_of_columns(binder->arena, right));
    return same;
}

void bind_set_rows(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow right;
    const size_t count = flow->count;
    bind_source(binder, &stage->sources[0], &right);
    if (bind_gave_up(binder))
        return;
    if (flow->open || right.open || !have_same_columns(binder, stage, flow, &right)) {
        task_unknown(binder, stage, flow);
        return;
    }
    if (stage->word->stage == STAGE_UNION) {
        append_flow(binder, stage, &right, flow);
        bind_distinct(binder, stage, flow);
        return;
    }
    add_side(binder, stage, 0, flow);
    add_side(binder, stage, 1, &right);
    append_flow(binder, stage, &right, flow);
    if (flow->open)
        return;
    /* By name: the columns of the left come first in the result, ` side` and ` row` after them. */
    keep_groups(binder, stage, count, flow);
}
