/* Typed code: sharing, folding, dead code and printing. */
#include "queries.h"
#include "random_code.h"

static const struct span nowhere = {0};

/* Binds two expressions over the integers x and y in one task; returns the task's code and their values. */
static const struct code *bind_pair(struct queries *queries, const char *first, const char *second, value values[2])
{
    const char *text = arena_printf(queries->scratch->arena,
                                    "load ids.bin as x, amounts.bin as y | map %s as a, %s as b", first, second);
    struct bound bound = query_bind(queries, text);
    const struct task *task = last_task(&bound.queue);
    values[0] = task->outputs[0].value;
    values[1] = task->outputs[1].value;
    queue_release(&bound.queue);
    return &task->code;
}

static void assert_prints(const struct code *code, value v, const char *expected, const char *of)
{
    static const char *const names[] = {"x", "y"};
    struct strbuf out = {0};
    code_print(&out, code, v, names);
    if (strcmp(out.text, expected) != 0)
        fail_msg("%s is `%s`, should be `%s`", of, out.text, expected);
    strbuf_free(&out);
}

static void equal_values_are_one(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"x + 1", "x + 1", true},
        {"x + y", "y + x", true},
        {"x * y % 7", "(x*y)%7", true},
        {"x == y", "y == x", true},
        {"x < y", "y > x", true},
        {"3 >= x", "x <= 3", true},
        {"x > 3 && y > 3", "y > 3 and x > 3", true},
        {"2 + 3", "1 + 4", true},
        {"x - y", "y - x", false},
        {"x", "y", false},
        {"1", "1.0", false},
        {"0.0", "-0.0", false},
        {"x + 1", "x + 2", false},
        /* The order decides what is evaluated */
        {"10 / x > 1 && y > 3", "y > 3 && 10 / x > 1", false},
        /* and which error comes first. */
        {"10 / x + 10 / y", "10 / y + 10 / x", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        value values[2];
        bind_pair(*state, pairs[i].a, pairs[i].b, values);
        if ((values[0] == values[1]) != pairs[i].same)
            fail_msg("`%s` and `%s`", pairs[i].a, pairs[i].b);
    }
}

