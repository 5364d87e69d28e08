/* Integer arithmetic uses unsigned types because signed overflow is undefined. Divisors of 0 and -1 are replaced by 1,
 * and the result of -1 is corrected afterwards. */
#include "cl/codegen/op_templates.h"

#define INTS   KIND_INT, WORK_WIDEST, RESULT_WORK
#define FLOATS KIND_FLOAT, WORK_DOUBLE, RESULT_WORK

static const struct op_template op_templates[] = {
    {OP_INDEX, INTS, NULL, "$a", "as_$U($a) >= as_$U($b)"},
    {OP_NEAR, INTS, NULL, "$a", NULL},
    {OP_ADD, INTS, NULL, "as_$T(as_$U($a) + as_$U($b))", "(($a ^ $r) & ($b ^ $r)) < ($T)0"},
    {OP_SUB, INTS, NULL, "as_$T(as_$U($a) - as_$U($b))", "(($a ^ $b) & ($a ^ $r)) < ($T)0"},
    {OP_MUL, INTS, NULL, "as_$T(as_$U($a) * as_$U($b))", "mul_hi($a, $b) != ($r >> ($T)63)"},
    {OP_DIV, KIND_INT, WORK_DIVIDE, RESULT_WORK, "const $T s$n = (($b == ($T)0) | ($b == ($T)-1)) ? ($T)1 : $b;",
     "($b == ($T)-1) ? as_$T(($U)0 - as_$U($a)) : ($a / s$n)", "($b == ($T)0) | (($b == ($T)-1) & ($a == ($T)$min))"},
    {OP_MOD, KIND_INT, WORK_DIVIDE, RESULT_WORK, "const $T s$n = (($b == ($T)0) | ($b == ($T)-1)) ? ($T)1 : $b;",
     "$a % s$n", "$b == ($T)0"},
    {OP_NEG, INTS, NULL, "as_$T(($U)0 - as_$U($a))", "$a == ($T)$min"},
    {OP_BITAND, INTS, NULL, "$a & $b", NULL},
    {OP_BITOR, INTS, NULL, "$a | $b", NULL},
    {OP_XOR, INTS, NULL, "$a ^ $b", NULL},
    {OP_BITNOT, INTS, NULL, "~$a", NULL},
    {OP_SHL, INTS, NULL, "as_$T(as_$U($a) << (as_$U($b) & ($U)$max))",
     "(as_$U($b) > ($U)63) | (($r >> ($b & ($T)$max)) != $a)"},
    {OP_SHR, INTS, NULL, "$a >> as_$T(min(as_$U($b), ($U)$max))", "as_$U($b) > ($U)63"},
    {OP_EQ, KIND_INT, WORK_COMPARE, RESULT_COMPARE, NULL, "$a == $b", NULL},
    {OP_NE, KIND_INT, WORK_COMPARE, RESULT_COMPARE, NULL, "$a != $b", NULL},
    {OP_LT, KIND_INT, WORK_COMPARE, RESULT_COMPARE, NULL, "$a < $b", NULL},
    {OP_LE, KIND_INT, WORK_COMPARE, RESULT_COMPARE, NULL, "$a <= $b", NULL},
    {OP_SELECT, INTS, NULL, "$a ? $b : $c", NULL},
    {OP_ABS, INTS, NULL, "($a < ($T)0) ? as_$T(($U)0 - as_$U($a)) : $a", "$a == ($T)$min"},
    {OP_MIN, INTS, NULL, "min($a, $b)", NULL},
    {OP_MAX, INTS, NULL, "max($a, $b)", NULL},
    {OP_SIGN, INTS, NULL, "($a > ($T)0) ? ($T)1 : (($a < ($T)0) ? ($T)-1 : ($T)0)", NULL},
    {OP_POPCOUNT, KIND_INT, WORK_LONG, RESULT_LONG, NULL, "popcount($a)", NULL},
    {OP_TO_FLOAT, KIND_INT, WORK_COMPARE, RESULT_DOUBLE, NULL, "convert_double($a)", NULL},
    /* The integer part of the float is exact if it fits 64 bits; the fraction decides if the integers are equal. */
    {OP_CMP_INT_FLOAT, KIND_INT, WORK_MIXED, RESULT_LONG,
     "const long s$n = convert_long((($b >= (double)-9223372036854775808.0) & "
     "($b < (double)9223372036854775808.0)) ? $b : (double)0.0); "
     "const double t$n = $b - convert_double(s$n);",
     "($b != $b) ? (long)2 : (($b >= (double)9223372036854775808.0) ? (long)-1 "
     ": (($b < (double)-9223372036854775808.0) ? (long)1 "
     ": (($a < s$n) ? (long)-1 : (($a > s$n) ? (long)1 "
     ": ((t$n > (double)0.0) ? (long)-1 : ((t$n < (double)0.0) ? (long)1 : (long)0))))))",
     NULL},

    {OP_EQ, KIND_BOOL, WORK_MASK, RESULT_COMPARE, NULL, "$a == $b", NULL},
    {OP_NE, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a ^ $b", NULL},
    {OP_LT, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "~$a & $b", NULL},
    {OP_LE, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "~$a | $b", NULL},
    {OP_AND, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a & $b", NULL},
    {OP_OR, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a | $b", NULL},
    {OP_NOT, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "~$a", NULL},
    {OP_ASSERT, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a", "$a == ($T)0"},
    {OP_SELECT, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "($a & $b) | (~$a & $c)", NULL},
    {OP_MIN, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a & $b", NULL},
    {OP_MAX, KIND_BOOL, WORK_MASK, RESULT_WORK, NULL, "$a | $b", NULL},
    {OP_BOOL_TO_INT, KIND_BOOL, WORK_MASK, RESULT_INT, NULL, "-$a", NULL},
    {OP_TO_FLOAT, KIND_BOOL, WORK_MASK, RESULT_DOUBLE, NULL, "convert_double(-$a)", NULL},

    {OP_ADD, FLOATS, NULL, "$a + $b", NULL},
    {OP_LOST, FLOATS, "const double s$n = $a + $b, p$n = s$n - $a;", "($a - (s$n - p$n)) + ($b - p$n)", NULL},
    {OP_SUB, FLOATS, NULL, "$a - $b", NULL},
    {OP_MUL, FLOATS, NULL, "$a * $b", NULL},
    {OP_DIV, FLOATS, NULL, "$a / $b", NULL},
    {OP_MOD, FLOATS, NULL, "fmod($a, $b)", NULL},
    {OP_NEG, FLOATS, NULL, "-$a", NULL},
    {OP_EQ, KIND_FLOAT, WORK_DOUBLE, RESULT_COMPARE, NULL, "$a == $b", NULL},
    {OP_NE, KIND_FLOAT, WORK_DOUBLE, RESULT_COMPARE, NULL, "$a != $b", NULL},
    {OP_LT, KIND_FLOAT, WORK_DOUBLE, RESULT_COMPARE, NULL, "$a < $b", NULL},
    {OP_LE, KIND_FLOAT, WORK_DOUBLE, RESULT_COMPARE, NULL, "$a <= $b", NULL},
    {OP_SELECT, FLOATS, NULL, "$a ? $b : $c", NULL},
    {OP_ABS, FLOATS, NULL, "fabs($a)", NULL},
    {OP_MIN, FLOATS, NULL, "(($a < $b) | ($b != $b)) ? $a : $b", NULL},
    {OP_MAX, FLOATS, NULL, "(($a > $b) | ($b != $b)) ? $a : $b", NULL},
    {OP_SIGN, FLOATS, NULL, "($a > ($T)0.0) ? ($T)1.0 : (($a < ($T)0.0) ? ($T)-1.0 : (($a != $a) ? $a : ($T)0.0))",
     NULL},
    {OP_TO_INT, KIND_FLOAT, WORK_DOUBLE, RESULT_LONG,
     "const double s$n = (($a >= ($T)-9223372036854775808.0) & ($a < ($T)9223372036854775808.0)) ? $a : ($T)0.0;",
     "convert_long(s$n)", "!(($a >= ($T)-9223372036854775808.0) & ($a < ($T)9223372036854775808.0))"},
    {OP_FLOAT_BITS, KIND_FLOAT, WORK_DOUBLE, RESULT_LONG,
     "const double f$n = ($a != $a) ? ($T)as_double(0x7ff8000000000000L) : $a + ($T)0.0;", "as_long(f$n)", NULL},
    {OP_SQRT, FLOATS, NULL, "sqrt($a)", NULL},
#define ARGUMENTS_1                                        "($a)"
#define ARGUMENTS_2                                        "($a, $b)"
#define FLOAT_FUNCTION(op, arity, name, host, device, ...) {OP_##op, FLOATS, NULL, device ARGUMENTS_##arity, NULL},
#include "engine/plan/float_functions.def"
    /* By three powers of two, of which only the last one rounds: PoCL 3.1's ldexp truncates to subnormal numbers. */
    {OP_LDEXP, FLOATS,
     "long u$n = convert_long(clamp($b, ($T)-5000.0, ($T)5000.0)); "
     "const long s$n = (u$n > (long)1023) ? (long)1023 : ((u$n < (long)-1022) ? (long)-969 : (long)0); u$n "
     "-= s$n; "
     "const long t$n = (u$n > (long)1023) ? (long)1023 : ((u$n < (long)-1022) ? (long)-969 : (long)0); "
     "u$n = clamp(u$n - t$n, (long)-1022, (long)1023);",
     "$a * as_double((s$n + (long)1023) << (long)52) * as_double((t$n + (long)1023) << (long)52) * "
     "as_double((u$n + (long)1023) << (long)52)",
     NULL},
    {OP_FLOOR, FLOATS, NULL, "floor($a)", NULL},
    {OP_CEIL, FLOATS, NULL, "ceil($a)", NULL},
    {OP_ROUND, FLOATS, NULL, "round($a)", NULL},
};

const char narrow_product_fails[] =
    "as_ulong(($x >> 32) * $y + ((as_long(as_ulong($x) & 0xffffffffUL) * $y) >> 32) + 0x80000000L) >= 0x100000000UL";

const struct op_template *op_template_of(enum op op, enum kind kind)
{
    for (size_t k = 0; k < sizeof op_templates / sizeof *op_templates; k++) {
        if (op_templates[k].op == op && op_templates[k].kind == kind)
            return &op_templates[k];
    }
    return NULL;
}
