/* The binder: names, types and stages. */
#include "bind_tables.h"

static void sources(void **state)
{
    static const struct good good[] = {
        {"load ids.bin", "ids:i32"},
        {"load ids.bin as who", "who:i32"},
        {"load ids.bin u8", "ids:u8"},
        {"load ids.bin as who f32, amounts.bin u32 as what", "who:f32, what:u32"},
        {"load \"short.i16\"", "short:i16"},
        {"load ids.bin, amounts.bin", "ids:i32, amounts:i32"},
        {"load ids.bin, ids.bin, ids.bin as ids_2", "ids:i32, ids_2:i32, ids_2_2:i32"},
        {"load table/", "price:u8, qty:i8"},
        {"load ./table, table/qty.i8 as more", "price:u8, qty:i8, more:i8"},
        {"range 1..10", "c1:i64 = row + 1"},
        {"range 0..10", "c1:i64 = row"},
        {"range 10..-2 by -3", "c1:i64 = row * -3 + 10"},
        {"range 2 * 3..4 + 5", "c1:i64 = row + 6"},
        {"range -9223372036854775808..9223372036854775806 by 9223372036854775807",
         "c1:i64 = row + (row * 4611686018427387903 + (row * 4611686018427387903 + -9223372036854775808))"},
        {"[3, 1 + 1, -1]", "c1:i64"},
        {"[1, 2.5]", "c1:f64"},
        {"[]", "c1:i64"},
        {"((load ids.bin))", "ids:i32"},
        {"(load ids.bin | map x) | map x + 1", "c1:i64 = ids + 1"},
        {"load ids.bin | zip amounts.bin", "ids:i32, amounts:i32"},
        {"load ids.bin | zip ids.bin, amounts.bin as amt", "ids:i32, ids_2:i32, amt:i32"},
        {"range 1..3 | zip [1.5, 2, 3] as price, (range 4..9 | select x > 6)", "c1:i64, price:f64, c1_2:i64"},
        {"load short.i16 | zip (load short.i16 | map x * 2 as twice)", "short:i16, twice:i64"},
    };
    CHECK_GOOD(*state, good, false);
}

/* At the prompt: the beginning of a name or of one of its words. */
static void abbreviations(void **state)
{
    struct queries *queries = *state;
    queries->env->abbreviates = true;
    env_set_scalar(queries->env, "lim", scalar_int(5));
    static const struct good good[] = {
        {"load ids.bin as trip_distance, amounts.bin as tip_amount | map tip + trip + am",
         "c1:i64 = tip_amount + trip_distance + tip_amount"},
        {"load ids.bin as camelCase | map Ca, camel", "camelCase:i32, camelCase_2:i32 = camelCase"},
        {"load ids.bin as größe, amounts.bin | map grö", "größe:i32"},
        {"load ids.bin as limit, amounts.bin | map lim", "c1:i64 = 5"},
    };
    CHECK_GOOD(*state, good, false);
    static const char *const unknown[] = {"tips", "rip", "tip_", "a"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct bound bound = {0};
        struct strbuf text = {0};
        strbuf_printf(&text, "load ids.bin as trip_distance | map %s + trip_distance", unknown[i]);
        if (query_bind_statement(queries, query_parse(queries, text.text), false, &bound) != STATUS_FAILED)
            fail_msg("%s: bound", text.text);
        strbuf_free(&text);
    }
}