static void known_operations_are_folded(void **state)
{
    static const struct {
        const char *written, *folded;
    } cases[] = {
        {"1 + 2 * 3", "7"},
        {"-7 / 2", "-3"},
        {"-7 % 2", "-1"},
        {"-9223372036854775808 % -1", "0"},
        {"1 << 62", "4611686018427387904"},
        {"min(2, 3.5)", "2.0"},
        {"9007199254740993 == 9007199254740992.0", "false"},
        {"int(2.9) + int(1 == 1)", "3"},
        /* Failing operations are not folded. */
        {"5 / 0", "5 / 0"},
        {"5 % 0", "5 % 0"},
        {"9223372036854775807 + 1", "9223372036854775807 + 1"},
        {"-9223372036854775808 / -1", "-9223372036854775808 / -1"},
        {"1 << 64", "1 << 64"},
        {"1 >> -1", "1 >> -1"},
        {"int(1e300)", "int(1e300)"},
        {"abs(-9223372036854775808)", "abs(-9223372036854775808)"},
        /* Other literals must share the program. */
        {"x + 0", "x + 0"},
        {"x * 1", "x * 1"},
        {"x > 3 && x > 3", "x > 3"},
        {"x > 3 && 1 == 1", "x > 3"},
        {"1 == 1 && x > 3", "x > 3"},
        {"1 == 2 || x > 3", "x > 3"},
        {"1 == 2 && 1 / x > 0", "false"},
        {"1 == 1 || 1 / x > 0", "true"},
        {"x > 0 && 1 == 2", "false"},
        {"1 / x > 0 && 1 == 2", "1 / x > 0 && false"},
        {"x > 3 || !(x > 3)", "true"},
        {"!(x > 3) && x > 3", "false"},
        {"1 / x > 3 || !(1 / x > 3)", "1 / x > 3 || !(1 / x > 3)"},
        {"x > 3 && (x > 3 || y > 1)", "x > 3"},
        {"x > 3 && (x > 3 && y > 1)", "x > 3 && y > 1"},
        {"x > 3 && y > 1 && x > 3", "x > 3 && y > 1"},
        {"!!(x > 3)", "x > 3"},
        {"~~x", "x"},
        {"--x", "--x"}, /* -x fails for INT64_MIN */
        {"--(x + 0.5)", "float(x) + 0.5"},
        {"x == x", "true"},
        {"x < x", "false"},
        {"x / y == x / y", "x / y == x / y"},
        {"x * 0.5 == x * 0.5", "float(x) * 0.5 == float(x) * 0.5"}, /* unless NaN */
        {"1 == 1 ? x : 5 / 0", "x"},
        {"x > 3 ? y : y", "y"},
        {"1 / x > 3 ? y : y", "1 / x > 3 ? y : y"},
        {"!(x > 3) ? x : y", "x > 3 ? y : x"},
        {"x > 3 ? y > 1 : 1 == 2", "x > 3 && y > 1"},
        {"x > 3 ? 1 == 1 : y > 1", "x > 3 || y > 1"},
        {"x > 3 ? 1 == 2 : y > 1", "!(x > 3) && y > 1"},
        {"min(x, x) + (x & x)", "x + x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        value values[2];
        const struct code *code = bind_pair(*state, cases[i].written, "0", values);
        assert_prints(code, values[0], cases[i].folded, cases[i].written);
    }
}

/* Printed code parses back to the same value. */
static void printing_is_readable(void **state)
{
    struct queries *queries = *state;
    static const char *const expressions[] = {
        "x - (y - 1)",
        "x - y - 1",
        "x + (y + 1)",
        "x * (y + 1)",
        "x / (y / 2)",
        "x % (y * 2)",
        "x & (y ^ 1)",
        "x & y ^ 1",
        "(x ^ y) & 1",
        "x ^ y & 1",
        "x << y + 1",
        "(x << y) + 1",
        "x >> (y >> 1)",
        "(x | y) + 1",
        "-(x + y)",
        "-x + y",
        "-(-x)",
        "~-x",
        "- ~x",
        "!(x > 1 && y > 1)",
        "!(x > 1) && y > 1",
        "x > 1 || y > 1 && x < 9",
        "(x > 1 || y > 1) && x < 9",
        "x > 1 ? y : x > 2 ? 1 : 2",
        "(x > 1 ? x > 2 : y > 1) ? 1 : 2",
        "x + (y > 1 ? 1 : 2)",
        "x + y == y * 2",
        "(x & 1) == 1",
        "x & 1 == 1 ? 1 : 0",
        "(x > 1) == (y > 1)",
        "(x > 1) != (y > 1 ? x > 2 : x > 3)",
        "x in 1..y",
        "x in [1, y, 3]",
        "x not in [1, 2]",
        "abs(-x)",
        "min(x, max(y, 1))",
        "x / 2.0 + 1e100",
        "x < 0.1",
        "int(x * 0.5)",
        "int(x > 1) + 1",
        "row + x * row",
        "x + -9223372036854775808",
        "sqrt(x) - pow(x, 0.5)",
        "1 < x",
        "0xff & x",
        "sign(x) * popcount(y)",
        "float(x) == y",
    };
    static const char *const names[] = {"x", "y"};
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        value values[2];
        struct strbuf out = {0};
        const struct code *code = bind_pair(queries, expressions[i], "0", values);
        code_print(&out, code, values[0], names);
        code = bind_pair(queries, expressions[i], out.text, values);
        if (values[0] != values[1])
            fail_msg("`%s` is printed as `%s`", expressions[i], out.text);
        strbuf_free(&out);
    }
}

