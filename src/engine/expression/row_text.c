#include "engine/expression/row_text.h"

#include "base/heap.h"
#include "base/parallel.h"
#include "engine/bind/bind.h"
#include "engine/exact/exact.h"
#include "engine/expression/text_use.h"
#include "engine/expression/texts.h"
#include "engine/lists/lists.h"
#include "engine/storage/list_store.h"

#include <stdlib.h>
#include <string.h>

/* What an OP_TEXT that stands for such a result computes. */
static const struct text_function of_rows = {.name = "text of rows", .result = TEXT_TO_TEXT};

bool is_row_text(const struct text_application *application)
{
    return application->function == &of_rows;
}

void row_texts_add(struct row_texts *texts, struct row_text *text, struct arena *arena)
{
    *ARENA_PUSH(arena, texts->at, texts->count, texts->capacity) = text;
}

void row_texts_release(struct row_texts *texts)
{
    for (size_t k = 0; k < texts->count; k++)
        column_unref(texts->at[k]->column);
    *texts = (struct row_texts){0};
}

struct format_argument format_argument_of(const struct scope *scope, const struct term *term)
{
    struct logical_type logical = term->logical;
    if (logical.kind == LOGICAL_LIST) /* made a text before (engine/run/provide_texts.c) */
        logical = (struct logical_type){.kind = LOGICAL_TEXT};
    return (struct format_argument){scope->code->at[term->value].kind, logical};
}

static enum text_result kind_of_result(const struct row_text_use *use)
{
    return use->format || use->makes != ROW_TEXT ? TEXT_TO_TEXT : use->function->result;
}

/* The value of a term that is the same in every row; KNOWN_KIND: it differs, or only running can tell. */
static enum known constant_of_term(struct scope *scope, const struct term *term, struct scalar *scalar)
{
    struct binder *binder = scope->binder;
    const value values[] = {term->value, term->present};
    struct scalar found[2] = {{0}, {.integer = 1}};
    for (int k = 0; k < 2; k++) {
        if (values[k] == NO_VALUE)
            continue;
        const struct instr *instr = &scope->code->at[values[k]];
        bool *live = arena_array(binder->arena, (size_t)scope->code->count, sizeof *live);
        code_mark(scope->code, values[k], live);
        for (value v = 0; v <= values[k]; v++) {
            const enum op op = scope->code->at[v].op;
            if (live[v] && op_table[op].arity == 0 && op != OP_CONST)
                return KNOWN_KIND;
            if (live[v] && (op == OP_TEXT || op == OP_GATHER || op == OP_FINAL))
                return KNOWN_KIND;
        }
        found[k] = (struct scalar){.kind = instr->kind, .integer = instr->integer, .number = instr->number};
        if (code_is_const(scope->code, values[k]))
            continue;
        const enum status status =
            exact_constant(scope->code, values[k], env_cancel(binder->env), &found[k], binder->diags);
        if (!bind_succeeded(binder, status))
            return KNOWN_NOTHING;
    }
    *scalar = found[0];
    scalar->logical = term->logical;
    scalar->missing = found[1].integer == 0;
    if (term->text)
        scalar->text = *term->text;
    if (scalar->logical.kind == LOGICAL_LIST)
        return KNOWN_KIND;
    return scalar->logical.kind == LOGICAL_TEXT && !term->text ? KNOWN_KIND : KNOWN_VALUE;
}

static value present_of_all(const struct row_text_use *use)
{
    value present = NO_VALUE;
    for (size_t k = 0; k < use->count; k++)
        present = present_both(use->scope->code, present, use->arguments[k].present, use->span);
    return present;
}

/* The argument as an integer that depends on it. */
static value as_integer(struct code *code, value v, struct span span)
{
    if (code->at[v].kind == KIND_FLOAT)
        v = code_binary(code, OP_LT, v, code_float(code, 0, span), span);
    return bind_number(code, v, span);
}

/* Stand for lists of the values. */
static struct list_store *lists_of_values(const struct row_text_use *use)
{
    const struct slot slot = slot_of_term(use->scope, use->arguments[0]);
    struct column *values = column_without_rows(slot.type, slot.type);
    const char *name = "";
    column_set_logical(values, use->arguments[0].logical);
    struct relation *elements = relation_new(0, 1, &values, &name);
    column_unref(values);
    return list_store_unread(elements, false);
}

