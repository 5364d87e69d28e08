/* Rows at other places: gather and reverse, and NAME[E] in expressions. What is read at any place is a whole input. */
#include "engine/bind/bind_internal.h"

#include "engine/storage/residency.h"

/* The flow's columns as whole inputs, and nothing else. */
static void read_whole(struct binder *binder, struct task *task, const struct flow *flow)
{
    task_reserve(binder, task, flow->count + 1);
    for (size_t k = 0; k < flow->count; k++) {
        const struct slot *slot = &flow->columns[k];
        task->inputs[task->input_count++] =
            (struct input){.task = flow->task, .output = k, .type = slot->type, .name = slot->name, .whole = true};
    }
}

/* Makes the outputs the elements of the inputs at this position; NO_VALUE: not known. */
static void give_elements(struct binder *binder, struct task *task, struct flow *flow, value position)
{
    value *values = arena_array(binder->arena, flow->count + 1, sizeof *values);
    for (size_t k = 0; k < flow->count; k++) {
        enum kind kind = type_table[flow->columns[k].type].kind;
        values[k] = NO_VALUE;
        if (position != NO_VALUE && flow->columns[k].known)
            values[k] = code_gather(&task->code, (int64_t)k, kind, position, task->span);
    }
    task_give(binder, task, flow, flow->columns, values, flow->count);
}

/* The name of the column of positions, numbered if the flow has it too. */
static void name_positions(struct binder *binder, const struct flow *flow, struct flow *positions)
{
    struct name_set names;
    name_set_init(&names, binder->arena, flow->count + 1);
    for (size_t i = 0; i < flow->count; i++)
        name_set_add(&names, flow->columns[i].name);
    struct slot *slot = arena_alloc(binder->arena, sizeof *slot);
    *slot = positions->columns[0];
    slot->name = name_set_add(&names, slot->name);
    positions->columns = slot;
}

bool bind_positions(struct binder *binder, const struct stage *stage, const struct flow *flow, struct flow *positions)
{
    const char *word = text_of_word(binder->arena, stage);
    struct span span = stage->sources[0].span;
    bind_source(binder, &stage->sources[0], positions);
    if (positions->open)
        return false;
    if (positions->count != 1) {
        bind_error(binder, span, "`pick` chooses one: `(SOURCE | pick NAME)`",
                   "`%s` takes one column of positions, not %zu", word, positions->count);
        return false;
    }
    enum type type = positions->columns[0].type;
    if (!positions->columns[0].known || type_table[type].kind == KIND_INT) {
        name_positions(binder, flow, positions);
        return positions->columns[0].known;
    }
    bind_error(binder, span, "positions are whole numbers, 0 for the first row", "`%s` needs integers, but `%s` is %s",
               word, positions->columns[0].name, type_table[type].name);
    return false;
}

void bind_gather(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow positions;
    bool known = bind_positions(binder, stage, flow, &positions);
    struct task *task = task_begin(binder, stage->word->canonical, stage->span, NULL);
    read_whole(binder, task, flow);
    task->rows = positions.rows;
    if (task->rows < 0)
        task->rows_from = positions.task;
    value position = NO_VALUE;
    if (known) {
        const struct slot *slot = &positions.columns[0];
        const struct input input = {.task = positions.task, .type = slot->type, .name = slot->name};
        position = input_value(&task->code, (int64_t)task_input(binder, task, &input), &input, stage->sources[0].span);
    }
    flow->rows = positions.rows;
    give_elements(binder, task, flow, position);
}

void bind_reverse(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_begin(binder, stage->word->canonical, stage->span, NULL);
    struct code *code = &task->code;
    read_whole(binder, task, flow);
    task->rows = flow->rows;
    if (task->rows < 0)
        task->rows_from = flow->task;
    value rows = code_rows(code, stage->span), one = code_exact_int(code, 1, stage->span);
    value last = code_op(code, OP_SUB, rows, one, NO_VALUE, stage->span);
    give_elements(binder, task, flow, code_op(code, OP_SUB, last, code_row(code, stage->span), NO_VALUE, stage->span));
}

static void not_a_column(struct scope *scope, const struct expr *expr)
{
    bind_error(scope->binder, expr->name.span, "`NAME[E]` is an element of a column, or of a `let` relation of one",
               "`%s` is a single value: it has no elements", expr->name.text);
}

