#include "sql/lower/expression_internal.h"

#include "sql/lower/dialect.h"
#include "sql/lower/select.h"

#include <math.h>
#include <string.h>

struct sql_expressions *sql_expressions_new(const struct sql_dialect *dialect, const struct task *task,
                                            const struct sql_leaf *leaves, const struct queue *queue,
                                            const char **unless, struct arena *arena)
{
    struct sql_expressions *expressions =
        ARENA_NEW(arena, struct sql_expressions, .dialect = dialect, .task = task, .code = &task->code,
                  .leaves = leaves, .queue = queue, .unless = unless, .arena = arena);
    expressions->said = arena_array(arena, (size_t)task->code.count + 1, sizeof *expressions->said);
    return expressions;
}

void sql_set_row(struct sql_expressions *expressions, const char *row)
{
    expressions->row = row;
}

void sql_unless(struct sql_expressions *expressions, const char *why)
{
    const char *all = *expressions->unless;
    if (!all)
        *expressions->unless = why;
    else if (!strstr(all, why))
        *expressions->unless = arena_printf(expressions->arena, "%s, or %s", all, why);
}

const char *sql_refusal(const struct sql_expressions *expressions)
{
    return expressions->refusal;
}

const char *expression_keep(struct sql_expressions *expressions, struct strbuf *buffer)
{
    const bool fits = buffer->length <= MOST_BYTES;
    const char *text = fits ? arena_text(expressions->arena, buffer->text, buffer->length) : NULL;
    strbuf_free(buffer);
    return text;
}

/* The INPUT that the value is, NULL: it is none. */
static const struct sql_leaf *leaf_of(const struct sql_expressions *expressions, value v)
{
    const struct instr *instr = &expressions->code->at[v];
    const bool plain = instr->op == OP_INPUT && instr->offset == 0;
    return plain ? &expressions->leaves[instr->integer] : NULL;
}

static bool is_comparison(enum op op)
{
    return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE;
}

static const struct instr *constant_of(const struct sql_expressions *expressions, value v)
{
    return v != NO_VALUE && code_is_const(expressions->code, v) ? &expressions->code->at[v] : NULL;
}

/* The place of the text that an integer stands for; -1: it is just a number. */
static int64_t unknown_text(const struct sql_expressions *expressions, value v)
{
    const struct instr *instr = constant_of(expressions, v);
    const int64_t end = unknown_code + 2 * (int64_t)expressions->queue->text_count;
    const bool stands = instr && instr->kind == KIND_INT && instr->integer >= unknown_code && instr->integer < end;
    return stands ? instr->integer - unknown_code : -1;
}

static bool is_harmless(const struct instr *instr, const struct instr *constant)
{
    if (!constant)
        return false;
    if (instr->op == OP_SHL || instr->op == OP_SHR)
        return constant->integer >= 0 && constant->integer <= 63;
    if (instr->op == OP_MOD && constant->kind == KIND_INT && constant->integer == INT64_MIN)
        return false;
    return constant->kind == KIND_FLOAT ? constant->number != 0 : constant->integer != 0 && constant->integer != -1;
}

static bool is_number(const struct sql_expressions *expressions, value v)
{
    const struct instr *constant = constant_of(expressions, v);
    return constant ? !isnan(constant->number) : expressions->code->at[v].op == OP_TO_FLOAT;
}

/* Whether some arguments of an operation on floats are special to the dialect, and may be here. */
static bool may_be_special(const struct sql_expressions *expressions, const struct instr *instr)
{
    const value *args = instr->args;
    if (instr->op == OP_DIV || instr->op == OP_MOD)
        return !is_harmless(instr, constant_of(expressions, args[1])) || !is_number(expressions, args[1]);
    if (instr->op == OP_EQ || instr->op == OP_NE)
        return !is_number(expressions, args[0]) && !is_number(expressions, args[1]);
    return !is_number(expressions, args[1]);
}

