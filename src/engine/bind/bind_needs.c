#include "engine/bind/bind_needs.h"

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"
#include "engine/formats/save.h"
#include "engine/plan/loop.h"
#include "engine/plan/text_order.h"

#include <string.h>

/* What is parsed at once in any case, in some 40 milliseconds. */
enum { SHORT_CELLS = 1 << 22 };

/* Whether what was bound needs the order of the column's texts, which have none. */
static bool lacks_order(const struct binder *binder, const struct column *column)
{
    bool found = false;
    for (size_t i = 0; i < binder->ordered_count && !found; i++)
        found = binder->ordered[i] == column->logical.dictionary;
    return found;
}

static void add_column(struct needed_columns *columns, struct column *column, bool ordered, struct arena *arena)
{
    *ARENA_PUSH(arena, columns->at, columns->count, columns->capacity) = (struct needed_column){column, ordered};
}

/* Whether rows are shown, or saved one after another, with texts as they are. */
static bool writes_rows(const struct binder *binder, const struct bound *bound)
{
    const char *path = bound->save_path.text;
    if (!path)
        return true;
    const struct format *format = format_of_path(path);
    return format && format->style && bound->save_folders.count == 0 &&
           !save_has_table(file_cache_tables(binder->env->file_cache), path);
}

/* Of each column of the result, whether its texts have to be in order; NULL: all have. */
static const bool *leaving_texts(const struct binder *binder, const struct bound *bound)
{
    const struct facts *facts = binder->facts;
    const struct queue *queue = &bound->queue;
    if (!facts->any_order || bound->view != VIEW_ROWS || !writes_rows(binder, bound) || queue->count == 0)
        return NULL;
    bool *ordered = arena_array(binder->arena, queue->tasks[queue->count - 1]->output_count + 1, sizeof *ordered);
    if (facts->ordered_count > 0)
        memcpy(ordered, facts->ordered, facts->ordered_count * sizeof *ordered);
    return ordered;
}

/* Adds the columns that the queue's tasks read, those of loops too. */
static void add_columns(const struct binder *binder, const struct queue *queue, bool **ordered,
                        struct needed_columns *columns)
{
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t k = 0; k < task->input_count; k++) {
            struct column *column = task->inputs[k].column;
            if (task->inputs[k].needed && column)
                add_column(columns, column, ordered[t][k] || lacks_order(binder, column), binder->arena);
        }
        for (size_t q = 0; q < LOOP_QUEUES && loop; q++)
            add_columns(binder, loop_queue(loop, q), text_order_find(loop_queue(loop, q), NULL).inputs, columns);
    }
}

/* The outputs of the last task that have to be read: of a result that keeps columns unread, not those that are columns
 * of sources as they are. Reading a short text takes no time, and tells its types. */
static const bool *wanted_outputs(const struct bound *bound, enum unread_kept kept, struct arena *arena)
{
    const struct queue *queue = &bound->queue;
    const struct task *last = queue->count > 0 ? queue->tasks[queue->count - 1] : NULL;
    const bool shown = bound->view == VIEW_ROWS && !bound->save_path.text;
    if (kept == UNREAD_NONE || !last || last->sink != SINK_ROWS || !shown)
        return NULL;
    bool *wanted = arena_array(arena, last->output_count + 1, sizeof *wanted);
    size_t visible = 0, computed = 0;
    bool live = false;
    for (size_t k = 0; k < last->output_count; k++) {
        const struct column *column = output_column(last, k);
        wanted[k] = !column || (column->provisional && column->rows * (int64_t)last->output_count <= SHORT_CELLS);
        visible += !last->outputs[k].hidden;
        computed += wanted[k];
        live = live || (column && column->live);
    }
    /* A relation of one column is read: expressions index it. What may change is read by each statement anew, as a
     * whole, or not at all; and before its rows are shown, since their number is then known. */
    return (visible == 1 && !live) || ((live || kept == UNREAD_SHOWN) && computed > 0) || (live && kept == UNREAD_SHOWN)
               ? NULL
               : wanted;
}

/* In a check only types are needed, which reading tells of provisional columns. */
static void keep_provisional(struct needed_columns *columns)
{
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->at[i].column->provisional)
            columns->at[kept++] = columns->at[i];
    }
    columns->count = kept;
}

