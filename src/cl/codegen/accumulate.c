#include "cl/codegen/accumulate.h"

#include "cl/codegen/emit.h"
#include "cl/codegen/template.h"

#include "engine/plan/aggregate_join.h"

#include <string.h>

/* In the steps: $A is the accumulator, $V the value, $P the value if the row is kept and otherwise the identity, $K the
 * mask of kept rows, $B $C $D the next accumulators, $T the type of the value, $j the number of the float sum.
 *
 * Compilers for CPUs turn the loop over rows into one over vectors if the steps may be taken in any order. Integers
 * may. Levels may, as no sum of them rounds (float_sum_levels.h), and ANY_ORDER says so. What is not negative is
 * compared by its bits: a maximum of doubles has an order, because of NaN. */
struct accumulator_template {
    const char *element; /* type of the accumulator */
    const char *start;
    enum lane lane; /* of the value */
    const char *identity;
    const char *step;
    enum aggregate_kind join; /* of two accumulators; AGG_FOLD: emit_combine, */
    const char *combine;      /* or if not NULL: adds $y to $x; $o, $r and $w are the next accumulators */
};
static const struct accumulator_template accumulator_templates[ACC_KIND_COUNT] = {
    [ACC_KEPT] = {"uint", "0", LANE_BOOL, "0", "$A -= as_uint($K);", AGG_SUM, NULL},
    [ACC_SUM32] = {"long", "0", LANE_I32, "0", "$A += convert_long($P);", AGG_SUM, NULL},
    [ACC_SUM64] = {"ulong", "0", LANE_I64, "0", "$A += as_ulong($P);", AGG_SUM, NULL},
    [ACC_LOW] = {"ulong", "0", LANE_I64, "0", "$A += as_ulong($P) & (ulong)0xffffffffUL;", AGG_SUM, NULL},
    [ACC_HIGH] = {"long", "0", LANE_I64, "0", "$A += $P >> ($T)32;", AGG_SUM, NULL},
    [ACC_MAGNITUDE] = {"ulong", "1", LANE_I64, "1",
                       "{ const $T x = $P; const ulong m = as_ulong((x == ($T)0) ? ($T)1 : ((x < ($T)0) "
                       "? as_long((ulong)0 - as_ulong(x)) : x)); "
                       "$B |= -(mul_hi($A, m) != (ulong)0); $A *= m; }",
                       AGG_PRODUCT, "$o |= -(mul_hi($x, $y) != 0UL); $x *= $y;"},
    [ACC_OVERFLOW] = {"int", "0", LANE_I64, "0", "", AGG_BITOR, NULL},
    [ACC_NEGATIVE] = {"int", "0", LANE_I64, "0", "$A ^= -($P < ($T)0);", AGG_XOR, NULL},
    [ACC_ZERO] = {"int", "0", LANE_I64, "1", "$A |= -($P == ($T)0);", AGG_BITOR, NULL},
    [ACC_NANS] = {"uint", "0", LANE_F64, "0", "$A -= as_uint($K & -($V != $V));", AGG_SUM, NULL},
    [ACC_POSITIVE_INF] = {"uint", "0", LANE_F64, "0", "$A -= as_uint(-($P > ($T)DBL_MAX));", AGG_SUM, NULL},
    [ACC_NEGATIVE_INF] = {"uint", "0", LANE_F64, "0", "$A -= as_uint(-($P < ($T)-DBL_MAX));", AGG_SUM, NULL},
    [ACC_LARGEST] = {"long", "0", LANE_F64, "0",
                     "{ const $T x = fabs($P); $A = max($A, (x <= ($T)DBL_MAX) ? as_long(x) : 0L); }", AGG_MAX, NULL},
    [ACC_FOLD] = {"long", "0", LANE_I64, "0", "", AGG_FOLD, NULL},
    [ACC_FOLDED] = {"uint", "0", LANE_BOOL, "0", "", AGG_FOLD, NULL},
    [ACC_LEVEL0] = {"double", "0", LANE_F64, "0",
                    "{ $T t = $P; t = (fabs(t) <= ($T)largest$j) ? t : ($T)0.0; "
                    "const $T p = (t + ($T)first$j) - ($T)first$j; t -= p; "
                    "const $T q = (t + ($T)second$j) - ($T)second$j; t -= q; "
                    "const $T r = (t + ($T)third$j) - ($T)third$j; t -= r; "
                    "{ ANY_ORDER $A += p; $B += q; $C += r; } $D = max($D, as_long(fabs(t))); }",
                    AGG_SUM, NULL},
    [ACC_LEVEL1] = {"double", "0", LANE_F64, "0", "", AGG_SUM, NULL},
    [ACC_LEVEL2] = {"double", "0", LANE_F64, "0", "", AGG_SUM, NULL},
    [ACC_REST] = {"long", "0", LANE_F64, "0", "", AGG_MAX, NULL},
    [ACC_HIGH_PART] = {"double", "0", LANE_F64, "0",
                       "{ const $T t = $P, s = $A + t, p = s - $A, e = ($A - (s - p)) + (t - p); $A = s; "
                       "const $T m = $B + e, q = m - $B, f = ($B - (m - q)) + (e - q); $B = m; "
                       "$C += f; $D += fabs(f); }",
                       AGG_SUM,
                       "{ const double s = $x + $y, p = s - $x, e = ($x - (s - p)) + ($y - p); $x = s; "
                       "const double m = $o + e, q = m - $o, f = ($o - (m - q)) + (e - q); $o = m; $r += f; "
                       "$w += fabs(f); }"},
    [ACC_LOW_PART] = {"double", "0", LANE_F64, "0", "", AGG_SUM,
                      "{ const double s = $x + $y, p = s - $x, f = ($x - (s - p)) + ($y - p); $x = s; $o += f; "
                      "$r += fabs(f); }"},
    [ACC_REST_PART] = {"double", "0", LANE_F64, "0", "", AGG_SUM, NULL},
    [ACC_WEIGHT] = {"double", "0", LANE_F64, "0", "", AGG_SUM, NULL},
};

