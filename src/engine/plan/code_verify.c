/* Faults of typed code. */
#include "engine/plan/code_loop.h"
#include "engine/plan/verify.h"

/* Kinds of arguments beside enum kind: any, and that of the result. */
enum { ANY_KIND = -1, RESULT_KIND = -2 };

/* The kind that argument i of an operation has to have. */
static int argument_kind(enum op op, int i)
{
    switch (op) {
    case OP_INDEX:
    case OP_NEAR:
    case OP_TEXT:
    case OP_BITAND:
    case OP_BITOR:
    case OP_XOR:
    case OP_BITNOT:
    case OP_SHL:
    case OP_SHR:
    case OP_POPCOUNT:
    case OP_TO_FLOAT:
        return KIND_INT;
    case OP_COUNTER:
        return i < 2 ? KIND_INT : KIND_BOOL;
    case OP_AND:
    case OP_OR:
    case OP_NOT:
    case OP_ASSERT:
    case OP_BOOL_TO_INT:
    case OP_LOOP:
    case OP_FINAL:
        return KIND_BOOL;
    case OP_SELECT:
        return i == 0 ? KIND_BOOL : RESULT_KIND;
    case OP_CMP_INT_FLOAT:
        return i == 0 ? KIND_INT : KIND_FLOAT;
    case OP_TO_INT:
    case OP_FLOAT_BITS:
        return KIND_FLOAT;
    case OP_GATHER: /* task_verify.c */
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_FOLD:
    case OP_CARRY:
        return ANY_KIND;
    default:
        return op_table[op].result == OP_RESULT_FLOAT ? KIND_FLOAT : RESULT_KIND;
    }
}

static bool fits_kind(const struct instr *instr, int i, enum kind kind)
{
    const int wanted = argument_kind(instr->op, i);
    return wanted == ANY_KIND || (int)kind == (wanted == RESULT_KIND ? (int)instr->kind : wanted);
}

static bool result_fits(const struct instr *instr)
{
    switch (op_table[instr->op].result) {
    case OP_RESULT_BOOL:
        return instr->kind == KIND_BOOL;
    case OP_RESULT_INT:
        return instr->kind == KIND_INT;
    case OP_RESULT_FLOAT:
        return instr->kind == KIND_FLOAT;
    case OP_RESULT_SAME:
        break;
    }
    return instr->kind == KIND_BOOL || instr->kind == KIND_INT || instr->kind == KIND_FLOAT;
}

static bool fits_lane(const struct instr *instr)
{
    switch (instr->lane) {
    case LANE_BOOL:
        return instr->kind == KIND_BOOL;
    case LANE_F64:
        return instr->kind == KIND_FLOAT;
    case LANE_I32:
        return instr->kind == KIND_INT && instr->lo >= INT32_MIN && instr->hi <= INT32_MAX;
    case LANE_I64:
        return instr->kind == KIND_INT;
    }
    return false;
}

static bool constant_fits(const struct instr *instr)
{
    if (instr->kind == KIND_BOOL)
        return instr->integer == 0 || instr->integer == 1;
    return instr->kind == KIND_FLOAT || (instr->lo <= instr->integer && instr->integer <= instr->hi);
}

static bool is_level(int64_t level)
{
    return level >= 0 && level < LOOP_LEVELS;
}

static bool is_value(const struct code *code, value v)
{
    return v >= 0 && v < code->count;
}

static const char *arguments_fault(const struct code *code, value v, enum code_phase phase)
{
    const struct instr *instr = &code->at[v];
    const int arity = op_table[instr->op].arity;
    for (int i = 0; i < 3; i++) {
        const value arg = instr->args[i];
        const bool later = phase == CODE_GUARDED && instr->op == OP_COUNTER && i == 2;
        if (i >= arity && arg != NO_VALUE)
            return "has more arguments than its operation takes";
        if (i < arity && (arg < 0 || arg >= (later ? code->count : v)))
            return "reads a value that is not computed before it";
        if (i < arity && !fits_kind(instr, i, code->at[arg].kind))
            return "reads an argument of another kind than its operation takes";
    }
    const bool compares = instr->op == OP_EQ || instr->op == OP_NE || instr->op == OP_LT || instr->op == OP_LE;
    if ((compares || instr->op == OP_CARRY) && code->at[instr->args[0]].kind != code->at[instr->args[1]].kind)
        return "has arguments of two kinds";
    return NULL;
}

/* The CARRY of this state of a LOOP; NO_VALUE: there is none. */
static value find_carry(const struct code *code, value loop, int64_t slot)
{
    value at = code->at[loop].args[0];
    for (int64_t k = 0; k < slot && code->at[at].op == OP_CARRY; k++)
        at = code->at[at].args[2];
    return slot >= 0 && code->at[at].op == OP_CARRY ? at : NO_VALUE;
}