/* What the result is, as far as that is known before it is made. */
static struct logical_type type_of_result(const struct row_text_use *use)
{
    if (use->makes == ROW_TEXT)
        return text_result_logical(kind_of_result(use));
    struct list_store *lists =
        use->makes == ROW_COLLECTS ? lists_of_values(use) : list_store_unread_like(use->arguments[0].logical.lists);
    if (use->scope->binder->queue)
        list_hold(use->scope->binder, lists);
    return (struct logical_type){.kind = LOGICAL_LIST, .lists = lists};
}

/* Stands for the result: reads all arguments, and is like no other value of the task. *first: the OP_TEXT. */
static struct term pending(const struct row_text_use *use, size_t number, value *first)
{
    struct code *code = use->scope->code;
    struct binder *binder = use->scope->binder;
    const enum text_result result = kind_of_result(use);
    const struct text_application application = {.function = &of_rows};
    value v = code_exact_int(code, (int64_t)number, use->span);
    for (size_t k = 0; k < use->count; k++) {
        const struct instr fields = {.op = OP_TEXT,
                                     .kind = KIND_INT,
                                     .args = {v, as_integer(code, use->arguments[k].value, use->span), NO_VALUE},
                                     .integer = queue_text_application(binder->queue, &application),
                                     .span = use->span};
        v = code_add(code, &fields);
    }
    *first = v;
    if (result == TEXT_TO_BOOL)
        v = code_binary(code, OP_NE, v, code_int(code, 0, use->span), use->span);
    else if (result == TEXT_TO_FLOAT)
        v = code_unary(code, OP_TO_FLOAT, v, use->span);
    struct term term = term_of_type(v, type_of_result(use));
    term.present = present_of_all(use);
    if (!use->format && use->makes == ROW_TEXT) { /* a function may have no result */
        const value found = code_binary(code, OP_NE, *first, code_int(code, 0, use->span), use->span);
        term.present = present_both(code, term.present, found, use->span);
    }
    term.settled = term.present == NO_VALUE;
    return term;
}

static value input_of(struct scope *scope, struct column *column, struct span span)
{
    const struct input input = {.column = column, .type = column->type, .name = "text"};
    queue_hold(scope->binder->queue, column_ref(column));
    return task_read(scope->task, &input, span);
}

/* The column of results beside the stage's rows. */
static struct term result_of_rows(const struct row_text_use *use, struct column *column)
{
    struct scope *scope = use->scope;
    struct term term = term_of_type(input_of(scope, column, use->span), column->logical);
    if (column->validity)
        term.present = input_of(scope, column->validity, use->span);
    term.settled = true;
    if (column->logical.dictionary)
        queue_hold_dictionary(scope->binder->queue, dictionary_ref(column->logical.dictionary));
    return term;
}

/* In a check, or within what is bound for a server: depends on all arguments. */
static struct term unknown_result(const struct row_text_use *use)
{
    struct code *code = use->scope->code;
    struct term all = term_of(code_exact_int(code, 0, use->span));
    for (size_t k = 0; k < use->count; k++)
        all.value =
            code_binary(code, OP_BITOR, all.value, as_integer(code, use->arguments[k].value, use->span), use->span);
    all.present = present_of_all(use);
    struct term unknown = text_unknown(use->scope, kind_of_result(use), all, use->span);
    unknown.logical = type_of_result(use);
    return unknown;
}

/* Why the rows of the stage cannot be computed before it is bound; NULL: they can. */
static const char *why_not(const struct scope *scope)
{
    const struct binder *binder = scope->binder;
    if (binder->rounds)
        return "within a loop";
    if (binder->folds > 0)
        return "within a fold over an index";
    return scope->combines ? "where values are combined" : NULL;
}

