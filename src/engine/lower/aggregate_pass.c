#include "engine/lower/aggregate_pass.h"

bool aggregation_is_whole(const struct aggregation *of)
{
    return of->key_count == 0 && !of->by_ids;
}

void pass_add_key(struct pass *pass, size_t operand)
{
    *ARENA_PUSH(pass->of->binder->arena, pass->key_operands, pass->key_columns, pass->key_capacity) = operand;
}

void pass_begin(struct pass *pass, const struct aggregation *of)
{
    struct arena *arena = of->binder->arena;
    *pass = (struct pass){.of = of};
    operands_begin(of->binder, of->stage, of->flow, &pass->operands);
    pass->keys = arena_array(arena, of->key_count + 1, sizeof *pass->keys);
    for (size_t i = 0; i < of->key_count; i++) {
        struct key_operands *key = &pass->keys[i];
        *key = operands_add_key(&pass->operands, &of->keys[i]);
        if (key->nullable)
            pass_add_key(pass, key->missing);
        pass_add_key(pass, key->value);
    }
    if (of->by_ids)
        pass_group_by(pass, of->ids);
}

void pass_group_by(struct pass *pass, size_t column)
{
    const struct slot *slot = &pass->of->flow->columns[column];
    const enum kind kind = type_table[slot->type].kind;
    const value key = code_input(pass->operands.scope.code, (int64_t)column, kind, pass->of->stage->span);
    pass_add_key(pass, operands_add(&pass->operands, slot->known ? key : NO_VALUE, *slot));
}

static struct partial *new_partial(struct pass *pass, enum aggregate_kind kind, struct slot slot, struct span span)
{
    struct partial *partial = ARENA_PUSH(pass->of->binder->arena, pass->partials, pass->count, pass->capacity);
    *partial = (struct partial){.slot = slot};
    partial->what =
        (struct aggregate){.kind = kind, .value = NO_VALUE, .other = NO_VALUE, .where = NO_VALUE, .span = span};
    partial->what.name = slot.name;
    return partial;
}

size_t pass_add(struct pass *pass, enum aggregate_kind kind, value v, struct slot slot, struct span span)
{
    struct partial *partial = new_partial(pass, kind, slot, span);
    const struct code *code = pass->operands.scope.code;
    const enum type type = v != NO_VALUE ? type_of_kind(code->at[v].kind) : TYPE_I64;
    partial->has_values = true;
    partial->operand = operands_add(&pass->operands, v, (struct slot){.type = type});
    return pass->count - 1;
}

size_t pass_add_plain(struct pass *pass, enum aggregate_kind kind, value v, struct span span)
{
    const struct code *code = pass->operands.scope.code;
    struct slot slot = {.name = "part", .type = v != NO_VALUE ? type_of_kind(code->at[v].kind) : TYPE_I64};
    slot.known = v != NO_VALUE;
    return pass_add(pass, kind, v, slot, span);
}

size_t pass_add_count(struct pass *pass, value where, struct span span)
{
    const struct slot slot = {.name = "present", .type = TYPE_I64, .known = true};
    if (where == NO_VALUE) {
        new_partial(pass, AGG_COUNT, slot, span);
        return pass->count - 1;
    }
    const value counted = code_unary(pass->operands.scope.code, OP_BOOL_TO_INT, where, span);
    return pass_add(pass, AGG_SUM, counted, slot, span);
}

/* Only the rows where the bool is true count. */
static void set_where(struct pass *pass, size_t number, value where)
{
    struct partial *partial = &pass->partials[number];
    partial->has_where = where != NO_VALUE;
    if (partial->has_where)
        partial->where = operands_add(&pass->operands, where, (struct slot){.type = TYPE_BOOL});
}

static void set_other(struct pass *pass, size_t number, value other)
{
    const struct code *code = pass->operands.scope.code;
    const enum type type = other != NO_VALUE ? type_of_kind(code->at[other].kind) : TYPE_I64;
    pass->partials[number].has_other = true;
    pass->partials[number].other = operands_add(&pass->operands, other, (struct slot){.type = type});
}

size_t pass_add_quantile(struct pass *pass, value v, value where, double quantile, bool lower, struct slot slot,
                         struct span span)
{
    const size_t number = pass_add(pass, AGG_QUANTILE, v, slot, span);
    pass->partials[number].what.quantile = quantile;
    pass->partials[number].what.lower = lower;
    set_where(pass, number, where);
    return number;
}

size_t pass_add_distinct(struct pass *pass, value v, value where, struct slot slot, struct span span)
{
    const size_t number = pass_add(pass, AGG_DISTINCT, v, slot, span);
    set_where(pass, number, where);
    return number;
}

size_t pass_add_element(struct pass *pass, enum aggregate_kind kind, value v, value other, value where,
                        struct slot slot, struct span span)
{
    const size_t number = pass->count;
    struct partial *partial = new_partial(pass, kind, slot, span);
    partial->has_values = true;
    partial->operand = operands_add(&pass->operands, v, slot);
    set_where(pass, number, where);
    if (other != NO_VALUE)
        set_other(pass, number, other);
    return number;
}

size_t pass_add_moment(struct pass *pass, enum aggregate_kind kind, value x, value y, value where, struct slot slot,
                       struct span span)
{
    const size_t number = pass_add(pass, kind, x, slot, span);
    set_where(pass, number, where);
    if (kind != AGG_CORR)
        return number;
    set_other(pass, number, y);
    return number;
}

