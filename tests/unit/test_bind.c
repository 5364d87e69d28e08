/* The binder: what names, types and stages come to, and what is said where they come to nothing. */
#include "queries.h"

#include "engine/explain_task.h"
#include "engine/fuse.h"
#include "engine/run.h"

#include <inttypes.h>

static void add_value(struct strbuf *out, const struct task *task, value v)
{
    code_print(out, &task->code, v, task_input_names(task));
}

/* "ids:i32, c2:i64 = ids + 1; keep ids > 0; take 3" of what the last task does. */
static void describe_task(struct strbuf *out, const struct task *task)
{
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        const struct output *output = &task->outputs[k];
        strbuf_printf(out, "%s%s:%s", k > 0 ? ", " : "", output->name, type_table[output->type].name);
        const struct instr *instr = &task->code.at[output->value];
        if (instr->op != OP_INPUT || strcmp(task->inputs[instr->integer].name, output->name) != 0) {
            strbuf_puts(out, " = ");
            add_value(out, task, output->value);
        }
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        strbuf_puts(out, task->aggregates[i].name);
        if (task->aggregates[i].value != NO_VALUE) {
            strbuf_puts(out, " of ");
            add_value(out, task, task->aggregates[i].value);
        }
    }
    for (size_t i = 0; i < task->filter_count; i++) {
        strbuf_puts(out, "; keep ");
        add_value(out, task, task->filters[i].keep);
    }
    if (task->window.skip > 0)
        strbuf_printf(out, "; skip %" PRId64, task->window.skip);
    if (task->window.take != INT64_MAX)
        strbuf_printf(out, "; take %" PRId64, task->window.take);
    if (task->window.tail >= 0)
        strbuf_printf(out, "; tail %" PRId64, task->window.tail);
}

static void describe(struct strbuf *out, const struct bound *bound)
{
    static const char *const kinds[] = {[KIND_BOOL] = "bool", [KIND_INT] = "int", [KIND_FLOAT] = "float"};
    switch (bound->kind) {
    case BOUND_CONSTANT:
        strbuf_printf(out, "%s ", kinds[bound->scalar.kind]);
        scalar_print(out, &bound->scalar);
        return;
    case BOUND_UNKNOWN:
        strbuf_puts(out, "unknown");
        return;
    case BOUND_SCALAR:
        strbuf_printf(out, "%s ", kinds[bound->scalar_kind]);
        if (bound->queue.count == 0)
            return;
        break;
    case BOUND_RELATION:
        break;
    }
    describe_task(out, last_task(&bound->queue));
}

struct good {
    const char *text;
    const char *result;
};

static void check_good(struct queries *queries, const struct good *good, size_t count, bool checking)
{
    for (size_t i = 0; i < count; i++) {
        struct bound bound = {0};
        struct strbuf out = {0};
        const struct stmt *stmt = query_parse(queries, good[i].text);
        if (query_bind_statement(queries, stmt, checking, &bound) != STATUS_OK)
            fail_msg("%s: %s", good[i].text, queries->scratch->diags.at[0].message);
        describe(&out, &bound);
        if (strcmp(out.text, good[i].result) != 0)
            fail_msg("%s\n  is        %s\n  should be %s", good[i].text, out.text, good[i].result);
        strbuf_free(&out);
        queue_release(&bound.queue);
    }
}

#define CHECK_GOOD(queries, table, checking) check_good(queries, table, sizeof(table) / sizeof *(table), checking)

/* One error: where, what, and what else it should say in its hint or second place. */
struct bad {
    const char *text;
    const char *place; /* the text that its span covers */
    const char *message;
    const char *advice; /* in the hint or the second place; NULL: there is neither */
};

static bool covers(const struct span *span, const char *text)
{
    return span->source != NULL && strlen(text) == span->end - span->begin &&
           memcmp(span->source->text + span->begin, text, strlen(text)) == 0;
}

