/* Functions of text: computed at once for each string of the column's dictionary, and looked up by code in each row. */
#include "engine/expression/builtin.h"

#include "base/parallel.h"
#include "engine/expression/texts.h"
#include "engine/values/text_functions.h"

#include <stdlib.h>
#include <string.h>

enum { OPERAND_SHOWN = 40, MADE_MOST = 1 << 20 /* texts that two columns may give together */ };
static const uint64_t MADE_BYTES = 1 << 26; /* that these may have */

/* A function with constant arguments of one text. */
struct text_use {
    struct scope *scope;
    const struct text_function *function;
    struct text_argument args[TEXT_ARGUMENTS];
    int count;
    struct term text;
    const struct expr *text_expr;
    struct span span;
};

static struct logical_type logical_of_result(enum text_result result)
{
    static const enum logical kinds[] = {
        [TEXT_TO_DATE] = LOGICAL_DATE, [TEXT_TO_TIMESTAMP] = LOGICAL_TIMESTAMP, [TEXT_TO_TEXT] = LOGICAL_TEXT};
    return (struct logical_type){.kind = kinds[result]};
}

/* Stands for a result that cannot be computed yet: in a check, or before the column `text` is read. It depends on the
 * text, so that the column is read, and is like no other value. */
static struct term unknown_of(struct scope *scope, enum text_result result, struct term text, struct span span)
{
    struct code *code = scope->code;
    struct term term = text;
    if (scope->binder->queue)
        scope->binder->queue->unknown_values = true;
    if (text.text) /* another argument is unknown */
        text.value = bind_unknown(scope, (int64_t)scope->binder->env->count + 1 + code->count, KIND_INT, span);
    term.text = NULL;
    term.logical = logical_of_result(result);
    term.value = code_op(code, OP_XOR, text.value, code_int(code, -1 - code->count, span), NO_VALUE, span);
    if (result == TEXT_TO_BOOL)
        term.value = code_op(code, OP_NE, term.value, code_int(code, 0, span), NO_VALUE, span);
    else if (result == TEXT_TO_FLOAT)
        term.value = code_op(code, OP_TO_FLOAT, term.value, NO_VALUE, NO_VALUE, span);
    term.settled = term.present == NO_VALUE;
    return term;
}

struct term text_of_unread(struct scope *scope, const struct text_application *application, struct term text,
                           value other, struct span span)
{
    struct code *code = scope->code;
    const enum text_result result = application->function ? application->function->result : TEXT_TO_TEXT;
    const struct instr fields = {.op = OP_TEXT,
                                 .kind = result == TEXT_TO_BOOL ? KIND_BOOL : KIND_INT,
                                 .args = {text.value, other, NO_VALUE},
                                 .integer = queue_text_application(scope->binder->queue, application),
                                 .span = span};
    struct term term = text;
    term.text = NULL;
    term.logical = logical_of_result(result);
    term.value = code_add(code, &fields);
    term.settled = term.present == NO_VALUE;
    return term;
}

/* What `use` makes of a column that is not read yet. */
static struct term unread_result(const struct text_use *use)
{
    struct scope *scope = use->scope;
    struct text_application application = {.function = use->function, .count = use->count};
    if (scope->binder->checking || !scope->binder->queue || use->function->partial)
        return unknown_of(scope, use->function->result, use->text, use->span);
    for (int i = 0; i < use->count; i++)
        application.args[i] = use->args[i];
    return text_of_unread(scope, &application, use->text, code_exact_int(scope->code, 0, use->span), use->span);
}

/* "3 of 1204 texts in `s` are no integers: missing" */
static void note_missing(const struct text_use *use, const struct text_lookup *lookup)
{
    static const char *const nouns[] = {[TEXT_TO_INT] = "integer",
                                        [TEXT_TO_FLOAT] = "number",
                                        [TEXT_TO_DATE] = "date",
                                        [TEXT_TO_TIMESTAMP] = "timestamp",
                                        [TEXT_TO_TEXT] = NULL};
    struct binder *binder = use->scope->binder;
    const char *noun = nouns[use->function->result];
    if ((lookup->missing > 0 || lookup->cut > 0) && texts_need_order(binder, use->text.logical.dictionary))
        return; /* it may have strings several times */
    const char *text = text_of_span(binder->arena, use->text_expr->span, OPERAND_SHOWN);
    if (noun && use->text.text && lookup->missing > 0)
        diag_note(binder->diags, use->span, "`%s` is no %s: missing", text, noun);
    else if (noun && lookup->missing > 0)
        diag_note(binder->diags, use->span, "%lld of %s in `%s` %s no %s%s: missing", (long long)lookup->missing,
                  text_of_count(binder->arena, lookup->count, "text"), text, lookup->missing == 1 ? "is" : "are", noun,
                  lookup->missing == 1 ? "" : "s");
    if (lookup->cut > 0)
        diag_note(binder->diags, use->span, "%s in `%s` had digits beyond microseconds, which were cut",
                  text_of_count(binder->arena, lookup->cut, "text"), text);
}

