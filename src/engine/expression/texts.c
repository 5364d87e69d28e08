/* Terms of text: constants, comparison by codes, and bringing two dictionaries together. */
#include "engine/expression/texts.h"

#include "engine/bind/facts.h"
#include "engine/expression/text_use.h"

#include <stdlib.h>

struct term text_term(struct scope *scope, struct text text, struct span span)
{
    struct text *copy = arena_copy(scope->binder->arena, &text, sizeof *copy);
    struct term term = term_of_type(code_exact_int(scope->code, 0, span), (struct logical_type){.kind = LOGICAL_TEXT});
    term.text = copy;
    return term;
}

struct dictionary *dictionary_of_text(struct text text)
{
    uint32_t *map;
    struct interner *interner = interner_new();
    interner_add(interner, text);
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, NULL);
    free(map);
    interner_free(interner);
    return dictionary;
}

struct term term_as_column(struct binder *binder, struct term term)
{
    if (!term.text)
        return term;
    if (binder->queue) {
        term.logical.dictionary = dictionary_of_text(*term.text);
        queue_hold_dictionary(binder->queue, term.logical.dictionary);
    }
    term.text = NULL;
    return term;
}

bool texts_need_order(struct binder *binder, const struct dictionary *dictionary)
{
    if (!dictionary || !dictionary->unsorted)
        return false;
    binder->ordered = arena_reserve(binder->arena, (void *)binder->ordered, binder->ordered_count,
                                    &binder->ordered_capacity, sizeof(const struct dictionary *));
    binder->ordered[binder->ordered_count++] = dictionary;
    return true;
}

value text_lookup(struct scope *scope, struct term term, struct column *column, const char *name, struct span span)
{
    if (!column) {
        bind_error(scope->binder, span, NULL, "not enough memory for the texts that are compared or joined");
        return term.value;
    }
    queue_hold(scope->binder->queue, column);
    const struct input input = {.column = column, .type = column->type, .name = name, .whole = true};
    const size_t number = task_add_input(scope->task, &input, scope->binder->arena);
    return code_lookup(scope->code, (int64_t)number, type_table[column->type].kind, term.value, span);
}

/* The term's codes translated by `map`, which is freed, into another dictionary. */
static value translate(struct scope *scope, struct term term, uint32_t *map, struct dictionary *to, struct span span)
{
    static const uint32_t none = 0;
    const int64_t count = term.logical.dictionary->count;
    struct column *column = column_of_codes(to, count > 0 ? map : &none, NULL, count > 0 ? count : 1);
    free(map);
    return text_lookup(scope, term, column, "codes", span);
}

/* Joins two dictionaries: short ones at once, others on all threads. NULL, with an error unless it was cancelled. */
static struct dictionary *join(struct binder *binder, struct dictionary *both[2], uint32_t *maps[2], struct span span)
{
    enum { LONG = 1 << 16 };
    const bool is_long = both[0]->count > LONG && both[1]->count > LONG;
    struct dictionary *joined = is_long ? dictionary_join(both, 2, maps, binder->facts->workers)
                                        : dictionary_union(both[0], both[1], maps, binder->facts->workers);
    if (joined)
        return joined;
    if (binder->facts->workers && workers_cancelled(binder->facts->workers)) {
        binder->cancelled = true;
        return NULL;
    }
    bind_error(binder, span, NULL, "there are more than %d different texts in both together", DICTIONARY_MAX);
    return NULL;
}

/* Whether the texts are of columns that have not been read. */
static bool are_unread(const struct binder *binder, const struct term *term)
{
    return !binder->checking && binder->queue && !term->text && !term->logical.dictionary;
}

/* A constant beside such texts. */
static void make_unread(struct scope *scope, struct term *constant, struct span span)
{
    const struct text_application application = {.args = {{.text = *constant->text}}, .count = 1};
    const value zero = code_exact_int(scope->code, 0, span);
    const value present = constant->present;
    *constant = text_of_unread(scope, &application, term_of(zero), zero, span);
    constant->present = present;
    constant->settled = present == NO_VALUE;
}