static void check_bad(struct queries *queries, const struct bad *bad, size_t count, bool checking)
{
    for (size_t i = 0; i < count; i++) {
        struct diags *diags = &queries->scratch->diags;
        struct bound bound = {0};
        const struct stmt *stmt = query_parse(queries, bad[i].text);
        while (stmt->next != NULL)
            stmt = stmt->next;
        if (query_bind_statement(queries, stmt, checking, &bound) != STATUS_FAILED || diags->count == 0)
            fail_msg("%s: bound", bad[i].text);
        const struct diag *diag = &diags->at[0];
        bool advised = bad[i].advice == NULL ? diag->hint == NULL && diag->second.source == NULL
                                             : (diag->hint != NULL && strstr(diag->hint, bad[i].advice) != NULL) ||
                                                   covers(&diag->second, bad[i].advice);
        if (diags->count != 1 || !covers(&diag->span, bad[i].place) || strcmp(diag->message, bad[i].message) != 0 ||
            !advised)
            fail_msg("%s\n  %zu errors, the first at bytes %u..%u: %s\n  hint: %s", bad[i].text, diags->count,
                     diag->span.begin, diag->span.end, diag->message, diag->hint != NULL ? diag->hint : "none");
    }
}

#define CHECK_BAD(queries, table, checking) check_bad(queries, table, sizeof(table) / sizeof *(table), checking)

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

static void names(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "limit", scalar_int(5));
    env_set_scalar(queries->env, "ids_", scalar_int(1));
    query_define(queries, "def half(x) = x / 2; def both(ids, b) = half(ids) + half(b) + limit");
    static const struct good good[] = {
        {"load ids.bin, amounts.bin | select id == 42 && amt > 0",
         "ids:i32, amounts:i32; keep ids == 42 && amounts > 0"},
        {"load ids.bin, amounts.bin | map i, a, amnts", "ids:i32, amounts:i32, amounts_2:i32 = amounts"},
        {"load ids.bin as i, ids.bin as ids | map i", "i:i32"}, /* exactly goes before abbreviation */
        {"load ids.bin as count, amounts.bin as desc | map count + desc", "c1:i64 = count + desc"},
        {"load ids.bin | map x * x + x", "c1:i64 = ids * ids + ids"},
        {"load ids.bin | map whatever as n, whatever", "n:i32 = ids, ids:i32"},
        {"load ids.bin | map n + 1 as n, n * 2 as m", "n:i64 = ids + 1, m:i64 = ids * 2"},
        {"load ids.bin | map fst + $1 + row", "c1:i64 = ids + ids + row"},
        {"load ids.bin, amounts.bin | map snd, $1", "amounts:i32, ids:i32"},
        {"load ids.bin as row, amounts.bin as fst | map row + fst", "c1:i64 = row + fst"},
        /* The words do not depend on what they might abbreviate. */
        {"load ids.bin as first_sort, amounts.bin as rainfall_over_week | map row, snd",
         "c1:i64 = row, rainfall_over_week:i32"},
        {"load ids.bin | select x > limit", "ids:i32; keep ids > 5"},
        {"load ids.bin, amounts.bin | select |amounts, b| amounts == b", "ids:i32, amounts:i32; keep ids == amounts"},
        {"load ids.bin, amounts.bin | map |first| first + amt", "c1:i64 = ids + amounts"},
        {"load ids.bin, amounts.bin | sum |a, b| a * b", "int sum of ids * amounts"},
        {"load ids.bin | map half(x)", "c1:i64 = ids / 2"},
        {"load ids.bin, amounts.bin | map both(amt, id)", "c1:i64 = amounts / 2 + ids / 2 + 5"},
        {"load ids.bin as min, amounts.bin as `in` | map min(min, `in`)", "c1:i64 = min(min, in)"},
        {"load ids.bin as größe | map grö", "größe:i32"},
        {"load ids.bin, amounts.bin | pick a, $1, fst", "amounts:i32, ids:i32, ids_2:i32 = ids"},
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
        {"1 < 2", "bool 1"},
        /* Exact, where 2^53 + 1 is no double, and never so of nan. */
        {"9007199254740992.0 < 9007199254740993", "bool 1"},
        {"9007199254740993 < 9007199254740992.0", "bool 0"},
        {"9007199254740992.0 <= 9007199254740993", "bool 1"},
        {"9007199254740993 <= 9007199254740992.0", "bool 0"},
        {"9007199254740994.0 < 9007199254740993", "bool 0"},
        {"9007199254740993 >= 9007199254740994.0", "bool 0"},
        {"9007199254740993 == 9007199254740992.0", "bool 0"},
        {"9007199254740993 != 9007199254740992.0", "bool 1"},
        {"9007199254740994 <= 9007199254740994.0", "bool 1"},
        {"9007199254740994.0 <= 9007199254740994", "bool 1"},
        {"0.0 / 0.0 <= 9007199254740993", "bool 0"},
        {"9007199254740993 <= 0.0 / 0.0", "bool 0"},
        {"0.0 / 0.0 != 9007199254740993", "bool 1"},
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
        {"load ids.bin, amounts.bin | map amt, ids * 2 as d, ids + amt",
         "amounts:i32, d:i64 = ids * 2, c3:i64 = ids + amounts"},
        {"load ids.bin as c2 | map x, x + 1, x + 2 as c2", "c2:i32, c2_3:i64 = c2 + 1, c2_2:i64 = c2 + 2"},
        {"load ids.bin, amounts.bin | derive d = id - amt, amounts = -amt",
         "ids:i32, amounts:i64 = -amounts, d:i64 = ids - amounts"},
        {"load ids.bin, amounts.bin | braid |a, b| a * b as z", "z:i64 = ids * amounts"},
        {"load ids.bin, amounts.bin | fsts", "ids:i32"},
        {"load ids.bin, amounts.bin | snds", "amounts:i32"},
        {"load ids.bin, amounts.bin | nth 1", "ids:i32"},
        {"load ids.bin, amounts.bin | nth 3 - 1", "amounts:i32"},
        {"load table/ | pick qty, p", "qty:i8, price:u8"},
        {"load ids.bin | take 3", "ids:i32; take 3"},
        {"load ids.bin | skip 3", "ids:i32; skip 3"},
        {"load ids.bin | tail t - 7", "ids:i32; tail 0"},
        {"load ids.bin | count", "int count"},
        {"load ids.bin | count 42", "int count; keep ids == 42"},
        {"load ids.bin | count t", "int count; keep ids == 7"},
        {"load ids.bin | count 42.0", "int count; keep float(ids) == 42.0"},
        {"load ids.bin, amounts.bin | count id > amt", "int count; keep amounts < ids"},
        {"load ids.bin | sum", "int sum_ids of ids"},
        {"load ids.bin, amounts.bin | sum amt", "int sum_amounts of amounts"},
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

    struct bound bound = query_bind(queries, "load ids.bin, amounts.bin | select id > 0 | take 4 | show 2");
    assert_int_equal(bound.queue.count, 3); /* one task a stage; show is none */
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
        {"1 + list", "list", "`list` is a relation, not a value", "a relation begins a pipeline: `list | ...`"},
        {"lst | count", "lst", "there is no relation or value `lst`; did you mean `list`?", "`load PATH` reads a file"},
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
    assert_only_told(queries->scratch, "there is no last relation to go on from");
}