/* A column of `lookup`'s values, at least one. */
static struct column *column_of_lookup(const struct text_lookup *lookup, enum type type, const void *values)
{
    const int64_t rows = lookup->count > 0 ? lookup->count : 1;
    struct column *column = column_reserve(type, type, rows);
    if (lookup->count > 0)
        memcpy(column_at(column, 0), values, (size_t)lookup->count * type_table[type].size);
    column_finish(column, rows);
    if (type_table[type].kind != KIND_INT)
        return column;
    column->range_known = true;
    column->lo = column->hi = column_get_int(column, 0);
    for (int64_t row = 1; row < rows; row++) {
        const int64_t number = column_get_int(column, row);
        column->lo = number < column->lo ? number : column->lo;
        column->hi = number > column->hi ? number : column->hi;
    }
    return column;
}

/* The one interval of codes, first to end - 1, for which a bool is true; false if there are several. */
static bool find_interval(const struct text_lookup *lookup, int64_t *first, int64_t *end)
{
    const uint8_t *truths = lookup->values;
    int64_t begin = 0, count = lookup->count;
    while (begin < count && !truths[begin])
        begin++;
    *first = *end = begin;
    while (*end < count && truths[*end])
        ++*end;
    int64_t rest = *end;
    while (rest < count && !truths[rest])
        rest++;
    return rest == count;
}

/* first <= code < end, as cheap as any comparison; the bounds are arguments of the kernel. */
static value is_in_interval(const struct text_use *use, int64_t first, int64_t end)
{
    struct code *code = use->scope->code;
    const value text = use->text.value;
    const value from = code_op(code, OP_LE, code_int(code, first, use->span), text, NO_VALUE, use->span);
    const value to = code_op(code, OP_LT, text, code_int(code, end, use->span), NO_VALUE, use->span);
    return code_op(code, OP_AND, from, to, NO_VALUE, use->span);
}

/* The result in each row. */
static struct term result_of_column(const struct text_use *use, struct text_lookup *lookup)
{
    struct scope *scope = use->scope;
    int64_t first, end;
    struct term term = use->text;
    term.logical = lookup->logical;
    if (lookup->type == TYPE_BOOL && find_interval(lookup, &first, &end)) {
        term.value = is_in_interval(use, first, end);
    } else {
        struct column *values = column_of_lookup(lookup, lookup->type, lookup->values);
        column_set_logical(values, lookup->logical);
        term.value = text_lookup(scope, use->text, values, use->function->name, use->span);
    }
    if (lookup->present) {
        struct column *present = column_of_lookup(lookup, TYPE_BOOL, lookup->present);
        const value found = text_lookup(scope, use->text, present, "present", use->span);
        term.present = present_both(scope->code, term.present, found, use->span);
    }
    term.settled = term.present == NO_VALUE;
    if (lookup->logical.dictionary)
        queue_hold_dictionary(scope->binder->queue, dictionary_ref(lookup->logical.dictionary));
    return term;
}

static struct text text_copy(struct arena *arena, struct text text)
{
    char *copy = arena_alloc(arena, text.length + 1);
    if (text.length > 0)
        memcpy(copy, text.at, text.length);
    return (struct text){copy, text.length};
}

/* The result of a constant. */
static struct term result_of_constant(const struct text_use *use, const struct text_lookup *lookup)
{
    struct code *code = use->scope->code;
    struct term term;
    if (lookup->type == TYPE_F64)
        term = term_of(code_float(code, *(const double *)lookup->values, use->span));
    else if (lookup->type == TYPE_BOOL)
        term = term_of(code_bool(code, *(const uint8_t *)lookup->values != 0, use->span));
    else if (lookup->type == TYPE_I32)
        term = term_of(code_int(code, *(const int32_t *)lookup->values, use->span));
    else if (lookup->type == TYPE_I64)
        term = term_of(code_int(code, *(const int64_t *)lookup->values, use->span));
    else {
        struct text made = lookup->missing > 0 ? (struct text){"", 0} : dictionary_text(lookup->logical.dictionary, 0);
        term = text_term(use->scope, text_copy(use->scope->binder->arena, made), use->span);
    }
    term.logical = lookup->logical;
    term.logical.dictionary = NULL;
    term.present = use->text.present;
    if (lookup->missing > 0)
        term.present = code_bool(code, false, use->span);
    return term;
}

