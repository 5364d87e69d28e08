#include "base/text.h"
#include "engine/lower/lower.h"

#include "engine/plan/code_loop.h"
#include "engine/plan/combining.h"

#include <string.h>

/* A stage that combines rows. The state is what the function gives: `count` columns, then hidden ones of validity. */
struct combination {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *from;
    size_t count, hidden;
    size_t *columns;    /* of each column of the state, that of `from` */
    struct slot *slots; /* of the state */
    bool *nullable;     /* of each column: it may be missing */
    bool known;
};

static bool is_parameter(const struct stage *stage, const struct name *name)
{
    return ROW_NAMED(stage->head->names, stage->head->count, name->text);
}

/* The column that the expression takes of one of the rows; no text: none. */
static struct name column_of_row(const struct stage *stage, const struct expr *expr, struct arena *arena)
{
    struct expr element;
    if (expr_of_path(expr, arena, &element))
        expr = &element;
    const bool column = expr->kind == EXPR_INDEX && expr->column.text && is_parameter(stage, &expr->name);
    return column ? expr->column : (struct name){0};
}

static bool reads_columns(const struct stage *stage, const struct expr *expr, struct arena *arena)
{
    if (column_of_row(stage, expr, arena).text)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (reads_columns(stage, expr->args[i], arena))
            return true;
    }
    return false;
}

bool combines_rows(const struct stage *stage, struct arena *arena)
{
    return stage->head &&
           (stage->item_count > 1 || stage->items[0].name.text || reads_columns(stage, stage->items[0].expr, arena));
}

/* The name of a column of the state: as written, or that of the column that the expression is. */
static struct name name_of(const struct combination *c, const struct item *item)
{
    return item->name.text ? item->name : column_of_row(c->stage, item->expr, c->binder->arena);
}

/* Finds the columns that the function gives among those of the rows; false after an error. */
static bool find_columns(struct combination *c)
{
    struct binder *binder = c->binder;
    struct arena *arena = binder->arena;
    bool good = true;
    for (size_t i = 0; i < c->count; i++) {
        const struct item *item = &c->stage->items[i];
        const struct name name = name_of(c, item);
        const size_t k = name.text ? flow_place(c->from, name.text) : 0;
        c->columns[i] = k;
        if (!name.text)
            bind_error(binder, item->span,
                       "its results are combined again, so they have names of columns: `E as NAME, ...`",
                       "`%s` needs a name", text_of_span(arena, item->span, 40));
        else if (k == c->from->count)
            bind_error(binder, name.span,
                       arena_printf(arena, "its results are combined again; the columns are %s",
                                    text_of_columns(arena, c->from)),
                       "the function gives a column `%s`, which the rows do not have", name.text);
        good = good && name.text && k < c->from->count;
        for (size_t j = 0; j < i && good; j++) {
            if (c->columns[j] == k) {
                bind_error(binder, item->span, NULL, "the function gives `%s` twice", name.text);
                good = false;
            }
        }
    }
    return good;
}

/* Sets the state's columns, and the hidden ones of those that may be missing. */
static void set_slots(struct combination *c)
{
    c->hidden = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct slot *from = &c->from->columns[c->columns[i]];
        const bool number = from->logical.kind == LOGICAL_NUMBER;
        const enum kind kind = type_table[from->type].kind;
        c->slots[i] = (struct slot){.name = from->name,
                                    .type = number ? type_of_kind(kind) : from->type,
                                    .known = from->known,
                                    .logical = from->logical};
        c->known = c->known && from->known;
        if (!c->nullable[i])
            continue;
        c->slots[i].validity = c->count + c->hidden++;
        c->slots[c->slots[i].validity] = (struct slot){
            .name = arena_printf(c->binder->arena, "%s present", from->name), .type = TYPE_BOOL, .known = true};
    }
}

