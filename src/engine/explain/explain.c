/* `explain PIPELINE`: the queue as written and as fused. */
#include "engine/explain/explain.h"

#include "engine/bind/bind.h"
#include "engine/explain/explain_task.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/loop.h"

#include <string.h>

/* A long queue is shown by its beginning and its end. */
enum { SHOWN_FIRST = 20, SHOWN_LAST = 10, LINE_WIDTH = 100, MAX_TITLE = 20, MAX_DETAIL = 36 };

static size_t width_of(const struct strbuf *text)
{
    return text_width(text->text ? text->text : "", text->length);
}

static void add_text(struct strbuf *out, const struct strbuf *text)
{
    strbuf_add(out, text->text ? text->text : "", text->length);
}

static void add_padded(struct strbuf *out, const struct strbuf *text, size_t width)
{
    add_text(out, text);
    for (size_t i = width_of(text); i < width; i++)
        strbuf_putc(out, ' ');
}

static void print_heading(struct strbuf *out, const char *name, size_t count)
{
    strbuf_printf(out, "%s: %zu task%s\n", name, count, count == 1 ? "" : "s");
}

/* Whether task `t` of a long queue is left out; prints the gap where it begins. */
static bool is_left_out(struct strbuf *out, const struct queue *queue, size_t t)
{
    if (queue->count <= SHOWN_FIRST + SHOWN_LAST || t < SHOWN_FIRST || t >= queue->count - SHOWN_LAST)
        return false;
    if (t == SHOWN_FIRST)
        strbuf_printf(out, "  … %zu more\n", queue->count - SHOWN_FIRST - SHOWN_LAST);
    return true;
}

static size_t max_width(size_t width, const struct strbuf *text, size_t most)
{
    const size_t needed = width_of(text) < most ? width_of(text) : most;
    return needed > width ? needed : width;
}

/* One line for each task: number, title, detail, outputs. */
static void print_bound(struct strbuf *out, const struct queue *queue)
{
    struct strbuf *texts = arena_array(queue->arena, queue->count + 1, 3 * sizeof *texts);
    size_t title_width = 0, detail_width = 0;
    print_heading(out, "queue", queue->count);
    for (size_t t = 0; t < queue->count; t++) {
        struct strbuf *title = &texts[3 * t], *detail = title + 1, *gives = title + 2;
        task_title(title, queue->tasks[t]);
        task_detail(detail, queue->tasks[t]);
        task_result_names(gives, queue->tasks[t]);
        title_width = max_width(title_width, title, MAX_TITLE);
        if (gives->length > 0)
            detail_width = max_width(detail_width, detail, MAX_DETAIL);
    }
    for (size_t t = 0; t < queue->count; t++) {
        struct strbuf *title = &texts[3 * t], *detail = title + 1, *gives = title + 2;
        if (!is_left_out(out, queue, t)) {
            bool gives_any = gives->length > 0, more = gives_any || detail->length > 0;
            strbuf_printf(out, "%3zu ", t + 1);
            add_padded(out, title, more ? title_width : 0);
            strbuf_puts(out, more ? "  " : "");
            add_padded(out, detail, gives_any ? detail_width : 0);
            strbuf_puts(out, gives_any ? "  -> " : "");
            add_text(out, gives);
            strbuf_putc(out, '\n');
        }
        strbuf_free(title);
        strbuf_free(detail);
        strbuf_free(gives);
    }
}

/* The tasks of each round of a loop. */
static void print_loop(struct strbuf *out, struct loop *loop, const char *indent)
{
    static const char *const headings[LOOP_QUEUES] = {"each round, on whole columns", "while some row has", "until"};
    static const size_t order[LOOP_QUEUES] = {1, 0, 2};
    struct queue fused[LOOP_QUEUES];
    const struct queue *const queues[LOOP_QUEUES] = {&fused[0], &fused[1], &fused[2]};
    struct arena *arena = loop->body.arena;
    for (size_t q = 0; q < LOOP_QUEUES; q++) {
        queue_init(&fused[q], arena);
        if (loop_queue(loop, q)->count > 0)
            optimize_queue(loop_queue(loop, q), &fused[q]);
    }
    strbuf_printf(out, "%s    %s\n", indent, rounds_form(loop, queues, arena));
    for (size_t i = 0; i < LOOP_QUEUES; i++) {
        const struct queue *queue = queues[order[i]];
        if (queue->count == 0)
            continue;
        strbuf_printf(out, "%s    %s: %zu task%s\n", indent, headings[order[i]], queue->count,
                      queue->count == 1 ? "" : "s");
        explain_tasks(out, queue, arena_printf(arena, "%s    ", indent));
    }
    for (size_t q = 0; q < LOOP_QUEUES; q++)
        queue_release(&fused[q]);
}

