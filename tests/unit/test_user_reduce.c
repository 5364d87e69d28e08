/* User-defined and operator folds, with and without an initial value: blocked, threaded and exact, against a loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/backend/user_reduce.h"
#include "engine/task/run_queue.h"
#include "evaluators.h"
#include "random_code.h"

static const struct span nowhere = {0};

/* Functions of a and b: associative on integers only; not all commutative. */
enum combiner { ADD, MULTIPLY, LARGER, FIRST, LAST, FIRST_NONZERO, DIFFERS, HALVES, SAFE_DIVIDE };

static value body_of(struct code *code, enum combiner combiner, enum kind kind)
{
    value a = code_input(code, 0, kind, nowhere), b = code_input(code, 1, kind, nowhere);
    value zero = kind == KIND_INT ? code_int(code, 0, nowhere) : NO_VALUE;
    switch (combiner) {
    case ADD:
        return code_op(code, OP_ADD, a, b, NO_VALUE, nowhere);
    case MULTIPLY:
        return code_op(code, OP_MUL, a, b, NO_VALUE, nowhere);
    case LARGER:
        return code_op(code, OP_SELECT, code_op(code, OP_LT, a, b, NO_VALUE, nowhere), b, a, nowhere);
    case FIRST:
        return a;
    case LAST:
        return b;
    case FIRST_NONZERO:
        return code_op(code, OP_SELECT, code_op(code, OP_EQ, a, zero, NO_VALUE, nowhere), b, a, nowhere);
    case DIFFERS:
        return code_op(code, OP_NE, a, b, NO_VALUE, nowhere);
    case HALVES:
        return code_op(code, OP_ADD, code_op(code, OP_MUL, a, code_float(code, 0.5, nowhere), NO_VALUE, nowhere), b,
                       NO_VALUE, nowhere);
    case SAFE_DIVIDE: /* lazy: the branch not taken must not fail */
        return code_op(code, OP_SELECT, code_op(code, OP_EQ, b, zero, NO_VALUE, nowhere), a,
                       code_op(code, OP_DIV, a, b, NO_VALUE, nowhere), nowhere);
    }
    return NO_VALUE;
}

static struct user_reduce *user_reduce_of(struct arena *arena, enum combiner combiner, enum kind kind)
{
    struct queue *queue = arena_alloc(arena, sizeof *queue);
    struct user_reduce *reducer = arena_alloc(arena, sizeof *reducer);
    queue_init(queue, arena);
    struct task *body = queue_add(queue);
    body->inputs = arena_array(arena, 2, sizeof *body->inputs);
    body->input_count = 2;
    for (int i = 0; i < 2; i++)
        body->inputs[i] = (struct input){.type = type_of_kind(kind), .name = i == 0 ? "a" : "b"};
    body->outputs = arena_array(arena, 1, sizeof *body->outputs);
    body->output_count = 1;
    body->outputs[0] = (struct output){.value = body_of(&body->code, combiner, kind), .type = type_of_kind(kind)};
    *reducer = (struct user_reduce){.kind = kind, .body = body};
    return reducer;
}

/* A one-task queue that folds a column. */
struct fold {
    struct arena *arena;
    struct diags diags;
    struct queue queue;
    struct column *column;
    struct aggregate aggregate;
};

static void fold_init(struct fold *fold, struct column *column, struct aggregate aggregate)
{
    fold->column = column;
    queue_init(&fold->queue, fold->arena);
    diags_init(&fold->diags, fold->arena);
    struct task *task = queue_add(&fold->queue);
    task->rows = column->rows;
    task->inputs = arena_array(fold->arena, 1, sizeof *task->inputs);
    task->input_count = 1;
    task->inputs[0] = (struct input){.column = column, .type = column->type, .name = "c"};
    task->sink = SINK_AGGREGATE;
    task->aggregates = &fold->aggregate;
    task->aggregate_count = 1;
    fold->aggregate = aggregate;
    fold->aggregate.value = code_input(&task->code, 0, type_table[column->type].kind, nowhere);
}