/* What an operation of loops asks of its arguments beside their kinds. */
static const char *loop_part_fault(const struct code *code, const struct instr *instr)
{
    const struct instr *read[3] = {0};
    for (int i = 0; i < op_table[instr->op].arity; i++)
        read[i] = &code->at[instr->args[i]];
    const bool level = is_level(instr->integer);
    switch (instr->op) {
    case OP_COUNTER:
        return level ? NULL : "counts in no level of loops";
    case OP_STATE:
        return level && instr->offset >= 0 && instr->offset < LOOP_STATES ? NULL : "is a state of no level of loops";
    case OP_FOLD:
        return read[0]->op == OP_COUNTER && instr->integer >= 0 && instr->integer < AGG_KINDS &&
                       aggregate_table[instr->integer].folds
                   ? NULL
                   : "folds over no COUNTER";
    case OP_CARRY:
        return read[2]->op == OP_CARRY || read[2]->op == OP_COUNTER ? NULL : "ends in no COUNTER";
    case OP_LOOP:
        return read[0]->op == OP_CARRY || read[0]->op == OP_COUNTER ? NULL : "has no CARRY";
    case OP_FINAL:
        return read[0]->op == OP_LOOP ? NULL : "is of no LOOP";
    default:
        return NULL;
    }
}

static const char *instr_fault(const struct code *code, value v, enum code_phase phase)
{
    const struct instr *instr = &code->at[v];
    const char *fault = arguments_fault(code, v, phase);
    if (fault)
        return fault;
    if (!result_fits(instr))
        return "has another kind than its operation gives";
    if (instr->op == OP_NEAR && !instr->border)
        return "has no border";
    fault = loop_part_fault(code, instr);
    if (fault || phase == CODE_BUILT)
        return fault;
    if (!fits_lane(instr))
        return "is computed in a lane that does not hold it";
    if (instr->op == OP_CONST && !constant_fits(instr))
        return "is a constant outside of its interval";
    if (instr->checked && !code_can_fail(instr) && instr->kind != KIND_INT)
        return "is checked and cannot fail";
    if (instr->checked && instr->guard != NO_VALUE &&
        (!is_value(code, instr->guard) || code->at[instr->guard].kind != KIND_BOOL))
        return "has a guard that is no bool";
    return NULL;
}

/* The states that the rounds of a LOOP read are among its CARRYs and of their kinds; the values before the first round
 * and the COUNTER's bounds are computed outside. */
static const char *loop_fault(const struct code *code, value loop, const uint32_t *levels, bool *body)
{
    const int64_t level = code->at[loop].integer;
    const value index = loop_index(code, loop);
    if (code->at[index].integer != level)
        return "is of another level than its COUNTER";
    const uint32_t bit = (uint32_t)1 << level;
    for (value at = code->at[loop].args[0]; code->at[at].op == OP_CARRY; at = code->at[at].args[2]) {
        if (levels[code->at[at].args[0]] & bit)
            return "begins with a value of its own rounds";
    }
    if ((levels[code->at[index].args[0]] | levels[code->at[index].args[1]]) & bit)
        return "has bounds that are computed in its own rounds";
    loop_mark_body(code, loop, levels, body);
    for (value v = 0; v < loop; v++) {
        const struct instr *state = &code->at[v];
        if (!body[v] || state->op != OP_STATE || state->integer != level)
            continue;
        const value carry = find_carry(code, loop, state->offset);
        if (carry == NO_VALUE || code->at[code->at[carry].args[0]].kind != state->kind)
            return "reads a state that it does not carry";
    }
    return NULL;
}

static const char *loops_fault(const struct code *code, value *where)
{
    const uint32_t *levels = code_levels(code, code->arena);
    bool *body = arena_array(code->arena, (size_t)code->count, sizeof *body);
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        const char *fault = instr->op == OP_LOOP ? loop_fault(code, v, levels, body) : NULL;
        if (instr->op == OP_FINAL) {
            const value carry = find_carry(code, instr->args[0], instr->offset);
            if (carry == NO_VALUE || code->at[code->at[carry].args[0]].kind != instr->kind)
                fault = "is a state that its LOOP does not carry";
        }
        *where = v;
        if (fault)
            return fault;
    }
    return NULL;
}

static const char *at_value(const struct code *code, value v, const char *fault)
{
    return arena_printf(code->arena, "v%d (%s) %s", (int)v, op_table[code->at[v].op].name, fault);
}

const char *code_fault(const struct code *code, enum code_phase phase)
{
    for (value v = 0; v < code->count; v++) {
        const char *fault = instr_fault(code, v, phase);
        if (fault)
            return at_value(code, v, fault);
    }
    value where = 0;
    const char *fault = code_has_loops(code) ? loops_fault(code, &where) : NULL;
    return fault ? at_value(code, where, fault) : NULL;
}