/* x, x + x, (x + x) + (x + x), ...: unbounded text would double, and nest one level deeper, each time. */
static void printing_is_bounded(void **state)
{
    struct queries *queries = *state;
    static const char *const names[] = {"x"};
    struct code code;
    code_init(&code, queries->scratch->arena);
    value v = code_input(&code, 0, KIND_INT, nowhere);
    for (int i = 0; i < 100000; i++)
        v = code_op(&code, OP_ADD, v, v, NO_VALUE, nowhere);
    assert_int_equal(code.count, 100001);
    struct strbuf out = {0};
    code_print(&out, &code, v, names);
    assert_true(out.length < 1000);
    assert_non_null(strstr(out.text, "…"));
    strbuf_free(&out);
}

static void listing(void **state)
{
    struct queries *queries = *state;
    static const char *const names[] = {"x"};
    struct code code;
    code_init(&code, queries->scratch->arena);
    value x = code_input(&code, 0, KIND_INT, nowhere);
    value unread = code_op(&code, OP_MUL, x, x, NO_VALUE, nowhere);
    value quotient = code_op(&code, OP_DIV, code_int(&code, 10, nowhere), x, NO_VALUE, nowhere);
    value above = code_op(&code, OP_LT, code_int(&code, 1, nowhere), quotient, NO_VALUE, nowhere);
    bool *live = arena_array(queries->scratch->arena, (size_t)code.count, sizeof *live);
    code_mark(&code, above, live);
    assert_false(live[unread]);
    code.at[quotient].guard = above;
    struct strbuf out = {0};
    code_list(&out, &code, live, names);
    assert_string_equal(out.text,
                        "  v0: i64 = x  in -9223372036854775808..9223372036854775807\n"
                        "  v2: i64 = 10  in -9223372036854775808..9223372036854775807\n"
                        "  v3: i64 = DIV v2 v0  in -9223372036854775808..9223372036854775807  checked where v5\n"
                        "  v4: i64 = 1  in -9223372036854775808..9223372036854775807\n"
                        "  v5: bool = LT v4 v3\n");
    strbuf_free(&out);
}

static void much_code_is_found_again(void **state)
{
    struct queries *queries = *state;
    struct code code;
    code_init(&code, queries->scratch->arena);
    value x = code_input(&code, 0, KIND_INT, nowhere);
    enum { MANY = 20000 };
    value *sums = arena_array(queries->scratch->arena, MANY, sizeof *sums);
    for (int i = 0; i < MANY; i++)
        sums[i] = code_op(&code, OP_ADD, x, code_int(&code, i, nowhere), NO_VALUE, nowhere);
    int32_t count = code.count;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(code_op(&code, OP_ADD, x, code_int(&code, i, nowhere), NO_VALUE, nowhere), sums[i]);
    assert_int_equal(code.count, count);
}

/* Inlines code into other code, replacing inputs and the row. */
static void inlining(void **state)
{
    struct queries *queries = *state;
    struct arena *arena = queries->scratch->arena;
    struct code from, into;
    code_init(&from, arena);
    code_init(&into, arena);
    value row = code_row(&from, nowhere);
    value sum = code_op(&from, OP_ADD, code_input(&from, 0, KIND_INT, nowhere), row, NO_VALUE, nowhere);
    value both = code_op(&from, OP_MUL, sum, code_input(&from, 1, KIND_INT, nowhere), NO_VALUE, nowhere);
    const value inputs[] = {code_int(&into, 2, nowhere), code_input(&into, 0, KIND_INT, nowhere)};
    value map[8];
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        map[i] = NO_VALUE;
    value new_row = code_int(&into, 40, nowhere);
    value result = code_inline(&into, &from, both, inputs, new_row, map);
    assert_prints(&into, result, "42 * x", "(2 + 40) * x");
    assert_int_equal(code_inline(&into, &from, sum, inputs, new_row, map), map[sum]);
}

enum { INPUTS = 3, PROGRAMS = 4000, OPERATIONS = 30, ROWS_TRIED = 12 };

static value add_raw(struct code *code, enum op op, enum kind kind, int64_t integer, const value args[3])
{
    struct instr *instr = &code->at[code->count];
    *instr = (struct instr){.op = op, .kind = kind, .integer = integer, .exact = true};
    for (int i = 0; i < 3; i++)
        instr->args[i] = args[i];
    return code->count++;
}