/* Left-to-right fold. */
static enum status expect(const struct fold *fold, struct scalar *result)
{
    bool any = fold->aggregate.has_initial;
    *result = fold->aggregate.initial;
    for (int64_t row = 0; row < fold->column->rows; row++) {
        struct scalar v = column_get(fold->column, row);
        if (any && !user_reduce_apply(fold->aggregate.reducer, *result, v, result))
            return STATUS_FAILED;
        *result = any ? *result : v;
        any = true;
    }
    return any ? STATUS_OK : STATUS_FAILED;
}

static void assert_same(const struct scalar *actual, const struct scalar *wanted)
{
    assert_int_equal(actual->kind, wanted->kind);
    if (actual->kind == KIND_FLOAT)
        assert_memory_equal(&actual->number, &wanted->number, sizeof actual->number);
    else
        assert_true(actual->integer == wanted->integer);
}

static void check(const struct evaluators *evaluators, struct fold *fold)
{
    struct scalar wanted;
    enum status status = expect(fold, &wanted);
    for (int i = 0; i < 2; i++) {
        struct runner runner = {.evaluator = i == 0 ? evaluators->alone : evaluators->workers};
        struct result result = {0};
        assert_int_equal(run_queue(&runner, &fold->queue, DEFER_NEVER, &result, &fold->diags), status);
        if (status == STATUS_OK)
            assert_same(&result.scalar, &wanted);
    }
}

static struct column *column_of(struct random *random, enum kind kind, int64_t rows, int most)
{
    struct column *column = column_reserve(type_of_kind(kind), type_of_kind(kind), rows);
    for (int64_t i = 0; i < rows; i++) {
        int v = random_below(random, most) == 0 ? random_below(random, 9) - 4 : 0;
        if (kind == KIND_FLOAT)
            *(double *)column_at(column, i) = v / 7.0;
        else if (kind == KIND_BOOL)
            *(uint8_t *)column_at(column, i) = v & 1;
        else
            *(int64_t *)column_at(column, i) = v;
    }
    column_finish(column, rows);
    return column;
}

static void functions_fold_in_order(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 2047, 2048, 2049, 4100, 65536, 65537, 200003};
    static const struct {
        enum combiner combiner;
        enum kind kind;
    } cases[] = {
        {ADD, KIND_INT},           {LARGER, KIND_INT}, {FIRST, KIND_INT},    {LAST, KIND_INT},
        {FIRST_NONZERO, KIND_INT}, {ADD, KIND_FLOAT},  {HALVES, KIND_FLOAT}, {MULTIPLY, KIND_FLOAT},
        {LAST, KIND_FLOAT},        {LAST, KIND_BOOL},  {DIFFERS, KIND_BOOL},
    };
    struct random random = {20261121};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct fold fold = {.arena = arena_new()};
            struct column *column = column_of(&random, cases[i].kind, sizes[n], n % 2 == 0 ? 1 : 1000);
            struct scalar initial = cases[i].kind == KIND_INT     ? scalar_int(5)
                                    : cases[i].kind == KIND_FLOAT ? scalar_float(0.1)
                                                                  : scalar_bool(true);
            for (int has_initial = 0; has_initial < 2; has_initial++) {
                fold_init(&fold, column,
                          (struct aggregate){.kind = AGG_FOLD,
                                             .reducer = user_reduce_of(fold.arena, cases[i].combiner, cases[i].kind),
                                             .has_initial = has_initial,
                                             .initial = initial});
                check(*state, &fold);
            }
            column_unref(column);
            arena_free(fold.arena);
        }
    }
}

static struct column *constant_column(int64_t v, int64_t rows)
{
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, rows);
    for (int64_t i = 0; i < rows; i++)
        *(int64_t *)column_at(column, i) = i % 2 == 0 ? v : -v;
    column_finish(column, rows);
    return column;
}

