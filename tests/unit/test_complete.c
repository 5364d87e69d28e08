/* Completion: candidates at the cursor, except file names. */
#include "scratch.h"

#include "repl/line/complete.h"

#include "engine/formats/open_file.h"
#include "engine/run/run.h"
#include "parser/parse.h"

struct desk {
    struct arena *arena;
    struct mappings *mappings;
    struct file_cache *file_cache;
    struct completer completer;
};

/* Adds a statement's definitions to the environment, as a check does. */
static void define(struct desk *desk, const char *text)
{
    struct source *source = arena_alloc(desk->arena, sizeof *source);
    struct stmt *stmt;
    struct diags diags;
    diags_init(&diags, desk->arena);
    *source = (struct source){"", text, strlen(text)};
    assert_int_equal(parse(source, PARSE_SCRIPT, desk->arena, &diags, &stmt), PARSE_OK);
    assert_int_equal(check_statement(desk->completer.env, stmt, desk->arena, &diags), STATUS_OK);
}

static bool no_table(const char *path)
{
    (void)path;
    return false;
}

static const char *some_dialect(size_t k)
{
    static const char *const names[] = {"clickhouse", "duckdb", NULL};
    return names[k];
}

static const struct table_source tables = {.accepts = no_table, .dialect = some_dialect};

static int set_up(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    desk->arena = arena_new();
    desk->mappings = mappings_new();
    desk->file_cache = file_cache_new(desk->mappings, NULL);
    file_cache_set_tables(desk->file_cache, &tables);
    desk->completer.env = env_new(desk->file_cache);
    define(desk, "let trades = load ids.i32 | zip amounts.i32");
    define(desk, "let limit = 42");
    define(desk, "def square(a) = a * a");
    define(desk, "def doubled = | map x * 2");
    *state = desk;
    return 0;
}

static int tear_down(void **state)
{
    struct desk *desk = *state;
    env_free(desk->completer.env);
    file_cache_free(desk->file_cache);
    mappings_free(desk->mappings);
    arena_free(desk->arena);
    free(desk);
    return 0;
}

/* The start of a line's last word, as in the editor. */
static size_t word_start(const char *line)
{
    size_t start = strlen(line);
    while (start > 0 && !strchr(" |(,\"", line[start - 1]))
        start--;
    return start;
}

static struct completions at_end(struct desk *desk, const char *line)
{
    return complete_word(&desk->completer, line, word_start(line), strlen(line), desk->arena);
}

static bool offers(struct desk *desk, const char *line, const char *name)
{
    struct completions found = at_end(desk, line);
    for (size_t i = 0; i < found.count; i++) {
        if (strcmp(found.names[i], name) == 0)
            return true;
    }
    return false;
}

static void assert_only(struct desk *desk, const char *line, const char *name)
{
    struct completions found = at_end(desk, line);
    if (found.count != 1 || strcmp(found.names[0], name) != 0) {
        for (size_t i = 0; i < found.count; i++)
            print_error("offered: %s\n", found.names[i]);
        fail_msg("`%s` should offer `%s` alone", line, name);
    }
}

static void statements_begin(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "loa", "load");
    assert_only(desk, "trad", "trades");
    assert_true(offers(desk, "", "explain"));
    assert_true(offers(desk, "li", "limit"));
    assert_false(offers(desk, "", "select"));
    assert_only(desk, "explain ker", "kernel");
    assert_only(desk, "explain sq", "sql");
    assert_only(desk, "explain sql --", "--dialect");
    assert_true(offers(desk, "explain sql --dialect ", "clickhouse"));
    assert_only(desk, "explain sql --dialect d", "duckdb");
    assert_true(offers(desk, "explain sql --dialect duckdb ", "trades"));
}

static void stages_follow_a_pipe(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | sel", "select");
    assert_true(offers(desk, "trades | ", "group"));
    assert_false(offers(desk, "trades | ", "filter")); /* aliases are offered only after a prefix */
    assert_only(desk, "trades | filt", "filter");
    assert_only(desk, "trades | select ids > 1 | doub", "doubled");
    assert_false(offers(desk, "doub", "doubled"));
    assert_false(offers(desk, "trades | ", "load"));
    assert_false(offers(desk, "trades ", "select"));
}

