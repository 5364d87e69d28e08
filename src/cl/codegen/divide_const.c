/* Quotient and remainder are computed on magnitudes and then given their sign: (x ^ -1) - -1 is -x.
 *
 * Vectors have no instruction for the high half of a 64-bit product, so compilers go lane by lane. It is composed of
 * products of halves instead: four, or two if the dividend has 32 bits, as sums of 32-bit numbers do. 10 M rows of i64
 * % literal on PoCL 3.1, 2 cores: division 33 ms, this 1.8 ms. */
#include "cl/codegen/divide_const.h"

#include "cl/codegen/emit.h"
#include "cl/codegen/lanes.h"
#include "cl/codegen/template.h"

#include <string.h>

static const char quotient_of_ints[] =
    "        const uint$W s$n = as_uint$W(($a < (int$W)0) ? as_int$W((uint$W)0 - as_uint$W($a)) : $a);\n"
    "        const uint$W q$n = convert_uint$W((convert_ulong$W(s$n) * (ulong$W)$c.x) >> (ulong$W)$c.y);\n";

static const char magnitude_of_longs[] =
    "        const ulong$W s$n = as_ulong$W(($a < (long$W)0) ? as_long$W((ulong$W)0 - as_ulong$W($a)) : $a);\n";

static const char high_product[] = "        const ulong p$n = mul_hi(s$n, $c.x);\n";

static const char high_product_of_halves[] =
    "        const ulong$W i$n = s$n & (ulong$W)0xffffffffUL;\n"
    "        const ulong$W j$n = s$n >> (ulong$W)32;\n"
    "        const ulong$W k$n = (ulong$W)($c.x & 0xffffffffUL);\n"
    "        const ulong$W l$n = (ulong$W)($c.x >> 32);\n"
    "        const ulong$W t$n = j$n * k$n + ((i$n * k$n) >> (ulong$W)32);\n"
    "        const ulong$W u$n = i$n * l$n + (t$n & (ulong$W)0xffffffffUL);\n"
    "        const ulong$W p$n = j$n * l$n + (t$n >> (ulong$W)32) + (u$n >> (ulong$W)32);\n";

static const char high_product_of_small[] =
    "        const ulong$W i$n = s$n & (ulong$W)0xffffffffUL;\n"
    "        const ulong$W k$n = (ulong$W)($c.x & 0xffffffffUL);\n"
    "        const ulong$W l$n = (ulong$W)($c.x >> 32);\n"
    "        const ulong$W p$n = (i$n * l$n + ((i$n * k$n) >> (ulong$W)32)) >> (ulong$W)32;\n";

static const char quotient_of_longs[] =
    "        const ulong$W q$n = (p$n >> (ulong$W)$c.y) | (s$n & (ulong$W)(0 - ($c.w >> 2)));\n";

static const char signed_quotient[] = "        const $U$W w$n = q$n;\n"
                                      "        const $S$W g$n = ($a ^ ($S$W)(-($S)($c.w & 1))) >> ($S$W)$top;\n";

static const char signed_small_remainder[] =
    "        const ulong$W w$n = s$n - (q$n & (ulong$W)0xffffffffUL) * (ulong$W)($c.z & 0xffffffffUL);\n"
    "        const long$W g$n = $a >> (long$W)63;\n";

static const char signed_remainder[] = "        const $U$W w$n = s$n - q$n * ($U$W)$c.z;\n"
                                       "        const $S$W g$n = $a >> ($S$W)$top;\n";

/* By type of the result: as wide as the dividend, narrower or wider. */
static const char result_as_wide[] = "        const $T$W v$n = as_$T$W((w$n ^ as_$U$W(g$n)) - as_$U$W(g$n));\n";

static const char result_narrowed[] =
    "        const int$W v$n = convert_int$W(as_long$W((w$n ^ as_ulong$W(g$n)) - as_ulong$W(g$n)));\n";

static const char result_widened[] = "        const ulong$W h$n = as_ulong$W(convert_long$W(g$n));\n"
                                     "        const long$W v$n = as_long$W((convert_ulong$W(w$n) ^ h$n) - h$n);\n";

static const char fails_for_zero[] = "        const int$W f$n = (int$W)(-(int)(($c.w >> 1) & 1));\n";

/* The least integer has no quotient by -1. */
static const char fails_for_minus_one[] = "        const int$W f$n = (int$W)(-(int)(($c.w >> 1) & 1)) "
                                          "| ((int$W)(-(int)(($c.w >> 2) & $c.w & 1)) & $least);\n";

/* By a power of two: what a negative dividend lacks is added before it is shifted, or cut off. */
static const char by_power[] = "        const $S$W m$n = ($S$W)(($S)$c.z - 1);\n"
                               "        const $S$W s$n = $a + (($a >> ($S$W)$top) & m$n);\n";

static const char quotient_by_power[] = "        const $S$W w$n = s$n >> popcount(m$n);\n";

static const char remainder_by_power[] = "        const $S$W w$n = $a - (s$n & ~m$n);\n";

static const char result_by_power[] = "        const $T$W v$n = convert_$T$W(w$n);\n";

static const char never_fails[] = "        const int$W f$n = (int$W)0;\n";

static void emit_by_power(struct strbuf *out, const struct divide_const *quotient, const struct part *parts)
{
    template_expand(out, by_power, parts);
    template_expand(out, quotient->remainder ? remainder_by_power : quotient_by_power, parts);
    template_expand(out, result_by_power, parts);
    if (quotient->checked)
        template_expand(out, never_fails, parts);
}

void divide_const_emit(struct strbuf *out, const struct divide_const *quotient)
{
    const bool wide = quotient->work == LANE_I64, scalar = quotient->width == 1, small = wide && quotient->small;
    const char *own = wide ? "long" : "int";
    const struct part parts[] = {
        {"W", width_suffix(quotient->width)},
        {"n", quotient->number},
        {"a", quotient->dividend},
        {"c", quotient->divisor},
        {"S", own},
        {"U", wide ? "ulong" : "uint"},
        {"T", quotient->type},
        {"top", wide ? "63" : "31"},
        {NULL, NULL},
    };
    const struct part least[] = {{"least", scalar ? "-($a == LONG_MIN)" : "convert_int$W($a == (long$W)LONG_MIN)"},
                                 {NULL, NULL}};
    if (quotient->power) {
        emit_by_power(out, quotient, parts);
        return;
    }
    if (wide) {
        template_expand(out, magnitude_of_longs, parts);
        template_expand(out, scalar ? high_product : small ? high_product_of_small : high_product_of_halves, parts);
        template_expand(out, quotient_of_longs, parts);
    } else {
        template_expand(out, quotient_of_ints, parts);
    }
    template_expand(out,
                    !quotient->remainder ? signed_quotient
                    : small              ? signed_small_remainder
                                         : signed_remainder,
                    parts);
    template_expand(out,
                    strcmp(quotient->type, own) == 0 ? result_as_wide
                    : wide                           ? result_narrowed
                                                     : result_widened,
                    parts);
    if (!quotient->checked)
        return;
    if (quotient->remainder || !wide) {
        template_expand(out, fails_for_zero, parts);
        return;
    }
    struct strbuf text = {0};
    template_expand(&text, fails_for_minus_one, least);
    template_expand(out, text.text, parts);
    strbuf_free(&text);
}
