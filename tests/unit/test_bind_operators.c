/* Binding stages that need whole columns, neighbours or positions. */
#include "bind_tables.h"

#include "engine/backend/user_reduce.h"

static void breakers(void **state)
{
    struct queries *queries = *state;
    env_set_scalar(queries->env, "n", scalar_int(7));
    query_define(queries, "def add(a, b) = a + b");
    static const struct good good[] = {
        {"load ids.bin | sort", "ids:i32; sort by ids"},
        {"load ids.bin, amounts.bin | sort desc", "ids:i32, amounts:i32; sort by ids desc, amounts desc"},
        {"load ids.bin as desc | sort desc", "desc:i32; sort by desc"},
        {"load ids.bin, amounts.bin | sort", "ids:i32, amounts:i32; sort by ids, amounts"},
        {"load ids.bin, amounts.bin | order amounts desc, ids asc", "ids:i32, amounts:i32; sort by amounts desc, ids"},
        {"load ids.bin, amounts.bin | sort |a, b| b desc", "ids:i32, amounts:i32; sort by amounts desc"},
        {"load ids.bin | sort abs(x) desc, x", "ids:i32, c2:i64 = abs(ids) | ids:i32; sort by c2 desc, ids"},
        {"load ids.bin | map x as c2 | sort -x", "c2:i32, c2_2:i64 = -c2 | c2:i32; sort by c2_2"},
        {"load ids.bin, amounts.bin | distinct", "ids:i32, amounts:i32; distinct of ids, amounts"},
        {"load ids.bin, amounts.bin | group ids: sum(amounts), count(), mean(amounts) as m",
         "ids:i32, sum_amounts:i64, count:i64, m:f64; group by ids: sum(amounts), count(), mean(amounts)"},
        {"load ids.bin, amounts.bin | group ids, amounts", "ids:i32, amounts:i32; group by ids, amounts"},
        {"load ids.bin | group x % 3: max(x)",
         "ids:i64 = ids % 3, ids_2:i32 = ids | ids:i64, max_ids:i64; group by ids: max(ids_2)"},
        {"load table/ | group price: min(qty), count(qty > 1), sum(qty > 1)",
         "price:u8, qty:i8, c3:i64 = int(qty > 1) | price:u8, min_qty:i64, count:i64, sum:i64; group by price: "
         "min(qty), sum(c3), sum(c3)"},
        {"load table/ | group price: max(qty / 2.0), mean(qty)",
         "price:u8, c2:f64 = float(qty) / 2.0, qty:i8 | price:u8, max:f64, mean_qty:f64; group by price: max(c2), "
         "mean(qty)"},
        {"load ids.bin | scan +", "ids:i64; scan + of ids"},
        {"load ids.bin | scan or", "ids:i64; scan bitor of ids"},
        {"load ids.bin | scan min exclusive from n * 2", "ids:i64; scan min of ids exclusive from 14"},
        {"load half.f64 | scan * from 2", "half:f64; scan * of half from 2.0"},
        {"load ids.bin | map x > 7 | scan + exclusive", "c1:i64 = int(c1) | c1:i64; scan + of c1 exclusive"},
        {"load ids.bin | scan |a, b| add(a, b) from -1", "ids:i64; scan a function of ids from -1"},
        {"load ids.bin | hist", "lo:f64, hi:f64, count:i64; hist of ids in 10"},
        {"load half.f64 | hist n", "lo:f64, hi:f64, count:i64; hist of half in 7"},
        {"load half.f64 | hist half 3", "lo:f64, hi:f64, count:i64; hist of half in 3"},
        {"load ids.bin, amounts.bin | hist amounts", "lo:f64, hi:f64, count:i64; hist of amounts in 10"},
        {"load short.i16, short.i16 as s | scatter [2, 0, 1]", "short:i16, s:i16; scatter to c1"},
        {"load short.i16 | scatter (load short.i16 | map x * 2) into n", "short:i16; scatter to c1 into 7"},
        {"load ids.bin | fold +", "int reduce of ids"},
        {"load half.f64 | fold max", "float reduce of half"},
        {"load ids.bin | map x > 7 | reduce & from 1", "int reduce of int(c1)"},
        {"load ids.bin | reduce |a, b| a > b ? a : b", "int reduce of ids"},
    };
    CHECK_GOOD(queries, good, false);

    struct bound bound = query_bind(queries, "load ids.bin | select x > 3 | sort -x | scan |a, b| (a | b) + n from 3");
    assert_int_equal(bound.queue.count, 5);
    const struct task *front = bound.queue.tasks[2], *sort = bound.queue.tasks[3], *scan = bound.queue.tasks[4];
    assert_int_equal(front->sink, SINK_ROWS);
    assert_int_equal(sort->column_op->kind, OPERATOR_SORT);
    assert_int_equal(sort->column_op->key_count, 1);
    assert_ptr_equal(sort->inputs[sort->column_op->keys[0]].task, front);
    assert_ptr_equal(sort->rows_from, front);
    assert_int_equal(scan->column_op->kind, OPERATOR_SCAN);
    assert_int_equal(scan->column_op->stride, 1);
    assert_int_equal(scan->column_op->segment, 0);
    const struct aggregate *what = &scan->aggregates[0];
    assert_int_equal(what->kind, AGG_FOLD);
    assert_true(what->has_initial);
    assert_int_equal(what->initial.integer, 3);
    struct scalar result;
    assert_true(user_reduce_apply(what->reducer, scalar_int(5), scalar_int(2), &result));
    assert_int_equal(result.integer, 14);
    queue_release(&bound.queue);

    /* Keys are always needed, other columns only if read. */
    bound = query_bind(queries, "load ids.bin, amounts.bin, ids.bin as x | sort amounts | pick ids");
    queue_prune(&bound.queue);
    const struct task *load = bound.queue.tasks[0];
    assert_true(load->outputs[0].needed && load->outputs[1].needed && !load->outputs[2].needed);
    queue_release(&bound.queue);
}

