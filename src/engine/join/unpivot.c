/* unpivot: a row for each of some columns of each row, with the column's name and its value. */
#include "engine/join/join_stages.h"

#include "engine/expression/texts.h"
#include "engine/formats/append_column.h"
#include "engine/lower/lower.h"

#include <stdlib.h>
#include <string.h>

struct unpivot {
    struct binder *binder;
    const struct stage *stage;
    struct flow from;
    size_t *columns; /* those that become rows */
    size_t count;
    struct scope scope; /* of the result */
    value row, which;   /* of the result's row: the row before, and which of the columns */
};

/* Finds the columns; false after an error, or if they are unknown. */
static bool find_columns(struct unpivot *unpivot)
{
    const struct stage *stage = unpivot->stage;
    struct scope scope = {.binder = unpivot->binder, .flow = &unpivot->from};
    bool known = true;
    unpivot->count = stage->item_count;
    unpivot->columns = arena_array(unpivot->binder->arena, unpivot->count, sizeof *unpivot->columns);
    for (size_t i = 0; i < unpivot->count; i++) {
        known = name_resolve_column(&scope, stage->items[i].expr, &unpivot->columns[i]) && known;
        for (size_t k = 0; k < i && known; k++) {
            if (unpivot->columns[k] == unpivot->columns[i]) {
                bind_error_second(unpivot->binder, stage->items[i].span, stage->items[k].span, "here first", NULL,
                                  "`%s` is named twice", unpivot->from.columns[unpivot->columns[i]].name);
                known = false;
            }
        }
    }
    return known;
}

static bool is_unpivoted(const struct unpivot *unpivot, size_t column)
{
    size_t i = 0;
    while (i < unpivot->count && unpivot->columns[i] != column)
        i++;
    return i < unpivot->count;
}

/* Makes the task of the result, which has `count` rows for each row. */
static struct task *begin_result(struct unpivot *unpivot)
{
    struct binder *binder = unpivot->binder;
    const struct stage *stage = unpivot->stage;
    const struct span span = stage->span;
    struct flow flow = unpivot->from;
    const int64_t rows = unpivot->from.rows;
    struct task *task;
    if (rows >= 0 && rows < INT64_MAX / LIMIT_COLUMNS) {
        task = task_new(binder, stage->word->canonical, span, NULL);
        task->rows = rows * (int64_t)unpivot->count;
        value row = code_row(&task->code, span), count = code_exact_int(&task->code, (int64_t)unpivot->count, span);
        unpivot->row = code_binary(&task->code, OP_DIV, row, count, span);
        unpivot->which = code_binary(&task->code, OP_MOD, row, count, span);
        flow = (struct flow){.rows = task->rows};
    } else {
        struct task *counts = task_of_stage(binder, stage, &flow);
        const struct places places = {.begin = code_exact_int(&counts->code, 0, span),
                                      .count = code_exact_int(&counts->code, (int64_t)unpivot->count, span),
                                      .most = (int64_t)unpivot->count};
        expand_rows(binder, stage, counts, &places, &flow);
        task = task_of_stage(binder, stage, &flow);
        unpivot->row = code_input(&task->code, 0, KIND_INT, span);
        unpivot->which = code_input(&task->code, 1, KIND_INT, span);
    }
    unpivot->scope = scope_of_stage(binder, task, &flow, NULL);
    return task;
}

/* A column's value in the row before. */
static struct term column_term(struct unpivot *unpivot, size_t column)
{
    const struct slot *slot = &unpivot->from.columns[column];
    return slot->known
               ? flow_element(unpivot->scope.task, &unpivot->from, column, unpivot->row, true, unpivot->binder->arena)
               : unknown_term;
}