void explain_tasks(struct strbuf *out, const struct queue *queue, const char *indent)
{
    for (size_t t = 0; t < queue->count; t++) {
        if (is_left_out(out, queue, t))
            continue;
        struct strbuf parts[TASK_PARTS] = {{0}};
        task_title(&parts[0], queue->tasks[t]);
        task_reads(&parts[1], queue->tasks[t]);
        task_keeps(&parts[2], queue->tasks[t]);
        task_result_text(&parts[3], queue->tasks[t]);
        size_t width = 4;
        for (int i = 0; i < TASK_PARTS; i++)
            width += width_of(&parts[i]) + 2;
        strbuf_printf(out, "%s%3zu ", indent, t + 1);
        for (int i = 0; i < TASK_PARTS; i++) {
            if (i > 0 && parts[i].length > 0)
                strbuf_puts(out, width <= LINE_WIDTH ? "  " : arena_printf(queue->arena, "\n%s      ", indent));
            add_text(out, &parts[i]);
            strbuf_free(&parts[i]);
        }
        strbuf_putc(out, '\n');
        const struct column_operator *column_op = queue->tasks[t]->column_op;
        if (column_op && column_op->loop)
            print_loop(out, column_op->loop, indent);
    }
}

static void print_fused(struct strbuf *out, const struct queue *queue)
{
    print_heading(out, "fused", queue->count);
    explain_tasks(out, queue, "");
}

static void explain_queue(struct strbuf *out, const struct queue *queue, const struct queue *fused)
{
    print_bound(out, queue);
    print_fused(out, fused);
}

/* The assertions on the value. */
static void print_checks(struct strbuf *out, const struct bound *bound)
{
    for (size_t i = 0; i < bound->check_count; i++)
        strbuf_printf(out, "then %s\n", bound->checks[i].text);
}

static enum status explain_bound(struct strbuf *out, struct runner *runner, const struct stmt *stmt,
                                 const struct bound *bound, struct arena *arena, struct diags *diags)
{
    const struct queue *queue = &bound->queue;
    struct queue fused, folded;
    if (stmt->variant.text && strcmp(stmt->variant.text, "passes") == 0)
        return explain_passes(out, runner, queue, arena, diags);
    const struct queue *runs = optimize_and_fold(queue, &fused, &folded);
    enum status status = STATUS_OK;
    if (stmt->variant.text) {
        status = explain_kernels(out, runner, runner->fusion ? runs : queue, diags);
    } else {
        explain_queue(out, queue, runs);
        print_checks(out, bound);
        explain_spilled(out, runs, runner->pool);
        if (bound->file_count > 0)
            strbuf_printf(out, "files: %zu of %zu opened\n", bound->opened_count, bound->file_count);
        if (!runner->fusion)
            strbuf_puts(out, "fusion is off: the queue runs as written\n");
        if (runner->chooser)
            status = explain_choice(out, runner, runner->fusion ? runs : queue, diags);
    }
    queue_release(&folded);
    queue_release(&fused);
    return status;
}

enum status explain_statement(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                              struct diags *diags)
{
    if (stmt->variant.text && strcmp(stmt->variant.text, "sql") == 0)
        return explain_sql(out, runner, stmt, arena, diags);
    if (stmt->variant.text && strcmp(stmt->variant.text, "kernel") != 0 && strcmp(stmt->variant.text, "passes") != 0)
        return diag_error_hint(diags, stmt->variant.span, "write `explain PIPELINE` or `explain kernel PIPELINE`",
                               "unknown variant `%s` of explain", stmt->variant.text);
    if (!stmt->variant.text && explain_server(out, runner, stmt, arena, diags))
        return STATUS_OK;
    struct bound bound;
    struct facts facts = {.env = runner->env,
                          .pipeline = stmt->pipeline,
                          .careful = true,
                          .row_loops = true,
                          .explains = true,
                          .timing = runner->timing};
    enum status status = bind_ready(runner, &facts, arena, &bound, diags);
    if (status == STATUS_OK && bound.queue.count == 0)
        strbuf_puts(out, "nothing to run: the value is constant\n");
    else if (status == STATUS_OK)
        status = explain_bound(out, runner, stmt, &bound, arena, diags);
    queue_release(&bound.queue);
    return status;
}