/* The slots of the keys, then of the partials. */
static struct slot *slots_of(const struct pass *pass)
{
    const struct aggregation *of = pass->of;
    struct slot *slots = arena_array(of->binder->arena, pass->key_columns + pass->count + 1, sizeof *slots);
    for (size_t i = 0; i < pass->key_columns; i++)
        slots[i] = pass->operands.slots[pass->key_operands[i]];
    for (size_t i = 0, column = 0; i < of->key_count; i++) {
        column += pass->keys[i].nullable;
        slots[column++] = pass->keys[i].slot;
    }
    for (size_t i = 0; i < pass->count; i++)
        slots[pass->key_columns + i] = pass->partials[i].slot;
    return slots;
}

/* An aggregating task of what would be operands: one pass over the rows, which stores nothing. */
static void end_whole(struct pass *pass)
{
    struct arena *arena = pass->of->binder->arena;
    struct task *task = pass->operands.task;
    struct slot *slots = slots_of(pass);
    task->stages[0].name = "group";
    task->sink = SINK_AGGREGATE;
    task->aggregates = arena_array(arena, pass->count + 1, sizeof *task->aggregates);
    task->aggregate_count = pass->count;
    value *values = arena_array(arena, pass->count + 1, sizeof *values);
    for (size_t i = 0; i < pass->count; i++) {
        const struct partial *partial = &pass->partials[i];
        values[i] = partial->has_values ? pass->operands.values[partial->operand] : NO_VALUE;
        task->aggregates[i] = partial->what;
        task->aggregates[i].value = values[i];
        if (values[i] != NO_VALUE && (partial->what.kind == AGG_SUM || partial->what.kind == AGG_PRODUCT))
            task->code.at[values[i]].fallible = true;
    }
    name_columns(pass->of->binder, slots, pass->count);
    task_set_slots(pass->of->binder, task, &pass->flow, slots, values, pass->count, 0);
    pass->flow.rows = 1;
}

static enum key_role *roles_of(const struct pass *pass)
{
    const struct aggregation *of = pass->of;
    enum key_role *roles = arena_array(of->binder->arena, pass->key_columns + 1, sizeof *roles);
    size_t column = 0;
    for (size_t i = 0; i < of->key_count; i++, column++) {
        if (pass->keys[i].nullable)
            roles[column++] = ROLE_MISSING;
    }
    if (of->by_ids)
        roles[column] = ROLE_NUMBER;
    return roles;
}

/* A group operator. A key's value is its input; an aggregate's value only says what may fail. */
static void end_groups(struct pass *pass)
{
    struct binder *binder = pass->of->binder;
    struct arena *arena = binder->arena;
    size_t *inputs = arena_array(arena, pass->operands.count + 1, sizeof *inputs);
    struct slot *slots = slots_of(pass);
    struct task *task = operands_end(&pass->operands, "group", OPERATOR_GROUP, pass->key_columns, inputs);
    const size_t count = pass->key_columns + pass->count;
    value *values = arena_array(arena, count + 1, sizeof *values);
    task->column_op->roles = roles_of(pass);
    for (size_t i = 0; i < pass->key_columns; i++) {
        task->column_op->keys[i] = inputs[pass->key_operands[i]];
        values[i] = task_input(task, task->column_op->keys[i]);
    }
    task->aggregates = arena_array(arena, pass->count + 1, sizeof *task->aggregates);
    task->aggregate_count = pass->count;
    for (size_t i = 0; i < pass->count; i++) {
        const struct partial *partial = &pass->partials[i];
        struct aggregate *aggregate = &task->aggregates[i];
        *aggregate = partial->what;
        values[pass->key_columns + i] = pass->key_columns > 0 ? values[0] : task_input(task, 0);
        if (partial->has_where)
            aggregate->where = task_input(task, inputs[partial->where]);
        if (partial->has_other)
            aggregate->other = task_input(task, inputs[partial->other]);
        if (!partial->has_values)
            continue;
        aggregate->value = task_input(task, inputs[partial->operand]);
        task->code.at[aggregate->value].fallible = true;
        values[pass->key_columns + i] = aggregate->value;
    }
    name_columns(binder, slots, count);
    task_set_slots(binder, task, &pass->flow, slots, values, count, 0);
    pass->flow.rows = pass->key_columns > 0 ? -1 : 1;
}

void pass_end(struct pass *pass)
{
    bool operands = false;
    for (size_t i = 0; i < pass->count; i++)
        operands = operands || aggregate_table[pass->partials[i].what.kind].operands;
    if (pass->key_columns == 0 && !operands)
        end_whole(pass);
    else
        end_groups(pass);
}

struct term reader_partial(struct reader *reader, const struct pass *pass, size_t partial, struct span span)
{
    const size_t column = pass->key_columns + partial;
    if (pass->flow.task == reader->flow->task)
        return term_of_column(reader->scope.code, &pass->flow, column, span);
    const value row = aggregation_is_whole(reader->of) ? code_exact_int(reader->scope.code, 0, span)
                                                       : code_row(reader->scope.code, span);
    return term_at(&reader->scope, &pass->flow, column, row, span);
}

value reader_value(struct reader *reader, const struct pass *pass, size_t partial, struct span span)
{
    return reader_partial(reader, pass, partial, span).value;
}
