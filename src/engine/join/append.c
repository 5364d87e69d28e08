/* append: the rows of another relation after those of the flow, columns by name. */
#include "engine/join/join_stages.h"

#include "engine/expression/zoned.h"
#include "engine/formats/append_column.h"
#include "engine/lower/lower.h"
#include "engine/source/bind_source.h"

#include <string.h>

/* The two relations, and where a row of the result is in them. */
struct append {
    struct binder *binder;
    const struct stage *stage;
    struct flow sides[2];
    struct scope scope; /* of the result */
    value is_first;
    value rows[2]; /* of each side; beyond it where the row is of the other */
};

/* Without both numbers of rows, an operator lists the rows. */
static void list_rows(struct append *append, struct flow *flow)
{
    struct binder *binder = append->binder;
    const struct stage *stage = append->stage;
    struct flow *second = &append->sides[1];
    struct flow first = {.task = append->sides[0].task, .columns = append->sides[0].columns, .count = 1, .rows = -1};
    struct task *task = operator_new(binder, "append", stage->span, &first, OPERATOR_APPEND, 2);
    const struct input input = flow_input(second, 0);
    task->rows = append->sides[0].rows;
    task->column_op->keys[0] = 0;
    task->column_op->keys[1] = task_add_input(task, &input, binder->arena);
    *flow = (struct flow){.rows = -1};
    task_set_slot(binder, task, flow, (struct slot){.name = "row", .type = TYPE_I64, .known = true},
                  task_input(task, 0));
}

static value op(struct append *append, enum op which, value a, value b)
{
    return code_binary(append->scope.code, which, a, b, append->stage->span);
}

/* Makes the task of the result, and finds each row's place. */
static struct task *begin_result(struct append *append)
{
    struct binder *binder = append->binder;
    const struct stage *stage = append->stage;
    const struct span span = stage->span;
    struct flow flow = {.rows = -1}, *sides = append->sides;
    const bool known = sides[0].rows >= 0 && sides[1].rows >= 0;
    struct task *task;
    if (known) {
        task = task_new(binder, stage->word->canonical, span, NULL);
        task->rows = sides[0].rows + sides[1].rows;
    } else {
        list_rows(append, &flow);
        task = task_of_stage(binder, stage, &flow);
    }
    append->scope = scope_of_stage(binder, task, &flow, NULL);
    struct code *code = &task->code;
    const value one = code_exact_int(code, 1, span);
    const value row = known ? code_row(code, span) : code_input(code, 0, KIND_INT, span);
    const value first = code_int(code, sides[0].rows, span);
    append->rows[0] = row;
    append->rows[1] =
        known ? op(append, OP_SUB, row, first) : op(append, OP_SUB, code_unary(code, OP_NEG, row, span), one);
    append->is_first = known ? op(append, OP_LT, row, first) : op(append, OP_LE, code_exact_int(code, 0, span), row);
    return task;
}

/* A column of a side, or `missing`, where the row is of that side; else anything. */
static struct term side_term(struct append *append, int side, size_t column)
{
    const struct flow *flow = &append->sides[side];
    const struct span span = append->stage->span;
    struct task *task = append->scope.task;
    if (column == flow->count) {
        struct term term = term_of(code_exact_int(&task->code, 0, span));
        term.present = code_bool(&task->code, false, span);
        term.missing = true;
        return term;
    }
    return flow->columns[column].known
               ? flow_element(task, flow, column, append->rows[side], false, append->binder->arena)
               : unknown_term;
}

/* The slot that holds the columns of both sides; false, with an error, if there is none. */
static bool widen(const struct append *append, const struct slot *first, const struct slot *second, struct slot *slot)
{
    struct binder *binder = append->binder;
    struct column_type type = {first->type, first->logical};
    if (!first->known || !second->known || type_widen(&type, (struct column_type){second->type, second->logical})) {
        slot->type = type.type;
        return true;
    }
    const char *name = logical_type_name(first->logical, first->type);
    name = arena_text(binder->arena, name, strlen(name));
    const char *zones = zoned_advice(binder->arena, first->name, &first->logical, second->name, &second->logical);
    return bind_error(binder, append->stage->sources[0].span,
                      zones ? zones : "convert one of them with `derive` first, as by int(), float(), date()",
                      "`%s` is %s, but the rows to append have %s there", first->name, name,
                      logical_type_name(second->logical, second->type));
}