static void names(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "limit", scalar_int(5));
    env_set_scalar(queries->env, "ids_", scalar_int(1));
    query_define(queries, "def half(x) = x / 2; def both(ids, b) = half(ids) + half(b) + limit");
    static const struct good good[] = {
        {"load ids.bin, amounts.bin | select ids == 42 && amounts > 0",
         "ids:i32, amounts:i32; keep ids == 42 && amounts > 0"},
        {"load ids.bin, amounts.bin | map ids, amounts, amounts", "ids:i32, amounts:i32, amounts_2:i32 = amounts"},
        {"load ids.bin as i, ids.bin as ids | map i", "i:i32"}, /* exact matches win */
        {"load ids.bin as count, amounts.bin as desc | map count + desc", "c1:i64 = count + desc"},
        {"load ids.bin | map x * x + x", "c1:i64 = ids * ids + ids"},
        {"load ids.bin | map x as n, x", "n:i32 = ids, ids:i32"},
        {"load ids.bin | map x + 1 as n, x * 2 as m", "n:i64 = ids + 1, m:i64 = ids * 2"},
        {"load ids.bin | map fst + $1 + row", "c1:i64 = ids + ids + row"},
        {"load ids.bin, amounts.bin | map snd, $1", "amounts:i32, ids:i32"},
        {"load ids.bin as row, amounts.bin as fst | map row + fst", "c1:i64 = row + fst"},
        /* Keywords are never taken as abbreviations. */
        {"load ids.bin as first_sort, amounts.bin as rainfall_over_week | map row, snd",
         "c1:i64 = row, rainfall_over_week:i32"},
        {"load ids.bin | select x > limit", "ids:i32; keep ids > 5"},
        {"load ids.bin, amounts.bin | select |amounts, b| amounts == b", "ids:i32, amounts:i32; keep ids == amounts"},
        {"load ids.bin, amounts.bin | map |first| first + amounts", "c1:i64 = ids + amounts"},
        {"load ids.bin, amounts.bin | sum |a, b| a * b", "int sum of ids * amounts"},
        {"load ids.bin | map half(x)", "c1:i64 = ids / 2"},
        {"load ids.bin, amounts.bin | map both(amounts, ids)", "c1:i64 = amounts / 2 + ids / 2 + 5"},
        {"load ids.bin as min, amounts.bin as `in` | map min(min, `in`)", "c1:i64 = min(min, `in`)"},
        {"load ids.bin as größe | map größe", "größe:i32"},
        {"load ids.bin, amounts.bin | pick amounts, $1, fst", "amounts:i32, ids:i32, ids_2:i32 = ids"},
        {"limit", "int 5"},
        {"half(limit) + 1", "int 3"},
    };
    CHECK_GOOD(queries, good, false);
}

