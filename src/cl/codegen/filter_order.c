#include "cl/codegen/filter_order.h"

#include <inttypes.h>
#include <string.h>

/* Estimates how selective a condition is from its form alone: other literals must use the same program. */
static int rank(const struct code *code, value condition)
{
    const struct instr *instr = &code->at[condition];
    if (instr->op != OP_EQ)
        return 0;
    const bool of_column = code->at[instr->args[0]].op == OP_INPUT || code->at[instr->args[1]].op == OP_INPUT;
    return of_column ? 2 : 1;
}

/* Moves the first condition of the highest rank to the front. */
static void move_rarest_first(const struct code *code, value *conditions, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        if (rank(code, conditions[k]) <= rank(code, conditions[0]))
            continue;
        const value better = conditions[k];
        memmove(conditions + 1, conditions, k * sizeof *conditions);
        conditions[0] = better;
    }
}

static bool *new_marks(const struct code *code, struct arena *arena)
{
    return arena_array(arena, (size_t)code->count + 1, sizeof(bool));
}

/* Whether some marked value is a gather. */
static bool gathers(const struct code *code, const bool *marks)
{
    for (value v = 0; v < code->count; v++) {
        if (marks[v] && code->at[v].op == OP_GATHER)
            return true;
    }
    return false;
}

bool leading_filter_find(const struct emitter *emitter, struct live_roots needs, struct arena *arena,
                         struct leading_filter *filter)
{
    const struct task *task = emitter->task;
    const struct code *code = &task->code;
    size_t count;
    value *conditions = task_conditions(task, arena, &count);
    bool *all = new_marks(code, arena), *before = new_marks(code, arena), *next = new_marks(code, arena);
    live_roots_mark(task, needs, all);
    if (!needs.filters)
        return false;
    if (!code_any_checked(code, all))
        move_rarest_first(code, conditions, count);
    *filter = (struct leading_filter){.all = all, .before = before, .conditions = conditions};
    for (size_t k = 0; k < count && !gathers(code, before); k++) {
        before[conditions[k]] = true;
        live_roots_close(code, before);
        memcpy(next, before, (size_t)code->count * sizeof *next);
        if (k + 1 < count)
            next[conditions[k + 1]] = true;
        live_roots_close(code, next);
        filter->count = k + 1;
        if (emit_bytes_read(emitter, k + 1 < count ? next : all, before, arena) > 0)
            return !gathers(code, before);
    }
    return false;
}

size_t leading_filter_rows(const struct emitter *emitter, const struct leading_filter *filter, size_t most)
{
    enum { MOST_BYTES = 160 /* of a work-item's registers */ };
    const struct code *code = &emitter->task->code;
    size_t bytes = 0;
    for (value v = 0; v < code->count; v++) {
        if (filter->all[v] && code->at[v].op == OP_INPUT)
            bytes += type_table[emitter->stores[code->at[v].integer]].size;
    }
    while (most > 1 && most * bytes > MOST_BYTES)
        most /= 2;
    return most;
}

void leading_filter_emit(const struct emitter *emitter, const struct leading_filter *filter, size_t rows,
                         struct leading_filter_text *text)
{
    const struct code *code = &emitter->task->code;
    for (value v = 0; v < code->count; v++) {
        if (!filter->all[v] || code->at[v].op != OP_INPUT)
            continue;
        const char *type = type_table[emitter->stores[code->at[v].integer]].cl;
        const char *element = input_access_element(emitter, v, "");
        strbuf_printf(&text->loaded, "        %s x%" PRId32 "[%zu];\n", type, emitter->numbers[v], rows);
        if (filter->before[v])
            strbuf_printf(&text->load, "            %s = %s;\n", emit_loaded(emitter, v), element);
        else
            strbuf_printf(&text->load_rest, "            %s = passed[j] ? %s : (%s)0;\n", emit_loaded(emitter, v),
                          element, type);
    }
    emit_values(emitter, &text->condition, filter->before, FROM_LOADED);
    strbuf_puts(&text->condition, "            passed[j] = ");
    emit_conditions(emitter, &text->condition, filter->conditions, filter->count);
    strbuf_puts(&text->condition, ";\n");
    emit_values(emitter, &text->passing, filter->all, FROM_LOADED);
}

void leading_filter_text_free(struct leading_filter_text *text)
{
    strbuf_free(&text->loaded);
    strbuf_free(&text->load);
    strbuf_free(&text->condition);
    strbuf_free(&text->load_rest);
    strbuf_free(&text->passing);
}

size_t leading_filter_row_bytes(const struct emitter *emitter, const struct leading_filter *filter, struct arena *arena)
{
    return emit_bytes_read(emitter, filter->before, new_marks(&emitter->task->code, arena), arena);
}
