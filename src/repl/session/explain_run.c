/* `explain run PIPELINE`: runs it and says, instead of printing the result, what each task took. */
#include "repl/print/number_format.h"
#include "repl/print/text_table.h"
#include "repl/session/session.h"

enum { TASK, WHERE, ROWS_IN, ROWS_OUT, ZONES, SKIPPED, MILLISECONDS, BUILD, UPLOAD, KERNEL, RETRIEVE, RATE, COLUMNS };

static const struct text_column columns[COLUMNS] = {
    [TASK] = {"task", true},          [WHERE] = {"on", true},           [ROWS_IN] = {"rows in", false},
    [ROWS_OUT] = {"rows out", false}, [ZONES] = {"zones", false},       [SKIPPED] = {"skipped", false},
    [MILLISECONDS] = {"ms", false},   [BUILD] = {"build", false},       [UPLOAD] = {"upload", false},
    [KERNEL] = {"kernel", false},     [RETRIEVE] = {"retrieve", false}, [RATE] = {"GB/s", false},
};

static void add_rows(struct strbuf *out, int64_t rows, const struct print_style *style)
{
    if (style->separators)
        number_format_group_int(out, rows);
    else
        strbuf_printf(out, "%lld", (long long)rows);
}

static void add_phase(struct strbuf *out, const struct task_trace *task, enum phase phase)
{
    if (task->times.ns[phase] > 0)
        strbuf_printf(out, "%.3f", (double)task->times.ns[phase] / 1e6);
}

static void add_task(struct text_table *table, const struct task_trace *task, const struct print_style *style)
{
    struct strbuf cells[COLUMNS] = {{0}};
    strbuf_puts(&cells[TASK], task->title);
    strbuf_puts(&cells[WHERE], task->where);
    add_rows(&cells[ROWS_IN], task->rows_in, style);
    if (task->rows_out >= 0)
        add_rows(&cells[ROWS_OUT], task->rows_out, style);
    if (task->times.zones > 0) {
        add_rows(&cells[ZONES], task->times.zones, style);
        add_rows(&cells[SKIPPED], task->times.skipped, style);
    }
    strbuf_printf(&cells[MILLISECONDS], "%.3f", (double)task->ns / 1e6);
    add_phase(&cells[BUILD], task, PHASE_BUILD);
    add_phase(&cells[UPLOAD], task, PHASE_UPLOAD);
    add_phase(&cells[KERNEL], task, PHASE_KERNEL);
    add_phase(&cells[RETRIEVE], task, PHASE_RETRIEVE);
    if (task->times.bytes > 0 && task->times.ns[PHASE_KERNEL] > 0)
        strbuf_printf(&cells[RATE], "%.2f", (double)task->times.bytes / (double)task->times.ns[PHASE_KERNEL]);
    text_table_add(table, cells);
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_free(&cells[k]);
}

static bool skips(const struct run_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->tasks[i].times.skipped > 0)
            return true;
    }
    return false;
}

static void add_total(struct strbuf *out, const struct run_trace *trace, const struct result *result, int64_t ns)
{
    strbuf_printf(out, "%s%zu task%s, %.3f ms in all", trace->exact ? "done again row by row, to be exact; " : "",
                  trace->count, trace->count == 1 ? "" : "s", (double)ns / 1e6);
    if (result->kind == RESULT_SCALAR) {
        strbuf_puts(out, "; the result is ");
        scalar_print(out, &result->scalar);
    } else if (result->kind == RESULT_RELATION) {
        strbuf_puts(out, "; the result has ");
        number_format_group_int(out, result->relation->rows);
        strbuf_puts(out, result->relation->rows == 1 ? " row" : " rows");
    }
    strbuf_puts(out, skips(trace) ? "\nskipped: zones of rows in which nothing could pass\n" : "\n");
}

enum status explain_run(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct print_style style = shell_print_style(shell);
    struct run_trace trace = {.arena = arena};
    struct timing timing;
    timing_init(&timing, arena);
    struct timing *before = shell->runner.timing;
    struct stmt query = *stmt;
    query.kind = STMT_PIPELINE;
    shell->runner.timing = before ? before : &timing;
    shell->runner.trace = &trace;
    struct result result;
    int64_t began = now_ns();
    enum status status = run_statement(&shell->runner, &query, arena, &result, diags);
    int64_t ns = now_ns() - began;
    shell->runner.timing = before;
    shell->runner.trace = NULL;
    if (status == STATUS_OK) {
        struct text_table table;
        text_table_init(&table, arena, columns, COLUMNS);
        for (size_t i = 0; i < trace.count; i++)
            add_task(&table, &trace.tasks[i], &style);
        style.header = true;
        if (style.format != PRINT_JSON && style.format != PRINT_JSONL)
            style.format = style.format == PRINT_TSV ? PRINT_TABLE : style.format;
        text_table_print(&shell->out.text, &table, &style);
        if (style.format == PRINT_TABLE || style.format == PRINT_MARKDOWN) { /* the others are for programs */
            add_total(&shell->out.text, &trace, &result, ns);
        }
    }
    result_release(&result);
    return status;
}