/* "{ const int a = $A, b = $P; $A = a & b; }": joins $A, or another accumulator, with a value. */
static const char *join_text(enum aggregate_kind join, const char *element, const char *to, const char *other,
                             struct arena *arena)
{
    const struct aggregate_info *info = &aggregate_table[join];
    return arena_printf(arena, "{ const %s a = %s, b = %s; %s = %s; }", element, to, other, to,
                        strcmp(element, "double") == 0 ? info->numbers : info->integers);
}

static struct accumulator_template template_of(const struct accumulator *accumulator, struct arena *arena)
{
    const enum lane lane = accumulator->lane;
    if (accumulator->kind != ACC_JOINED)
        return accumulator_templates[accumulator->kind];
    const char *element = lane_cl_type(lane), *none = aggregate_none_text(accumulator->join, lane, arena);
    return (struct accumulator_template){
        element, none, lane, none, join_text(accumulator->join, element, "$A", "$P", arena), accumulator->join, NULL};
}

static bool is_level(enum accumulator_kind kind)
{
    return kind == ACC_LEVEL0 || kind == ACC_LEVEL1 || kind == ACC_LEVEL2;
}

static const char *name(struct arena *arena, size_t k)
{
    return arena_printf(arena, "a%zu", k);
}

/* The final scalar of an accumulator and its type: a level is converted to an integer multiple of its unit. */
static const char *result_element(const struct accumulator *accumulator)
{
    return is_level(accumulator->kind)       ? "long"
           : accumulator->kind == ACC_JOINED ? lane_cl_type(accumulator->lane)
                                             : accumulator_templates[accumulator->kind].element;
}

static const char *result_name(struct arena *arena, const struct accumulator *accumulator, size_t k)
{
    return arena_printf(arena, is_level(accumulator->kind) ? "l%zu" : "a%zu", k);
}

void accumulators_parameters(const struct accumulators *accumulators, struct strbuf *out)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        const size_t j = accumulators->at[k].aggregate;
        if (accumulators->at[k].kind == ACC_LEVEL0)
            strbuf_printf(out,
                          "    double largest%zu, double first%zu, double second%zu, double third%zu,\n"
                          "    int unitfirst%zu, int unitsecond%zu, int unitthird%zu,\n",
                          j, j, j, j, j, j, j);
    }
}

void accumulators_declare(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        const struct accumulator_template form = template_of(&accumulators->at[k], arena);
        strbuf_printf(out, "    %s a%zu = %s;\n", form.element, k, form.start);
        if (is_level(accumulators->at[k].kind))
            strbuf_printf(out, "    long l%zu = 0;\n", k);
    }
}

