/* per: stages within groups of rows with equal keys.
 *
 * The rows are ordered by the keys, once: an operator gives each row's number and that of its group, and the body's
 * stages read the columns at these rows. Two hidden columns pass through them: `group`, which never decreases, so that
 * windows and neighbours know where a group begins, and `place`, the row's number before. At the end the columns that
 * the body has made return to their places; the others have never been moved. */
#include "engine/bind/bind_internal.h"
#include "engine/lower/aggregates.h"

#include <string.h>

/* A stage that may stand in a body. */
static const struct body_stage {
    enum stage_kind stage;
    bool drops;  /* rows */
    bool orders; /* rows, so that groups come one after another */
} body_stages[] = {
    {STAGE_SELECT, true, false},  {STAGE_REJECT, true, false},  {STAGE_TAKE, true, false},
    {STAGE_SKIP, true, false},    {STAGE_TAIL, true, false},    {STAGE_MAP, false, false},
    {STAGE_DERIVE, false, false}, {STAGE_BRAID, false, false},  {STAGE_PICK, false, false},
    {STAGE_DROP, false, false},   {STAGE_RENAME, false, false}, {STAGE_FSTS, false, false},
    {STAGE_SNDS, false, false},   {STAGE_NTH, false, false},    {STAGE_STENCIL, false, false},
    {STAGE_SORT, false, true},    {STAGE_TOP, true, true},      {STAGE_DISTINCT, true, false},
    {STAGE_REVERSE, false, true}, {STAGE_SCAN, false, false},   {STAGE_GROUP, false, true},
};

/* A `per` while it is bound. */
struct per {
    struct flow before;
    bool drops, orders;
};

static const struct body_stage *find_body_stage(enum stage_kind stage)
{
    for (size_t i = 0; i < sizeof body_stages / sizeof *body_stages; i++) {
        if (body_stages[i].stage == stage)
            return &body_stages[i];
    }
    return NULL;
}

static bool is_terminal(enum stage_kind stage)
{
    switch (stage) {
    case STAGE_REDUCE:
    case STAGE_COUNT:
    case STAGE_SUM:
    case STAGE_PRODUCT:
    case STAGE_MIN:
    case STAGE_MAX:
    case STAGE_MEAN:
    case STAGE_AGGREGATE:
        return true;
    default:
        return false;
    }
}

static void refuse_stage(struct binder *binder, const struct stage *stage)
{
    const char *word = text_of_word(binder->arena, stage);
    if (is_terminal(stage->word->stage))
        bind_error(binder, stage->span,
                   arena_printf(binder->arena,
                                "`group K: %s` has a row for each group; `derive x = sum(y)` keeps the rows",
                                stage->word->stage == STAGE_COUNT ? "count()" : "sum(x)"),
                   "`%s` gives a single value, but `per` has rows", word);
    else
        bind_error(binder, stage->span, "put it before or after `per`", "`%s` cannot be within `per`", word);
}

/* Checks the body's stages, and what they do with rows. */
static bool check_body(struct binder *binder, const struct stage *stage, struct per *per)
{
    bool good = true;
    for (size_t i = 0; i < stage->body_count; i++) {
        const struct body_stage *found = find_body_stage(stage->body[i].word->stage);
        if (found == NULL) {
            refuse_stage(binder, &stage->body[i]);
            good = false;
            continue;
        }
        if (stage->body[i].across != NULL) {
            bind_error(binder, stage->body[i].across->span, "`group` by the keys of `per`, too, and without it",
                       "`across` cannot be within `per`");
            good = false;
        }
        per->drops = per->drops || found->drops;
        per->orders = per->orders || found->orders;
    }
    return good;
}

/* ---- entering ---- */

/* Columns under construction: visible ones, then hidden ones. */
struct columns {
    struct slot *slots;
    value *values;
    size_t count, hidden;
};

static void add_slot(struct columns *columns, bool hidden, struct slot slot, value v)
{
    size_t place = columns->count + columns->hidden;
    columns->slots[place] = slot;
    columns->values[place] = v;
    if (hidden)
        columns->hidden++;
    else
        columns->count++;
}