/* The argument, missing where it is not needed but could fail, as in `n != 0 ? text(10 / n) : ""`. */
static struct term where_needed(struct scope *scope, struct term term, struct span span)
{
    struct code *code = scope->code;
    if (term.present != NO_VALUE) /* where a value is missing, computing it could fail */
        term.value = term_settled(code, term, span);
    if (!code->at[term.value].fallible)
        return term;
    for (const struct needed *needed = scope->needed; needed; needed = needed->outer)
        term.present = present_both(code, term.present, needed->condition, span);
    term.settled = false;
    term.value = term_settled(code, term, span);
    return term;
}

/* The result is needed, or known from an earlier binding. */
static struct term result_of_need(const struct row_text_use *use, const struct scalar *constants,
                                  const bool *is_constant)
{
    struct binder *binder = use->scope->binder;
    const struct row_texts *known = &binder->facts->row_texts;
    const size_t number = binder->row_text_count++;
    for (size_t k = 0; k < known->count; k++) {
        const struct row_text *text = known->at[k];
        if (text->number == number && text->span.begin == use->span.begin && text->span.end == use->span.end)
            return result_of_rows(use, text->column);
    }
    struct term *arguments = arena_array(binder->arena, use->count, sizeof *arguments);
    for (size_t k = 0; k < use->count; k++)
        arguments[k] = where_needed(use->scope, use->arguments[k], use->span);
    struct row_text *text =
        ARENA_NEW(binder->arena, struct row_text, .number = number, .span = use->span, .format = use->format,
                  .function = use->function, .task = use->scope->task, .arguments = arguments, .constants = constants,
                  .is_constant = is_constant, .count = use->count, .separator = use->separator, .makes = use->makes);
    row_texts_add(&binder->needs->row_texts, text, binder->arena);
    return pending(use, number, &text->value);
}

/* The column whose rows the value is, as they are; NULL: it is something else. */
static const struct column *column_as_it_is(const struct scope *scope, value v)
{
    const struct instr *instr = &scope->code->at[v];
    if (instr->op != OP_INPUT || instr->offset != 0 || instr->integer >= (int64_t)scope->task->input_count)
        return NULL;
    const struct input *input = &scope->task->inputs[instr->integer];
    if (input->whole)
        return NULL;
    return input->task ? output_column(input->task, input->output) : input->column;
}

/* Whether the tasks so far only name columns: running them once more costs nothing. */
static bool nothing_runs_before(const struct queue *queue, const struct task *task)
{
    bool plain = true;
    for (size_t t = 0; t < queue->count && plain; t++) {
        const struct task *before = queue->tasks[t];
        plain = before == task || (before->sink == SINK_ROWS && before->filter_count == 0 && !task_has_window(before));
    }
    return plain;
}

bool texts_differ_by_row(const struct scope *scope, const struct term *term)
{
#ifdef NDEBUG
    enum { MANY = 1 << 15 };
#else
    enum { MANY = 16 };
#endif
    const struct binder *binder = scope->binder;
    const struct dictionary *dictionary = term->logical.dictionary;
    if (!binder->facts->runs || binder->facts->remote || !binder->queue || !scope->task || why_not(scope) ||
        !dictionary || dictionary->count < MANY)
        return false;
    const struct column *column = column_as_it_is(scope, term->value);
    return column && dictionary->count > column->rows / 2 && nothing_runs_before(binder->queue, scope->task);
}

static struct row_argument argument_of_constant(const struct scalar *constant)
{
    return (struct row_argument){.kind = constant->kind, .logical = constant->logical, .constant = *constant};
}

