/* Entering `per`: the rows in the order of their groups, or in their places with the number of each one's group. */
#include "base/buffer_pool.h"
#include "engine/bind/facts.h"
#include "engine/lower/aggregates.h"
#include "engine/per/bind_per.h"

#include <string.h>

enum { PLACE_BYTES = 12 /* of a row's place and group */ };

/* Columns under construction: visible ones, then hidden ones. */
struct columns {
    struct slot *slots;
    value *values;
    size_t count, hidden;
};

static void add_slot(struct columns *columns, bool hidden, struct slot slot, value v)
{
    const size_t place = columns->count + columns->hidden;
    columns->slots[place] = slot;
    columns->values[place] = v;
    if (hidden)
        columns->hidden++;
    else
        columns->count++;
}

/* Adds an input that is read at each row's place. */
value per_input_at(struct task *task, struct input input, value place, struct arena *arena)
{
    input.whole = true;
    return task_element(task, &input, place, true, arena);
}

value per_row_input(struct task *task, struct task *from, size_t k)
{
    const struct input input = input_of_output(from, k);
    return task_read(task, &input, task->span);
}

void per_partition_outputs(struct binder *binder, struct task *task, struct flow *flow)
{
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = (struct slot){.name = "place", .type = TYPE_I64, .known = true};
    slots[1] = (struct slot){.name = "group", .type = TYPE_I64, .known = true};
    const value placeholder = task_input(task, 0);
    task_set_slots(binder, task, flow, slots, (value[]){placeholder, placeholder}, 2, 0);
}

/* Where columns are read in the order of the groups. */
struct ordered {
    struct task *rows; /* the operator that gives each row's place, and its group */
    size_t *inputs;    /* of the operands: inputs of that */
    value place;
    /* Rows that memory does not hold are moved by a sort: reading them at their places would be at random on the disk.
     */
    struct task *sorted; /* or NULL. It has the operands, */
    size_t *columns;     /* of which these are the flow's columns, */
    size_t number;       /* and this the row's number before */
};

/* Sets the keys of an operator; `inputs` are those of the operands, NULL: these themselves. */
static void set_keys(struct task *task, const struct key_operands *keys, size_t count, const size_t *inputs)
{
    size_t key_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].nullable)
            task->column_op->keys[key_count++] = inputs ? inputs[keys[i].missing] : keys[i].missing;
        task->column_op->keys[key_count++] = inputs ? inputs[keys[i].value] : keys[i].value;
    }
    task->column_op->key_count = key_count;
}

/* The most rows that can come, as far as is known before the pipeline runs; -1: unknown. */
static int64_t most_rows(const struct flow *flow)
{
    int64_t most = flow->rows;
    for (const struct task *task = flow->task; most < 0 && task; task = task->rows_from) {
        const enum operator_kind kind = task->column_op ? task->column_op->kind : OPERATOR_SORT;
        if (kind == OPERATOR_APPEND || kind == OPERATOR_EXPAND || kind == OPERATOR_MATCH || kind == OPERATOR_REPEAT)
            return -1; /* they make rows */
        most = task->rows;
    }
    return most;
}

/* Whether memory has no room for the columns of the flow and the places of rows, but the disk has. */
static bool exceeds_memory(const struct binder *binder, const struct flow *flow)
{
    const struct facts *facts = binder->facts;
    struct buffer_pool *pool = facts->workers ? facts->workers->pool : NULL;
    int64_t row_bytes = PLACE_BYTES, bytes;
    for (size_t k = 0; k < flow->count + flow->hidden; k++)
        row_bytes += flow->columns[k].known ? (int64_t)type_table[flow->columns[k].type].size : 0;
    const int64_t rows = most_rows(flow);
    return pool && !facts->remote && rows > 0 && !__builtin_mul_overflow(rows, row_bytes, &bytes) &&
           !buffer_pool_has(pool, bytes) && buffer_pool_takes(pool, bytes);
}

