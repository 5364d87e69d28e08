/* One text with constants: computed at once for each string of the column's dictionary, and looked up by code in each
 * row. */
#include "engine/expression/text_use.h"

#include "base/parallel.h"
#include "engine/bind/facts.h"
#include "engine/expression/row_text.h"
#include "engine/expression/texts.h"

#include <stdlib.h>
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
    term.value = code_binary(code, OP_XOR, text.value, code_int(code, -1 - code->count, span), span);
    if (result == TEXT_TO_BOOL)
        term.value = code_binary(code, OP_NE, term.value, code_int(code, 0, span), span);
    else if (result == TEXT_TO_FLOAT)
        term.value = code_unary(code, OP_TO_FLOAT, term.value, span);
    term.settled = term.present == NO_VALUE;
    return term;
}

struct term text_of_unread(struct scope *scope, const struct text_application *application, struct term text,
                           value other, struct span span)
{
    struct code *code = scope->code;
    const enum text_result result = application->found      ? TEXT_TO_BOOL
                                    : application->function ? application->function->result
                                                            : TEXT_TO_TEXT;
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
    if (scope->binder->checking || !scope->binder->queue)
        return text_unknown(scope, use->function->result, use->text, use->span);
    for (int i = 0; i < use->count; i++)
        application.args[i] = use->args[i];
    const value zero = code_exact_int(scope->code, 0, use->span);
    const bool told = use->function->partial && use->function->result != TEXT_TO_TEXT; /* how many have no result */
    struct term term = told ? text_unknown(scope, use->function->result, use->text, use->span)
                            : text_of_unread(scope, &application, use->text, zero, use->span);
    if (!use->function->partial)
        return term;
    application.found = true;
    const struct term found = told ? text_unknown(scope, TEXT_TO_BOOL, use->text, use->span)
                                   : text_of_unread(scope, &application, use->text, zero, use->span);
    term.present = present_both(scope->code, term.present, found.value, use->span); /* which may be all that is read */
    term.settled = false;
    return term;
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
    const char *copy = strbuf_take(&buffer, arena);
    return copy;
}

/* `3 of 1204 texts in `s` are no integers, such as "x": missing` */
static void note_missing(const struct text_use *use, const struct text_table *table)
{
    static const char *const nouns[] = {
        [TEXT_TO_INT] = "integer",         [TEXT_TO_FLOAT] = "number",        [TEXT_TO_DATE] = "date",
        [TEXT_TO_TIMESTAMP] = "timestamp", [TEXT_TO_DURATION] = "clock time", [TEXT_TO_TEXT] = NULL};
    static const char *const by_format[] = {[TEXT_TO_DATE] = "date(s, '%d/%m/%Y')",
                                            [TEXT_TO_TIMESTAMP] = "timestamp(s, '%d/%m/%Y %H:%M')",
                                            [TEXT_TO_DURATION] = "time(s, '%I:%M %p')",
                                            [TEXT_TO_TEXT] = NULL};
    struct binder *binder = use->scope->binder;
    const char *noun = nouns[use->function->result];
    const char *form = use->count == 0 ? by_format[use->function->result] : NULL;
    if ((table->missing > 0 || table->cut > 0) && texts_need_order(binder, use->text.logical.dictionary))
        return; /* it may have strings several times */
    const char *text = text_of_span(binder->arena, use->text_expr->span, OPERAND_SHOWN);
    if (noun && use->text.text && table->missing > 0)
        diag_note(binder->diags, use->span, "`%s` is no %s: missing", text, noun);
    else if (noun && table->missing > 0)
        diag_note(binder->diags, use->span, "%lld of %s in `%s` %s no %s%s, %s%s: missing", (long long)table->missing,
                  text_of_count(binder->arena, table->count, "text"), text, table->missing == 1 ? "is" : "are", noun,
                  table->missing == 1 ? "" : "s", table->missing == 1 ? "" : "such as ",
                  shown(binder->arena, dictionary_text(use->text.logical.dictionary, table->first_missing)));
    if (noun && table->missing > 0 && form)
        (void)diag_hint(binder->diags, "`%s` reads texts by a format", form);
    if (table->cut > 0)
        diag_note(binder->diags, use->span, "%s in `%s` had digits beyond microseconds, which were cut",
                  text_of_count(binder->arena, table->cut, "text"), text);
}

/* first <= code < end, as cheap as any comparison; the bounds are arguments of the kernel. */
static value is_in_interval(const struct text_use *use, int64_t first, int64_t end)
{
    struct code *code = use->scope->code;
    const value text = use->text.value;
    const value from = code_binary(code, OP_LE, code_int(code, first, use->span), text, use->span);
    const value to = code_binary(code, OP_LT, text, code_int(code, end, use->span), use->span);
    return code_binary(code, OP_AND, from, to, use->span);
}

