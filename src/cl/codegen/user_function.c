#include "cl/codegen/user_function.h"

#include "cl/codegen/literal.h"
#include "cl/codegen/template.h"

#include "engine/backend/user_reduce.h"

bool function_init(struct function *function, const struct user_reduce *reducer, size_t number, size_t first_literal,
                   struct arena *arena)
{
    enum type *stores = arena_array(arena, reducer->body->input_count + 2, sizeof *stores);
    if (reducer->kind == KIND_FLOAT)
        return false;
    user_reduce_prepare(reducer);
    stores[0] = stores[1] = type_of_kind(reducer->kind);
    function->number = number;
    if (!emitter_init(&function->emitter, reducer->body, stores, first_literal, arena))
        return false;
    function->emitter.function = true;
    for (size_t k = 0; k < function->emitter.column_count; k++) {
        if (function->emitter.inputs[k] > 1)
            return false;
    }
    return true;
}

void function_emit(const struct function *function, struct strbuf *out)
{
    const struct emitter *emitter = &function->emitter;
    const enum lane lane = emitter->task->code.at[emitter->task->outputs[0].value].lane;
    strbuf_printf(out, "long fold%zu(long x0, long x1,\n", function->number);
    literal_parameters(emitter, out);
    strbuf_puts(out, "    int *err)\n{\n");
    if (emitter->checks)
        strbuf_puts(out, "        int err1 = 0;\n");
    emit_body(emitter, out, (struct live_roots){.outputs = true});
    if (emitter->checks)
        strbuf_puts(out, "        *err |= err1;\n");
    strbuf_printf(out, "        return %s;\n}\n\n", emit_output(emitter, 0, lane == LANE_BOOL ? LANE_I32 : LANE_I64));
}

const char *function_call(const struct function *function, const char *left, const char *right, const char *err)
{
    const struct emitter *emitter = &function->emitter;
    struct strbuf out = {0};
    strbuf_printf(&out, "fold%zu(%s, %s", function->number, left, right);
    for (size_t k = 0; k < emitter->literal_count; k++)
        strbuf_printf(&out, ", c%zu", emitter->first_literal + k);
    strbuf_printf(&out, ", %s)", err);
    return text_in_arena(emitter->arena, &out);
}