static void bad_breakers(void **state)
{
    struct queries *queries = *state;
    query_define(queries, "def add(a, b) = a + b");
    static const struct bad bad[] = {
        {"load ids.bin | scan foo", "foo", "`scan` cannot combine values with `foo`", "+ * min max & ^ bitor"},
        {"load ids.bin | fold ||", "||", "`fold` cannot combine values with `||`", "|a, b| E"},
        {"load ids.bin | fold mix", "mix", "`fold` cannot combine values with `mix`; did you mean `min` or `max`?",
         "bitor"},
        {"load ids.bin | reduce add", "add", "`reduce` takes an operator or an expression of two values",
         "`reduce |a, b| add(a, b)`"},
        {"load ids.bin | scan |a| a", "|a|", "`scan` takes a function of two values, not 1", "|a, b| a + b"},
        {"load ids.bin | scan |a, a| a", "a", "`a` is named twice", "a"},
        {"load ids.bin | scan max exclusive", "exclusive",
         "an exclusive scan needs an initial value: `max` has no neutral value", "`exclusive from INIT`"},
        {"load ids.bin | scan |a, b| a + b exclusive", "exclusive",
         "an exclusive scan needs an initial value: a function has no neutral value", "`exclusive from INIT`"},
        {"load ids.bin | scan + from 0.5", "0.5", "the initial value is a float, but the values are integers",
         "float(x)"},
        {"load ids.bin | fold + from ids", "ids", "unknown value `ids`", "the same for all rows"},
        {"load half.f64 | fold ^", "^", "`^` needs integers, but the values are floats", "int(x)"},
        {"load ids.bin | reduce |a, b| a / 2.0", "a / 2.0", "the function returns a float, but takes integers",
         "float(x)"},
        {"load ids.bin | reduce |a, b| a + ids", "ids", "unknown column or value `ids`",
         "the columns are `a` (i64), `b` (i64)"},
        {"load ids.bin | reduce |a, b| a + row", "row", "unknown column or value `row`", "the columns are"},
        {"load ids.bin | reduce |a, b| a + b[0]", "b", "`b` is a single value: it has no elements", "NAME[E]"},
        {"load ids.bin, amounts.bin | scan +", "scan +", "`scan` takes one column, but there are 2",
         "`pick amounts | scan +`"},
        {"load ids.bin, amounts.bin | fold min", "fold min", "`fold` takes one column, but there are 2",
         "`pick amounts | fold min`"},
        {"load ids.bin, amounts.bin | hist 4", "hist 4", "`hist` takes one column, but there are 2",
         "`pick amounts | hist 4`"},
        {"load ids.bin | hist 0", "0", "`hist` takes a number of at least 1, not 0", "`hist 10`"},
        {"load ids.bin | hist 1000001", "1000001", "`hist` has at most 1000000 intervals", NULL},
        {"load ids.bin | sort 1", "1", "this key is the same for all rows", "`$1` is the column at that position"},
        {"load ids.bin | sort x, 2 + 1 desc", "2 + 1", "this key is the same for all rows", "`sort $1`"},
        {"load ids.bin | group x: x + 1", "x + 1", "`x + 1` is not an aggregate",
         "sum(E) count() min(E) max(E) mean(E)"},
        {"load ids.bin | group x: middle(x)", "middle(x)", "`middle(x)` is not an aggregate", "sum(E)"},
        {"load ids.bin | group x: sum()", "sum()", "`sum` takes 1 argument, not 0", "sum(x)"},
        {"load ids.bin | scatter [1, 2]", "[1, 2]", "`[1, 2]` has 2 rows, but `load ids.bin` has 10 rows",
         "each row needs one position"},
        {"load short.i16 | scatter [0.5, 1, 2]", "[0.5, 1, 2]", "`scatter` needs integers, but `c1` is f64",
         "positions are integers, 0 for the first row"},
        {"load short.i16 | scatter [0, 1, 2] into -1", "-1", "the number of rows cannot be -1", "`into 1000`"},
        {"load short.i16 | scatter [0, 1, 2] into 1.5", "1.5", "how many rows there will be must be an integer",
         "`into 1000`"},
        {"load short.i16 | gather (load table/)", "(load table/)", "`gather` takes one column of positions, not 2",
         "pick NAME"},
        {"load ids.bin | sum along rows", "rows", "there are no rows to aggregate along: the relation has no shape",
         "`shape R C`"},
        {"load ids.bin | scan + along cols", "cols",
         "there are no columns to aggregate along: the relation has no shape", "`shape R C`"},
        {"load ids.bin | show along rows", "rows", "`show` does not take `along`", "scan, reduce"},
    };
    CHECK_BAD(queries, bad, false);
}