/* Overflow in left-to-right order is an error; overflow only in pairwise order is not. */
static void left_to_right_decides(void **state)
{
    static const int64_t huge[] = {-2, INT64_MAX, 1, 1, -5};
    static const int64_t late[] = {INT64_MAX, -1, 1, 1, -5};
    const int64_t *const columns[] = {huge, late};
    for (int i = 0; i < 2; i++) {
        struct fold fold = {.arena = arena_new()};
        struct column *column = column_of_ints(columns[i], 5);
        fold_init(&fold, column,
                  (struct aggregate){.kind = AGG_FOLD, .reducer = user_reduce_of(fold.arena, ADD, KIND_INT)});
        check(*state, &fold);
        if (i == 1)
            assert_non_null(
                strstr(fold.diags.at[0].message, "9223372036854775807 + 1 does not fit in 64 bits at row 3"));
        column_unref(column);
        arena_free(fold.arena);
    }
}

static void what_is_not_read_does_not_fail(void **state)
{
    static const int64_t values[] = {1000, 0, 10, 0, 5};
    struct fold fold = {.arena = arena_new()};
    struct column *column = column_of_ints(values, 5);
    struct user_reduce *reducer = user_reduce_of(fold.arena, SAFE_DIVIDE, KIND_INT);
    struct scalar result;
    assert_true(user_reduce_apply(reducer, scalar_int(7), scalar_int(0), &result));
    assert_true(result.integer == 7);
    assert_false(user_reduce_apply(reducer, scalar_int(INT64_MIN), scalar_int(-1), &result));
    fold_init(&fold, column, (struct aggregate){.kind = AGG_FOLD, .reducer = reducer});
    struct runner runner = {.evaluator = ((const struct evaluators *)*state)->alone};
    struct result run = {0};
    assert_int_equal(run_queue(&runner, &fold.queue, DEFER_NEVER, &run, &fold.diags), STATUS_OK);
    column_unref(column);
    arena_free(fold.arena);
}

/* Operators with an initial value or no rows. */
static void operators_have_identities(void **state)
{
    static const struct {
        enum aggregate_kind kind;
        int64_t of_none, of_rows, with_initial; /* rows: 12, -12, 12; initial 10 */
    } cases[] = {
        {AGG_SUM, 0, 12, 22},
        {AGG_PRODUCT, 1, -1728, -17280},
        {AGG_BITAND, -1, 12 & -12, 12 & -12 & 10},
        {AGG_XOR, 0, 12 ^ -12 ^ 12, 12 ^ -12 ^ 12 ^ 10},
        {AGG_BITOR, 0, 12 | -12, 12 | -12 | 10},
        {AGG_MIN, 0, -12, -12},
        {AGG_MAX, 0, 12, 12},
    };
    const struct evaluators *evaluators = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int way = 0; way < 4; way++) {
            bool none = way % 2, has_initial = way / 2;
            struct fold fold = {.arena = arena_new()};
            struct column *column = constant_column(12, none ? 0 : 3);
            fold_init(&fold, column,
                      (struct aggregate){.kind = cases[i].kind, .has_initial = has_initial, .initial = scalar_int(10)});
            struct runner runner = {.evaluator = evaluators->alone};
            struct result result = {0};
            enum status status = run_queue(&runner, &fold.queue, DEFER_NEVER, &result, &fold.diags);
            bool bounds = cases[i].kind == AGG_MIN || cases[i].kind == AGG_MAX;
            assert_int_equal(status, bounds && none && !has_initial ? STATUS_FAILED : STATUS_OK);
            int64_t wanted = has_initial ? cases[i].with_initial : cases[i].of_rows;
            if (none) /* the initial value or the identity */
                wanted = !has_initial ? cases[i].of_none : 10;
            if (status == STATUS_OK)
                assert_true(result.scalar.integer == wanted);
            column_unref(column);
            arena_free(fold.arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_fold_in_order),
        cmocka_unit_test(left_to_right_decides),
        cmocka_unit_test(what_is_not_read_does_not_fail),
        cmocka_unit_test(operators_have_identities),
    };
    return cmocka_run_group_tests_name("reduce", tests, open_evaluators, close_evaluators);
}