/* A plan that is only shown reads no tables on servers. */
static void keep_files(struct needed_columns *columns)
{
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (!columns->at[i].column->live)
            columns->at[kept++] = columns->at[i];
    }
    columns->count = kept;
}

/* Whether a computed output is text of no known dictionary: all of it is missing, as of `true ? missing : name`, or
 * what it is computed from would be read. */
static bool has_unknown_text(const struct queue *queue)
{
    const struct task *last = queue->count > 0 ? queue->tasks[queue->count - 1] : NULL;
    for (size_t k = 0; last && k < last->output_count; k++) {
        const struct logical_type *logical = &last->outputs[k].logical;
        if (logical->kind == LOGICAL_TEXT && !logical->dictionary && !output_column(last, k))
            return true;
    }
    return false;
}

static bool is_unread_text(const struct queue *queue, const struct instr *instr)
{
    return instr->op == OP_TEXT && !is_row_text(&queue->text_applications[instr->integer]);
}

/* Whether a task computes with a stand-in for a text, which only the dictionary of a column has: of columns that
 * nothing reads, as in `true ? "a" : name`, too. */
static bool computes_unknown(const struct queue *queue, struct arena *arena)
{
    const int64_t unknown_end = unknown_code + 2 * (int64_t)queue->text_count;
    bool found = false;
    for (size_t t = 0; t < queue->count && !found; t++) {
        const struct task *task = queue->tasks[t];
        const bool *live = task_live(task, arena);
        for (value v = 0; v < task->code.count && !found; v++) {
            const struct instr *instr = &task->code.at[v];
            found =
                live[v] && (is_unread_text(queue, instr) ||
                            (instr->op == OP_CONST && instr->integer >= unknown_code && instr->integer < unknown_end));
        }
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t q = 0; q < LOOP_QUEUES && loop && !found; q++)
            found = computes_unknown(loop_queue(loop, q), arena);
    }
    return found;
}

static void add_unread_texts(const struct sources *sources, struct needed_columns *columns, struct arena *arena)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < sources->files[i].count; k++) {
            struct column *column = sources->files[i].columns[k].column;
            if (column && column->unread && column->logical.kind == LOGICAL_TEXT)
                add_column(columns, column, true, arena);
        }
    }
}

static void find_columns(const struct binder *binder, struct bound *bound, bool is_bound)
{
    struct facts *facts = binder->facts;
    struct needs *needs = binder->needs;
    struct needed_columns *columns = &needs->columns;
    struct arena *arena = binder->arena;
    const bool evaluates = facts->evaluations.count > 0;
    const enum unread_kept kept = facts->rest == facts->pipeline ? facts->unread : UNREAD_NONE;
    if (!sources_unread(&facts->sources) && !evaluates)
        return;
    /* A task of a source that is not evaluated yet may read any column. */
    const bool *wanted = is_bound && !evaluates ? wanted_outputs(bound, kept, arena) : NULL;
    if (is_bound) {
        columns->at = arena_reserve(arena, NULL, 0, &columns->capacity, sizeof *columns->at);
        queue_prune_to(&bound->queue, wanted);
        /* What is named may be compared by many statements. */
        const bool *leaving = facts->unread == UNREAD_NAMED ? NULL : leaving_texts(binder, bound);
        const struct text_order order = text_order_find(&bound->queue, leaving);
        add_columns(binder, &bound->queue, order.inputs, columns);
        evaluations_set_loose(&facts->evaluations, &bound->queue, order.outputs);
    }
    const bool lacks = is_bound && evaluations_lack(&facts->evaluations), relations = lacks && facts->runs;
    columns->at_once = !is_bound || lacks;
    columns->kept = wanted || (facts->explains && is_bound); /* which rows there are is not asked, unless it matters */
    if (facts->checking)
        keep_provisional(columns);
    if (facts->explains)
        keep_files(columns);
    if (relations) {
        needs->what = NEED_RELATIONS; /* by which a join leaves out rows of files */
    } else if (sources_lack(&facts->sources, columns, arena)) {
        needs->what = NEED_COLUMNS;
        needs->counts = !is_bound; /* perhaps it is not for a wrong number of rows */
        /* Without the order of texts, filters that compare them are not what they will be. */
        needs->narrow =
            is_bound && facts->runs && !facts->checking && !facts->careful && !lacks && binder->ordered_count == 0;
    } else if (is_bound && !facts->checking && needs->row_texts.count == 0 && binder->ordered_count == 0 &&
               (has_unknown_text(&bound->queue) || computes_unknown(&bound->queue, arena))) {
        add_unread_texts(&facts->sources, columns, arena); /* for any dictionary */
        if (sources_lack(&facts->sources, columns, arena))
            needs->what = NEED_COLUMNS;
    }
}

