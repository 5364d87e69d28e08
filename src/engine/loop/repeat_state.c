#include "engine/loop/repeat_state.h"

#include "engine/loop/loop_stages.h"

#include <string.h>

/* The type of a column of the state: that of computed values. */
static enum type state_type(const struct slot *slot)
{
    if (slot->logical.kind == LOGICAL_TEXT)
        return slot->type;
    return slot->logical.kind == LOGICAL_NUMBER ? type_of_kind(type_table[slot->type].kind) : TYPE_I64;
}

void repeat_enter(struct repeat *r, const struct flow *flow, const bool *nullable)
{
    struct binder *binder = r->binder;
    const size_t count = flow->count;
    struct task *task = task_reading(binder, "repeat", r->stage->span, flow);
    struct code *code = &task->code;
    struct slot *slots = arena_array(binder->arena, 2 * count + 1, sizeof *slots);
    value *values = arena_array(binder->arena, 2 * count + 1, sizeof *values);
    size_t hidden = 0;
    for (size_t k = 0; k < count; k++) {
        const struct slot *slot = &flow->columns[k];
        const struct term term = term_of_column(code, flow, k, r->stage->span);
        slots[k] = *slot;
        slots[k].type = state_type(slot);
        slots[k].validity = 0;
        values[k] = term.value;
        if (!slot->known || (slot->validity == 0 && !nullable[k]))
            continue;
        const size_t place = count + hidden++;
        slots[k].validity = place;
        slots[place] = (struct slot){
            .name = arena_printf(binder->arena, "%s present", slot->name), .type = TYPE_BOOL, .known = true};
        values[place] = term.present != NO_VALUE ? term.present : code_bool(code, true, r->stage->span);
    }
    r->entry = *flow;
    task_set_slots(binder, task, &r->entry, slots, values, count, hidden);
}

const char *repeat_type_noun(const struct slot *slot)
{
    static const char *const nouns[] = {
        [KIND_BOOL] = "a condition", [KIND_INT] = "an integer", [KIND_FLOAT] = "a float"};
    if (slot->logical.kind == LOGICAL_NUMBER)
        return nouns[type_table[slot->type].kind];
    return logical_type_name(slot->logical, slot->type);
}

static void wrong_type(const struct repeat *r, const struct slot *before, const struct slot *after)
{
    struct binder *binder = r->binder;
    const bool numbers = before->logical.kind == LOGICAL_NUMBER && after->logical.kind == LOGICAL_NUMBER;
    const char *hint = NULL, *name = name_written(before->name, binder->arena);
    if (numbers && type_table[after->type].kind == KIND_FLOAT)
        hint = arena_printf(binder->arena, "begin with a float, such as 0.0, or `derive %s = float(%s)` before `%s`",
                            name, name, text_of_word(binder->arena, r->stage));
    else if (numbers)
        hint = arena_printf(binder->arena, "`int(...)` makes an integer, `... != 0` a condition");
    else if (before->logical.kind == LOGICAL_TEXT && after->logical.kind == LOGICAL_TEXT) {
        bind_error(binder, r->stage->span, "number the texts before, and look them up behind",
                   "the text `%s` changes within `repeat`, where it can only be read", before->name);
        return;
    }
    bind_error(binder, r->stage->span, hint, "`%s` begins as %s and becomes %s", before->name, repeat_type_noun(before),
               repeat_type_noun(after));
}

static bool fits(const struct slot *before, const struct slot *after)
{
    if (!logical_is_same(&before->logical, &after->logical))
        return false;
    return before->logical.kind != LOGICAL_NUMBER || type_table[before->type].kind == type_table[after->type].kind;
}

static const struct slot *find_slot(const struct flow *flow, const char *name, size_t *place)
{
    for (*place = 0; *place < flow->count; ++*place) {
        if (strcmp(flow->columns[*place].name, name) == 0)
            return &flow->columns[*place];
    }
    return NULL;
}

