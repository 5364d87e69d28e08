/* Arithmetic on constants, and the identities of operations. */
#include "engine/plan/const_fold.h"

#include "engine/values/compensated_sum.h"

#include <math.h>
#include <string.h>

/* Narrows to 64 bits; false if that does not fit. */
static bool narrow(int128 wide, int64_t *result)
{
    if (wide < INT64_MIN || wide > INT64_MAX)
        return false;
    *result = (int64_t)wide;
    return true;
}

bool int_op(enum op op, int64_t a, int64_t b, int64_t *result)
{
    switch (op) {
    case OP_INDEX:
        *result = a;
        return a >= 0 && a < b;
    case OP_NEAR:
        *result = a;
        return true;
    case OP_ADD:
        return narrow((int128)a + b, result);
    case OP_SUB:
        return narrow((int128)a - b, result);
    case OP_MUL:
        return narrow((int128)a * b, result);
    case OP_DIV:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *result = a / b;
        return true;
    case OP_MOD:
        if (b == 0)
            return false;
        *result = b == -1 ? 0 : a % b; /* the machine's remainder traps on INT64_MIN % -1 */
        return true;
    case OP_NEG:
        return narrow(-(int128)a, result);
    case OP_ABS:
        return narrow(a < 0 ? -(int128)a : a, result);
    case OP_SHL:
        return b >= 0 && b <= 63 && narrow((int128)a * ((int128)1 << b), result);
    case OP_SHR:
        if (b < 0 || b > 63)
            return false;
        *result = a >> b; /* arithmetic with every compiler that has int128 */
        return true;
    case OP_BITAND:
        *result = a & b;
        return true;
    case OP_BITOR:
        *result = a | b;
        return true;
    case OP_XOR:
        *result = a ^ b;
        return true;
    case OP_BITNOT:
        *result = ~a;
        return true;
    case OP_EQ:
        *result = a == b;
        return true;
    case OP_NE:
        *result = a != b;
        return true;
    case OP_LT:
        *result = a < b;
        return true;
    case OP_LE:
        *result = a <= b;
        return true;
    case OP_AND:
        *result = a && b;
        return true;
    case OP_OR:
        *result = a || b;
        return true;
    case OP_NOT:
        *result = !a;
        return true;
    case OP_ASSERT:
        *result = a;
        return a != 0;
    case OP_MIN:
        *result = a < b ? a : b;
        return true;
    case OP_MAX:
        *result = a > b ? a : b;
        return true;
    case OP_SIGN:
        *result = (a > 0) - (a < 0);
        return true;
    case OP_POPCOUNT:
        *result = __builtin_popcountll((unsigned long long)a);
        return true;
    case OP_BOOL_TO_INT:
        *result = a;
        return true;
    default:
        return false;
    }
}

/* The two are not inlined: float_op, called for each row, would make room for their values first. */

/* lgamma writes to a global variable. */
static __attribute__((noinline)) double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* cbrt(27) is not 3 in glibc before 2.41. */
static __attribute__((noinline)) double cube_root(double x)
{
    return (double)cbrtl(x);
}

/* Beyond it, ldexp of every float is 0 or infinity. */
static const double FARTHEST_EXPONENT = 5000;

double float_op(enum op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_LOST:
        return compensated_sum_two_sum(&a, b);
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_MOD:
        return fmod(a, b);
    case OP_NEG:
        return -a;
    case OP_ABS:
        return fabs(a);
    case OP_MIN:
        return a < b || isnan(b) ? a : b;
    case OP_MAX:
        return a > b || isnan(b) ? a : b;
    case OP_SIGN:
        return isnan(a) ? a : (a > 0) - (a < 0);
    case OP_LDEXP:
        return ldexp(a, (int)fmax(fmin(b, FARTHEST_EXPONENT), -FARTHEST_EXPONENT));
    case OP_SQRT:
        return sqrt(a);
    case OP_FLOOR:
        return floor(a);
    case OP_CEIL:
        return ceil(a);
    case OP_ROUND:
        return round(a);
#define CALL_1(function) function(a)
#define CALL_2(function) function(a, b)
#define FLOAT_FUNCTION(op, arity, name, host, ...)                                                                     \
    case OP_##op:                                                                                                      \
        return CALL_##arity(host);
#include "engine/plan/float_functions.def"
#undef CALL_1
#undef CALL_2
    default:
        return (double)NAN; /* not of floats */
    }
}

