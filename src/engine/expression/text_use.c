/* One text with constants: computed at once for each string of the column's dictionary, and looked up by code in each
 * row. */
#include "engine/expression/text_use.h"

#include "base/parallel.h"
#include "engine/expression/texts.h"

#include <string.h>

enum { OPERAND_SHOWN = 40 };

struct logical_type text_result_logical(enum text_result result)
{
    static const enum logical kinds[] = {[TEXT_TO_DATE] = LOGICAL_DATE,
                                         [TEXT_TO_TIMESTAMP] = LOGICAL_TIMESTAMP,
                                         [TEXT_TO_DURATION] = LOGICAL_DURATION,
                                         [TEXT_TO_TEXT] = LOGICAL_TEXT};
    return (struct logical_type){.kind = kinds[result]};
}

/* Stands for a result that cannot be computed yet: in a check, or before the column `text` is read. It depends on the
 * text, so that the column is read, and is like no other value. */
struct term text_unknown(struct scope *scope, enum text_result result, struct term text, struct span span)
{
    struct code *code = scope->code;
    struct term term = text;
    if (scope->binder->queue)
        scope->binder->queue->unknown_values = true;
    if (text.text) /* another argument is unknown */
        text.value = bind_unknown(scope, (int64_t)scope->binder->env->count + 1 + code->count, KIND_INT, span);
    term.text = NULL;
    term.logical = text_result_logical(result);
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
    term.logical = text_result_logical(result);
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
        return text_unknown(scope, use->function->result, use->text, use->span);
    for (int i = 0; i < use->count; i++)
        application.args[i] = use->args[i];
    return text_of_unread(scope, &application, use->text, code_exact_int(scope->code, 0, use->span), use->span);
}

/* The text in quotes, at most OPERAND_SHOWN bytes of it. */
static const char *shown(struct arena *arena, struct text text)
{
    struct strbuf buffer = {0};
    size_t length = text.length < OPERAND_SHOWN ? text.length : OPERAND_SHOWN;
    while (length > 0 && length < text.length && ((unsigned char)text.at[length] & 0xc0) == 0x80)
        length--; /* not within a character */
    strbuf_putc(&buffer, '"');
    strbuf_add_visible(&buffer, text.at, length);
    strbuf_puts(&buffer, length < text.length ? "...\"" : "\"");
    const char *copy = arena_text(arena, buffer.text, buffer.length);
    strbuf_free(&buffer);
    return copy;
}

/* `3 of 1204 texts in `s` are no integers, such as "x": missing` */
static void note_missing(const struct text_use *use, const struct text_lookup *lookup)
{
    static const char *const nouns[] = {
        [TEXT_TO_INT] = "integer",         [TEXT_TO_FLOAT] = "number",        [TEXT_TO_DATE] = "date",
        [TEXT_TO_TIMESTAMP] = "timestamp", [TEXT_TO_DURATION] = "clock time", [TEXT_TO_TEXT] = NULL};
    struct binder *binder = use->scope->binder;
    const char *noun = nouns[use->function->result];
    if ((lookup->missing > 0 || lookup->cut > 0) && texts_need_order(binder, use->text.logical.dictionary))
        return; /* it may have strings several times */
    const char *text = text_of_span(binder->arena, use->text_expr->span, OPERAND_SHOWN);
    int64_t first = 0;
    while (first < lookup->count && lookup->present && lookup->present[first])
        first++;
    if (noun && use->text.text && lookup->missing > 0)
        diag_note(binder->diags, use->span, "`%s` is no %s: missing", text, noun);
    else if (noun && lookup->missing > 0)
        diag_note(binder->diags, use->span, "%lld of %s in `%s` %s no %s%s, %s%s: missing", (long long)lookup->missing,
                  text_of_count(binder->arena, lookup->count, "text"), text, lookup->missing == 1 ? "is" : "are", noun,
                  lookup->missing == 1 ? "" : "s", lookup->missing == 1 ? "" : "such as ",
                  shown(binder->arena, dictionary_text(use->text.logical.dictionary, first)));
    if (lookup->cut > 0)
        diag_note(binder->diags, use->span, "%s in `%s` had digits beyond microseconds, which were cut",
                  text_of_count(binder->arena, lookup->cut, "text"), text);
}

/* A column of `lookup`'s values, at least one. */
struct column *text_lookup_column(const struct text_lookup *lookup, enum type type, const void *values)
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
struct term text_use_lookup(const struct text_use *use, struct text_lookup *lookup)
{
    struct scope *scope = use->scope;
    int64_t first, end;
    struct term term = use->text;
    term.logical = lookup->logical;
    if (lookup->type == TYPE_BOOL && find_interval(lookup, &first, &end)) {
        term.value = is_in_interval(use, first, end);
    } else {
        struct column *values = text_lookup_column(lookup, lookup->type, lookup->values);
        column_set_logical(values, lookup->logical);
        term.value = text_lookup(scope, use->text, values, use->function->name, use->span);
    }
    if (lookup->present) {
        struct column *present = text_lookup_column(lookup, TYPE_BOOL, lookup->present);
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
struct term text_use_constant(const struct text_use *use, const struct text_lookup *lookup)
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

struct term text_use_apply(const struct text_use *use)
{
    struct binder *binder = use->scope->binder;
    const bool constant = use->text.text;
    if (!bind_succeeded(binder, text_function_check(use->function, use->args, use->count, use->span, binder->diags)))
        return unknown_term;
    if (!constant && (binder->checking || !use->text.logical.dictionary))
        return unread_result(use);
    struct dictionary *dictionary =
        constant ? dictionary_of_text(*use->text.text) : dictionary_ref(use->text.logical.dictionary);
    struct text_lookup lookup = {0};
    const struct workers workers = {.threads = parallel_threads(), .cancel = env_cancel(binder->env)};
    const enum status status = text_function_apply(use->function, dictionary, use->args, use->count,
                                                   constant ? NULL : &workers, use->span, binder->diags, &lookup);
    dictionary_unref(dictionary);
    if (!bind_succeeded(binder, status))
        return unknown_term;
    struct term result = constant ? text_use_constant(use, &lookup) : text_use_lookup(use, &lookup);
    note_missing(use, &lookup);
    text_lookup_free(&lookup);
    return result;
}
