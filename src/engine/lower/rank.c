/* rank(E): rows are ordered by their group and E. There, equal values are groups themselves: a rank is the row's number
 * in its group, less that among its equals. It returns to the row's place by a scatter. ntile(N, E) takes the number as
 * it is. */

#include "engine/expression/texts.h"
#include "engine/lower/lower.h"
#include "engine/lower/over.h"

#include <string.h>

/* A call as written. */
struct ranking {
    struct term term;
    bool descending, dense;
    bool numbered; /* equal values have numbers of their own, from 0 */
    size_t at;     /* the argument that is ranked */
};

/* The words after E. */
static bool bind_options(struct binder *binder, const struct expr *expr, struct ranking *ranking)
{
    for (size_t i = ranking->at + 1; i < expr->arg_count; i++) {
        const struct expr *option = expr->args[i];
        const char *word = option->kind == EXPR_NAME ? option->name.text : "";
        bool *set = strcmp(word, "desc") == 0                          ? &ranking->descending
                    : strcmp(word, "dense") == 0 && !ranking->numbered ? &ranking->dense
                                                                       : NULL;
        if (!set || *set)
            return ranking->numbered ? bind_error(binder, option->span, "usage: ntile(N, E [, desc])",
                                                  "after its value `ntile` takes `desc`")
                                     : bind_error(binder, option->span, "usage: rank(E [, desc] [, dense])",
                                                  "after its value `rank` takes `desc` and `dense`");
        *set = true;
    }
    return true;
}

/* A key whose ascending order is that of the values, or their descending one. NaN stays last. */
static value key_of(struct code *code, const struct ranking *ranking, struct span span)
{
    const value v = term_settled(code, ranking->term, span);
    if (!ranking->descending)
        return v;
    switch (code->at[v].kind) {
    case KIND_BOOL:
        return code_unary(code, OP_NOT, v, span);
    case KIND_FLOAT:
        return code_unary(code, OP_NEG, v, span);
    case KIND_INT:
        break;
    }
    return code_unary(code, OP_BITNOT, v, span);
}

enum { KEY_GROUP, KEY_MISSING, KEY_VALUE, KEYS };

/* The values by which rows are ordered: computed on the scope's rows. */
static struct flow order_keys(struct scope *scope, const struct ranking *ranking, struct span span)
{
    struct code *code = scope->code;
    struct slot *slots = arena_array(scope->binder->arena, KEYS, sizeof *slots);
    value values[KEYS];
    values[KEY_GROUP] =
        scope->group != 0 ? code_input(code, (int64_t)scope->group, KIND_INT, span) : code_exact_int(code, 0, span);
    values[KEY_MISSING] = ranking->term.present == NO_VALUE ? code_bool(code, false, span)
                                                            : code_unary(code, OP_NOT, ranking->term.present, span);
    values[KEY_VALUE] = key_of(code, ranking, span);
    slots[KEY_GROUP] = (struct slot){.name = "group", .type = TYPE_I64, .known = true};
    slots[KEY_MISSING] = (struct slot){.name = "missing", .type = TYPE_BOOL, .known = true};
    slots[KEY_VALUE] = slot_of_term(scope, ranking->term);
    slots[KEY_VALUE].name = "value";
    if (values[KEY_VALUE] != ranking->term.value)
        slots[KEY_VALUE].type = type_of_kind(code->at[values[KEY_VALUE]].kind);
    struct flow keys;
    hoist_values(scope, span, slots, values, KEYS, &keys);
    return keys;
}

/* In the order of the keys: each row's place before, the number of its value, and that of its group. */
enum { RANKED_PLACE, RANKED_EQUALS, RANKED_GROUP, RANKED };

