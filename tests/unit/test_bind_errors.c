/* Binder errors: their messages and locations. */
#include "bind_tables.h"

static void bad_names(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "amt", scalar_int(5));
    env_set_scalar(queries->env, "large", scalar_int((int128)INT64_MAX + 1));
    env_set_scalar(queries->env, "later", scalar_int(1));
    query_define(queries, "def half(x) = x / 2; def twice(x) = half(x + later) * 4; def later(x) = x");
    queries->env->abbreviates = true;
    static const struct bad bad[] = {
        {"load ids.bin as price, amounts.bin as prize | sum pr", "pr",
         "`pr` is ambiguous: `price` (i32), `prize` (i32)", "write more letters of the name"},
        {"load ids.bin as price, amounts.bin as prize | pick pr", "pr",
         "`pr` is ambiguous: `price` (i32), `prize` (i32)", "write more letters of the name"},
        {"load ids.bin, amounts.bin | select amonuts > 0", "amonuts",
         "unknown column or value `amonuts`; did you mean `amounts`?", "the columns are `ids` (i32), `amounts` (i32)"},
        {"load ids.bin, amounts.bin | select zebra > 0", "zebra", "unknown column or value `zebra`",
         "the columns are `ids` (i32), `amounts` (i32)"},
        /* ä and ö begin with the same byte. */
        {"load ids.bin as äö, amounts.bin | map ö", "ö", "unknown column or value `ö`; did you mean `äö`?",
         "the columns are"},
        {"load ids.bin, amounts.bin | pick zebra", "zebra", "unknown column `zebra`", "the columns are"},
        {"load ids.bin, amounts.bin | pick ids, row", "row", "unknown column `row`", "the columns are"},
        {"load ids.bin | map x + y", "y", "unknown column or value `y`", "the only column is `ids` (i32)"},
        {"load ids.bin | derive a = ids * 2, b = a + 1", "a", "`a` is a column only in later stages",
         "expressions see the columns before the stage; use it in the next stage"},
        {"load ids.bin | map ids as n, n + 1", "n", "`n` is a column only in later stages", "n"},
        {"load ids.bin | map $2", "$2", "there is no column 2: the relation has 1 column",
         "the only column is `ids` (i32)"},
        {"load ids.bin | map snd", "snd", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | snds", "snds", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | nth 2", "nth 2", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | select |a, b| a > b", "|a, b|", "2 names for 1 column", "the only column is `ids` (i32)"},
        {"load ids.bin, amounts.bin | map |a, a| a", "a", "`a` is named twice", "a"},
        {"load ids.bin, amounts.bin | derive z = 1, z = 2", "z", "`z` is derived twice", "z"},
        {"load ids.bin | map half", "half", "`half` is a function, not a value", "call it as half(...)"},
        {"load ids.bin | map sqrt", "sqrt", "`sqrt` is a function, not a value", "call it as sqrt(x)"},
        {"load ids.bin | map sqroot(x)", "sqroot", "unknown function `sqroot`; did you mean `sqrt`?",
         "`.help functions` lists them"},
        {"load ids.bin | map take(x)", "take", "`take` is a stage, not a function", "use it as a stage: `| take [N]`"},
        {"load ids.bin | map twice(x)", "later", "`later` is a function, not a value", "twice(x)"},
        {"1 + nosuch", "nosuch", "unknown value `nosuch`", "columns come from a pipeline"},
        {"1 + row", "row", "unknown value `row`", "columns come from a pipeline"},
        {"1 + $1", "$1", "there are no columns here", "columns come from a pipeline"},
        {"large + 1", "large", "the value of `large` does not fit in 64 bits", "it can be printed"},
        {"load ids.bin | take fst", "fst", "there are no columns here",
         "the number of `take` is the same for all rows"},
        {"range 1..n", "n", "unknown value `n`", "a range is the same for all rows"},
        {"[1, x]", "x", "unknown value `x`", "the values of a list cannot use columns"},
        {"nosuch | count", "nosuch", "unknown relation or value `nosuch`", "`load PATH` reads a file"},
        {"ids | count", "ids", "unknown relation or value `ids`", "`load ids.bin`"},
        {"table | count", "table", "unknown relation or value `table`", "`load \"table\"`"},
        {"half | count", "half", "`half` is a function, not a relation", "functions are called in expressions"},
        {"amt | count", "amt", "`amt` is a single value, not a relation",
         "write `[amt]` for a relation of this one value"},
    };
    CHECK_BAD(queries, bad, false);
}

