/* Random typed code and a reference evaluator for testing passes over it, one row and one value at a time. Every
 * function is static inline because a test program is one source file. */
#ifndef RQL_TESTS_RANDOM_CODE_H
#define RQL_TESTS_RANDOM_CODE_H

#include "engine/plan/code.h"

#include <stdlib.h>
#include <string.h>

/* xorshift64*, so that a seed yields the same programs everywhere. */
struct random {
    uint64_t state;
};

static inline uint64_t random_bits(struct random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

static inline int random_below(struct random *random, int limit)
{
    return (int)((random_bits(random) >> 33) % (uint64_t)limit);
}

/* A random integer, often near a limit. */
static inline int64_t random_int(struct random *random)
{
    static const int64_t edges[] = {0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    63,
                                    64,
                                    127,
                                    -128,
                                    INT32_MAX,
                                    INT32_MIN,
                                    INT64_MAX,
                                    INT64_MIN,
                                    INT64_MAX - 1,
                                    INT64_MIN + 1,
                                    (int64_t)INT32_MAX + 1};
    int64_t any = (int64_t)random_bits(random);
    switch (random_below(random, 4)) {
    case 0:
        return edges[random_below(random, (int)(sizeof edges / sizeof *edges))];
    case 1:
        return random_below(random, 201) - 100;
    default:
        return any >> random_below(random, 64);
    }
}

static inline int64_t random_within(struct random *random, int64_t lo, int64_t hi)
{
    if (random_below(random, 4) == 0)
        return random_below(random, 2) == 0 ? lo : hi;
    uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
    uint64_t offset = width == 0 ? random_bits(random) : random_bits(random) % width;
    return (int64_t)((uint64_t)lo + offset);
}

static inline double random_float(struct random *random)
{
    static const double edges[] = {0.0, -0.0, 1.5, -2.5, 1e18, -1e19, 1e308};
    if (random_below(random, 8) == 0)
        return edges[random_below(random, (int)(sizeof edges / sizeof *edges))];
    if (random_below(random, 16) == 0)
        return strtod("nan", NULL);
    return (double)(random_below(random, 4001) - 2000) / 4;
}

/* An earlier value of this kind, usually recent; one must exist. */
static inline value random_value(struct random *random, const struct code *code, enum kind kind)
{
    for (int tries = 0; tries < 20; tries++) {
        int back = random_below(random, code->count);
        value v = code->count - 1 - random_below(random, back + 1);
        if (code->at[v].kind == kind)
            return v;
    }
    value v = code->count - 1;
    while (code->at[v].kind != kind)
        v--;
    return v;
}

static inline enum kind argument_kind(struct random *random, enum op op)
{
    switch (op) {
    case OP_AND:
    case OP_OR:
    case OP_NOT:
    case OP_ASSERT:
    case OP_BOOL_TO_INT:
        return KIND_BOOL;
    case OP_EQ:
    case OP_NE:
    case OP_SELECT:
        return random_below(random, 4) == 0 ? KIND_BOOL : random_below(random, 5) == 0 ? KIND_FLOAT : KIND_INT;
    case OP_TO_INT:
    case OP_FLOAT_BITS:
        return KIND_FLOAT;
    case OP_TO_FLOAT:
    case OP_BITAND:
    case OP_BITOR:
    case OP_XOR:
    case OP_BITNOT:
    case OP_SHL:
    case OP_SHR:
    case OP_POPCOUNT:
        return KIND_INT;
    default:
        return op >= OP_SQRT ? KIND_FLOAT : random_below(random, 6) == 0 ? KIND_FLOAT : KIND_INT;
    }
}

/* Adds a random operation on earlier values. */
static inline value random_op(struct random *random, struct code *code)
{
    const struct span nowhere = {0};
    enum op op = (enum op)(OP_ADD + random_below(random, OP_COUNTER - OP_ADD)); /* no loops */
    if (op >= OP_SQRT && random_below(random, 8) != 0)
        op = (enum op)(OP_ADD + random_below(random, OP_SHR - OP_ADD + 1));
    enum kind kind = argument_kind(random, op);
    value args[3] = {NO_VALUE, NO_VALUE, NO_VALUE};
    for (int i = 0; i < op_table[op].arity; i++)
        args[i] = random_value(random, code, kind);
    if (op == OP_SELECT)
        args[0] = random_value(random, code, KIND_BOOL);
    if (op == OP_CMP_INT_FLOAT) {
        args[0] = random_value(random, code, KIND_INT);
        args[1] = random_value(random, code, KIND_FLOAT);
    }
    if ((op == OP_SHL || op == OP_SHR) && random_below(random, 2) == 0)
        args[1] = code_int(code, random_below(random, 70), nowhere);
    return code_op(code, op, args[0], args[1], args[2], nowhere);
}

/* Adds the row count and reads of other rows of these inputs: neighbours and elements of whole columns. Positions are
 * often small, hence valid. */
static inline void random_reads(struct random *random, struct code *code, const enum kind *kinds, int inputs)
{
    const struct span nowhere = {0};
    value rows = code_rows(code, nowhere);
    value back = code_op(code, OP_SUB, rows, code_row(code, nowhere), NO_VALUE, nowhere);
    value mirrored = code_op(code, OP_SUB, back, code_exact_int(code, 1, nowhere), NO_VALUE, nowhere);
    value few =
        code_op(code, OP_BITAND, random_value(random, code, KIND_INT), code_int(code, 7, nowhere), NO_VALUE, nowhere);
    const value positions[] = {mirrored, mirrored, few, code_row(code, nowhere), random_value(random, code, KIND_INT)};
    for (int i = 0; i < 4; i++) {
        int k = random_below(random, inputs);
        int64_t offset = random_below(random, 8) == 0 ? random_int(random) : random_below(random, 7) - 3;
        code_input_at(code, k, offset, kinds[k], nowhere);
        k = random_below(random, inputs);
        if (i % 2 == 0)
            code_gather(code, k, kinds[k], positions[random_below(random, 5)], nowhere);
    }
}

/* Adds inputs of these kinds, constants, the row and `operations` operations; with `reads`, also of other rows. */
static inline void random_program(struct random *random, struct code *code, const enum kind *kinds, int inputs,
                                  int operations, bool reads)
{
    const struct span nowhere = {0};
    for (int k = 0; k < inputs; k++)
        code_input(code, k, kinds[k], nowhere);
    code_row(code, nowhere);
    for (int i = 0; i < 2; i++) {
        code_int(code, random_int(random), nowhere);
        code_exact_int(code, random_int(random), nowhere);
    }
    code_float(code, random_float(random), nowhere);
    code_op(code, OP_LT, random_value(random, code, KIND_INT), random_value(random, code, KIND_INT), NO_VALUE, nowhere);
    code_op(code, OP_EQ, random_value(random, code, KIND_INT), code_row(code, nowhere), NO_VALUE, nowhere);
    if (reads)
        random_reads(random, code, kinds, inputs);
    for (int i = 0; i < operations; i++)
        random_op(random, code);
}

static inline void random_code(struct random *random, struct code *code, const enum kind *kinds, int inputs,
                               int operations)
{
    random_program(random, code, kinds, inputs, operations, false);
}

/* A row's value or failure. */
struct cell {
    int64_t integer; /* for int and bool */
    double number;
    bool failed;
    bool known; /* memoised */
};

/* The task's columns, for code that reads other rows. */
struct surroundings {
    const void *context;
    struct cell (*element)(const void *context, int64_t input, int64_t at);
    int64_t (*length)(const void *context, int64_t input); /* elements of an input */
    int64_t first;                                         /* element of aligned inputs at row 0 */
    int64_t rows;                                          /* read by the task */
};

/* The value of an INPUT, ROW, ROWS or CONST at a row; `around` may be NULL if the code reads no other row. */
static inline struct cell leaf_value(const struct instr *instr, const struct cell *inputs, int64_t row,
                                     const struct surroundings *around)
{
    int64_t at = around ? around->first + row + instr->offset : 0;
    switch (instr->op) {
    case OP_ROW:
        return (struct cell){.integer = row};
    case OP_ROWS:
        return (struct cell){.integer = around ? around->rows : 0};
    case OP_CONST:
        return (struct cell){.integer = instr->integer, .number = instr->number};
    default:
        if (instr->offset == 0)
            return inputs[instr->integer];
        if (at < 0 || at >= around->length(around->context, instr->integer))
            return (struct cell){0};
        return around->element(around->context, instr->integer, at);
    }
}

static inline struct cell gathered_value(const struct instr *instr, int64_t position, const struct surroundings *around)
{
    if (position < 0 || position >= around->length(around->context, instr->integer))
        return (struct cell){.failed = true};
    return around->element(around->context, instr->integer, position);
}

/* Applies one operation; sets failed if it has no result. */
static inline struct cell operate(const struct code *code, const struct instr *instr, const struct cell args[3])
{
    struct cell result = {.known = true};
    bool floats = op_table[instr->op].arity > 0 && code->at[instr->args[0]].kind == KIND_FLOAT;
    if (instr->op == OP_SELECT)
        return args[args[0].integer ? 1 : 2];
    if (instr->op == OP_TO_INT)
        result.failed = !float_to_int(args[0].number, &result.integer);
    else if (instr->op == OP_FLOAT_BITS)
        result.integer = float_bits(args[0].number);
    else if (instr->op == OP_TO_FLOAT)
        result.number = (double)args[0].integer;
    else if (instr->op == OP_CMP_INT_FLOAT)
        result.integer = compare_int_float(args[0].integer, args[1].number);
    else if (floats && instr->kind == KIND_BOOL)
        result.integer = float_compare(instr->op, args[0].number, args[1].number);
    else if (floats)
        result.number = float_op(instr->op, args[0].number, args[1].number);
    else
        result.failed = !int_op(instr->op, args[0].integer, args[1].integer, &result.integer);
    return result;
}

/* A random value of the lane, as a backend may compute after a failure. */
static inline struct cell random_cell(struct random *random, const struct instr *instr)
{
    int64_t any = random_int(random);
    if (instr->lane == LANE_I32)
        any = (int32_t)(uint32_t)(uint64_t)any;
    return (struct cell){.integer = instr->lane == LANE_BOOL ? any & 1 : any, .number = random_float(random)};
}

/* Evaluates all values of a row eagerly, as a backend does, with garbage after a failure. `failed`: the operation
 * itself has no result for its arguments. */
static inline void eager_values(struct random *random, const struct code *code, const struct cell *inputs, int64_t row,
                                const struct surroundings *around, struct cell *cells)
{
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        struct cell args[3] = {{0}};
        for (int i = 0; i < op_table[instr->op].arity; i++) {
            args[i] = cells[instr->args[i]];
            args[i].failed = false;
        }
        if (op_table[instr->op].arity == 0)
            cells[v] = leaf_value(instr, inputs, row, around);
        else if (instr->op == OP_GATHER)
            cells[v] = gathered_value(instr, args[0].integer, around);
        else
            cells[v] = operate(code, instr, args);
        if (cells[v].failed) {
            cells[v] = random_cell(random, instr);
            cells[v].failed = true;
        }
    }
}