/* Values read from other rows. */
static void neighbours_and_elements(void **state)
{
    struct arena *arena = ((struct queries *)*state)->scratch->arena;
    struct code code, other;
    code_init(&code, arena);
    code_init(&other, arena);
    value x = code_input(&code, 0, KIND_INT, nowhere), next = code_input_at(&code, 0, 1, KIND_INT, nowhere);
    assert_int_equal(x, code_input_at(&code, 0, 0, KIND_INT, nowhere));
    assert_int_equal(next, code_input_at(&code, 0, 1, KIND_INT, nowhere));
    assert_int_not_equal(x, next);
    assert_int_equal(code_input_at(&code, 0, INT64_MAX, KIND_INT, nowhere),
                     code_input_at(&code, 0, INT64_MAX - 1, KIND_INT, nowhere));
    value rows = code_rows(&code, nowhere);
    assert_int_equal(rows, code_rows(&code, nowhere));
    value last = code_op(&code, OP_SUB, rows, x, NO_VALUE, nowhere);
    value element = code_gather(&code, 1, KIND_FLOAT, last, nowhere);
    assert_int_equal(element, code_gather(&code, 1, KIND_FLOAT, last, nowhere));
    assert_int_not_equal(element, code_gather(&code, 0, KIND_FLOAT, last, nowhere));
    assert_true(code_can_fail(&code.at[element]) && code.at[element].checked);
    assert_prints(&code, next, "at(x, 1)", "a neighbour");
    assert_prints(&code, element, "y[rows - x]", "an element");
    bool live[16] = {false};
    code_mark(&code, element, live);
    assert_true(live[rows] && live[x] && !live[next]);

    /* Fallible values are not folded. */
    value flag = code_gather(&code, 1, KIND_BOOL, last, nowhere);
    assert_int_equal(code.at[code_op(&code, OP_AND, flag, code_bool(&code, false, nowhere), NO_VALUE, nowhere)].op,
                     OP_AND);
    /* Inlined copies read the replaced inputs. */
    value sum = code_op(&code, OP_ADD, next, code_gather(&code, 1, KIND_INT, rows, nowhere), NO_VALUE, nowhere);
    const value inputs[] = {code_input_at(&other, 5, -3, KIND_INT, nowhere), code_input(&other, 7, KIND_INT, nowhere)};
    value map[64];
    for (int i = 0; i < 64; i++)
        map[i] = NO_VALUE;
    const struct instr *copy = &other.at[code_inline(&other, &code, sum, inputs, NO_VALUE, map)];
    const struct instr *moved = &other.at[copy->args[0]], *gathered = &other.at[copy->args[1]];
    assert_true(moved->op == OP_INPUT && moved->integer == 5 && moved->offset == -2);
    assert_true(gathered->op == OP_GATHER && gathered->integer == 7);
    assert_int_equal(other.at[gathered->args[0]].op, OP_ROWS);
}

/* An assertion returns its condition; it folds if known to hold, else may fail. */
static void assertions(void **state)
{
    struct queries *queries = *state;
    struct code code;
    code_init(&code, queries->scratch->arena);
    value x = code_input(&code, 0, KIND_BOOL, nowhere), yes = code_bool(&code, true, nowhere);
    value no = code_bool(&code, false, nowhere);
    value holds = code_op(&code, OP_ASSERT, x, NO_VALUE, NO_VALUE, nowhere);
    assert_true(code.at[holds].kind == KIND_BOOL && code.at[holds].checked && code.at[holds].fallible);
    assert_int_equal(code_op(&code, OP_ASSERT, yes, NO_VALUE, NO_VALUE, nowhere), yes);
    assert_int_equal(code.at[code_op(&code, OP_ASSERT, no, NO_VALUE, NO_VALUE, nowhere)].op, OP_ASSERT);
    assert_prints(&code, holds, "assert x", "an assertion");
    assert_prints(&code, code_op(&code, OP_NOT, holds, NO_VALUE, NO_VALUE, nowhere), "!(assert x)", "of an operator");
}

