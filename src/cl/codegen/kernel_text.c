#include "cl/codegen/kernel_text.h"

#include "cl/codegen/accumulate_ordered.h"
#include "cl/codegen/filter_order.h"
#include "cl/codegen/lanes.h"
#include "cl/codegen/literal.h"
#include "cl/codegen/loop_terms.h"
#include "cl/codegen/template.h"

#include <string.h>

/* The templates of src/cl/kernels, as C strings. */
extern const char kernel_rows_chunks[], kernel_rows_grid[], kernel_row_block[], kernel_fold_tiles[],
    kernel_rows_terms[], kernel_rows_together[], kernel_join_terms[], kernel_compact_chunks[], kernel_compact_tiles[],
    kernel_filter_lookback[];

/* The holes of one kernel's template while they are filled. */
struct holes {
    struct strbuf parameters, prologue, declare, vectors, lanes, row, finish, compressed, advance, bounded, write,
        tile_join, tile_begin;
    struct leading_filter_text leading;
    bool has_leading;
    size_t many;          /* rows that a work-item has in flight: row_block.cl */
    size_t scratch_words; /* ulongs of local memory for each work-item */
};

static void holes_free(struct holes *holes)
{
    struct strbuf *const all[] = {&holes->parameters, &holes->prologue, &holes->declare, &holes->vectors,
                                  &holes->lanes,      &holes->row,      &holes->finish,  &holes->compressed,
                                  &holes->advance,    &holes->bounded,  &holes->write,   &holes->tile_join,
                                  &holes->tile_begin};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        strbuf_free(all[k]);
    leading_filter_text_free(&holes->leading);
}

static const char *text_of(const struct strbuf *buffer)
{
    return buffer->text ? buffer->text : "";
}

static void fill(const struct kernel_plan *plan, struct strbuf *out, const char *template, enum kernel_role role,
                 const struct holes *holes)
{
    struct arena *arena = plan->emitter.arena;
    const char *group = arena_printf(arena, "%zu", kernel_group(plan, role));
    enum { BRIEF_CODE = 16 }; /* operations; longer code would become too long */
    const struct part parts[] = {
        {"name", kernel_names[role]},
        {"round", plan->round ? round_parameter : ""},
        {"tiles", kernel_in_tiles(plan, role) ? "1" : ""},
        {"warps", plan->config->warps ? "1" : ""},
        {"unroll", plan->emitter.operations <= BRIEF_CODE ? "    #pragma unroll\n" : "    #pragma unroll 4\n"},
        {"step", role == KERNEL_WRITE && kernel_in_one_pass(plan) ? "32" : group},
        {"rows", kernel_row_block},
        {"group", group},
        {"tile", arena_printf(arena, "%zu", plan->config->tile)},
        {"many", arena_printf(arena, "%zu", holes->many)},
        {"W", arena_printf(arena, "%d", plan->config->width)},
        {"scratch", holes->scratch_words == 0
                        ? ""
                        : arena_printf(arena, "    __local ulong scratch[%zu][%s];\n", holes->scratch_words, group)},
        {"parameters", text_of(&holes->parameters)},
        {"prologue", text_of(&holes->prologue)},
        {"declare", text_of(&holes->declare)},
        {"vectors", text_of(&holes->vectors)},
        {"lanes", text_of(&holes->lanes)},
        {"row", text_of(&holes->row)},
        {"finish", text_of(&holes->finish)},
        {"compressed", text_of(&holes->compressed)},
        {"advance", text_of(&holes->advance)},
        {"bounded", text_of(&holes->bounded)},
        {"write", text_of(&holes->write)},
        {"checks", plan->emitter.checks ? "1" : ""},
        {"floats", plan->emitter.floats ? "1" : ""},
        {"listed", plan->listed ? "1" : ""},
        {"tilebegin", text_of(&holes->tile_begin)},
        {"tilejoin", text_of(&holes->tile_join)},
        {"leading", holes->has_leading ? "1" : ""},
        {"loaded", text_of(&holes->leading.loaded)},
        {"load", text_of(&holes->leading.load)},
        {"condition", text_of(&holes->leading.condition)},
        {"loadrest", text_of(&holes->leading.load_rest)},
        {"passing", text_of(&holes->leading.passing)},
        {NULL, NULL},
    };
    template_expand(out, template, parts);
    strbuf_putc(out, '\n');
}

