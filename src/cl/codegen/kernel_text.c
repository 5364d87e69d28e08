#include "cl/codegen/kernel_text.h"

#include "cl/codegen/accumulate_ordered.h"
#include "cl/codegen/filter_gate.h"
#include "cl/codegen/lanes.h"
#include "cl/codegen/literal.h"
#include "cl/codegen/template.h"

#include <string.h>

/* src/cl/kernels/NAME.cl, made into C by the build. */
extern const char kernel_chunks[], kernel_grid[], kernel_pack[];
extern const char kernel_rows_plain[], kernel_rows_gated[];
extern const char kernel_compact_chunks[], kernel_count_tiles[], kernel_compact_tiles[], kernel_fold_tiles[];

const char *const kernel_names[KERNEL_ROLE_COUNT] = {
    [KERNEL_AGGREGATE] = "aggregate",
    [KERNEL_LEVELS] = "levels",
    [KERNEL_COUNT] = "count",
    [KERNEL_WRITE] = "write",
};

const struct live_roots kernel_needs[KERNEL_ROLE_COUNT] = {
    [KERNEL_AGGREGATE] = {.filters = true, .aggregates = true},
    [KERNEL_LEVELS] = {.filters = true, .aggregates = true},
    [KERNEL_COUNT] = {.filters = true},
    [KERNEL_WRITE] = {.filters = true, .outputs = true},
};

/* The pieces of one kernel while it is put together. */
struct pieces {
    struct strbuf parameters, prologue, declare, body, fold, tail, finish, packed, free, careful, single, join, begin;
    size_t joined;         /* ulongs of local memory for each work-item */
    struct gate_text gate; /* of what walks rows in the skeletons that say $rows; */
    bool gated;            /* if it has one */
    size_t many;           /* rows under way at once there */
};

static void pieces_free(struct pieces *pieces)
{
    struct strbuf *const all[] = {&pieces->parameters, &pieces->prologue, &pieces->declare, &pieces->body,
                                  &pieces->fold,       &pieces->tail,     &pieces->finish,  &pieces->packed,
                                  &pieces->free,       &pieces->careful,  &pieces->single,  &pieces->join,
                                  &pieces->begin};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        strbuf_free(all[k]);
    gate_text_free(&pieces->gate);
}

static const char *text_of(const struct strbuf *buffer)
{
    return buffer->text ? buffer->text : "";
}

static void fill(const struct plan *plan, struct strbuf *out, const char *skeleton, enum kernel_role role,
                 const struct pieces *pieces)
{
    struct arena *arena = plan->emitter.arena;
    const char *group = arena_printf(arena, "%zu", plan->shape->group);
    struct strbuf rows = {0};
    struct part parts[] = {
        {"rows", ""},
        {"name", kernel_names[role]},
        {"group", group},
        {"tile", arena_printf(arena, "%zu", plan->shape->tile)},
        {"many", arena_printf(arena, "%zu", pieces->many)},
        {"W", arena_printf(arena, "%d", plan->shape->width)},
        {"scratch", pieces->joined == 0
                        ? ""
                        : arena_printf(arena, "    __local ulong scratch[%zu][%s];\n", pieces->joined, group)},
        {"parameters", text_of(&pieces->parameters)},
        {"prologue", text_of(&pieces->prologue)},
        {"declare", text_of(&pieces->declare)},
        {"body", text_of(&pieces->body)},
        {"fold", text_of(&pieces->fold)},
        {"tail", text_of(&pieces->tail)},
        {"finish", text_of(&pieces->finish)},
        {"packed", text_of(&pieces->packed)},
        {"free", text_of(&pieces->free)},
        {"careful", text_of(&pieces->careful)},
        {"single", text_of(&pieces->single)},
        {"begin", text_of(&pieces->begin)},
        {"join", text_of(&pieces->join)},
        {"fetched", text_of(&pieces->gate.fetched)},
        {"fetch", text_of(&pieces->gate.fetch)},
        {"condition", text_of(&pieces->gate.condition)},
        {"more", text_of(&pieces->gate.more)},
        {"rest", text_of(&pieces->gate.rest)},
        {NULL, NULL},
    };
    template_expand(&rows, pieces->gated ? kernel_rows_gated : kernel_rows_plain, parts);
    parts[0].text = text_of(&rows);
    template_expand(out, skeleton, parts);
    strbuf_putc(out, '\n');
    strbuf_free(&rows);
}