static void bad_kinds(void **state)
{
    static const struct bad bad[] = {
        {"load half.f64 | select x", "x", "a condition cannot be a float, but `x` is one", "`x != 0.0`"},
        {"load half.f64 | map !x", "x", "a condition cannot be a float, but `x` is one", "`x != 0.0`"},
        {"load half.f64 | map x & 1", "x", "`&` needs integers, but `x` is a float",
         "`int(x)` truncates it towards zero"},
        {"load half.f64 | map 1 << x", "x", "`<<` needs integers, but `x` is a float",
         "`int(x)` truncates it towards zero"},
        {"load half.f64 | map ~(x + 1)", "(x + 1)", "`~` needs integers, but `(x + 1)` is a float", "`int(x + 1)`"},
        {"load half.f64 | map popcount(x)", "x", "`popcount` needs integers, but `x` is a float", "`int(x)`"},
        {"load ids.bin | map (x > 1) + 1", "(x > 1)", "`+` needs numbers, but `(x > 1)` is a condition",
         "`int(x > 1)` is 1 or 0"},
        {"load ids.bin | map 2 * (x > 1)", "(x > 1)", "`*` needs numbers, but `(x > 1)` is a condition",
         "`int(x > 1)`"},
        {"load ids.bin | map -(x > 1)", "(x > 1)", "`-` needs numbers, but `(x > 1)` is a condition", "`int(x > 1)`"},
        {"load ids.bin | map abs(x > 1)", "x > 1", "`abs` needs numbers, but `x > 1` is a condition", "`int(x > 1)`"},
        {"load ids.bin | map sqrt(odd(x))", "odd(x)", "`sqrt` needs numbers, but `odd(x)` is a condition",
         "`int(odd(x))`"},
        {"load ids.bin | select (x > 1) & (x < 5)", "(x > 1)", "`&` needs numbers, but `(x > 1)` is a condition",
         "use `&&` for conditions"},
        {"load ids.bin | select (x > 1) < (x < 5)", "(x > 1)", "`<` needs numbers, but `(x > 1)` is a condition",
         "`int(x > 1)` is 1 or 0"},
        {"load ids.bin | map x > 1 ? x > 2 : 5", "x > 2",
         "beside a number, `?:` needs numbers, but `x > 2` is a condition", "`int(x > 2)`"},
        {"load ids.bin | select 1 < x < 5", "1 < x < 5", "comparisons do not chain: this would compare a condition",
         "write `1 < x && x < 5`"},
        {"load ids.bin | select x > 1 & x < 5", "x > 1 & x < 5",
         "comparisons do not chain: this would compare a condition",
         "join conditions with `&&`; `&` works on the bits of numbers"},
        {"load ids.bin | map clamp(x, 1)", "clamp(x, 1)", "`clamp` takes 3 arguments, not 2",
         "usage: clamp(x, lo, hi)"},
        {"load ids.bin | map mean(x, 1)", "mean(x, 1)", "`mean` takes 1 argument, not 2", "the average"},
        {"load ids.bin | take 1.5", "1.5", "`take` takes an integer", "`take 10`"},
        {"load ids.bin | head -1", "-1", "`head` takes a number of at least 0, not -1", "`head 10`"},
        {"load ids.bin | nth 0", "0", "`nth` takes a number of at least 1, not 0", "`nth 1`"},
        {"range 1..2.5", "2.5", "the bounds of a range are integers, dates or timestamps",
         "for fractions, write `range 0..10 | map fst / 10.0`"},
        {"range 1..9 by 0", "0", "the step of a range cannot be 0", "use a negative step to count down"},
        {"range -9223372036854775808..9223372036854775807", "range -9223372036854775808..9223372036854775807",
         "a range has fewer than 2^63 rows", NULL},
        {"range 0..5 / 0", "5 / 0", "division by zero", NULL},
        {"1 << 64", "1 << 64", "shift count 64 is outside 0..63", "clamp"},
        {"9223372036854775807 + 1", "9223372036854775807 + 1", "9223372036854775807 + 1 does not fit in 64 bits",
         "never wrap"},
    };
    CHECK_BAD(*state, bad, false);
}