/* Fills the holes that all templates share. */
static void frame(const struct kernel_plan *plan, struct holes *holes)
{
    const int width = plan->config->width;
    if (plan->round)
        strbuf_puts(&holes->prologue, round_begin);
    input_access_parameters(&plan->emitter, &holes->parameters);
    literal_parameters(&plan->emitter, &holes->parameters);
    for (size_t k = 0; k < plan->aggregates.function_count; k++)
        literal_parameters(&plan->aggregates.functions[k].emitter, &holes->parameters);
    input_access_prologue(&plan->emitter, &holes->prologue);
    if (!plan->emitter.checks)
        return;
    strbuf_puts(&holes->declare, "    int err1 = 0;\n");
    if (width > 1) {
        strbuf_printf(&holes->declare, "    int%d err%d = (int%d)0;\n", width, width, width);
        strbuf_printf(&holes->lanes, "    err1 |= any(err%d) ? -1 : 0;\n", width);
    }
    strbuf_puts(&holes->finish, plan->round ? round_failed : "    if (err1)\n        atomic_or(flag, 1);\n");
}

static void compute(const struct kernel_plan *plan, struct strbuf *out, int width, struct live_roots needs)
{
    emit_body(&plan->emitter, out, width, needs);
    if (needs.filters && plan->emitter.task->filter_count > 0)
        emit_keep(&plan->emitter, out, width);
}

/* From this many operations on, several rows in flight take too many registers. */
enum { LONG_CODE = 64 };

static bool is_long(const struct kernel_plan *plan)
{
    return plan->emitter.operations > LONG_CODE;
}

/* Finds the leading filter of a kernel, if it pays: it doubles the text, so long code has none, and neither has
 * code with too many registers for the rows in flight that the template wants. */
static bool find_leading_filter(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena,
                                struct leading_filter *filter)
{
    const bool fixed = kernel_in_tiles(plan, role) && !(role == KERNEL_WRITE && kernel_in_one_pass(plan));
    struct live_roots needs = role == KERNEL_WRITE ? (struct live_roots){.filters = true} : kernel_needs[role];
    if (plan->config->chunks || is_long(plan) || (fixed && role == KERNEL_AGGREGATE))
        return false;
    return leading_filter_find(&plan->emitter, needs, arena, filter) &&
           (!fixed || leading_filter_rows(&plan->emitter, filter, plan->config->tile) == plan->config->tile);
}

/* Rows that a work-item has in flight: row_block.cl. `filter` is the leading filter, or NULL. */
static size_t rows_in_flight(const struct kernel_plan *plan, enum kernel_role role, const struct leading_filter *filter)
{
    const struct kernel_config *config = plan->config;
    if (role == KERNEL_WRITE && kernel_in_one_pass(plan))
        return is_long(plan) ? config->tile
               : filter      ? leading_filter_rows(&plan->emitter, filter, config->single_pass)
                             : config->single_pass;
    if (kernel_in_tiles(plan, role))
        return config->tile;
    if (filter)
        return leading_filter_rows(&plan->emitter, filter, config->leading);
    return is_long(plan) ? 1 : config->unroll;
}

size_t kernel_tile_rows(const struct kernel_plan *plan, enum kernel_role role)
{
    struct leading_filter filter;
    const bool leads = find_leading_filter(plan, role, plan->emitter.arena, &filter);
    return kernel_group(plan, role) * rows_in_flight(plan, role, leads ? &filter : NULL);
}

int64_t kernel_least_rows(const struct kernel_plan *plan)
{
    return !plan->config->chunks && is_long(plan) ? (int64_t)plan->config->group : plan->config->min_group_rows;
}

size_t kernel_row_bytes(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena)
{
    struct leading_filter filter;
    if (find_leading_filter(plan, role, arena, &filter))
        return leading_filter_row_bytes(&plan->emitter, &filter, arena);
    if (role == KERNEL_WRITE && !plan->config->chunks)
        return emit_row_bytes(&plan->emitter, (struct live_roots){.filters = true}, arena);
    return emit_row_bytes(&plan->emitter, kernel_needs[role], arena);
}

/* Plans row_block.cl: the rows in flight and the leading filter. */
static void plan_row_block(const struct kernel_plan *plan, struct holes *holes, enum kernel_role role)
{
    const struct emitter *emitter = &plan->emitter;
    struct leading_filter filter;
    holes->has_leading = find_leading_filter(plan, role, emitter->arena, &filter);
    holes->many = rows_in_flight(plan, role, holes->has_leading ? &filter : NULL);
    if (holes->has_leading)
        leading_filter_emit(emitter, &filter, holes->many, &holes->leading);
}

/* Output k in its storage type. */
static const char *stored(const struct kernel_plan *plan, size_t k, int width)
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

