/* Rows at other places: elements of a flow, and rows repeated. */
#include "engine/lower/lower.h"

struct term flow_element(struct task *task, const struct flow *flow, size_t k, value row, bool inside,
                         struct arena *arena)
{
    const struct slot *slot = &flow->columns[k];
    struct input input = flow_whole(flow, k);
    struct term term = term_of_type(task_element(task, &input, row, inside, arena), slot->logical);
    if (slot->validity == 0)
        return term;
    input = (struct input){
        .task = flow->task, .output = slot->validity, .type = TYPE_BOOL, .name = "present", .whole = true};
    term.present = task_element(task, &input, row, inside, arena);
    term.settled = true;
    return term;
}

void expand_rows(struct binder *binder, const struct stage *stage, struct task *task, const struct places *places,
                 struct flow *flow)
{
    static const char *const names[] = {"begin", "count", "limit", "row", "match"};
    const value values[] = {places->begin, places->count, places->limit};
    const size_t keys = places->above.elements ? 3 : 2;
    struct slot *slots = arena_array(binder->arena, 5, sizeof *slots);
    for (size_t k = 0; k < 5; k++)
        slots[k] = (struct slot){.name = names[k], .type = TYPE_I64, .known = true};
    task_set_slots(binder, task, flow, slots, values, keys, 0);
    struct task *expand = operator_new(binder, "expand", stage->span, flow, OPERATOR_EXPAND, keys);
    value inputs[3];
    for (size_t k = 0; k < keys; k++) {
        expand->column_op->keys[k] = k;
        inputs[k] = code_input(&expand->code, (int64_t)k, KIND_INT, stage->span);
    }
    expand->column_op->into = places->most;
    expand->column_op->above = places->above;
    flow->rows = -1;
    task_set_slots(binder, expand, flow, &slots[3], inputs, 2, 0);
}