/* Adds an input that is read at each row's place. */
static value input_at(struct task *task, struct input input, value place, struct arena *arena)
{
    input.whole = true;
    int64_t number = (int64_t)task_add_input(task, &input, arena);
    return code_lookup(&task->code, number, type_table[input.type].kind, place, task->span);
}

static struct input column_input(const struct flow *flow, size_t k)
{
    return (struct input){
        .task = flow->task, .output = k, .type = flow->columns[k].type, .name = flow->columns[k].name};
}

static value row_input(struct task *task, struct task *from, size_t k, struct arena *arena)
{
    const struct output *output = &from->outputs[k];
    const struct input input = {.task = from, .output = k, .type = output->type, .name = output->name};
    return input_value(&task->code, (int64_t)task_add_input(task, &input, arena), &input, task->span);
}

static void set_partition_outputs(struct binder *binder, struct task *task, struct flow *flow)
{
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = (struct slot){.name = "place", .type = TYPE_I64, .known = true};
    slots[1] = (struct slot){.name = "group", .type = TYPE_I64, .known = true};
    value placeholder = code_input(&task->code, 0, type_table[task->inputs[0].type].kind, task->span);
    task_set_slots(binder, task, flow, slots, (value[]){placeholder, placeholder}, 2, 0);
}

/* The operator: each row's place, and its group. `inputs` are those of the operands. */
static struct task *partition(struct operands *operands, const struct key_operands *keys, size_t count, size_t **inputs)
{
    struct binder *binder = operands->binder;
    size_t key_count = 0;
    *inputs = arena_array(binder->arena, operands->count + 1, sizeof **inputs);
    struct task *task = operands_end(operands, "per", OPERATOR_PARTITION, 2 * count, *inputs);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].nullable)
            task->column_op->keys[key_count++] = (*inputs)[keys[i].missing];
        task->column_op->keys[key_count++] = (*inputs)[keys[i].value];
    }
    task->column_op->key_count = key_count;
    struct flow flow = *operands->flow;
    set_partition_outputs(binder, task, &flow);
    return task;
}

/* Whether the key is a column of the flow under its own name. */
static bool is_column(const struct operands *operands, const struct item *item, const struct key_operands *key,
                      size_t *index)
{
    return bind_is_column(&operands->scope, item->expr, key->term, index) &&
           (item->name.text == NULL || strcmp(item->name.text, operands->flow->columns[*index].name) == 0);
}