/* The function's task, outside of the queue: its inputs are those of the left row, then those of the right one. */
static struct task *new_body(const struct combination *c)
{
    struct arena *arena = c->binder->arena;
    const size_t width = c->count + c->hidden;
    struct task *body = arena_alloc(arena, sizeof *body);
    code_init(&body->code, arena);
    body->span = c->stage->span;
    body->rows = 1;
    body->limit = INT64_MAX;
    body->window = (struct window){.take = INT64_MAX, .tail = -1};
    task_reserve_inputs(body, 2 * width, arena);
    for (size_t k = 0; k < 2 * width; k++) {
        const struct slot *slot = &c->slots[k % width];
        const char *row = c->stage->head->names[k / width].text;
        struct input *input = &body->inputs[body->input_count++];
        *input = (struct input){.type = slot->type, .name = arena_printf(arena, "%s.%s", row, slot->name)};
    }
    return body;
}

static struct term missing_of_kind(struct code *code, enum kind kind, struct span span)
{
    struct term term = term_of(kind == KIND_FLOAT  ? code_float(code, 0, span)
                               : kind == KIND_BOOL ? code_bool(code, false, span)
                                                   : code_exact_int(code, 0, span));
    term.present = code_bool(code, false, span);
    return term;
}

/* Makes the function's value one of its column's type; false after an error. */
static bool fit(struct scope *scope, const struct item *item, const struct slot *slot, struct term *term)
{
    struct binder *binder = scope->binder;
    struct code *code = scope->code;
    const enum kind kind = type_table[slot->type].kind;
    if (term->missing) {
        *term = missing_of_kind(code, kind, item->span);
        return true;
    }
    const struct term before = {.value = code_input(code, 0, kind, item->span), .logical = slot->logical};
    const enum term_class wanted = class_of(code, before), given = class_of(code, *term);
    if (wanted == CLASS_FLOAT && (given == CLASS_INT || given == CLASS_BOOL)) {
        term->value = code_unary(code, OP_TO_FLOAT, term->value, item->span);
        return true;
    }
    if (wanted == CLASS_INT && given == CLASS_BOOL) {
        term->value = bind_number(code, term->value, item->span);
        return true;
    }
    if (wanted == given && logical_is_same(&term->logical, &slot->logical))
        return true;
    const char *name = name_written(slot->name, binder->arena);
    if (wanted == CLASS_INT && given == CLASS_FLOAT)
        return bind_error(
            binder, item->span, arena_printf(binder->arena, "begin with floats: `derive %s = float(%s)`", name, name),
            "`%s` is an integer in the rows, but the function gives a float, and its results are combined again",
            slot->name);
    if (wanted == given)
        return bind_error(binder, item->span,
                          wanted == CLASS_TEXT ? "the function can choose among the texts of its rows"
                                               : "`round` gives a decimal the digits that it had",
                          "the function gives `%s` another type than it has in the rows", slot->name);
    return bind_error(binder, item->span, "its results are combined again, so they have the types of the rows",
                      "`%s` is %s in the rows, but the function gives %s", slot->name, class_noun(wanted),
                      class_noun(given));
}

/* Binds the function; NULL after an error. *again: a column may be missing that was not known to be so. */
static struct task *bind_body(struct combination *c, bool *again)
{
    struct binder *binder = c->binder;
    const size_t width = c->count + c->hidden;
    struct task *body = new_body(c);
    const struct flow rows = {.columns = c->slots, .count = c->count, .hidden = c->hidden, .rows = 1};
    const struct row_pair pair = {.names = c->stage->head->names, .rows = &rows, .right = width, .from = c->from};
    struct scope scope = {
        .binder = binder,
        .code = &body->code,
        .task = body,
        .combines = true,
        .pair = &pair,
        .no_columns = arena_printf(binder->arena, "the function's rows have columns: `%s.%s`, `%s.%s`",
                                   pair.names[0].text, c->slots[0].name, pair.names[1].text, c->slots[0].name),
    };
    bool good = true;
    *again = false;
    body->outputs = arena_array(binder->arena, width, sizeof *body->outputs);
    body->output_count = width;
    for (size_t i = 0; i < c->count; i++) {
        const struct item *item = &c->stage->items[i];
        const struct slot *slot = &c->slots[i];
        struct term term = bind_term(&scope, item->expr);
        if (!term_is_known(term) && !term.missing) {
            good = false;
            continue;
        }
        if (!fit(&scope, item, slot, &term)) {
            good = false;
            continue;
        }
        *again = *again || (term.present != NO_VALUE && !c->nullable[i]);
        c->nullable[i] = c->nullable[i] || term.present != NO_VALUE;
        const value v = term_settled(&body->code, term, item->span);
        body->outputs[i] = (struct output){.value = v, .type = slot->type, .needed = true};
        if (slot->validity == 0)
            continue;
        const value present = term.present != NO_VALUE ? term.present : code_bool(&body->code, true, item->span);
        body->outputs[slot->validity] = (struct output){.value = present, .type = TYPE_BOOL, .needed = true};
    }
    if (good && code_has_loops(&body->code)) {
        bind_error(binder, c->stage->items[0].span, "compute it for the rows before, with `derive`",
                   "a function that combines rows cannot fold over an index");
        good = false;
    }
    return good ? body : NULL;
}