/* Whether it is to be said for all arguments. Divisors can be 0 or -1 without a check where the quotient fits. */
static bool needs_care(const struct sql_expressions *expressions, const struct instr *instr, enum kind kind)
{
    if (kind == KIND_FLOAT)
        return op_table[instr->op].arity == 2 && may_be_special(expressions, instr);
    if (instr->op != OP_DIV && instr->op != OP_MOD)
        return instr->checked;
    const struct instr *divisor = &expressions->code->at[instr->args[1]];
    return instr->checked || (divisor->lo <= 0 && divisor->hi >= -1);
}

bool expression_form(const struct sql_expressions *expressions, value v, struct form *form)
{
    const struct instr *instr = &expressions->code->at[v];
    if (op_table[instr->op].arity == 0)
        return false;
    const enum kind kind = expressions->code->at[instr->args[instr->op == OP_SELECT]].kind;
    const struct sql_operands operands = {kind, is_harmless(instr, constant_of(expressions, instr->args[1]))};
    const struct sql_operation *as = sql_operation_find(expressions->dialect, instr->op, operands);
    if (!as)
        return false;
    const bool care = as->checked && needs_care(expressions, instr, kind);
    *form = (struct form){.as = as, .value = care ? as->checked : as->value, .instr = instr};
    return true;
}

static void add_integer(const struct sql_expressions *expressions, struct strbuf *sql, int64_t integer, bool typed)
{
    const struct sql_dialect *dialect = expressions->dialect;
    const int64_t most = INT64_MAX >> (63 - dialect->bare_bits);
    if (integer == INT64_MIN) {
        strbuf_puts(sql, dialect->least_integer);
        return;
    }
    const bool bare = !typed && integer >= -most && integer <= most;
    const char *digits = arena_printf(expressions->arena, bare && integer < 0 ? "(%lld)" : "%lld", (long long)integer);
    strbuf_puts(sql, bare ? digits : sql_phrase(dialect->integer, digits, NULL, expressions->arena));
}

/* Adds argument `i`; a constant needs no type beside a value that has one. */
static void add_argument(const struct sql_expressions *expressions, struct strbuf *sql, const struct form *form, int i,
                         bool typed)
{
    const value v = form->instr->args[i];
    const struct instr *constant = constant_of(expressions, v);
    if (constant && constant->kind == KIND_INT && form->text)
        strbuf_puts(sql, "''");
    else if (constant && constant->kind == KIND_INT)
        add_integer(expressions, sql, constant->integer,
                    typed || i > 1 || constant_of(expressions, form->instr->args[1 - i]));
    else
        strbuf_puts(sql, expressions->said[v].text);
}

/* Adds the text with its arguments in place. */
static void fill(const struct sql_expressions *expressions, struct strbuf *sql, const struct form *form,
                 const char *text, const char *result)
{
    for (; *text && sql->length <= MOST_BYTES; text++) {
        if (*text != '$') {
            strbuf_putc(sql, *text);
            continue;
        }
        const char c = *++text;
        const int64_t lo = form->instr->lo, hi = form->instr->hi;
        if (c == 'r')
            strbuf_puts(sql, result);
        else if (c == 'f')
            fill(expressions, sql, form, form->as->fails, result);
        else if (c == 'z')
            add_integer(expressions, sql, lo > 0 ? lo : hi < 0 ? hi : 0, true);
        else if (c == 's' && !is_harmless(form->instr, constant_of(expressions, form->instr->args[1])))
            fill(expressions, sql, form, expressions->dialect->count, result);
        else if (c == 's')
            add_argument(expressions, sql, form, 1, true);
        else
            add_argument(expressions, sql, form, c >= 'a' ? c - 'a' : c - 'A', c >= 'a');
    }
}

static const char *constant(struct sql_expressions *expressions, const struct instr *instr)
{
    struct strbuf out = {0};
    if (instr->kind == KIND_BOOL)
        return expressions->dialect->truths[instr->integer != 0];
    if (instr->kind == KIND_FLOAT)
        sql_add_number(&out, expressions->dialect, instr->number);
    else
        add_integer(expressions, &out, instr->integer, true);
    return expression_keep(expressions, &out);
}

