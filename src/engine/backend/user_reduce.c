/* Evaluates with an explicit stack, on which each value lies above those that wait for it, like the exact evaluator.
 * The values of short functions, that is of most, are on the C stack. */
#include "engine/backend/user_reduce.h"

#include "base/heap.h"
#include "engine/backend/datum.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/failure.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 48 };

struct application {
    const struct task *body;
    const union datum *arguments;
    union datum *memo;
    bool *known;
    value *stack; /* no deeper than the number of instructions: arguments precede their readers */
    int32_t depth;
    struct failure *failure;
};

/* The value; NULL if it has to be computed first, and is pushed. */
static const union datum *demand(struct application *application, value v)
{
    if (application->known[v])
        return &application->memo[v];
    application->stack[application->depth++] = v;
    return NULL;
}

/* Collects the arguments that the value reads, which for && || ?: may not be all; false if one was pushed. */
static bool collect(struct application *application, const struct instr *instr, union datum args[3])
{
    const int read = op_table[instr->op].arity;
    for (int i = 0; i < read; i++) {
        const union datum *datum = demand(application, instr->args[i]);
        if (!datum)
            return false;
        args[i] = *datum;
        if (i == 0 && (instr->op == OP_AND || instr->op == OP_OR) && (args[0].integer != 0) == (instr->op == OP_OR))
            return true;
        if (i == 0 && instr->op == OP_SELECT) {
            datum = demand(application, instr->args[args[0].integer ? 1 : 2]);
            if (datum)
                args[1] = *datum;
            return datum;
        }
    }
    return true;
}

static bool gather(const struct application *application, const struct instr *instr, int64_t position,
                   union datum *result)
{
    const struct column *column = application->body->inputs[instr->integer].column;
    if (position < 0 || position >= column->rows)
        return false;
    *result = column_get_datum(column, position);
    return true;
}

/* Computes a value from its arguments; false if it has none. */
static bool compute(const struct application *application, const struct instr *instr, const union datum args[3],
                    union datum *result)
{
    const struct code *code = &application->body->code;
    switch (instr->op) {
    case OP_CONST:
        *result = datum_of_const(instr);
        return true;
    case OP_INPUT:
        *result = application->arguments[instr->integer];
        return true;
    case OP_SELECT:
        *result = args[1];
        return true;
    case OP_AND:
    case OP_OR:
        *result = (args[0].integer != 0) == (instr->op == OP_OR) ? args[0] : args[1];
        return true;
    case OP_GATHER:
        return gather(application, instr, args[0].integer, result);
    default:
        return datum_operate(instr->op, code->at[instr->args[0]].kind, args[0], args[1], result);
    }
}

static bool evaluate(struct application *application, value root)
{
    const struct code *code = &application->body->code;
    if (demand(application, root))
        return true;
    while (application->depth > 0) {
        const value v = application->stack[application->depth - 1];
        const struct instr *instr = &code->at[v];
        union datum args[3] = {{0}};
        if (!collect(application, instr, args))
            continue;
        if (!compute(application, instr, args, &application->memo[v])) {
            if (application->failure)
                *application->failure = (struct failure){
                    .code = code,
                    .inputs = application->body->inputs,
                    .instr = instr,
                    .a = args[0].integer,
                    .b = args[1].integer,
                    .number = args[0].number,
                    .rows = instr->op == OP_GATHER ? application->body->inputs[instr->integer].column->rows : 0,
                };
            return false;
        }
        application->known[v] = true;
        application->depth--;
    }
    return true;
}

/* Computes all values in order, also those that nothing reads; false if one has no result. This is quicker, and most
 * functions have no values that are not read. */
static bool compute_eagerly(struct application *application)
{
    const struct code *code = &application->body->code;
    union datum *memo = application->memo;
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        const value *from = instr->args;
        union datum args[3] = {{0}};
        if (instr->op == OP_SELECT) {
            memo[v] = memo[from[memo[from[0]].integer ? 1 : 2]];
            continue;
        }
        for (int i = 0; i < op_table[instr->op].arity; i++)
            args[i] = memo[from[i]];
        if (!compute(application, instr, args, &memo[v]))
            return false;
    }
    return true;
}

bool user_reduce_rows(const struct user_reduce *reducer, const union datum *rows, union datum *result,
                      struct failure *failure)
{
    union datum memo[SHORT];
    bool known[SHORT];
    value stack[SHORT];
    const struct task *body = reducer->body;
    const size_t count = (size_t)body->code.count;
    struct application application = {
        .body = body,
        .arguments = rows,
        .memo = memo,
        .known = known,
        .stack = stack,
        .failure = failure,
    };
    if (count > SHORT) {
        application.memo = heap_array(count, sizeof *application.memo);
        application.known = heap_array(count, sizeof *application.known);
        application.stack = heap_array(count, sizeof *application.stack);
    }
    bool good = compute_eagerly(&application);
    memset(application.known, good, count * sizeof *known);
    good = true;
    for (size_t k = 0; k < body->output_count && good; k++) {
        const value root = body->outputs[k].value;
        good = evaluate(&application, root);
        if (good)
            result[k] = application.memo[root];
    }
    if (count > SHORT) {
        free(application.memo);
        free(application.known);
        free(application.stack);
    }
    return good;
}

bool user_reduce_explain(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                         struct scalar *result, struct failure *failure)
{
    const union datum rows[2] = {datum_of_scalar(&left), datum_of_scalar(&right)};
    union datum combined;
    if (!user_reduce_rows(reducer, rows, &combined, failure))
        return false;
    *result = datum_scalar(combined, reducer->kind);
    return true;
}

bool user_reduce_apply(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                       struct scalar *result)
{
    return user_reduce_explain(reducer, left, right, result, NULL);
}

struct column **user_reduce_columns(const struct user_reduce *reducer, int64_t rows, struct arena *arena)
{
    const struct task *body = reducer->body;
    struct column **columns = arena_array(arena, body->input_count + 2, sizeof(struct column *));
    for (size_t k = 0; k < body->input_count || k < 2; k++) {
        if (k >= 2) {
            columns[k] = body->inputs[k].column;
            continue;
        }
        columns[k] = arena_alloc(arena, sizeof(struct column));
        columns[k]->type = columns[k]->store = type_of_kind(reducer->kind);
        columns[k]->rows = rows;
    }
    return columns;
}

void user_reduce_prepare(const struct user_reduce *reducer)
{
    struct task *body = reducer->body;
    body->outputs[0].needed = true;
    optimize_task(body, user_reduce_columns(reducer, 1, body->code.arena), 1);
}
