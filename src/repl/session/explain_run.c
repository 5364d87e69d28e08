
#include "repl/print/number_format.h"
#include "repl/print/text_table.h"
#include "repl/session/measure.h"

enum { TASK, WHERE, ROWS_IN, ROWS_OUT, ZONES, SKIPPED, MILLISECONDS, BUILD, UPLOAD, KERNEL, RETRIEVE, RATE, COLUMNS };

static const struct text_column columns[COLUMNS] = {
    [TASK] = {"task", true},          [WHERE] = {"on", true},           [ROWS_IN] = {"rows in", false},
    [ROWS_OUT] = {"rows out", false}, [ZONES] = {"zones", false},       [SKIPPED] = {"skipped", false},
    [MILLISECONDS] = {"ms", false},   [BUILD] = {"build", false},       [UPLOAD] = {"upload", false},
    [KERNEL] = {"kernel", false},     [RETRIEVE] = {"retrieve", false}, [RATE] = {"GB/s", false},
};

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
    number_format_int(&cells[ROWS_IN], task->rows_in, style->separators);
    if (task->rows_out >= 0)
        number_format_int(&cells[ROWS_OUT], task->rows_out, style->separators);
    if (task->times.zones > 0) {
        number_format_int(&cells[ZONES], task->times.zones, style->separators);
        number_format_int(&cells[SKIPPED], task->times.skipped, style->separators);
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

static bool skips_zones(const struct run_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->tasks[i].times.skipped > 0)
            return true;
    }
    return false;
}

static void add_total(struct strbuf *out, const struct measurement *run, const struct result *result)
{
    const struct run_trace *trace = &run->trace;
    strbuf_printf(out, "%s%zu task%s, %.3f ms in all", trace->exact ? "repeated by the exact evaluator; " : "",
                  trace->count, trace->count == 1 ? "" : "s", (double)run->ns / 1e6);
    if (result->kind == RESULT_SCALAR) {
        strbuf_puts(out, "; the result is ");
        scalar_print(out, &result->scalar);
    } else if (result->kind == RESULT_RELATION) {
        strbuf_puts(out, "; the result has ");
        number_format_group_int(out, result->relation->rows);
        strbuf_puts(out, result->relation->rows == 1 ? " row" : " rows");
    }
    strbuf_puts(out, skips_zones(trace) ? "\nskipped: zones where no row can match\n" : "\n");
}

enum status explain_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct stmt query = *stmt;
    struct measurement run;
    struct result result;
    query.kind = STMT_PIPELINE;
    const enum status status = measure_once(&session->runner, &query, arena, &run, &result, diags);
    if (status == STATUS_OK) {
        struct print_style style = session_report_style(session);
        struct text_table table;
        text_table_init(&table, arena, columns, COLUMNS);
        for (size_t i = 0; i < run.trace.count; i++)
            add_task(&table, &run.trace.tasks[i], &style);
        text_table_print(&session->out.text, &table, &style);
        if (style.format == PRINT_TABLE || style.format == PRINT_MARKDOWN) /* the other formats are for programs */
            add_total(&session->out.text, &run, &result);
    }
    result_release(&result);
    return status;
}
