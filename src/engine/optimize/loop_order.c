/* The order of instructions in tasks with loops: everything after what it reads, also the conditions that guard_place
 * has added to a loop's index. */
#include "engine/optimize/passes.h"
#include "engine/plan/code_loop.h"

static value mapped(const value *map, value v)
{
    return v == NO_VALUE ? NO_VALUE : map[v];
}

void task_remap(struct task *task, const value *map, struct arena *arena)
{
    const size_t filters = task->filter_count, outputs = task->output_count, aggregates = task->aggregate_count;
    task->filters = arena_grow(arena, task->filters, filters, filters, sizeof *task->filters);
    task->outputs = arena_grow(arena, task->outputs, outputs, outputs, sizeof *task->outputs);
    task->aggregates = arena_grow(arena, task->aggregates, aggregates, aggregates, sizeof *task->aggregates);
    for (size_t i = 0; i < filters; i++)
        task->filters[i].keep = mapped(map, task->filters[i].keep);
    for (size_t i = 0; i < outputs; i++)
        task->outputs[i].value = mapped(map, task->outputs[i].value);
    for (size_t i = 0; i < aggregates; i++) {
        struct aggregate *aggregate = &task->aggregates[i];
        aggregate->value = mapped(map, aggregate->value);
        if (aggregate_table[aggregate->kind].operands) {
            aggregate->other = mapped(map, aggregate->other);
            aggregate->where = mapped(map, aggregate->where);
        }
    }
}

struct order {
    const struct code *from;
    struct code to;
    const uint32_t *levels;
    value *map;
    value *stack;
    size_t depth;
    bool *body;
};

static void push(struct order *order, value v)
{
    if (v != NO_VALUE && order->map[v] == NO_VALUE)
        order->stack[order->depth++] = v;
}

/* Before a loop, also the conditions under which failures in a round count. */
static void push_guards(struct order *order, value loop)
{
    loop_mark_body(order->from, loop, order->levels, order->body);
    for (value v = 0; v < loop; v++) {
        if (order->body[v] && order->from->at[v].checked)
            push(order, order->from->at[v].guard);
    }
}

/* Places what `root` is computed from, and then itself. */
static void place(struct order *order, value root)
{
    const struct code *from = order->from;
    push(order, root);
    while (order->depth > 0) {
        const value v = order->stack[order->depth - 1];
        const struct instr *instr = &from->at[v];
        const size_t before = order->depth;
        for (int i = op_table[instr->op].arity - 1; i >= 0 && order->map[v] == NO_VALUE; i--)
            push(order, instr->args[i]);
        if (order->depth == before && instr->op == OP_LOOP && order->map[v] == NO_VALUE)
            push_guards(order, v);
        if (order->depth > before)
            continue;
        order->depth--;
        if (order->map[v] != NO_VALUE)
            continue;
        struct instr moved = *instr;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            moved.args[i] = order->map[instr->args[i]];
        order->map[v] = order->to.count;
        order->to.at[order->to.count++] = moved;
    }
}

void loops_order(struct task *task)
{
    const struct code *from = &task->code;
    struct arena *arena = from->arena;
    size_t loops = 0;
    for (value v = 0; v < from->count; v++)
        loops += from->at[v].op == OP_LOOP;
    if (loops == 0)
        return;
    struct order order = {.from = from, .to = *from, .levels = code_levels(from, arena), .map = code_map(arena, from)};
    order.stack = arena_array(arena, (4 + loops) * (size_t)from->count, sizeof *order.stack);
    order.body = arena_array(arena, (size_t)from->count, sizeof *order.body);
    order.to.at = arena_array(arena, (size_t)from->capacity, sizeof *order.to.at);
    order.to.count = 0;
    for (value v = 0; v < from->count; v++)
        place(&order, v);
    for (value v = 0; v < order.to.count; v++)
        order.to.at[v].guard = mapped(order.map, order.to.at[v].guard);
    code_rehash(&order.to);
    task->code = order.to;
    task_remap(task, order.map, arena);
}
