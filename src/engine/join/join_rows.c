/* The rows of a join: where they are in the right, and the columns there. */
#include "engine/join/join.h"

#include <string.h>

/* Adds a column of the right as a whole input; returns its number. */
static size_t add_right_input(const struct join *join, struct task *task, size_t column, bool validity)
{
    const struct slot *slot = &join->right->columns[column];
    struct input input = {.whole = true, .name = validity ? "present" : slot->name};
    struct column *data = join->right->relation ? evaluated_column(join->right, column) : NULL;
    if (!join->right->relation) { /* which never runs */
        input.task = join->unevaluated.task;
        input.output = validity ? slot->validity : column;
    } else {
        input.column = validity ? data->validity : data;
        queue_hold(join->binder->queue, column_ref(input.column));
    }
    input.type = validity ? TYPE_BOOL : slot->type;
    return task_add_input(task, &input, join->binder->arena);
}

/* Where something is found. As long as the column is not evaluated this is a value of its own, so that what tests the
 * validity of another column does not need this one. */
static value own_validity(const struct join *join, struct code *code, size_t column, struct match place)
{
    const struct span span = join->stage->span;
    if (place.found == NO_VALUE || (join->right->relation && join->right->evaluated[column]))
        return place.found;
    const value number = code_exact_int(code, (int64_t)column, span);
    const value always = code_binary(code, OP_LE, code_binary(code, OP_MIN, place.row, number, span), number, span);
    return code_binary(code, OP_AND, place.found, always, span);
}

/* A column of the right, or its validity, at the place; or what an operator has brought along of it. */
static value right_value(const struct join *join, struct task *task, size_t column, bool validity, struct match place)
{
    const enum kind kind = validity ? KIND_BOOL : type_table[join->right->columns[column].type].kind;
    const struct span span = join->stage->span;
    if (place.inputs)
        return code_input(&task->code, (int64_t)place.inputs[2 * column + validity], kind, span);
    const size_t number = add_right_input(join, task, column, validity);
    return code_lookup(&task->code, (int64_t)number, kind, place.row, span);
}

/* A column of the right at the place. */
static struct term right_term(const struct join *join, struct task *task, size_t column, struct match place)
{
    const struct slot *slot = &join->right->columns[column];
    const struct relation *relation = join->right->relation;
    const struct span span = join->stage->span;
    struct code *code = &task->code;
    const enum kind kind = type_table[slot->type].kind;
    if (!slot->known)
        return unknown_term;
    if (relation && (relation->rows == 0 || !join->right->evaluated[column])) {
        /* Nothing is found, or nothing reads it. */
        const value zero = kind == KIND_FLOAT  ? code_float(code, 0, span)
                           : kind == KIND_BOOL ? code_bool(code, false, span)
                                               : code_exact_int(code, 0, span);
        struct term term = term_of_type(zero, slot->logical);
        if (slot->logical.dictionary && join->right->evaluated[column]) /* no input has the column */
            queue_hold_dictionary(join->binder->queue, dictionary_ref(slot->logical.dictionary));
        term.present = own_validity(join, code, column, place);
        term.settled = true;
        return term;
    }
    const bool nullable = relation ? !!evaluated_column(join->right, column)->validity : slot->validity != 0;
    struct term term = term_of_type(right_value(join, task, column, false, place), slot->logical);
    if (nullable) {
        term.present = right_value(join, task, column, true, place);
        term.settled = true;
    }
    if (place.found != NO_VALUE) {
        term.present = present_both(code, own_validity(join, code, column, place), term.present, span);
        term.settled = false;
    }
    return term;
}

/* Sets the outputs of the task: these columns of the left, and those of the right at the place. */
void join_set_outputs(struct join *join, struct task *task, const struct term *left, struct match place,
                      struct flow *flow)
{
    const size_t count = join->left.count + join->added_count;
    struct arena *arena = join->binder->arena;
    struct term *terms = arena_array(arena, count + 1, sizeof *terms);
    struct evaluated *right = join->right;
    memcpy(terms, left, join->left.count * sizeof *terms);
    right->outputs = arena_array(arena, right->count + 1, sizeof *right->outputs);
    memset(right->outputs, 0xff, right->count * sizeof *right->outputs);
    for (size_t i = 0; i < join->added_count; i++) {
        right->outputs[join->added[i]] = join->left.count + i;
        terms[join->left.count + i] = right_term(join, task, join->added[i], place);
    }
    task_set_outputs(join->binder, task, flow, join->slots, terms, count);
    right->reader = task;
}