void texts_unify(struct scope *scope, struct term *a, struct term *b, struct span span)
{
    if (a->text && are_unread(scope->binder, b))
        make_unread(scope, a, span);
    else if (b->text && are_unread(scope->binder, a))
        make_unread(scope, b, span);
    const bool same_constant = a->text && b->text && text_compare(*a->text, *b->text) == 0;
    *a = term_as_column(scope->binder, *a);
    *b = term_as_column(scope->binder, *b);
    struct dictionary *both[] = {a->logical.dictionary, b->logical.dictionary};
    for (int i = 0; i < 2; i++) {
        if (texts_need_order(scope->binder, both[i]))
            both[i] = NULL;
    }
    if (both[0] == both[1] || same_constant || !both[0] || !both[1]) {
        if (scope->binder->queue && both[0] != both[1])
            scope->binder->queue->unknown_values = true;
        a->logical.dictionary = b->logical.dictionary = both[0] ? both[0] : both[1];
        return;
    }
    uint32_t *maps[2];
    struct dictionary *joined = join(scope->binder, both, maps, span);
    if (!joined)
        return;
    queue_hold_dictionary(scope->binder->queue, joined);
    struct term *terms[] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (joined == both[i]) { /* codes stay as they are */
            free(maps[i]);
            continue;
        }
        const bool constant = code_is_const(scope->code, terms[i]->value) && both[i]->count == 1;
        const uint32_t first = maps[i][0];
        if (constant)
            free(maps[i]);
        terms[i]->value =
            constant ? code_int(scope->code, first, span) : translate(scope, *terms[i], maps[i], joined, span);
        terms[i]->logical.dictionary = joined;
        terms[i]->settled = terms[i]->present == NO_VALUE; /* the code of a missing value is no longer 0 */
    }
}

static bool holds(enum op op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order < 0;
    default:
        return order <= 0;
    }
}

/* Compares each string of an unsorted dictionary. */
static value compare_each(struct scope *scope, enum op op, struct term column, struct text text, bool swapped,
                          struct span span)
{
    const bool after = swapped && (op == OP_LT || op == OP_LE); /* the text is less: the string is not at most that */
    const int equal = op == OP_EQ || op == OP_NE ? TEXT_EQUAL : -1;
    const int compared = equal >= 0 ? equal : (op == OP_LT) == after ? TEXT_AT_MOST : TEXT_LESS;
    const struct expr at = {.span = span};
    const struct text_use use = {.scope = scope,
                                 .function = &text_comparisons[compared],
                                 .args = {{.text = text}},
                                 .count = 1,
                                 .text = column,
                                 .text_expr = &at,
                                 .span = span};
    const struct term holds_for = text_use_apply(&use);
    if (!term_is_known(holds_for)) /* cancelled */
        return code_bool(scope->code, false, span);
    return op == OP_NE || after ? code_unary(scope->code, OP_NOT, holds_for.value, span) : holds_for.value;
}

/* Compares codes with a constant that may not be in the dictionary: by the place that it has, or would have. The place
 * is an argument of the kernel, so that another constant gives the same program. */
static value compare_with_constant(struct scope *scope, enum op op, struct term column, struct text text, bool swapped,
                                   struct span span)
{
    struct code *code = scope->code;
    const struct dictionary *dictionary = column.logical.dictionary;
    if (dictionary && dictionary->unsorted && !scope->binder->checking)
        return compare_each(scope, op, column, text, swapped, span);
    int64_t place = dictionary ? dictionary_lower_bound(dictionary, text) : 0;
    bool found = dictionary && dictionary_find(dictionary, text) >= 0;
    if (!dictionary && !scope->binder->checking && scope->binder->queue) {
        place = queue_unknown_code(scope->binder->queue, text);
        found = true;
    }
    if (op == OP_EQ || op == OP_NE)
        return code_binary(code, op, column.value, code_int(code, found ? place : -1, span), span);
    /* The first code that is beyond the constant, or at it. */
    const bool after = swapped == (op == OP_LT);
    const value bound = code_int(code, after && found ? place + 1 : place, span);
    return swapped ? code_binary(code, OP_LE, bound, column.value, span)
                   : code_binary(code, OP_LT, column.value, bound, span);
}

value texts_compare(struct scope *scope, enum op op, struct term a, struct term b, struct span span)
{
    if (a.text && b.text)
        return code_bool(scope->code, holds(op, text_compare(*a.text, *b.text)), span);
    if (b.text)
        return compare_with_constant(scope, op, a, *b.text, false, span);
    if (a.text)
        return compare_with_constant(scope, op, b, *a.text, true, span);
    texts_unify(scope, &a, &b, span);
    return code_binary(scope->code, op, a.value, b.value, span);
}