/* Calls a function of compact_chunks.cl, which has one per size of element. */
static void write_compressed(struct strbuf *out, size_t k, enum type store)
{
    static const char *const by_size[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long"};
    const char *type = by_size[type_table[store].size];
    strbuf_printf(out, "                put_%s((__global %s *)(out%zu + at), as_%s16(o%zu), bits);\n", type, type, k,
                  type, k);
}

/* Writes the lanes of a vector of outputs one by one. */
static void write_lanes(const struct kernel_plan *plan, struct holes *holes)
{
    const struct task *task = plan->emitter.task;
    for (int lane = 0; lane < plan->config->width; lane++) {
        const char letter = lane_letters[lane];
        strbuf_printf(&holes->bounded, "                if (keep.s%c) {\n", letter);
        for (size_t k = 0; k < task->output_count; k++) {
            if (!task->outputs[k].needed)
                continue;
            strbuf_printf(&holes->advance, "                out%zu[at] = o%zu.s%c;\n", k, k, letter);
            strbuf_printf(&holes->bounded, "                    out%zu[at] = o%zu.s%c;\n", k, k, letter);
        }
        strbuf_printf(&holes->advance, "                at += keep.s%c & 1;\n", letter);
        strbuf_puts(&holes->bounded, "                    ++at;\n                }\n");
    }
}

static void output_parameters(const struct kernel_plan *plan, struct holes *holes)
{
    const struct task *task = plan->emitter.task;
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        strbuf_printf(&holes->parameters, "    __global %s *restrict out%zu, ulong to%zu,\n",
                      type_table[plan->stores[k]].cl, k, k);
        strbuf_printf(&holes->prologue, "    out%zu += to%zu;\n", k, k);
    }
}

static void write_outputs(const struct kernel_plan *plan, struct holes *holes)
{
    const struct task *task = plan->emitter.task;
    const int width = plan->config->width;
    const bool filtered = task->filter_count > 0;
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        const char *type = type_table[plan->stores[k]].cl;
        if (filtered)
            strbuf_printf(&holes->write, "            out%zu[at] = %s;\n", k, stored(plan, k, 1));
        else
            strbuf_printf(&holes->row, "        out%zu[i] = %s;\n", k, stored(plan, k, 1));
        if (width == 1)
            continue;
        if (filtered) {
            strbuf_printf(&holes->vectors, "        const %s%d o%zu = %s;\n", type, width, k, stored(plan, k, width));
            write_compressed(&holes->compressed, k, plan->stores[k]);
        } else {
            strbuf_printf(&holes->vectors, "        vstore%d(%s, 0, out%zu + i);\n", width, stored(plan, k, width), k);
        }
    }
    if (filtered && width > 1)
        write_lanes(plan, holes);
    if (plan->round && plan->round->stops && task->aggregate_count == 0)
        round_stop(plan->round, stored(plan, 0, 1),
                   plan->round->validity ? stored(plan, plan->round->validity, 1) : NULL, &holes->row);
}

/* Appends a kernel that writes slots. */
static void reduce(const struct kernel_plan *plan, struct strbuf *out, enum kernel_role role,
                   const struct accumulators *accumulators)
{
    struct holes holes = {0};
    struct live_roots needs = kernel_needs[role];
    const int width = plan->config->width;
    const bool writes = plan->emitter.task->sink == SINK_ROWS && role == KERNEL_AGGREGATE;
    needs.outputs = writes;
    frame(plan, &holes);
    accumulators_parameters(accumulators, &holes.parameters);
    if (writes)
        output_parameters(plan, &holes);
    strbuf_puts(&holes.parameters, "    __global ulong *slots,\n");
    accumulators_declare(accumulators, &holes.declare, 1);
    compute(plan, &holes.row, 1, needs);
    accumulators_step(accumulators, &plan->emitter, &holes.row, 1);
    plan_row_block(plan, &holes, role);
    if (holes.has_leading) {
        emit_keep(&plan->emitter, &holes.leading.passing, 1);
        accumulators_step(accumulators, &plan->emitter, &holes.leading.passing, 1);
    }
    if (width > 1) {
        accumulators_declare(accumulators, &holes.declare, width);
        compute(plan, &holes.vectors, width, needs);
        accumulators_step(accumulators, &plan->emitter, &holes.vectors, width);
        accumulators_combine_lanes(accumulators, &plan->emitter, &holes.lanes, width);
    }
    accumulators_finish(accumulators, &plan->emitter, &holes.finish, plan->config);
    if (writes)
        write_outputs(plan, &holes);
    if (!plan->config->chunks) {
        holes.scratch_words = accumulators_scratch_words(accumulators);
        ordered_declare(accumulators, &holes.declare, plan->config->group);
        ordered_begin(accumulators, &holes.tile_begin);
        ordered_combine(accumulators, plan->emitter.arena, &holes.tile_join);
    }
    const char *template = plan->config->chunks                                      ? kernel_rows_chunks
                           : role == KERNEL_AGGREGATE && kernel_in_tiles(plan, role) ? kernel_fold_tiles
                                                                                     : kernel_rows_grid;
    fill(plan, out, template, role, &holes);
    holes_free(&holes);
}

