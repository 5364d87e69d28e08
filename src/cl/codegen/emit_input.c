#include "cl/codegen/emit.h"

#include <inttypes.h>
#include <string.h>

/* Converts a stored element to the lane of its value. It is cast: of (x << 1) < x, with x = convert_long(a uint),
 * NVIDIA's assembler (PTX 9.0, driver 580) makes a comparison of the sign-extended x. */
static void emit_element(const struct emitter *emitter, struct strbuf *out, value v, const char *element)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const enum type store = emitter->stores[instr->integer];
    const char *type = lane_cl_type(instr->lane);
    strbuf_printf(out, "        const %s v%" PRId32 " = ", type, emitter->numbers[v]);
    if (instr->lane == LANE_BOOL)
        strbuf_printf(out, "-(convert_int(%s) != 0);\n", element);
    else if (strcmp(type_table[store].cl, type) == 0)
        strbuf_printf(out, "%s;\n", element);
    else
        strbuf_printf(out, "(%s)%s;\n", type, element);
}

const char *emit_loaded(const struct emitter *emitter, value v)
{
    return arena_printf(emitter->arena, "x%" PRId32 "[j]", emitter->numbers[v]);
}

void emit_input(const struct emitter *emitter, struct strbuf *out, value v, enum input_source from)
{
    struct arena *arena = emitter->arena;
    const int64_t input = emitter->task->code.at[v].integer;
    const char *element = emitter->function     ? arena_printf(arena, "x%" PRId64, input)
                          : from == FROM_LOADED ? emit_loaded(emitter, v)
                                                : input_access_element(emitter, v, "");
    emit_element(emitter, out, v, element);
}

void emit_gather(const struct emitter *emitter, struct strbuf *out, value v)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const char *position = arena_printf(emitter->arena, "p%" PRId32, emitter->numbers[v]);
    strbuf_printf(out, "        const long %s = %s;\n", position, emit_argument(emitter, v, 0, LANE_I64));
    emit_element(emitter, out, v, input_access_element(emitter, v, position));
    if (instr->checked)
        strbuf_printf(out, "        const int f%" PRId32 " = -(as_ulong(%s) >= (ulong)high%" PRId32 ");\n",
                      emitter->numbers[v], position, emitter->columns[instr->integer]);
}

void emit_row(const struct emitter *emitter, struct strbuf *out, value v)
{
    const char *type = lane_cl_type(emitter->task->code.at[v].lane);
    strbuf_printf(out, "        const %s v%" PRId32 " = (%s)(row + (long)i);\n", type, emitter->numbers[v], type);
}

void emit_rows(const struct emitter *emitter, struct strbuf *out, value v)
{
    const char *type = lane_cl_type(emitter->task->code.at[v].lane);
    strbuf_printf(out, "        const %s v%" PRId32 " = (%s)total;\n", type, emitter->numbers[v], type);
}
