/* Queries parsed from text and bound against a few small files. Every
 * function is static inline because a test program is one source file. */
#ifndef RQL_TESTS_QUERIES_H
#define RQL_TESTS_QUERIES_H

#include "engine/run/run.h"
#include "parser/parse.h"
#include "scratch.h"

#include <utime.h>

struct queries {
    struct scratch *scratch; /* the current folder */
    struct mappings *mappings;
    struct file_cache *file_cache;
    struct env *env;
};

/* A file old enough for the file cache to trust its stamp. */
static inline void queries_file(struct queries *queries, const char *name, const void *data, size_t size)
{
    const struct utimbuf long_ago = {1000000000, 1000000000};
    assert_int_equal(utime(scratch_write(queries->scratch, name, data, size), &long_ago), 0);
}

/* ids.bin and amounts.bin have 10 rows, short.i16 has 3, wide.i64 and half.f64 have 4, table/ has two columns of 2. */
static inline struct queries *queries_new(void)
{
    static const int32_t ids[] = {42, 7, 42, 444, 0, 42, 666, 42, 7, 222};
    static const int32_t amounts[] = {100, -50, -20, 222, 444, 0, -222, 7, 30, 111};
    static const int16_t few[] = {1, 2, 3};
    static const int64_t wide[] = {INT64_MIN, -1, 0, INT64_MAX};
    static const double halves[] = {-0.5, 0.0, 0.5, 1e300};
    static const uint8_t table[] = {1, 2};
    struct queries *queries = calloc(1, sizeof *queries);
    assert_non_null(queries);
    queries->scratch = scratch_new();
    assert_int_equal(chdir(queries->scratch->folder), 0);
    assert_int_equal(mkdir(scratch_path(queries->scratch, "table"), 0700), 0);
    queries_file(queries, "ids.bin", ids, sizeof ids);
    queries_file(queries, "amounts.bin", amounts, sizeof amounts);
    queries_file(queries, "short.i16", few, sizeof few);
    queries_file(queries, "wide.i64", wide, sizeof wide);
    queries_file(queries, "half.f64", halves, sizeof halves);
    queries_file(queries, "table/price.u8", table, sizeof table);
    queries_file(queries, "table/qty.i8", table, sizeof table);
    queries->mappings = mappings_new();
    queries->file_cache = file_cache_new(queries->mappings, NULL);
    queries->env = env_new(queries->file_cache);
    return queries;
}

static inline void queries_free(struct queries *queries)
{
    env_free(queries->env);
    file_cache_free(queries->file_cache);
    mappings_free(queries->mappings);
    assert_int_equal(chdir("/"), 0);
    scratch_free(queries->scratch);
    free(queries);
}

/* cmocka setup: the state is the queries. */
static inline int queries_setup(void **state)
{
    *state = queries_new();
    return 0;
}

static inline int queries_teardown(void **state)
{
    queries_free(*state);
    return 0;
}

/* Parses a text without syntax errors; NULL if it has no statements. */
static inline const struct stmt *query_parse(struct queries *queries, const char *text)
{
    struct scratch *scratch = queries->scratch;
    struct source *source = arena_alloc(scratch->arena, sizeof *source);
    struct stmt *first = NULL;
    *source = (struct source){"test", text, strlen(text)};
    scratch->diags.count = 0;
    if (parse(source, PARSE_SCRIPT, scratch->arena, &scratch->diags, &first) != PARSE_OK)
        fail_msg("%s: %s", text, scratch->diags.at[0].message);
    return first;
}

static inline enum status query_bind_statement(struct queries *queries, const struct stmt *stmt, bool checking,
                                               struct bound *bound)
{
    struct scratch *scratch = queries->scratch;
    if (stmt->kind == STMT_DEF)
        return check_definition(queries->env, stmt, scratch->arena, &scratch->diags);
    struct facts facts = {.env = queries->env, .pipeline = stmt->pipeline, .expr = stmt->expr, .checking = checking};
    return bind_ready(NULL, &facts, scratch->arena, bound, &scratch->diags);
}

/* Binds one statement without errors; the caller releases it. */
static inline struct bound query_bind(struct queries *queries, const char *text)
{
    struct bound bound = {0};
    if (query_bind_statement(queries, query_parse(queries, text), false, &bound) != STATUS_OK)
        fail_msg("%s: %s", text, queries->scratch->diags.at[0].message);
    return bound;
}

/* Defines a text's functions. */
static inline void query_define(struct queries *queries, const char *text)
{
    for (const struct stmt *stmt = query_parse(queries, text); stmt != NULL; stmt = stmt->next) {
        assert_int_equal(query_bind_statement(queries, stmt, false, NULL), STATUS_OK);
        env_set_definition(queries->env, stmt);
    }
}

static inline const struct task *last_task(const struct queue *queue)
{
    return queue->tasks[queue->count - 1];
}

#endif