/* The result in each row. */
static struct term look_up(const struct text_use *use, const struct text_table *table)
{
    struct scope *scope = use->scope;
    struct term term = use->text;
    term.logical = table->logical;
    if (table->values)
        term.value = text_lookup(scope, use->text, column_ref(table->values), use->function->name, use->span);
    else
        term.value = is_in_interval(use, table->first, table->end);
    if (table->present) {
        const value found = text_lookup(scope, use->text, column_ref(table->present), "present", use->span);
        term.present = present_both(scope->code, term.present, found, use->span);
    }
    term.settled = term.present == NO_VALUE;
    if (table->logical.dictionary)
        queue_hold_dictionary(scope->binder->queue, dictionary_ref(table->logical.dictionary));
    return term;
}

static struct term no_memory(const struct text_use *use)
{
    bind_error(use->scope->binder, use->span, NULL, "not enough memory for what `%s` gives", use->function->name);
    return unknown_term;
}

struct term text_use_lookup(const struct text_use *use, const struct text_lookup *lookup)
{
    struct text_table *table = text_table_new(lookup);
    const struct term term = table ? look_up(use, table) : no_memory(use);
    text_table_unref(table);
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

static enum status apply(const struct text_use *use, const struct dictionary *dictionary, struct text_lookup *lookup)
{
    struct binder *binder = use->scope->binder;
    const struct workers workers = {.threads = parallel_threads(), .cancel = env_cancel(binder->env)};
    *lookup = (struct text_lookup){0};
    return text_function_apply(use->function, dictionary, use->args, use->count, use->text.text ? NULL : &workers,
                               use->span, binder->diags, lookup);
}

/* Whether some texts mostly have different results. Where these are few, they are made once for each text of the
 * dictionary, and kept. Builds with assertions take them for different. */
static enum status results_differ(const struct text_use *use, bool *differ)
{
#ifdef NDEBUG
    enum { SAMPLE = 256 };
    const struct dictionary *all = use->text.logical.dictionary;
    struct interner *interner = interner_new();
    for (int64_t k = 0; k < SAMPLE; k++)
        interner_add(interner, dictionary_text(all, k * all->count / SAMPLE));
    uint32_t *map;
    struct dictionary *some = dictionary_of_interners(&interner, 1, &map, NULL);
    free(map);
    interner_free(interner);
    struct text_lookup lookup;
    const enum status status = apply(use, some, &lookup);
    *differ = status == STATUS_OK && 2 * lookup.logical.dictionary->count > some->count - lookup.missing;
    text_lookup_free(&lookup);
    dictionary_unref(some);
    return status;
#else
    (void)use;
    *differ = true;
    return STATUS_OK;
#endif
}

static struct term apply_to_constant(const struct text_use *use)
{
    struct dictionary *dictionary = dictionary_of_text(*use->text.text);
    struct text_lookup lookup;
    const enum status status = apply(use, dictionary, &lookup);
    dictionary_unref(dictionary);
    if (!bind_succeeded(use->scope->binder, status))
        return unknown_term;
    const struct term result = text_use_constant(use, &lookup);
    note_missing(use, &(struct text_table){.count = lookup.count, .missing = lookup.missing, .cut = lookup.cut});
    text_lookup_free(&lookup);
    return result;
}

/* Applies the function, unless an earlier statement did. */
static struct term apply_to_column(const struct text_use *use)
{
    struct binder *binder = use->scope->binder;
    struct dictionary *dictionary = use->text.logical.dictionary;
    struct strbuf how = {0};
    text_table_how(&how, use->function, use->args, use->count);
    const struct kept_key key = {.dictionary = dictionary, .how = how.text, .how_size = how.length};
    struct text_table *table = kept_find(binder->env->kept, &key);
    struct text_lookup lookup;
    enum status status = STATUS_OK;
    if (table) {
        table->refs++;
    } else {
        status = apply(use, dictionary, &lookup);
        table = status == STATUS_OK ? text_table_new(&lookup) : NULL;
        if (table)
            text_table_keep(table, binder->env->kept, &key);
        text_lookup_free(&lookup);
    }
    strbuf_free(&how);
    if (!bind_succeeded(binder, status))
        return unknown_term;
    if (!table)
        return no_memory(use);
    const struct term result = look_up(use, table);
    note_missing(use, table);
    text_table_unref(table);
    return result;
}

struct term text_use_apply(const struct text_use *use)
{
    struct binder *binder = use->scope->binder;
    const bool constant = use->text.text;
    if (!bind_succeeded(binder, text_function_check(use->function, use->args, use->count, use->span, binder->diags)))
        return unknown_term;
    if (!constant && (binder->checking || !use->text.logical.dictionary))
        return unread_result(use);
    if (!constant && use->function->result == TEXT_TO_TEXT && texts_differ_by_row(use->scope, &use->text)) {
        bool differ;
        if (!bind_succeeded(binder, results_differ(use, &differ)))
            return unknown_term;
        if (differ)
            return bind_text_by_row(use);
    }
    /* Each text is made once, when the strings differ. */
    if (!constant && use->function->result == TEXT_TO_TEXT && texts_need_order(binder, use->text.logical.dictionary))
        return unread_result(use);
    return constant ? apply_to_constant(use) : apply_to_column(use);
}
