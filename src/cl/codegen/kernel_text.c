#include "cl/codegen/kernel_text.h"

#include "cl/codegen/accumulate.h"
#include "cl/codegen/emit.h"
#include "cl/codegen/filter_order.h"
#include "cl/codegen/literal.h"
#include "cl/codegen/template.h"

#include <string.h>

/* The templates of src/cl/kernels, as C strings. */
extern const char kernel_rows_grid[], kernel_row_block[], kernel_fold_tiles[], kernel_rows_terms[],
    kernel_rows_together[], kernel_join_terms[], kernel_compact_rows[], kernel_compact_tiles[],
    kernel_filter_lookback[], kernel_float_sum[];

/* The holes of one kernel's template while they are filled. */
struct holes {
    struct strbuf parameters, prologue, declare, row, finish, write, tile_join, tile_begin;
    struct leading_filter_text leading;
    bool has_leading;
    size_t many;          /* rows that a work-item has in flight: row_block.cl */
    size_t scratch_words; /* ulongs of local memory for each work-item */
};

static void holes_free(struct holes *holes)
{
    struct strbuf *const all[] = {&holes->parameters, &holes->prologue, &holes->declare,   &holes->row,
                                  &holes->finish,     &holes->write,    &holes->tile_join, &holes->tile_begin};
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
    const struct hole filled[] = {
        {"name", kernel_names[role]},
        {"round", plan->round ? round_parameter : ""},
        {"tiles", kernel_in_tiles(plan, role) ? "1" : ""},
        {"several", holes->many > 1 || holes->has_leading ? "1" : ""},
        {"warps", plan->config->warps ? "1" : ""},
        {"unroll", plan->emitter.operations <= BRIEF_CODE ? "    #pragma unroll\n" : "    #pragma unroll 4\n"},
        {"step", role == KERNEL_WRITE && kernel_in_one_pass(plan) ? "32" : group},
        {"rows", kernel_row_block},
        {"group", group},
        {"tile", arena_printf(arena, "%zu", plan->config->tile)},
        {"many", arena_printf(arena, "%zu", holes->many)},
        {"scratch", holes->scratch_words == 0
                        ? ""
                        : arena_printf(arena, "    __local ulong scratch[%zu][%s];\n", holes->scratch_words, group)},
        {"parameters", text_of(&holes->parameters)},
        {"prologue", text_of(&holes->prologue)},
        {"declare", text_of(&holes->declare)},
        {"row", text_of(&holes->row)},
        {"finish", text_of(&holes->finish)},
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
    template_expand(out, template, filled);
    strbuf_putc(out, '\n');
}

/* Fills the holes that all templates share. */
static void frame(const struct kernel_plan *plan, struct holes *holes)
{
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
    strbuf_puts(&holes->finish, plan->round ? round_failed : "    if (err1)\n        atomic_or(flag, 1);\n");
}

static void compute(const struct kernel_plan *plan, struct strbuf *out, struct live_roots needs)
{
    emit_body(&plan->emitter, out, needs);
    if (needs.filters && plan->emitter.task->filter_count > 0)
        emit_keep(&plan->emitter, out);
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
    if (plan->config->leading == 0 || is_long(plan) || (fixed && role == KERNEL_AGGREGATE))
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
    if (kernel_in_tiles(plan, role) && !config->contiguous)
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
    return is_long(plan) ? (int64_t)plan->config->group : plan->config->min_group_rows;
}

size_t kernel_row_bytes(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena)
{
    struct leading_filter filter;
    if (find_leading_filter(plan, role, arena, &filter))
        return leading_filter_row_bytes(&plan->emitter, &filter, arena);
    if (role == KERNEL_WRITE && !plan->config->contiguous)
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
static const char *stored(const struct kernel_plan *plan, size_t k)
{
    const struct emitter *emitter = &plan->emitter;
    enum lane lane = emitter->task->code.at[emitter->task->outputs[k].value].lane;
    const char *type = type_table[plan->stores[k]].cl;
    if (lane == LANE_BOOL)
        lane = LANE_I32;
    const char *text = emit_output(emitter, k, lane);
    if (strcmp(type, lane_cl_type(lane)) == 0)
        return text;
    return arena_printf(emitter->arena, "convert_%s(%s)", type, text);
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
    const bool filtered = task->filter_count > 0;
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        if (filtered)
            strbuf_printf(&holes->write, "            out%zu[at] = %s;\n", k, stored(plan, k));
        else
            strbuf_printf(&holes->row, "        out%zu[i] = %s;\n", k, stored(plan, k));
    }
    if (plan->round && plan->round->stops && task->aggregate_count == 0)
        round_stop(plan->round, stored(plan, 0), plan->round->validity ? stored(plan, plan->round->validity) : NULL,
                   &holes->row);
}

/* Appends a kernel that writes slots. */
static void reduce(const struct kernel_plan *plan, struct strbuf *out, enum kernel_role role,
                   const struct accumulators *accumulators)
{
    struct holes holes = {0};
    struct live_roots needs = kernel_needs[role];
    const bool writes = plan->emitter.task->sink == SINK_ROWS && role == KERNEL_AGGREGATE;
    needs.outputs = writes;
    frame(plan, &holes);
    accumulators_parameters(accumulators, &holes.parameters);
    if (writes)
        output_parameters(plan, &holes);
    strbuf_puts(&holes.parameters, "    __global ulong *slots,\n");
    accumulators_declare(accumulators, plan->emitter.arena, &holes.declare);
    compute(plan, &holes.row, needs);
    accumulators_step(accumulators, &plan->emitter, &holes.row);
    plan_row_block(plan, &holes, role);
    if (holes.has_leading) {
        emit_keep(&plan->emitter, &holes.leading.passing);
        accumulators_step(accumulators, &plan->emitter, &holes.leading.passing);
    }
    accumulators_finish(accumulators, &plan->emitter, &holes.finish);
    if (writes)
        write_outputs(plan, &holes);
    holes.scratch_words = accumulators_scratch_words(accumulators);
    ordered_declare(accumulators, &holes.declare, plan->config->group);
    ordered_begin(accumulators, &holes.tile_begin);
    ordered_combine(accumulators, plan->emitter.arena, &holes.tile_join);
    fill(plan, out, accumulators->function_count > 0 ? kernel_fold_tiles : kernel_rows_grid, role, &holes);
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
    compute(&terms, &holes.row, kernel_needs[KERNEL_WRITE]);
    if (together)
        fill(plan, out, kernel_join_terms, role, &holes);
    fill(plan, out, together ? kernel_rows_together : kernel_rows_terms, role, &holes);
    holes_free(&holes);
}

static void write(const struct kernel_plan *plan, struct strbuf *out, enum kernel_role role)
{
    struct holes holes = {0};
    const bool filtered = plan->emitter.task->filter_count > 0;
    frame(plan, &holes);
    plan_row_block(plan, &holes, role);
    if (filtered && !plan->config->contiguous) {
        compute(plan, &holes.row, kernel_needs[KERNEL_COUNT]);
        strbuf_puts(&holes.row, mark_kept);
        compute(plan, &holes.write, (struct live_roots){.outputs = true});
    } else {
        compute(plan, &holes.row, kernel_needs[role]);
    }
    if (holes.has_leading) {
        emit_keep(&plan->emitter, &holes.leading.passing);
        strbuf_puts(&holes.leading.passing, mark_kept);
    }
    output_parameters(plan, &holes);
    write_outputs(plan, &holes);
    const char *template = !filtered                  ? kernel_rows_grid
                           : plan->config->contiguous ? kernel_compact_rows
                           : kernel_in_one_pass(plan) ? kernel_filter_lookback
                                                      : kernel_compact_tiles;
    if (template == kernel_compact_tiles)
        template_work_group_sums(out, kernel_group(plan, role), "ulong2", plan->emitter.arena);
    fill(plan, out, template, role, &holes);
    holes_free(&holes);
}

/* ANY_ORDER of accumulate.c, which is of no use to GPUs. Clang has the pragma from version 11 on. */
static const char any_order[] = "#if defined __clang_major__ && __clang_major__ >= 11\n"
                                "#define ANY_ORDER _Pragma(\"clang fp reassociate(on)\")\n"
                                "#else\n"
                                "#define ANY_ORDER\n"
                                "#endif\n";

/* Whether kernels add floats one after another, or round such sums. */
static bool adds_floats(const struct kernel_plan *plan)
{
    bool adds = plan->emitter.floats && plan->emitter.loops;
    for (size_t k = 0; k < plan->aggregates.count && plan->roles[KERNEL_COMBINE]; k++)
        adds = adds || plan->aggregates.at[k].kind == ACC_HIGH_PART;
    return adds;
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
    if (plan->float_sums.count > 0)
        strbuf_puts(text, plan->config->contiguous ? any_order : "#define ANY_ORDER\n");
    if (adds_floats(plan))
        template_expand(text, kernel_float_sum, (struct hole[]){{NULL, NULL}});
    input_access_functions(&plan->emitter, text, &functions);
    if (tail)
        input_access_functions(tail, text, &functions);
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
