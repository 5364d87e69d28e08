/* The operations of typed code in each dialect.
 *
 * Facts of the engines that the texts are made for: ClickHouse wraps sums and products around, divides by zero and
 * shifts by more than 63 with an error, and knows no NaN in comparisons, as rql; its remainder by the constant
 * INT64_MIN is an error, and of floats rounded, or one of integers. DuckDB has errors of overflow, sorts NaN above all
 * other numbers and equal to itself, has no shift of negative integers, and converts floats to integers by rounding. */
#include "sql/lower/dialect.h"

enum { CH = 1, DUCK = 2, ANY = CH | DUCK };
enum { B = 1 << KIND_BOOL, I = 1 << KIND_INT, F = 1 << KIND_FLOAT };

struct row {
    enum op op;
    unsigned kinds, dialects;
    bool harmless;
    struct sql_operation as;
};

#define CH_LEAST  "toInt64('-9223372036854775808')"
#define LEAST     "CAST('-9223372036854775808' AS BIGINT)"
#define BEYOND    "9223372036854775808."
#define NAN_CAST  "CAST('NaN' AS DOUBLE)"
#define HUGE(x)   "CAST(" x " AS HUGEINT)"
#define NARROW(x) "TRY_CAST(" x " AS BIGINT)"
#define DUCK_SHL  HUGE("$a") " * (" HUGE("1") " << CAST($s AS INTEGER))"
#define INVALID   "(NOT ($b BETWEEN 0 AND 63))"

