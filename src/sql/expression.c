#include "sql/expression.h"

#include <string.h>

/* A statement of this many bytes is slow to parse, and servers refuse long ones. */
enum { MOST_BYTES = 1 << 16 };

struct sql_expressions {
    const struct sql_dialect *dialect;
    const struct code *code;
    const struct task *task;
    const struct sql_leaf *leaves;
    const struct queue *queue;
    struct arena *arena;
    const char **texts; /* of each value, once it is known */
    const char *refusal;
};

struct sql_expressions *sql_expressions_new(const struct sql_dialect *dialect, const struct task *task,
                                            const struct sql_leaf *leaves, const struct queue *queue,
                                            struct arena *arena)
{
    struct sql_expressions *expressions = arena_alloc(arena, sizeof *expressions);
    *expressions = (struct sql_expressions){.dialect = dialect,
                                            .code = &task->code,
                                            .task = task,
                                            .leaves = leaves,
                                            .queue = queue,
                                            .arena = arena,
                                            .texts = arena_array(arena, (size_t)task->code.count + 1, sizeof(char *))};
    return expressions;
}

const char *sql_refusal(const struct sql_expressions *expressions)
{
    return expressions->refusal;
}

static const char *refuse(struct sql_expressions *expressions, const char *what)
{
    expressions->refusal = what;
    return NULL;
}

/* The buffer's text in the arena, which is freed; NULL if it is too long. */
static const char *keep(struct sql_expressions *expressions, struct strbuf *buffer)
{
    const char *text = buffer->length <= MOST_BYTES ? arena_text(expressions->arena, buffer->text, buffer->length)
                                                    : refuse(expressions, "a long expression");
    strbuf_free(buffer);
    return text;
}

/* The template with its arguments in place. */
static const char *fill(struct sql_expressions *expressions, const char *form, const char *const *arguments,
                        const char *result)
{
    struct strbuf out = {0};
    for (; *form && out.length <= MOST_BYTES; form++) {
        if (*form != '$') {
            strbuf_putc(&out, *form);
            continue;
        }
        form++;
        strbuf_puts(&out, *form == 'r' ? result : arguments[*form - 'a']);
    }
    return keep(expressions, &out);
}

static const char *constant(struct sql_expressions *expressions, const struct instr *instr)
{
    if (instr->kind == KIND_FLOAT)
        return refuse(expressions, "float");
    if (instr->kind == KIND_BOOL)
        return instr->integer ? "1" : "0";
    if (instr->integer == INT64_MIN)
        return expressions->dialect->least_integer;
    const char *digits = arena_printf(expressions->arena, "%lld", (long long)instr->integer);
    return fill(expressions, expressions->dialect->integer, &digits, NULL);
}

/* The INPUT that the value is, NULL: it is none. */
static const struct sql_leaf *leaf_of(const struct sql_expressions *expressions, value v)
{
    const struct instr *instr = &expressions->code->at[v];
    const bool plain = instr->op == OP_INPUT && instr->offset == 0;
    return plain ? &expressions->leaves[instr->integer] : NULL;
}

/* Which text of the queue a code stands for; *behind: the code is the one behind it. */
static bool unknown_text(const struct sql_expressions *expressions, value v, struct text *text, bool *behind)
{
    const struct instr *instr = &expressions->code->at[v];
    const int64_t number = instr->op == OP_CONST && instr->kind == KIND_INT ? instr->integer - unknown_code : -1;
    if (number < 0 || number >= 2 * (int64_t)expressions->queue->text_count)
        return false;
    *text = expressions->queue->texts[number / 2];
    *behind = number % 2 == 1;
    return true;
}

/* A comparison of a text of the table with a literal: its code < T's is text < T, and < the one behind it is <= T. */
static const char *text_comparison(struct sql_expressions *expressions, const struct instr *instr)
{
    const struct sql_leaf *left = leaf_of(expressions, instr->args[0]), *right = leaf_of(expressions, instr->args[1]);
    const struct sql_leaf *leaf = left && left->is_text ? left : right && right->is_text ? right : NULL;
    struct text text;
    bool behind;
    if (!leaf || !unknown_text(expressions, instr->args[leaf == left], &text, &behind))
        return refuse(expressions, "text");
    const char *word;
    if (instr->op == OP_EQ || instr->op == OP_NE)
        word = instr->op == OP_EQ ? "=" : "!=";
    else if (leaf == left && (instr->op == OP_LT) == behind)
        word = "<=";
    else if (leaf == left)
        word = "<";
    else if ((instr->op == OP_LT) == behind)
        word = ">";
    else
        word = ">=";
    if (behind && (instr->op == OP_EQ || instr->op == OP_NE || (instr->op == OP_LE && leaf == left) ||
                   (instr->op == OP_LT && leaf == right)))
        return refuse(expressions, "text");
    struct strbuf out = {0};
    strbuf_printf(&out, "(%s %s ", leaf->text, word);
    sql_add_string(&out, expressions->dialect, text);
    strbuf_putc(&out, ')');
    return keep(expressions, &out);
}

