#include "cl/codegen/kernel_text.h"

/* Members are such that there is no padding. */
struct key_head {
    const struct kernel_config *config;
    int64_t sink, inputs, filters, outputs, aggregates, instructions;
};

struct key_instr {
    int64_t integer, offset, lo, hi;
    double number;
    int32_t args[3];
    int32_t guard;
    int16_t op, kind, lane, flags;
};

static void add(struct strbuf *out, const void *bytes, size_t size)
{
    strbuf_add(out, bytes, size);
}

static void add_numbers(struct strbuf *out, int64_t a, int64_t b)
{
    const int64_t pair[] = {a, b};
    add(out, pair, sizeof pair);
}

static void add_instr(struct strbuf *out, const struct instr *instr)
{
    enum { EXACT = 1, FALLIBLE = 2, CHECKED = 4 };
    const struct key_instr key = {
        .integer = instr->integer,
        .offset = instr->offset,
        .lo = instr->lo,
        .hi = instr->hi,
        .number = instr->number,
        .args = {instr->args[0], instr->args[1], instr->args[2]},
        .guard = instr->guard,
        .op = (int16_t)instr->op,
        .kind = (int16_t)instr->kind,
        .lane = (int16_t)instr->lane,
        .flags = (int16_t)(EXACT * instr->exact | FALLIBLE * instr->fallible | CHECKED * instr->checked),
    };
    add(out, &key, sizeof key);
}

bool kernel_key(const struct kernel_plan *plan, struct strbuf *out)
{
    const struct emitter *emitter = &plan->emitter;
    const struct task *task = emitter->task;
    const struct key_head head = {
        .config = plan->config,
        .sink = (int64_t)task->sink,
        .inputs = (int64_t)task->input_count,
        .filters = (int64_t)task->filter_count,
        .outputs = (int64_t)task->output_count,
        .aggregates = (int64_t)task->aggregate_count,
        .instructions = task->code.count,
    };
    for (value v = 0; v < task->code.count; v++) {
        if (task->code.at[v].border)
            return false;
    }
    if (plan->round || plan->aggregates.function_count > 0)
        return false;
    add(out, &head, sizeof head);
    for (size_t k = 0; k < task->input_count; k++)
        add_numbers(out, (int64_t)emitter->stores[k], (int64_t)task->inputs[k].type);
    for (value v = 0; v < task->code.count; v++)
        add_instr(out, &task->code.at[v]);
    for (size_t k = 0; k < task->filter_count; k++)
        add_numbers(out, task->filters[k].keep, 0);
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->sink == SINK_ROWS)
            add_numbers(out, task->outputs[k].value, task->outputs[k].needed ? (int64_t)plan->stores[k] : -1);
    }
    for (size_t k = 0; k < task->aggregate_count; k++)
        add_numbers(out, (int64_t)task->aggregates[k].kind, task->aggregates[k].value);
    return true;
}
