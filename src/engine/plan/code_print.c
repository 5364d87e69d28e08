/* Typed code as text. Expressions can be deep, and shared values make their text exponentially long: so printing keeps
 * its own stack, and cuts the text after a number of operations. */
#include "engine/plan/code.h"

#include "engine/plan/border.h"
#include "engine/plan/code_loop.h"
#include "engine/values/dictionary.h"
#include "engine/values/scalar.h"
#include "parser/words.h"

#include <inttypes.h>
#include <string.h>

enum {
    MAX_OPERATIONS = 40,
    MAX_PENDING = 8 * MAX_OPERATIONS, /* an operation leaves at most 7 pieces: cond ? a : b in parentheses */
};

/* Operator precedence, as in the grammar; others are written as functions. */
static const int precedences[OP_COUNT] = {
    [OP_ASSERT] = 1, [OP_SELECT] = 1, [OP_OR] = 2,     [OP_AND] = 3,  [OP_EQ] = 4,   [OP_NE] = 4,      [OP_LT] = 5,
    [OP_LE] = 5,     [OP_XOR] = 6,    [OP_BITAND] = 7, [OP_SHL] = 8,  [OP_SHR] = 8,  [OP_ADD] = 9,     [OP_SUB] = 9,
    [OP_MUL] = 10,   [OP_DIV] = 10,   [OP_MOD] = 10,   [OP_NEG] = 11, [OP_NOT] = 11, [OP_BITNOT] = 11,
};

static const struct logical_type number = {.kind = LOGICAL_NUMBER};

/* Text, or a value in a place for operators of at least this precedence. */
struct pending {
    const char *text;
    value value;
    int precedence;
    bool negated;           /* a negative constant, without its sign */
    struct logical_type as; /* what a constant stands for */
};

struct printer {
    struct strbuf *out;
    const struct code *code;
    const char *const *input_names;
    const struct logical_type *logicals; /* of the inputs; NULL: numbers */
    struct pending pending[MAX_PENDING]; /* the next one last */
    int count;
    int operations;
};

static void push_text(struct printer *printer, const char *text)
{
    printer->pending[printer->count++] = (struct pending){.text = text};
}

static void push_value(struct printer *printer, value v, int precedence, struct logical_type as)
{
    printer->pending[printer->count++] = (struct pending){.value = v, .precedence = precedence, .as = as};
}

static bool is_int(const struct instr *instr, int64_t integer)
{
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->integer == integer;
}

/* What the integers of a value stand for, as far as it is seen at once; numbers otherwise. What a time plus or minus a
 * number is, does not show: another time, or the time between two. */
static struct logical_type logical_of(const struct code *code, const struct logical_type *logicals, value v, int depth)
{
    enum { MAX_DEPTH = 4 };
    const struct instr *instr = &code->at[v];
    struct logical_type logical = number;
    if (!logicals || depth == MAX_DEPTH)
        return number;
    switch (instr->op) {
    case OP_INPUT:
    case OP_GATHER:
        return logicals[instr->integer];
    case OP_ADD:
    case OP_SUB:
        logical = logical_of(code, logicals, instr->args[0], depth + 1);
        return logical_table[logical.kind].adds ? logical : number;
    case OP_NEG:
    case OP_MIN:
    case OP_MAX:
    case OP_SELECT:
        for (int i = instr->op == OP_SELECT; i < op_table[instr->op].arity && logical.kind == LOGICAL_NUMBER; i++)
            logical = logical_of(code, logicals, instr->args[i], depth + 1);
        return logical;
    default:
        return number;
    }
}

struct logical_type code_operand_logical(const struct code *code, const struct instr *comparison, int i,
                                         const struct logical_type *logicals)
{
    const struct logical_type own = logical_of(code, logicals, comparison->args[i], 0);
    const bool pair = op_table[comparison->op].arity == 2;
    return own.kind != LOGICAL_NUMBER || !pair ? own : logical_of(code, logicals, comparison->args[1 - i], 0);
}

/* What a constant operand beside the value stands for. */
static struct logical_type logical_beside(const struct printer *printer, value v, enum op op)
{
    const struct logical_type logical = logical_of(printer->code, printer->logicals, v, 0);
    const bool compares = precedences[op] == precedences[OP_EQ] || precedences[op] == precedences[OP_LT];
    if (compares || op == OP_MIN || op == OP_MAX)
        return logical;
    const bool adds = op == OP_ADD || op == OP_SUB;
    return adds && logical_table[logical.kind].adds ? logical : number;
}

