/* hist: intervals of numbers and of times, or the most frequent strings. */
#include "engine/bind/bind_internal.h"
#include "engine/bind/summary.h"
#include "engine/expression/evaluated.h"
#include "engine/source/bind_source.h"

#include <string.h>

enum { MOST_ASKED = 200 }; /* intervals */

/* Whether `hist` is given a column before the number of intervals, or alone. */
static bool names_column(const struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (stage->item_count != 1)
        return stage->item_count > 1;
    const struct expr *expr = stage->items[0].expr;
    if (expr->kind == EXPR_POSITION)
        return true;
    if (expr->kind == EXPR_NAME && env_find(binder->env, expr->name.text))
        return false;
    return expr->kind == EXPR_NAME && flow_column(flow, expr->name.text);
}

/* Sets the number of intervals, 10 by default. */
static void bins_of(struct binder *binder, const struct stage *stage, int64_t *bins)
{
    enum { DEFAULT_BINS = 10, MOST_BINS = 1000000 };
    *bins = DEFAULT_BINS;
    if (stage->head) {
        bind_error(binder, stage->head->span, "as in `hist 20`", "`hist` takes a number of intervals");
        return;
    }
    /* Unknown in a check: then any number will do. */
    if (stage->item_count > 0 && stage_number(binder, stage, 1, bins) && *bins > MOST_BINS)
        bind_error(binder, stage->items[0].expr->span, NULL, "`hist` has at most %d intervals", MOST_BINS);
}

/* hist of a named column: a pick, then the histogram of all columns, which is one. */
static void bind_hist_of(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct stage pick = *stage, hist = *stage;
    pick.word = word_find("pick", strlen("pick"));
    pick.span = stage->items[0].span;
    pick.item_count = 1;
    hist.items = stage->items + 1;
    hist.item_count = stage->item_count - 1;
    bind_pick(binder, &pick, flow);
    bind_hist(binder, &hist, flow);
}

/* The most frequent strings: their groups in the order of their sizes, cut. */
static void hist_of_text(struct binder *binder, const struct stage *stage, struct flow *flow, int64_t bins)
{
    enum { COUNT = 1 };
    group_equal(binder, stage, flow);
    sort_by_column(binder, stage, flow, COUNT, true);
    struct task *task = task_of_stage(binder, stage, flow);
    task->window.take = bins;
    task_pass_inputs(binder, task, flow);
}

/* Sets the operator's outputs: lo and hi like `edge`, and count. */
static void set_hist_outputs(struct binder *binder, struct task *task, struct slot edge, struct flow *flow)
{
    enum { COLUMNS = 3 };
    /* The values only say what the outputs are computed from. */
    const value all = task_input(task, task->column_op->keys[0]);
    const value values[COLUMNS] = {all, all, all};
    struct slot *slots = arena_array(binder->arena, COLUMNS, sizeof *slots);
    slots[0] = slots[1] = edge;
    slots[0].name = "lo";
    slots[1].name = "hi";
    slots[2] = (struct slot){.name = "count", .type = TYPE_I64, .known = true};
    task_set_slots(binder, task, flow, slots, values, COLUMNS, 0);
    mark_fallible(task);
}

/* Edges of decimals, which are counted by their integers, as the numbers that they stand for. */
static void scale_edges(struct binder *binder, const struct stage *stage, int scale, struct flow *flow)
{
    enum { EDGES = 2 };
    struct task *task = task_of_stage(binder, stage, flow);
    struct code *code = &task->code;
    value *values = arena_array(binder->arena, flow->count, sizeof *values);
    for (size_t k = 0; k < flow->count; k++) {
        values[k] = term_of_column(code, flow, k, stage->span).value;
        if (k < EDGES)
            values[k] = code_binary(code, OP_DIV, values[k], code_float(code, (double)power_of_ten(scale), stage->span),
                                    stage->span);
    }
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, 0);
}