static void columns_of_the_relation_there(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | select amo", "amounts");
    assert_only(desk, "load prices.f64 | select pri", "prices");
    assert_only(desk, "trades | map ids * 2 as twice | sort twi", "twice");
    assert_false(offers(desk, "trades | map ids * 2 as twice | sort ", "ids"));
    assert_only(desk, "trades | group ids: sum(amo", "amounts");
    assert_only(desk, "trades | group ids: sum(amounts) as total | sort tot", "total");
    assert_only(desk, "trades | derive x = amounts | pick amo", "amounts");
    assert_only(desk, "trades | join trades as m on amo", "amounts");
    assert_only(desk, "trades | left join trades as m on amounts, id", "ids");
    assert_only(desk, "trades | lookup trad", "trades");
    assert_only(desk, "trades | join trades as m o", "on");
    assert_only(desk, "trades | join trades as m on ids | select m_am", "m_amounts");
    assert_only(desk, "trades | unpivot ids, amo", "amounts");
    assert_false(offers(desk, "trades | pick ", "sqrt("));
    assert_only(desk, "range 1..3 | zip (trades | select amo", "amounts");
    assert_only(desk, "explain trades | select amo", "amounts");
    assert_only(desk, "trades | sum amounts | assert sum_", "sum_amounts");
    assert_only(desk, "trades | count | assert _", "_");
    assert_only(desk, "trades | count | sa", "save");
    assert_true(offers(desk, "trades | count | ", "assert"));
    assert_false(offers(desk, "trades | count | ", "select"));
    assert_only(desk, "let big = trades | select amo", "amounts");
    assert_only(desk, "1 + 1; trades | select amo", "amounts");
}

static void aggregates_of_groups(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | group ids: su", "sum(");
    assert_only(desk, "trades | group ids: sum(amounts), cou", "count(");
    assert_only(desk, "trades | group ids > 3 ? 1 : 2, amounts: mea", "mean(");
    assert_only(desk, "trades | group ids: ave", "average("); /* an alias */
    assert_false(offers(desk, "trades | group ids: ", "sqrt("));
    assert_false(offers(desk, "trades | group ids: ", "amounts"));
    assert_false(offers(desk, "trades | group ids: ", "avg("));
    assert_false(offers(desk, "trades | group ids > 3 ? 1 : ", "count("));
    assert_true(offers(desk, "trades | group ids, ", "amounts"));
    assert_true(offers(desk, "trades | group ids: sum(max(amounts, ", "ids"));
    assert_true(offers(desk, "trades | group ids: sum(amounts) | map ", "sqrt("));
}

static void half_typed_stages_do_not_matter(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | select (ids & 7 | amo", "amounts");
    assert_only(desk, "trades | select ids == 42 && 10 / amo", "amounts");
    assert_only(desk, "trades | select ids > 3 ? amo", "amounts");
    assert_only(desk, "trades | stencil -1..1 else 0: at(amo", "amounts");
    assert_only(desk, "trades | select |a, b| a > 3 | sort amo", "amounts");
    /* Errors before the cursor do not prevent completion. */
    assert_true(offers(desk, "trades | select ) | sort amo", "amounts"));
}

static void abbreviations_are_spelled_out(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | select amt", "amounts");
    assert_false(offers(desk, "trades | select zzz", "amounts"));
    assert_only(desk, "range 1..3 | map trades.am", "trades.amounts");
    assert_false(offers(desk, "range 1..3 | map trades.", "sqrt("));
}

static void values_functions_and_words_in_expressions(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "trades | select ids == lim", "limit");
    assert_only(desk, "trades | map squ", "square(");
    assert_only(desk, "trades | map sqr", "sqrt(");
    assert_only(desk, "trades | sort ids des", "desc");
    assert_only(desk, "trades | sum ids alo", "along");
    assert_only(desk, "trades | select ids an", "and");
    assert_only(desk, "trades | scan ma", "max");
    assert_only(desk, "trades | shape 2 2 | sum along ro", "rows");
    assert_only(desk, "range 1..6 | shape depth 2, k 3 | sum along de", "depth");
    assert_only(desk, "range 1..6 | shape depth 2, k 3 | map k + dep", "depth");
}

static void names_that_need_it_are_quoted(void **state)
{
    struct desk *desk = *state;
    define(desk, "let odd_names = range 1..3 | map x as `unit price`, x as `in`");
    assert_true(offers(desk, "odd_names | sort ", "`unit price`"));
    assert_true(offers(desk, "odd_names | sort ", "`in`"));
    assert_false(offers(desk, "odd_names | sort uni", "`unit price`"));
}

static void paths_where_files_are_named(void **state)
{
    struct desk *desk = *state;
    assert_true(at_end(desk, "load da").paths);
    assert_true(at_end(desk, "trades | save da").paths);
    assert_true(at_end(desk, "trades | zip ").paths);
    assert_true(offers(desk, "trades | zip ", "trades"));
    assert_true(at_end(desk, ".read da").paths);
    assert_false(at_end(desk, "trades | select da").paths);
    assert_true(complete_takes_path(&desk->completer, "load data/ids.b", 5));
    assert_false(complete_takes_path(&desk->completer, "trades | map a/b", 13));
    assert_false(at_end(desk, "tra").paths);
    assert_true(at_end(desk, "fol").paths); /* no function begins so */
    assert_true(complete_takes_path(&desk->completer, "data/ids.b", 0));
    assert_true(complete_takes_path(&desk->completer, "let t = trades-2024.c", 8));
    assert_false(complete_takes_path(&desk->completer, "1+da", 0));
    assert_false(complete_takes_path(&desk->completer, "1.5+da", 0));
    assert_false(complete_takes_path(&desk->completer, "tra", 0));
    assert_false(complete_takes_path(&desk->completer, "sum(1.5", 0));
    assert_only(desk, "load data/ids.bin u3", "u32");
    assert_only(desk, "load data/old.dat cs", "csv");
    assert_only(desk, "load data/old.dat as a tx", "txt");
    assert_true(offers(desk, "load data/old.dat ", "jsonl"));
    assert_false(offers(desk, "load data/old.dat ", "md")); /* save only */
}

static void commands_and_what_they_take(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, ".hel", ".help");
    assert_only(desk, "  .tab", ".tables");
    assert_only(desk, ".set fus", "fusion");
    assert_only(desk, ".set fusion of", "off");
    assert_only(desk, ".device gp", "gpu");
    assert_only(desk, ".help redu", "reduce");
    assert_only(desk, "help redu", "reduce");
    assert_only(desk, ".drop tra", "trades");
    assert_only(desk, ".drop limit tra", "trades");
    assert_int_equal(at_end(desk, ".tables tra").count, 0);
    assert_int_equal(at_end(desk, ".nonsense tra").count, 0);
}