/* What a branch of `instr`, a SELECT that stands for `as`, stands for. If that is not known, 0 may be there in place of
 * a missing value. */
static struct logical_type logical_of_branch(const struct printer *printer, const struct instr *instr, int branch,
                                             struct logical_type as)
{
    if (as.kind != LOGICAL_NUMBER || is_int(&printer->code->at[instr->args[branch]], 0))
        return as;
    return logical_of(printer->code, printer->logicals, instr->args[3 - branch], 0);
}

static void print_text(struct strbuf *out, struct text text)
{
    strbuf_putc(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        const bool escaped = text.at[i] == '"' || text.at[i] == '\\';
        size_t plain = i;
        while (!escaped && plain < text.length && text.at[plain] != '"' && text.at[plain] != '\\')
            plain++;
        if (escaped)
            strbuf_printf(out, "\\%c", text.at[i]);
        else
            strbuf_add_visible(out, text.at + i, plain - i);
        i = escaped ? i : plain - 1;
    }
    strbuf_putc(out, '"');
}

/* An integer as what it stands for. A text that no row has is code -1, or beyond the last one. */
static void print_logical(struct strbuf *out, struct logical_type as, int64_t integer)
{
    char text[LOGICAL_TEXT_BYTES];
    if (as.kind != LOGICAL_TEXT)
        strbuf_add(out, text, (size_t)(logical_text(text, as, integer) - text));
    else if (integer >= 0 && integer < as.dictionary->count)
        print_text(out, dictionary_text(as.dictionary, integer));
    else
        strbuf_puts(out, integer < 0 ? "(no such text)" : "(beyond all texts)");
}

static void print_name(struct strbuf *out, const char *name)
{
    const char *quote = name_is_plain(name) ? "" : "`";
    strbuf_puts(out, quote);
    strbuf_add_visible(out, name, strlen(name));
    strbuf_puts(out, quote);
}

static void print_leaf(struct printer *printer, const struct instr *instr, const struct pending *pending)
{
    struct strbuf *out = printer->out;
    const struct logical_type as = pending->as;
    if (instr->op == OP_CONST && instr->kind == KIND_INT && as.kind != LOGICAL_NUMBER &&
        (as.kind != LOGICAL_TEXT || as.dictionary)) {
        print_logical(out, as, pending->negated ? -instr->integer : instr->integer);
    } else if (pending->negated) {
        print_int(out, -instr->integer);
    } else if (instr->op == OP_STATE) {
        strbuf_printf(out, "state%" PRId64, instr->offset + 1);
    } else if (instr->op == OP_ROW || instr->op == OP_ROWS) {
        strbuf_puts(out, op_table[instr->op].text);
    } else if (instr->op == OP_INPUT) {
        strbuf_puts(out, instr->offset != 0 ? "at(" : "");
        print_name(out, printer->input_names[instr->integer]);
        if (instr->offset != 0)
            strbuf_printf(out, ", %" PRId64 ")", instr->offset);
    } else if (instr->kind == KIND_FLOAT) {
        print_float(out, instr->number);
    } else if (instr->kind == KIND_BOOL) {
        strbuf_puts(out, instr->integer ? "true" : "false");
    } else {
        print_int(out, instr->integer);
    }
}

/* `row + -1` reads better as `row - 1`. */
static bool is_negative(const struct instr *instr)
{
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->integer < 0 && instr->integer > INT64_MIN;
}

static void push_infix(struct printer *printer, enum op op, value a, const char *text, value b, int precedence)
{
    const bool subtracts = strcmp(text, "+") == 0 && is_negative(&printer->code->at[b]);
    text = subtracts ? "-" : text;
    printer->pending[printer->count++] = (struct pending){
        .value = b, .precedence = precedence + 1, .negated = subtracts, .as = logical_beside(printer, a, op)};
    push_text(printer, " ");
    push_text(printer, text);
    push_text(printer, " ");
    push_value(printer, a, precedence, logical_beside(printer, b, op));
}

/* 0 <= order && order <= 1 is how an integer >= a float is lowered; returns the order. */
static const struct instr *at_least(const struct code *code, const struct instr *instr)
{
    const struct instr *at = code->at;
    if (instr->op != OP_AND)
        return NULL;
    const struct instr *left = &at[instr->args[0]], *right = &at[instr->args[1]];
    if (left->op != OP_LE || right->op != OP_LE || left->args[1] != right->args[0])
        return NULL;
    const struct instr *order = &at[left->args[1]];
    const bool bounds = is_int(&at[left->args[0]], 0) && is_int(&at[right->args[1]], 1);
    return bounds && order->op == OP_CMP_INT_FLOAT ? order : NULL;
}

