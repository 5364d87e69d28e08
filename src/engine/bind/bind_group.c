/* group: one row for each key. */
#include "engine/bind/bind_internal.h"

#include <math.h>
#include <string.h>

static const char usage_of_aggregates[] = "the aggregates of a group are sum(E) count() min(E) max(E) mean(E)";

bool stage_is_of_groups(enum stage_kind stage)
{
    return stage == STAGE_COUNT || stage == STAGE_SUM || stage == STAGE_MIN || stage == STAGE_MAX ||
           stage == STAGE_MEAN;
}

/* Reports `count` written without parentheses, or something that is not an aggregate. */
static void refuse_aggregate(struct binder *binder, const struct expr *expr, const struct word *word)
{
    if (word == NULL || !stage_is_of_groups(word->stage))
        bind_error(binder, expr->span, usage_of_aggregates, "`%s` is not an aggregate",
                   text_of_span(binder->arena, expr->span, 40));
    else
        bind_error(
            binder, expr->span,
            arena_printf(binder->arena, "as in `group K: %s(%s)`", word->text, word->stage == STAGE_COUNT ? "" : "E"),
            "in a group, `%s` is written as a function call", word->text);
}

/* Finds which aggregate a call is; false after an error. */
static bool is_aggregate(struct binder *binder, const struct item *item, enum aggregate_kind *kind)
{
    const struct expr *expr = item->expr;
    const struct word *word = NULL;
    if (expr->kind == EXPR_CALL || expr->kind == EXPR_NAME)
        word = word_find(expr->name.text, strlen(expr->name.text));
    if (expr->kind != EXPR_CALL || word == NULL || !stage_is_of_groups(word->stage)) {
        refuse_aggregate(binder, expr, word);
        return false;
    }
    *kind = word->stage == STAGE_COUNT ? AGG_COUNT : aggregate_of(word->stage);
    if (*kind == AGG_COUNT || expr->arg_count == 1)
        return true;
    bind_error(binder, expr->span, usage_of_aggregates, "in a group, `%s` takes 1 argument, not %zu", expr->name.text,
               expr->arg_count);
    return false;
}

enum type type_of_aggregate(enum aggregate_kind aggregate, enum kind kind)
{
    if (aggregate == AGG_COUNT)
        return TYPE_I64;
    return aggregate == AGG_MEAN ? TYPE_F64 : type_of_kind(kind);
}

static value to_int(struct operands *operands, value condition, struct span span)
{
    return code_op(operands->scope.code, OP_BOOL_TO_INT, condition, NO_VALUE, NO_VALUE, span);
}

/* Adds a part that counts where the condition is true. */
static size_t add_count(struct operands *operands, struct group_parts *parts, value condition, struct span span)
{
    struct group_aggregate *part = &parts->at[parts->count];
    *part = (struct group_aggregate){.slot = {.name = "present", .type = TYPE_I64, .known = true}, .has_values = true};
    part->what = (struct aggregate){.kind = AGG_SUM, .value = NO_VALUE, .name = "present", .span = span};
    part->operand = operands_add(operands, to_int(operands, condition, span), (struct slot){.type = TYPE_I64});
    part->helper = true;
    return parts->count++;
}

/* count() counts all rows, count(CONDITION) those for which it holds, and count(E) those where E is present. */
static void bind_count_of(struct operands *operands, const struct expr *expr, struct group_aggregate *part)
{
    struct scope *scope = &operands->scope;
    if (expr->arg_count == 0)
        return;
    if (expr->arg_count > 1) {
        bind_error(
            operands->binder, expr->span,
            "`count()` counts all rows, `count(CONDITION)` those for which it holds, `count(x)` those that have x",
            "in a group, `count` takes at most 1 argument, not %zu", expr->arg_count);
        return;
    }
    struct term term = bind_term(scope, expr->args[0]);
    part->slot.known = term_is_known(term);
    if (!part->slot.known)
        return;
    bool condition = class_of(scope->code, term) == CLASS_BOOL;
    if (!condition && term.present == NO_VALUE)
        return;
    value counted = condition ? term_settled(scope->code, term, expr->span) : term.present;
    part->what.kind = AGG_SUM;
    part->has_values = true;
    part->operand = operands_add(operands, to_int(operands, counted, expr->span), (struct slot){.type = TYPE_I64});
}