static void bad_stages(void **state)
{
    static const struct bad bad[] = {
        {"load ids.bin, amounts.bin | count 42", "count 42",
         "`count` compares one column with a value, but there are 2", "`count amounts == 42`"},
        {"load ids.bin, amounts.bin | sum", "sum", "`sum` takes one column, but there are 2",
         "`sum amounts` or `pick amounts | sum`"},
        {"load ids.bin | count | map x + 1", "map x + 1", "`map` needs a relation, but `count` gives a single value",
         "count"},
        {"load ids.bin | avg | sum", "sum", "`sum` needs a relation, but `avg` gives a single value",
         "only `assert`, `show` and `save`"},
        {"load ids.bin | show | count", "count", "`show` must be the last stage", "show"},
        {"load ids.bin | save a.i32 | save b.i32", "save b.i32", "`save` must be the last stage", "save a.i32"},
        {"load ids.bin | zip (load ids.bin | show)", "show", "`show` may only end a statement, not a nested pipeline",
         "move it to the end"},
        {"load ids.bin | zip (load ids.bin | sum)", "sum", "a relation is needed here, but `sum` gives a single value",
         "name the value with `let`"},
        {"load ids.bin | zip short.i16", "short.i16", "`short.i16` has 3 rows, but `load ids.bin` has 10 rows",
         "load ids.bin"},
        {"load ids.bin, amounts.bin, short.i16", "short.i16", "`short.i16` has 3 rows, but `ids.bin` has 10 rows",
         "ids.bin"},
        {"load short.i16 | take 2 | zip amounts.bin", "amounts.bin",
         "`amounts.bin` has 10 rows, but `take 2` has 2 rows", "take 2"},
        {"load table/ as t", "t", "`as` names one column, but `table/` has 2", "`map NAME as NAME, ...`"},
        {"load table/ | zip (load table/ | skip 0) as t", "t", "`as` names one column, but there are 2", "map NAME"},
        {"load ids.bin i99", "i99", "unknown type or format `i99`", "formats that can be loaded: bin i8 i16"},
        {"load ids.bin I23", "I23", "unknown type or format `I23`; did you mean `i32`?", "bin i8 i16"},
        {"load ids.bin cvs", "cvs", "unknown type or format `cvs`; did you mean `csv`?",
         "txt log tsv tab csv psv jsonl"},
        {"load ids.bin md", "md", "format `md` can be saved, but not loaded", "formats that can be loaded:"},
        {"load ids.bin md", "md", "format `md` can be saved, but not loaded", "formats that can be loaded"},
        {"load ids.bin orc", "orc", "format `orc` cannot be loaded", "write_table"},
        {"load table/ csv", "table/", "`table/` is a directory: the extensions of its files give their types",
         "omit `csv`"},
        {"load nosuch.i32 | map nonsense + more", "nosuch.i32", "no such file: `nosuch.i32`", NULL},
        {"load ids.bin, amounts.bin | save out.i32", "out.i32", "`out.i32` holds one column, but there are 2",
         "`pick` one"},
        {"load ids.bin | save out.what", "out.what", "cannot tell the format of `out.what` from its extension",
         "use one of"},
    };
    CHECK_BAD(*state, bad, false);
}