static void wrong_columns(const struct repeat *r, const struct flow *flow)
{
    struct arena *arena = r->binder->arena;
    bind_error(r->binder, r->stage->span,
               "the columns after a round are those before it: `map E as NAME` names them, `pick` chooses them",
               "`%s` begins with the columns %s, but a round gives %s", text_of_word(arena, r->stage),
               text_of_columns(arena, &r->entry), text_of_columns(arena, flow));
}

bool repeat_check_round(const struct repeat *r, const struct flow *flow, bool *open)
{
    const struct flow *entry = &r->entry;
    bool good = true;
    size_t place;
    *open = flow->open || !flow->task || entry->open;
    for (size_t k = 0; k < entry->count && !*open && good; k++)
        good = find_slot(flow, entry->columns[k].name, &place);
    if (!*open && (!good || flow->count != entry->count)) {
        wrong_columns(r, flow);
        return false;
    }
    for (size_t k = 0; k < entry->count && !*open; k++) {
        const struct slot *before = &entry->columns[k], *after = find_slot(flow, before->name, &place);
        if (!before->known || !after->known) {
            *open = true;
        } else if (!fits(before, after)) {
            wrong_type(r, before, after);
            good = false;
        }
    }
    if (good && !*open && shape_is_set(&entry->shape) && !shape_equal(&flow->shape, &entry->shape)) {
        bind_error(r->binder, r->stage->span, "`shape` at the end of the round gives it back",
                   "the rows begin with a shape, which a round does not give");
        good = false;
    }
    return good && !*open;
}

bool repeat_find_nullable(const struct repeat *r, const struct flow *flow, bool *nullable)
{
    bool found = false;
    size_t place;
    for (size_t k = 0; k < r->entry.count; k++) {
        const struct slot *after = find_slot(flow, r->entry.columns[k].name, &place);
        if (after->validity == 0 || r->entry.columns[k].validity != 0)
            continue;
        nullable[k] = found = true;
    }
    return found;
}

/* Column `place` of the flow as column k of the state, and its validity; they have been checked. */
static void leave_column(const struct repeat *r, struct code *code, const struct flow *flow, size_t k, value *values)
{
    const struct slot *slot = &r->entry.columns[k];
    size_t place;
    (void)find_slot(flow, slot->name, &place);
    const struct term term = term_of_column(code, flow, place, r->stage->span);
    values[k] = term.value;
    if (slot->validity != 0)
        values[slot->validity] = term.present != NO_VALUE ? term.present : code_bool(code, true, r->stage->span);
}

void repeat_leave(const struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    struct task *task = task_reading(binder, "round", r->stage->span, flow);
    value *values = arena_array(binder->arena, r->loop->count + 1, sizeof *values);
    for (size_t k = 0; k < r->entry.count; k++)
        leave_column(r, &task->code, flow, k, values);
    task_set_slots(binder, task, flow, r->entry.columns, values, r->entry.count, r->entry.hidden);
}

void repeat_leave_masked(struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    const struct span span = r->stage->condition->span;
    const size_t count = r->loop->count;
    struct flow before;
    repeat_leave(r, flow);
    r->rows.after = flow->task;
    bind_rows_before(binder, &r->rounds, span, &before);
    struct task *task = task_new(binder, "while", span, NULL);
    task_reserve_inputs(task, 2 * count + 1, binder->arena);
    task_add_inputs(task, &before);
    struct scope scope = scope_of_stage(binder, task, &before, NULL);
    const value keep = bind_condition(&scope, r->stage->condition);
    r->rows.mask = task;
    r->rows.keep = keep;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        const struct input input = {
            .task = flow->task, .output = k, .type = r->entry.columns[k].type, .name = r->entry.columns[k].name};
        const value now = task_read(task, &input, span);
        const value was = code_input(&task->code, (int64_t)k, task->code.at[now].kind, span);
        values[k] = keep != NO_VALUE ? code_op(&task->code, OP_SELECT, keep, now, was, span) : now;
    }
    task->rows = before.rows;
    if (task->rows < 0)
        task->rows_from = before.task;
    task_set_slots(binder, task, flow, r->entry.columns, values, r->entry.count, r->entry.hidden);
}
