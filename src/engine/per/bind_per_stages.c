/* Stages within `per` that other stages and operators make: distinct, reverse, scan. */
#include "engine/bind/bind_internal.h"
#include "engine/lower/aggregate_pass.h"
#include "engine/lower/over.h"

#include <string.h>

/* Makes the flow's columns, hidden ones too, the task's outputs, read at `position`. */
static void set_elements(struct binder *binder, struct task *task, struct flow *flow, value position)
{
    const size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        const struct input input = flow_whole(flow, k);
        values[k] = task_element(task, &input, position, true, binder->arena);
    }
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, flow->hidden);
}

/* The first row of each set of rows that are equal in the visible columns and their group, in the order of the rows. */
void bind_distinct_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow plain = *flow;
    plain.group = plain.place = plain.key_count = 0;
    const struct aggregation of = {.binder = binder, .stage = stage, .flow = &plain};
    struct pass pass;
    pass_begin(&pass, &of);
    size_t columns = 0;
    for (size_t k = 0; k < flow->count + flow->hidden; k++) {
        if ((flow->place != 0 && k == flow->place) || !flow->columns[k].known)
            continue;
        pass_group_by(&pass, k);
        columns++;
    }
    pass_add_plain(&pass, AGG_MIN, code_row(pass.operands.scope.code, stage->span), stage->span);
    pass_end(&pass);
    struct flow firsts = pass.flow;
    firsts.group = firsts.place = firsts.key_count = 0;
    sort_by_column(binder, stage, &firsts, columns, false);

    struct task *task = task_new(binder, stage->word->canonical, stage->span, NULL);
    const struct input input = flow_input(&firsts, columns);
    task->rows_from = firsts.task;
    set_elements(binder, task, flow, task_read(task, &input, stage->span));
    flow->rows = -1;
}

void bind_reverse_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    struct code *code = &task->code;
    const struct span span = stage->span;
    value before = lower_row_of_group(&scope, span), after = lower_rows_after(&scope, span);
    const value first = code_binary(code, OP_SUB, code_row(code, span), before, span);
    set_elements(binder, task, flow, code_binary(code, OP_ADD, first, after, span));
}

/* The only column that is no key; `count`, with an error, if there is not one. */
static size_t scanned_column(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    size_t found = flow->count, others = 0;
    for (size_t k = 0; k < flow->count; k++) {
        if (flow->columns[k].key != 0)
            continue;
        found = k;
        others++;
    }
    if (others == 1)
        return found;
    bind_error(binder, stage->span, "name the column: `derive total = sum(NAME) over ..0`",
               "`scan` within `per` takes one column beside the keys, but there are %zu", others);
    return flow->count;
}

/* scan + is sum(x) over ..0, and so on. */
void bind_scan_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    static const char *const scans[][2] = {{"+", "sum"}, {"min", "min"}, {"max", "max"}};
    const char *const *scan = stage->op.text ? TABLE_ROW(scans, stage->op.text) : NULL;
    if (!scan || stage->exclusive.text || stage->initial || stage->along.text) {
        bind_error(binder, stage->span, "other windows are `derive NAME = AGG(E) over A..B`",
                   "within `per` there are only `scan +`, `scan min` and `scan max`");
        task_unknown(binder, stage, flow);
        return;
    }
    const size_t column = flow->open ? flow->count : scanned_column(binder, stage, flow);
    if (column == flow->count) {
        task_unknown(binder, stage, flow);
        return;
    }
    bind_scan_as_window(binder, stage, scan[1], column, flow);
}

void bind_scan_as_window(struct binder *binder, const struct stage *stage, const char *word, size_t column,
                         struct flow *flow)
{
    struct expr position = {.kind = EXPR_POSITION, .span = stage->span, .integer = (int64_t)column + 1, .depth = 1};
    struct expr *arguments[] = {&position};
    struct expr call = {.kind = EXPR_CALL,
                        .span = stage->span,
                        .name = {word, stage->op.span},
                        .args = arguments,
                        .arg_count = 1,
                        .depth = 2};
    struct expr here = {.kind = EXPR_INT, .span = stage->span, .depth = 1};
    const struct window_frame frame = {.last = &here, .span = stage->span};
    struct expr *calls[] = {&call};
    struct expr over = {
        .kind = EXPR_OVER, .span = stage->span, .args = calls, .arg_count = 1, .frame = &frame, .depth = 3};
    struct item item = {.expr = &over, .name = {flow->columns[column].name, stage->span}, .span = stage->span};
    struct stage map = {
        .word = stage->word, .span = stage->span, .word_span = stage->word_span, .items = &item, .item_count = 1};
    bind_map(binder, &map, flow);
}
