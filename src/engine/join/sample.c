/* sample: some rows at random, in their order. Of a number of rows, they are ordered by a hash of their numbers, which
 * the seed chooses; the first ones are taken. So a sample is the same everywhere, whatever the order in which rows are
 * read. */
#include "engine/join/join_stages.h"

#include "base/hash.h"
#include "engine/bind/facts.h"
#include "engine/lower/lower.h"

/* The XOR of the products of both halves of a number, which may have 63 bits, with two numbers of 31 bits: no product
 * exceeds 63 bits. */
static value mixed(struct code *code, value v, uint64_t *state, struct span span)
{
    enum { HALF = 31 };
    const int64_t mask = (INT64_C(1) << HALF) - 1;
    value parts[2];
    parts[0] = code_with(code, OP_BITAND, v, mask, span);
    parts[1] = code_with(code, OP_SHR, v, HALF, span);
    parts[1] = code_with(code, OP_BITAND, parts[1], UINT32_MAX, span);
    for (int i = 0; i < 2; i++) {
        const int64_t factor = (int64_t)(splitmix64(state) & (uint64_t)mask) | 1;
        parts[i] = code_binary(code, OP_MUL, parts[i], code_int(code, factor, span), span);
    }
    return code_binary(code, OP_XOR, parts[0], parts[1], span);
}

/* The hash of the number of a row. */
static value hash_of(struct code *code, value row, int64_t seed, const struct stage *stage)
{
    enum { ROUNDS = 3 };
    uint64_t state = (uint64_t)seed;
    /* The low half of a product depends on the low half of a number only: a constant first, then several rounds. */
    value hash = code_int(code, (int64_t)(splitmix64(&state) >> 1), stage->span);
    hash = code_binary(code, OP_XOR, row, hash, stage->span);
    for (int i = 0; i < ROUNDS; i++)
        hash = mixed(code, hash, &state, stage->span);
    return hash;
}

/* The number of each row and its hash. */
static void hash_rows(struct binder *binder, const struct stage *stage, int64_t seed, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    const value row = code_row(&task->code, stage->span), hash = hash_of(&task->code, row, seed, stage);
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = (struct slot){.name = "row", .type = TYPE_I64, .known = true};
    slots[1] = (struct slot){.name = "hash", .type = TYPE_I64, .known = true};
    const value values[] = {row, hash};
    task_set_slots(binder, task, flow, slots, values, 2, 0);
}

/* Sorts the rows by a column and keeps the first `count` columns. */
static void sort_by(struct binder *binder, const struct stage *stage, size_t column, struct flow *flow)
{
    struct task *task = operator_new(binder, "sort", stage->span, flow, OPERATOR_SORT, 1);
    task->column_op->keys[0] = column;
    task_set_slot(binder, task, flow, flow->columns[0], task_input(task, 0));
}

/* A number of the stage; false after an error, or if it is unknown. */
static bool number_of(struct binder *binder, const struct expr *expr, const char *what, int64_t *number)
{
    struct scope scope = scope_without_columns(binder, NULL, "a sample has one size");
    return bind_constant_int(&scope, expr, what, "as in `sample 100 seed 7`", number) == KNOWN_VALUE;
}

/* The number, 0 in a check that does not know it, and -1 if it is none. */
static double scalar_number(const struct scalar *scalar, enum known known)
{
    if (known != KNOWN_VALUE)
        return 0;
    if (scalar->missing || scalar->logical.kind != LOGICAL_NUMBER || scalar->kind == KIND_BOOL)
        return -1;
    return scalar->kind == KIND_FLOAT ? scalar->number : (double)scalar->integer;
}

/* sample N%: the rows whose random number, which the seed and the row's number choose, is below the share. */
static void bind_share(struct binder *binder, const struct stage *stage, int64_t seed, struct flow *flow)
{
    const struct span span = stage->items[0].span;
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    const struct flow no_columns = {.rows = -1}; /* so that `row` is no column */
    struct expr number = {.kind = EXPR_INT, .span = span, .integer = seed, .depth = 1};
    struct expr row = {.kind = EXPR_NAME, .span = span, .name = {"row", span}, .depth = 1};
    struct expr *arguments[] = {&number, &row};
    struct expr call = {
        .kind = EXPR_CALL, .span = span, .name = {"random", span}, .args = arguments, .arg_count = 2, .depth = 2};
    struct scalar scalar;
    struct scope constants = scope_without_columns(binder, NULL, "a sample has one size");
    const enum known known = bind_constant(&constants, stage->items[0].expr, &scalar);
    const double share = scalar_number(&scalar, known);
    if (known != KNOWN_NOTHING && !(share >= 0 && share <= 100))
        bind_error(binder, span, "as in `sample 10%`", "a share of the rows is a number from 0 to 100 per cent");
    scope.flow = &no_columns;
    scope.shape = (struct shape){0};
    const struct term term = bind_term(&scope, &call);
    task_filter(binder, task,
                code_binary(&task->code, OP_LT, term.value, code_float(&task->code, share / 100, span), span),
                task->span);
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
}