/* One bit for each row of a work-item. */
static const char mark_kept[] = "        kept |= (uint)(keep & 1) << j;\n";

/* Appends a kernel of a task's rows with sums of many terms. */
static void write_terms(const struct kernel_plan *plan, struct strbuf *out, enum kernel_role role)
{
    const bool together = role == KERNEL_TERMS;
    struct kernel_plan terms = *plan;
    struct holes holes = {0};
    terms.emitter.terms = together ? TERMS_TOGETHER : TERMS_ALONE;
    frame(plan, &holes);
    output_parameters(plan, &holes);
    if (plan->listed)
        strbuf_puts(&holes.parameters, "    __global uint *list,\n");
    write_outputs(plan, &holes);
    strbuf_puts(&holes.write, text_of(&holes.row));
    strbuf_clear(&holes.row);
    compute(&terms, &holes.row, 1, kernel_needs[KERNEL_WRITE]);
    if (together)
        fill(plan, out, kernel_join_terms, role, &holes);
    fill(plan, out, together ? kernel_rows_together : kernel_rows_terms, role, &holes);
    holes_free(&holes);
}

static void write(const struct kernel_plan *plan, struct strbuf *out, enum kernel_role role)
{
    struct holes holes = {0};
    const bool filtered = plan->emitter.task->filter_count > 0;
    const int width = plan->config->width;
    frame(plan, &holes);
    if (width > 1)
        compute(plan, &holes.vectors, width, kernel_needs[role]);
    plan_row_block(plan, &holes, role);
    if (filtered && width == 1) {
        compute(plan, &holes.row, 1, kernel_needs[KERNEL_COUNT]);
        strbuf_puts(&holes.row, mark_kept);
        compute(plan, &holes.write, 1, (struct live_roots){.outputs = true});
    } else {
        compute(plan, &holes.row, 1, kernel_needs[role]);
    }
    if (holes.has_leading) {
        emit_keep(&plan->emitter, &holes.leading.passing, 1);
        strbuf_puts(&holes.leading.passing, mark_kept);
    }
    output_parameters(plan, &holes);
    write_outputs(plan, &holes);
    const char *template = plan->config->chunks       ? filtered ? kernel_compact_chunks : kernel_rows_chunks
                           : !filtered                ? kernel_rows_grid
                           : kernel_in_one_pass(plan) ? kernel_filter_lookback
                                                      : kernel_compact_tiles;
    fill(plan, out, template, role, &holes);
    holes_free(&holes);
}

/* Appends declarations and functions that precede the kernels. */
static void begin(const struct kernel_plan *plan, struct strbuf *text)
{
    const struct emitter *tail = plan->round ? plan->round->tail : NULL;
    struct access_functions functions = {{{false}}};
    strbuf_puts(text, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (plan->emitter.floats || (tail && tail->floats))
        strbuf_puts(text, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    strbuf_putc(text, '\n');
    input_access_functions(&plan->emitter, text, plan->config->width, &functions);
    if (tail)
        input_access_functions(tail, text, 1, &functions);
    for (size_t k = 0; k < plan->aggregates.function_count; k++)
        function_emit(&plan->aggregates.functions[k], text);
}

const char *kernel_plan_text(const struct kernel_plan *plan)
{
    struct strbuf text = {0};
    begin(plan, &text);
    if (plan->roles[KERNEL_AGGREGATE])
        reduce(plan, &text, KERNEL_AGGREGATE, &plan->aggregates);
    if (plan->roles[KERNEL_FLOAT_SUMS])
        reduce(plan, &text, KERNEL_FLOAT_SUMS, &plan->float_sums);
    if (plan->roles[KERNEL_COMBINE])
        round_combine(&plan->aggregates, &plan->emitter, plan->round, plan->config, &text);
    if (plan->roles[KERNEL_COUNT])
        reduce(plan, &text, KERNEL_COUNT, &plan->kept);
    if (plan->roles[KERNEL_WRITE])
        (plan->listed ? write_terms : write)(plan, &text, KERNEL_WRITE);
    if (plan->roles[KERNEL_TERMS])
        write_terms(plan, &text, KERNEL_TERMS);
    return text_in_arena(plan->emitter.arena, &text);
}