/* Adds the flow's columns and the numbers of rows to the operands, and moves all of them into the order of the keys. */
static void sort_operands(struct operands *operands, const struct key_operands *keys, size_t count,
                          struct ordered *ordered)
{
    struct binder *binder = operands->binder;
    struct arena *arena = binder->arena;
    struct flow sorted = *operands->flow;
    ordered->columns = arena_array(arena, sorted.count + sorted.hidden + 1, sizeof *ordered->columns);
    for (size_t k = 0; k < sorted.count + sorted.hidden; k++) {
        const struct slot *slot = &sorted.columns[k];
        const enum kind kind = type_table[slot->type].kind;
        const value column = code_input(&operands->task->code, (int64_t)k, kind, operands->stage->span);
        ordered->columns[k] = operands_add(operands, slot->known ? column : NO_VALUE, *slot);
    }
    ordered->number = operands_add(operands, code_row(&operands->task->code, operands->stage->span),
                                   (struct slot){.name = "place", .type = TYPE_I64});
    const size_t operand_count = operands->count;
    size_t *inputs = arena_array(arena, operand_count + 1, sizeof *inputs);
    value *values = arena_array(arena, operand_count + 1, sizeof *values);
    ordered->sorted = operands_end(operands, "per", OPERATOR_SORT, 2 * count, inputs);
    set_keys(ordered->sorted, keys, count, inputs);
    for (size_t k = 0; k < operand_count; k++)
        values[k] = operands->slots[k].known ? task_input(ordered->sorted, inputs[k]) : NO_VALUE;
    sorted.group = sorted.place = sorted.key_count = 0;
    task_set_slots(binder, ordered->sorted, &sorted, operands->slots, values, operand_count, 0);
    ordered->rows = operator_new(binder, "per", operands->stage->span, &sorted, OPERATOR_PARTITION, 2 * count);
    set_keys(ordered->rows, keys, count, NULL);
}

static struct ordered order_rows_by(struct operands *operands, const struct key_operands *keys, size_t count)
{
    struct binder *binder = operands->binder;
    struct ordered ordered = {0};
    if (exceeds_memory(binder, operands->flow)) {
        sort_operands(operands, keys, count, &ordered);
    } else {
        ordered.inputs = arena_array(binder->arena, operands->count + 1, sizeof *ordered.inputs);
        ordered.rows = operands_end(operands, "per", OPERATOR_PARTITION, 2 * count, ordered.inputs);
        set_keys(ordered.rows, keys, count, ordered.inputs);
    }
    struct flow flow = *operands->flow;
    per_partition_outputs(binder, ordered.rows, &flow);
    return ordered;
}

/* Column k of the flow, and an operand, in the order of the groups. */
static value ordered_column(struct task *task, const struct ordered *ordered, const struct flow *flow, size_t k,
                            struct arena *arena)
{
    return ordered->sorted ? per_row_input(task, ordered->sorted, ordered->columns[k])
                           : per_input_at(task, flow_input(flow, k), ordered->place, arena);
}

static value ordered_operand(struct task *task, const struct ordered *ordered, size_t operand, struct arena *arena)
{
    return ordered->sorted ? per_row_input(task, ordered->sorted, operand)
                           : per_input_at(task, ordered->rows->inputs[ordered->inputs[operand]], ordered->place, arena);
}

/* Whether the key is a column of the flow under its own name. */
static bool is_column(const struct operands *operands, const struct item *item, const struct key_operands *key,
                      size_t *index)
{
    return bind_is_column(&operands->scope, item->expr, key->term, index) &&
           (!item->name.text || strcmp(item->name.text, operands->flow->columns[*index].name) == 0);
}

