/* Binds a pipeline's stages in order; the stages that choose rows, and those that end it. */
#include "engine/bind/bind_internal.h"
#include "engine/bind/summary.h"
#include "engine/loop/loop_stages.h"
#include "engine/lower/over.h"
#include "engine/plan/plot_columns.h"

#include "base/integer.h"
#include "base/text.h"
#include "engine/join/join_stages.h"

#include <string.h>

/* select and reject */
static void bind_filter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct expr *expr = stage_expr(binder, stage);
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    value keep = expr ? bind_condition(&scope, expr) : NO_VALUE;
    if (keep != NO_VALUE && flow->group == 0 && aggregates_alone(binder, expr)) {
        diag_note(binder->diags, expr->span, "the condition is the same for all rows: it has aggregates alone");
        diag_hint(binder->diags, "after `group K: count() as n`, `select n > 1` keeps groups; in `per K: select ...` "
                                 "aggregates are of each group");
    }
    if (keep != NO_VALUE && stage->word->stage == STAGE_REJECT)
        keep = code_unary(&task->code, OP_NOT, keep, expr->span);
    if (keep != NO_VALUE)
        task_filter(binder, task, keep, expr->span);
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
}

/* take, skip and tail within groups: whether the group has a row at this distance. */
static void bind_window_of_group(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    struct code *code = &task->code;
    int64_t count;
    if (stage_number(binder, stage, 0, &count)) {
        count = min_int64(count, INT64_C(1) << 40); /* beyond all rows, and still a distance */
        const bool tail = stage->word->stage == STAGE_TAIL;
        value keep;
        if (scope.scattered) { /* those before the row, or after it, are counted */
            const value others = tail ? lower_rows_after(&scope, stage->span) : lower_row_of_group(&scope, stage->span);
            keep = code_with(code, OP_LT, others, count, stage->span);
        } else {
            const value other = group_has_row(&scope, tail ? count : -count, stage->span);
            keep = code_unary(code, OP_NOT, other, stage->span);
        }
        if (stage->word->stage == STAGE_SKIP)
            keep = code_unary(code, OP_NOT, keep, stage->span);
        if (count == 0)
            keep = code_bool(code, stage->word->stage == STAGE_SKIP, stage->span);
        task_filter(binder, task, keep, stage->span);
    }
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
}

