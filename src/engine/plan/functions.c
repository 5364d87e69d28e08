/* The table of functions, and the code of those that are not a single operation. */
#include "engine/plan/functions.h"

#include <string.h>

static value binary(struct code *code, enum op op, value a, value b, struct span span)
{
    return code_op(code, op, a, b, NO_VALUE, span);
}

static value lower_clamp(struct code *code, const value *args, struct span span)
{
    value raised = binary(code, OP_MAX, args[0], args[1], span);
    return binary(code, OP_MIN, raised, args[2], span);
}

static value lower_odd(struct code *code, const value *args, struct span span)
{
    value low_bit = binary(code, OP_BITAND, args[0], code_exact_int(code, 1, span), span);
    return binary(code, OP_NE, low_bit, code_exact_int(code, 0, span), span);
}

static value lower_even(struct code *code, const value *args, struct span span)
{
    value low_bit = binary(code, OP_BITAND, args[0], code_exact_int(code, 1, span), span);
    return binary(code, OP_EQ, low_bit, code_exact_int(code, 0, span), span);
}

static value lower_int(struct code *code, const value *args, struct span span)
{
    switch (code->at[args[0]].kind) {
    case KIND_BOOL:
        return code_op(code, OP_BOOL_TO_INT, args[0], NO_VALUE, NO_VALUE, span);
    case KIND_FLOAT:
        return code_op(code, OP_TO_INT, args[0], NO_VALUE, NO_VALUE, span);
    case KIND_INT:
        break;
    }
    return args[0];
}

static value lower_float(struct code *code, const value *args, struct span span)
{
    value number = args[0];
    if (code->at[number].kind == KIND_FLOAT)
        return number;
    if (code->at[number].kind == KIND_BOOL)
        number = code_op(code, OP_BOOL_TO_INT, number, NO_VALUE, NO_VALUE, span);
    return code_op(code, OP_TO_FLOAT, number, NO_VALUE, NO_VALUE, span);
}

const struct function functions[] = {
    {"abs", 1, false, SIGNATURE_SAME, OP_ABS, NULL, "abs(x)", "absolute value", "abs(-7)", "7"},
    {"min", 2, true, SIGNATURE_SAME, OP_MIN, NULL, "min(x, y, ...)", "the smallest argument", "min(3, 1, 2)", "1"},
    {"max", 2, true, SIGNATURE_SAME, OP_MAX, NULL, "max(x, y, ...)", "the largest argument", "max(3, 4.5)", "4.5"},
    {"clamp", 3, false, SIGNATURE_SAME, OP_COUNT, lower_clamp, "clamp(x, lo, hi)", "x limited to the range lo to hi",
     "clamp(7, 0, 5)", "5"},
    {"sign", 1, false, SIGNATURE_SAME, OP_SIGN, NULL, "sign(x)", "-1, 0 or 1", "sign(-7)", "-1"},
    {"popcount", 1, false, SIGNATURE_INT, OP_POPCOUNT, NULL, "popcount(n)", "number of bits set", "popcount(255)", "8"},
    {"even", 1, false, SIGNATURE_INT, OP_COUNT, lower_even, "even(n)", "true if n is even", "even(42)", "1"},
    {"odd", 1, false, SIGNATURE_INT, OP_COUNT, lower_odd, "odd(n)", "true if n is odd", "odd(-3)", "1"},
    {"bitor", 2, false, SIGNATURE_INT, OP_BITOR, NULL, "bitor(a, b)", "bitwise or, also outside parentheses",
     "bitor(5, 2)", "7"},
    {"int", 1, false, SIGNATURE_ANY, OP_COUNT, lower_int, "int(x)", "x truncated towards zero", "int(-2.9)", "-2"},
    {"float", 1, false, SIGNATURE_ANY, OP_COUNT, lower_float, "float(x)", "x as a float", "float(3)", "3.0"},
    {"sqrt", 1, false, SIGNATURE_FLOAT, OP_SQRT, NULL, "sqrt(x)", "square root", "sqrt(16)", "4.0"},
    {"exp", 1, false, SIGNATURE_FLOAT, OP_EXP, NULL, "exp(x)", "e to the power x", "exp(0)", "1.0"},
    {"log", 1, false, SIGNATURE_FLOAT, OP_LOG, NULL, "log(x)", "natural logarithm", "log(1)", "0.0"},
    {"pow", 2, false, SIGNATURE_FLOAT, OP_POW, NULL, "pow(x, y)", "x to the power y", "pow(2, 10)", "1024.0"},
    {"sin", 1, false, SIGNATURE_FLOAT, OP_SIN, NULL, "sin(x)", "sine, x in radians", "sin(0)", "0.0"},
    {"cos", 1, false, SIGNATURE_FLOAT, OP_COS, NULL, "cos(x)", "cosine, x in radians", "cos(0)", "1.0"},
    {"tan", 1, false, SIGNATURE_FLOAT, OP_TAN, NULL, "tan(x)", "tangent, x in radians", "tan(0)", "0.0"},
    {"tanh", 1, false, SIGNATURE_FLOAT, OP_TANH, NULL, "tanh(x)", "hyperbolic tangent", "tanh(0)", "0.0"},
    {"erf", 1, false, SIGNATURE_FLOAT, OP_ERF, NULL, "erf(x)", "error function", "erf(0)", "0.0"},
    {"floor", 1, false, SIGNATURE_FLOAT, OP_FLOOR, NULL, "floor(x)", "largest integer not above x", "floor(-2.5)",
     "-3.0"},
    {"ceil", 1, false, SIGNATURE_FLOAT, OP_CEIL, NULL, "ceil(x)", "smallest integer not below x", "ceil(2.1)", "3.0"},
    {"round", 1, false, SIGNATURE_FLOAT, OP_ROUND, NULL, "round(x)", "nearest integer, halves away from zero",
     "round(2.5)", "3.0"},
};

const size_t function_count = sizeof functions / sizeof *functions;

const struct function *function_find(const char *name)
{
    for (size_t i = 0; i < function_count; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    }
    return NULL;
}