/* Makes the columns in the order of the groups: those of the flow, then computed keys that have a name. */
static void order_columns(struct binder *binder, const struct stage *stage, struct operands *operands,
                          const struct key_operands *keys, struct flow *flow)
{
    struct arena *arena = binder->arena;
    const size_t key_count = stage->item_count, most = flow->count + flow->hidden + 2 * key_count + 2;
    struct flow before = *flow;
    size_t index;
    struct ordered ordered = order_rows_by(operands, keys, key_count);
    struct task *task = task_new(binder, "per", stage->span, NULL);
    task->rows = before.rows;
    if (before.rows < 0)
        task->rows_from = ordered.sorted ? ordered.sorted : before.task;
    struct columns columns = {arena_array(arena, most, sizeof(struct slot)), arena_array(arena, most, sizeof(value)), 0,
                              0};
    ordered.place =
        ordered.sorted ? per_row_input(task, ordered.sorted, ordered.number) : per_row_input(task, ordered.rows, 0);
    const value group = per_row_input(task, ordered.rows, 1);
    size_t named = 0;
    for (size_t i = 0; i < key_count; i++)
        named += stage->items[i].name.text && !is_column(operands, &stage->items[i], &keys[i], &index);
    for (size_t k = 0; k < before.count; k++) {
        struct slot slot = before.columns[k];
        slot.origin = k + 1;
        slot.validity += slot.validity != 0 ? named : 0;
        add_slot(&columns, false, slot, slot.known ? ordered_column(task, &ordered, &before, k, arena) : NO_VALUE);
    }
    struct slot *key_slots = arena_array(arena, key_count + 1, sizeof *key_slots);
    size_t keys_kept = 0, validity = before.count + named + before.hidden;
    for (size_t i = 0; i < key_count; i++) {
        if (is_column(operands, &stage->items[i], &keys[i], &index)) {
            if (columns.slots[index].key == 0)
                key_slots[keys_kept] = columns.slots[index], columns.slots[index].key = ++keys_kept;
            continue;
        }
        if (!stage->items[i].name.text)
            continue;
        struct slot slot = keys[i].slot;
        slot.validity = keys[i].nullable ? validity++ : 0;
        key_slots[keys_kept] = slot;
        slot.key = ++keys_kept;
        add_slot(&columns, false, slot, slot.known ? ordered_operand(task, &ordered, keys[i].value, arena) : NO_VALUE);
    }
    for (size_t k = before.count; k < before.count + before.hidden; k++)
        add_slot(&columns, true, before.columns[k], ordered_column(task, &ordered, &before, k, arena));
    for (size_t i = 0; i < key_count; i++) {
        bool hidden =
            keys[i].nullable && stage->items[i].name.text && !is_column(operands, &stage->items[i], &keys[i], &index);
        if (!hidden)
            continue;
        const value missing = ordered_operand(task, &ordered, keys[i].missing, arena);
        const value present = code_unary(&task->code, OP_NOT, missing, task->span);
        add_slot(&columns, true, (struct slot){.name = "present", .type = TYPE_BOOL, .known = true}, present);
    }
    add_slot(&columns, true, (struct slot){.name = "group", .type = TYPE_I64, .known = true}, group);
    add_slot(&columns, true, (struct slot){.name = "place", .type = TYPE_I64, .known = true}, ordered.place);
    number_duplicates(binder, columns.slots, columns.count);
    task_set_slots(binder, task, flow, columns.slots, columns.values, columns.count, columns.hidden);
    flow->group = columns.count + columns.hidden - 2;
    flow->place = columns.count + columns.hidden - 1;
    flow->keys = key_slots;
    flow->key_count = keys_kept;
    flow->shape = (struct shape){0};
}

void per_enter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    struct key_operands *keys = arena_array(binder->arena, stage->item_count + 1, sizeof *keys);
    operands_begin(binder, stage, flow, &operands);
    for (size_t i = 0; i < stage->item_count; i++)
        keys[i] = operands_add_key(&operands, &stage->items[i]);
    order_columns(binder, stage, &operands, keys, flow);
}

