#include "cl/codegen/round_group_text.h"

#include "cl/codegen/round_text.h"
#include "cl/codegen/template.h"

extern const char kernel_round_group[], kernel_join_terms[], kernel_float_sum[];

const char *round_group_text(const struct round_group *group, const struct kernel_config *config, struct arena *arena)
{
    const struct task *task = group->task;
    struct strbuf inputs = {0}, choose = {0}, outputs = {0}, write = {0}, text = {0};
    strbuf_puts(&choose, group->value_count > 0 ? "in0 + from0;\n" : "(__global const double *)slots;\n");
    for (size_t k = 0; k < group->value_count; k++) {
        strbuf_printf(&inputs, "    __global const double *restrict in%zu, ulong from%zu,\n", k, k);
        if (k > 0)
            strbuf_printf(&choose, "    if (column == %zu)\n        in = in%zu + from%zu;\n", k, k, k);
    }
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        const char *type = type_table[group->outputs[k]].cl;
        const bool counts = k > 0 && task->aggregates[k - 1].kind == AGG_COUNT;
        strbuf_printf(&outputs, "    __global %s *out%zu, ulong to%zu,\n", type, k, k);
        strbuf_printf(&write, "    if (column == %zu)\n        out%zu[to%zu + key] = %s;\n",
                      k == 0 || counts ? 0 : group->value_of[k - 1], k, k,
                      k == 0                                     ? arena_printf(arena, "(%s)(low + key)", type)
                      : counts                                   ? arena_printf(arena, "(%s)count", type)
                      : task->aggregates[k - 1].kind == AGG_MEAN ? "sum / (double)count + 0.0"
                                                                 : "sum");
    }
    const struct hole holes[] = {
        {"group", arena_printf(arena, "%zu", config->group)},
        {"floats", "1"},
        {"key", type_table[group->key].cl},
        {"columns", arena_printf(arena, "%zu", group->value_count > 0 ? group->value_count : 1)},
        {"begin", round_begin},
        {"inputs", text_in_arena(arena, &inputs)},
        {"choose", text_in_arena(arena, &choose)},
        {"outputs", text_in_arena(arena, &outputs)},
        {"write", text_in_arena(arena, &write)},
        {NULL, NULL},
    };
    strbuf_puts(&text, "#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n");
    template_expand(&text, kernel_float_sum, holes);
    template_expand(&text, kernel_join_terms, holes);
    strbuf_puts(&text, "\n\n");
    template_expand(&text, kernel_round_group, holes);
    return text_in_arena(arena, &text);
}