static bool is_text(const struct sql_expressions *expressions, value v)
{
    const struct sql_leaf *leaf = leaf_of(expressions, v);
    return leaf && leaf->is_text;
}

static bool is_comparison(enum op op)
{
    return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE;
}

/* A column and a constant are compared as they are, so that the server can use an index. */
static void plain_operands(struct sql_expressions *expressions, const struct instr *instr, const char **arguments)
{
    for (int i = 0; i < 2; i++) {
        const struct sql_leaf *leaf = leaf_of(expressions, instr->args[i]);
        const struct instr *other = &expressions->code->at[instr->args[1 - i]];
        if (!leaf || !leaf->column || other->op != OP_CONST || other->kind != KIND_INT || other->integer == INT64_MIN)
            continue;
        arguments[i] = leaf->column;
        arguments[1 - i] = arena_printf(expressions->arena, "%lld", (long long)other->integer);
        return;
    }
}

static const char *operation(struct sql_expressions *expressions, const struct instr *instr, bool fails,
                             const char *result)
{
    const struct sql_operation *as = &expressions->dialect->operations[instr->op];
    const char *arguments[3] = {"", "", ""};
    const int arity = op_table[instr->op].arity;
    if (is_comparison(instr->op) && (is_text(expressions, instr->args[0]) || is_text(expressions, instr->args[1])))
        return text_comparison(expressions, instr);
    for (int i = 0; i < arity; i++) {
        if (expressions->code->at[instr->args[i]].kind == KIND_FLOAT)
            return refuse(expressions, op_table[instr->op].text);
        arguments[i] = sql_expression(expressions, instr->args[i]);
        if (!arguments[i])
            return NULL;
    }
    const char *form = fails ? as->fails : instr->checked && as->checked ? as->checked : as->value;
    if (!form || instr->kind == KIND_FLOAT || (instr->checked && !as->fails))
        return refuse(expressions, op_table[instr->op].text);
    if (is_comparison(instr->op))
        plain_operands(expressions, instr, arguments);
    return fill(expressions, form, arguments, result);
}

const char *sql_expression(struct sql_expressions *expressions, value v)
{
    const struct instr *instr = &expressions->code->at[v];
    const struct sql_leaf *leaf = leaf_of(expressions, v);
    const char **text = &expressions->texts[v];
    if (*text || expressions->refusal)
        return expressions->refusal ? NULL : *text;
    if (leaf && leaf->is_text)
        *text = refuse(expressions, "text");
    else if (leaf)
        *text = leaf->text;
    else if (instr->op == OP_CONST)
        *text = constant(expressions, instr);
    else if (op_table[instr->op].arity == 0)
        *text = refuse(expressions, op_table[instr->op].text);
    else
        *text = operation(expressions, instr, false, NULL);
    return *text;
}

bool sql_failure(struct sql_expressions *expressions, const bool *live, const char **condition)
{
    struct strbuf all = {0};
    *condition = NULL;
    for (value v = 0; v < expressions->code->count; v++) {
        const struct instr *instr = &expressions->code->at[v];
        if (!live[v] || !instr->checked)
            continue;
        const char *result = sql_expression(expressions, v);
        const char *fails = result ? operation(expressions, instr, true, result) : NULL;
        const char *guard = instr->guard == NO_VALUE ? NULL : sql_expression(expressions, instr->guard);
        if (!fails || expressions->refusal) {
            strbuf_free(&all);
            return false;
        }
        strbuf_printf(&all, "%s%s%s%s%s", all.length > 0 ? " OR " : "(", guard ? "(" : "", guard ? guard : "",
                      guard ? " AND " : "", fails);
        strbuf_puts(&all, guard ? ")" : "");
    }
    if (all.length == 0)
        return true;
    strbuf_putc(&all, ')');
    *condition = keep(expressions, &all);
    return *condition != NULL;
}