/* What stands for a missing value in a minimum or maximum: it loses against all others. */
static value losing(struct code *code, value like, enum aggregate_kind kind, struct span span)
{
    if (code->at[like].kind == KIND_FLOAT)
        return code_float(code, NAN, span);
    return code_exact_int(code, kind == AGG_MIN ? INT64_MAX : INT64_MIN, span);
}

/* Aggregates values of which some are missing: nothing stands for them, and another part counts the others. */
static void skip_missing(struct operands *operands, struct group_parts *parts, size_t at, struct term *term)
{
    struct code *code = operands->scope.code;
    struct group_aggregate *part = &parts->at[at];
    struct span span = part->what.span;
    if (part->what.kind == AGG_MEAN) {
        const struct logical_type logical = term->logical;
        struct term number = *term;
        number.logical = (struct logical_type){0};
        *term = term_to_float(code, number, span);
        term->logical = logical;
        part->what.kind = AGG_SUM;
        part->finish = FINISH_QUOTIENT;
    }
    if (part->what.kind == AGG_SUM) {
        term->value = term_settled(code, *term, span);
        if (part->finish == FINISH_NONE)
            return;
    } else {
        value other = losing(code, term->value, part->what.kind, span);
        term->value = code_op(code, OP_SELECT, term->present, term->value, other, span);
        part->finish = FINISH_PRESENT;
    }
    part->count = add_count(operands, parts, term->present, span);
}

static enum finish finish_of_mean(enum aggregate_kind kind, struct logical_type logical)
{
    if (kind != AGG_MEAN || logical.kind == LOGICAL_NUMBER)
        return FINISH_NONE;
    return logical.kind == LOGICAL_DECIMAL ? FINISH_SCALE : FINISH_DURATION;
}

static bool bind_group_aggregate(struct operands *operands, const struct item *item, struct group_parts *parts)
{
    const struct expr *expr = item->expr;
    struct scope *scope = &operands->scope;
    struct group_aggregate *part = &parts->at[parts->count];
    enum aggregate_kind kind = AGG_COUNT;
    *part = (struct group_aggregate){.slot = {.name = item->name.text, .type = TYPE_I64, .known = true}};
    if (!is_aggregate(operands->binder, item, &kind))
        return false;
    size_t at = parts->count++;
    const char *name = word_find(expr->name.text, strlen(expr->name.text))->canonical;
    part->what = (struct aggregate){.kind = kind, .value = NO_VALUE, .name = name, .span = expr->span};
    if (kind == AGG_COUNT) {
        if (part->slot.name == NULL)
            part->slot.name = name;
        bind_count_of(operands, expr, part);
        return true;
    }
    struct term term = bind_term(scope, expr->args[0]);
    size_t index;
    if (part->slot.name == NULL)
        part->slot.name =
            bind_is_column(scope, expr->args[0], term, &index)
                ? arena_printf(operands->binder->arena, "%s_%s", name, operands->flow->columns[index].name)
                : name;
    part->what.name = part->slot.name;
    part->has_values = true;
    part->slot.known = term_is_known(term) && bind_aggregated(scope, kind, &term, expr->args[0], name, expr->span);
    value v = NO_VALUE;
    if (part->slot.known) {
        part->finish = finish_of_mean(kind, term.logical);
        if (term.present != NO_VALUE)
            skip_missing(operands, parts, at, &term);
        v = term.value;
        part->slot.logical = term.logical;
        part->slot.type = term.logical.kind != LOGICAL_NUMBER && part->what.kind != AGG_MEAN
                              ? slot_of_term(scope, term).type
                              : type_of_aggregate(part->what.kind, scope->code->at[v].kind);
        if (part->finish == FINISH_QUOTIENT)
            part->slot.type = TYPE_F64;
    }
    part->operand = operands_add(
        operands, v, (struct slot){.type = v != NO_VALUE ? type_of_kind(scope->code->at[v].kind) : TYPE_I64});
    return true;
}