static void bad_names(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "amt", scalar_int(5));
    env_set_scalar(queries->env, "large", scalar_int((int128)INT64_MAX + 1));
    env_set_scalar(queries->env, "later", scalar_int(1));
    query_define(queries, "def half(x) = x / 2; def twice(x) = half(x + later) * 4; def later(x) = x");
    static const struct bad bad[] = {
        {"load ids.bin as price, amounts.bin as prize | sum pr", "pr",
         "`pr` may stand for any of `price` (i32), `prize` (i32)", "write more of the name"},
        {"load ids.bin as price, amounts.bin as prize | pick pr", "pr",
         "`pr` may stand for any of `price` (i32), `prize` (i32)", "write more of the name"},
        {"load ids.bin, amounts.bin | select amonuts > 0", "amonuts",
         "there is no column or value `amonuts`; did you mean `amounts`?",
         "the columns are `ids` (i32), `amounts` (i32)"},
        {"load ids.bin, amounts.bin | select zebra > 0", "zebra", "there is no column or value `zebra`",
         "the columns are `ids` (i32), `amounts` (i32)"},
        /* ä and ö begin with the same byte. */
        {"load ids.bin as äö, amounts.bin | map ö", "ö", "there is no column or value `ö`; did you mean `äö`?",
         "the columns are"},
        {"load ids.bin, amounts.bin | pick zebra", "zebra", "there is no column `zebra`", "the columns are"},
        {"load ids.bin, amounts.bin | pick ids, row", "row", "there is no column `row`", "the columns are"},
        {"load ids.bin | map x + y", "y", "`y` is not known, nor is `x`", "the only column is `ids` (i32)"},
        {"load ids.bin | map x + y", "y", "`y` is not known, nor is `x`", "x"},
        {"load ids.bin, amounts.bin | sum amt", "amt", "`amt` is a let value and also short for the column `amounts`",
         "write `amounts` for the column"},
        {"load ids.bin | derive a = ids * 2, b = a + 1", "a", "`a` is a column only after this stage",
         "go on in a stage of its own"},
        {"load ids.bin | map ids as n, n + 1", "n", "`n` is a column only after this stage", "n"},
        {"load ids.bin | map $2", "$2", "there is no column 2: the relation has 1 column",
         "the only column is `ids` (i32)"},
        {"load ids.bin | map snd", "snd", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | snds", "snds", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | nth 2", "nth 2", "there is no column 2: the relation has 1 column", "the only column"},
        {"load ids.bin | select |a, b| a > b", "|a, b|", "2 names for 1 column", "the only column is `ids` (i32)"},
        {"load ids.bin, amounts.bin | map |a, a| a", "a", "`a` is named twice", "a"},
        {"load ids.bin, amounts.bin | derive z = 1, z = 2", "z", "`z` is derived twice", "z"},
        {"load ids.bin | map half", "half", "`half` is a function, not a value", "it is called as half(...)"},
        {"load ids.bin | map sqrt", "sqrt", "`sqrt` is a function, not a value", "it is called as sqrt(x)"},
        {"load ids.bin | map sqroot(x)", "sqroot", "there is no function `sqroot`; did you mean `sqrt`?",
         "the functions are abs min max"},
        {"load ids.bin | map count(x)", "count", "`count` is a stage, not a function",
         "as a stage of its own: `| count"},
        {"load ids.bin, amounts.bin | select id == true", "true", "there is no word `true`",
         "true is 1 and false is 0"},
        {"load ids.bin | map twice(x)", "later", "`later` is a function, not a value", "twice(x)"},
        {"1 + nosuch", "nosuch", "there is no value `nosuch`", "columns come from a pipeline"},
        {"1 + row", "row", "there is no value `row`", "columns come from a pipeline"},
        {"1 + $1", "$1", "there are no columns here", "columns come from a pipeline"},
        {"large + 1", "large", "the value of `large` does not fit in 64 bits", "it can be printed"},
        {"load ids.bin | take fst", "fst", "there are no columns here", "`take` takes one number"},
        {"range 1..n", "n", "there is no value `n`", "a range is the same for all rows"},
        {"[1, x]", "x", "there is no value `x`", "it sees no columns"},
        {"nosuch | count", "nosuch", "there is no relation or value `nosuch`", "`load PATH` reads a file"},
        {"ids | count", "ids", "there is no relation or value `ids`", "`load ids.bin`"},
        {"table | count", "table", "there is no relation or value `table`", "`load \"table\"`"},
        {"half | count", "half", "`half` is a function, not a relation", "functions are called in expressions"},
        {"amt | count", "amt", "`amt` is a single value, not a relation", "`[amt]` is a relation"},
    };
    CHECK_BAD(queries, bad, false);
}

