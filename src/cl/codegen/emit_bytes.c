#include "cl/codegen/emit.h"

size_t emit_bytes_read(const struct emitter *emitter, const bool *live, const bool *before, struct arena *arena)
{
    const struct code *code = &emitter->task->code;
    bool *counted = arena_array(arena, emitter->task->input_count + 1, sizeof(bool));
    size_t bytes = 0;
    for (value v = 0; v < code->count; v++) {
        if (before[v] && code->at[v].op == OP_INPUT)
            counted[code->at[v].integer] = true;
    }
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        const bool reads =
            (instr->op == OP_GATHER && !before[v]) || (instr->op == OP_INPUT && !counted[instr->integer]);
        if (!live[v] || !reads)
            continue;
        bytes += type_table[emitter->stores[instr->integer]].size;
        counted[instr->integer] = counted[instr->integer] || instr->op == OP_INPUT;
    }
    return bytes;
}

size_t emit_row_bytes(const struct emitter *emitter, struct live_roots needs, struct arena *arena)
{
    const size_t count = (size_t)emitter->task->code.count;
    bool *live = arena_array(arena, count + 1, sizeof(bool)), *none = arena_array(arena, count + 1, sizeof(bool));
    live_roots_mark(emitter->task, needs, live);
    return emit_bytes_read(emitter, live, none, arena);
}
