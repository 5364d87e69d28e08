/* Tables of queries for the binder's tests: the tasks they bind to, or their errors. Every function is static
 * inline because a test program is one source file. */
#ifndef RQL_TESTS_BIND_TABLES_H
#define RQL_TESTS_BIND_TABLES_H

#include "queries.h"

#include "engine/explain/explain_task.h"

#include <inttypes.h>

static inline void add_value(struct strbuf *out, const struct task *task, value v)
{
    code_print(out, &task->code, v, task_input_names(task));
}

/* The last task, as "ids:i32, c2:i64 = ids + 1; keep ids > 0; take 3". */
static inline void describe_task(struct strbuf *out, const struct task *task)
{
    for (size_t k = 0; k < task->output_count && task->sink != SINK_AGGREGATE; k++) {
        const struct output *output = &task->outputs[k];
        strbuf_printf(out, "%s%s:%s", k > 0 ? ", " : "", output->name, type_table[output->type].name);
        const struct instr *instr = &task->code.at[output->value];
        if (task->sink == SINK_OPERATOR)
            continue;
        if (instr->op != OP_INPUT || strcmp(task->inputs[instr->integer].name, output->name) != 0) {
            strbuf_puts(out, " = ");
            add_value(out, task, output->value);
        }
    }
    if (task->sink == SINK_OPERATOR) {
        struct strbuf detail = {0};
        task_detail(&detail, task);
        strbuf_printf(out, "; %s %s", task->stages[0].name, detail.text);
        strbuf_free(&detail);
        return;
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        strbuf_puts(out, task->aggregates[i].name);
        if (task->aggregates[i].value != NO_VALUE) {
            strbuf_puts(out, " of ");
            add_value(out, task, task->aggregates[i].value);
        }
    }
    for (size_t i = 0; i < task->filter_count; i++) {
        strbuf_puts(out, "; keep ");
        add_value(out, task, task->filters[i].keep);
    }
    if (task->window.skip > 0)
        strbuf_printf(out, "; skip %" PRId64, task->window.skip);
    if (task->window.take != INT64_MAX)
        strbuf_printf(out, "; take %" PRId64, task->window.take);
    if (task->window.tail >= 0)
        strbuf_printf(out, "; tail %" PRId64, task->window.tail);
}

static inline bool same_stage(const struct task *a, const struct task *b)
{
    return a->span.begin == b->span.begin && a->span.end == b->span.end;
}

/* The last stage's tasks, separated by " | ". */
static inline void describe_stage(struct strbuf *out, const struct queue *queue)
{
    size_t first = queue->count - 1;
    while (first > 0 && same_stage(queue->tasks[first - 1], last_task(queue)))
        first--;
    for (size_t t = first; t < queue->count; t++) {
        strbuf_puts(out, t > first ? " | " : "");
        describe_task(out, queue->tasks[t]);
    }
}

static inline void describe(struct strbuf *out, const struct bound *bound)
{
    static const char *const kinds[] = {[KIND_BOOL] = "bool", [KIND_INT] = "int", [KIND_FLOAT] = "float"};
    switch (bound->kind) {
    case BOUND_CONSTANT:
        strbuf_printf(out, "%s ", kinds[bound->scalar.kind]);
        scalar_print(out, &bound->scalar);
        return;
    case BOUND_UNKNOWN:
        strbuf_puts(out, "unknown");
        return;
    case BOUND_SCALAR:
        strbuf_printf(out, "%s ", kinds[bound->scalar_kind]);
        if (bound->queue.count == 0)
            return;
        break;
    case BOUND_RELATION:
        break;
    }
    describe_stage(out, &bound->queue);
}

struct good {
    const char *text;
    const char *result;
};

static inline void check_good(struct queries *queries, const struct good *good, size_t count, bool checking)
{
    for (size_t i = 0; i < count; i++) {
        struct bound bound = {0};
        struct strbuf out = {0};
        const struct stmt *stmt = query_parse(queries, good[i].text);
        if (query_bind_statement(queries, stmt, checking, &bound) != STATUS_OK)
            fail_msg("%s: %s", good[i].text, queries->scratch->diags.at[0].message);
        describe(&out, &bound);
        if (strcmp(out.text, good[i].result) != 0)
            fail_msg("%s\n  is        %s\n  should be %s", good[i].text, out.text, good[i].result);
        strbuf_free(&out);
        queue_release(&bound.queue);
    }
}

#define CHECK_GOOD(queries, table, checking) check_good(queries, table, sizeof(table) / sizeof *(table), checking)

/* One error: place, message, and hint or second span. */
struct bad {
    const char *text;
    const char *place; /* the text its span covers */
    const char *message;
    const char *advice; /* part of the hint or second span; NULL: none */
};

static inline bool covers(const struct span *span, const char *text)
{
    return span->source != NULL && strlen(text) == span->end - span->begin &&
           memcmp(span->source->text + span->begin, text, strlen(text)) == 0;
}

static inline void check_bad(struct queries *queries, const struct bad *bad, size_t count, bool checking)
{
    for (size_t i = 0; i < count; i++) {
        struct diags *diags = &queries->scratch->diags;
        struct bound bound = {0};
        const struct stmt *stmt = query_parse(queries, bad[i].text);
        while (stmt->next != NULL)
            stmt = stmt->next;
        if (query_bind_statement(queries, stmt, checking, &bound) != STATUS_FAILED || diags->count == 0)
            fail_msg("%s: bound", bad[i].text);
        const struct diag *diag = &diags->at[0];
        bool advised = bad[i].advice == NULL ? diag->hint == NULL && diag->second.source == NULL
                                             : (diag->hint != NULL && strstr(diag->hint, bad[i].advice) != NULL) ||
                                                   covers(&diag->second, bad[i].advice);
        if (diags->count != 1 || !covers(&diag->span, bad[i].place) || strcmp(diag->message, bad[i].message) != 0 ||
            !advised)
            fail_msg("%s\n  %zu errors, the first at bytes %u..%u: %s\n  hint: %s", bad[i].text, diags->count,
                     diag->span.begin, diag->span.end, diag->message, diag->hint != NULL ? diag->hint : "none");
    }
}

#define CHECK_BAD(queries, table, checking) check_bad(queries, table, sizeof(table) / sizeof *(table), checking)

#endif