/* The relation that the name means, if it is no column and no parameter; NULL: it is to be looked for elsewhere. */
static const struct binding *relation_named(const struct scope *scope, const char *name)
{
    const struct binding *binding = env_find(scope->binder->env, name);
    if (binding == NULL || binding->kind != BINDING_RELATION || name_is_taken(scope, name))
        return NULL;
    return binding->relation != NULL ? binding : NULL;
}

/* Element of a relation's only column where nothing is read row by row: known at once. */
static value constant_element(struct scope *scope, const struct expr *expr, const struct binding *binding)
{
    struct binder *binder = scope->binder;
    const struct column *column = binding->relation->columns[0];
    enum kind kind = type_table[column->type].kind;
    int64_t index = 0;
    enum known known = bind_constant_int(scope, expr->args[0], "a position",
                                         "positions are whole numbers, 0 for the first row", &index);
    if (known == KNOWN_NOTHING)
        return NO_VALUE;
    if (known == KNOWN_KIND || binding->unknown)
        return bind_unknown(scope, binding - binder->env->bindings, kind, expr->span);
    if (index < 0 || index >= column->rows) {
        bind_error(binder, expr->args[0]->span, "positions are counted from 0", "there is no row %lld: `%s` has %s",
                   (long long)index, expr->name.text, text_of_count(binder->arena, column->rows, "row"));
        return NO_VALUE;
    }
    if (!column_fetch(binding->relation->columns[0], index, index + 1)) {
        bind_error(binder, expr->span, "name it again", "the device has lost what `%s` holds", expr->name.text);
        return NO_VALUE;
    }
    struct scalar element = column_get(column, index);
    if (kind == KIND_FLOAT)
        return code_float(scope->code, element.number, expr->span);
    if (kind == KIND_BOOL)
        return code_bool(scope->code, element.integer != 0, expr->span);
    return code_int(scope->code, (int64_t)element.integer, expr->span);
}

/* The element of an input, added to the task, at the position that the expression says. */
static value element(struct scope *scope, const struct expr *expr, const struct input *input)
{
    const struct expr *at = expr->args[0];
    value position = bind_value(scope, at);
    if (position == NO_VALUE ||
        !bind_is_integer(scope, position, at, arena_printf(scope->binder->arena, "`%s[...]`", expr->name.text), NULL))
        return NO_VALUE;
    size_t number = task_input(scope->binder, scope->task, input);
    return code_gather(scope->code, (int64_t)number, type_table[input->type].kind, position, expr->span);
}

static value element_of_relation(struct scope *scope, const struct expr *expr, const struct binding *binding)
{
    struct binder *binder = scope->binder;
    const struct relation *relation = binding->relation;
    if (relation->count != 1) {
        bind_error(binder, expr->name.span,
                   arena_printf(binder->arena, "`let NAME = %s | pick ...` names one of them", expr->name.text),
                   "an element is asked of one column, but `%s` has %zu", expr->name.text, relation->count);
        return NO_VALUE;
    }
    if (scope->task == NULL)
        return constant_element(scope, expr, binding);
    struct column *column = relation->columns[0];
    queue_hold(binder->queue, column_ref(column));
    const struct input input = {.column = column, .type = column->type, .name = expr->name.text, .whole = true};
    return element(scope, expr, &input);
}

value bind_index(struct scope *scope, const struct expr *expr)
{
    const struct binding *binding = relation_named(scope, expr->name.text);
    if (binding != NULL)
        return element_of_relation(scope, expr, binding);
    struct resolved resolved = name_resolve(scope, &expr->name);
    if (resolved.meaning == MEANS_COLUMN && scope->task != NULL && scope->flow->task != NULL) {
        const struct slot *slot = &scope->flow->columns[resolved.index];
        const struct input input = {
            .task = scope->flow->task, .output = resolved.index, .type = slot->type, .name = slot->name, .whole = true};
        value v = element(scope, expr, &input);
        return slot->known ? v : NO_VALUE;
    }
    if (resolved.meaning != MEANS_UNKNOWN)
        not_a_column(scope, expr);
    else
        bind_value(scope, expr->args[0]);
    return NO_VALUE;
}