/* Makes the columns in the order of the groups: those of the flow, then computed keys that have a name. */
static void order_columns(struct binder *binder, const struct stage *stage, struct operands *operands,
                          const struct key_operands *keys, struct flow *flow)
{
    struct arena *arena = binder->arena;
    const size_t key_count = stage->item_count, most = flow->count + flow->hidden + 2 * key_count + 2;
    struct flow before = *flow;
    size_t *inputs, index;
    struct task *rows = partition(operands, keys, key_count, &inputs);
    struct task *task = task_new(binder, "per", stage->span, NULL);
    task->rows = before.rows;
    if (before.rows < 0)
        task->rows_from = before.task;
    struct columns columns = {arena_array(arena, most, sizeof(struct slot)), arena_array(arena, most, sizeof(value)), 0,
                              0};
    value place = row_input(task, rows, 0, arena), group = row_input(task, rows, 1, arena);
    size_t named = 0;
    for (size_t i = 0; i < key_count; i++)
        named += stage->items[i].name.text != NULL && !is_column(operands, &stage->items[i], &keys[i], &index);
    for (size_t k = 0; k < before.count; k++) {
        struct slot slot = before.columns[k];
        slot.origin = k + 1;
        slot.validity += slot.validity != 0 ? named : 0;
        add_slot(&columns, false, slot, slot.known ? input_at(task, column_input(&before, k), place, arena) : NO_VALUE);
    }
    struct slot *key_slots = arena_array(arena, key_count + 1, sizeof *key_slots);
    size_t keys_kept = 0, validity = before.count + named + before.hidden;
    for (size_t i = 0; i < key_count; i++) {
        if (is_column(operands, &stage->items[i], &keys[i], &index)) {
            if (columns.slots[index].key == 0)
                key_slots[keys_kept] = columns.slots[index], columns.slots[index].key = ++keys_kept;
            continue;
        }
        if (stage->items[i].name.text == NULL)
            continue;
        struct slot slot = keys[i].slot;
        slot.validity = keys[i].nullable ? validity++ : 0;
        key_slots[keys_kept] = slot;
        slot.key = ++keys_kept;
        add_slot(&columns, false, slot,
                 slot.known ? input_at(task, rows->inputs[inputs[keys[i].value]], place, arena) : NO_VALUE);
    }
    for (size_t k = before.count; k < before.count + before.hidden; k++)
        add_slot(&columns, true, before.columns[k], input_at(task, column_input(&before, k), place, arena));
    for (size_t i = 0; i < key_count; i++) {
        bool hidden = keys[i].nullable && stage->items[i].name.text != NULL &&
                      !is_column(operands, &stage->items[i], &keys[i], &index);
        if (!hidden)
            continue;
        value missing = input_at(task, rows->inputs[inputs[keys[i].missing]], place, arena);
        value present = code_op(&task->code, OP_NOT, missing, NO_VALUE, NO_VALUE, task->span);
        add_slot(&columns, true, (struct slot){.name = "present", .type = TYPE_BOOL, .known = true}, present);
    }
    add_slot(&columns, true, (struct slot){.name = "group", .type = TYPE_I64, .known = true}, group);
    add_slot(&columns, true, (struct slot){.name = "place", .type = TYPE_I64, .known = true}, place);
    number_duplicates(binder, columns.slots, columns.count);
    task_set_slots(binder, task, flow, columns.slots, columns.values, columns.count, columns.hidden);
    flow->group = columns.count + columns.hidden - 2;
    flow->place = columns.count + columns.hidden - 1;
    flow->keys = key_slots;
    flow->key_count = keys_kept;
    flow->shape = (struct shape){0};
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
    enum operator_kind kind = per->drops ? OPERATOR_SORT : OPERATOR_SCATTER;
    struct task *task = operator_new(binder, "per", stage->span, flow, kind, 1);
    task->column_op->keys[0] = flow->place;
    struct flow moved = *flow;
    size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = code_input(&task->code, (int64_t)k, type_table[flow->columns[k].type].kind, stage->span);
    task_set_slots(binder, task, &moved, flow->columns, values, flow->count, flow->hidden);
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
    struct code *code = &task->code;
    struct term *terms = arena_array(arena, inside.count + 1, sizeof *terms);
    task->rows = per->drops ? -1 : before->rows;
    if (task->rows < 0)
        task->rows_from = per->drops ? moved : before->task;
    value place = per->drops ? row_input(task, moved, inside.place, arena) : NO_VALUE;
    for (size_t k = 0; k < inside.count; k++) {
        const struct slot *slot = &inside.columns[k];
        terms[k] = unknown_term;
        if (!slot->known)
            continue;
        terms[k] = term_of_type(NO_VALUE, slot->logical);
        if (slot->origin == 0) {
            terms[k].value = row_input(task, moved, k, arena);
            if (slot->validity != 0)
                terms[k].present = row_input(task, moved, slot->validity, arena);
            continue;
        }
        const size_t origin = slot->origin - 1, validity = before->columns[origin].validity;
        struct input input = column_input(before, origin), present = column_input(before, validity);
        if (per->drops) {
            terms[k].value = input_at(task, input, place, arena);
            terms[k].present = validity != 0 ? input_at(task, present, place, arena) : NO_VALUE;
            continue;
        }
        terms[k].value = input_value(code, (int64_t)task_add_input(task, &input, arena), &input, stage->span);
        if (validity != 0)
            terms[k].present = input_value(code, (int64_t)task_add_input(task, &present, arena), &present, stage->span);
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
        struct slot *slot = arena_alloc(binder->arena, sizeof *slot);
        *slot = flow->columns[flow->group];
        value placeholder = code_input(&numbers->code, (int64_t)flow->group, KIND_INT, stage->span);
        task_set_slots(binder, numbers, &numbered, slot, &placeholder, 1, 0);
    } else {
        set_partition_outputs(binder, numbers, &numbered);
    }
    struct task *task = task_reading(binder, "per", stage->span, flow);
    size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = code_input(&task->code, (int64_t)k, type_table[flow->columns[k].type].kind, stage->span);
    values[flow->group] = row_input(task, numbers, flow->scattered ? 0 : 1, binder->arena);
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
static void bind_within(struct binder *binder, const struct stage *stage, bool gaps, struct flow *flow,
                        struct bound *bound)
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
    switch (stage->word->stage) {
    case STAGE_DISTINCT:
        bind_distinct_of_groups(binder, stage, flow);
        break;
    case STAGE_REVERSE:
        bind_reverse_of_groups(binder, stage, flow);
        break;
    case STAGE_SCAN:
        bind_scan_of_groups(binder, stage, flow);
        break;
    default:
        bind_by_word(binder, stage, flow, bound);
    }
    binder->aggregates = NULL;
}