bool float_compare(enum op op, double a, double b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    default:
        return false;
    }
}

/* 2^63, the first float beyond int64. */
static const double BEYOND_INT64 = 9223372036854775808.0;

/* Converting `a` to a float could round it onto b. So b is truncated to an integer, which is exact, and its fraction
 * decides if both are equal. */
int compare_int_float(int64_t a, double b)
{
    if (isnan(b))
        return 2;
    if (b >= BEYOND_INT64)
        return -1;
    if (b < -BEYOND_INT64)
        return 1;
    const int64_t whole = (int64_t)b;
    if (a != whole)
        return a < whole ? -1 : 1;
    const double rest = b - (double)whole;
    return (rest < 0) - (rest > 0);
}

int64_t float_bits(double number)
{
    const double canonical = isnan(number) ? (double)NAN : number + 0.0; /* -0.0 + 0.0 is 0.0 */
    int64_t bits;
    memcpy(&bits, &canonical, sizeof bits);
    return bits;
}

bool float_to_int(double number, int64_t *result)
{
    if (!(number >= -BEYOND_INT64 && number < BEYOND_INT64))
        return false;
    *result = (int64_t)number;
    return true;
}

/* Folds an operation on constants; NO_VALUE if it would fail. */
static value fold_constants(struct code *code, enum op op, const value args[3], struct span span)
{
    const struct instr *a = &code->at[args[0]];
    const struct instr *b = args[1] != NO_VALUE ? &code->at[args[1]] : a;
    const bool exact = a->exact && b->exact;
    int64_t result;
    if (op == OP_CMP_INT_FLOAT)
        return code_exact_int(code, compare_int_float(a->integer, b->number), span);
    if (op == OP_TO_FLOAT)
        return code_float(code, (double)a->integer, span);
    if (op == OP_FLOAT_BITS)
        return code_exact_int(code, float_bits(a->number), span);
    if (op == OP_TO_INT)
        return float_to_int(a->number, &result) ? code_int(code, result, span) : NO_VALUE;
    if (a->kind == KIND_FLOAT) {
        const bool compares = op_table[op].result == OP_RESULT_BOOL;
        return compares ? code_bool(code, float_compare(op, a->number, b->number), span)
                        : code_float(code, float_op(op, a->number, b->number), span);
    }
    if (!int_op(op, a->integer, b->integer, &result))
        return NO_VALUE;
    if (op_table[op].result == OP_RESULT_BOOL || (op_table[op].result == OP_RESULT_SAME && a->kind == KIND_BOOL))
        return code_bool(code, result != 0, span);
    return exact ? code_exact_int(code, result, span) : code_int(code, result, span);
}

static bool is_bool(const struct code *code, value v, bool truth)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && instr->kind == KIND_BOOL && (instr->integer != 0) == truth;
}

static bool is_not_of(const struct code *code, value v, value of)
{
    return code->at[v].op == OP_NOT && code->at[v].args[0] == of;
}

static bool reads(const struct code *code, enum op op, value v, value arg)
{
    return code->at[v].op == op && (code->at[v].args[0] == arg || code->at[v].args[1] == arg);
}

/* && with `unit` true, || with `unit` false: each is the dual of the other. */
static value fold_logic(struct code *code, enum op op, value a, value b, bool unit, struct span span)
{
    const enum op other = op == OP_AND ? OP_OR : OP_AND;
    if (a == b || is_bool(code, b, unit) || is_bool(code, a, !unit))
        return a;
    if (is_bool(code, a, unit))
        return b;
    /* a && (a && c), (a && c) && a, (c && a) && a */
    if (code->at[b].op == op && code->at[b].args[0] == a)
        return b;
    if (reads(code, op, a, b))
        return a;
    /* a && (a || c): c is never looked at */
    if (code->at[b].op == other && code->at[b].args[0] == a)
        return a;
    const bool opposites = is_not_of(code, a, b) || is_not_of(code, b, a);
    if ((opposites || is_bool(code, b, !unit)) && !code->at[a].fallible)
        return code_bool(code, !unit, span);
    return NO_VALUE;
}

