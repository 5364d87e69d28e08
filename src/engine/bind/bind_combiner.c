/* The function of scan and reduce: an operator or a user function. */
#include "engine/bind/bind_internal.h"
#include "engine/plan/code_loop.h"

#include <string.h>

bool combiner_operator(const char *text, enum aggregate_kind *kind)
{
    const char *op = strcmp(text, "or") == 0 ? aggregate_table[AGG_BITOR].op : text;
    for (int k = 0; k < AGG_KINDS; k++) {
        if (!aggregate_table[k].op || strcmp(aggregate_table[k].op, op) != 0)
            continue;
        *kind = (enum aggregate_kind)k;
        return true;
    }
    return false;
}

static void unknown_operator(struct binder *binder, const struct stage *stage)
{
    const char *names[AGG_KINDS], *listed = "the operators are";
    size_t count = 0;
    for (int k = 0; k < AGG_KINDS; k++) {
        if (!aggregate_table[k].op)
            continue;
        names[count++] = aggregate_table[k].op;
        listed = arena_printf(binder->arena, "%s %s", listed, aggregate_table[k].op);
    }
    const char *word = text_of_word(binder->arena, stage);
    if (env_find(binder->env, stage->op.text) && env_find(binder->env, stage->op.text)->kind == BINDING_FUNCTION)
        bind_error(
            binder, stage->op.span,
            arena_printf(binder->arena, "`%s |a, b| %s(a, b)` combines values with a function", word, stage->op.text),
            "`%s` takes an operator or an expression of two values", word);
    else
        bind_error(binder, stage->op.span,
                   arena_printf(binder->arena, "%s; write any other function as |a, b| E", listed),
                   "`%s` cannot combine values with `%s`%s", word, stage->op.text,
                   did_you_mean(binder->arena, stage->op.text, names, count));
}

/* Creates a task for the function, outside of the queue: inputs 0 and 1 are the two values. */
static struct task *new_body(struct binder *binder, const struct stage *stage, const struct flow *pair)
{
    struct task *body = arena_alloc(binder->arena, sizeof *body);
    code_init(&body->code, binder->arena);
    body->span = stage->span;
    body->rows = 1;
    body->limit = INT64_MAX;
    body->window = (struct window){.take = INT64_MAX, .tail = -1};
    task_reserve_inputs(body, pair->count, binder->arena);
    task_add_inputs(body, pair);
    return body;
}

/* Converts the function's value to the kind it combines. */
static value result_of(struct scope *scope, const struct expr *expr, enum kind kind, value v)
{
    if (v == NO_VALUE)
        return NO_VALUE;
    v = bind_number(scope->code, v, expr->span);
    const enum kind given = scope->code->at[v].kind;
    if (kind == KIND_FLOAT && given == KIND_INT)
        return code_unary(scope->code, OP_TO_FLOAT, v, expr->span);
    if (kind == given)
        return v;
    bind_error(scope->binder, expr->span,
               "its results are combined again; convert the values first with `map float(x)`",
               "the function returns a float, but takes integers");
    return NO_VALUE;
}

static struct user_reduce *bind_reducer(struct binder *binder, const struct stage *stage, enum kind kind)
{
    const struct head *head = stage->head;
    const struct expr *expr = stage->items[0].expr;
    if (head->count != 2) {
        bind_error(binder, head->span, "as in `|a, b| a + b`", "`%s` takes a function of two values, not %zu",
                   text_of_word(binder->arena, stage), head->count);
        return NULL;
    }
    struct slot slots[] = {{.name = head->names[0].text, .type = type_of_kind(kind), .known = true},
                           {.name = head->names[1].text, .type = type_of_kind(kind), .known = true}};
    struct flow pair = {.columns = slots, .count = 2, .rows = 1};
    struct task *body = new_body(binder, stage, &pair);
    struct scope scope = {
        .binder = binder, .code = &body->code, .task = body, .flow = &pair, .head = head, .combines = true};
    name_check_head(&scope);
    const value v = result_of(&scope, expr, kind, bind_plain(&scope, expr, "the function"));
    if (v == NO_VALUE)
        return NULL;
    if (code_has_loops(&body->code)) {
        bind_error(binder, expr->span, "compute it for the rows before, with `map`",
                   "a function that combines values cannot fold over an index");
        return NULL;
    }
    body->outputs = arena_alloc(binder->arena, sizeof *body->outputs);
    body->outputs[0] = (struct output){.value = v, .type = type_of_kind(kind), .needed = true};
    body->output_count = 1;
    return ARENA_NEW(binder->arena, struct user_reduce, .kind = kind, .body = body, .count = 1);
}

/* Binds `from INIT` as a value of that kind. */
static bool bind_initial(struct binder *binder, const struct stage *stage, enum kind kind, struct aggregate *what)
{
    struct scalar scalar;
    struct scope scope = scope_without_columns(binder, NULL, "an initial value is the same for all rows");
    if (stage->initial_count != 1)
        return bind_error(binder, stage->initial[1].span, NULL, "one value is combined, but `from` has %zu",
                          stage->initial_count);
    const struct expr *expr = stage->initial->expr;
    const enum known known = bind_constant(&scope, expr, &scalar);
    if (known == KNOWN_NOTHING)
        return false;
    if (scalar.logical.kind != LOGICAL_NUMBER && !scalar.missing)
        return bind_error(binder, expr->span, NULL, "the initial value is not a number, but the values are");
    if (kind == KIND_INT && scalar.kind == KIND_FLOAT)
        return bind_error(binder, expr->span, "convert the values first with `map float(x)`",
                          "the initial value is a float, but the values are integers");
    if (known == KNOWN_VALUE && scalar.missing)
        return bind_error(binder, expr->span, "give a value, or leave out `from`", "the initial value is missing");
    what->has_initial = true;
    if (known == KNOWN_KIND)
        scalar = (struct scalar){.kind = scalar.kind}; /* only the kind counts in a check */
    what->initial = kind == KIND_FLOAT && scalar.kind != KIND_FLOAT ? scalar_float((double)scalar.integer) : scalar;
    what->initial.kind = kind;
    return true;
}

bool bind_combiner(struct binder *binder, const struct stage *stage, enum kind kind, struct aggregate *what)
{
    bool good = true;
    *what =
        (struct aggregate){.kind = AGG_FOLD, .name = stage->word->canonical, .span = stage->span, .value = NO_VALUE};
    bool has_identity = false;
    if (!stage->op.text) {
        what->reducer = bind_reducer(binder, stage, kind);
        good = what->reducer;
    } else {
        if (!combiner_operator(stage->op.text, &what->kind)) {
            unknown_operator(binder, stage);
            return false;
        }
        has_identity = !aggregate_table[what->kind].extreme;
        if (aggregate_table[what->kind].bits && kind == KIND_FLOAT) {
            bind_error(binder, stage->op.span, "convert the values first with `map int(x)`, which truncates",
                       "`%s` needs integers, but the values are floats", stage->op.text);
            good = false;
        }
    }
    if (stage->initial)
        return bind_initial(binder, stage, kind, what) && good;
    if (good && stage->exclusive.text && !has_identity)
        return bind_error(binder, stage->exclusive.span, "give an initial value: `exclusive from INIT`",
                          "an exclusive scan needs an initial value: %s no neutral value",
                          stage->op.text ? arena_printf(binder->arena, "`%s` has", stage->op.text) : "a function has");
    return good;
}
