/* Operators on whole columns: the task before one that computes its operands, and its own. */
#include "engine/expression/texts.h"
#include "engine/lists/lists.h"
#include "engine/lower/lower.h"

enum { KEY_SHOWN = 40 };

void operands_begin(struct binder *binder, const struct stage *stage, const struct flow *flow,
                    struct operands *operands)
{
    *operands = (struct operands){.binder = binder, .stage = stage, .flow = flow};
    operands->task = task_reading(binder, "map", stage->span, flow);
    /* The head of scan and reduce belongs to their function. */
    const bool function = stage->word->stage == STAGE_SCAN || stage->word->stage == STAGE_REDUCE;
    operands->scope = scope_of_stage(binder, operands->task, flow, function ? NULL : stage->head);
}

/* Whether the value is a column of the flow, unchanged; returns its number. */
static bool is_bare(const struct operands *operands, value v, size_t *index)
{
    if (v == NO_VALUE || operands->task->code.at[v].op != OP_INPUT)
        return false;
    *index = (size_t)operands->task->code.at[v].integer;
    return *index < operands->flow->count + operands->flow->hidden;
}

size_t operands_add(struct operands *operands, value v, struct slot slot)
{
    struct arena *arena = operands->binder->arena;
    for (size_t k = 0; v != NO_VALUE && v <= operands->largest && k < operands->count; k++) {
        if (operands->values[k] == v)
            return k;
    }
    operands->largest = v > operands->largest ? v : operands->largest;
    if (operands->count == operands->capacity) {
        const size_t capacity = operands->capacity == 0 ? 8 : 2 * operands->capacity;
        operands->slots = arena_grow(arena, operands->slots, operands->count, capacity, sizeof *operands->slots);
        operands->values = arena_grow(arena, operands->values, operands->count, capacity, sizeof *operands->values);
        operands->capacity = capacity;
    }
    size_t index;
    slot.known = v != NO_VALUE;
    slot.validity = 0;
    if (is_bare(operands, v, &index)) {
        slot.type = operands->flow->columns[index].type;
        if (!slot.name)
            slot.name = operands->flow->columns[index].name;
    }
    operands->slots[operands->count] = slot;
    operands->values[operands->count] = v;
    return operands->count++;
}

/* The name of the only column that a value is computed of; NULL if there is not one. */
static const char *only_column(const struct operands *operands, value v)
{
    const struct code *code = &operands->task->code;
    const struct flow *flow = operands->flow;
    bool *live = arena_array(operands->binder->arena, (size_t)code->count + 1, sizeof *live);
    size_t only = flow->count;
    code_mark(code, v, live);
    for (value i = 0; i < code->count; i++) {
        const size_t column = (size_t)code->at[i].integer;
        if (!live[i] || code->at[i].op != OP_INPUT || column >= flow->count || column == only)
            continue;
        if (only < flow->count)
            return NULL;
        only = column;
    }
    return only < flow->count ? flow->columns[only].name : NULL;
}

struct key_operands operands_add_key(struct operands *operands, const struct item *item)
{
    struct scope *scope = &operands->scope;
    struct code *code = scope->code;
    struct span span = item->expr->span;
    size_t index;
    struct key_operands key = {.term = term_as_column(operands->binder, bind_term(scope, item->expr))};
    if (term_is_known(key.term) && key.term.logical.kind == LOGICAL_LIST) {
        const struct expr *expr = item->expr;
        const char *name = expr->kind == EXPR_POSITION ? operands->flow->columns[expr->integer - 1].name
                                                       : text_of_span(operands->binder->arena, span, KEY_SHOWN);
        list_refuse_key(operands->binder, name, text_of_word(operands->binder->arena, operands->stage), span);
        key.term = unknown_term;
    }
    key.slot = slot_of_term(scope, key.term);
    key.slot.name = item->name.text;
    if (!key.slot.name && bind_is_column(scope, item->expr, key.term, &index))
        key.slot.name = operands->flow->columns[index].name;
    const enum stage_kind stage = operands->stage->word->stage;
    const bool named = stage != STAGE_SORT && stage != STAGE_TOP; /* the keys of those are no columns of the result */
    if (named && !key.slot.name && term_is_known(key.term))
        key.slot.name = only_column(operands, key.term.value);
    key.nullable = term_is_known(key.term) && key.term.present != NO_VALUE;
    if (key.nullable) {
        const value missing = code_unary(code, OP_NOT, key.term.present, span);
        key.missing = operands_add(operands, missing, (struct slot){.type = TYPE_BOOL});
    }
    const value v = term_is_known(key.term) ? term_settled(code, key.term, span) : NO_VALUE;
    key.value = operands_add(operands, v, key.slot);
    return key;
}

void mark_fallible(struct task *task)
{
    for (size_t k = 0; k < task->output_count; k++)
        task->code.at[task->outputs[k].value].fallible = true;
}

struct task *operator_new(struct binder *binder, const char *name, struct span span, const struct flow *flow,
                          enum operator_kind kind, size_t key_count)
{
    struct task *task = task_reading(binder, name, span, flow);
    struct column_operator *column_op =
        ARENA_NEW(binder->arena, struct column_operator, .kind = kind, .key_count = key_count, .stride = 1, .into = -1);
    column_op->keys = arena_array(binder->arena, key_count + 1, sizeof *column_op->keys);
    column_op->descending = arena_array(binder->arena, key_count + 1, sizeof *column_op->descending);
    task->sink = SINK_OPERATOR;
    task->column_op = column_op;
    return task;
}

struct task *operands_end(struct operands *operands, const char *name, enum operator_kind kind, size_t key_count,
                          size_t *operand)
{
    size_t index = 0;
    bool bare = true;
    for (size_t k = 0; k < operands->count; k++)
        bare = is_bare(operands, operands->values[k], &index) && bare;
    if (bare) {
        /* Nothing is computed and no task reads it yet: drop it. */
        queue_remove(operands->binder->queue, operands->task);
        for (size_t k = 0; k < operands->count; k++) {
            is_bare(operands, operands->values[k], &index);
            operand[k] = index;
        }
        return operator_new(operands->binder, name, operands->stage->span, operands->flow, kind, key_count);
    }
    struct flow ready = *operands->flow;
    name_columns(operands->binder, operands->slots, operands->count);
    task_set_slots(operands->binder, operands->task, &ready, operands->slots, operands->values, operands->count, 0);
    for (size_t k = 0; k < operands->count; k++)
        operand[k] = k;
    return operator_new(operands->binder, name, operands->stage->span, &ready, kind, key_count);
}