static value fold_select(struct code *code, const value args[3], struct span span)
{
    value c = args[0], a = args[1], b = args[2];
    if (code_is_const(code, c))
        return code->at[c].integer ? a : b;
    if (a == b && !code->at[c].fallible)
        return a;
    if (code->at[c].op == OP_NOT)
        return code_op(code, OP_SELECT, code->at[c].args[0], b, a, span);
    if (is_bool(code, a, true))
        return code_binary(code, OP_OR, c, b, span);
    if (is_bool(code, b, false))
        return code_binary(code, OP_AND, c, a, span);
    value not_c = NO_VALUE;
    if (is_bool(code, a, false) || is_bool(code, b, true))
        not_c = code_unary(code, OP_NOT, c, span);
    if (is_bool(code, a, false))
        return code_binary(code, OP_AND, not_c, b, span);
    if (is_bool(code, b, true))
        return code_binary(code, OP_OR, not_c, a, span);
    return NO_VALUE;
}

/* Neutral elements: constants that leave the other argument unchanged. */
static const struct neutral {
    enum op op;
    int64_t element;
    bool left; /* on the left too */
} neutrals[] = {
    {OP_ADD, 0, true},     {OP_SUB, 0, false},  {OP_MUL, 1, true}, {OP_DIV, 1, false}, {OP_SHL, 0, false},
    {OP_BITAND, -1, true}, {OP_BITOR, 0, true}, {OP_XOR, 0, true}, {OP_SHR, 0, false},
};

static bool is_exact(const struct code *code, value v, int64_t integer)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->exact && instr->integer == integer;
}

static value fold_neutral(const struct code *code, enum op op, value a, value b)
{
    for (size_t i = 0; i < sizeof neutrals / sizeof *neutrals; i++) {
        if (neutrals[i].op != op)
            continue;
        if (is_exact(code, b, neutrals[i].element))
            return a;
        if (neutrals[i].left && is_exact(code, a, neutrals[i].element))
            return b;
    }
    return NO_VALUE;
}

/* Comparisons of a value with itself; NaN differs from itself, so not of floats. */
static value fold_compare(struct code *code, enum op op, value a, value b, struct span span)
{
    if (a != b || code->at[a].kind == KIND_FLOAT || code->at[a].fallible)
        return NO_VALUE;
    return code_bool(code, op == OP_EQ || op == OP_LE, span);
}

value fold_op(struct code *code, enum op op, const value args[3], struct span span)
{
    bool constant = op != OP_SELECT;
    for (int i = 0; i < op_table[op].arity; i++)
        constant = constant && code_is_const(code, args[i]);
    if (constant) {
        const value folded = fold_constants(code, op, args, span);
        if (folded != NO_VALUE)
            return folded;
    }

    switch (op) {
    case OP_AND:
    case OP_OR:
        return fold_logic(code, op, args[0], args[1], op == OP_AND, span);
    case OP_SELECT:
        return fold_select(code, args, span);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
        return fold_compare(code, op, args[0], args[1], span);
    case OP_NOT:
    case OP_BITNOT:
        return code->at[args[0]].op == op ? code->at[args[0]].args[0] : NO_VALUE;
    case OP_NEG: /* of integers it can fail on the way */
        return code->at[args[0]].op == op && code->at[args[0]].kind == KIND_FLOAT ? code->at[args[0]].args[0]
                                                                                  : NO_VALUE;
    case OP_MIN:
    case OP_MAX:
        return args[0] == args[1] ? args[0] : NO_VALUE;
    case OP_BITAND:
    case OP_BITOR:
        return args[0] == args[1] ? args[0] : fold_neutral(code, op, args[0], args[1]);
    default:
        return op_table[op].arity == 2 ? fold_neutral(code, op, args[0], args[1]) : NO_VALUE;
    }
}