/* Enters without moving rows: adds each row's group as a hidden column, and the named keys as visible ones. */
void per_enter_scattered(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct arena *arena = binder->arena;
    const size_t key_count = stage->item_count;
    struct key_operands *keys = arena_array(arena, key_count + 1, sizeof *keys);
    const struct flow before = *flow;
    size_t ids = group_ids_add(binder, stage, stage->items, key_count, flow, keys), index;
    struct task *task = task_reading(binder, "per", stage->span, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    struct slot *slots = arena_grow(arena, flow->columns, before.count, before.count + key_count, sizeof *slots);
    struct term *terms = arena_array(arena, before.count + key_count + 1, sizeof *terms);
    struct slot *key_slots = arena_array(arena, key_count + 1, sizeof *key_slots);
    size_t count = before.count, kept = 0;
    for (size_t k = 0; k < before.count; k++)
        terms[k] = term_of_column(&task->code, flow, k, stage->span);
    for (size_t i = 0; i < key_count; i++) {
        const struct item *item = &stage->items[i];
        const char *name = item->name.text;
        const bool column = keys[i].slot.known &&
                            (item->expr->kind == EXPR_NAME || item->expr->kind == EXPR_POSITION) &&
                            bind_is_column(&scope, item->expr, bind_term(&scope, item->expr), &index) &&
                            (!name || strcmp(name, flow->columns[index].name) == 0);
        if (column && slots[index].key == 0) {
            key_slots[kept] = slots[index];
            slots[index].key = ++kept;
        }
        if (column || !name)
            continue;
        struct slot slot = keys[i].slot;
        terms[count] = unknown_term;
        if (slot.known) {
            terms[count] = term_of_type(task_input(task, keys[i].value), slot.logical);
        }
        if (slot.known && keys[i].nullable) {
            const value missing = code_input(&task->code, (int64_t)keys[i].missing, KIND_BOOL, stage->span);
            terms[count].present = code_unary(&task->code, OP_NOT, missing, stage->span);
        }
        key_slots[kept] = slot;
        slot.key = ++kept;
        slots[count++] = slot;
    }
    number_duplicates(binder, slots, count);
    flow->group = ids;
    flow->scattered = true;
    task_set_outputs(binder, task, flow, slots, terms, count);
    flow->keys = key_slots;
    flow->key_count = kept;
    flow->shape = (struct shape){0};
}

enum { MOST_LEADING = 64 };

/* The column that the body's first stage, top, goes by; `flow->count`: it is not such a stage, or not by few rows of a
 * bare column. */
static size_t leading_column(const struct stage *body, const struct flow *flow)
{
    if (body->word->stage != STAGE_TOP || body->head || body->item_count != 1 || body->most->expr->kind != EXPR_INT ||
        body->most->expr->integer < 1 || body->most->expr->integer > MOST_LEADING ||
        body->items[0].expr->kind != EXPR_NAME)
        return flow->count;
    const size_t k = flow_place(flow, body->items[0].expr->name.text);
    return k < flow->count && flow->columns[k].known ? k : flow->count;
}

/* Drops rows that cannot be among the first of their group: few rows are left to order. */
void per_keep_leading(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct stage *top = &stage->body[0];
    const size_t column = leading_column(top, flow);
    if (column == flow->count)
        return;
    struct key_operands *keys = arena_array(binder->arena, stage->item_count + 1, sizeof *keys);
    const struct flow before = *flow;
    struct flow numbered = before;
    const size_t ids = group_ids_add(binder, stage, stage->items, stage->item_count, &numbered, keys);
    const size_t present = numbered.columns[column].validity;
    struct task *task = operator_new(binder, "per", top->span, &numbered, OPERATOR_MOVING, MOVING_KEYS);
    struct moving_operator *op = &task->column_op->moving;
    *op = (struct moving_operator){.kind = AGG_LEADING,
                                   .scattered = true,
                                   .leading = top->most->expr->integer,
                                   .smallest = !top->items[0].descending};
    op->has[MOVING_VALUES] = op->has[MOVING_GROUPS] = true;
    op->has[MOVING_PRESENT] = present != 0;
    size_t *input = task->column_op->keys;
    *input++ = column;
    if (present != 0)
        *input++ = present;
    *input++ = ids;
    task->column_op->key_count = (size_t)(input - task->column_op->keys);
    struct flow leads = numbered;
    task_set_slot(binder, task, &leads, (struct slot){.name = "leads", .type = TYPE_BOOL, .known = true},
                  task_input(task, ids));

    struct task *keep = task_reading(binder, "per", top->span, &before);
    task_filter(binder, keep, per_row_input(keep, task, 0), top->span);
    task_pass_inputs(binder, keep, flow);
    flow->rows = -1;
}
