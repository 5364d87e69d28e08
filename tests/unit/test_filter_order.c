/* The leading filter of a task: the condition expected to pass the fewest rows, if neither it nor one before it can
 * fail. */
#include "queries.h"

#include "engine/evaluator/program.h"
#include "engine/explain/explain_task.h"
#include "engine/optimize/optimize.h"

static void rarest_leads(void **state)
{
    static const struct {
        const char *query;
        const char *lead; /* NULL: none */
    } cases[] = {
        {"load ids.bin | zip amounts.bin | map ids + 1", NULL},
        {"load ids.bin | zip amounts.bin | count ids == 42", "ids == 42"},
        {"load ids.bin | zip amounts.bin | count amounts > 0 && ids == 42", "ids == 42"},
        {"load ids.bin | zip amounts.bin | count ids == 42 && amounts > 0", "ids == 42"},
        {"load ids.bin | zip amounts.bin | select amounts > 0 | select even(amounts) | count ids == 42", "ids == 42"},
        {"load ids.bin | zip amounts.bin | count ids != 42 && amounts % 222 == 0", "amounts % 222 == 0"},
        {"load ids.bin | zip amounts.bin | count even(ids) && amounts & 7 == 3", "amounts & 7 == 3"},
        {"load short.i16 | count short > 32000 && short < 100", "short > 32000"},
        {"load short.i16 | count short > -32000 && short < -100", "short < -100"},
        {"load wide.i64, half.f64 | count half < 0.5 && wide == 3", "wide == 3"},
        {"load ids.bin | zip amounts.bin | count ids == 42 || amounts > 0", "ids == 42 || amounts > 0"},
        /* A condition does not lead if one before it can fail. */
        {"load ids.bin | zip amounts.bin | count 100 / amounts > 3 && ids == 42", NULL},
        {"load ids.bin | zip amounts.bin | select 100 / amounts > 3 | count ids == 42", NULL},
        /* If a later condition can fail, only the first may lead. */
        {"load ids.bin | zip amounts.bin | count amounts != 0 && ids == 42 && 100 / amounts > 3", "amounts != 0"},
        /* Fallible results are computed only for passing rows. */
        {"load ids.bin | zip amounts.bin | select amounts != 0 && ids == 42 | sum 100 / amounts", "ids == 42"},
    };
    struct queries *queries = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bound bound = query_bind(queries, cases[i].query);
        struct queue fused;
        queue_init(&fused, queries->scratch->arena);
        optimize_queue(&bound.queue, &fused);
        struct task *task = fused.tasks[fused.count - 1];
        struct column *columns[8] = {0};
        assert_true(task->input_count <= 8);
        optimize_task(task, columns, task->rows);
        value lead = filter_order_first(task);
        struct strbuf out = {0};
        if (lead != NO_VALUE)
            code_print(&out, &task->code, lead, task_input_names(task));
        if ((lead == NO_VALUE) != !cases[i].lead || (lead != NO_VALUE && strcmp(out.text, cases[i].lead) != 0))
            fail_msg("%s: %s", cases[i].query, lead == NO_VALUE ? "none" : out.text);
        strbuf_free(&out);
        queue_release(&fused);
        queue_release(&bound.queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rarest_leads, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("lead", tests, NULL, NULL);
}