/* The keys as columns at the positions where the flow has them. False, with an error, if one has no name. */
static bool key_items(struct binder *binder, const struct stage *stage, const struct flow *flow, struct item *items)
{
    if (flow->key_count < stage->item_count && !flow->open) {
        bind_error(binder, stage->items[0].span, "as in `per trunc(time, month) as month: ...`",
                   "`group` within `per` needs keys that are columns, or have names");
        return false;
    }
    for (size_t k = 0; k < flow->count; k++) {
        if (flow->columns[k].key == 0)
            continue;
        struct expr *position = arena_alloc(binder->arena, sizeof *position);
        *position = (struct expr){.kind = EXPR_POSITION, .span = stage->span, .integer = (int64_t)k + 1, .depth = 1};
        items[flow->columns[k].key - 1] = (struct item){.expr = position, .span = stage->span};
    }
    return true;
}

static void enter(struct binder *binder, const struct stage *stage, struct flow *flow);

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
    if (stage->head != NULL || !key_items(binder, per, flow, group.items)) {
        if (stage->head != NULL)
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
    enter(binder, &again, flow);
}

static void enter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    struct key_operands *keys = arena_array(binder->arena, stage->item_count + 1, sizeof *keys);
    operands_begin(binder, stage, flow, &operands);
    for (size_t i = 0; i < stage->item_count; i++)
        keys[i] = operands_add_key(&operands, &stage->items[i]);
    order_columns(binder, stage, &operands, keys, flow);
}

