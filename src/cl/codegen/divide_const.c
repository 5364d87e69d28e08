/* Quotient and remainder are computed on magnitudes and then given their sign: (x ^ -1) - -1 is -x. */
#include "cl/codegen/divide_const.h"

#include "cl/codegen/template.h"

#include <string.h>

static const char quotient_of_ints[] =
    "        const uint s$n = as_uint(($a < (int)0) ? as_int((uint)0 - as_uint($a)) : $a);\n"
    "        const uint q$n = convert_uint((convert_ulong(s$n) * (ulong)$c.x) >> (ulong)$c.y);\n";

static const char magnitude_of_longs[] =
    "        const ulong s$n = as_ulong(($a < (long)0) ? as_long((ulong)0 - as_ulong($a)) : $a);\n";

static const char high_product[] = "        const ulong p$n = mul_hi(s$n, $c.x);\n";

static const char quotient_of_longs[] =
    "        const ulong q$n = (p$n >> (ulong)$c.y) | (s$n & (ulong)(0 - ($c.w >> 2)));\n";

static const char signed_quotient[] = "        const $U w$n = q$n;\n"
                                      "        const $S g$n = ($a ^ ($S)(-($S)($c.w & 1))) >> ($S)$top;\n";

static const char signed_remainder[] = "        const $U w$n = s$n - q$n * ($U)$c.z;\n"
                                       "        const $S g$n = $a >> ($S)$top;\n";

/* By type of the result: as wide as the dividend, narrower or wider. */
static const char result_as_wide[] = "        const $T v$n = as_$T((w$n ^ as_$U(g$n)) - as_$U(g$n));\n";

static const char result_narrowed[] =
    "        const int v$n = convert_int(as_long((w$n ^ as_ulong(g$n)) - as_ulong(g$n)));\n";

static const char result_widened[] = "        const ulong h$n = as_ulong(convert_long(g$n));\n"
                                     "        const long v$n = as_long((convert_ulong(w$n) ^ h$n) - h$n);\n";

static const char fails_for_zero[] = "        const int f$n = (int)(-(int)(($c.w >> 1) & 1));\n";

/* The least integer has no quotient by -1. */
static const char fails_for_minus_one[] = "        const int f$n = (int)(-(int)(($c.w >> 1) & 1)) "
                                          "| ((int)(-(int)(($c.w >> 2) & $c.w & 1)) & -($a == LONG_MIN));\n";

/* By a power of two: what a negative dividend lacks is added before it is shifted, or cut off. */
static const char by_power[] = "        const $S m$n = ($S)(($S)$c.z - 1);\n"
                               "        const $S s$n = $a + (($a >> ($S)$top) & m$n);\n";

static const char quotient_by_power[] = "        const $S w$n = s$n >> popcount(m$n);\n";

static const char remainder_by_power[] = "        const $S w$n = $a - (s$n & ~m$n);\n";

static const char result_by_power[] = "        const $T v$n = convert_$T(w$n);\n";

static const char never_fails[] = "        const int f$n = (int)0;\n";

static void emit_by_power(struct strbuf *out, const struct divide_const *quotient, const struct hole *holes)
{
    template_expand(out, by_power, holes);
    template_expand(out, quotient->remainder ? remainder_by_power : quotient_by_power, holes);
    template_expand(out, result_by_power, holes);
    if (quotient->checked)
        template_expand(out, never_fails, holes);
}

void divide_const_emit(struct strbuf *out, const struct divide_const *quotient)
{
    const bool wide = quotient->work == LANE_I64;
    const char *own = wide ? "long" : "int";
    const struct hole holes[] = {
        {"n", quotient->number},        {"a", quotient->dividend}, {"c", quotient->divisor},    {"S", own},
        {"U", wide ? "ulong" : "uint"}, {"T", quotient->type},     {"top", wide ? "63" : "31"}, {NULL, NULL},
    };
    if (quotient->power) {
        emit_by_power(out, quotient, holes);
        return;
    }
    if (wide) {
        template_expand(out, magnitude_of_longs, holes);
        template_expand(out, high_product, holes);
        template_expand(out, quotient_of_longs, holes);
    } else {
        template_expand(out, quotient_of_ints, holes);
    }
    template_expand(out, quotient->remainder ? signed_remainder : signed_quotient, holes);
    template_expand(out,
                    strcmp(quotient->type, own) == 0 ? result_as_wide
                    : wide                           ? result_narrowed
                                                     : result_widened,
                    holes);
    if (!quotient->checked)
        return;
    if (quotient->remainder || !wide) {
        template_expand(out, fails_for_zero, holes);
        return;
    }
    template_expand(out, fails_for_minus_one, holes);
}
