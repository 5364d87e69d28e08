#include "cl/codegen/emit_input.h"

#include "cl/codegen/emit_loop.h"
#include "cl/codegen/lanes.h"

#include <inttypes.h>
#include <string.h>

/* Converts a stored element to the lane of its value. Scalars are cast: of (x << 1) < x, with x = convert_long(a uint),
 * NVIDIA's assembler (PTX 9.0, driver 580) makes a comparison of the sign-extended x. */
static void emit_element(const struct emitter *emitter, struct strbuf *out, value v, const char *element, int width)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const enum type store = emitter->stores[instr->integer];
    const char *type = lane_cl_type(instr->lane), *suffix = width_suffix(width);
    strbuf_printf(out, "        const %s%s v%" PRId32 " = ", type, suffix, emitter->numbers[v]);
    if (instr->lane == LANE_BOOL)
        strbuf_printf(out, "%s(convert_int%s(%s) != (int%s)0);\n", width == 1 ? "-" : "", suffix, element, suffix);
    else if (strcmp(type_table[store].cl, type) == 0)
        strbuf_printf(out, "%s;\n", element);
    else if (width == 1)
        strbuf_printf(out, "(%s)%s;\n", type, element);
    else
        strbuf_printf(out, "convert_%s%s(%s);\n", type, suffix, element);
}

const char *emit_loaded(const struct emitter *emitter, value v)
{
    return arena_printf(emitter->arena, "x%" PRId32 "[j]", emitter->numbers[v]);
}

void emit_input(const struct emitter *emitter, struct strbuf *out, value v, enum input_source from, int width)
{
    struct arena *arena = emitter->arena;
    const int64_t input = emitter->task->code.at[v].integer;
    const char *element = emitter->function     ? arena_printf(arena, "x%" PRId64, input)
                          : from == FROM_LOADED ? emit_loaded(emitter, v)
                                                : input_access_element(emitter, v, "", width);
    emit_element(emitter, out, v, element, width);
}

void emit_gather(const struct emitter *emitter, struct strbuf *out, value v, int width)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const char *suffix = width_suffix(width);
    const char *position = arena_printf(emitter->arena, "p%" PRId32, emitter->numbers[v]);
    const char *beyond = arena_printf(emitter->arena, "as_ulong%s(%s) >= (ulong%s)high%" PRId32, suffix, position,
                                      suffix, emitter->columns[instr->integer]);
    strbuf_printf(out, "        const long%s %s = %s;\n", suffix, position,
                  emit_argument(emitter, v, 0, LANE_I64, width));
    emit_element(emitter, out, v, input_access_element(emitter, v, position, width), width);
    if (instr->checked)
        strbuf_printf(out, "        const int%s f%" PRId32 " = %s;\n", suffix, emitter->numbers[v],
                      lane_mask(emitter->arena, beyond, LANE_I64, width));
}

void emit_row(const struct emitter *emitter, struct strbuf *out, value v, int width)
{
    const char *type = lane_cl_type(emitter->task->code.at[v].lane), *suffix = width_suffix(width);
    strbuf_printf(out, "        const %s%s v%" PRId32 " = (%s%s)(%s)(row + (long)i)", type, suffix, emitter->numbers[v],
                  type, suffix, type);
    if (width > 1) {
        strbuf_printf(out, " + (%s%s)(0", type, suffix);
        for (int k = 1; k < width; k++)
            strbuf_printf(out, ", %d", k);
        strbuf_puts(out, ")");
    }
    strbuf_puts(out, ";\n");
}

void emit_rows(const struct emitter *emitter, struct strbuf *out, value v, int width)
{
    const char *type = lane_cl_type(emitter->task->code.at[v].lane), *suffix = width_suffix(width);
    strbuf_printf(out, "        const %s%s v%" PRId32 " = (%s%s)(%s)total;\n", type, suffix, emitter->numbers[v], type,
                  suffix, type);
}