/* The value where the mask is set, else the identity. LLVM 14 compiles a select on a comparison of narrow elements to
 * code that takes twice as long as masked bits. */
static const char *masked_value(struct arena *arena, const struct accumulator_template *form, const char *v)
{
    if (strcmp(form->identity, "0") == 0 && form->lane != LANE_F64)
        return arena_printf(arena, "(keep & %s)", v);
    return arena_printf(arena, "(keep ? %s : (%s)%s)", v, lane_cl_type(form->lane), form->identity);
}

void accumulators_step(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out)
{
    struct arena *arena = emitter->arena;
    const bool filtered = emitter->task->filter_count > 0;
    for (size_t k = 0; k < accumulators->count; k++) {
        const struct accumulator *accumulator = &accumulators->at[k];
        const struct accumulator_template form = template_of(accumulator, arena);
        if (accumulator->kind == ACC_FOLD)
            ordered_step(accumulators, emitter, k, out);
        if (!*form.step)
            continue;
        const char *v = form.lane == LANE_BOOL ? "" : emit_aggregate(emitter, accumulator->aggregate, form.lane);
        const struct hole holes[] = {
            {"A", name(arena, k)},
            {"B", name(arena, k + 1)},
            {"C", name(arena, k + 2)},
            {"D", name(arena, k + 3)},
            {"V", v},
            {"P", filtered ? masked_value(arena, &form, v) : v},
            {"K", filtered ? "keep" : "-1"},
            {"T", lane_cl_type(form.lane)},
            {"j", arena_printf(arena, "%zu", accumulator->aggregate)},
            {NULL, NULL},
        };
        strbuf_puts(out, "        ");
        template_expand(out, form.step, holes);
        strbuf_putc(out, '\n');
    }
}

/* Combines `other` into accumulator k. */
static void combine(struct arena *arena, struct strbuf *out, const struct accumulator *accumulator, size_t k)
{
    const struct hole holes[] = {
        {"x", result_name(arena, accumulator, k)},
        {"y", "other"},
        {"o", name(arena, k + 1)},
        {"r", name(arena, k + 2)},
        {"w", name(arena, k + 3)},
        {NULL, NULL},
    };
    const struct accumulator_template form = template_of(accumulator, arena);
    const char *text = form.combine           ? form.combine
                       : form.join == AGG_SUM ? "$x += $y;"
                                              : join_text(form.join, result_element(accumulator), "$x", "$y", arena);
    template_expand(out, text, holes);
}

/* "-unitfirst2": the exponent that scales a level to integers. */
static const char *scale(struct arena *arena, const struct accumulator *accumulator)
{
    static const char *const units[] = {"first", "second", "third"};
    return arena_printf(arena, "-unit%s%zu", units[accumulator->kind - ACC_LEVEL0], accumulator->aggregate);
}

/* Conversions between a scalar and its slot. */
static const struct pack {
    const char *element, *pack, *unpack;
} packs[] = {
    {"uint", "(ulong)$x", "(uint)$x"},           {"int", "as_ulong((long)$x)", "(int)as_long($x)"},
    {"long", "as_ulong($x)", "as_long($x)"},     {"ulong", "$x", "$x"},
    {"double", "as_ulong($x)", "as_double($x)"},
};

static const char *packed(struct arena *arena, const char *element, bool unpack, const char *text)
{
    const struct hole holes[] = {{"x", text}, {NULL, NULL}};
    struct strbuf out = {0};
    const struct pack *found = TABLE_ROW(packs, element);
    if (found)
        template_expand(&out, unpack ? found->unpack : found->pack, holes);
    return text_in_arena(arena, &out);
}

/* Accumulators that a group combines at once: more take more local memory, fewer more barriers. */
enum { BATCH = 8 };

size_t accumulators_scratch_words(const struct accumulators *accumulators)
{
    const size_t count = accumulators->count - 2 * accumulators->function_count;
    return count < BATCH ? count : BATCH;
}