/* The names of the columns as text. */
static struct term key_term(struct unpivot *unpivot)
{
    struct binder *binder = unpivot->binder;
    struct interner *interner = interner_new();
    uint32_t *map;
    for (size_t i = 0; i < unpivot->count; i++) {
        const char *name = unpivot->from.columns[unpivot->columns[i]].name;
        interner_add(interner, (struct text){name, strlen(name)});
    }
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    queue_hold_dictionary(binder->queue, dictionary);
    struct column *codes = column_of_codes(dictionary, map, NULL, (int64_t)unpivot->count);
    free(map);
    interner_free(interner);
    const struct logical_type logical = {.kind = LOGICAL_TEXT, .dictionary = dictionary};
    const struct term which = term_of(unpivot->which);
    return term_of_type(text_lookup(&unpivot->scope, which, codes, "names", unpivot->stage->span), logical);
}

/* The type that holds the values of all columns; false, with an error, if there is none. */
static bool widen(const struct unpivot *unpivot, struct column_type *type)
{
    struct arena *arena = unpivot->binder->arena;
    const struct slot *first = &unpivot->from.columns[unpivot->columns[0]];
    *type = (struct column_type){first->type, first->logical};
    for (size_t i = 1; i < unpivot->count; i++) {
        const struct slot *slot = &unpivot->from.columns[unpivot->columns[i]];
        if (type_widen(type, (struct column_type){slot->type, slot->logical}))
            continue;
        const char *name = logical_type_name(first->logical, first->type);
        name = arena_text(arena, name, strlen(name));
        return bind_error(unpivot->binder, unpivot->stage->items[i].span,
                          "convert one of them with `derive` first, as by int(), float(), date()",
                          "`%s` is %s, but `%s` is %s: they cannot be one column", first->name, name, slot->name,
                          logical_type_name(slot->logical, slot->type));
    }
    return true;
}

static struct term value_term(struct unpivot *unpivot)
{
    struct code *code = unpivot->scope.code;
    const struct span span = unpivot->stage->span;
    const struct expr name = {.kind = EXPR_NAME, .span = span};
    struct term term = column_term(unpivot, unpivot->columns[unpivot->count - 1]);
    for (size_t i = unpivot->count - 1; i-- > 0;) {
        const value is_this = code_with(code, OP_EQ, unpivot->which, (int64_t)i, span);
        term = bind_choice(&unpivot->scope, is_this, column_term(unpivot, unpivot->columns[i]), &name, term, &name,
                           "`unpivot`", span);
    }
    return term;
}

/* The columns that stay, then the name and the value. */
static void set_result(struct unpivot *unpivot, struct task *task, struct column_type type, struct flow *flow)
{
    struct arena *arena = unpivot->binder->arena;
    const struct flow *from = &unpivot->from;
    struct slot *slots = arena_array(arena, from->count + 2, sizeof *slots);
    struct term *terms = arena_array(arena, from->count + 2, sizeof *terms);
    size_t count = 0;
    for (size_t k = 0; k < from->count; k++) {
        if (is_unpivoted(unpivot, k))
            continue;
        slots[count] = from->columns[k];
        terms[count++] = column_term(unpivot, k);
    }
    terms[count] = key_term(unpivot);
    slots[count] = slot_of_term(&unpivot->scope, terms[count]);
    slots[count++].name = unpivot->stage->made[0].text;
    terms[count] = value_term(unpivot);
    slots[count] = slot_of_term(&unpivot->scope, terms[count]);
    slots[count].type = type.logical.kind == LOGICAL_TEXT ? slots[count].type : type.type;
    slots[count++].name = unpivot->stage->made[1].text;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < k; i++) {
            if (strcmp(slots[k].name, slots[i].name) == 0)
                bind_error(unpivot->binder, unpivot->stage->made[k + 1 == count].span, "choose another name",
                           "there already is a column `%s`", slots[k].name);
        }
    }
    *flow = (struct flow){.rows = task->rows};
    task_set_outputs(unpivot->binder, task, flow, slots, terms, count);
}

void bind_unpivot(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct unpivot unpivot = {.binder = binder, .stage = stage, .from = *flow};
    struct column_type type;
    bool known = find_columns(&unpivot) && !flow->open;
    for (size_t i = 0; i < unpivot.count && known; i++)
        known = flow->columns[unpivot.columns[i]].known;
    if (!known || !widen(&unpivot, &type)) {
        task_unknown(binder, stage, flow);
        return;
    }
    set_result(&unpivot, begin_result(&unpivot), type, flow);
}