static void bad_kinds(void **state)
{
    static const struct bad bad[] = {
        {"load half.f64 | select x", "x", "a condition cannot be a float, but `x` is one", "`x != 0.0`"},
        {"load half.f64 | map !x", "x", "a condition cannot be a float, but `x` is one", "`x != 0.0`"},
        {"load half.f64 | map x & 1", "x", "`&` needs integers, but `x` is a float", "`int(x)` cuts it off"},
        {"load half.f64 | map 1 << x", "x", "`<<` needs integers, but `x` is a float", "`int(x)` cuts it off"},
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
         "for conditions there is `&&`"},
        {"load ids.bin | select (x > 1) < (x < 5)", "(x > 1)", "`<` needs numbers, but `(x > 1)` is a condition",
         "`int(x > 1)` is 1 or 0"},
        {"load ids.bin | map x > 1 ? x > 2 : 5", "x > 2",
         "beside a number, `?:` needs numbers, but `x > 2` is a condition", "`int(x > 2)`"},
        {"load ids.bin | select 1 < x < 5", "1 < x < 5", "comparisons do not chain: this would compare a condition",
         "write `1 < x && x < 5`"},
        {"load ids.bin | select x > 1 & x < 5", "x > 1 & x < 5",
         "comparisons do not chain: this would compare a condition", "conditions are joined by `&&`"},
        {"load ids.bin | map clamp(x, 1)", "clamp(x, 1)", "`clamp` takes 3 arguments, not 2",
         "usage: clamp(x, lo, hi)"},
        {"load ids.bin | map min(x)", "min(x)", "`min` takes 2 arguments or more, not 1", "usage: min(x, y, ...)"},
        {"load ids.bin | map ids[0]", "ids[0]",
         "`ids[...]`: an expression sees one row, other rows cannot be asked for", "choose rows"},
        {"load ids.bin | take 1.5", "1.5", "`take` takes a whole number", "`take 10`"},
        {"load ids.bin | head -1", "-1", "`head` takes a number from 0 on, not -1", "`head 10`"},
        {"load ids.bin | nth 0", "0", "`nth` takes a number from 1 on, not 0", "`nth 1`"},
        {"range 1..2.5", "2.5", "a range consists of whole numbers", "gives fractions"},
        {"range 1..9 by 0", "0", "a range with step 0 has no end", "may be negative"},
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
        {"load ids.bin | count x * 2", "x * 2",
         "`count` takes a condition or a constant, but `x * 2` is a number that differs from row to row",
         "`count x * 2 != 0`"},
        {"load ids.bin, amounts.bin | count 42", "count 42",
         "`count` compares one column with a value, but there are 2", "`count amounts == 42`"},
        {"load ids.bin, amounts.bin | sum", "sum", "`sum` is of one column, but there are 2",
         "`sum amounts` or `pick amounts | sum`"},
        {"load ids.bin | count | map x + 1", "map x + 1", "`map` needs a relation, but `count` gives a single value",
         "count"},
        {"load ids.bin | avg | sum", "sum", "`sum` needs a relation, but `avg` gives a single value",
         "only `show` and `save`"},
        {"load ids.bin | show | count", "count", "nothing may follow `show`, it ends a pipeline", "show"},
        {"load ids.bin | save a.i32 | save b.i32", "save b.i32", "nothing may follow `save`, it ends a pipeline",
         "save a.i32"},
        {"load ids.bin | zip (load ids.bin | show)", "show",
         "`show` may only end a statement, not a pipeline within one", "move it to the end"},
        {"load ids.bin | zip (load ids.bin | sum)", "sum", "a relation is wanted here, but `sum` gives a single value",
         "name the value with `let`"},
        {"load ids.bin | zip short.i16", "short.i16", "`short.i16` has 3 rows, but `load ids.bin` has 10 rows",
         "load ids.bin"},
        {"load ids.bin, amounts.bin, short.i16", "short.i16", "`short.i16` has 3 rows, but `ids.bin` has 10 rows",
         "ids.bin"},
        {"load short.i16 | take 2 | zip amounts.bin", "amounts.bin",
         "`amounts.bin` has 10 rows, but `take 2` has 2 rows", "take 2"},
        {"load table/ as t", "t", "`as` names one column, but `table/` has 2", "`map NAME as NAME, ...`"},
        {"load table/ | zip (load table/ | skip 0) as t", "t", "`as` names one column, but there are 2", "map NAME"},
        {"load ids.bin i99", "i99", "there is no type `i99`", "the types are i8 i16"},
        {"load ids.bin I23", "I23", "there is no type `I23`; did you mean `i32`?", "the types are i8 i16"},
        {"load nosuch.i32 | map nonsense + more", "nosuch.i32", "no such file: `nosuch.i32`", NULL},
        {"load ids.bin, amounts.bin | save out.i32", "out.i32", "`out.i32` can hold one column, but there are 2",
         "`pick` one"},
        {"load ids.bin | save out.what", "out.what", "the ending of `out.what` does not say how to save it",
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
        {"first(2, 1 / 0)", "int 2"}, /* what is not read is not computed */
    };
    static const struct bad bad[] = {
        {"def h(x) = x + y", "y", "there is no value `y`", "a function sees its parameters and let values only"},
        {"def h(x) = h(x - 1)", "h(x - 1)", "`h` calls itself", "cannot call themselves"},
        {"def f(x) = g(x)", "g(x)", "`f` calls itself through `g`", "f(x)"},
        {"def h(x, x) = x", "x", "the parameter `x` is named twice", "x"},
        {"def abs(x) = x", "abs", "`abs` is a function already", "choose another name"},
        {"f(1, 2)", "f(1, 2)", "`f` takes 1 argument, not 2", "def f(x) = x"},
        {"load ids.bin | select f(x / 2.0)", "f(x / 2.0)", "a condition cannot be a float, but `f(x / 2.0)` is one",
         "!= 0.0"},
    };
    CHECK_GOOD(queries, good, false);
    CHECK_BAD(queries, bad, false);
}