/* Appends a statement for each accumulator first .. end-1 of a group; $s is its scratch memory. */
static void for_each(const struct accumulators *accumulators, size_t first, size_t end, struct arena *arena,
                     struct strbuf *out, const char *template)
{
    for (size_t k = first; k < end; k++) {
        const struct accumulator *accumulator = &accumulators->at[k];
        const char *element = result_element(accumulator), *scalar = result_name(arena, accumulator, k);
        if (accumulator_templates[accumulator->kind].join == AGG_FOLD)
            continue;
        const char *place = arena_printf(arena, "scratch[%zu]", k - first);
        struct strbuf combined = {0};
        combine(arena, &combined, accumulator, k);
        const struct hole holes[] = {
            {"s", place},
            {"packed", packed(arena, element, false, scalar)},
            {"unpacked", packed(arena, element, true, arena_printf(arena, "%s[lane + step]", place))},
            {"combine", combined.text},
            {"E", element},
            {"k", arena_printf(arena, "%zu", k)},
            {NULL, NULL},
        };
        template_expand(out, template, holes);
        strbuf_free(&combined);
    }
}

void accumulators_read_slots(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out)
{
    struct arena *arena = emitter->arena;
    for (size_t k = 0; k < accumulators->count; k++) {
        const struct accumulator *accumulator = &accumulators->at[k];
        const char *element = result_element(accumulator);
        const char *slot = arena_printf(arena, "slots[%zu * count + j]", k);
        strbuf_printf(out, "        { const %s other = %s; ", element, packed(arena, element, true, slot));
        combine(arena, out, accumulator, k);
        strbuf_puts(out, " }\n");
    }
}

/* Combines the results of a group pairwise in local memory. */
static void finish_group(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        const char *element = result_element(&accumulators->at[k]);
        if (accumulator_templates[accumulators->at[k].kind].join == AGG_FOLD)
            strbuf_printf(out, "    if (lane == 0)\n        slots[%zu * get_num_groups(0) + get_group_id(0)] = %s;\n",
                          k, packed(arena, element, false, arena_printf(arena, "r%zu", k)));
    }
    for (size_t first = 0; first < accumulators->count && accumulators_scratch_words(accumulators) > 0;
         first += BATCH) {
        const size_t end = first + BATCH < accumulators->count ? first + BATCH : accumulators->count;
        for_each(accumulators, first, end, arena, out, "    $s[lane] = $packed;\n");
        strbuf_puts(out, "    for (uint step = get_local_size(0) / 2; step > 0; step >>= 1) {\n"
                         "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "        if (lane < step) {\n");
        for_each(accumulators, first, end, arena, out,
                 "            { const $E other = $unpacked; $combine $s[lane] = $packed; }\n");
        strbuf_puts(out, "        }\n"
                         "    }\n"
                         "    if (lane == 0) {\n");
        for_each(accumulators, first, end, arena, out,
                 "        slots[$k * get_num_groups(0) + get_group_id(0)] = $s[0];\n");
        strbuf_puts(out, "    }\n");
        if (end < accumulators->count)
            strbuf_puts(out, "    barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
}

void accumulators_finish(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out)
{
    struct arena *arena = emitter->arena;
    for (size_t k = 0; k < accumulators->count; k++) {
        const struct accumulator *accumulator = &accumulators->at[k];
        if (is_level(accumulator->kind))
            strbuf_printf(out, "    l%zu += convert_long(ldexp(a%zu, %s));\n", k, k, scale(arena, accumulator));
    }
    finish_group(accumulators, arena, out);
}

static double as_double(uint64_t slot)
{
    double number;
    memcpy(&number, &slot, sizeof number);
    return number;
}

double slots_float(enum aggregate_kind join, const uint64_t *slots, size_t results)
{
    double combined = as_double(slots[0]);
    for (size_t k = 1; k < results; k++)
        combined = aggregate_join_numbers(join, combined, as_double(slots[k]));
    return combined;
}

int64_t slots_int(enum aggregate_kind join, const uint64_t *slots, size_t results)
{
    int64_t combined = (int64_t)slots[0];
    bool overflow = false;
    for (size_t k = 1; k < results; k++)
        combined = aggregate_join_integers(join, combined, (int64_t)slots[k], &overflow);
    return combined;
}

int128 slots_sum(enum accumulator_kind kind, const uint64_t *slots, size_t results)
{
    const bool natural = kind == ACC_LOW;
    int128 sum = 0;
    for (size_t k = 0; k < results; k++)
        sum += natural ? (int128)slots[k] : (int128)(int64_t)slots[k];
    return sum;
}

uint64_t slots_product(const uint64_t *slots, size_t results, bool *overflow)
{
    uint64_t product = 1;
    for (size_t k = 0; k < results; k++)
        *overflow = __builtin_mul_overflow(product, slots[k], &product) || *overflow;
    return product;
}
