#include "engine/plan/result.h"

#include "base/heap.h"

#include <stdlib.h>

static void complete(const struct output *output, struct column *const *columns, struct column *column)
{
    if (column->logical.kind == LOGICAL_NUMBER && output->logical.kind != LOGICAL_NUMBER)
        column_set_logical(column, output->logical);
    if (output->logical.member && !column->logical.member)
        column->logical.member = true;
    if (output->validity != 0 && !column->validity)
        column_set_validity(column, column_ref(columns[output->validity]));
}

struct relation *relation_of_outputs(const struct task *task, int64_t rows, struct column *const *columns)
{
    const char **names = heap_array(task->output_count + 1, sizeof *names);
    size_t count = 0;
    while (count < task->output_count && !task->outputs[count].hidden) {
        complete(&task->outputs[count], columns, columns[count]);
        names[count] = task->outputs[count].name;
        count++;
    }
    struct relation *relation = relation_new(rows, count, columns, names);
    free(names);
    return relation;
}

void result_release(struct result *result)
{
    relation_unref(result->relation);
    *result = (struct result){.kind = RESULT_NONE, .show_rows = SHOW_SOME};
}