/* Creates the group operator: the keys are operands 0 to key_count - 1, less duplicates. */
struct task *new_group(struct operands *operands, const size_t *keys, size_t key_count,
                       const struct group_aggregate *parts, size_t part_count)
{
    struct arena *arena = operands->binder->arena;
    size_t *inputs = arena_array(arena, operands->count + 1, sizeof *inputs);
    struct task *task = operands_end(operands, "group", OPERATOR_GROUP, key_count, inputs);
    for (size_t i = 0; i < key_count; i++)
        task->column_op->keys[i] = inputs[keys[i]];
    task->aggregates = arena_array(arena, part_count + 1, sizeof *task->aggregates);
    task->aggregate_count = part_count;
    for (size_t i = 0; i < part_count; i++) {
        task->aggregates[i] = parts[i].what;
        if (!parts[i].has_values)
            continue;
        size_t input = inputs[parts[i].operand];
        enum kind kind = type_table[task->inputs[input].type].kind;
        task->aggregates[i].value = code_input(&task->code, (int64_t)input, kind, parts[i].what.span);
    }
    return task;
}

/* Sets the outputs: a key's value is its input; an aggregate's value only says what may fail. */
void set_group_outputs(struct binder *binder, struct task *task, struct slot *slots, struct flow *flow)
{
    size_t key_count = task->column_op->key_count, count = key_count + task->aggregate_count;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t i = 0; i < key_count; i++) {
        size_t input = task->column_op->keys[i];
        values[i] = code_input(&task->code, (int64_t)input, type_table[task->inputs[input].type].kind, task->span);
    }
    for (size_t i = key_count; i < count; i++) {
        value v = task->aggregates[i - key_count].value;
        values[i] = v != NO_VALUE ? v : values[0];
        if (v != NO_VALUE)
            task->code.at[v].fallible = true;
    }
    name_columns(binder, slots, count);
    task_set_slots(binder, task, flow, slots, values, count, 0);
}

/* The aggregate's value, from the operator's; `counted`: how many values were present. */
static struct term finished(struct code *code, struct term term, const struct group_aggregate *part, value counted)
{
    struct span span = part->what.span;
    struct logical_type logical = term.logical;
    if (part->finish == FINISH_QUOTIENT) {
        value number = code_op(code, OP_TO_FLOAT, counted, NO_VALUE, NO_VALUE, span);
        term.value = code_op(code, OP_DIV, term.value, number, NO_VALUE, span);
    }
    if (logical.kind == LOGICAL_DECIMAL && code->at[term.value].kind == KIND_FLOAT)
        term = term_to_float(code, term, span); /* after the division: 0.1 and 0.2 are no sum of floats */
    if (logical.kind == LOGICAL_DURATION && code->at[term.value].kind == KIND_FLOAT) {
        term.value = code_op(code, OP_ROUND, term.value, NO_VALUE, NO_VALUE, span);
        term.value = code_op(code, OP_TO_INT, term.value, NO_VALUE, NO_VALUE, span);
    }
    if (counted != NO_VALUE) {
        value none = code_exact_int(code, 0, span);
        term.present = code_op(code, OP_LT, none, counted, NO_VALUE, span);
        term.settled = false;
    }
    return term;
}

/* A column of the operator, of the type that the finished term has. */
static struct slot slot_of_finished(struct slot slot, const struct code *code, struct term term)
{
    if (type_table[slot.type].kind != code->at[term.value].kind)
        slot.type = type_of_kind(code->at[term.value].kind);
    slot.logical = term.logical;
    return slot;
}

