/* per: stages within groups of rows with equal keys.
 *
 * The rows are ordered by the keys, once: an operator gives each row's number and that of its group, and the body's
 * stages read the columns at these rows. Two hidden columns pass through them: `group`, which never decreases, so that
 * windows and neighbours know where a group begins, and `place`, the row's number before. At the end the columns that
 * the body has made return to their places; the others have never been moved. */
#include "engine/per/bind_per.h"
#include "engine/lower/aggregates.h"

#include <string.h>

/* A `per` while it is bound. */
struct per {
    struct flow before;
    bool drops, orders;
};

static void refuse_stage(struct binder *binder, const struct stage *stage)
{
    const char *word = text_of_word(binder->arena, stage);
    if (stage_does(stage->word->stage, GIVES_VALUE))
        bind_error(binder, stage->span,
                   arena_printf(binder->arena,
                                "`group K: %s` has a row for each group; `derive x = sum(y)` keeps the rows",
                                stage->word->stage == STAGE_COUNT ? "count()" : "sum(x)"),
                   "`%s` gives a single value, but `per` has rows", word);
    else
        bind_error(binder, stage->span,
                   stage->word->stage == STAGE_DESCRIBE ? "`per K: describe` alone describes groups"
                                                        : "put it before or after `per`",
                   "`%s` cannot be within `per`", word);
}

/* Checks the body's stages, and what they do with rows. */
static bool check_body(struct binder *binder, const struct stage *stage, struct per *per)
{
    bool good = true;
    for (size_t i = 0; i < stage->body_count; i++) {
        const enum stage_kind kind = stage->body[i].word->stage;
        if (!stage_binder_in_groups(kind)) {
            refuse_stage(binder, &stage->body[i]);
            good = false;
            continue;
        }
        if (stage->body[i].across) {
            bind_error(binder, stage->body[i].across->span, "`group` by the keys of `per`, too, and without it",
                       "`across` cannot be within `per`");
            good = false;
        }
        if (stage->body[i].rollup.end > 0) {
            bind_error(binder, stage->body[i].rollup, "`group` by the keys of `per`, too, and without it",
                       "`%s` cannot be within `per`", stage->body[i].cube ? "cube" : "rollup");
            good = false;
        }
        per->drops = per->drops || stage_does(kind, DROPS_ROWS);
        per->orders = per->orders || stage_does(kind, ORDERS_ROWS);
    }
    return good;
}

/* ---- leaving ---- */

/* Forgets what slots and flow say of the groups. */
static void forget_groups(struct flow *flow)
{
    flow->group = flow->place = flow->key_count = 0;
    flow->scattered = false;
    for (size_t k = 0; k < flow->count; k++)
        flow->columns[k].key = flow->columns[k].origin = 0;
}

/* The rows stay in the order of the groups: only the hidden columns go. */
static void leave_ordered(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow visible = *flow;
    struct task *task = task_reading(binder, "per", stage->span, flow);
    struct term *terms = arena_array(binder->arena, flow->count + 1, sizeof *terms);
    for (size_t k = 0; k < flow->count; k++)
        terms[k] = term_of_column(&task->code, &visible, k, stage->span);
    flow->group = flow->place = 0;
    task_set_outputs(binder, task, flow, visible.columns, terms, visible.count);
    forget_groups(flow);
}

/* The operator that moves the body's columns: to their places, or, where rows are gone, into the order of their places.
 * Its outputs are the flow's columns. */
static struct task *move_back(struct binder *binder, const struct stage *stage, const struct per *per,
                              const struct flow *flow)
{
    const enum operator_kind kind = per->drops ? OPERATOR_SORT : OPERATOR_SCATTER;
    struct task *task = operator_new(binder, "per", stage->span, flow, kind, 1);
    task->column_op->keys[0] = flow->place;
    struct flow moved = *flow;
    task_pass_inputs(binder, task, &moved);
    if (!per->drops)
        mark_fallible(task);
    return task;
}