/* What every kernel begins and ends with. */
static void frame(const struct plan *plan, struct pieces *pieces)
{
    int width = plan->shape->width;

    input_access_parameters(&plan->emitter, &pieces->parameters);
    literal_parameters(&plan->emitter, &pieces->parameters);
    for (size_t k = 0; k < plan->first.function_count; k++)
        literal_parameters(&plan->first.functions[k].emitter, &pieces->parameters);
    input_access_prologue(&plan->emitter, &pieces->prologue);
    if (!plan->emitter.checks)
        return;
    strbuf_puts(&pieces->declare, "    int err1 = 0;\n");
    if (width > 1) {
        strbuf_printf(&pieces->declare, "    int%d err%d = (int%d)0;\n", width, width, width);
        strbuf_printf(&pieces->fold, "    err1 |= any(err%d) ? -1 : 0;\n", width);
    }
    strbuf_puts(&pieces->finish, "    if (err1)\n        atomic_or(flag, 1);\n");
}

static void compute(const struct plan *plan, struct strbuf *out, int width, struct live_roots needs)
{
    emit_body(&plan->emitter, out, width, needs);
    if (needs.filters && plan->emitter.task->filter_count > 0)
        emit_keep(&plan->emitter, out, width);
}

bool plan_in_tiles(const struct plan *plan, enum kernel_role role)
{
    bool filters = plan->emitter.task->filter_count > 0;

    return !plan->shape->chunks && (role == KERNEL_COUNT || (role == KERNEL_WRITE && filters) ||
                                    (role == KERNEL_AGGREGATE && plan->first.function_count > 0));
}

/* From this many operations on, several rows at once take more registers than there are. */
enum { LONG_CODE = 64 };

static bool is_long(const struct plan *plan)
{
    return plan->emitter.operations > LONG_CODE;
}

/* The gate of a kernel that has one. Its text is twice as long, so long code goes without, and so does what would take
 * too many registers for as many rows at once as the skeleton wants. */
static bool find_gate(const struct plan *plan, enum kernel_role role, struct arena *arena, struct gate *gate)
{
    bool in_tiles = plan_in_tiles(plan, role);
    struct live_roots needs = role == KERNEL_WRITE ? (struct live_roots){.filters = true} : kernel_needs[role];

    if (plan->shape->chunks || is_long(plan) || (in_tiles && role == KERNEL_AGGREGATE))
        return false;
    return gate_find(&plan->emitter, needs, arena, gate) &&
           (!in_tiles || gate_many(&plan->emitter, gate, plan->shape->tile) == plan->shape->tile);
}

size_t plan_row_bytes(const struct plan *plan, enum kernel_role role, struct arena *arena)
{
    struct gate gate;

    if (find_gate(plan, role, arena, &gate))
        return gate_row_bytes(&plan->emitter, &gate, arena);
    if (role == KERNEL_WRITE && !plan->shape->chunks)
        return emit_row_bytes(&plan->emitter, (struct live_roots){.filters = true}, arena);
    return emit_row_bytes(&plan->emitter, kernel_needs[role], arena);
}

/* How many rows are under way at once where skeletons say $rows, and what is done for them behind a gate. */
static void row_loop_rows(const struct plan *plan, struct pieces *pieces, enum kernel_role role)
{
    const struct emitter *emitter = &plan->emitter;
    const struct kernel_config *shape = plan->shape;
    bool in_tiles = plan_in_tiles(plan, role);
    struct gate gate;

    pieces->gated = find_gate(plan, role, emitter->arena, &gate);
    if (in_tiles)
        pieces->many = shape->tile;
    else if (pieces->gated)
        pieces->many = gate_many(emitter, &gate, shape->gated);
    else
        pieces->many = is_long(plan) ? 1 : shape->unroll;
    if (pieces->gated)
        gate_emit(emitter, &gate, pieces->many, &pieces->gate);
}