static struct term apply(const struct text_use *use)
{
    struct binder *binder = use->scope->binder;
    const bool constant = use->text.text;
    if (text_function_check(use->function, use->args, use->count, use->span, binder->diags) != STATUS_OK) {
        bind_failed(binder);
        return unknown_term;
    }
    if (!constant && (binder->checking || !use->text.logical.dictionary))
        return unread_result(use);
    struct dictionary *dictionary =
        constant ? dictionary_of_text(*use->text.text) : dictionary_ref(use->text.logical.dictionary);
    struct text_lookup lookup = {0};
    const struct workers workers = {.threads = parallel_threads(), .cancel = env_cancel(binder->env)};
    const enum status status = text_function_apply(use->function, dictionary, use->args, use->count,
                                                   constant ? NULL : &workers, use->span, binder->diags, &lookup);
    dictionary_unref(dictionary);
    if (status != STATUS_OK) {
        if (status == STATUS_CANCELLED)
            binder->cancelled = true;
        else
            bind_failed(binder);
        return unknown_term;
    }
    struct term result = constant ? result_of_constant(use, &lookup) : result_of_column(use, &lookup);
    note_missing(use, &lookup);
    text_lookup_free(&lookup);
    return result;
}

/* Reads the constants after the text; false after an error, or if one is unknown. */
static bool read_arguments(const struct builtin *call, struct text_use *use)
{
    static const char *const what[] = {"the second argument", "the third argument"};
    struct binder *binder = call->scope->binder;
    const char *usage = arena_printf(binder->arena, "usage: %s", call->function->usage);
    bool good = true;
    for (size_t i = 1; i < call->count; i++) {
        struct text_argument *argument = &use->args[i - 1];
        if (use->function->kinds[i - 1] == ARGUMENT_INT) {
            good = builtin_constant(call, i, what[i - 1], &argument->integer) && good;
            continue;
        }
        const struct term *term = &call->arguments[i];
        if (term->text)
            argument->text = *term->text;
        else if (term->logical.kind != LOGICAL_TEXT)
            builtin_refuse(call, i, "text here", usage);
        else
            builtin_not_constant(call, i, what[i - 1]);
        good = good && term->text;
    }
    return good;
}

struct term bind_text_function(const struct builtin *call)
{
    struct text_use use = {.scope = call->scope,
                           .function = text_function_find(call->function->name),
                           .count = (int)call->count - 1,
                           .text = call->arguments[0],
                           .text_expr = call->expr->args[0],
                           .span = call->expr->span};
    if (use.text.logical.kind != LOGICAL_TEXT)
        return builtin_refuse(call, 0, "text", NULL);
    const size_t before = call->scope->binder->errors;
    if (read_arguments(call, &use))
        return apply(&use);
    return call->scope->binder->errors > before ? unknown_term
                                                : unknown_of(call->scope, use.function->result, use.text, use.span);
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
        bind_error(binder, operands[i]->span, i == 1 ? "a pattern is a constant text, as in `like \"A%\"`" : NULL,
                   "`%s` needs text, but `%s` is %s", name,
                   text_of_span(binder->arena, operands[i]->span, OPERAND_SHOWN), class_noun(which));
        return unknown_term;
    }
    struct text_use use = {.scope = scope,
                           .function = text_function_find(name),
                           .count = 1,
                           .text = a,
                           .text_expr = expr->args[0],
                           .span = expr->span};
    if (b.text) {
        use.args[0].text = *b.text;
        return apply(&use);
    }
    if (!bind_reads_rows(scope, b.value))
        return unknown_of(scope, TEXT_TO_BOOL, a, expr->span);
    bind_error(binder, operands[1]->span, "`contains`, `starts`, `like` and `~` look for one constant text in all rows",
               "the pattern of `%s` must be a constant, but `%s` differs from row to row", name,
               text_of_span(binder->arena, operands[1]->span, OPERAND_SHOWN));
    return unknown_term;
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
        a.value = code_op(code, OP_BITOR, a.value, b.value, NO_VALUE, span);
        a.present = present_both(code, a.present, b.present, span);
        return unknown_of(scope, TEXT_TO_TEXT, a, span);
    }
    if (!can_make_all(first, second)) {
        bind_error(scope->binder, span, "keep them as two columns: `group`, `sort` and `distinct` take several",
                   "texts of two columns can be joined if that gives at most %d, but they have %lld and %lld different "
                   "ones",
                   MADE_MOST, (long long)first->count, (long long)second->count);
        return unknown_term;
    }
    struct dictionary *made;
    struct column *column = make_all(first, second, &made);
    queue_hold_dictionary(scope->binder->queue, made);
    struct term pair = a;
    pair.value = code_op(code, OP_MUL, a.value, code_exact_int(code, second->count, span), NO_VALUE, span);
    pair.value = code_op(code, OP_ADD, pair.value, b.value, NO_VALUE, span);
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
    struct term joined = apply(&use);
    if (term_is_known(joined)) {
        joined.present = present_both(scope->code, joined.present, appended ? b.present : a.present, span);
        joined.settled = joined.present == NO_VALUE;
    }
    return joined;
}