/* A comparison: `5 < x` was more likely written as `x > 5`; an exact comparison of an integer with a float compares
 * their order with 0 or 1. */
static void push_comparison(struct printer *printer, const struct instr *instr)
{
    const struct instr *at = printer->code->at;
    value a = instr->args[0], b = instr->args[1];
    const int precedence = precedences[instr->op];
    const char *text = op_table[instr->op].text;
    if (at[a].op == OP_CMP_INT_FLOAT && (is_int(&at[b], 0) || (instr->op == OP_EQ && is_int(&at[b], 1)))) {
        text = is_int(&at[b], 1) ? ">" : text;
        b = at[a].args[1];
        a = at[a].args[0];
    } else if (at[a].op == OP_CONST && at[b].op != OP_CONST && precedence == precedences[OP_LT]) {
        text = instr->op == OP_LT ? ">" : ">=";
        a = instr->args[1];
        b = instr->args[0];
    }
    push_infix(printer, instr->op, a, text, b, precedence);
}

/* Pushes the parts of an operator, last part first. */
static void push_operator(struct printer *printer, const struct instr *instr, struct logical_type as)
{
    const int precedence = precedences[instr->op];
    const char *text = op_table[instr->op].text;
    const struct instr *order = at_least(printer->code, instr);
    if (order) {
        push_infix(printer, OP_LE, order->args[0], ">=", order->args[1], precedences[OP_LE]);
    } else if (instr->op == OP_SELECT) {
        push_value(printer, instr->args[2], precedence, logical_of_branch(printer, instr, 2, as));
        push_text(printer, " : ");
        push_value(printer, instr->args[1], precedence, logical_of_branch(printer, instr, 1, as));
        push_text(printer, " ? ");
        push_value(printer, instr->args[0], precedence + 1, number);
    } else if (op_table[instr->op].arity == 1) {
        push_value(printer, instr->args[0], precedence, number);
        push_text(printer, text);
    } else if (precedence == precedences[OP_EQ] || precedence == precedences[OP_LT]) {
        push_comparison(printer, instr);
    } else {
        push_infix(printer, instr->op, instr->args[0], text, instr->args[1], precedence);
    }
}

static void push_call(struct printer *printer, const struct instr *instr)
{
    push_text(printer, ")");
    for (int i = op_table[instr->op].arity - 1; i >= 0; i--) {
        const bool pair = op_table[instr->op].arity == 2;
        push_value(printer, instr->args[i], 0, pair ? logical_beside(printer, instr->args[1 - i], instr->op) : number);
        if (i > 0)
            push_text(printer, ", ");
    }
    push_text(printer, "(");
    push_text(printer, instr->op == OP_BITOR ? "bitor" : op_table[instr->op].text);
}

/* A neighbour's value: at(c1, -1, 0 wrap). */
static void print_neighbour(struct strbuf *out, const char *name, const struct border *border)
{
    strbuf_puts(out, "at(");
    print_name(out, name);
    for (size_t a = 0; a < border->axes; a++) {
        strbuf_puts(out, ", ");
        print_int(out, border->distances[a]);
    }
    strbuf_printf(out, " %s)", border_name(border->kind));
}

/* An element of a whole column; its name is written at once. */
static void push_element(struct printer *printer, const struct instr *instr)
{
    const struct instr *position = &printer->code->at[instr->args[0]];
    if (position->op == OP_NEAR) {
        print_neighbour(printer->out, printer->input_names[instr->integer], position->border);
        return;
    }
    print_name(printer->out, printer->input_names[instr->integer]);
    push_text(printer, "]");
    push_value(printer, instr->args[0], 0, number);
    push_text(printer, "[");
}

/* The index of a loop: k, or by its level k1, k2, ... */
static void print_index(struct strbuf *out, const struct instr *index)
{
    strbuf_puts(out, "k");
    if (index->integer > 0)
        print_int(out, index->integer);
}

/* sum(k in A..B: E) */
static void push_fold(struct printer *printer, const struct instr *fold)
{
    const struct instr *index = &printer->code->at[fold->args[0]];
    strbuf_printf(printer->out, "%s(", aggregate_table[fold->integer].word);
    print_index(printer->out, index);
    strbuf_puts(printer->out, " in ");
    push_text(printer, ")");
    push_value(printer, fold->args[1], 0, number);
    push_text(printer, ": ");
    push_value(printer, index->args[1], 0, number);
    push_text(printer, "..");
    push_value(printer, index->args[0], 0, number);
}