static const struct row rows[] = {
    /* Integers. */
    {OP_ADD, I, CH, false, {"($A + $B)", NULL, "(bitAnd(bitXor($a, $r), bitXor($b, $r)) < 0)"}},
    {OP_SUB, I, CH, false, {"($A - $B)", NULL, "(bitAnd(bitXor($a, $b), bitXor($a, $r)) < 0)"}},
    {OP_MUL, I, CH, false, {"($A * $B)", NULL, "(toDecimal128($a, 0) * toDecimal128($b, 0) != toDecimal128($r, 0))"}},
    {OP_ADD,
     I,
     DUCK,
     false,
     {"($A + $B)", "coalesce(" NARROW(HUGE("$a") " + $B") ", $z)", "(" NARROW(HUGE("$a") " + $B") " IS NULL)"}},
    {OP_SUB,
     I,
     DUCK,
     false,
     {"($A - $B)", "coalesce(" NARROW(HUGE("$a") " - $B") ", $z)", "(" NARROW(HUGE("$a") " - $B") " IS NULL)"}},
    {OP_MUL,
     I,
     DUCK,
     false,
     {"($A * $B)", "coalesce(" NARROW(HUGE("$a") " * $B") ", $z)", "(" NARROW(HUGE("$a") " * $B") " IS NULL)"}},

    {OP_DIV, I, CH, true, {"intDiv($a, $b)", NULL, NULL}},
    {OP_DIV, I, DUCK, true, {"($a // $b)", NULL, NULL}},
    {OP_DIV,
     I,
     CH,
     false,
     {"intDiv($a, $b)", "if($b = -1, toInt64(0) - $a, intDiv($a, if($b = 0 OR $b = -1, toInt64(1), $b)))",
      "($b = 0 OR ($b = -1 AND $a = " CH_LEAST "))"}},
    {OP_DIV,
     I,
     DUCK,
     false,
     {"($a // $b)", "CASE WHEN $f THEN $z ELSE $a // CASE WHEN $f THEN 1 ELSE $b END END",
      "($b = 0 OR ($b = -1 AND $a = " LEAST "))"}},
    {OP_MOD, I, CH, true, {"toInt64($a % $b)", NULL, NULL}},
    {OP_MOD, I, DUCK, true, {"($a % $b)", NULL, NULL}},
    {OP_MOD, I, CH, false, {"toInt64($a % materialize(if($b = 0 OR $b = -1, toInt64(1), $b)))", NULL, "($b = 0)"}},
    {OP_MOD, I, DUCK, false, {"($a % CASE WHEN $b = 0 OR $b = -1 THEN 1 ELSE $b END)", NULL, "($b = 0)"}},

    {OP_NEG, I, CH, false, {"(toInt64(0) - $a)", NULL, "($a = " CH_LEAST ")"}},
    {OP_NEG, I, DUCK, false, {"(- $a)", "(- greatest($a, -9223372036854775807))", "($a = " LEAST ")"}},
    {OP_ABS, I, CH, false, {"if($a < 0, toInt64(0) - $a, $a)", NULL, "($a = " CH_LEAST ")"}},
    {OP_ABS, I, DUCK, false, {"abs($a)", "abs(greatest($a, -9223372036854775807))", "($a = " LEAST ")"}},
    {OP_SIGN, I, CH, false, {"toInt64(($a > 0) - ($a < 0))", NULL, NULL}},
    {OP_SIGN, I, DUCK, false, {"CAST(sign($a) AS BIGINT)", NULL, NULL}},
    {OP_POPCOUNT, I, CH, false, {"toInt64(length(bitmaskToArray($a)))", NULL, NULL}},
    {OP_POPCOUNT, I, DUCK, false, {"CAST(bit_count($a) AS BIGINT)", NULL, NULL}},
    {OP_BITAND, I, CH, false, {"bitAnd($a, $b)", NULL, NULL}},
    {OP_BITAND, I, DUCK, false, {"($a & $b)", NULL, NULL}},
    {OP_BITOR, I, CH, false, {"bitOr($a, $b)", NULL, NULL}},
    {OP_BITOR, I, DUCK, false, {"($a | $b)", NULL, NULL}},
    {OP_XOR, I, CH, false, {"bitXor($a, $b)", NULL, NULL}},
    {OP_XOR, I, DUCK, false, {"xor($a, $b)", NULL, NULL}},
    {OP_BITNOT, I, CH, false, {"bitNot($a)", NULL, NULL}},
    {OP_BITNOT, I, DUCK, false, {"(~ $a)", NULL, NULL}},

    {OP_SHL, I, CH, true, {"bitShiftLeft($a, $b)", NULL, "(bitShiftRight($r, $b) != $a)"}},
    {OP_SHL,
     I,
     CH,
     false,
     {"bitShiftLeft($a, $b)", "bitShiftLeft($a, $s)", "(" INVALID " OR bitShiftRight($r, $s) != $a)"}},
    {OP_SHL,
     I,
     DUCK,
     true,
     {"CAST(" DUCK_SHL " AS BIGINT)", "coalesce(" NARROW(DUCK_SHL) ", $z)", "(" NARROW(DUCK_SHL) " IS NULL)"}},
    {OP_SHL,
     I,
     DUCK,
     false,
     {"CAST(" DUCK_SHL " AS BIGINT)", "CASE WHEN $f THEN $z ELSE coalesce(" NARROW(DUCK_SHL) ", $z) END",
      "(" INVALID " OR " NARROW(DUCK_SHL) " IS NULL)"}},
    {OP_SHR, I, CH, false, {"bitShiftRight($a, $b)", "bitShiftRight($a, $s)", INVALID}},
    {OP_SHR, I, DUCK, false, {"($a >> $b)", "CASE WHEN $f THEN $z ELSE $a >> $s END", INVALID}},
    {OP_INDEX, I, CH, false, {"$a", "if($f, $z, $a)", "($a < 0 OR $a >= $b)"}},
    {OP_INDEX, I, DUCK, false, {"$a", "CASE WHEN $f THEN $z ELSE $a END", "($a < 0 OR $a >= $b)"}},

    /* Comparisons, choices and conditions. */
    {OP_EQ, B | I, ANY, false, {"($A = $B)", NULL, NULL}},
    {OP_NE, B | I, ANY, false, {"($A <> $B)", NULL, NULL}},
    {OP_LT, B | I, ANY, false, {"($A < $B)", NULL, NULL}},
    {OP_LE, B | I, ANY, false, {"($A <= $B)", NULL, NULL}},
    {OP_MIN, B | I, ANY, false, {"least($a, $b)", NULL, NULL}},
    {OP_MAX, B | I, ANY, false, {"greatest($a, $b)", NULL, NULL}},
    {OP_SELECT, B | I | F, CH, false, {"if($a, $b, $c)", NULL, NULL}},
    {OP_SELECT, B | I | F, DUCK, false, {"CASE WHEN $a THEN $b ELSE $c END", NULL, NULL}},
    {OP_AND, B, ANY, false, {"($a AND $b)", NULL, NULL}},
    {OP_OR, B, ANY, false, {"($a OR $b)", NULL, NULL}},
    {OP_NOT, B, ANY, false, {"(NOT $a)", NULL, NULL}},
    {OP_ASSERT, B, ANY, false, {"$a", NULL, "(NOT $a)"}},

    /* Conversions. */
    {OP_BOOL_TO_INT, B, CH, false, {"toInt64($a)", NULL, NULL}},
    {OP_BOOL_TO_INT, B, DUCK, false, {"CAST($a AS BIGINT)", NULL, NULL}},
    {OP_TO_FLOAT, I, CH, false, {"toFloat64($a)", NULL, NULL}},
    {OP_TO_FLOAT, I, DUCK, false, {"CAST($a AS DOUBLE)", NULL, NULL}},
    {OP_TO_INT,
     F,
     CH,
     false,
     {"toInt64(if($a >= -" BEYOND "0 AND $a < " BEYOND "0, $a, 0.0))", NULL,
      "(NOT ($a >= -" BEYOND "0 AND $a < " BEYOND "0))"}},
    {OP_TO_INT,
     F,
     DUCK,
     false,
     {"CAST(CASE WHEN $a >= -" BEYOND "0e0 AND $a < " BEYOND "0e0 THEN trunc($a) ELSE 0e0 END AS BIGINT)", NULL,
      "(NOT ($a >= -" BEYOND "0e0 AND $a < " BEYOND "0e0))"}},
    {OP_FLOAT_BITS,
     F,
     CH,
     false,
     {"if(isNaN($a), toInt64(9221120237041090560), reinterpretAsInt64(reinterpretAsString($a + 0.0)))", NULL, NULL}},
    {OP_FLOAT_BITS,
     F,
     DUCK,
     false,
     {"CASE WHEN isnan($a) THEN 9221120237041090560 ELSE CAST(CAST($a + 0e0 AS BIT) AS BIGINT) END", NULL, NULL}},
    {OP_CMP_INT_FLOAT, I, CH, false, {"toInt64(if(isNaN($b), 2, ($a > $b) - ($a < $b)))", NULL, NULL}},
    {OP_CMP_INT_FLOAT,
     I,
     DUCK,
     false,
     {"CAST(CASE WHEN isnan($b) THEN 2 WHEN $b >= " BEYOND "0e0 THEN -1 WHEN $b < -" BEYOND
      "0e0 THEN 1 WHEN $a > " NARROW("floor($b)") " THEN 1 WHEN $a < " NARROW(
          "floor($b)") " OR $b > floor($b) THEN -1 ELSE 0 END AS BIGINT)",
      NULL, NULL}},

    /* Floats. */
    {OP_ADD, F, ANY, false, {"($a + $b)", NULL, NULL}},
    {OP_SUB, F, ANY, false, {"($a - $b)", NULL, NULL}},
    {OP_MUL, F, ANY, false, {"($a * $b)", NULL, NULL}},
    {OP_DIV, F, ANY, false, {"($a / $b)", NULL, NULL}},
    {OP_MOD, F, DUCK, false, {"($a % $b)", NULL, NULL}},
    {OP_NEG, F, CH, false, {"negate($a)", NULL, NULL}},
    {OP_NEG, F, DUCK, false, {"(- $a)", NULL, NULL}},
    {OP_ABS, F, ANY, false, {"abs($a)", NULL, NULL}},
    {OP_SQRT, F, CH, false, {"sqrt($a)", NULL, NULL}},
    {OP_SQRT, F, DUCK, false, {"sqrt(CASE WHEN $a < 0e0 THEN " NAN_CAST " ELSE $a END)", NULL, NULL}},
    {OP_SIGN, F, CH, false, {"if(isNaN($a), $a, toFloat64(($a > 0.0) - ($a < 0.0)))", NULL, NULL}},
    {OP_SIGN,
     F,
     DUCK,
     false,
     {"CASE WHEN isnan($a) THEN $a WHEN $a > 0e0 THEN 1e0 WHEN $a < 0e0 THEN -1e0 ELSE 0e0 END", NULL, NULL}},
    {OP_MIN, F, CH, false, {"if($a < $b OR isNaN($b), $a, $b)", NULL, NULL}},
    {OP_MAX, F, CH, false, {"if($a > $b OR isNaN($b), $a, $b)", NULL, NULL}},
    {OP_MIN, F, DUCK, false, {"CASE WHEN $a < $b OR isnan($b) THEN $a ELSE $b END", NULL, NULL}},
    {OP_MAX, F, DUCK, false, {"CASE WHEN ($a > $b AND NOT isnan($a)) OR isnan($b) THEN $a ELSE $b END", NULL, NULL}},
    {OP_FLOOR, F, ANY, false, {"floor($a)", NULL, NULL}},
    {OP_CEIL, F, ANY, false, {"ceil($a)", NULL, NULL}},
    {OP_ROUND,
     F,
     CH,
     false,
     {"if(abs($a - trunc($a)) >= 0.5, trunc($a) + if($a < 0.0, -1.0, 1.0), trunc($a))", NULL, NULL}},
    {OP_ROUND, F, DUCK, false, {"round($a)", NULL, NULL}},
    {OP_EQ, F, CH, false, {"($a = $b)", NULL, NULL}},
    {OP_NE, F, CH, false, {"($a <> $b)", NULL, NULL}},
    {OP_LT, F, CH, false, {"($a < $b)", NULL, NULL}},
    {OP_LE, F, CH, false, {"($a <= $b)", NULL, NULL}},
    {OP_EQ, F, DUCK, false, {"($a = $b)", "($a = $b AND NOT isnan($a))", NULL}},
    {OP_NE, F, DUCK, false, {"($a <> $b)", "($a <> $b OR isnan($a))", NULL}},
    {OP_LT, F, DUCK, false, {"($a < $b)", "($a < $b AND NOT isnan($b))", NULL}},
    {OP_LE, F, DUCK, false, {"($a <= $b)", "($a <= $b AND NOT isnan($b))", NULL}},
};

const struct sql_operation *sql_operation_find(const struct sql_dialect *dialect, enum op op,
                                               struct sql_operands operands)
{
    const struct sql_operation *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        const bool fits = row->op == op && row->dialects & dialect->bit && row->kinds >> operands.kind & 1;
        if (fits && (!row->harmless || operands.harmless))
            found = found && !row->harmless ? found : &row->as;
    }
    return found;
}
