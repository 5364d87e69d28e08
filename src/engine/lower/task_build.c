/* Creating the queue's tasks, one per stage, each with its own code. */
#include "engine/expression/texts.h"
#include "engine/lower/lower.h"

#include <string.h>

/* The name that name_columns gives to the only column of a relation. */
static const char UNNAMED[] = "c1";

enum { MARK_LENGTH = 200 };

struct task *task_new(struct binder *binder, const char *name, struct span span, struct flow *flow)
{
    struct task *task = queue_add(binder->queue);
    struct stage_mark *mark = ARENA_NEW(binder->arena, struct stage_mark, .name = name,
                                        .text = text_of_span(binder->arena, span, MARK_LENGTH), .span = span);
    for (const struct call *call = binder->call; call; call = call->caller)
        mark->called = call->span;
    task->stages = mark;
    task->stage_count = 1;
    task->span = span;
    if (flow)
        flow->task = task;
    return task;
}

void task_add_inputs(struct task *task, const struct flow *flow)
{
    for (size_t i = 0; i < flow->count + flow->hidden; i++) {
        struct input *input = &task->inputs[task->input_count];
        *input = flow_input(flow, i);
        input_value(&task->code, (int64_t)task->input_count++, input, task->span);
    }
}

struct task *task_reading(struct binder *binder, const char *name, struct span span, const struct flow *flow)
{
    struct task *task = task_new(binder, name, span, NULL);
    task_reserve_inputs(task, flow->count + flow->hidden, binder->arena);
    task_add_inputs(task, flow);
    task->rows = flow->rows;
    if (flow->rows < 0)
        task->rows_from = flow->task;
    return task;
}

struct task *task_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    return task_reading(binder, stage->word->canonical, stage->span, flow);
}

void task_unknown(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    task_set_slots(binder, task, flow, NULL, NULL, 0, 0);
    flow->open = true;
}

struct scope scope_of_stage(struct binder *binder, struct task *task, const struct flow *flow, const struct head *head)
{
    struct scope scope = {
        .binder = binder,
        .code = &task->code,
        .task = task,
        .flow = flow,
        .head = head,
        .has_rows = true,
        .group = flow->group,
        .place = flow->place,
        .scattered = flow->scattered,
        .shape = flow->shape,
    };
    if (head)
        name_check_head(&scope);
    return scope;
}

/* Limits memory: a long pipeline over a wide relation has every column in every stage. */
static void count_outputs(struct binder *binder, size_t count, struct span span)
{
    binder->outputs += count;
    if (binder->outputs <= LIMIT_OUTPUTS || bind_gave_up(binder))
        return;
    bind_error(binder, span, "`pick` the columns that are needed, or split the pipeline with `let`",
               "all stages together have more than %d columns", LIMIT_OUTPUTS);
    binder->errors = LIMIT_ERRORS;
}

void task_set_slots(struct binder *binder, struct task *task, struct flow *flow, struct slot *slots,
                    const value *values, size_t count, size_t hidden)
{
    task->output_count = count + hidden;
    task->outputs = arena_array(binder->arena, task->output_count, sizeof *task->outputs);
    for (size_t i = 0; i < task->output_count; i++) {
        /* Unknown values are never run, but must be safe to inspect. */
        const value v = values[i] != NO_VALUE ? values[i] : code_int(&task->code, 0, task->span);
        task->outputs[i] = (struct output){
            .value = v,
            .name = slots[i].name,
            .type = slots[i].type,
            .logical = slots[i].logical,
            .validity = slots[i].validity,
            .hidden = i >= count,
        };
    }
    count_outputs(binder, task->output_count, task->span);
    flow->task = task;
    flow->columns = slots;
    flow->count = count;
    flow->hidden = hidden;
    flow->nameless = flow->nameless && count == 1 && strcmp(slots[0].name, UNNAMED) == 0;
}

void task_set_slot(struct binder *binder, struct task *task, struct flow *flow, struct slot slot, value v)
{
    task_set_slots(binder, task, flow, arena_copy(binder->arena, &slot, sizeof slot), &v, 1, 0);
}

/* The place of a hidden column with this value; adds one if there is none. */
static size_t hidden_place(struct arena *arena, struct slot *slots, value *values, size_t count, size_t *hidden,
                           value present, const char *of)
{
    for (size_t k = count; k < count + *hidden; k++) {
        if (values[k] == present)
            return k;
    }
    const size_t place = count + (*hidden)++;
    slots[place] = (struct slot){.name = arena_printf(arena, "%s present", of), .type = TYPE_BOOL, .known = true};
    values[place] = present;
    return place;
}

/* The column of the flow that is this key; `count`: it is not known. */
static size_t find_key(const struct slot *columns, size_t count, size_t key)
{
    size_t k = 0;
    while (k < count && columns[k].key != key + 1)
        k++;
    return k;
}