static void bad_definitions(void **state)
{
    struct queries *queries = *state;
    query_define(queries, "def f(x) = x; def g(x) = f(x) + 1; def none() = 3; def first(a, b) = a");
    static const struct good good[] = {
        {"load ids.bin | map g(g(x))", "c1:i64 = ids + 1 + 1"},
        {"none() + 1", "int 4"},
        {"first(2, 1 / 0)", "int 2"}, /* unused, so not computed */
    };
    static const struct bad bad[] = {
        {"def h(x) = x + y", "y", "unknown value `y`", "a function can use its parameters and `let` values only"},
        {"def h(x) = h(x - 1)", "h(x - 1)", "`h` calls itself",
         "functions are inlined where they are called, so they cannot be recursive"},
        {"def f(x) = g(x)", "g(x)", "`f` calls itself through `g`", "f(x)"},
        {"def h(x, x) = x", "x", "duplicate parameter `x`", "x"},
        {"def abs(x) = x", "abs", "`abs` is a built-in function", "choose another name"},
        {"f(1, 2)", "f(1, 2)", "`f` takes 1 argument, not 2", "def f(x) = x"},
        {"load ids.bin | select f(x / 2.0)", "f(x / 2.0)", "a condition cannot be a float, but `f(x / 2.0)` is one",
         "!= 0.0"},
    };
    CHECK_GOOD(queries, good, false);
    CHECK_BAD(queries, bad, false);
}

/* Reports several errors at once, but none twice. */
static void independent_errors(void **state)
{
    struct queries *queries = *state;
    static const struct {
        const char *text;
        size_t errors;
    } cases[] = {
        {"load ids.bin, amounts.bin | select nope > 0 && nada > 0", 2},
        {"load ids.bin, amounts.bin | map nope as n | select n > 0 | sum n * 2", 1},
        {"load ids.bin, amounts.bin | map nope | select whatever > other", 1}, /* its name could be anything */
        {"load nosuch.i32, nothere.i32 | map x", 2},
        {"load ids.bin, amounts.bin | take 1.5 | derive a = nope, b = 1 & 0.5 | pick c", 4},
        {"load ids.bin | zip (load nosuch.i32 | select a > b), short.i16", 2},
        {"load ids.bin, amounts.bin | map abs(nope, 2), nada(nope)", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bound bound = {0};
        const struct stmt *stmt = query_parse(queries, cases[i].text);
        assert_int_equal(query_bind_statement(queries, stmt, false, &bound), STATUS_FAILED);
        if (queries->scratch->diags.count != cases[i].errors)
            fail_msg("%s: %zu errors", cases[i].text, queries->scratch->diags.count);
        assert_int_equal(bound.queue.held_count, 0);
    }

    struct strbuf many = {0};
    strbuf_puts(&many, "load ids.bin, amounts.bin | map nope0");
    for (int i = 1; i < 100; i++)
        strbuf_printf(&many, ", nope%d", i);
    struct bound bound = {0};
    assert_int_equal(query_bind_statement(queries, query_parse(queries, many.text), false, &bound), STATUS_FAILED);
    assert_int_equal(queries->scratch->diags.count, LIMIT_ERRORS);
    strbuf_free(&many);
}

static void limits(void **state)
{
    struct queries *queries = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "load ids.bin | map x");
    for (int i = 1; i <= 30000; i++)
        strbuf_puts(&text, ",x");
    struct bound bound = {0};
    assert_int_equal(query_bind_statement(queries, query_parse(queries, text.text), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "a relation has at most 30000 columns, this one would have 30001");

    /* A doubling function whose calls nest exponentially. */
    strbuf_clear(&text);
    strbuf_puts(&text, "def d0(x) = x + x;");
    for (int i = 1; i < 60; i++)
        strbuf_printf(&text, "def d%d(x) = d%d(d%d(x));", i, i - 1, i - 1);
    for (const struct stmt *stmt = query_parse(queries, text.text); stmt != NULL; stmt = stmt->next)
        env_set_definition(queries->env, stmt);
    assert_int_equal(query_bind_statement(queries, query_parse(queries, "d59(1)"), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "exceed 1000000 operations");

    strbuf_clear(&text);
    strbuf_puts(&text, "def e0(x) = x;");
    for (int i = 1; i < 150; i++)
        strbuf_printf(&text, "def e%d(x) = e%d(x);", i, i - 1);
    for (const struct stmt *stmt = query_parse(queries, text.text); stmt != NULL; stmt = stmt->next)
        env_set_definition(queries->env, stmt);
    assert_int_equal(query_bind_statement(queries, query_parse(queries, "e149(1)"), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "function calls are nested more than 100 deep");
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_names, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_kinds, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_stages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_definitions, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(independent_errors, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(limits, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("bind errors", tests, NULL, NULL);
}
