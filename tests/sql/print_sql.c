/* Prints typed code as SQL, for tests: print_sql DIALECT < PIPELINES, one in each line.
 *
 * Of each pipeline of one task: what its SELECT reads, the condition that a row is kept, the condition that it fails,
 * and its values, with tabs between them; or the operation that the dialect does not have. The table is called t, its
 * columns as those of the files. */
#include "engine/optimize/optimize.h"
#include "engine/run/run.h"
#include "parser/parse.h"
#include "sql/lower/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *leaf_text(const struct sql_dialect *dialect, const struct input *input, struct arena *arena)
{
    const bool clickhouse = dialect == sql_clickhouse;
    const enum kind kind = type_table[input->type].kind;
    const bool validity = strcmp(input->name, "x") == 0 && kind == KIND_BOOL;
    if (validity)
        return "(m IS NOT NULL)";
    if (kind == KIND_BOOL)
        return arena_printf(arena, clickhouse ? "%s" : "(%s <> 0)", input->name);
    if (clickhouse)
        return arena_printf(arena, "to%s64(%s)", kind == KIND_INT ? "Int" : "Float", input->name);
    return arena_printf(arena, "CAST(%s AS %s)", input->name, kind == KIND_INT ? "BIGINT" : "DOUBLE");
}

/* All filters as one condition; NULL: it cannot be said. */
static const char *kept(struct sql_expressions *expressions, const struct task *task, struct arena *arena)
{
    const char *all = "";
    for (size_t i = 0; i < task->filter_count; i++) {
        const char *one = sql_expression(expressions, task->filters[i].keep);
        if (!one)
            return NULL;
        all = arena_printf(arena, "%s%s%s", all, i > 0 ? " AND " : "", one);
    }
    return all;
}

static bool print_task(const struct sql_dialect *dialect, struct task *task, const struct queue *queue,
                       struct arena *arena)
{
    struct sql_leaf *leaves = arena_array(arena, task->input_count + 1, sizeof *leaves);
    for (size_t i = 0; i < task->input_count; i++)
        leaves[i].text = leaf_text(dialect, &task->inputs[i], arena);
    bool *live = arena_array(arena, (size_t)task->code.count + 1, sizeof *live);
    task_mark_live(task, live);
    const char *unless = NULL;
    struct sql_expressions *expressions = sql_expressions_new(dialect, task, leaves, queue, &unless, arena);
    const char *from = sql_share(expressions, live, "t"), *fails = NULL;
    const char *where = from ? kept(expressions, task, arena) : NULL;
    bool good = where && sql_failure(expressions, live, &fails);
    const char *values = "";
    for (size_t k = 0; k < task->output_count && good; k++) {
        const char *text = sql_expression(expressions, task->outputs[k].value);
        good = text != NULL;
        values = good ? arena_printf(arena, "%s\t%s", values, text) : values;
    }
    if (good)
        printf("%s\t%s\t%s%s\n", from, where, fails ? fails : "", values);
    else
        printf("no %s\n", sql_refusal(expressions));
    return true;
}

static bool print_pipeline(struct env *env, const struct sql_dialect *dialect, const char *line)
{
    struct arena *arena = arena_new();
    struct diags diags = {.arena = arena};
    struct source source = {"test", line, strlen(line)};
    struct stmt *stmt = NULL;
    struct bound bound = {0};
    struct queue fused = {0};
    const bool parsed = parse(&source, PARSE_SCRIPT, arena, &diags, &stmt) == PARSE_OK;
    struct facts facts = {.env = env, .pipeline = parsed ? stmt->pipeline : NULL, .careful = true};
    if (!parsed || bind_ready(NULL, &facts, arena, &bound, &diags) != STATUS_OK) {
        printf("error %s\n", diags.count > 0 ? diags.at[0].message : "");
        arena_free(arena);
        return parsed;
    }
    queue_init(&fused, arena);
    optimize_queue(&bound.queue, &fused);
    struct task *task = fused.tasks[fused.count - 1];
    struct column **columns = arena_array(arena, task->input_count + 1, sizeof *columns);
    for (size_t i = 0; i < task->input_count; i++)
        columns[i] = task->inputs[i].column;
    optimize_task(task, columns, 1);
    if (fused.count != 1)
        printf("error %zu tasks\n", fused.count);
    else
        print_task(dialect, task, &bound.queue, arena);
    queue_release(&fused);
    queue_release(&bound.queue);
    arena_free(arena);
    return true;
}

int main(int argc, char **argv)
{
    const struct sql_dialect *dialect = argc == 2 ? sql_dialect_find(argv[1]) : NULL;
    if (!dialect) {
        fputs("usage: print_sql DIALECT < PIPELINES\n", stderr);
        return 2;
    }
    struct mappings *mappings = mappings_new();
    struct file_cache *file_cache = file_cache_new(mappings, NULL);
    struct env *env = env_new(file_cache);
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0)
        print_pipeline(env, dialect, line);
    free(line);
    env_free(env);
    file_cache_free(file_cache);
    mappings_free(mappings);
    return 0;
}
