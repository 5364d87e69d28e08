#include "cl/codegen/accumulate.h"

#include "cl/codegen/template.h"

static const struct function *function_of(const struct accumulators *accumulators, size_t k)
{
    const struct function *function = accumulators->functions;
    while (function->number != accumulators->at[k].aggregate)
        function++;
    return function;
}

/* Appends statements on accumulator $k and its count $n; $call combines x and y and sets what `err` points to. */
static void emit_combine(const struct accumulators *accumulators, size_t k, struct arena *arena, struct strbuf *out,
                         const char *template, const char *x, const char *y, const char *err)
{
    const struct hole holes[] = {
        {"x", x},
        {"y", y},
        {"call", function_call(function_of(accumulators, k), x, y, err)},
        {"k", arena_printf(arena, "%zu", k)},
        {"n", arena_printf(arena, "%zu", k + 1)},
        {NULL, NULL},
    };
    template_expand(out, template, holes);
}

/* The step of a kept row. */
static const char row_step[] = "            if (a$n)\n"
                               "                $x = $call;\n"
                               "            else\n"
                               "                $x = $y;\n"
                               "            ++a$n;\n";

void ordered_step(const struct accumulators *accumulators, const struct emitter *emitter, size_t k, struct strbuf *out)
{
    struct arena *arena = emitter->arena;
    const bool filtered = emitter->task->filter_count > 0;
    const char *x = arena_printf(arena, "a%zu", k);
    const char *v = emit_aggregate(emitter, accumulators->at[k].aggregate, LANE_I64);
    strbuf_puts(out, filtered ? "        if (keep) {\n" : "        {\n");
    strbuf_printf(out, "            const long y = %s;\n", v);
    emit_combine(accumulators, k, arena, out, row_step, x, "y", "&err1");
    strbuf_puts(out, "        }\n");
}

void ordered_combine(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        if (accumulators->at[k].kind != ACC_FOLD)
            continue;
        emit_combine(accumulators, k, arena, out,
                     "        values$k[lane] = a$k;\n"
                     "        counts$k[lane] = a$n;\n"
                     "        for (uint step = 1; step < get_local_size(0); step <<= 1) {\n"
                     "            barrier(CLK_LOCAL_MEM_FENCE);\n"
                     "            if ((lane & (2 * step - 1)) == 0 && counts$k[lane + step] > 0) {\n"
                     "                const long x = values$k[lane], y = values$k[lane + step];\n"
                     "                if (counts$k[lane] > 0)\n"
                     "                    values$k[lane] = $call;\n"
                     "                else\n"
                     "                    values$k[lane] = y;\n"
                     "                counts$k[lane] += counts$k[lane + step];\n"
                     "            }\n"
                     "        }\n",
                     "x", "y", "&err1");
        emit_combine(accumulators, k, arena, out,
                     "        if (lane == 0 && counts$k[0] > 0) {\n"
                     "            const long y = values$k[0];\n"
                     "            if (r$n)\n"
                     "                $x = $call;\n"
                     "            else\n"
                     "                $x = y;\n"
                     "            r$n += counts$k[0];\n"
                     "        }\n"
                     "        barrier(CLK_LOCAL_MEM_FENCE);\n",
                     arena_printf(arena, "r%zu", k), "y", "&err1");
    }
}

void ordered_begin(const struct accumulators *accumulators, struct strbuf *out)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        if (accumulators->at[k].kind == ACC_FOLD)
            strbuf_printf(out, "        a%zu = 0;\n        a%zu = 0;\n", k, k + 1);
    }
}

void ordered_declare(const struct accumulators *accumulators, struct strbuf *out, size_t group)
{
    for (size_t k = 0; k < accumulators->count; k++) {
        if (accumulators->at[k].kind == ACC_FOLD)
            strbuf_printf(out,
                          "    __local long values%zu[%zu];\n"
                          "    __local uint counts%zu[%zu];\n"
                          "    long r%zu = 0;\n"
                          "    uint r%zu = 0;\n",
                          k, group, k, group, k, k + 1);
    }
}