/* Computes the call for constants, or for each string of the dictionary of argument `only`. */
static struct term compute(const struct row_text_use *use, const struct scalar *constants, size_t only)
{
    struct binder *binder = use->scope->binder;
    const struct workers workers = {.threads = parallel_threads(), .cancel = env_cancel(binder->env)};
    const bool constant = only == use->count;
    const struct term *text = constant ? NULL : &use->arguments[only];
    const int64_t rows = constant ? 1 : text->logical.dictionary->count;
    uint32_t *codes = heap_array((size_t)rows, sizeof *codes);
    struct row_argument *arguments = arena_array(binder->arena, use->count, sizeof *arguments);
    for (size_t k = 0; k < use->count; k++)
        arguments[k] = argument_of_constant(&constants[k]);
    for (int64_t k = 0; k < rows; k++)
        codes[k] = (uint32_t)k;
    if (!constant) {
        arguments[only].logical = text->logical;
        arguments[only].kind = KIND_INT;
        arguments[only].store = TYPE_U32;
        arguments[only].elements = codes;
    }
    const struct row_call call = {use->format, use->function, arguments, use->count, rows, NULL, false};
    struct text_lookup lookup;
    const enum status status = row_texts_make(&call, constant ? NULL : &workers, use->span, binder->diags, &lookup);
    free(codes);
    if (!bind_succeeded(binder, status))
        return unknown_term;
    struct text_use of = {.scope = use->scope, .function = use->function, .span = use->span};
    if (!use->function)
        of.function = &of_rows;
    if (!constant)
        of.text = *text;
    else
        of.text.present = NO_VALUE;
    struct term result = constant ? text_use_constant(&of, &lookup) : text_use_lookup(&of, &lookup);
    text_lookup_free(&lookup);
    return result;
}

struct term bind_text_by_row(const struct text_use *of)
{
    struct arena *arena = of->scope->binder->arena;
    const size_t count = (size_t)of->count + 1;
    struct term *arguments = arena_array(arena, count, sizeof *arguments);
    struct scalar *constants = arena_array(arena, count, sizeof *constants);
    bool *is_constant = arena_array(arena, count, sizeof *is_constant);
    arguments[0] = of->text;
    for (size_t k = 1; k < count; k++) {
        const struct text_argument *given = &of->args[k - 1];
        is_constant[k] = true;
        if (of->function->kinds[k - 1] == ARGUMENT_TEXT) {
            arguments[k] = text_term(of->scope, given->text, of->span);
            constants[k] = (struct scalar){.logical.kind = LOGICAL_TEXT, .text = given->text};
        } else {
            arguments[k] = term_of(code_int(of->scope->code, given->integer, of->span));
            constants[k] = scalar_int(given->integer);
        }
    }
    const struct row_text_use use = {.scope = of->scope,
                                     .name = of->function->name,
                                     .function = of->function,
                                     .arguments = arguments,
                                     .count = count,
                                     .span = of->span};
    return result_of_need(&use, constants, is_constant);
}

struct term bind_row_text(const struct row_text_use *use)
{
    struct scope *scope = use->scope;
    struct binder *binder = scope->binder;
    struct scalar *constants = arena_array(binder->arena, use->count, sizeof *constants);
    bool *is_constant = arena_array(binder->arena, use->count, sizeof *is_constant), unread = false;
    size_t only = use->count, others = 0;
    for (size_t k = 0; k < use->count; k++) {
        const struct term *argument = &use->arguments[k];
        const enum known known = constant_of_term(scope, argument, &constants[k]);
        if (known == KNOWN_NOTHING)
            return unknown_term;
        is_constant[k] = known == KNOWN_VALUE && !(use->makes == ROW_COLLECTS && k == 0);
        const bool text = argument->logical.kind == LOGICAL_TEXT && !is_constant[k];
        unread = unread || (text && !argument->logical.dictionary) ||
                 (argument->logical.kind == LOGICAL_LIST && argument->logical.lists->unread);
        if (!is_constant[k])
            only = k;
        others += !is_constant[k];
    }
    const struct term *single = others == 1 ? &use->arguments[only] : NULL;
    const char *where = why_not(scope);
    if (!use->separator && (others == 0 || (single && single->logical.dictionary && !binder->checking)) &&
        !(single && texts_differ_by_row(scope, single)))
        return compute(use, constants, only);
    if (where && (use->separator || !(single && single->logical.kind == LOGICAL_TEXT))) {
        bind_error(binder, use->span, "compute it in a stage before, as with `derive name = ...`",
                   "`%s` of values that differ from row to row cannot be computed %s", use->name, where);
        return unknown_term;
    }
    if (binder->checking || binder->facts->remote || where || !binder->queue || !scope->task)
        return unknown_result(use);
    /* Columns are read first. */
    value first;
    return unread ? pending(use, (size_t)use->span.begin, &first) : result_of_need(use, constants, is_constant);
}