/* take, skip and tail */
static void bind_window(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (flow->group != 0) {
        bind_window_of_group(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    int64_t count;
    int64_t rows = -1;
    if (stage_number(binder, stage, 0, &count)) {
        switch (stage->word->stage) {
        case STAGE_TAKE:
            task->window.take = count;
            rows = min_int64(flow->rows, count);
            break;
        case STAGE_SKIP:
            task->window.skip = count;
            rows = flow->rows - min_int64(flow->rows, count);
            break;
        default:
            task->window.tail = count;
            rows = min_int64(flow->rows, count);
            break;
        }
    }
    if (flow->rows >= 0)
        flow->rows = rows;
    task_pass_inputs(binder, task, flow);
}

/* top: a sort by its keys, then a take of its number. */
static void bind_top(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct stage window = {.word = word_find("take", strlen("take")),
                           .span = stage->word_span,
                           .word_span = stage->word_span,
                           .items = stage->most,
                           .item_count = 1};
    window.span.end = stage->most->span.end;
    bind_sort(binder, stage, flow);
    bind_window(binder, &window, flow);
}

static void bind_show(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    if (stage->word->stage == STAGE_BROWSE)
        bound->show_rows = SHOW_BROWSED;
    else if (stage->item_count > 0)
        stage_number(binder, stage, 0, &bound->show_rows);
    flow->ended = true;
    flow->last = stage;
}

static bool bind_path(struct binder *binder, const struct name *written, struct name *path)
{
    return bind_succeeded(binder, path_substitute(binder->env, written, binder->arena, path, binder->diags));
}

/* Whether `plot` can draw such columns, as far as they are known. */
static void check_plot(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    struct plot_columns columns;
    bool *text = arena_array(binder->arena, flow->count + 1, sizeof *text);
    for (size_t k = 0; k < flow->count; k++) {
        if (!flow->columns[k].known)
            return;
        text[k] = flow->columns[k].logical.kind == LOGICAL_TEXT;
    }
    switch (plot_columns_choose(&columns, text, flow->count)) {
    case PLOT_FINE:
        break;
    case PLOT_NO_NUMBERS:
        bind_error(binder, stage->span,
                   arena_printf(binder->arena, "`hist %s` shows the most frequent strings",
                                name_written(flow->columns[0].name, binder->arena)),
                   "`plot` draws numbers and times, but `%s` is text", flow->columns[0].name);
        break;
    case PLOT_MANY_SERIES:
        bind_error(binder, stage->span, "choose some: `| pick NAME, NAME | plot`",
                   "`plot` draws at most %d columns against another, but there are %zu", PLOT_SERIES, flow->count);
        break;
    case PLOT_MANY_TEXTS:
        bind_error(binder, stage->span, "choose columns first: `| pick NAME, NAME | plot`",
                   "a text tells the series of one column of numbers, so `plot` cannot draw these %zu columns",
                   flow->count);
        break;
    }
}

/* describe shows its columns where it ends what is shown, and else gives them to the next stage: then the pipeline
 * before it is run first. */
static void bind_describe(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    const struct pipeline *pipeline = binder->pipeline;
    const size_t before = (size_t)(binder->stage - pipeline->stages);
    if (binder->facts->summary) {
        bind_summary(binder, stage, flow);
        return;
    }
    const bool shown = !binder->facts->within && binder->facts->unread != UNREAD_NAMED;
    if (shown && pipeline == binder->facts->rest && before + 1 == pipeline->stage_count) {
        flow->ended = true;
        flow->last = stage;
        bound->view = VIEW_DESCRIPTION;
        return;
    }
    struct evaluated *evaluated = evaluated_find(binder, binder->stage);
    if (!evaluated) {
        evaluated = evaluated_request(binder, binder->stage, pipeline_up_to_stage(binder), flow, NULL);
        evaluated->described = true;
    }
    bind_description(binder, stage, evaluated, NULL, flow);
}

static void bind_plot(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    flow->ended = true;
    flow->last = stage;
    bound->view = VIEW_PLOT;
    if (stage->path.text && !bind_path(binder, &stage->path, &bound->plot_path))
        return;
    if (stage->path.text && !ends_in(bound->plot_path.text, ".svg") && !ends_in(bound->plot_path.text, ".png"))
        bind_error(binder, stage->path.span,
                   "`plot` alone draws in the terminal; choose columns first: `pick NAME, NAME | plot`",
                   "`plot` draws into a .svg or .png file");
    else if (!flow->open && !bind_gave_up(binder) && flow->count > 0)
        check_plot(binder, stage, flow);
}

/* Whether the path's directory exists: in a check, an earlier statement may still create it. */
static bool folder_exists(struct arena *arena, const char *path)
{
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    struct file_stamp stamp;
    return file_stamp_of(length > 0 ? arena_text(arena, path, length) : ".", &stamp);
}

/* The place of a column; flow->count: it has none, and an error is recorded where the stage's keys are bound. */
static size_t place_of_column(const struct expr *expr, const struct flow *flow)
{
    if (expr->kind == EXPR_POSITION)
        return expr->integer >= 1 && (size_t)expr->integer <= flow->count ? (size_t)expr->integer - 1 : flow->count;
    return flow_place(flow, expr->name.text);
}

/* Whether values of the column can be names of folders, which are read as what they were. */
static bool names_folders(const struct slot *slot)
{
    switch (slot->logical.kind) {
    case LOGICAL_NUMBER:
        return type_table[slot->type].kind == KIND_INT;
    case LOGICAL_TEXT:
    case LOGICAL_DATE:
        return true;
    default:
        return false;
    }
}

/* The format of the files; NULL after an error. */
static const struct format *format_of_folders(struct binder *binder, const struct stage *stage)
{
    const char *word = stage->format.text ? stage->format.text : "parquet";
    const struct format *format = format_by_word(word);
    if (format && format->write && format->open && format->columns == 0)
        return format;
    const char *all = "formats are";
    for (size_t i = 0; i < format_count; i++) {
        if (format_table[i].write && format_table[i].open && format_table[i].columns == 0)
            all = arena_printf(binder->arena, "%s %s", all, format_word(&format_table[i]));
    }
    bind_error(binder, stage->format.span, all, "`%s` is no format of files in folders", word);
    return NULL;
}

/* save DIR/ by NAME, ...: the rows are sorted by these columns, which leaves equal values side by side. */
static void bind_save_folders(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    struct save_folders *folders = &bound->save_folders;
    size_t *columns = arena_array(binder->arena, stage->item_count, sizeof *columns);
    const struct name *path = &bound->save_path;
    folders->format = format_of_folders(binder, stage);
    if (flow->scalar)
        bind_error(binder, stage->span, "save it to a file", "a single value has no columns to save `by`");
    else if (save_has_table(file_cache_tables(binder->env->file_cache), path->text) || ends_in(path->text, ".parquet"))
        bind_error(binder, path->span, "as in `save out/ by NAME`", "`by` writes files in folders, and needs a folder");
    if (!folders->format || bind_gave_up(binder) || binder->errors > 0)
        return;
    for (size_t i = 0; i < stage->item_count; i++) {
        columns[i] = place_of_column(stage->items[i].expr, flow);
        if (columns[i] < flow->count && flow->columns[columns[i]].known && !names_folders(&flow->columns[columns[i]])) {
            bind_error(binder, stage->items[i].span, "`derive` one of these, as `derive day = date(time)`",
                       "folders are named by integers, dates, texts and bools, and `%s` has other values",
                       flow->columns[columns[i]].name);
            return;
        }
        for (size_t k = 0; k < i; k++) {
            if (columns[k] == columns[i] && columns[i] < flow->count) {
                bind_error(binder, stage->items[i].span, NULL, "`%s` is there twice", flow->columns[columns[i]].name);
                return;
            }
        }
    }
    if (stage->item_count >= flow->count) {
        bind_error(binder, stage->span, "leave one out after `by`", "no column is left for the files");
        return;
    }
    bind_sort(binder, stage, flow);
    flow->ended = true;
    flow->last = stage;
    folders->columns = columns;
    folders->count = stage->item_count;
    if (!binder->checking && binder->errors == 0 && folders_check(path->text, path->span, binder->diags) != STATUS_OK)
        bind_failed(binder);
}

/* What becomes of a table on a server. False after an error. */
static bool bind_save_way(struct binder *binder, const struct stage *stage, bool is_table, struct bound *bound)
{
    const struct name *way = &stage->format;
    bound->save_way = strcmp(way->text, "append") == 0 ? SAVE_APPEND : SAVE_REPLACE;
    if (!is_table)
        return bind_error(binder, way->span, "leave it out: `save` writes a new file in place of an old one",
                          "`%s` is for tables on servers", way->text);
    return true;
}

static void bind_save(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    flow->ended = true;
    flow->last = stage;
    if (!bind_path(binder, &stage->path, &bound->save_path))
        return;
    if (flow->open || bind_gave_up(binder))
        return;
    if (stage->item_count > 0) {
        bind_save_folders(binder, stage, flow, bound);
        return;
    }
    const struct table_source *tables = file_cache_tables(binder->env->file_cache);
    if (stage->format.text && !bind_save_way(binder, stage, save_has_table(tables, bound->save_path.text), bound))
        return;
    if (binder->checking && !save_has_table(tables, bound->save_path.text) &&
        !folder_exists(binder->arena, bound->save_path.text))
        return;
    const size_t columns = flow->scalar ? 1 : flow->count;
    struct shape shape = flow->scalar ? (struct shape){0} : flow->shape;
    if (save_check(bound->save_path.text, tables, columns, shape, bound->save_path.span, binder->diags) != STATUS_OK)
        bind_failed(binder);
}

/* After a terminal only assert, show and save may follow, and nothing after the last two. */
static bool may_follow(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (!flow->ended && !flow->scalar)
        return true;
    const char *last = text_of_word(binder->arena, flow->last);
    if (flow->ended)
        return bind_error_second(binder, stage->span, flow->last->span, "this",
                                 arena_printf(binder->arena, "move `%s` to the end", last),
                                 "`%s` must be the last stage", last);
    if (!stage_does(stage->word->stage, TAKES_VALUE))
        return bind_error_second(
            binder, stage->span, flow->last->span, "this gives a single value",
            "only `assert`, `show` and `save` may follow it; name the value with `let` to use it in other statements",
            "`%s` needs a relation, but `%s` gives a single value", text_of_word(binder->arena, stage), last);
    return true;
}

/* Reports `along` after a stage that does not aggregate. The grammar takes it after more stages than do. */
static void check_along(struct binder *binder, const struct stage *stage)
{
    if (stage->along.text && stage->word->stage == STAGE_SHOW)
        bind_error(binder, stage->along.span, "scan, reduce, sum, product, min, max, mean and count do",
                   "`%s` does not take `along`", text_of_word(binder->arena, stage));
}

static void bind_grouping(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->across)
        bind_across(binder, stage, flow);
    else if (stage->rollup.end > 0)
        bind_rollup(binder, stage, flow);
    else
        bind_group(binder, stage, flow);
}

/* Binds a stage by its word alone. */
static void bind_by_word(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    switch (stage->word->stage) {
#define STAGE(kind, bind, in_groups, facts)                                                                            \
    case STAGE_##kind:                                                                                                 \
        bind(binder, stage, flow);                                                                                     \
        break;
#define RESULT_STAGE(kind, bind, in_groups, facts)                                                                     \
    case STAGE_##kind:                                                                                                 \
        bind(binder, stage, flow, bound);                                                                              \
        break;
#include "parser/stages.def"
    case STAGE_CALL: /* expanded before */
    case STAGE_NONE:
    case STAGE_KINDS:
        break;
    }
}

stage_binder *stage_binder_in_groups(enum stage_kind stage)
{
    static stage_binder *const binders[STAGE_KINDS] = {
#define STAGE(kind, bind, in_groups, facts) [STAGE_##kind] = in_groups,
#include "parser/stages.def"
    };
    return binders[stage];
}

bool has_row_expressions(const struct stage *stage, const struct flow *flow)
{
    if (stage->word->stage == STAGE_AGGREGATE)
        return stage->along.text;
    return !stage_does(stage->word->stage, SAYS_NOTHING_OF_ROWS) && !flow->scalar && flow->task;
}

static void bind_stage(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    struct aggregate_values aggregates;
    const struct flow rows = *flow;
    binder->rows = &rows;
    check_along(binder, stage);
    stage = stage_of_columns(binder, stage_of_missing(binder, stage, flow), flow);
    if (!stage)
        return;
    if (has_row_expressions(stage, flow))
        binder->aggregates = aggregates_of_stage(binder, stage, flow, NULL, &aggregates);
    flow->joined = NULL;
    bind_by_word(binder, stage, flow, bound);
    binder->aggregates = NULL;
    binder->rows = NULL;
    if (!flow->ended)
        bound->view = stage->word->stage == STAGE_HIST ? VIEW_HISTOGRAM : VIEW_ROWS;
    if (!stage_does(stage->word->stage, KEEPS_SHAPE) && !stage->along.text) /* that leaves the other axes */
        flow->shape = (struct shape){0};
}

void bind_stages(struct binder *binder, const struct pipeline *pipeline, struct flow *flow, struct bound *bound)
{
    const struct pipeline *outer = binder->pipeline;
    const struct stage *outer_stage = binder->stage;
    const struct call *outer_call = binder->call;
    const struct named_aggregate *outer_names = binder->named;
    const struct flow *outer_rows = binder->rows;
    bind_source(binder, &pipeline->source, flow);
    for (size_t i = 0; i < pipeline->stage_count && !bind_gave_up(binder); i++) {
        if (!may_follow(binder, &pipeline->stages[i], flow))
            break;
        binder->pipeline = pipeline;
        binder->stage = &pipeline->stages[i];
        binder->call = binder->stage->call;
        bind_stage(binder, &pipeline->stages[i], flow, bound);
    }
    binder->pipeline = outer;
    binder->stage = outer_stage;
    binder->rows = outer_rows;
    binder->call = outer_call;
    binder->named = outer_names;
}
