/* Joins whose right side's index does not fit memory: an operator divides both sides by their keys, and brings the
 * columns of the right along (match/match.h). */
#include "base/buffer_pool.h"
#include "engine/bind/facts.h"
#include "engine/formats/append_column.h"
#include "engine/join/join.h"

#include <string.h>

enum { INDEX_ROW_BYTES = 16 /* at least, about */ };

/* Bytes of a row of the right that lookups read anywhere: of its index, and of columns that memory does not hold. */
static int64_t looked_up_bytes(const struct join *join, struct buffer_pool *pool)
{
    int64_t bytes = INDEX_ROW_BYTES;
    for (size_t i = 0; i < join->added_count; i++) {
        const struct column *column = evaluated_column(join->right, join->added[i]);
        if (column && (column->mapping || buffer_pool_holds_spilled(pool, column->data)))
            bytes += (int64_t)type_table[column->store].size;
    }
    return bytes;
}

bool join_exceeds_memory(const struct join *join)
{
    const struct facts *facts = join->binder->facts;
    struct buffer_pool *pool = facts->workers ? facts->workers->pool : NULL;
    const struct relation *right = join->right->relation;
    if (!pool || !right || facts->remote || join->key_count == 0 || join->compared_count > 0 || join->kind == JOIN_ASOF)
        return false;
    const int64_t bytes = right->rows * looked_up_bytes(join, pool);
    return !buffer_pool_has(pool, bytes) && buffer_pool_takes(pool, bytes);
}

/* Adds what the operator reads of a key of the left; returns how many columns that are, one or two. */
static size_t add_left_key(const struct join *join, struct scope *scope, size_t key, struct slot *slots, value *values)
{
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    const size_t column = join->left_keys[key];
    const struct term term = term_of_column(code, &join->left, column, span);
    const struct logical_type *logical = &join->right->columns[join->right_keys[key]].logical;
    values[0] = match_key(scope, term, logical, span);
    slots[0] = (struct slot){.name = join->left.columns[column].name, .type = TYPE_I64, .known = true};
    if (code->at[values[0]].op == OP_INPUT) {
        slots[0] = join->left.columns[column];
        slots[0].validity = 0;
    }
    if (term.present == NO_VALUE)
        return 1;
    values[1] = term.present;
    slots[1] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
    return 2;
}

static size_t add_right(const struct join *join, struct task *task, struct column *column, const char *name)
{
    queue_hold(join->binder->queue, column_ref(column));
    const struct input input = {.column = column, .type = column->type, .name = name};
    return task_add_input(task, &input, join->binder->arena);
}

/* Column i of the right that comes along: those added, and in a full join the keys. */
static size_t brought_count(const struct join *join)
{
    return join->added_count + (join->kind == JOIN_FULL ? join->key_count : 0);
}

static size_t brought(const struct join *join, size_t i)
{
    return i < join->added_count ? join->added[i] : join->right_keys[i - join->added_count];
}

/* What the operator reads of the left: columns of the flow, two of a key where `present`. */
struct left_keys {
    const size_t *columns;
    const bool *present;
};

static struct task *add_match(const struct join *join, const struct left_keys *left, struct flow *flow)
{
    struct binder *binder = join->binder;
    struct match_operator *match = ARENA_NEW(binder->arena, struct match_operator, .kind = join->kind,
                                             .key_count = join->key_count, .source = join_source_text(join));
    struct task *task = operator_new(binder, "match", join->stage->span, flow, OPERATOR_MATCH,
                                     join->key_count * MATCH_KEY_INPUTS + 2 * brought_count(join));
    size_t *keys = task->column_op->keys, at = 0;
    for (size_t i = 0; i < join->key_count; i++, keys += MATCH_KEY_INPUTS) {
        struct column *column = evaluated_column(join->right, join->right_keys[i]);
        keys[MATCH_LEFT] = keys[MATCH_LEFT_PRESENT] = left->columns[at++];
        if (left->present[i])
            keys[MATCH_LEFT_PRESENT] = left->columns[at++];
        keys[MATCH_RIGHT] = keys[MATCH_RIGHT_PRESENT] =
            add_right(join, task, column, join->right->columns[join->right_keys[i]].name);
        if (column->validity)
            keys[MATCH_RIGHT_PRESENT] = add_right(join, task, column->validity, "present");
    }
    for (size_t i = 0; i < brought_count(join); i++) {
        struct column *column = evaluated_column(join->right, brought(join, i));
        if (!column)
            continue;
        keys[match->value_count++] = add_right(join, task, column, join->right->columns[brought(join, i)].name);
        if (column->validity)
            keys[match->value_count++] = add_right(join, task, column->validity, "present");
    }
    task->column_op->key_count = join->key_count * MATCH_KEY_INPUTS + match->value_count;
    task->column_op->match = match;
    return task;
}

/* Adds the operator, which reads the left's keys as they are, or as the task of the scope computes them. */
static struct task *read_left(const struct join *join, struct scope *scope, struct flow *flow)
{
    struct arena *arena = join->binder->arena;
    const size_t most = 2 * join->key_count + 1;
    struct slot *slots = arena_array(arena, most, sizeof *slots);
    value *values = arena_array(arena, most, sizeof *values);
    size_t *columns = arena_array(arena, most, sizeof *columns), count = 0;
    bool *present = arena_array(arena, most, sizeof *present), bare = true;
    for (size_t i = 0; i < join->key_count; i++) {
        const size_t added = add_left_key(join, scope, i, &slots[count], &values[count]);
        present[i] = added > 1;
        count += added;
    }
    for (size_t k = 0; k < count; k++) {
        const struct instr *instr = &scope->code->at[values[k]];
        bare = bare && instr->op == OP_INPUT && (size_t)instr->integer < flow->count + flow->hidden;
        columns[k] = (size_t)instr->integer;
    }
    if (bare) { /* nothing reads the task yet */
        queue_remove(join->binder->queue, scope->task);
    } else {
        task_set_slots(join->binder, scope->task, flow, slots, values, count, 0);
        for (size_t k = 0; k < count; k++)
            columns[k] = k;
    }
    const struct left_keys left = {columns, present};
    return add_match(join, &left, flow);
}