/* The rows return to their places: columns that the body has not changed are read there. */
static void leave_in_place(struct binder *binder, const struct stage *stage, const struct per *per, struct flow *flow)
{
    struct arena *arena = binder->arena;
    const struct flow *before = &per->before, inside = *flow;
    struct task *moved = move_back(binder, stage, per, flow);
    struct task *task = task_new(binder, "per", stage->span, NULL);
    struct term *terms = arena_array(arena, inside.count + 1, sizeof *terms);
    task->rows = per->drops ? -1 : before->rows;
    if (task->rows < 0)
        task->rows_from = per->drops ? moved : before->task;
    const value place = per->drops ? per_row_input(task, moved, inside.place) : NO_VALUE;
    for (size_t k = 0; k < inside.count; k++) {
        const struct slot *slot = &inside.columns[k];
        terms[k] = unknown_term;
        if (!slot->known)
            continue;
        terms[k] = term_of_type(NO_VALUE, slot->logical);
        if (slot->origin == 0) {
            terms[k].value = per_row_input(task, moved, k);
            if (slot->validity != 0)
                terms[k].present = per_row_input(task, moved, slot->validity);
            continue;
        }
        const size_t origin = slot->origin - 1, validity = before->columns[origin].validity;
        struct input input = flow_input(before, origin), present = flow_input(before, validity);
        if (per->drops) {
            terms[k].value = per_input_at(task, input, place, arena);
            terms[k].present = validity != 0 ? per_input_at(task, present, place, arena) : NO_VALUE;
            continue;
        }
        terms[k].value = task_read(task, &input, stage->span);
        if (validity != 0)
            terms[k].present = task_read(task, &present, stage->span);
    }
    flow->group = flow->place = 0;
    flow->rows = task->rows;
    task_set_outputs(binder, task, flow, inside.columns, terms, inside.count);
    forget_groups(flow);
}

/* Groups of which all rows are gone leave gaps in the numbers of groups: numbers them anew. */
static void number_groups(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const enum operator_kind kind = flow->scattered ? OPERATOR_IDS : OPERATOR_PARTITION;
    struct task *numbers = operator_new(binder, "per", stage->span, flow, kind, 1);
    numbers->column_op->keys[0] = flow->group;
    struct flow numbered = *flow;
    if (flow->scattered) {
        task_set_slot(binder, numbers, &numbered, flow->columns[flow->group], task_input(numbers, flow->group));
    } else {
        per_partition_outputs(binder, numbers, &numbered);
    }
    struct task *task = task_reading(binder, "per", stage->span, flow);
    const size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = task_input(task, k);
    values[flow->group] = per_row_input(task, numbers, flow->scattered ? 0 : 1);
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, flow->hidden);
}

static bool has_aggregate(const struct binder *binder, const struct stage *stage)
{
    for (size_t i = 0; i < stage->item_count; i++) {
        if (aggregates_any(binder, stage->items[i].expr))
            return true;
    }
    return false;
}

/* Binds a stage of the body. Aggregates in it are of the row's group. */
static void bind_within(struct binder *binder, const struct stage *stage, bool gaps, struct flow *flow)
{
    struct aggregate_values values;
    binder->aggregates = NULL;
    if (has_row_expressions(stage, flow)) {
        if (gaps && has_aggregate(binder, stage))
            number_groups(binder, stage, flow);
        struct flow plain = *flow;
        const size_t ids = flow->group;
        plain.group = plain.place = plain.key_count = 0;
        binder->aggregates = aggregates_of_stage(binder, stage, &plain, &ids, &values);
    }
    stage_binder_in_groups(stage->word->stage)(binder, stage, flow);
    binder->aggregates = NULL;
}

/* The keys as columns at the positions where the flow has them. False, with an error, if one has no name. */
static bool key_items(struct binder *binder, const struct stage *stage, const struct flow *flow, struct item *items)
{
    if (flow->key_count < stage->item_count && !flow->open)
        return bind_error(binder, stage->items[0].span, "as in `per trunc(time, month) as month: ...`",
                          "`group` within `per` needs keys that are columns, or have names");
    for (size_t k = 0; k < flow->count; k++) {
        if (flow->columns[k].key == 0)
            continue;
        struct expr *position = expr_of_column(binder->arena, k, stage->span);
        items[flow->columns[k].key - 1] = (struct item){.expr = position, .span = stage->span};
    }
    return true;
}