/* The operator of a column of text and a literal T whose codes are compared: `code < code of T` is `text < T`, and
 * `code < the next code` is `text <= T`. NULL: it is another comparison. */
static const char *comparison_word(const struct instr *instr, bool text_first, bool behind)
{
    if (instr->op == OP_EQ || instr->op == OP_NE)
        return behind ? NULL : instr->op == OP_EQ ? "=" : "<>";
    if (text_first)
        return instr->op == OP_LT ? (behind ? "<=" : "<") : behind ? NULL : "<=";
    return instr->op == OP_LE ? (behind ? ">" : ">=") : behind ? NULL : ">";
}

static const char *text_comparison(struct sql_expressions *expressions, const struct instr *instr)
{
    const struct said *left = &expressions->said[instr->args[0]], *right = &expressions->said[instr->args[1]];
    const bool first = left->is_text, second = right->is_text;
    const int64_t number = first == second ? 0 : unknown_text(expressions, instr->args[first]);
    const char *word = number < 0 ? NULL : comparison_word(instr, first, number % 2 == 1);
    struct strbuf out = {0};
    if (!word || (first && !left->text) || (second && !right->text))
        return NULL;
    strbuf_printf(&out, "(%s %s ", first ? left->text : right->text, word);
    const bool good =
        first == second || sql_add_string(&out, expressions->dialect, expressions->queue->texts[number / 2]);
    strbuf_puts(&out, first == second ? right->text : "");
    strbuf_putc(&out, ')');
    const char *text = expression_keep(expressions, &out);
    return good ? text : NULL;
}

/* A column and a constant are compared as they are, so that the server can use an index. NULL: they are not such. */
static const char *plain_comparison(struct sql_expressions *expressions, const struct form *form)
{
    struct strbuf out = {0};
    for (int i = 0; i < 2 && is_comparison(form->instr->op); i++) {
        const struct sql_leaf *leaf = leaf_of(expressions, form->instr->args[i]);
        const struct instr *other = constant_of(expressions, form->instr->args[1 - i]);
        if (!leaf || !leaf->column || !other || other->kind != KIND_INT || other->integer == INT64_MIN)
            continue;
        for (const char *at = form->value; *at; at++) {
            if (*at != '$')
                strbuf_putc(&out, *at);
            else if (*++at - 'A' == i)
                strbuf_puts(&out, leaf->column);
            else
                strbuf_printf(&out, other->integer < 0 ? "(%lld)" : "%lld", (long long)other->integer);
        }
        return expression_keep(expressions, &out);
    }
    return NULL;
}

/* Whether the arguments are said, of which `said` takes its depth and layer. */
static bool say_arguments(struct sql_expressions *expressions, const struct instr *instr, struct said *said)
{
    for (int i = 0; i < op_table[instr->op].arity; i++) {
        const struct said *argument = &expressions->said[instr->args[i]];
        const bool beside = is_comparison(instr->op) && expressions->said[instr->args[1 - i]].is_text;
        const bool bare = beside && unknown_text(expressions, instr->args[i]) >= 0;
        if (!argument->text && !bare) {
            said->refusal = argument->refusal;
            return false;
        }
        said->depth = argument->depth >= said->depth ? argument->depth + 1 : said->depth;
        said->layer = argument->layer > said->layer ? argument->layer : said->layer;
    }
    return true;
}

static void say_text(struct sql_expressions *expressions, value v)
{
    struct said *said = &expressions->said[v];
    const struct instr *instr = &expressions->code->at[v];
    const struct text_application *application = &expressions->queue->text_applications[instr->integer];
    const struct text_function *function = application->function;
    said->is_text = !application->found && (!function || function->result == TEXT_TO_TEXT);
    if (!say_arguments(expressions, instr, said))
        return;
    said->refusal = function ? function->name : "text";
    const char *text =
        sql_text(expressions->dialect, application, expressions->said[instr->args[0]].text,
                 expressions->said[instr->args[1]].text, &said->fails, &said->unless, expressions->arena);
    said->text = text && said->depth <= DEEPEST && strlen(text) <= MOST_BYTES ? text : NULL;
}