/* The terms of the left's columns, which are the inputs of a task. */
struct term *join_left_terms(const struct join *join, struct code *code)
{
    struct term *terms = arena_array(join->binder->arena, join->left.count + 1, sizeof *terms);
    for (size_t k = 0; k < join->left.count; k++)
        terms[k] = term_of_column(code, &join->left, k, join->stage->span);
    return terms;
}

/* Where the rows of the right come from, for explain. */
static const char *rows_found(const struct join *join)
{
    const struct join_index *index = join->right->index;
    if (join->kind == JOIN_ASOF)
        return arena_printf(join->binder->arena, ", %s", join_asof_row(join));
    if (!join_takes_columns(join))
        return "";
    if (join->compared_count == 2 && !index->second.ascending)
        return ", rows found by maxima";
    const bool expands = join->compared_count > 0 ? !join_is_disjoint(join) : index->doubles > 0;
    return expands ? ", rows expanded" : ", a gather";
}

/* Tells explain how the rows are found. */
static void describe_join(const struct join *join, struct task *task)
{
    static const char *const how[] = {[JOIN_DENSE] = "by address",
                                      [JOIN_RANKED] = "by rank",
                                      [JOIN_SEARCHED] = "by address and a search",
                                      [JOIN_SPARSE] = "by perfect hash"};
    const struct stage *stage = join->stage;
    struct arena *arena = join->binder->arena;
    const char *source = join_source_text(join);
    if (join->key_count == 0) {
        task->stages[0].how = arena_printf(arena, "with each row of %s", source);
        return;
    }
    const struct span keys = span_join(stage->items[0].span, stage->items[stage->item_count - 1].span);
    const bool searched = join->compared_count > 0;
    task->stages[0].how = arena_printf(arena, "on %s %s%s%s in %s%s", text_of_span(arena, keys, 40),
                                       searched && join->equal_count == 0 ? "" : how[join->right->index->method],
                                       searched && join->equal_count > 0 ? " and " : "", searched ? "by search" : "",
                                       source, rows_found(join));
}

/* The keys of the left, and the logical types of those of the right. */
struct keys {
    struct term *terms;
    struct logical_type *logical;
};

static struct keys keys_of(const struct join *join, struct scope *scope)
{
    struct arena *arena = join->binder->arena;
    const struct keys keys = {arena_array(arena, join->key_count, sizeof *keys.terms),
                              arena_array(arena, join->key_count, sizeof *keys.logical)};
    for (size_t i = 0; i < join->equal_count; i++) {
        keys.terms[i] = term_of_column(scope->code, &join->left, join->left_keys[i], join->stage->span);
        keys.logical[i] = join->right->columns[join->right_keys[i]].logical;
    }
    describe_join(join, scope->task);
    return keys;
}

value join_index_id(const struct join *join, struct scope *scope)
{
    const struct keys keys = keys_of(join, scope);
    return match_id(scope, join->right->index, keys.terms, keys.logical, join->stage->span);
}

/* Where every id has a row: a filter by `found` comes before the id is computed. */
static struct match ranked_place(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    const struct keys keys = keys_of(join, scope);
    struct match match = {0};
    const value id = match_place(scope, index, keys.terms, keys.logical, &match.found, span);
    match.row = code_binary(scope->code, OP_MIN, id, code_int(scope->code, index->ids - 1, span), span);
    if (!index->in_order)
        match.row = match_table(scope, index->row_of, KIND_INT, match.row, "rows", span);
    return match;
}

/* The row of the right for each of the left, where there is at most one. */
static struct match single_place(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    if (index->method == JOIN_RANKED)
        return ranked_place(join, scope);
    value id = join_index_id(join, scope), last = code_int(code, index->rows - 1, span);
    if (index->in_order)
        return (struct match){.row = code_binary(code, OP_MIN, id, last, span),
                              .found = code_binary(code, OP_LE, id, last, span)};
    if (index->method == JOIN_SEARCHED) { /* every id has a row */
        last = code_int(code, index->ids - 1, span);
        const value place = code_binary(code, OP_MIN, id, last, span);
        return (struct match){.row = match_table(scope, index->row_of, KIND_INT, place, "rows", span),
                              .found = code_binary(code, OP_LE, id, last, span)};
    }
    const value zero = code_exact_int(code, 0, span);
    const value row = match_table(scope, index->row_of, KIND_INT, id, "rows", span);
    return (struct match){.row = code_binary(code, OP_MAX, row, zero, span),
                          .found = code_binary(code, OP_LE, zero, row, span)};
}

