/* Functions and operators of text: their arguments. */
#include "engine/builtin/builtin.h"

#include "engine/expression/row_text.h"
#include "engine/expression/text_use.h"
#include "engine/expression/texts.h"
#include "engine/lists/lists.h"

#include <stdlib.h>
#include <string.h>

enum { OPERAND_SHOWN = 40, MADE_MOST = 1 << 20 /* texts that are made of all pairs of two columns' */ };
static const uint64_t MADE_BYTES = 1 << 26; /* that these may have */

/* Whether the arguments after the text have the right types; an error if not. */
static bool check_types(const struct builtin *call, const struct text_function *function)
{
    struct binder *binder = call->scope->binder;
    const char *usage = arena_printf(binder->arena, "usage: %s", call->function->usage);
    bool good = true;
    for (size_t i = 1; i < call->count; i++) {
        const bool integer = function->kinds[i - 1] == ARGUMENT_INT;
        const enum term_class which = class_of(call->scope->code, call->arguments[i]);
        if (which == (integer ? CLASS_INT : CLASS_TEXT))
            continue;
        builtin_refuse(call, i, integer ? "an integer here" : "text here", usage);
        good = false;
    }
    return good;
}

/* Sets the constants after the text; false if some argument is none. */
static bool read_constants(const struct builtin *call, struct text_use *use)
{
    bool constant = true;
    for (size_t i = 1; i < call->count; i++) {
        struct text_argument *argument = &use->args[i - 1];
        const struct term *term = &call->arguments[i];
        const bool is_constant = use->function->kinds[i - 1] == ARGUMENT_INT
                                     ? code_is_const(call->scope->code, term->value)
                                     : (bool)term->text;
        if (is_constant && term->text)
            argument->text = *term->text;
        else if (is_constant)
            argument->integer = call->scope->code->at[term->value].integer;
        constant = constant && is_constant && term->present == NO_VALUE;
    }
    return constant;
}

struct term bind_text_function(const struct builtin *call)
{
    static const char *const what[] = {"the second argument", "the third argument"};
    struct text_use use = {.scope = call->scope,
                           .function = text_function_find(call->function->name),
                           .count = (int)call->count - 1,
                           .text = call->arguments[0],
                           .text_expr = call->expr->args[0],
                           .span = call->expr->span};
    const char *name = call->function->name;
    if (use.text.logical.kind == LOGICAL_LIST && (strcmp(name, "len") == 0 || strcmp(name, "contains") == 0)) {
        const struct named_list list = {.term = use.text, .span = call->expr->args[0]->span};
        return list_function(call->scope, call->expr, &list, call->count > 1 ? call->arguments[1] : unknown_term);
    }
    if (use.text.logical.kind != LOGICAL_TEXT)
        return builtin_refuse(call, 0, "text", NULL);
    if (!check_types(call, use.function))
        return unknown_term;
    if (strcmp(name, "split") == 0 && call->count == 2)
        return list_of_parts(call->scope, call->expr, call->arguments[0], call->arguments[1]);
    if (read_constants(call, &use))
        return text_use_apply(&use);
    for (size_t k = 0; k < (size_t)use.count; k++) {
        if (!text_argument_is_constant(use.function, k) || call->arguments[k + 1].text)
            continue;
        builtin_not_constant(call, k + 1, what[k]);
        return unknown_term;
    }
    const struct row_text_use rows = {.scope = call->scope,
                                      .name = call->function->name,
                                      .function = use.function,
                                      .arguments = call->arguments,
                                      .count = call->count,
                                      .span = call->expr->span};
    return bind_row_text(&rows);
}

struct term bind_text_test(struct scope *scope, const struct expr *expr, struct term a, struct term b)
{
    struct binder *binder = scope->binder;
    const char *name = expr->op.binary == BINARY_LIKE ? "like" : "~";
    const struct expr *const operands[] = {expr->args[0], expr->args[1]};
    const struct term terms[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const enum term_class which = class_of(scope->code, terms[i]);
        if (which == CLASS_TEXT)
            continue;
        return term_error(binder, operands[i]->span,
                          i == 1 ? "a pattern is a constant text, as in `like \"A%\"`" : NULL,
                          "`%s` needs text, but `%s` is %s", name,
                          text_of_span(binder->arena, operands[i]->span, OPERAND_SHOWN), class_noun(which));
    }
    struct text_use use = {.scope = scope,
                           .function = text_function_find(name),
                           .count = 1,
                           .text = a,
                           .text_expr = expr->args[0],
                           .span = expr->span};
    if (b.text) {
        use.args[0].text = *b.text;
        return text_use_apply(&use);
    }
    if (expr->op.binary == BINARY_LIKE) {
        const struct row_text_use rows = {
            .scope = scope, .name = name, .function = use.function, .arguments = terms, .count = 2, .span = expr->span};
        return bind_row_text(&rows);
    }
    if (!bind_reads_rows(scope, b.value))
        return text_unknown(scope, TEXT_TO_BOOL, a, expr->span);
    return term_error(binder, operands[1]->span, "`contains`, `starts` and `like` take a pattern of each row",
                      "the pattern of `%s` must be a constant, but `%s` differs from row to row", name,
                      text_of_span(binder->arena, operands[1]->span, OPERAND_SHOWN));
}