/* Evaluates a value lazily: only the operands that && || ?: need. `cells` has an entry per value, cleared before each
 * row. */
static inline struct cell lazy_value_in(const struct code *code, value v, const struct cell *inputs, int64_t row,
                                        const struct surroundings *around, struct cell *cells)
{
    const struct instr *instr = &code->at[v];
    if (cells[v].known)
        return cells[v];
    struct cell args[3] = {{0}}, result;
    if (op_table[instr->op].arity == 0) {
        result = leaf_value(instr, inputs, row, around);
    } else {
        args[0] = lazy_value_in(code, instr->args[0], inputs, row, around, cells);
        result = args[0];
        bool decided = (instr->op == OP_AND && !args[0].integer) || (instr->op == OP_OR && args[0].integer);
        for (int i = 1; i < op_table[instr->op].arity && !decided && !result.failed; i++) {
            if (instr->op == OP_SELECT && i == (args[0].integer ? 2 : 1))
                continue;
            args[i] = lazy_value_in(code, instr->args[i], inputs, row, around, cells);
            result.failed = args[i].failed;
        }
        if (!decided && !result.failed)
            result =
                instr->op == OP_GATHER ? gathered_value(instr, args[0].integer, around) : operate(code, instr, args);
    }
    result.known = true;
    return cells[v] = result;
}

/* For code that reads no other row. */
static inline struct cell lazy_value(const struct code *code, value v, const struct cell *inputs, int64_t row,
                                     struct cell *cells)
{
    return lazy_value_in(code, v, inputs, row, NULL, cells);
}

#endif