/* A kernel that ends in slots. */
static void reduce(const struct plan *plan, struct strbuf *out, enum kernel_role role,
                   const struct accumulators *accumulators)
{
    struct pieces pieces = {0};
    struct live_roots needs = kernel_needs[role];
    int width = plan->shape->width;

    frame(plan, &pieces);
    accumulators_parameters(accumulators, &pieces.parameters);
    strbuf_puts(&pieces.parameters, "    __global ulong *slots,\n");
    accumulators_declare(accumulators, &pieces.declare, 1);
    compute(plan, &pieces.tail, 1, needs);
    accumulators_step(accumulators, &plan->emitter, &pieces.tail, 1);
    row_loop_rows(plan, &pieces, role);
    if (pieces.gated) {
        emit_keep(&plan->emitter, &pieces.gate.rest, 1);
        accumulators_step(accumulators, &plan->emitter, &pieces.gate.rest, 1);
    }
    if (width > 1) {
        accumulators_declare(accumulators, &pieces.declare, width);
        compute(plan, &pieces.body, width, needs);
        accumulators_step(accumulators, &plan->emitter, &pieces.body, width);
        accumulators_fold(accumulators, &plan->emitter, &pieces.fold, width);
    }
    accumulators_finish(accumulators, &plan->emitter, &pieces.finish, plan->shape);
    if (!plan->shape->chunks) {
        pieces.joined = accumulators_joined(accumulators);
        ordered_declare(accumulators, &pieces.declare, plan->shape->group);
        ordered_begin(accumulators, &pieces.begin);
        ordered_join(accumulators, plan->emitter.arena, &pieces.join);
    }
    const char *skeleton = plan->shape->chunks         ? kernel_chunks
                           : role == KERNEL_COUNT      ? kernel_count_tiles
                           : plan_in_tiles(plan, role) ? kernel_fold_tiles
                                                       : kernel_grid;
    fill(plan, out, skeleton, role, &pieces);
    pieces_free(&pieces);
}

/* Output k as the type it is stored as. */
static const char *stored(const struct plan *plan, size_t k, int width)
{
    const struct emitter *emitter = &plan->emitter;
    enum lane lane = emitter->task->code.at[emitter->task->outputs[k].value].lane;
    const char *type = type_table[plan->stores[k]].cl;

    if (lane == LANE_BOOL)
        lane = LANE_I32;
    const char *text = emit_output(emitter, k, lane, width);
    if (strcmp(type, lane_cl_type(lane)) == 0)
        return text;
    return arena_printf(emitter->arena, "convert_%s%s(%s)", type, width_suffix(width), text);
}

static const char lane_letters[] = "0123456789abcdef";

/* For pack.cl, which knows signed integers of each size. */
static void put_packed(struct strbuf *out, size_t k, enum type store)
{
    static const char *const by_size[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long"};
    const char *type = by_size[type_table[store].size];

    strbuf_printf(out, "                put_%s((__global %s *)(out%zu + at), as_%s16(o%zu), bits);\n", type, type, k,
                  type, k);
}

/* The lanes of a vector of outputs one by one. */
static void put_lanes(const struct plan *plan, struct pieces *pieces)
{
    const struct task *task = plan->emitter.task;

    for (int lane = 0; lane < plan->shape->width; lane++) {
        char letter = lane_letters[lane];
        strbuf_printf(&pieces->careful, "                if (keep.s%c) {\n", letter);
        for (size_t k = 0; k < task->output_count; k++) {
            if (!task->outputs[k].needed)
                continue;
            strbuf_printf(&pieces->free, "                out%zu[at] = o%zu.s%c;\n", k, k, letter);
            strbuf_printf(&pieces->careful, "                    out%zu[at] = o%zu.s%c;\n", k, k, letter);
        }
        strbuf_printf(&pieces->free, "                at += keep.s%c & 1;\n", letter);
        strbuf_puts(&pieces->careful, "                    ++at;\n                }\n");
    }
}

static void put_outputs(const struct plan *plan, struct pieces *pieces)
{
    const struct task *task = plan->emitter.task;
    int width = plan->shape->width;
    bool filtered = task->filter_count > 0;

    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        const char *type = type_table[plan->stores[k]].cl;
        strbuf_printf(&pieces->parameters, "    __global %s *restrict out%zu, ulong to%zu,\n", type, k, k);
        strbuf_printf(&pieces->prologue, "    out%zu += to%zu;\n", k, k);
        if (filtered)
            strbuf_printf(&pieces->single, "            out%zu[at] = %s;\n", k, stored(plan, k, 1));
        else
            strbuf_printf(&pieces->tail, "        out%zu[i] = %s;\n", k, stored(plan, k, 1));
        if (width == 1)
            continue;
        if (filtered) {
            strbuf_printf(&pieces->body, "        const %s%d o%zu = %s;\n", type, width, k, stored(plan, k, width));
            put_packed(&pieces->packed, k, plan->stores[k]);
        } else {
            strbuf_printf(&pieces->body, "        vstore%d(%s, 0, out%zu + i);\n", width, stored(plan, k, width), k);
        }
    }
    if (filtered && width > 1)
        put_lanes(plan, pieces);
}