static uint64_t bytes_of(const struct dictionary *dictionary)
{
    return dictionary->count > 0 ? dictionary->offsets[dictionary->count] : 0;
}

/* Whether all texts of one dictionary followed by one of the other are few enough to be made. */
static bool can_make_all(const struct dictionary *a, const struct dictionary *b)
{
    uint64_t first = (uint64_t)a->count, second = (uint64_t)b->count;
    return first <= MADE_MOST && second <= MADE_MOST && first * second <= MADE_MOST && bytes_of(a) <= MADE_BYTES &&
           bytes_of(b) <= MADE_BYTES && bytes_of(a) * second + bytes_of(b) * first <= MADE_BYTES;
}

/* All texts of `a` followed by one of `b`: element i * b->count + k of the column is the code of texts i and k. */
static struct column *make_all(const struct dictionary *a, const struct dictionary *b, struct dictionary **made)
{
    const int64_t count = a->count * b->count, rows = count > 0 ? count : 1;
    struct interner *interner = interner_new();
    uint32_t *numbers = calloc((size_t)rows, sizeof *numbers), *map = NULL;
    struct strbuf text = {0};
    for (int64_t i = 0; i < count; i++) {
        struct text first = dictionary_text(a, i / b->count), second = dictionary_text(b, i % b->count);
        strbuf_clear(&text);
        strbuf_add(&text, first.at, first.length);
        strbuf_add(&text, second.at, second.length);
        numbers[i] = interner_add(interner, (struct text){text.text, text.length});
    }
    strbuf_free(&text);
    *made = dictionary_of_interners(&interner, 1, &map, NULL);
    interner_free(interner);
    static const uint32_t none = 0;
    struct column *column = column_of_codes(*made, count > 0 ? map : &none, numbers, rows);
    free(map);
    free(numbers);
    return column;
}

static struct term join_columns(struct scope *scope, struct term a, struct term b, struct span span)
{
    struct code *code = scope->code;
    const struct dictionary *first = a.logical.dictionary, *second = b.logical.dictionary;
    const bool unsorted = texts_need_order(scope->binder, first) || texts_need_order(scope->binder, second);
    if (!scope->binder->checking && scope->binder->queue && !first && !second) {
        const struct text_application application = {.function = text_function_find("+")};
        a.present = present_both(code, a.present, b.present, span);
        return text_of_unread(scope, &application, a, b.value, span);
    }
    if (scope->binder->checking || !first || !second || unsorted) {
        a.value = code_binary(code, OP_BITOR, a.value, b.value, span);
        a.present = present_both(code, a.present, b.present, span);
        return text_unknown(scope, TEXT_TO_TEXT, a, span);
    }
    if (!can_make_all(first, second)) {
        const struct term both[] = {a, b};
        const struct row_text_use rows = {.scope = scope,
                                          .name = "+",
                                          .format = text_format_concat(2, scope->binder->arena),
                                          .arguments = arena_grow(scope->binder->arena, both, 2, 2, sizeof *both),
                                          .count = 2,
                                          .span = span};
        return bind_row_text(&rows);
    }
    struct dictionary *made;
    struct column *column = make_all(first, second, &made);
    queue_hold_dictionary(scope->binder->queue, made);
    struct term pair = a;
    pair.value = code_with(code, OP_MUL, a.value, second->count, span);
    pair.value = code_binary(code, OP_ADD, pair.value, b.value, span);
    struct term joined = term_of_type(text_lookup(scope, pair, column, "codes", span),
                                      (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = made});
    joined.present = present_both(code, a.present, b.present, span);
    joined.settled = joined.present == NO_VALUE;
    return joined;
}

struct term texts_join(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                       const struct expr *b_expr, struct span span)
{
    if (!a.text && !b.text)
        return join_columns(scope, a, b, span);
    const bool appended = b.text;
    struct text_use use = {.scope = scope,
                           .function = appended ? text_function_find("+") : &text_prepend,
                           .args = {{.text = appended ? *b.text : *a.text}},
                           .count = 1,
                           .text = appended ? a : b,
                           .text_expr = appended ? a_expr : b_expr,
                           .span = span};
    struct term joined = text_use_apply(&use);
    if (term_is_known(joined)) {
        joined.present = present_both(scope->code, joined.present, appended ? b.present : a.present, span);
        joined.settled = joined.present == NO_VALUE;
    }
    return joined;
}