/* Within per, the keys that a stage leaves out come first. */
static void keep_keys(struct binder *binder, struct task *task, const struct flow *flow, const struct slot **columns,
                      const struct term **terms, size_t *count)
{
    struct slot *kept = arena_array(binder->arena, flow->key_count + *count + 1, sizeof *kept);
    struct term *values = arena_array(binder->arena, flow->key_count + *count + 1, sizeof *values);
    size_t added = 0;
    for (size_t i = 0; i < flow->key_count; i++) {
        const size_t at = find_key(flow->columns, flow->count, i);
        if (find_key(*columns, *count, i) < *count || at == flow->count)
            continue;
        for (size_t k = 0; k < *count; k++) {
            if (strcmp((*columns)[k].name, flow->keys[i].name) == 0)
                bind_error(binder, task->span, "give the column another name",
                           "the key `%s` stays a column within `per`, so no other can have its name",
                           flow->keys[i].name);
        }
        kept[added] = flow->columns[at];
        values[added++] = term_of_column(&task->code, flow, at, task->span);
    }
    for (size_t k = 0; k < *count; k++) {
        kept[added + k] = (*columns)[k];
        values[added + k] = (*terms)[k];
    }
    *columns = kept;
    *terms = values;
    *count += added;
}

/* Carries the hidden columns of groups, as the last ones. */
static void carry_groups(struct task *task, struct flow *flow, struct slot *slots, value *values, size_t count,
                         size_t *hidden)
{
    size_t *const carried[] = {&flow->group, &flow->place};
    for (size_t i = 0; i < 2; i++) {
        if (*carried[i] == 0)
            continue;
        const size_t place = count + (*hidden)++;
        slots[place] = flow->columns[*carried[i]];
        values[place] = code_input(&task->code, (int64_t)*carried[i], KIND_INT, task->span);
        *carried[i] = place;
    }
}

void task_set_outputs(struct binder *binder, struct task *task, struct flow *flow, const struct slot *columns,
                      const struct term *terms, size_t count)
{
    enum { OF_GROUPS = 2 };
    if (flow->group != 0)
        keep_keys(binder, task, flow, &columns, &terms, &count);
    struct slot *slots = arena_grow(binder->arena, columns, count, 2 * count + OF_GROUPS + 1, sizeof *slots);
    value *values = arena_array(binder->arena, 2 * count + OF_GROUPS + 1, sizeof *values);
    size_t hidden = 0;
    for (size_t i = 0; i < count; i++) {
        const struct term term = term_as_column(binder, terms[i]);
        slots[i].validity = 0;
        values[i] = NO_VALUE;
        if (!term_is_known(term))
            continue;
        slots[i].logical = term.logical;
        values[i] = term_settled(&task->code, term, task->span);
        if (term.present != NO_VALUE)
            slots[i].validity = hidden_place(binder->arena, slots, values, count, &hidden, term.present, slots[i].name);
    }
    if (flow->group != 0)
        carry_groups(task, flow, slots, values, count, &hidden);
    task_set_slots(binder, task, flow, slots, values, count, hidden);
}

value task_input(struct task *task, size_t k)
{
    return code_input(&task->code, (int64_t)k, type_table[task->inputs[k].type].kind, task->span);
}

void task_pass_inputs(struct binder *binder, struct task *task, struct flow *flow)
{
    const size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = task_input(task, k);
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, flow->hidden);
}

void task_filter(struct binder *binder, struct task *task, value keep, struct span span)
{
    if (keep == NO_VALUE)
        return;
    task->filters = arena_alloc(binder->arena, sizeof *task->filters);
    task->filters[0] = (struct filter){keep, span};
    task->filter_count = 1;
}

void task_add_column(struct binder *binder, struct task *task, struct column *column, const char *name)
{
    struct input *input = &task->inputs[task->input_count];
    *input = (struct input){.column = column, .type = column->type, .name = name};
    queue_hold(binder->queue, column_ref(column));
    input_value(&task->code, (int64_t)task->input_count++, input, task->span);
}

bool too_many_columns(struct binder *binder, size_t count, struct span span)
{
    if (count <= LIMIT_COLUMNS)
        return false;
    bind_error(binder, span, NULL, "a relation has at most %d columns, this one would have %zu", LIMIT_COLUMNS, count);
    return true;
}

void number_duplicates(struct binder *binder, struct slot *columns, size_t count)
{
    struct name_set names;
    name_set_init(&names, binder->arena, count);
    for (size_t i = 0; i < count; i++)
        columns[i].name = name_set_add(&names, columns[i].name);
}

/* Names unnamed columns c1, c2, ... by position. They come last, so that a given name is never the one to be numbered.
 * */
void name_columns(struct binder *binder, struct slot *columns, size_t count)
{
    struct name_set names;
    name_set_init(&names, binder->arena, count);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].name)
            columns[i].name = name_set_add(&names, columns[i].name);
    }
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].name)
            columns[i].name = name_set_add(&names, arena_printf(binder->arena, "c%zu", i + 1));
    }
}