/* Neighbours and positions: values read from other rows. */
static void places(void **state)
{
    struct queries *queries = *state;
    const int64_t numbers[] = {5, 6, 7};
    struct column *column = column_of_ints(numbers, 3);
    const char *names[] = {"c1", "c2"};
    struct column *columns[] = {column, column};
    struct relation *list = relation_new(3, 1, columns, names), *two = relation_new(3, 2, columns, names);
    env_set_relation(queries->env, "t", list);
    env_set_relation(queries->env, "two", two);
    env_set_scalar(queries->env, "n", scalar_int(1));
    relation_unref(list);
    relation_unref(two);
    column_unref(column);
    query_define(queries, "def after(i) = t[i + 1]");
    static const struct good good[] = {
        {"load ids.bin | reverse", "ids:i32 = ids[rows - 1 - row]"},
        {"load ids.bin | gather short.i16", "ids:i32 = ids[short]"},
        {"load ids.bin | gather ids.bin", "ids:i32 = ids[ids_2]"},
        {"load ids.bin | map t[x % 3]", "c1:i64 = t[ids % 3]"},
        {"load ids.bin | map ids[row / 2] + t[0]", "c1:i64 = ids[row / 2] + t[0]"},
        {"load ids.bin, amounts.bin | map amounts[ids], t[ids] + t[1]",
         "c1:i64 = amounts[ids], c2:i64 = t[ids] + t[1]"},
        {"load ids.bin | select t[row % 3] > x", "ids:i32; keep ids < t[row % 3]"},
        {"load ids.bin as t | map t[0]", "c1:i64 = t[0]"},
        {"load ids.bin | sum after(row % 2)", "int sum of t[row % 2 + 1]"},
        {"load ids.bin | count x > t[2] - 7", "int count; keep t[2] - 7 < ids"},
        {"load ids.bin | reduce |a, b| a + t[b % 3]", "int reduce of ids"},
        {"t[1 + n]", "int 7"},
        {"after(0) * 2", "int 12"},
        {"load ids.bin | take t[0]", "ids:i32; take 5"},
        {"load ids.bin | stencil -1..1 else 0: at(-1) + at(1)",
         "c1:i64 = row >= 1 && row + 1 < rows ? at(ids, -1) + at(ids, 1) : 0"},
        {"load ids.bin | stencil 0..2 else -1: at(2) - x as d, at(0)",
         "d:i64 = row + 2 < rows ? at(ids, 2) - ids : -1, c2:i64 = row + 2 < rows ? ids : -1"},
        {"load ids.bin | stencil -n..0 else 0.5: at(x, -n)", "c1:f64 = row >= 1 ? float(at(ids, -1)) : 0.5"},
        {"load ids.bin, amounts.bin | stencil -2..-2 else 0: |a, b| at(b, -2) * a",
         "c1:i64 = row >= 2 ? at(amounts, -2) * ids : 0"},
        {"load ids.bin | stencil -1..1 else n > 2: at($1, 0) > 7", "c1:bool = row >= 1 && row + 1 < rows && ids > 7"},
        {"load ids.bin | shape 2 5", "ids:i32"},
        {"load ids.bin | shape (n * 2) 5 | map row, col, x as x", "c1:i64 = row / 5, c2:i64 = row % 5, x:i32 = ids"},
        {"load ids.bin as col | shape 2 5 | map col + row", "c1:i64 = col + row / 5"},
        {"load ids.bin | shape 2 5 | stencil [0..1, -1..0] else 0: at(1, 0) - at(0, -1)",
         "c1:i64 = row / 5 + 1 < 2 && row % 5 >= 1 ? at(ids, 5) - at(ids, -1) : 0"},
        {"load ids.bin | shape 2 5 | stencil [0..0, -1..1] else 0: at(0, 1) | stencil [-1..0, 0..0] else 1: at(c1, -1, "
         "0)",
         "c1:i64 = row / 5 >= 1 ? at(c1, -5) : 1"},
        {"load ids.bin | shape 2 5 | scan + along rows", "ids:i64; scan + of ids along rows of 5"},
        {"load ids.bin | shape 2 5 | scan max exclusive from 0 along cols",
         "ids:i64; scan max of ids exclusive from 0 along 5 columns"},
        {"load ids.bin | shape 2 5 | sum along rows",
         "row:i64 = row / 5, ids:i32 | row:i64, sum_ids:i64; group by row: sum(ids) | sum_ids:i64"},
        {"load ids.bin | shape 2 5 | mean x * 2 along cols",
         "col:i64 = row % 5, c2:i64 = ids * 2 | col:i64, mean:f64; group by col: mean(c2) | mean:f64"},
        {"load ids.bin | shape 2 5 | count along rows",
         "row:i64 = row / 5 | row:i64, count:i64; group by row: count() | count:i64"},
        {"load ids.bin | shape 2 5 | count 42 along rows",
         "row:i64 = row / 5, c2:i64 = int(ids == 42) | row:i64, count:i64; group by row: sum(c2) | count:i64"},
        {"load ids.bin | shape 2 5 | fold min along cols",
         "col:i64 = row % 5, ids:i32 | col:i64, reduce_ids:i64; group by col: min(ids) | reduce_ids:i64"},
        {"load ids.bin | shape 2 5 | product along rows",
         "product_ids:i64; scan * of ids along rows of 5 | product_ids:i64 = product_ids[row * 5 + 4]"},
        {"load ids.bin | shape 2 5 | reduce |a, b| a + b from 1 along cols",
         "reduce_ids:i64; scan a function of ids from 1 along 5 columns | reduce_ids:i64 = reduce_ids[row + 5]"},
    };
    CHECK_GOOD(queries, good, false);
    static const struct bad bad[] = {
        {"load ids.bin | stencil 1..-1 else 0: x", "1..-1", "the range 1..-1 is empty",
         "write the smaller distance first"},
        {"load ids.bin | stencil -1..1 else 0: at(2)", "2", "2 is outside the neighbourhood -1..1", "-1..1"},
        {"load ids.bin | stencil -1..1 else 0: at(x)", "x", "unknown value `x`", "the same for all rows"},
        {"load ids.bin | stencil -1..1 else 0: at(0.5)", "0.5", "the distance of a neighbour must be an integer",
         "stencil -1..1"},
        {"load ids.bin | per ids: stencil -1..1 wrap: at(ids, 1)", "wrap",
         "within `per`, a stencil has `else E`, not `wrap`", "else missing"},
        {"load ids.bin | stencil -1..1 else 0: at()", "at()",
         "`at` takes an optional column name and 1 distance, not 0 arguments", "at(NAME, DISTANCE)"},
        {"load ids.bin | stencil -1..1 else 0: at(x + 1, 1)", "x + 1", "`x + 1` is not a column name", "at(x, 1) + 1"},
        {"load ids.bin, amounts.bin | stencil -1..1 else 0: at(1)", "at(1)",
         "`at` needs a column name: there are 2 columns", "at(amounts, ...)"},
        {"load ids.bin | stencil -1..1 else 0: at(1) > 3", "at(1) > 3",
         "beside a number, `stencil` needs numbers, but `at(1) > 3` is a condition", "int(at(1) > 3)"},
        {"load ids.bin | stencil [-1..1, 0..0] else 0: at(0, 0)", "-1..1, 0..0",
         "`stencil` in two directions needs a relation with a shape", "`shape R C`"},
        {"load ids.bin | shape 2 5 | stencil -1..1 else 0: at(0)", "-1..1",
         "a relation of shape 2 by 5 needs distances in two directions", "stencil [-1..1, -1..1]"},
        {"load ids.bin | shape 2 5 | select x > 1 | stencil [-1..1, 0..0] else 0: x", "-1..1, 0..0",
         "`stencil` in two directions needs a relation with a shape", "`shape R C`"},
        {"load ids.bin | map at(1, 2, 3)", "at(1, 2, 3)", "`at` takes a value and a distance, not 3 arguments",
         "at(price, -1)"},
        {"load ids.bin | shape 3 5", "shape 3 5", "3 by 5 is not the shape of 10 rows", "product of the sizes"},
        {"load ids.bin | shape 0 5", "0", "a shape has a size of at least 1 along each axis, not 0", "shape 480 640"},
        {"load ids.bin | shape x 5", "x", "unknown value `x`", "the same for all rows"},
        {"load ids.bin | map row[1]", "row", "`row` is a single value: it has no elements", "NAME[E]"},
        {"load ids.bin | map n[1]", "n", "`n` is a single value: it has no elements", "NAME[E]"},
        {"load ids.bin | map t[0.5]", "0.5", "`t[...]` needs integers, but `0.5` is a float", "int(0.5)"},
        {"load ids.bin | map two[0]", "two", "`two` has 2 columns", "`two.c2[E]`"},
        {"load ids.bin, amounts.bin | map tt[0]", "tt", "unknown column or value `tt`", "the columns are"},
        {"t[3]", "3", "there is no row 3: `t` has 3 rows", "counted from 0"},
        {"t[-1]", "-1", "there is no row -1: `t` has 3 rows", "counted from 0"},
    };
    CHECK_BAD(queries, bad, false);

    struct bound bound = query_bind(queries, "load ids.bin | shape 2 5 | sum along rows");
    assert_int_equal(last_task(&bound.queue)->rows, 2);
    assert_int_equal(bound.shape.axes, 0);
    queue_release(&bound.queue);
    bound = query_bind(queries, "load ids.bin | shape 2 5 | map x + 1 | zip amounts.bin | snds");
    assert_int_equal(bound.shape.axes, 2);
    assert_int_equal(bound.shape.extents[0], 2);
    assert_int_equal(bound.shape.extents[1], 5);
    queue_release(&bound.queue);
    bound = query_bind(queries, "load ids.bin | shape 2 5 | reverse");
    assert_int_equal(bound.shape.axes, 0);
    assert_true(last_task(&bound.queue)->inputs[0].whole);
    queue_release(&bound.queue);

    /* A row count known only at run time is checked then. */
    bound = query_bind(queries, "load ids.bin | select x > 7 | shape 2 3 | map row");
    const struct task *shape = bound.queue.tasks[3];
    assert_int_equal(shape->equal_count, 1);
    assert_int_equal(shape->equals[0]->rows, 6);
    assert_ptr_equal(shape->rows_from, bound.queue.tasks[1]);
    queue_release(&bound.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(breakers, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(bad_breakers, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(places, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