static struct flow order_rows(struct binder *binder, struct flow *keys, bool grouped, struct span span)
{
    struct arena *arena = binder->arena;
    struct task *task = operator_new(binder, "rank", span, keys, OPERATOR_PARTITION, KEYS);
    for (size_t k = 0; k < KEYS; k++)
        task->column_op->keys[k] = k;
    struct slot *slots = arena_array(arena, RANKED, sizeof *slots);
    slots[RANKED_PLACE] = (struct slot){.name = "place", .type = TYPE_I64, .known = true};
    slots[RANKED_EQUALS] = (struct slot){.name = "equals", .type = TYPE_I64, .known = true};
    const value placeholder = code_input(&task->code, 0, KIND_INT, span);
    struct flow ordered = *keys;
    task_set_slots(binder, task, &ordered, slots, (value[]){placeholder, placeholder}, 2, 0);

    struct task *reading = task_reading(binder, "map", span, &ordered);
    struct code *code = &reading->code;
    value values[RANKED] = {code_input(code, RANKED_PLACE, KIND_INT, span),
                            code_input(code, RANKED_EQUALS, KIND_INT, span), code_exact_int(code, 0, span)};
    if (grouped) {
        const struct input group = flow_whole(keys, KEY_GROUP);
        const int64_t number = (int64_t)task_add_input(reading, &group, arena);
        values[RANKED_GROUP] = code_lookup(code, number, KIND_INT, values[RANKED_PLACE], span);
    }
    struct slot *ranked = arena_grow(arena, slots, 2, RANKED, sizeof *ranked);
    ranked[RANKED_GROUP] = (struct slot){.name = "group", .type = TYPE_I64, .known = true};
    task_set_slots(binder, reading, &ordered, ranked, values, RANKED, 0);
    return ordered;
}

/* The rank of each row, in that order. */
static value rank_of(struct scope *scope, const struct ranking *ranking, struct span span)
{
    struct code *code = scope->code;
    const value one = code_exact_int(code, 1, span);
    scope->group = RANKED_GROUP;
    if (ranking->numbered)
        return lower_row_of_group(scope, span);
    if (ranking->dense) {
        const value equals = code_input(code, RANKED_EQUALS, KIND_INT, span);
        const value first = lower_first_of_group(scope, equals, span);
        const value above = code_binary(code, OP_SUB, equals, first, span);
        return code_binary(code, OP_ADD, above, one, span);
    }
    const value row = lower_row_of_group(scope, span);
    scope->group = RANKED_EQUALS;
    const value equal = lower_row_of_group(scope, span);
    const value above = code_binary(code, OP_SUB, row, equal, span);
    return code_binary(code, OP_ADD, above, one, span);
}

/* The ranks at the rows' places. */
static struct task *move_back(struct binder *binder, struct flow *ordered, const struct ranking *ranking,
                              struct span span)
{
    struct task *task = task_reading(binder, "map", span, ordered);
    struct scope scope = {.binder = binder, .code = &task->code, .task = task, .flow = ordered, .has_rows = true};
    value values[2] = {rank_of(&scope, ranking, span), code_input(&task->code, RANKED_PLACE, KIND_INT, span)};
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = (struct slot){.name = "rank", .type = TYPE_I64, .known = true};
    slots[1] = (struct slot){.name = "place", .type = TYPE_I64, .known = true};
    struct flow ranks = *ordered;
    task_set_slots(binder, task, &ranks, slots, values, 2, 0);
    struct task *moved = operator_new(binder, "rank", span, &ranks, OPERATOR_SCATTER, 1);
    moved->column_op->keys[0] = 1;
    task_set_slot(binder, moved, &ranks, slots[0], task_input(moved, 0));
    mark_fallible(moved);
    return moved;
}