/* Whether an operation's texts, of which there are some, are the branches of a choice. */
static bool is_choice_of_texts(const struct sql_expressions *expressions, const struct instr *instr)
{
    bool all = instr->op == OP_SELECT && !expressions->said[instr->args[0]].is_text;
    for (int i = 1; i < 3 && all; i++) {
        const struct instr *constant = constant_of(expressions, instr->args[i]);
        all = expressions->said[instr->args[i]].is_text || (constant && constant->integer == 0);
    }
    return all;
}

static void say_operation(struct sql_expressions *expressions, value v)
{
    struct said *said = &expressions->said[v];
    struct form form;
    const struct instr *instr = &expressions->code->at[v];
    bool texts = false;
    said->refusal = op_table[instr->op].text;
    if (!expression_form(expressions, v, &form) || !say_arguments(expressions, instr, said))
        return;
    for (int i = 0; i < op_table[instr->op].arity; i++)
        texts = texts || expressions->said[instr->args[i]].is_text;
    if (texts && is_comparison(instr->op)) {
        said->text = text_comparison(expressions, instr);
        said->refusal = "text";
        return;
    }
    said->is_text = form.text = texts && is_choice_of_texts(expressions, instr);
    said->refusal = "text";
    if (texts && !form.text)
        return;
    said->text = plain_comparison(expressions, &form);
    if (said->text)
        return;
    struct strbuf out = {0};
    fill(expressions, &out, &form, form.value, NULL);
    said->refusal = "a long expression";
    said->text = said->depth <= DEEPEST ? expression_keep(expressions, &out) : NULL;
    strbuf_free(&out);
}

/* x in (SOURCE), whose elements the leaf says. */
static void say_member(struct sql_expressions *expressions, value v)
{
    struct said *said = &expressions->said[v];
    const struct sql_dialect *dialect = expressions->dialect;
    const struct instr *instr = &expressions->code->at[v];
    const struct sql_leaf *leaf = &expressions->leaves[instr->integer];
    const struct said *key = &expressions->said[instr->args[0]];
    if (!say_arguments(expressions, instr, said))
        return;
    said->refusal = "`in` with a table";
    if (!leaf->text || leaf->is_text != key->is_text || said->depth > DEEPEST)
        return;
    const char *text =
        sql_join_key(dialect, key->text, key->is_text, expressions->code->at[instr->args[0]].kind, expressions->arena);
    text = arena_printf(expressions->arena, "(%s %s (%s))", text, dialect->in, leaf->text);
    said->text = strlen(text) <= MOST_BYTES ? text : NULL;
}

/* An element of a list, which the leaf says. */
static void say_element(struct sql_expressions *expressions, value v)
{
    struct said *said = &expressions->said[v];
    const struct instr *instr = &expressions->code->at[v];
    if (!say_arguments(expressions, instr, said))
        return;
    said->refusal = "a long expression";
    const char *text = sql_phrase(expressions->dialect->element, expressions->leaves[instr->integer].text,
                                  expressions->said[instr->args[0]].text, expressions->arena);
    said->text = strlen(text) <= MOST_BYTES && said->depth <= DEEPEST ? text : NULL;
}

void expression_say(struct sql_expressions *expressions, value v)
{
    struct said *said = &expressions->said[v];
    const struct instr *instr = &expressions->code->at[v];
    const struct sql_leaf *leaf = leaf_of(expressions, v);
    if (said->text || said->refusal)
        return;
    if (unknown_text(expressions, v) >= 0) {
        said->refusal = "text";
    } else if (leaf) {
        said->text = leaf->text;
        said->is_text = leaf->is_text;
        said->refusal = leaf->text ? NULL : "a column of this type";
    } else if (instr->op == OP_ROW) {
        said->text = expressions->row;
        said->refusal = expressions->row ? NULL : "row numbers";
    } else if (instr->op == OP_TEXT) {
        say_text(expressions, v);
    } else if (instr->op == OP_GATHER && expressions->task->inputs[instr->integer].side != JOIN_MEMBER) {
        say_element(expressions, v);
    } else if (instr->op == OP_GATHER) {
        say_member(expressions, v);
    } else if (instr->op == OP_CONST) {
        said->text = constant(expressions, instr);
    } else {
        say_operation(expressions, v);
    }
}