static void sort_all_by(struct binder *binder, const struct stage *stage, size_t column, struct flow *flow)
{
    struct task *task = operator_new(binder, "sort", stage->span, flow, OPERATOR_SORT, 1);
    task->column_op->keys[0] = column;
    task_pass_inputs(binder, task, flow);
}

/* For a server, which keeps the columns beside the numbers and hashes of rows. */
static void sample_remotely(struct binder *binder, const struct stage *stage, int64_t count, int64_t seed,
                            struct flow *flow)
{
    const struct flow from = *flow;
    struct task *task = task_of_stage(binder, stage, flow);
    struct slot *slots = arena_array(binder->arena, from.count + 2, sizeof *slots);
    struct term *terms = arena_array(binder->arena, from.count + 2, sizeof *terms);
    for (size_t k = 0; k < from.count; k++) {
        slots[k] = from.columns[k];
        terms[k] = term_of_column(&task->code, &from, k, stage->span);
    }
    terms[from.count] = term_of(code_row(&task->code, stage->span));
    terms[from.count + 1] = term_of(hash_of(&task->code, terms[from.count].value, seed, stage));
    slots[from.count] = (struct slot){.name = "row", .type = TYPE_I64, .known = true};
    slots[from.count + 1] = (struct slot){.name = "hash", .type = TYPE_I64, .known = true};
    task->window.take = (from.rows > 0 ? from.rows : INT64_MAX) - 1; /* so that nothing reads the columns beside it */
    task_set_outputs(binder, task, flow, slots, terms, from.count + 2);
    flow->rows = -1;
    sort_all_by(binder, stage, from.count + 1, flow);
    task = task_of_stage(binder, stage, flow);
    task->window.take = count;
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
    sort_all_by(binder, stage, from.count, flow);
    task = task_of_stage(binder, stage, flow);
    for (size_t k = 0; k < from.count; k++)
        terms[k] = term_of_column(&task->code, flow, k, stage->span);
    task_set_outputs(binder, task, flow, slots, terms, from.count);
}

void bind_sample(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    int64_t count = 0, seed = 0;
    const struct flow from = *flow;
    bool known = stage->share || number_of(binder, stage->items[0].expr, "how many rows `sample` takes", &count);
    if (stage->initial)
        known = number_of(binder, stage->initial->expr, "a seed", &seed) && known;
    if (stage->share) {
        bind_share(binder, stage, seed, flow);
        return;
    }
    if (count < 0)
        bind_error(binder, stage->items[0].span, "as in `sample 100`", "`sample` cannot take %lld rows",
                   (long long)count);
    if (binder->facts->remote && known && count > 0) {
        sample_remotely(binder, stage, count, seed, flow);
        return;
    }
    hash_rows(binder, stage, seed, flow);
    sort_by(binder, stage, 1, flow);
    struct task *window = task_of_stage(binder, stage, flow);
    window->window.take = max_int64(count, 0);
    flow->rows = from.rows >= 0 && known ? min_int64(from.rows, window->window.take) : -1;
    task_pass_inputs(binder, window, flow);
    sort_by(binder, stage, 0, flow);
    struct task *task = task_of_stage(binder, stage, flow);
    struct term *terms = arena_array(binder->arena, from.count + 1, sizeof *terms);
    const value row = code_input(&task->code, 0, KIND_INT, stage->span);
    for (size_t k = 0; k < from.count; k++)
        terms[k] = from.columns[k].known ? flow_element(task, &from, k, row, true, binder->arena) : unknown_term;
    const int64_t rows = flow->rows;
    *flow = from;
    flow->rows = rows;
    task_set_outputs(binder, task, flow, from.columns, terms, from.count);
}
