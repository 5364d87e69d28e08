#include "cl/codegen/input_access.h"

#include "cl/codegen/emit.h"
#include "cl/codegen/template.h"

#include <inttypes.h>

void input_access_offsets(const struct emitter *emitter, size_t input, int64_t begin, int64_t end, int64_t count,
                          int64_t *least, int64_t *most)
{
    *least = *most = 0;
    for (size_t k = 0; k < emitter->neighbour_count; k++) {
        const struct instr *instr = &emitter->task->code.at[emitter->neighbours[k]];
        const bool in_range = begin + instr->offset < count && end + instr->offset > 0;
        if (instr->integer != (int64_t)input || !in_range)
            continue;
        *least = instr->offset < *least ? instr->offset : *least;
        *most = instr->offset > *most ? instr->offset : *most;
    }
}

/* Elements out of bounds read as 0: kernels compute them even where they are not used. */
static const char neighbour_text[] = "$T neighbour_$T(__global const $T *in, long at, long low, long high)\n"
                                     "{\n"
                                     "    return at >= low && at < high ? in[at] : ($T)0;\n"
                                     "}\n\n";

static const char gather_text[] = "$T gather_$T(__global const $T *in, long at, ulong high)\n"
                                  "{\n"
                                  "    return as_ulong(at) < high ? in[at] : ($T)0;\n"
                                  "}\n\n";

void input_access_functions(const struct emitter *emitter, struct strbuf *out, struct access_functions *functions)
{
    for (size_t k = 0; k < emitter->column_count; k++) {
        const enum input_access access = emitter->access[k];
        enum type store = emitter->stores[emitter->inputs[k]];
        if (store == TYPE_BOOL) /* both are uchar */
            store = TYPE_U8;
        if (access == ACCESS_ROW || functions->done[access][store])
            continue;
        functions->done[access][store] = true;
        const char *type = type_table[store].cl;
        const struct hole holes[] = {{"T", type}, {NULL, NULL}};
        template_expand(out, access == ACCESS_NEIGHBOURS ? neighbour_text : gather_text, holes);
    }
}

void input_access_parameters(const struct emitter *emitter, struct strbuf *out)
{
    for (size_t k = 0; k < emitter->column_count; k++) {
        const enum type store = emitter->stores[emitter->inputs[k]];
        strbuf_printf(out, "    __global const %s *%sin%zu, ulong from%zu,\n", type_table[store].cl,
                      emitter->aliased ? "" : "restrict ", k, k);
        if (emitter->access[k] == ACCESS_NEIGHBOURS)
            strbuf_printf(out, "    long low%zu, long high%zu,\n", k, k);
        else if (emitter->access[k] == ACCESS_ANY)
            strbuf_printf(out, "    ulong high%zu,\n", k);
    }
    for (size_t k = 0; k < emitter->neighbour_count; k++)
        strbuf_printf(out, "    long d%zu,\n", k);
    if (emitter->total)
        strbuf_puts(out, "    long total,\n");
}

void input_access_prologue(const struct emitter *emitter, struct strbuf *out)
{
    for (size_t k = 0; k < emitter->column_count; k++)
        strbuf_printf(out, "    in%zu += from%zu;\n", k, k);
}

const char *input_access_element(const struct emitter *emitter, value v, const char *position)
{
    const struct instr *instr = &emitter->task->code.at[v];
    struct arena *arena = emitter->arena;
    const char *type = type_table[emitter->stores[instr->integer]].cl;
    const int32_t column = emitter->columns[instr->integer];
    if (instr->op == OP_GATHER)
        return arena_printf(arena, "gather_%s(in%" PRId32 ", %s, high%" PRId32 ")", type, column, position, column);
    if (instr->offset != 0)
        return arena_printf(arena,
                            "neighbour_%s(in%" PRId32 ", (long)i + d%" PRId32 ", low%" PRId32 ", high%" PRId32 ")",
                            type, column, emitter->operands[v][0], column, column);
    return arena_printf(arena, "in%" PRId32 "[i]", column);
}