/* Ends the group with a task that makes its columns of the operator's, where these are not the same. */
static void finish_group(struct binder *binder, const struct stage *stage, const struct key_operands *keys,
                         const struct group_parts *parts, struct flow *flow)
{
    const size_t key_count = stage->item_count;
    struct flow grouped = *flow;
    struct task *task = task_reading(binder, "map", stage->span, &grouped);
    struct code *code = &task->code;
    struct slot *slots = arena_array(binder->arena, key_count + parts->count + 1, sizeof *slots);
    struct term *terms = arena_array(binder->arena, key_count + parts->count + 1, sizeof *terms);
    size_t column = 0, count = 0;
    for (size_t i = 0; i < key_count; i++) {
        value present = NO_VALUE;
        if (keys[i].nullable) {
            value missing = code_input(code, (int64_t)column++, KIND_BOOL, stage->span);
            present = code_op(code, OP_NOT, missing, NO_VALUE, NO_VALUE, stage->span);
        }
        slots[count] = grouped.columns[column];
        terms[count] = term_of_column(code, &grouped, column++, stage->span);
        terms[count++].present = present;
    }
    const size_t first = column;
    for (size_t i = 0; i < parts->count; i++) {
        const struct group_aggregate *part = &parts->at[i];
        if (part->helper)
            continue;
        slots[count] = grouped.columns[first + i];
        struct term term = term_of_column(code, &grouped, first + i, part->what.span);
        if (term_is_known(term) && part->finish != FINISH_NONE) {
            value counted = NO_VALUE;
            if (part->finish == FINISH_PRESENT || part->finish == FINISH_QUOTIENT)
                counted = code_input(code, (int64_t)(first + part->count), KIND_INT, part->what.span);
            term = finished(code, term, part, counted);
            slots[count] = slot_of_finished(slots[count], code, term);
        }
        terms[count++] = term;
    }
    task_set_outputs(binder, task, flow, slots, terms, count);
}

void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    struct arena *arena = binder->arena;
    size_t key_count = stage->item_count, most = key_count + stage->aggregate_count;
    if (too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    struct slot *slots = arena_array(arena, 2 * most + 1, sizeof *slots);
    size_t *inputs = arena_array(arena, 2 * key_count + 1, sizeof *inputs);
    struct key_operands *keys = arena_array(arena, key_count + 1, sizeof *keys);
    struct group_parts parts = {.at = arena_array(arena, 2 * stage->aggregate_count + 1, sizeof *parts.at)};
    size_t columns = 0, bound = 0;
    bool open = false, finishes = false;
    operands_begin(binder, stage, flow, &operands);
    for (size_t i = 0; i < key_count; i++) {
        keys[i] = operands_add_key(&operands, &stage->items[i]);
        if (keys[i].nullable) {
            inputs[columns] = keys[i].missing;
            slots[columns++] = (struct slot){.type = TYPE_BOOL, .known = true};
        }
        inputs[columns] = keys[i].value;
        slots[columns++] = keys[i].slot;
        open = open || (keys[i].slot.name == NULL && !keys[i].slot.known); /* its full name is not known */
        finishes = finishes || keys[i].nullable;
    }
    for (size_t i = 0; i < stage->aggregate_count; i++)
        bound += bind_group_aggregate(&operands, &stage->aggregates[i], &parts);
    for (size_t i = 0; i < parts.count; i++) {
        slots[columns + i] = parts.at[i].slot;
        finishes = finishes || parts.at[i].finish != FINISH_NONE;
    }
    struct task *task = new_group(&operands, inputs, columns, parts.at, parts.count);
    set_group_outputs(binder, task, slots, flow);
    flow->rows = -1;
    if (finishes)
        finish_group(binder, stage, keys, &parts, flow);
    flow->open = open || bound < stage->aggregate_count;
}

void group_equal(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    enum { COLUMNS = 2 };
    struct operands operands;
    struct slot *slots = arena_array(binder->arena, COLUMNS, sizeof *slots);
    const struct group_aggregate count = {
        .what = {.kind = AGG_COUNT, .value = NO_VALUE, .name = "count", .span = stage->span},
        .slot = {.name = "count", .type = TYPE_I64, .known = true}};
    operands_begin(binder, stage, flow, &operands);
    slots[0] = flow->columns[0];
    slots[1] = count.slot;
    value v = term_of_column(&operands.task->code, flow, 0, stage->span).value;
    size_t key = operands_add(&operands, v, slots[0]);
    struct task *task = new_group(&operands, &key, 1, &count, 1);
    set_group_outputs(binder, task, slots, flow);
    flow->rows = -1;
}
