/* Joins that a server runs: an operator reads the columns of both sides, and a task after it has the terms. */
#include "engine/join/join.h"

#include "engine/formats/append_column.h"

/* The operator's input that is a column of the source, or the hidden one of its validity. */
static size_t add_source_input(const struct join *join, struct task *task, size_t column, enum join_side side)
{
    const struct slot *slot = &join->unevaluated.columns[column];
    const struct input input = {.task = join->unevaluated.task,
                                .output = column,
                                .type = side == JOIN_SOURCE ? slot->type : TYPE_BOOL,
                                .name = slot->name,
                                .side = side};
    return task_add_input(task, &input, join->binder->arena);
}

/* The inputs of a key: its value, and whether it is present. */
static void set_keys(const struct join *join, struct task *task)
{
    for (size_t i = 0; i < join->key_count; i++) {
        size_t *keys = task->column_op->keys + 4 * i;
        const struct slot *right = &join->unevaluated.columns[join->right_keys[i]];
        keys[0] = join->left_keys[i];
        keys[1] = join->left.columns[keys[0]].validity ? join->left.columns[keys[0]].validity : keys[0];
        keys[2] = add_source_input(join, task, join->right_keys[i], JOIN_SOURCE);
        keys[3] = right->validity ? add_source_input(join, task, right->validity, JOIN_SOURCE) : keys[2];
    }
}

/* Makes every input an output. */
static void pass_all(const struct join *join, struct task *task, struct flow *flow)
{
    struct slot *slots = arena_array(join->binder->arena, task->input_count, sizeof *slots);
    value *values = arena_array(join->binder->arena, task->input_count, sizeof *values);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        slots[k] = (struct slot){.name = input->name, .type = input->type, .known = true};
        const bool tells = input->side == JOIN_FOUND || input->side == JOIN_HERE;
        slots[k].logical = tells ? (struct logical_type){0} : input_logical(input);
        values[k] = input_value(&task->code, (int64_t)k, input, task->span);
    }
    *flow = (struct flow){.rows = -1};
    task_set_slots(join->binder, task, flow, slots, values, task->input_count, 0);
}

/* A column of the source, where input `place` is its value and `valid`, if not 0, whether there is one. */
static struct term source_term(const struct join *join, struct code *code, size_t column, size_t place, size_t valid,
                               value found)
{
    const struct span span = join->stage->span;
    const struct slot *slot = &join->unevaluated.columns[column];
    struct term term = term_of_type(code_input(code, (int64_t)place, type_table[slot->type].kind, span), slot->logical);
    if (valid)
        term.present = code_input(code, (int64_t)valid, KIND_BOOL, span);
    if (found != NO_VALUE)
        term.present = present_both(code, found, term.present, span);
    term.settled = true; /* the server gives 0 where nothing is found */
    return term;
}

/* Column k of the left in a full join: in rows that only the source has, its key, or nothing. `places` are the
 * operator's inputs of the keys, four of each. */
static struct term left_or_key(const struct join *join, struct scope *scope, size_t k, struct term left,
                               const size_t *places, value here, struct slot *slot)
{
    const struct span span = join->stage->span;
    const struct expr name = {.kind = EXPR_NAME, .span = span};
    size_t key = 0;
    while (key < join->key_count && join->left_keys[key] != k)
        key++;
    struct term other = term_of(code_exact_int(scope->code, 0, span));
    if (key == join->key_count) {
        other.present = code_bool(scope->code, false, span);
        other.missing = true;
    } else {
        const size_t *at = places + 4 * key;
        const struct slot *right = &join->unevaluated.columns[join->right_keys[key]];
        struct column_type type = {slot->type, slot->logical};
        if (type_widen(&type, (struct column_type){right->type, right->logical}))
            slot->type = type.type;
        other = source_term(join, scope->code, join->right_keys[key], at[2], at[3] == at[2] ? 0 : at[3], NO_VALUE);
    }
    return bind_choice(scope, here, left, &name, other, &name, "`full join`", span);
}

void join_for_server(struct join *join, struct scope *scope, struct flow *flow)
{
    struct binder *binder = join->binder;
    const struct span span = join->stage->span;
    const bool takes = join_takes_columns(join), keeps = join_keeps_left(join);
    struct flow left = join->left, sides;
    task_pass_inputs(binder, scope->task, &left);
    struct task *task = operator_new(binder, "join", span, &left, OPERATOR_JOIN, 4 * join->key_count);
    task->column_op->join = join->kind;
    task->column_op->compares = join->compared_count > 0;
    size_t *places = arena_array(binder->arena, 2 * join->added_count + 1, sizeof *places), found = 0, here = 0;
    set_keys(join, task);
    for (size_t i = 0; i < join->added_count; i++) {
        const size_t validity = join->unevaluated.columns[join->added[i]].validity;
        places[2 * i] = add_source_input(join, task, join->added[i], JOIN_SOURCE);
        places[2 * i + 1] = validity ? add_source_input(join, task, validity, JOIN_SOURCE) : 0;
    }
    if (keeps)
        found = add_source_input(join, task, join->right_keys[0], JOIN_FOUND);
    if (join->kind == JOIN_FULL)
        here = add_source_input(join, task, join->right_keys[0], JOIN_HERE);
    pass_all(join, task, &sides);

    struct task *after = task_of_stage(binder, join->stage, &sides);
    const size_t count = join->left.count + join->added_count;
    struct term *terms = arena_array(binder->arena, count + 1, sizeof *terms);
    struct scope after_scope = scope_of_stage(binder, after, &sides, NULL);
    const value matched = keeps ? code_input(&after->code, (int64_t)found, KIND_BOOL, span) : NO_VALUE;
    for (size_t k = 0; k < join->left.count; k++) {
        terms[k] = term_of_column(&after->code, &left, k, span);
        terms[k].settled = true;
        if (join->kind == JOIN_FULL)
            terms[k] = left_or_key(join, &after_scope, k, terms[k], task->column_op->keys,
                                   code_input(&after->code, (int64_t)here, KIND_BOOL, span), &join->slots[k]);
    }
    for (size_t i = 0; i < join->added_count; i++)
        terms[join->left.count + i] =
            source_term(join, &after->code, join->added[i], places[2 * i], places[2 * i + 1], matched);
    *flow = sides;
    task_set_outputs(binder, after, flow, takes ? join->slots : left.columns, terms, count);
}