static void lines_before_count(void **state)
{
    struct desk *desk = *state;
    struct strbuf entry = {0};
    strbuf_puts(&entry, "trades\n  | map amounts as gain");
    desk->completer.entry = &entry;
    assert_only(desk, "  | select gai", "gain");
    strbuf_free(&entry);
}

static void a_leading_pipe_goes_on_from_the_last_result(void **state)
{
    struct desk *desk = *state;
    const struct binding *trades = env_find(desk->completer.env, "trades");
    env_set_last(desk->completer.env, trades->relation);
    assert_only(desk, "| select amo", "amounts");
    assert_only(desk, "| map amounts as a | sel", "select");
}

/* Within quotes after a comparison: the strings of the column that is compared. */
static void texts_of_a_column(void **state)
{
    struct desk *desk = *state;
    assert_only(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | select sym == \"A", "AAPL");
    assert_only(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | select s in [\"AAPL\", \"M", "MSFT");
    assert_only(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | select sym not like \"M", "MSFT");
    assert_true(offers(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | select sym < \"", "MSFT"));
    assert_only(desk, "[2024-01-31T09:30] as t | map t in \"Europe/Berl", "Europe/Berlin");
    assert_true(offers(desk, "[2024-01-31T09:30] as t | map t in \"", "Asia/Tokyo"));
    assert_false(offers(desk, "[2024-01-31T09:30] as t | map t == \"", "Asia/Tokyo"));
    assert_false(offers(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | select other == \"", "MSFT"));
    assert_false(offers(desk, "[\"AAPL\", \"MSFT\"] | map $1 as sym | map \"", "MSFT"));
    assert_false(offers(desk, "[1, 2] | select x == \"", "1"));
}

/* A file that is too long to be read for completion: its beginning tells the columns. What follows here is no text. */
static void columns_of_a_long_file(void **state)
{
    struct desk *desk = *state;
    struct scratch *scratch = scratch_new();
    char path[128], line[256];
    (void)snprintf(path, sizeof path, "%s/long.csv", scratch->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("when,symbol,the price\n2024-01-02,KO,59.5\n2024-01-03,KO,\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(path, 1 << 30), 0);
    (void)snprintf(line, sizeof line, "%s | select symbol == \"KO\" | derive price = 2 | pick sym", path);
    assert_only(desk, line, "symbol");
    (void)snprintf(line, sizeof line, "load %s | group symbol: count() | sort ", path);
    struct completions found = at_end(desk, line);
    assert_int_equal(found.columns, 2);
    assert_string_equal(found.names[0], "symbol");
    assert_string_equal(found.names[1], "count");
    (void)snprintf(line, sizeof line, "load %s | pick ", path);
    found = at_end(desk, line);
    assert_int_equal(found.columns, 3);
    assert_string_equal(found.names[2], "`the price`");
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statements_begin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stages_follow_a_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_of_the_relation_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aggregates_of_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_of_a_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(half_typed_stages_do_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(abbreviations_are_spelled_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_functions_and_words_in_expressions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_that_need_it_are_quoted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_where_files_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(commands_and_what_they_take, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_before_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_of_a_long_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_leading_pipe_goes_on_from_the_last_result, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