static void kinds(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "yes", scalar_bool(true));
    static const struct good good[] = {
        {"load ids.bin | map x > 3", "c1:bool = ids > 3"},
        {"load ids.bin | map x > 3 ? 1 : 2.5", "c1:f64 = ids > 3 ? 1.0 : 2.5"},
        {"load ids.bin | map x > 3 ? x < 9 : x > 0", "c1:bool = ids > 3 ? ids < 9 : ids > 0"},
        {"load ids.bin | map x + 1, x + 0.5, x / 2, x / 2.0",
         "c1:i64 = ids + 1, c2:f64 = float(ids) + 0.5, c3:i64 = ids / 2, c4:f64 = float(ids) / 2.0"},
        {"load ids.bin | select x", "ids:i32; keep ids != 0"},
        {"load ids.bin | select !x", "ids:i32; keep !(ids != 0)"},
        {"load ids.bin | select x && 1", "ids:i32; keep ids != 0"},
        {"load ids.bin | reject x > 3", "ids:i32; keep !(ids > 3)"},
        {"load ids.bin | map (x > 3) == (x < 5)", "c1:bool = int(ids > 3) == int(ids < 5)"},
        {"load ids.bin | select (x > 3) == 1", "ids:i32; keep int(ids > 3) == 1"},
        {"load ids.bin | map int(x > 3) + 1", "c1:i64 = int(ids > 3) + 1"},
        {"load ids.bin | map x < 2.5", "c1:bool = float(ids) < 2.5"},
        {"load wide.i64 | map x < 2.5, x == 2.5", "c1:bool = wide < 2.5, c2:bool = wide == 2.5"},
        {"load wide.i64 | map 2.5 < x, 2.5 <= x", "c1:bool = wide > 2.5, c2:bool = wide >= 2.5"},
        {"load ids.bin | map (x | 1), x & 6, x ^ 1, ~x, x << 2", "c1:i64 = bitor(ids, 1), c2:i64 = ids & 6, c3:i64 = "
                                                                 "ids ^ 1, c4:i64 = ~ids, c5:i64 = ids << 2"},
        {"load ids.bin | map x in 1..5, x in [1, 2], x not in []",
         "c1:bool = ids >= 1 && ids <= 5, c2:bool = ids == 1 || ids == 2, c3:bool = true"},
        {"load half.f64 | map abs(x), min(x, 1), sqrt(2), sign(x), int(x), max(1, 2, 3)",
         "c1:f64 = abs(half), c2:f64 = min(half, 1.0), c3:f64 = 1.4142135623730951, c4:f64 = sign(half), c5:i64 = "
         "int(half), c6:i64 = 3"},
        {"load ids.bin | map popcount(x), even(x), odd(x), clamp(x, 0, 9)",
         "c1:i64 = popcount(ids), c2:bool = ids & 1 == 0, c3:bool = ids & 1 != 0, c4:i64 = min(max(ids, 0), 9)"},
        {"1 < 2", "bool true"},
        /* Exact, though 2^53 + 1 is no double; NaN is unordered. */
        {"9007199254740992.0 < 9007199254740993", "bool true"},
        {"9007199254740993 < 9007199254740992.0", "bool false"},
        {"9007199254740992.0 <= 9007199254740993", "bool true"},
        {"9007199254740993 <= 9007199254740992.0", "bool false"},
        {"9007199254740994.0 < 9007199254740993", "bool false"},
        {"9007199254740993 >= 9007199254740994.0", "bool false"},
        {"9007199254740993 == 9007199254740992.0", "bool false"},
        {"9007199254740993 != 9007199254740992.0", "bool true"},
        {"9007199254740994 <= 9007199254740994.0", "bool true"},
        {"9007199254740994.0 <= 9007199254740994", "bool true"},
        {"0.0 / 0.0 <= 9007199254740993", "bool false"},
        {"9007199254740993 <= 0.0 / 0.0", "bool false"},
        {"0.0 / 0.0 != 9007199254740993", "bool true"},
        {"7 / 2 + 0.5", "float 3.5"},
        {"-9223372036854775808", "int -9223372036854775808"},
        {"yes ? 10 : 20", "int 10"},
    };
    CHECK_GOOD(queries, good, false);
}

