#include "cl/codegen/literal.h"

#include "cl/codegen/emit.h"

union literal_argument literal_argument(const struct emitter *emitter, const struct literal *literal, size_t *bytes)
{
    const struct instr *instr = &emitter->task->code.at[literal->constant];
    union literal_argument argument = {.wide = instr->integer};
    if (literal->divisor && literal->lane == LANE_I64) {
        *bytes = sizeof argument.long_divisor;
        argument.long_divisor = long_divisor_of(instr->integer);
        return argument;
    }
    if (literal->divisor) {
        *bytes = sizeof argument.divisor;
        argument.divisor = divisor_of((int32_t)instr->integer);
        return argument;
    }
    switch (literal->lane) {
    case LANE_BOOL:
        *bytes = sizeof argument.narrow;
        argument.narrow = instr->integer ? -1 : 0;
        break;
    case LANE_I32:
        *bytes = sizeof argument.narrow;
        argument.narrow = (int32_t)instr->integer;
        break;
    case LANE_I64:
        *bytes = sizeof argument.wide;
        break;
    case LANE_F64:
        *bytes = sizeof argument.number;
        argument.number = instr->number;
        break;
    }
    return argument;
}

void literal_parameters(const struct emitter *emitter, struct strbuf *out)
{
    for (size_t k = 0; k < emitter->literal_count; k++) {
        const struct literal *literal = &emitter->literals[k];
        const char *type = !literal->divisor           ? lane_cl_type(literal->lane)
                           : literal->lane == LANE_I64 ? "ulong4"
                                                       : "uint4";
        strbuf_printf(out, "    %s c%zu,\n", type, emitter->first_literal + k);
    }
}