/* Enters without moving rows: adds each row's group as a hidden column, and the named keys as visible ones. */
static void enter_scattered(struct binder *binder, const struct stage *stage, struct flow *flow)
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
        bool column = keys[i].slot.known && (item->expr->kind == EXPR_NAME || item->expr->kind == EXPR_POSITION) &&
                      bind_is_column(&scope, item->expr, bind_term(&scope, item->expr), &index) &&
                      (name == NULL || strcmp(name, flow->columns[index].name) == 0);
        if (column && slots[index].key == 0) {
            key_slots[kept] = slots[index];
            slots[index].key = ++kept;
        }
        if (column || name == NULL)
            continue;
        struct slot slot = keys[i].slot;
        terms[count] = unknown_term;
        if (slot.known) {
            value v = code_input(&task->code, (int64_t)keys[i].value, type_table[slot.type].kind, stage->span);
            terms[count] = term_of_type(v, slot.logical);
        }
        if (slot.known && keys[i].nullable) {
            value missing = code_input(&task->code, (int64_t)keys[i].missing, KIND_BOOL, stage->span);
            terms[count].present = code_op(&task->code, OP_NOT, missing, NO_VALUE, NO_VALUE, stage->span);
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

static void bind_body(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    bool gaps = false;
    for (size_t i = 0; i < stage->body_count && flow->group != 0 && !bind_gave_up(binder) && !binder->needs_order;
         i++) {
        if (stage->body[i].word->stage == STAGE_GROUP) {
            bind_group_of_groups(binder, stage, &stage->body[i], flow);
            gaps = false;
            continue;
        }
        bind_within(binder, &stage->body[i], gaps, flow, bound);
        gaps = gaps || find_body_stage(stage->body[i].word->stage)->drops;
    }
}

/* Binds it with the rows in their places. False, with nothing bound, if something needs those of a group one after
 * another. */
static bool bind_scattered(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    const struct flow before = *flow;
    const size_t tasks = binder->queue->count, errors = binder->errors, outputs = binder->outputs;
    const size_t diags = binder->diags->count;
    binder->needs_order = false;
    enter_scattered(binder, stage, flow);
    bind_body(binder, stage, flow, bound);
    if (!binder->needs_order) {
        if (flow->group != 0)
            leave_ordered(binder, stage, flow);
        return true;
    }
    binder->needs_order = false;
    binder->queue->count = tasks;
    binder->errors = errors;
    binder->outputs = outputs;
    binder->diags->count = diags;
    *flow = before;
    return false;
}

enum { MOST_LEADING = 64 };

/* The column that the body's first stage, top, goes by; `flow->count`: it is not such a stage, or not by few rows of a
 * bare column. */
static size_t leading_column(const struct stage *body, const struct flow *flow)
{
    if (body->word->stage != STAGE_TOP || body->head != NULL || body->item_count != 1 ||
        body->most->expr->kind != EXPR_INT || body->most->expr->integer < 1 ||
        body->most->expr->integer > MOST_LEADING || body->items[0].expr->kind != EXPR_NAME)
        return flow->count;
    size_t k = 0;
    while (k < flow->count && strcmp(flow->columns[k].name, body->items[0].expr->name.text) != 0)
        k++;
    return k < flow->count && flow->columns[k].known ? k : flow->count;
}

/* Drops rows that cannot be among the first of their group: few rows are left to order. */
static void keep_leading(struct binder *binder, const struct stage *stage, struct flow *flow)
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
    *op = (struct moving_operator){.kind = MOVING_LEADING,
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
    struct slot *slot = arena_alloc(binder->arena, sizeof *slot);
    *slot = (struct slot){.name = "leads", .type = TYPE_BOOL, .known = true};
    value placeholder = code_input(&task->code, (int64_t)ids, KIND_INT, top->span);
    struct flow leads = numbered;
    task_set_slots(binder, task, &leads, slot, &placeholder, 1, 0);

    struct task *keep = task_reading(binder, "per", top->span, &before);
    keep->filters = arena_alloc(binder->arena, sizeof *keep->filters);
    keep->filters[0] = (struct filter){row_input(keep, task, 0, binder->arena), top->span};
    keep->filter_count = 1;
    task_pass_inputs(binder, keep, flow);
    flow->rows = -1;
}

void bind_per(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    struct per per = {.before = *flow};
    bool good = check_body(binder, stage, &per);
    if (too_many_columns(binder, flow->count + 2 * stage->item_count, stage->span) || !good) {
        task_unknown(binder, stage, flow);
        return;
    }
    const struct aggregate_values *aggregates = binder->aggregates;
    if (!per.orders && bind_scattered(binder, stage, flow, bound))
        return;
    binder->aggregates = aggregates;
    const size_t errors = binder->errors;
    if (per.orders)
        keep_leading(binder, stage, flow);
    if (binder->errors == errors)
        enter(binder, stage, flow);
    bind_body(binder, stage, flow, bound);
    if (flow->group == 0)
        return; /* after an error */
    if (per.orders)
        leave_ordered(binder, stage, flow);
    else
        leave_in_place(binder, stage, &per, flow);
}
