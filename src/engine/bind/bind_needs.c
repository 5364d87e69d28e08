#include "engine/bind/bind_needs.h"

#include "engine/bind/bind_remote.h"
#include "engine/bind/bind_rows.h"
#include "engine/plan/loop.h"
#include "engine/plan/text_order.h"

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

struct needs {
    struct needed_column *at;
    size_t count, capacity;
};

/* Adds the columns that the queue's tasks read, those of loops too. */
static void add_needs(const struct binder *binder, const struct queue *queue, struct needs *needs)
{
    bool **ordered = text_order_inputs(queue);
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t k = 0; k < task->input_count; k++) {
            struct column *column = task->inputs[k].column;
            if (!task->inputs[k].needed || !column)
                continue;
            needs->at = arena_reserve(binder->arena, needs->at, needs->count, &needs->capacity, sizeof *needs->at);
            needs->at[needs->count++] = (struct needed_column){column, ordered[t][k] || lacks_order(binder, column)};
        }
        for (size_t q = 0; q < LOOP_QUEUES && loop; q++)
            add_needs(binder, loop_queue(loop, q), needs);
    }
}

/* The columns that the queue reads, in the arena, for results of which outputs with wanted[k] have to be read. */
static struct needed_column *needed_columns(const struct binder *binder, const struct queue *queue, const bool *wanted,
                                            size_t *count)
{
    struct needs needs = {0};
    needs.at = arena_reserve(binder->arena, NULL, 0, &needs.capacity, sizeof *needs.at);
    queue_prune_to(queue, wanted);
    add_needs(binder, queue, &needs);
    *count = needs.count;
    return needs.at;
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
static size_t keep_provisional(struct needed_column *needed, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (needed[i].column->provisional)
            needed[kept++] = needed[i];
    }
    return kept;
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

/* Whether a task computes with a stand-in for a text, which only the dictionary of a column has: of columns that
 * nothing reads, as in `true ? "a" : name`, too. */
static bool computes_unknown(const struct queue *queue, struct arena *arena)
{
    const int64_t unknown_end = unknown_code + 2 * (int64_t)queue->text_count;
    bool found = false;
    for (size_t t = 0; t < queue->count && !found; t++) {
        const struct task *task = queue->tasks[t];
        bool *live = arena_array(arena, (size_t)task->code.count + 1, sizeof *live);
        task_mark_live(task, live);
        for (value v = 0; v < task->code.count && !found; v++) {
            const struct instr *instr = &task->code.at[v];
            found = live[v] && (instr->op == OP_TEXT || (instr->op == OP_CONST && instr->integer >= unknown_code &&
                                                         instr->integer < unknown_end));
        }
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t q = 0; q < LOOP_QUEUES && loop && !found; q++)
            found = computes_unknown(loop_queue(loop, q), arena);
    }
    return found;
}

/* The unread columns of text. */
static struct needed_column *unread_texts(const struct sources *sources, struct arena *arena, size_t *count)
{
    struct needs needs = {0};
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < sources->files[i].count; k++) {
            struct column *column = sources->files[i].columns[k].column;
            if (!column || !column->unread || column->logical.kind != LOGICAL_TEXT)
                continue;
            needs.at = arena_reserve(arena, needs.at, needs.count, &needs.capacity, sizeof *needs.at);
            needs.at[needs.count++] = (struct needed_column){column, true};
        }
    }
    *count = needs.count;
    return needs.at;
}

enum status provide_columns(const struct binder *binder, const struct bind_request *request, struct sources *sources,
                            enum status binding, const struct bound *bound, size_t diags_before, bool *done)
{
    const bool is_bound = binding == STATUS_OK;
    size_t count = 0;
    if (!sources_unread(sources) && binder->evaluations->count == 0) {
        *done = true;
        return binding;
    }
    /* A task of a source that is not evaluated yet may read any column. */
    const bool *wanted =
        is_bound && binder->evaluations->count == 0 ? wanted_outputs(bound, request->unread, binder->arena) : NULL;
    /* What stays unread is of the statements that read it. */
    for (size_t i = 0; wanted && i < sources->count; i++)
        sources->files[i].outdated = false;
    struct needed_column *needed = is_bound ? needed_columns(binder, &bound->queue, wanted, &count) : NULL;
    enum status status = binding;
    for (size_t i = 0; i < sources->count; i++)
        sources->files[i].at_once = !is_bound || evaluations_lack(binder->evaluations);
    if (!is_bound && sources_lack(sources, needed, count, binder->arena)) { /* perhaps for a wrong number of rows */
        bool counted;
        binder->diags->count = diags_before; /* it is read or bound again */
        status = sources_count(sources, binder->env, &counted, binder->diags);
        if (status != STATUS_OK || counted)
            return status;
    }
    if (request->checking)
        count = keep_provisional(needed, count);
    /* It needs columns that are unread, or could not be bound because of types that only reading tells. */
    if (!tables_wait(binder, request, needed, count) && sources_lack(sources, needed, count, binder->arena)) {
        bool narrowed = false;
        binder->diags->count = diags_before;
        status = STATUS_OK;
        if (is_bound && request->runner && !request->checking && !request->whole &&
            !evaluations_lack(binder->evaluations))
            status = narrow_sources(binder, request, sources, &bound->queue, needed, &count, &narrowed);
        if (status == STATUS_OK && !narrowed)
            status = sources_read(sources, binder->env, needed, count, request->timing, binder->diags);
    } else if (is_bound && request->runner && evaluations_lack(binder->evaluations)) {
        binder->diags->count = diags_before;
        status = evaluations_run(binder->evaluations, request->runner, binder->arena, binder->diags);
    } else {
        *done = true;
        if (is_bound && !request->checking &&
            (has_unknown_text(&bound->queue) || computes_unknown(&bound->queue, binder->arena)))
            needed = unread_texts(sources, binder->arena, &count);
        if (sources_lack(sources, needed, count, binder->arena)) { /* for any dictionary */
            *done = false;
            binder->diags->count = diags_before;
            status = sources_read(sources, binder->env, needed, count, request->timing, binder->diags);
        }
    }
    return status;
}