/* Says what the marked values are computed from. Arguments come first. */
static void say_all(struct sql_expressions *expressions, const bool *marks)
{
    for (value v = 0; v < expressions->code->count; v++) {
        if (marks[v])
            expression_say(expressions, v);
    }
}

/* Says the value, and what it is computed from. */
static const struct said *say_value(struct sql_expressions *expressions, value v)
{
    const struct said *said = &expressions->said[v];
    if (!said->text && !said->refusal) {
        bool *marks = arena_array(expressions->arena, (size_t)expressions->code->count, sizeof *marks);
        code_mark(expressions->code, v, marks);
        say_all(expressions, marks);
    }
    return said;
}

const char *sql_expression(struct sql_expressions *expressions, value v)
{
    const struct said *said = say_value(expressions, v);
    if (!said->text || said->is_text)
        expressions->refusal = said->is_text && said->text ? "text" : said->refusal;
    return said->is_text ? NULL : said->text;
}

const char *sql_string_of(const struct sql_expressions *expressions, const char *number,
                          const struct dictionary *dictionary)
{
    enum { MOST_STRINGS = 256 };
    struct strbuf list = {0};
    bool good =
        expressions->dialect->string && dictionary && dictionary->count > 0 && dictionary->count <= MOST_STRINGS;
    for (int64_t k = 0; k < dictionary->count && good; k++) {
        strbuf_puts(&list, k > 0 ? ", " : "");
        good = sql_add_string(&list, expressions->dialect, dictionary_text(dictionary, k));
    }
    const char *text = good ? sql_phrase(expressions->dialect->string, list.text, number, expressions->arena) : NULL;
    strbuf_free(&list);
    return text && strlen(text) <= MOST_BYTES ? text : NULL;
}

const char *sql_text_expression(struct sql_expressions *expressions, value v, const struct dictionary *dictionary)
{
    const struct said *said = say_value(expressions, v);
    if (!said->text)
        expressions->refusal = said->refusal;
    if (said->text && !said->is_text && dictionary && unknown_text(expressions, v) < 0)
        return sql_string_of(expressions, said->text, dictionary);
    return said->is_text ? said->text : NULL;
}

/* Adds guard && fails. */
static bool add_failure(struct sql_expressions *expressions, struct strbuf *all, value v)
{
    const value where = expressions->code->at[v].guard;
    const struct said *said = say_value(expressions, v);
    const char *guard = where == NO_VALUE ? NULL : sql_expression(expressions, where);
    const bool text = expressions->code->at[v].op == OP_TEXT;
    struct form form;
    if (!said->text)
        expressions->refusal = said->refusal;
    if (!said->text || (where != NO_VALUE && !guard) || (!text && !expression_form(expressions, v, &form)))
        return false;
    if (text ? !said->fails : !form.as->fails)
        return true;
    strbuf_puts(all, all->length > 0 ? " OR " : "(");
    if (guard)
        strbuf_printf(all, "(%s AND ", guard);
    if (text) {
        strbuf_puts(all, said->fails);
        sql_unless(expressions, said->unless);
    } else {
        fill(expressions, all, &form, form.as->fails, said->text);
    }
    strbuf_puts(all, guard ? ")" : "");
    return true;
}

bool sql_failure(struct sql_expressions *expressions, const bool *live, const char **condition)
{
    struct strbuf all = {0};
    *condition = NULL;
    for (value v = 0; v < expressions->code->count && all.length <= MOST_BYTES; v++) {
        if (live[v] && expressions->code->at[v].checked && !add_failure(expressions, &all, v)) {
            strbuf_free(&all);
            return false;
        }
    }
    if (all.length == 0)
        return true;
    strbuf_putc(&all, ')');
    *condition = expression_keep(expressions, &all);
    if (!*condition)
        expressions->refusal = "a long expression";
    return *condition;
}