/* Whether a task computes with what stands for the text, which begins with its number: the one that it was bound in, or
 * that before an operator on it. */
static bool reads_row_text(const struct queue *queue, const struct row_text *text, struct arena *arena)
{
    bool reads = false;
    for (size_t t = 0; t < queue->count && !reads; t++) {
        const struct task *task = queue->tasks[t];
        const bool *live = task_live(task, arena);
        for (value v = 0; v < task->code.count && !reads; v++) {
            const struct instr *instr = &task->code.at[v];
            reads = live[v] && instr->op == OP_TEXT && is_row_text(&queue->text_applications[instr->integer]) &&
                    task->code.at[instr->args[0]].op == OP_CONST &&
                    task->code.at[instr->args[0]].integer == (int64_t)text->number;
        }
    }
    return reads;
}

/* Keeps the texts of rows that something reads: others are never made, and cannot fail. */
static void keep_live_texts(const struct queue *queue, struct row_texts *texts, struct arena *arena)
{
    size_t kept = 0;
    queue_prune(queue);
    for (size_t i = 0; i < texts->count; i++) {
        if (reads_row_text(queue, texts->at[i], arena))
            texts->at[kept++] = texts->at[i];
    }
    texts->count = kept;
}

/* Marks the texts of rows, and columns of sources, whose order the queue needs. Returns whether there are some. */
static bool mark_ordered(const struct binder *binder, const struct queue *queue, const bool *leaving)
{
    const struct row_texts *texts = &binder->facts->row_texts;
    bool **ordered = text_order_find(queue, leaving).inputs, some = false;
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t k = 0; k < task->input_count; k++) {
            const struct column *column = task->inputs[k].column;
            if (!task->inputs[k].needed || !column || !column_is_unsorted(column) ||
                !(ordered[t][k] || lacks_order(binder, column)))
                continue;
            for (size_t i = 0; i < texts->count; i++) {
                texts->at[i]->ordered = texts->at[i]->ordered || texts->at[i]->column == column;
                some = some || texts->at[i]->column == column;
            }
            some = evaluations_need_order(&binder->facts->evaluations, column->logical.dictionary) || some;
        }
        for (size_t q = 0; q < LOOP_QUEUES && loop; q++)
            some = mark_ordered(binder, loop_queue(loop, q), NULL) || some;
    }
    return some;
}

static bool needs_order(const struct binder *binder, const struct bound *bound)
{
    const struct facts *facts = binder->facts;
    bool unsorted = false;
    for (size_t i = 0; i < facts->row_texts.count; i++)
        unsorted = unsorted || column_is_unsorted(facts->row_texts.at[i]->column);
    if (!unsorted && !evaluations_unsorted(&facts->evaluations))
        return false;
    queue_prune(&bound->queue);
    bool needed = mark_ordered(binder, &bound->queue, leaving_texts(binder, bound));
    for (size_t i = 0; i < binder->ordered_count; i++)
        needed = evaluations_need_order(&facts->evaluations, binder->ordered[i]) || needed;
    return needed;
}

void find_needs(const struct binder *binder, struct bound *bound, bool is_bound)
{
    struct needs *needs = binder->needs;
    find_columns(binder, bound, is_bound);
    if (needs->what != NEED_NOTHING || !is_bound || !binder->facts->runs)
        return;
    if (needs_order(binder, bound)) {
        needs->what = NEED_ORDER; /* before it, comparisons are not what they will be */
        return;
    }
    if (needs->row_texts.count == 0)
        return;
    keep_live_texts(&bound->queue, &needs->row_texts, binder->arena);
    if (needs->row_texts.count > 0)
        needs->what = NEED_ROW_TEXTS;
}

void needs_add_value(struct needs *needs, const struct expr *expr, struct arena *arena)
{
    for (size_t i = 0; i < needs->value_count; i++) {
        if (needs->values[i] == expr)
            return;
    }
    *ARENA_PUSH(arena, needs->values, needs->value_count, needs->value_capacity) = expr;
}
