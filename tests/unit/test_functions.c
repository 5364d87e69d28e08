/* Functions in expressions: the table, types in a check, and how functions of text are bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/plan/calendar_code.h"
#include "engine/plan/functions.h"
#include "engine/text_functions/text_functions.h"
#include "queries.h"
#include "typed_columns.h"

#include <string.h>

static void the_table_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < function_count; i++) {
        const struct function *function = &functions[i];
        assert_ptr_equal(function_find(function->name), function);
        const bool reads_clock = function->signature == SIGNATURE_NOW || function->signature == SIGNATURE_TODAY;
        assert_true(function->least >= !reads_clock && function->most >= function->least);
        assert_true(strlen(function->usage) > strlen(function->name) && *function->summary != '\0');
        assert_true((function->signature == SIGNATURE_PART) == (calendar_part_find(function->name) != NULL));
        if (function->signature != SIGNATURE_TEXT)
            continue;
        const struct text_function *text = text_function_find(function->name);
        assert_non_null(text);
        assert_int_equal(function->least, text->least + 1);
        assert_int_equal(function->most, text->most + 1);
    }
    const char *const converts[] = {"int", "float", "date", "timestamp", "like", "~", "+"};
    for (size_t i = 0; i < sizeof converts / sizeof *converts; i++)
        assert_non_null(text_function_find(converts[i]));
}

/* A relation `t` of text and a date. */
static void set_table(struct queries *queries)
{
    static const char *const strings[] = {"banana", "apple", NULL, "avocado", "apple"};
    static const int64_t days[] = {0, 1, -1, 19782, 0};
    static const unsigned char present[] = {1, 1, 0, 1, 1};
    struct column *columns[] = {
        text_column(strings, 5),
        logical_column(TYPE_I32, (struct logical_type){.kind = LOGICAL_DATE}, days, present, 5)};
    const char *const names[] = {"s", "d"};
    struct relation *relation = relation_new(5, 2, columns, names);
    env_set_relation(queries->env, "t", relation);
    relation_unref(relation);
    column_unref(columns[0]);
    column_unref(columns[1]);
}

static size_t count_lookups(const struct task *task)
{
    size_t count = 0;
    for (int32_t i = 0; i < task->code.count; i++)
        count += task->code.at[i].op == OP_GATHER;
    return count;
}

/* Codes are sorted: what is true of neighbours only is a comparison of codes. */
static void one_run_of_codes_is_compared(void **state)
{
    struct queries *queries = *state;
    static const struct {
        const char *query;
        size_t lookups;
    } cases[] = {
        {"t | select s like \"a%\"", 0},      {"t | select starts(s, \"b\")", 0}, {"t | select s ~ \"x\"", 0},
        {"t | select len(s) > 5", 1},         {"t | select s like \"a%e\"", 0},   {"t | select contains(s, \"a\")", 0},
        {"t | select s ~ \"^(apple|b)\"", 1},
    };
    set_table(queries);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bound bound = query_bind(queries, cases[i].query);
        if (count_lookups(last_task(&bound.queue)) != cases[i].lookups)
            fail_msg("%s: %zu lookups", cases[i].query, count_lookups(last_task(&bound.queue)));
        queue_release(&bound.queue);
    }
}

/* In a check nothing is computed, but types are known. */
static void types_are_known_in_a_check(void **state)
{
    struct queries *queries = *state;
    static const struct {
        const char *expression;
        enum logical kind;
        enum type type;
    } cases[] = {
        {"upper(s)", LOGICAL_TEXT, TYPE_U32},        {"s + \"x\"", LOGICAL_TEXT, TYPE_U32},
        {"s + s", LOGICAL_TEXT, TYPE_U32},           {"len(s)", LOGICAL_NUMBER, TYPE_I64},
        {"float(s)", LOGICAL_NUMBER, TYPE_F64},      {"s like \"a%\"", LOGICAL_NUMBER, TYPE_BOOL},
        {"date(s)", LOGICAL_DATE, TYPE_I64},         {"timestamp(s)", LOGICAL_TIMESTAMP, TYPE_I64},
        {"year(date(s))", LOGICAL_NUMBER, TYPE_I64}, {"upper(s) == lower(s)", LOGICAL_NUMBER, TYPE_BOOL},
        {"trunc(d, month)", LOGICAL_DATE, TYPE_I64}, {"min(s, upper(s))", LOGICAL_TEXT, TYPE_U8},
    };
    set_table(queries);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char query[100];
        struct bound bound = {0};
        (void)snprintf(query, sizeof query, "t | map %s", cases[i].expression);
        if (query_bind_statement(queries, query_parse(queries, query), true, &bound) != STATUS_OK)
            fail_msg("%s: %s", query, queries->scratch->diags.at[0].message);
        const struct output *output = &last_task(&bound.queue)->outputs[0];
        if (output->logical.kind != cases[i].kind || output->type != cases[i].type)
            fail_msg("%s: kind %d, type %d", query, output->logical.kind, output->type);
        queue_release(&bound.queue);
    }
}

/* Errors that a check finds, without computing anything. */
static void arguments_are_checked(void **state)
{
    struct queries *queries = *state;
    const char *const wrong[] = {"s ~ \"(\"", "split(s, \"\", 0)", "s like \"\\\\\"", "extract(s, s)", "len(d)",
                                 "hour(d)",   "trunc(d, decade)",  "round(s, 1)",     "bucket(d, 1h)", "s ~ s"};
    set_table(queries);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char query[100];
        struct bound bound = {0};
        (void)snprintf(query, sizeof query, "t | map %s", wrong[i]);
        if (query_bind_statement(queries, query_parse(queries, query), true, &bound) != STATUS_FAILED)
            fail_msg("%s: bound", query);
        assert_int_equal(queries->scratch->diags.count, 1);
    }
}

static void binding_can_be_cancelled(void **state)
{
    struct queries *queries = *state;
    atomic_int cancel = 1;
    struct file_cache *file_cache = file_cache_new(queries->mappings, &cancel);
    struct env *env = queries->env;
    struct bound bound = {0};
    queries->env = env_new(file_cache);
    set_table(queries);
    const struct stmt *stmt = query_parse(queries, "t | map upper(s), nonsense");
    assert_int_equal(query_bind_statement(queries, stmt, false, &bound), STATUS_CANCELLED);
    assert_int_equal(queries->scratch->diags.count, 0);
    cancel = 0;
    stmt = query_parse(queries, "t | map upper(s)");
    assert_int_equal(query_bind_statement(queries, stmt, false, &bound), STATUS_OK);
    queue_release(&bound.queue);
    env_free(queries->env);
    file_cache_free(file_cache);
    queries->env = env;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test_setup_teardown(one_run_of_codes_is_compared, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(types_are_known_in_a_check, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(arguments_are_checked, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(binding_can_be_cancelled, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