static bool has_outputs(const struct task *task)
{
    for (size_t k = 0; k < task->output_count; k++)
        if (task->outputs[k].needed)
            return true;
    return false;
}

/* For compact_tiles.cl: a bit for each of a work-item's rows. */
static const char note_kept[] = "        kept |= (uint)(keep & 1) << j;\n";

static void write(const struct plan *plan, struct strbuf *out)
{
    struct pieces pieces = {0};
    bool filtered = plan->emitter.task->filter_count > 0;
    int width = plan->shape->width;

    frame(plan, &pieces);
    if (width > 1)
        compute(plan, &pieces.body, width, kernel_needs[KERNEL_WRITE]);
    row_loop_rows(plan, &pieces, KERNEL_WRITE);
    if (filtered && width == 1) {
        compute(plan, &pieces.tail, 1, kernel_needs[KERNEL_COUNT]);
        strbuf_puts(&pieces.tail, note_kept);
        compute(plan, &pieces.single, 1, (struct live_roots){.outputs = true});
    } else {
        compute(plan, &pieces.tail, 1, kernel_needs[KERNEL_WRITE]);
    }
    if (pieces.gated) {
        emit_keep(&plan->emitter, &pieces.gate.rest, 1);
        strbuf_puts(&pieces.gate.rest, note_kept);
    }
    put_outputs(plan, &pieces);
    const char *skeleton = plan->shape->chunks ? filtered ? kernel_compact_chunks : kernel_chunks
                           : filtered          ? kernel_compact_tiles
                                               : kernel_grid;
    fill(plan, out, skeleton, KERNEL_WRITE, &pieces);
    pieces_free(&pieces);
}

/* The plan computes what the user's functions do as well. */
static void add_functions(struct plan *plan)
{
    struct emitter *emitter = &plan->emitter;

    for (size_t k = 0; k < plan->first.function_count; k++) {
        const struct emitter *body = &plan->first.functions[k].emitter;
        emitter->checks = true; /* what they are given to raise the flag with */
        emitter->floats = emitter->floats || body->floats;
        emitter->operations += body->operations;
    }
    plan->rows = kernel_config_rows(plan->shape, emitter->operations);
}

/* What stands before the kernels. */
static void begin(const struct plan *plan, struct strbuf *text)
{
    strbuf_puts(text, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (plan->emitter.floats)
        strbuf_puts(text, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    strbuf_putc(text, '\n');
    input_access_functions(&plan->emitter, text, plan->shape->width);
    for (size_t k = 0; k < plan->first.function_count; k++)
        function_emit(&plan->first.functions[k], text);
}

bool plan_make(struct plan *plan, const struct task *task, const struct kernel_config *shape, const enum type *inputs,
               const enum type *outputs, struct arena *arena)
{
    struct strbuf text = {0};

    *plan = (struct plan){.shape = shape, .stores = outputs};
    if (!emitter_init(&plan->emitter, task, inputs, 0, arena))
        return false;
    plan->rows = kernel_config_rows(shape, plan->emitter.operations);
    if (task->sink == SINK_AGGREGATE) {
        if (!accumulators_of(&plan->emitter, plan->rows, &plan->first, &plan->second))
            return false;
        add_functions(plan);
    }
    begin(plan, &text);
    if (task->sink == SINK_AGGREGATE) {
        plan->roles[KERNEL_AGGREGATE] = plan->first.count > 0 || plan->emitter.checks;
        plan->roles[KERNEL_LEVELS] = plan->second.count > 0;
        if (plan->roles[KERNEL_AGGREGATE])
            reduce(plan, &text, KERNEL_AGGREGATE, &plan->first);
        if (plan->roles[KERNEL_LEVELS])
            reduce(plan, &text, KERNEL_LEVELS, &plan->second);
    } else {
        plan->roles[KERNEL_COUNT] = task->filter_count > 0;
        plan->roles[KERNEL_WRITE] = has_outputs(task);
        if (plan->roles[KERNEL_COUNT]) {
            plan->kept = accumulators_count(arena);
            reduce(plan, &text, KERNEL_COUNT, &plan->kept);
        }
        if (plan->roles[KERNEL_WRITE]) {
            if (task->filter_count > 0 && shape->chunks)
                strbuf_puts(&text, kernel_pack);
            write(plan, &text);
        }
    }
    plan->text = arena_text(arena, text.text, text.length);
    strbuf_free(&text);
    return true;
}