/* group within groups: by the keys of both. Its rows are grouped again for the stages that follow. */
static void bind_group_of_groups(struct binder *binder, const struct stage *per, const struct stage *stage,
                                 struct flow *flow)
{
    const size_t keys = flow->key_count;
    struct stage group = *stage, again = *per;
    group.items = arena_array(binder->arena, keys + stage->item_count + 1, sizeof *group.items);
    again.items = arena_array(binder->arena, keys + 1, sizeof *again.items);
    group.item_count = keys + stage->item_count;
    again.item_count = keys;
    if (stage->head || !key_items(binder, per, flow, group.items)) {
        if (stage->head)
            bind_error(binder, stage->head->span, "name the columns themselves", "`group` within `per` takes no head");
        task_unknown(binder, stage, flow);
        flow->group = 0;
        return;
    }
    for (size_t i = 0; i < stage->item_count; i++)
        group.items[keys + i] = stage->items[i];
    leave_ordered(binder, per, flow);
    bind_group(binder, &group, flow);
    for (size_t i = 0; i < keys && i < flow->count; i++)
        flow->columns[i].key = i + 1;
    flow->key_count = keys;
    key_items(binder, &again, flow, again.items);
    forget_groups(flow);
    per_enter(binder, &again, flow);
}

static void bind_body(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    bool gaps = false;
    for (size_t i = 0; i < stage->body_count && flow->group != 0 && !bind_gave_up(binder) && !binder->needs_order;
         i++) {
        const struct stage *inner = stage_of_columns(binder, stage_of_missing(binder, &stage->body[i], flow), flow);
        if (!inner)
            continue;
        if (inner->word->stage == STAGE_GROUP) {
            bind_group_of_groups(binder, stage, inner, flow);
            gaps = false;
            continue;
        }
        bind_within(binder, inner, gaps, flow);
        gaps = gaps || stage_does(inner->word->stage, DROPS_ROWS);
    }
}

/* Binds it with the rows in their places. False, with nothing bound, if something needs those of a group one after
 * another. */
static bool bind_scattered(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct flow before = *flow;
    const size_t tasks = binder->queue->count, errors = binder->errors, outputs = binder->outputs;
    struct diags attempt, *outer = binder->diags;
    diags_init(&attempt, outer->arena);
    binder->diags = &attempt;
    binder->needs_order = false;
    per_enter_scattered(binder, stage, flow);
    bind_body(binder, stage, flow);
    binder->diags = outer;
    if (!binder->needs_order) {
        diags_append(outer, &attempt);
        if (flow->group != 0)
            leave_ordered(binder, stage, flow);
        return true;
    }
    binder->needs_order = false;
    binder->queue->count = tasks;
    binder->errors = errors;
    binder->outputs = outputs;
    *flow = before;
    return false;
}

void bind_per(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct per per = {.before = *flow};
    if (stage->body_count == 1 && stage->body[0].word->stage == STAGE_DESCRIBE) {
        per_describe(binder, stage, flow);
        return;
    }
    const bool good = check_body(binder, stage, &per);
    if (too_many_columns(binder, flow->count + 2 * stage->item_count, stage->span) || !good) {
        task_unknown(binder, stage, flow);
        return;
    }
    const struct aggregate_values *aggregates = binder->aggregates;
    if (!per.orders && bind_scattered(binder, stage, flow))
        return;
    binder->aggregates = aggregates;
    const size_t errors = binder->errors;
    if (per.orders)
        per_keep_leading(binder, stage, flow);
    if (binder->errors == errors)
        per_enter(binder, stage, flow);
    bind_body(binder, stage, flow);
    if (flow->group == 0)
        return; /* after an error */
    if (per.orders)
        leave_ordered(binder, stage, flow);
    else
        leave_in_place(binder, stage, &per, flow);
}