/* In the first binding: some place. */
struct match join_any_place(const struct join *join, struct scope *scope)
{
    const struct span span = join->stage->span;
    const value row = code_row(scope->code, span);
    return (struct match){.row = row,
                          .found = code_binary(scope->code, OP_EQ, row, code_int(scope->code, 0, span), span)};
}

void join_keep(const struct join *join, struct scope *scope, value found, struct flow *flow)
{
    if (join->kind == JOIN_ANTI)
        found = code_binary(scope->code, OP_NOT, found, NO_VALUE, join->stage->span);
    task_filter(join->binder, scope->task, found, scope->task->span);
    flow->rows = -1;
    task_pass_inputs(join->binder, scope->task, flow);
}

void join_keep_matching(const struct join *join, struct scope *scope, struct flow *flow)
{
    const struct span span = join->stage->span;
    value found = join_any_place(join, scope).found;
    if (join->right->relation) {
        const struct keys keys = keys_of(join, scope);
        found = match_member(scope, join->right->index, keys.terms, keys.logical, span);
    }
    join_keep(join, scope, found, flow);
}

void join_single(struct join *join, struct scope *scope, struct flow *flow)
{
    join_gather(join, scope, join->right->relation ? single_place(join, scope) : join_any_place(join, scope), flow);
}

void join_gather(struct join *join, struct scope *scope, struct match place, struct flow *flow)
{
    struct task *task = scope->task;
    const struct term *left = join_left_terms(join, &task->code);
    if (join->kind == JOIN_INNER || join->kind == JOIN_CROSS) {
        task_filter(join->binder, task, place.found, task->span);
        place.found = NO_VALUE;
        flow->rows = -1;
    }
    join_set_outputs(join, task, left, place, flow);
}

void join_expanded(struct join *join, struct scope *scope, struct flow *flow)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    const value one = code_exact_int(code, 1, span);
    const value id = join_index_id(join, scope);
    const value begin = match_table(scope, index->starts, KIND_INT, id, "starts", span);
    const value end =
        match_table(scope, index->starts, KIND_INT, code_binary(code, OP_ADD, id, one, span), "starts", span);
    const struct places places = {
        .begin = begin, .count = code_binary(code, OP_SUB, end, begin, span), .most = index->rows};
    join_expand(join, scope, &places, flow);
}

/* A row of the left without any has one that is nowhere. */
static struct places keep_left(const struct join *join, struct scope *scope, const struct places *places)
{
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    struct places kept = *places;
    if (!join_keeps_left(join) || places->above.elements)
        return kept;
    const value none = code_with(code, OP_EQ, places->count, 0, span);
    kept.begin = code_op(code, OP_SELECT, none, code_exact_int(code, -1, span), places->begin, span);
    kept.count = code_with(code, OP_MAX, places->count, 1, span);
    return kept;
}

void join_expand(struct join *join, struct scope *scope, const struct places *places, struct flow *flow)
{
    const struct span span = join->stage->span;
    struct binder *binder = join->binder;
    const struct join_index *index = join->right->index;
    const struct places kept = keep_left(join, scope, places);
    struct flow rows = join->left;
    expand_rows(binder, join->stage, scope->task, &kept, &rows);
    struct task *task = task_of_stage(binder, join->stage, &rows);
    struct scope expanded = {.binder = binder, .code = &task->code, .task = task};
    struct code *code = &task->code;
    value row = code_input(code, 0, KIND_INT, span), at = code_input(code, 1, KIND_INT, span);
    const value zero = code_exact_int(code, 0, span);
    struct match place = {.row = at, .found = NO_VALUE};
    if (join_keeps_left(join)) {
        place.found = code_binary(code, OP_LE, zero, at, span);
        place.row = code_binary(code, OP_MAX, at, zero, span);
    }
    if (!index->in_order)
        place.row = match_table(&expanded, index->row_of, KIND_INT, place.row, "rows", span);
    struct term *left = arena_array(binder->arena, join->left.count + 1, sizeof *left);
    for (size_t k = 0; k < join->left.count; k++)
        left[k] =
            join->left.columns[k].known ? flow_element(task, &join->left, k, row, true, binder->arena) : unknown_term;
    flow->rows = -1;
    join_set_outputs(join, task, left, place, flow);
}