/* Has a server count the values of its rows (engine/run/ask_summary.c). False: they are counted here. */
static bool bind_hist_of_server(struct binder *binder, const struct stage *stage, struct slot column, int64_t bins,
                                struct flow *flow)
{
    enum { COLUMNS = 3 };
    const struct facts *facts = binder->facts;
    const struct source_file *file = facts->sources.count > 0 ? facts->sources.files : NULL;
    const struct column *first = file && file->count > 0 ? file->columns[0].column : NULL;
    const struct slot edge = {.name = "lo", .type = TYPE_F64, .known = true};
    if (facts->summary || facts->careful)
        return false;
    struct evaluated *evaluated = evaluated_find(binder, binder->stage);
    if (!evaluated && (!first || !first->live || !facts->runs || facts->remote || bins > MOST_ASKED || facts->dialect ||
                       binder->pipeline != facts->rest))
        return false;
    struct slot *slots = arena_array(binder->arena, COLUMNS, sizeof *slots);
    slots[0] = slots[1] = logical_is_time(column.logical) ? column : edge;
    slots[0].name = "lo";
    slots[1].name = "hi";
    slots[2] = (struct slot){.name = "count", .type = TYPE_I64, .known = true};
    for (int k = 0; k < COLUMNS; k++)
        slots[k].validity = slots[k].key = slots[k].origin = 0;
    if (!evaluated) {
        static const bool wanted[COLUMNS] = {true, true, true};
        const struct flow source = {.columns = slots, .count = COLUMNS, .rows = -1};
        struct pipeline *pipeline = pipeline_up_to_stage(binder);
        pipeline->stage_count++;
        evaluated = evaluated_request(binder, binder->stage, pipeline, &source, wanted);
        evaluated->bins = bins;
    }
    if (evaluated->here)
        return false;
    bind_evaluated(binder, stage, evaluated, slots, COLUMNS, flow);
    return true;
}

void bind_hist(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    int64_t bins;
    if (names_column(binder, stage, flow)) {
        bind_hist_of(binder, stage, flow);
        return;
    }
    bins_of(binder, stage, &bins);
    if (!stage_column(binder, stage, flow)) {
        task_unknown(binder, stage, flow);
        return;
    }
    if (flow->columns[0].logical.kind != LOGICAL_TEXT &&
        bind_hist_of_server(binder, stage, flow->columns[0], bins, flow))
        return;
    drop_missing(binder, stage, flow);
    struct slot column = flow->columns[0];
    if (column.logical.kind == LOGICAL_TEXT) {
        hist_of_text(binder, stage, flow, bins);
        return;
    }
    if (binder->facts->summary && bins <= MOST_ASKED) {
        bind_summary(binder, stage, flow);
        return;
    }
    struct operands operands;
    operands_begin(binder, stage, flow, &operands);
    struct term term = term_of_column(&operands.task->code, flow, 0, stage->span);
    const bool calendar = logical_is_time(column.logical);
    const bool decimal = column.logical.kind == LOGICAL_DECIMAL;
    if (decimal)
        term.logical = (struct logical_type){.kind = LOGICAL_NUMBER};
    if (!calendar && !bind_aggregated(&operands.scope, AGG_PRODUCT, &term, NULL, "hist", stage->span)) {
        task_unknown(binder, stage, flow);
        return;
    }
    size_t input;
    const enum type type = type_of_kind(operands.task->code.at[term.value].kind);
    operands_add(&operands, term.value, (struct slot){.name = column.name, .type = type});
    struct task *task = operands_end(&operands, "hist", OPERATOR_HIST, 1, &input);
    task->column_op->keys[0] = input;
    task->column_op->into = bins;
    if (calendar)
        task->column_op->calendar = column.logical;
    set_hist_outputs(binder, task, calendar ? column : (struct slot){.type = TYPE_F64, .known = true}, flow);
    flow->rows = calendar ? -1 : bins;
    if (decimal)
        scale_edges(binder, stage, column.logical.scale, flow);
}