/* A random program in which nothing is shared or folded. Few leaves and many conditions make folding likely. */
static void random_raw_code(struct random *random, struct code *code)
{
    static const int64_t constants[] = {0, 1, -1, 63, 5};
    static const value none[3] = {NO_VALUE, NO_VALUE, NO_VALUE};
    code->count = 0;
    add_raw(code, OP_INPUT, KIND_INT, 0, none);
    add_raw(code, OP_INPUT, KIND_INT, 1, none);
    add_raw(code, OP_INPUT, KIND_FLOAT, 2, none);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        code->at[add_raw(code, OP_CONST, KIND_INT, constants[i], none)].exact = random_below(random, 2) == 0;
    add_raw(code, OP_CONST, KIND_BOOL, 0, none);
    add_raw(code, OP_CONST, KIND_BOOL, 1, none);
    code->at[add_raw(code, OP_CONST, KIND_FLOAT, 0, none)].number = random_float(random);
    for (int i = 0; i < OPERATIONS; i++) {
        enum op op = (enum op)(OP_ADD + random_below(random, OP_CMP_INT_FLOAT - OP_ADD));
        if (random_below(random, 3) == 0)
            op = (enum op)(OP_EQ + random_below(random, OP_SELECT - OP_EQ + 1));
        enum kind kind = argument_kind(random, op);
        value args[3] = {NO_VALUE, NO_VALUE, NO_VALUE};
        for (int k = 0; k < op_table[op].arity; k++)
            args[k] = random_value(random, code, kind);
        if (op == OP_SELECT)
            args[0] = random_value(random, code, KIND_BOOL);
        static const enum kind results[] = {
            [OP_RESULT_BOOL] = KIND_BOOL, [OP_RESULT_INT] = KIND_INT, [OP_RESULT_FLOAT] = KIND_FLOAT};
        add_raw(code, op, op_table[op].result == OP_RESULT_SAME ? kind : results[op_table[op].result], 0, args);
    }
}

static bool same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

/* Folding and sharing change neither a value nor whether it fails. */
static void folding_keeps_the_meaning(void **state)
{
    struct queries *queries = *state;
    struct random random = {20240612};
    struct code raw = {.arena = queries->scratch->arena};
    struct instr instrs[64];
    raw.at = instrs;
    int64_t folded = 0, failed = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        random_raw_code(&random, &raw);
        struct arena *arena = arena_new();
        struct code code;
        value map[64], inputs[INPUTS];
        code_init(&code, arena);
        for (int k = 0; k < INPUTS; k++)
            inputs[k] = code_input(&code, k, raw.at[k].kind, nowhere);
        for (value v = 0; v < raw.count; v++)
            map[v] = NO_VALUE;
        for (value v = 0; v < raw.count; v++)
            code_inline(&code, &raw, v, inputs, NO_VALUE, map);
        folded += raw.count - code.count;
        for (int i = 0; i < ROWS_TRIED; i++) {
            struct cell given[INPUTS] = {{.integer = random_int(&random)}, {.integer = random_below(&random, 3) - 1}};
            given[2].number = random_float(&random);
            struct cell plain[64] = {{0}}, cells[256] = {{0}};
            assert_true(code.count <= 256);
            for (value v = 0; v < raw.count; v++) {
                struct cell expected = lazy_value(&raw, v, given, 0, plain);
                struct cell got = lazy_value(&code, map[v], given, 0, cells);
                assert_int_equal(got.failed, expected.failed);
                failed += expected.failed;
                if (expected.failed)
                    continue;
                if (raw.at[v].kind == KIND_FLOAT)
                    assert_true(same_number(got.number, expected.number));
                else
                    assert_true(got.integer == expected.integer);
            }
        }
        arena_free(arena);
    }
    assert_true(folded > PROGRAMS && failed > PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_values_are_one, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(known_operations_are_folded, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(printing_is_readable, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(printing_is_bounded, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(listing, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(much_code_is_found_again, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(inlining, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(neighbours_and_elements, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(assertions, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(folding_keeps_the_meaning, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