/* Several mistakes are told in one go, but none twice. */
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

/* Before running, what only running can tell is taken to be right, and the rest is checked. */
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
        {"load later.i32, sooner.i32 | select nope > 0", "nope", "there is no column or value `nope`",
         "the columns are"},
        {"load later.f32 | select x", "x", "a condition cannot be a float, but `x` is one", "!= 0.0"},
        {"load ids.bin | select ratio", "ratio", "a condition cannot be a float, but `ratio` is one", "!= 0.0"},
        {"load ids.bin | take ratio", "ratio", "`take` takes a whole number", "`take 10`"},
        {"load later.i32 i99", "i99", "there is no type `i99`", "the types are"},
        {"ratio & 1", "ratio", "`&` needs integers, but `ratio` is a float", "int(ratio)"},
        {"something | count | sum", "sum", "`sum` needs a relation, but `count` gives a single value", "count"},
    };
    CHECK_GOOD(queries, good, true);
    CHECK_BAD(queries, bad, true);
}

static void limits(void **state)
{
    struct queries *queries = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "load ids.bin | map x");
    for (int i = 1; i <= 4096; i++)
        strbuf_puts(&text, ",x");
    struct bound bound = {0};
    assert_int_equal(query_bind_statement(queries, query_parse(queries, text.text), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "a relation has at most 4096 columns, this one would have 4097");

    /* A function that doubles what it is given, called within itself. */
    strbuf_clear(&text);
    strbuf_puts(&text, "def d0(x) = x + x;");
    for (int i = 1; i < 60; i++)
        strbuf_printf(&text, "def d%d(x) = d%d(d%d(x));", i, i - 1, i - 1);
    for (const struct stmt *stmt = query_parse(queries, text.text); stmt != NULL; stmt = stmt->next)
        env_set_function(queries->env, stmt->name.text, stmt);
    assert_int_equal(query_bind_statement(queries, query_parse(queries, "d59(1)"), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "grow beyond 1000000 operations");

    strbuf_clear(&text);
    strbuf_puts(&text, "def e0(x) = x;");
    for (int i = 1; i < 150; i++)
        strbuf_printf(&text, "def e%d(x) = e%d(x);", i, i - 1);
    for (const struct stmt *stmt = query_parse(queries, text.text); stmt != NULL; stmt = stmt->next)
        env_set_function(queries->env, stmt->name.text, stmt);
    assert_int_equal(query_bind_statement(queries, query_parse(queries, "e149(1)"), false, &bound), STATUS_FAILED);
    assert_only_told(queries->scratch, "functions call one another more than 100 deep");
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sources, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(names, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(kinds, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(stages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(let_relations, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_names, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_kinds, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_stages, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_definitions, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(independent_errors, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(checking, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(limits, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("bind", tests, NULL, NULL);
}