static void stages(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "t", scalar_int(7));
    static const struct good good[] = {
        {"load ids.bin, amounts.bin | map amounts, ids * 2 as d, ids + amounts",
         "amounts:i32, d:i64 = ids * 2, c3:i64 = ids + amounts"},
        {"load ids.bin as c2 | map x, x + 1, x + 2 as c2", "c2:i32, c2_3:i64 = c2 + 1, c2_2:i64 = c2 + 2"},
        {"load ids.bin, amounts.bin | derive d = ids - amounts, amounts = -amounts",
         "ids:i32, amounts:i64 = -amounts, d:i64 = ids - amounts"},
        {"load ids.bin, amounts.bin | braid |a, b| a * b as z", "z:i64 = ids * amounts"},
        {"load ids.bin, amounts.bin | fsts", "ids:i32"},
        {"load ids.bin, amounts.bin | snds", "amounts:i32"},
        {"load ids.bin, amounts.bin | nth 1", "ids:i32"},
        {"load ids.bin, amounts.bin | nth 3 - 1", "amounts:i32"},
        {"load table/ | pick qty, price", "qty:i8, price:u8"},
        {"load ids.bin | take 3", "ids:i32; take 3"},
        {"load ids.bin | skip 3", "ids:i32; skip 3"},
        {"load ids.bin | tail t - 7", "ids:i32; tail 0"},
        {"load ids.bin | count", "int count"},
        {"load ids.bin | count 42", "int count; keep ids == 42"},
        {"load ids.bin | count t", "int count; keep ids == 7"},
        {"load ids.bin | count 42.0", "int count; keep float(ids) == 42.0"},
        {"load ids.bin, amounts.bin | count ids > amounts", "int count; keep amounts < ids"},
        {"load ids.bin | sum", "int sum_ids of ids"},
        {"load ids.bin, amounts.bin | sum amounts", "int sum_amounts of amounts"},
        {"load ids.bin | sum x == 42", "int sum of int(ids == 42)"},
        {"load half.f64 | sum", "float sum_half of half"},
        {"load ids.bin | product x + 1", "int product of ids + 1"},
        {"load ids.bin | min", "int min_ids of ids"},
        {"load half.f64 | max -x", "float max of -half"},
        {"load ids.bin | mean", "float mean_ids of ids"},
        {"load ids.bin | sum | show", "int sum_ids of ids"},
        {"load ids.bin | show 2", "ids:i32"},
        {"load ids.bin | select x > 1 | save out.i32", "ids:i32; keep ids > 1"},
    };
    CHECK_GOOD(queries, good, false);

    struct bound bound = query_bind(queries, "load ids.bin, amounts.bin | select ids > 0 | take 4 | show 2");
    assert_int_equal(bound.queue.count, 3); /* one per stage; none for show */
    assert_int_equal(bound.show_rows, 2);
    assert_null(bound.save_path.text);
    assert_int_equal(bound.queue.tasks[1]->rows, 10);
    assert_int_equal(bound.queue.tasks[2]->rows, -1);
    assert_ptr_equal(bound.queue.tasks[2]->rows_from, bound.queue.tasks[1]);
    queue_release(&bound.queue);

    bound = query_bind(queries, "load ids.bin | skip 4 | tail 5 | save \"a b.i32\"");
    assert_string_equal(bound.save_path.text, "a b.i32");
    assert_int_equal(bound.queue.tasks[1]->rows, 10);
    assert_int_equal(bound.queue.tasks[2]->rows, 6);
    queue_release(&bound.queue);

    bound = query_bind(queries, "load ids.bin | select x > 7 | zip (load ids.bin | select x != 7), amounts.bin");
    const struct task *zip = last_task(&bound.queue);
    assert_ptr_equal(zip->rows_from, bound.queue.tasks[1]);
    assert_int_equal(zip->equal_count, 2);
    assert_ptr_equal(zip->equals[0], bound.queue.tasks[3]);
    assert_ptr_equal(zip->equals[1], bound.queue.tasks[4]);
    queue_release(&bound.queue);
}