/* Ends the operator; returns the outputs of each column of the right, and of its validity. */
static size_t *set_outputs(const struct join *join, struct task *task, struct flow *flow)
{
    struct arena *arena = join->binder->arena;
    const struct match_operator *match = task->column_op->match;
    const size_t *inputs = &task->column_op->keys[match->key_count * MATCH_KEY_INPUTS];
    const size_t count = MATCH_COLUMNS + match->value_count;
    struct slot *slots = arena_array(arena, count, sizeof *slots);
    value *values = arena_array(arena, count, sizeof *values);
    size_t *places = arena_array(arena, 2 * join->right->count + 1, sizeof *places), at = MATCH_COLUMNS;
    slots[MATCH_ROW] = (struct slot){.name = "row", .type = TYPE_I64, .known = true};
    slots[MATCH_FOUND] = (struct slot){.name = "found", .type = TYPE_BOOL, .known = true};
    values[MATCH_ROW] = values[MATCH_FOUND] = task_input(task, task->column_op->keys[MATCH_LEFT]);
    for (size_t i = 0; i < brought_count(join); i++) {
        const struct column *column = evaluated_column(join->right, brought(join, i));
        if (!column)
            continue;
        places[2 * brought(join, i)] = at;
        slots[at] = join->right->columns[brought(join, i)];
        slots[at++].validity = 0;
        if (!column->validity)
            continue;
        places[2 * brought(join, i) + 1] = at;
        slots[at++] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
    }
    for (size_t k = MATCH_COLUMNS; k < count; k++)
        values[k] = task_input(task, inputs[k - MATCH_COLUMNS]);
    flow->rows = -1;
    task_set_slots(join->binder, task, flow, slots, values, count, 0);
    return places;
}

/* Column k of the left in a full join: in rows that only the right has, its key, or nothing. */
static struct term left_or_key(const struct join *join, struct scope *scope, size_t k, struct term left,
                               const size_t *places, value here)
{
    const struct span span = join->stage->span;
    const struct expr name = {.kind = EXPR_NAME, .span = span};
    struct code *code = scope->code;
    size_t key = 0;
    while (key < join->key_count && join->left_keys[key] != k)
        key++;
    struct term other = term_of(code_exact_int(code, 0, span));
    if (key == join->key_count) {
        other.present = code_bool(code, false, span);
        other.missing = true;
        return bind_choice(scope, here, left, &name, other, &name, "`full join`", span);
    }
    const size_t column = join->right_keys[key];
    const struct slot *right = &join->right->columns[column];
    other =
        term_of_type(code_input(code, (int64_t)places[2 * column], type_table[right->type].kind, span), right->logical);
    if (evaluated_column(join->right, column)->validity) {
        other.present = code_input(code, (int64_t)places[2 * column + 1], KIND_BOOL, span);
        other.settled = true;
    }
    struct column_type type = {join->slots[k].type, join->slots[k].logical};
    if (type_widen(&type, (struct column_type){right->type, right->logical}))
        join->slots[k].type = type.type;
    const struct term term = bind_choice(scope, here, left, &name, other, &name, "`full join`", span);
    if (term.logical.kind == LOGICAL_TEXT)
        join->slots[k].type = slot_of_term(scope, term).type;
    return term;
}

void join_in_parts(struct join *join, struct scope *scope, struct flow *flow)
{
    struct binder *binder = join->binder;
    struct arena *arena = binder->arena;
    const struct span span = join->stage->span;
    struct flow rows = join->left;
    struct task *match = read_left(join, scope, &rows);
    size_t *places = set_outputs(join, match, &rows);
    struct task *task = task_of_stage(binder, join->stage, &rows);
    struct code *code = &task->code;
    const value row = code_input(code, MATCH_ROW, KIND_INT, span);
    struct match place = {.row = row, .found = NO_VALUE, .inputs = places};
    const value zero = code_exact_int(code, 0, span), here = code_binary(code, OP_LE, zero, row, span);
    struct scope result = scope_of_stage(binder, task, &rows, NULL);
    if (join_keeps_left(join))
        place.found = code_input(code, MATCH_FOUND, KIND_BOOL, span);
    struct term *left = arena_array(arena, join->left.count + 1, sizeof *left);
    for (size_t k = 0; k < join->left.count; k++) {
        left[k] = join->left.columns[k].known ? flow_element(task, &join->left, k, row, join->kind != JOIN_FULL, arena)
                                              : unknown_term;
        if (join->kind == JOIN_FULL)
            left[k] = left_or_key(join, &result, k, left[k], places, here);
    }
    task->stages[0].how = arena_printf(
        arena, "on %s in parts on the disk, of %s",
        text_of_span(arena, span_join(join->stage->items[0].span, join->stage->items[join->stage->item_count - 1].span),
                     40),
        join_source_text(join));
    join_set_outputs(join, task, left, place, flow);
    flow->rows = -1;
}