static bool is_vacant(const struct slot *slot)
{
    const struct dictionary *dictionary = slot->logical.kind == LOGICAL_TEXT ? slot->logical.dictionary : NULL;
    return dictionary && dictionary->count == 0;
}

/* The side whose column has no values, which are of any type, if the types differ; SIZE_MAX: there is none. */
static size_t vacant_side(const struct slot *const *slots)
{
    struct column_type type = {slots[0]->type, slots[0]->logical};
    const bool known = slots[0]->known && slots[1]->known;
    if (!known || type_widen(&type, (struct column_type){slots[1]->type, slots[1]->logical}))
        return SIZE_MAX;
    return is_vacant(slots[0]) ? 0 : is_vacant(slots[1]) ? 1 : SIZE_MAX;
}

/* A column of the result: column i of the first side, k of the second, or the side's count. */
static bool append_column(struct append *append, size_t i, size_t k, struct slot *slot, struct term *term)
{
    const struct flow *sides = append->sides;
    const struct expr name = {.kind = EXPR_NAME, .span = append->stage->span};
    const bool both = i < sides[0].count && k < sides[1].count;
    *slot = i < sides[0].count ? sides[0].columns[i] : sides[1].columns[k];
    const struct slot *const slots[] = {&sides[0].columns[i], both ? &sides[1].columns[k] : NULL};
    const size_t vacant = both ? vacant_side(slots) : SIZE_MAX;
    if (vacant < 2)
        *slot = *slots[1 - vacant];
    if (vacant == SIZE_MAX && both && !widen(append, slots[0], slots[1], slot))
        return false;
    i = vacant == 0 ? sides[0].count : i;
    k = vacant == 1 ? sides[1].count : k;
    struct term first = side_term(append, 0, i), second = side_term(append, 1, k);
    *term = bind_choice(&append->scope, append->is_first, first, &name, second, &name, "`append`", append->stage->span);
    if (both && term->logical.kind == LOGICAL_TEXT)
        slot->type = slot_of_term(&append->scope, *term).type;
    return true;
}

void append_flow(struct binder *binder, const struct stage *stage, const struct flow *second, struct flow *flow)
{
    struct append append = {.binder = binder, .stage = stage, .sides = {*flow, *second}};
    const struct flow *sides = append.sides;
    const size_t most = sides[0].count + sides[1].count;
    if (sides[0].open || sides[1].open || too_many_columns(binder, most, stage->span)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct task *task = begin_result(&append);
    struct slot *slots = arena_array(binder->arena, most + 1, sizeof *slots);
    struct term *terms = arena_array(binder->arena, most + 1, sizeof *terms);
    size_t count = 0;
    bool fit = true;
    for (size_t i = 0; i < sides[0].count; i++, count++)
        fit =
            append_column(&append, i, flow_place(&sides[1], sides[0].columns[i].name), &slots[count], &terms[count]) &&
            fit;
    for (size_t k = 0; k < sides[1].count; k++) {
        if (flow_place(&sides[0], sides[1].columns[k].name) == sides[0].count) {
            fit = append_column(&append, sides[0].count, k, &slots[count], &terms[count]) && fit;
            count++;
        }
    }
    *flow = (struct flow){.rows = task->rows};
    if (!fit) {
        task_set_slots(binder, task, flow, NULL, NULL, 0, 0);
        flow->open = true;
        return;
    }
    task_set_outputs(binder, task, flow, slots, terms, count);
}

void bind_append(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow second;
    bind_source(binder, &stage->sources[0], &second);
    if (!bind_gave_up(binder))
        append_flow(binder, stage, &second, flow);
}