/* A state after a loop: loop(k in A..B while C: FIRST, NEXT). */
static void push_final(struct printer *printer, const struct instr *final)
{
    const struct instr *at = printer->code->at, *loop = &at[final->args[0]];
    const struct instr *index = &at[loop_index(printer->code, final->args[0])];
    value chain = loop->args[0];
    for (int64_t k = 0; k < final->offset; k++)
        chain = at[chain].args[2];
    strbuf_puts(printer->out, "loop(");
    print_index(printer->out, index);
    strbuf_puts(printer->out, " in ");
    push_text(printer, ")");
    push_value(printer, at[chain].args[1], 0, number);
    push_text(printer, ", ");
    push_value(printer, at[chain].args[0], 0, number);
    push_text(printer, ": ");
    if (!code_is_const(printer->code, loop->args[1])) {
        push_value(printer, loop->args[1], 0, number);
        push_text(printer, " while ");
    }
    push_value(printer, index->args[1], 0, number);
    push_text(printer, "..");
    push_value(printer, index->args[0], 0, number);
}

static void push_operation(struct printer *printer, const struct instr *instr, int precedence, struct logical_type as)
{
    if (instr->op == OP_INDEX) {
        push_value(printer, instr->args[0], precedence, as);
        return;
    }
    const bool parentheses = precedences[instr->op] != 0 && precedences[instr->op] < precedence;
    if (parentheses)
        push_text(printer, ")");
    if (instr->op == OP_GATHER)
        push_element(printer, instr);
    else if (instr->op == OP_COUNTER)
        print_index(printer->out, instr);
    else if (instr->op == OP_FOLD)
        push_fold(printer, instr);
    else if (instr->op == OP_FINAL)
        push_final(printer, instr);
    else if (precedences[instr->op] != 0)
        push_operator(printer, instr, as);
    else
        push_call(printer, instr);
    if (parentheses)
        push_text(printer, "(");
}

void code_print(struct strbuf *out, const struct code *code, value root, const char *const *input_names)
{
    code_print_as(out, code, root, input_names, NULL, number);
}

void code_print_as(struct strbuf *out, const struct code *code, value root, const char *const *input_names,
                   const struct logical_type *logicals, struct logical_type as)
{
    struct printer printer = {.out = out, .code = code, .input_names = input_names, .logicals = logicals};
    push_value(&printer, root, 0, as);
    while (printer.count > 0) {
        struct pending pending = printer.pending[--printer.count];
        if (pending.text) {
            strbuf_puts(out, pending.text);
            continue;
        }
        const struct instr *instr = &code->at[pending.value];
        if (op_table[instr->op].arity == 0)
            print_leaf(&printer, instr, &pending);
        else if (printer.operations++ < MAX_OPERATIONS)
            push_operation(&printer, instr, pending.precedence, pending.as);
        else
            strbuf_puts(out, "…");
    }
}

static void list_arguments(struct strbuf *out, const struct instr *instr, const char *const *input_names)
{
    strbuf_puts(out, op_table[instr->op].name);
    if (instr->op == OP_GATHER) {
        const char *name = input_names[instr->integer];
        strbuf_putc(out, ' ');
        strbuf_add_visible(out, name, strlen(name));
    }
    for (int i = 0; i < op_table[instr->op].arity; i++)
        strbuf_printf(out, " v%d", (int)instr->args[i]);
}

void code_list(struct strbuf *out, const struct code *code, const bool *live, const char *const *input_names)
{
    static const char *const lanes[] = {
        [LANE_BOOL] = "bool", [LANE_I32] = "i32", [LANE_I64] = "i64", [LANE_F64] = "f64"};
    for (value v = 0; v < code->count; v++) {
        if (!live[v])
            continue;
        const struct instr *instr = &code->at[v];
        strbuf_printf(out, "  v%d: %s = ", (int)v, lanes[instr->lane]);
        if (op_table[instr->op].arity == 0)
            code_print(out, code, v, input_names);
        else
            list_arguments(out, instr, input_names);
        if (instr->kind == KIND_INT)
            strbuf_printf(out, "  in %" PRId64 "..%" PRId64, instr->lo, instr->hi);
        if (instr->checked)
            strbuf_puts(out, "  checked");
        if (instr->checked && instr->guard != NO_VALUE)
            strbuf_printf(out, " where v%d", (int)instr->guard);
        strbuf_putc(out, '\n');
    }
}
