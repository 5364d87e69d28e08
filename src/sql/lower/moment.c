#include "sql/lower/moment.h"

#include "base/strbuf.h"
#include "sql/lower/dialect.h"

#define LOWER_MASK "4294967295"
#define UNIT       "toDecimal128(4611686018427387904, 0)"
#define BITS       "reinterpretAsInt64(reinterpretAsString(%s))"
#define PRODUCT(x) "arrayMap((rql_m, rql_n) -> toDecimal128(" x ", 0), $a, $b)"

/* The products of the halves of a and b; the lower ones are unsigned. */
enum { UPPER, UPPER_LOWER, LOWER_UPPER, LOWER, PRODUCTS };

static const char *product_of_integers(int which, const char *a, const char *b, struct arena *arena)
{
    static const char *const forms[PRODUCTS] = {"toDecimal128(bitShiftRight($a, 32) * bitShiftRight($b, 32), 0)",
                                                "toDecimal128(bitShiftRight($a, 32) * bitAnd($b, " LOWER_MASK "), 0)",
                                                "toDecimal128(bitAnd($a, " LOWER_MASK ") * bitShiftRight($b, 32), 0)",
                                                "toDecimal128(toUInt64(bitAnd($a, " LOWER_MASK
                                                ") * bitAnd($b, " LOWER_MASK ")), 0)"};
    return sql_phrase(forms[which], a, b, arena);
}

/* Of integers of at most 2^31 in magnitude. */
static const char *product_of_narrow(int which, const char *a, const char *b, struct arena *arena)
{
    return sql_phrase(which == LOWER ? "toDecimal128($a * $b, 0)" : "toDecimal128(0, 0)", a, b, arena);
}

static const char *product_of_mantissas(int which, const char *a, const char *b, struct arena *arena)
{
    static const char *const forms[PRODUCTS] = {PRODUCT("bitShiftRight(rql_m, 27) * bitShiftRight(rql_n, 27)"),
                                                PRODUCT("bitShiftRight(rql_m, 27) * bitAnd(rql_n, 134217727)"),
                                                PRODUCT("bitAnd(rql_m, 134217727) * bitShiftRight(rql_n, 27)"),
                                                PRODUCT("bitAnd(rql_m, 134217727) * bitAnd(rql_n, 134217727)")};
    return sql_phrase(forms[which], a, b, arena);
}

typedef const char *(*product_form)(int which, const char *a, const char *b, struct arena *arena);

/* The products that are summed, as moment.h says. */
static void add_products(const char **sums, int *count, product_form product, const char *a, const char *b, bool same,
                         struct arena *arena)
{
    for (int which = 0; which < PRODUCTS; which++) {
        if (!same || which != LOWER_UPPER)
            sums[(*count)++] = product(which, a, b, arena);
    }
}

static const char *sums_of_integers(bool narrow, const char *x, const char *y, const char *where, struct arena *arena)
{
    const product_form product = narrow ? product_of_narrow : product_of_integers;
    const char *terms[SUMS_OF_PAIR];
    int count = 0;
    terms[count++] = arena_printf(arena, "toDecimal128(%s, 0)", x);
    add_products(terms, &count, product, x, x, true, arena);
    if (y) {
        terms[count++] = arena_printf(arena, "toDecimal128(%s, 0)", y);
        add_products(terms, &count, product, y, y, true, arena);
        add_products(terms, &count, product, x, y, false, arena);
    }
    struct strbuf out = {0};
    strbuf_puts(&out, "tuple([toInt64(0)]");
    for (int i = 0; i < count; i++)
        strbuf_printf(&out, ", [sumIf(%s, %s)]", terms[i], where);
    strbuf_putc(&out, ')');
    return strbuf_take(&out, arena);
}

/* The mantissa of a float with its sign, as an array of one. */
static const char *mantissa(const char *x, struct arena *arena)
{
    return arena_printf(arena,
                        "arrayMap(rql_m -> if(rql_m < 0, toInt64(0) - (bitAnd(rql_m, 4503599627370495) + "
                        "if(bitAnd(bitShiftRight(rql_m, 52), 2047) > 0, toInt64(4503599627370496), toInt64(0))), "
                        "bitAnd(rql_m, 4503599627370495) + if(bitAnd(bitShiftRight(rql_m, 52), 2047) > 0, "
                        "toInt64(4503599627370496), toInt64(0))), [" BITS "])",
                        x);
}

static const char *exponent(const char *x, struct arena *arena)
{
    return arena_printf(arena, "bitAnd(bitShiftRight(" BITS ", 52), 2047)", x);
}

static const char *sums_of_floats(const char *x, const char *y, const char *where, struct arena *arena)
{
    const char *terms[SUMS_OF_PAIR], *m = mantissa(x, arena), *n = y ? mantissa(y, arena) : NULL;
    int count = 0;
    const char *key = exponent(x, arena), *finite = arena_printf(arena, "isFinite(%s * %s)", x, x);
    terms[count++] = arena_printf(arena, "arrayMap(rql_m -> toDecimal128(rql_m, 0), %s)", m);
    add_products(terms, &count, product_of_mantissas, m, m, true, arena);
    if (y) {
        key = arena_printf(arena, "(%s * %d + %s)", key, EXPONENTS, exponent(y, arena));
        finite = arena_printf(arena, "(%s AND isFinite(%s * %s))", finite, y, y);
        terms[count++] = arena_printf(arena, "arrayMap(rql_m -> toDecimal128(rql_m, 0), %s)", n);
        add_products(terms, &count, product_of_mantissas, n, n, true, arena);
        add_products(terms, &count, product_of_mantissas, m, n, false, arena);
    }
    struct strbuf out = {0};
    strbuf_printf(&out, "sumMapIf([toInt64(if(%s, %s, toInt64(%d)))]", finite, key, BROKEN);
    for (int i = 0; i < count; i++)
        strbuf_printf(&out, ", %s", terms[i]);
    strbuf_printf(&out, ", %s)", where);
    return strbuf_take(&out, arena);
}

const char *moment_sums(const struct sql_moment *moment, const char *x, const char *y, const char *where,
                        struct arena *arena)
{
    return arena_printf(arena, "tuple(toInt64(countIf(%s)), %s)", where,
                        moment->floats ? sums_of_floats(x, y, where, arena)
                                       : sums_of_integers(moment->narrow, x, y, where, arena));
}

const char *moment_text(const struct sql_moment *moment, const char *sums, struct arena *arena)
{
    const int count = moment->pairs ? SUMS_OF_PAIR : SUMS_OF_ONE;
    struct strbuf names = {0}, parts = {0}, arrays = {0}, out = {0};
    for (int i = 0; i < count; i++) {
        const char *upper = arena_printf(arena, "toInt64(rql_p%d / " UNIT ")", i);
        strbuf_printf(&names, ", rql_p%d", i);
        strbuf_printf(&parts, ", ' ', toString(%s), ' ', toString(toInt64(rql_p%d - toDecimal128(%s, 0) * " UNIT "))",
                      upper, i, upper);
        strbuf_printf(&arrays, ", tupleElement(tupleElement(%s, 2), %d)", sums, i + 2);
    }
    strbuf_printf(&out,
                  "concat(toString(tupleElement(%s, 1)), arrayStringConcat(arrayMap((rql_k%s) -> concat(' ', "
                  "toString(rql_k)%s), tupleElement(tupleElement(%s, 2), 1)%s)))",
                  sums, names.text, parts.text, sums, arrays.text);
    strbuf_free(&names);
    strbuf_free(&parts);
    strbuf_free(&arrays);
    return strbuf_take(&out, arena);
}
