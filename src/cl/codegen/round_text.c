#include "cl/codegen/round_text.h"

#include "cl/codegen/literal.h"
#include "cl/codegen/template.h"

extern const char kernel_combine[];

const char round_parameter[] = ", int round";
const char round_begin[] = "    const int ended = *flag;\n"
                           "    if (ended != 0 && ended != round)\n"
                           "        return;\n";
const char round_failed[] = "    if (err1)\n"
                            "        atomic_cmpxchg(flag, 0, round);\n";

const char *round_convert(const char *from, const char *to, struct arena *arena)
{
    return arena_printf(
        arena,
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "__kernel void convert(__global const %s *in, ulong first, __global %s *out, ulong to, ulong rows)\n"
        "{\n"
        "    for (ulong i = get_global_id(0); i < rows; i += get_global_size(0))\n"
        "        out[to + i] = (%s)in[first + i];\n"
        "}\n",
        from, to, to);
}

void round_stop(const struct kernel_round *round, const char *condition, const char *validity, struct strbuf *out)
{
    strbuf_printf(out, "    if (%s((%s) != 0", round->before ? "!" : "", condition);
    if (validity)
        strbuf_printf(out, " && (%s) != 0", validity);
    strbuf_printf(out, "))\n        atomic_cmpxchg(flag, 0, %s);\n", round->before ? "-round" : "-round - 1");
}

/* The number of the first accumulator of an aggregate. */
static size_t first_of(const struct accumulators *accumulators, size_t aggregate)
{
    size_t k = 0;
    while (k < accumulators->count && accumulators->at[k].aggregate != aggregate)
        k++;
    return k;
}

/* The value of an aggregate, as agg_element gives it. */
static const char *element(const struct accumulators *accumulators, size_t aggregate, bool is_bool, bool is_mean,
                           struct arena *arena)
{
    const size_t k = first_of(accumulators, aggregate);
    if (k == accumulators->count)
        return "(long)rows";
    const struct accumulator *accumulator = &accumulators->at[k];
    if (accumulator->kind == ACC_HIGH_PART)
        return arena_printf(arena,
                            "(rounded_sum(as_double(slots[%zu]), as_double(slots[%zu]), as_double(slots[%zu]), "
                            "as_double(slots[%zu]), 0x1p40, &failed)%s)",
                            k, k + 1, k + 2, k + 3, is_mean ? " / (double)rows + 0.0" : "");
    if (accumulator->kind == ACC_JOINED && accumulator->lane == LANE_F64) /* adding 0.0 makes a zero positive */
        return arena_printf(arena, "(as_double(slots[%zu]) + 0.0)", k);
    if (accumulator->kind == ACC_LOW)
        return arena_printf(arena, "(long)((slots[%zu] & 0xffffffffUL) + ((slots[%zu] + (slots[%zu] >> 32)) << 32))", k,
                            k + 1, k);
    const bool bits = accumulator->kind == ACC_JOINED && aggregate_table[accumulator->join].bits;
    return arena_printf(arena, "(as_long(slots[%zu])%s)", k, bits && is_bool ? " & 1" : "");
}

/* The sum of two halves has to fit 64 bits. */
static void check_sum(const struct accumulators *accumulators, size_t aggregate, struct strbuf *out)
{
    const size_t k = first_of(accumulators, aggregate);
    if (k < accumulators->count && accumulators->at[k].kind == ACC_LOW)
        strbuf_printf(out,
                      "    { const long high = as_long(slots[%zu]) + as_long(slots[%zu] >> 32); "
                      "failed |= high != (long)(int)high; }\n",
                      k + 1, k);
}

/* The names of the columns of elements differ from those of the tail's. */
static void add_elements(const struct accumulators *accumulators, const struct kernel_round *round, struct arena *arena,
                         struct strbuf *parameters, struct strbuf *out)
{
    const struct task *task = round->elements;
    for (size_t k = 0; k < task->output_count; k++) {
        const char *type = type_table[round->stores[k]].cl;
        const bool is_bool = round->stores[k] == TYPE_BOOL;
        if (!task->outputs[k].needed)
            continue;
        strbuf_printf(parameters, "    __global %s *element%zu, ulong place%zu,\n", type, k, k);
        check_sum(accumulators, k, out);
        strbuf_printf(out, "    element%zu[place%zu] = (%s)(%s%s);\n", k, k, type,
                      element(accumulators, k, is_bool, task->aggregates[k].kind == AGG_MEAN, arena),
                      is_bool ? " != 0" : "");
    }
}

static void add_tail(const struct emitter *tail, struct strbuf *parameters, struct strbuf *out)
{
    input_access_parameters(tail, parameters);
    literal_parameters(tail, parameters);
    strbuf_puts(parameters, "    long row,\n");
    strbuf_puts(out, "    const ulong i = 0;\n");
    if (tail->checks)
        strbuf_puts(out, "    int err1 = 0;\n");
    input_access_prologue(tail, out);
    emit_body(tail, out, (struct live_roots){.outputs = true});
    if (tail->checks)
        strbuf_puts(out, "    failed |= err1;\n");
}

/* The condition as an expression; NULL: there is none. */
static const char *condition_of(const struct kernel_round *round, size_t output, struct arena *arena)
{
    return round->tail ? emit_output(round->tail, output, LANE_BOOL)
                       : arena_printf(arena, "element%zu[place%zu]", output, output);
}

void round_combine(const struct accumulators *accumulators, const struct emitter *emitter,
                   const struct kernel_round *round, const struct kernel_config *config, struct strbuf *out)
{
    struct arena *arena = emitter->arena;
    struct strbuf parameters = {0}, tail = {0}, declare = {0}, slots = {0}, finish = {0}, elements = {0}, stop = {0};
    const size_t words = accumulators_scratch_words(accumulators);
    accumulators_declare(accumulators, arena, &declare);
    accumulators_read_slots(accumulators, emitter, &slots);
    accumulators_finish(accumulators, emitter, &finish);
    add_elements(accumulators, round, arena, &parameters, &elements);
    if (round->tail)
        add_tail(round->tail, &tail, &elements);
    if (round->stops)
        round_stop(round, condition_of(round, 0, arena),
                   round->validity ? condition_of(round, round->validity, arena) : NULL, &stop);
    const struct hole holes[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"round", round_parameter},
        {"begin", round_begin},
        {"scratch",
         words == 0 ? "" : arena_printf(arena, "    __local ulong scratch[%zu][%zu];\n", words, config->group)},
        {"parameters", text_in_arena(arena, &parameters)},
        {"tail", text_in_arena(arena, &tail)},
        {"declare", text_in_arena(arena, &declare)},
        {"slots", text_in_arena(arena, &slots)},
        {"finish", text_in_arena(arena, &finish)},
        {"elements", text_in_arena(arena, &elements)},
        {"stop", text_in_arena(arena, &stop)},
        {NULL, NULL},
    };
    template_expand(out, kernel_combine, holes);
    strbuf_putc(out, '\n');
}