static void let_relations(void **state)
{
    struct queries *queries = *state;
    const int64_t numbers[] = {5, 6, 7};
    struct column *column = column_of_ints(numbers, 3);
    const char *name = "n";
    struct relation *relation = relation_new(3, 1, &column, &name);
    env_set_relation(queries->env, "list", relation);
    env_set_last(queries->env, relation);
    relation_unref(relation);
    column_unref(column);
    static const struct good good[] = {
        {"list", "n:i64"},
        {"(list) | map x + 1", "c1:i64 = n + 1"},
        {"range 1..3 | zip list as m", "c1:i64, m:i64"},
        {"list | zip list", "n:i64, n_2:i64"},
    };
    static const struct bad bad[] = {
        {"1 + list", "list", "`list` is a relation, not a value",
         "use a relation as a source: `list | ...`, or one of its values: `list[E]`"},
        {"lst | count", "lst", "unknown relation or value `lst`; did you mean `list`?", "`load PATH` reads a file"},
    };
    CHECK_GOOD(queries, good, false);
    CHECK_BAD(queries, bad, false);

    /* A leading | at the prompt. */
    struct source source = {"test", "| map n * 2", 11};
    struct stmt *stmt = NULL;
    struct bound bound = {0};
    struct diags *diags = &queries->scratch->diags;
    assert_int_equal(parse(&source, PARSE_PROMPT, queries->scratch->arena, diags, &stmt), PARSE_OK);
    assert_int_equal(query_bind_statement(queries, stmt, false, &bound), STATUS_OK);
    assert_int_equal(bound.queue.tasks[0]->rows, 3);
    queue_release(&bound.queue);
    env_set_last(queries->env, NULL);
    diags->count = 0;
    assert_int_equal(query_bind_statement(queries, stmt, false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "there is no previous relation to continue from");
}

/* What only a run can tell is assumed valid; the rest is checked. */
static void checking(void **state)
{
    struct queries *queries = *state;
    env_set_unknown(queries->env, "total", BINDING_SCALAR)->scalar.kind = KIND_INT;
    env_set_unknown(queries->env, "ratio", BINDING_SCALAR)->scalar.kind = KIND_FLOAT;
    env_set_unknown(queries->env, "something", BINDING_RELATION);
    env_set_unknown(queries->env, "broken", BINDING_FUNCTION);
    query_define(queries, "def f(x) = x");
    static const struct good good[] = {
        {"load later.i32 | select x > 0", "later:i32; keep later > 0"},
        {"load later.i32 as a, sooner.f32 | map a + sooner", "c1:f64 = float(a) + sooner"},
        {"load later.what | select nope > nada | map some, thing", "unknown"},
        {"load later/ | pick a, b | sum a", "unknown"},
        {"something | map a + b", "unknown"},
        {"something", "unknown"},
        {"load ids.bin | map something + x", "unknown"},
        {"load ids.bin | map broken(x) + 1 | sum", "unknown"},
        {"load later.what | sort a, b desc | distinct | reverse | gather something | scatter something into 5",
         "unknown"},
        {"load later.what | group a % 2, b: sum(c), count() | hist 4", "unknown"},
        {"load later.what | scan + from total | sum along rows", "unknown"},
        {"load later.what | stencil [-1..1, 0..total] else 0: at(1, 1) + at(a, 0, 0)", "unknown"},
        {"load later.what | fold + | show", "unknown"},
        {"load later.i32 | sort x | stencil -1..1 else 0: at(1) | group c1: sum(c1)",
         "c1:i64, sum_c1:i64; group by c1: sum(c1)"},
        {"load ids.bin | stencil -total..total else 0: at(total)", "unknown"},
        {"load ids.bin | shape total 2 | map col | scan + along rows", "unknown"},
        {"load ids.bin | scan max from total", "ids:i64; scan max of ids from 0"},
        {"load ids.bin | scatter ids.bin into total | map x", "ids:i32"},
        {"load ids.bin | map something[x]", "unknown"},
        {"total + 1", "int "},
        {"total > 1", "bool "},
        {"total * ratio", "float "},
        {"load ids.bin | take total", "ids:i32"},
        {"load ids.bin | nth total", "unknown"},
        {"range 1..total | sum", "int sum_c1 of c1"},
        {"[1, total]", "unknown"},
        {"load ids.bin | zip short.i16", "ids:i32, short:i16"},
        {"load ids.bin | save not_there_yet/out.i32", "ids:i32"},
    };
    static const struct bad bad[] = {
        {"load later.i32, sooner.i32 | select nope > 0", "nope", "unknown column or value `nope`", "the columns are"},
        {"load later.f32 | select x", "x", "a condition cannot be a float, but `x` is one", "!= 0.0"},
        {"load ids.bin | select ratio", "ratio", "a condition cannot be a float, but `ratio` is one", "!= 0.0"},
        {"load ids.bin | take ratio", "ratio", "`take` takes an integer", "`take 10`"},
        {"load later.i32 i99", "i99", "unknown type or format `i99`", "formats that can be loaded: bin i8"},
        {"ratio & 1", "ratio", "`&` needs integers, but `ratio` is a float", "int(ratio)"},
        {"something | count | sum", "sum", "`sum` needs a relation, but `count` gives a single value", "count"},
    };
    CHECK_GOOD(queries, good, true);
    CHECK_BAD(queries, bad, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sources, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(names, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(abbreviations, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(kinds, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(stages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(let_relations, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(checking, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("bind", tests, NULL, NULL);
}