/* The rank, present where the value is; unknown after an error. */
static struct term bind_ranking(struct scope *scope, const struct expr *expr, struct ranking *ranking)
{
    struct binder *binder = scope->binder;
    const char *word = expr->name.text;
    const bool good = bind_options(binder, expr, ranking);
    if (!binder->defining && (!scope->task || !scope->has_rows))
        return term_error(binder, expr->span, scope->no_columns, "`%s` needs rows, and there are none here", word);
    scope->reads_row = true;
    ranking->term = bind_term(scope, expr->args[ranking->at]);
    if (!good || !term_is_known(ranking->term) || binder->defining)
        return unknown_term;
    const enum term_class which = class_of(scope->code, ranking->term);
    if (which == CLASS_MONTHS || which == CLASS_MISSING || which == CLASS_LIST)
        return term_error(binder, expr->args[ranking->at]->span, NULL, "`%s` needs values with an order, not %s", word,
                          class_noun(which));
    ranking->term = term_as_column(binder, ranking->term);
    struct flow keys = order_keys(scope, ranking, expr->span);
    struct flow ordered = order_rows(binder, &keys, scope->group != 0, expr->span);
    struct task *moved = move_back(binder, &ordered, ranking, expr->span);
    hoist_finish(scope);
    struct term rank = term_of(hoist_input(scope, moved, 0, expr->span));
    rank.present = ranking->term.present;
    rank.settled = rank.present == NO_VALUE;
    return rank;
}

struct term lower_rank(struct scope *scope, const struct expr *expr)
{
    struct ranking ranking = {.term = unknown_term};
    if (expr->arg_count < 1)
        return term_error(scope->binder, expr->span, "usage: rank(E [, desc] [, dense])", "`rank` takes a value");
    return bind_ranking(scope, expr, &ranking);
}

/* Of `all` rows, numbered from 0, the first all % parts parts have one more than the others. */
static value part_of(struct code *code, value number, value all, value parts, struct span span)
{
    const value one = code_exact_int(code, 1, span), none = code_exact_int(code, 0, span);
    const value size = code_binary(code, OP_DIV, all, parts, span);
    const value larger = code_binary(code, OP_MOD, all, parts, span);
    const value more = code_binary(code, OP_ADD, size, one, span);
    const value in_larger = code_binary(code, OP_MUL, larger, more, span);
    const value first = code_binary(code, OP_DIV, number, more, span);
    const value beyond = code_binary(code, OP_MAX, code_binary(code, OP_SUB, number, in_larger, span), none, span);
    value second = code_binary(code, OP_DIV, beyond, code_binary(code, OP_MAX, size, one, span), span);
    second = code_binary(code, OP_ADD, larger, second, span);
    const value is_first = code_binary(code, OP_LT, number, in_larger, span);
    const value part = code_op(code, OP_SELECT, is_first, first, second, span);
    return code_binary(code, OP_ADD, part, one, span);
}

struct term lower_ntile(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct code *code = scope->code;
    const struct span span = expr->span;
    struct ranking ranking = {.term = unknown_term, .numbered = true, .at = 1};
    if (expr->arg_count < 2)
        return term_error(binder, span, "usage: ntile(N, E [, desc])", "`ntile` takes a number of parts and a value");
    int64_t parts = 1;
    struct scope constants = scope_without_columns(binder, NULL, "the number of parts is the same for all rows");
    const enum known known = bind_constant_int(&constants, expr->args[0], "the number of parts",
                                               "as in `ntile(4, x)`, the quarters", &parts);
    struct term number = bind_ranking(scope, expr, &ranking);
    if (known == KNOWN_NOTHING || !term_is_known(number))
        return unknown_term;
    if (parts < 1 || parts > INT32_MAX)
        return term_error(binder, expr->args[0]->span, "as in `ntile(4, x)`, the quarters",
                          "the number of parts is between 1 and %d, not %lld", INT32_MAX, (long long)parts);
    struct term counted = unknown_term;
    counted.present = ranking.term.present;
    const struct moving_operator all = {.kind = AGG_COUNT, .from_first = true, .to_last = true};
    const value rows = lower_window(scope, all, counted, span).value;
    number.value = part_of(code, term_settled(code, number, span), rows, code_exact_int(code, parts, span), span);
    number.settled = number.present == NO_VALUE;
    return number;
}