/* Binds `from E, ...`: a constant for each column of the state. */
static bool bind_initial(const struct combination *c, struct combining *how)
{
    struct binder *binder = c->binder;
    const struct stage *stage = c->stage;
    struct scope scope = scope_without_columns(binder, NULL, "an initial value is the same for all rows");
    if (stage->initial_count != c->count)
        return bind_error(binder, stage->initial->span, "`from E, ...` has a value for each column, in their order",
                          "the function gives %s, but `from` has %s",
                          text_of_count(binder->arena, (int64_t)c->count, "column"),
                          text_of_count(binder->arena, (int64_t)stage->initial_count, "value"));
    how->has_initial = true;
    how->initial = arena_array(binder->arena, c->count + c->hidden, sizeof *how->initial);
    for (size_t i = 0; i < c->count; i++) {
        const struct expr *expr = stage->initial[i].expr;
        const struct slot *slot = &c->slots[i];
        const enum kind kind = type_table[slot->type].kind;
        struct scalar scalar;
        const enum known known = bind_constant(&scope, expr, &scalar);
        if (known == KNOWN_NOTHING)
            return false;
        if (known == KNOWN_VALUE && scalar.missing)
            return bind_error(binder, expr->span, "give a value, or leave out `from`",
                              "the initial value of `%s` is missing", slot->name);
        const bool same = scalar.logical.kind == slot->logical.kind && scalar.logical.scale == slot->logical.scale;
        const bool number = kind != KIND_BOOL && (scalar.kind == kind || kind == KIND_FLOAT);
        if (slot->logical.kind == LOGICAL_TEXT || !same || !(number || scalar.kind == kind))
            return bind_error(binder, expr->span, NULL,
                              slot->logical.kind == LOGICAL_TEXT ? "`%s` is text, which has no initial value"
                                                                 : "this initial value is not of the type of `%s`",
                              slot->name);
        if (known == KNOWN_KIND)
            scalar = (struct scalar){.kind = scalar.kind}; /* only the kind counts in a check */
        how->initial[i] =
            kind == KIND_FLOAT && scalar.kind != KIND_FLOAT ? scalar_float((double)scalar.integer) : scalar;
        how->initial[i].kind = kind;
        if (slot->validity != 0)
            how->initial[slot->validity] = scalar_bool(true);
    }
    return true;
}

/* The result's columns where it cannot be bound. */
static void give_unknown(const struct combination *c, struct flow *flow)
{
    struct binder *binder = c->binder;
    struct slot *slots = arena_array(binder->arena, c->count, sizeof *slots);
    value *values = arena_array(binder->arena, c->count, sizeof *values);
    bool named = true;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = name_of(c, &c->stage->items[i]).text;
        named = named && name;
        slots[i] = (struct slot){.name = name ? name : "", .type = TYPE_I64};
        values[i] = NO_VALUE;
    }
    struct task *task = task_of_stage(binder, c->stage, flow);
    task_set_slots(binder, task, flow, slots, values, named ? c->count : 0, 0);
    flow->open = !named;
}

/* The operands: the columns of the state, then those that say where they have values. */
static struct task *add_operator(const struct combination *c, struct combining *how)
{
    const struct stage *stage = c->stage;
    const size_t width = c->count + c->hidden;
    struct operands operands;
    operands_begin(c->binder, stage, c->from, &operands);
    struct code *code = &operands.task->code;
    size_t *operand = arena_array(c->binder->arena, width, sizeof *operand);
    for (size_t i = 0; i < c->count; i++) {
        const struct term term = term_of_column(code, c->from, c->columns[i], stage->span);
        operand[i] = operands_add(&operands, term.value, c->slots[i]);
        const size_t validity = c->slots[i].validity;
        if (validity == 0)
            continue;
        const value present = term.present != NO_VALUE ? term.present : code_bool(code, true, stage->span);
        operand[validity] = operands_add(&operands, present, c->slots[validity]);
    }
    size_t *inputs = arena_array(c->binder->arena, width, sizeof *inputs);
    struct task *task = operands_end(&operands, stage->word->canonical, OPERATOR_COMBINE, width, inputs);
    for (size_t k = 0; k < width; k++)
        task->column_op->keys[k] = inputs[operand[k]];
    task->column_op->exclusive = stage->exclusive.text;
    task->column_op->combining = how;
    return task;
}

static void bind_combination(struct combination *c, struct flow *flow)
{
    struct binder *binder = c->binder;
    struct combining *how = arena_alloc(binder->arena, sizeof *how);
    struct task *body;
    bool again;
    do {
        set_slots(c);
        body = c->known ? bind_body(c, &again) : NULL;
    } while (body && again);
    *how = (struct combining){.reduces = c->stage->word->stage == STAGE_REDUCE};
    if (!body || (c->stage->initial_count > 0 && !bind_initial(c, how))) {
        give_unknown(c, flow);
        return;
    }
    const size_t width = c->count + c->hidden;
    how->reducer = (struct user_reduce){.body = body, .count = width};
    for (size_t i = 0; i < c->count; i++)
        how->in_order = how->in_order || type_table[c->slots[i].type].kind == KIND_FLOAT;
    struct task *task = add_operator(c, how);
    value *values = arena_array(binder->arena, width, sizeof *values);
    for (size_t k = 0; k < width; k++) {
        const enum kind kind = type_table[c->slots[k].type].kind;
        values[k] = code_input(&task->code, (int64_t)task->column_op->keys[k], kind, c->stage->span);
        task->code.at[values[k]].fallible = true;
    }
    task_set_slots(binder, task, flow, c->slots, values, c->count, c->hidden);
}

/* What a function of rows cannot have around it; true after an error. */
static bool refuse(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    const char *word = text_of_word(binder->arena, stage);
    const size_t before = binder->errors;
    if (stage->head->count != 2)
        bind_error(binder, stage->head->span, "as in `|p, q| p.a + q.a as a`",
                   "`%s` takes a function of two rows, not %zu", word, stage->head->count);
    else if (strcmp(stage->head->names[0].text, stage->head->names[1].text) == 0)
        bind_error_second(binder, stage->head->names[1].span, stage->head->names[0].span, "here first", NULL,
                          "`%s` is named twice", stage->head->names[1].text);
    else if (stage->along.text)
        bind_error(binder, stage->along.span, "without `along` it combines all rows",
                   "`%s ... along` combines values of one column, not rows", word);
    else if (flow->group != 0)
        bind_error(binder, stage->span, "other windows are `derive NAME = AGG(E) over A..B`",
                   "within `per`, `%s` does not combine rows", word);
    else if (stage->exclusive.text && stage->initial_count == 0)
        bind_error(binder, stage->exclusive.span, "give a value for each column: `exclusive from E, ...`",
                   "an exclusive scan needs initial values: a function has no neutral value");
    return binder->errors > before;
}

void lower_combine(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct flow from = *flow;
    struct combination c = {.binder = binder, .stage = stage, .from = &from, .count = stage->item_count, .known = true};
    c.columns = arena_array(binder->arena, c.count, sizeof *c.columns);
    c.slots = arena_array(binder->arena, 2 * c.count, sizeof *c.slots);
    c.nullable = arena_array(binder->arena, c.count, sizeof *c.nullable);
    if (refuse(binder, stage, flow) || from.open || !find_columns(&c)) {
        give_unknown(&c, flow);
    } else {
        for (size_t i = 0; i < c.count; i++)
            c.nullable[i] = from.columns[c.columns[i]].validity != 0;
        bind_combination(&c, flow);
    }
    if (stage->word->stage == STAGE_REDUCE)
        flow->rows = 1;
}
