#include "engine/loop/loop_stages.h"

#include "engine/bind/facts.h"
#include "engine/loop/repeat_state.h"
#include "engine/lower/aggregates.h"
#include "engine/plan/loop.h"
#include "engine/source/bind_source.h"

#include <string.h>

enum {
    LIMIT_LOOPS = 8,        /* nested */
    LIMIT_ROUNDS = 1000000, /* in a script, where none is stated */
    ROUNDS_IN_ROWS = 10000, /* of each row on its own, which a device cannot interrupt; then all rows together */
};

static void bind_rows(struct binder *binder, const struct pipeline *pipeline, struct flow *flow)
{
    const struct source_node node = {.kind = SOURCE_PIPELINE, .span = pipeline->span, .pipeline = (void *)pipeline};
    *flow = (struct flow){.rows = -1};
    bind_source(binder, &node, flow);
}

/* Creates the loop and makes it the one that is being bound. False after an error. */
static bool begin_loop(struct repeat *r, int64_t rounds)
{
    struct binder *binder = r->binder;
    const struct flow *entry = &r->entry;
    const size_t count = entry->count + entry->hidden;
    enum type *types = arena_array(binder->arena, count + 1, sizeof *types);
    struct logical_type *logical = arena_array(binder->arena, count + 1, sizeof *logical);
    for (size_t k = 0; k < count; k++) {
        types[k] = entry->columns[k].type;
        logical[k] = entry->columns[k].logical;
    }
    r->loop = loop_new(binder->queue, types, logical, count);
    if (!r->loop)
        return bind_error(binder, r->stage->span, NULL, "not enough memory");
    for (size_t k = 0; k < count; k++)
        r->loop->state[k]->rows = r->loop->after[k]->rows = r->rows_vary ? -1 : entry->rows;
    r->loop->span = r->stage->span;
    r->loop->stated = rounds >= 0 || binder->env->keeps_last;
    r->loop->rounds = rounds >= 0 ? rounds : binder->env->keeps_last ? INT64_MAX : LIMIT_ROUNDS;
    r->rounds = (struct rounds){
        .loop = r->loop,
        .name = r->stage->prefix,
        .columns = entry->columns,
        .count = entry->count,
        .rows = r->rows_vary ? -1 : entry->rows,
        .shape = entry->shape,
        .nameless = entry->nameless,
        .around = binder->pipeline,
        .outer = binder->rounds,
    };
    return true;
}

/* ---- conditions ---- */

/* Binds an expression of aggregates of the rows as a column of one row, in the loop's queue. */
static void bind_test(struct repeat *r, const char *rows, struct expr *expr, struct queue *queue)
{
    struct binder *binder = r->binder;
    struct item *item = arena_alloc(binder->arena, sizeof *item);
    struct stage *group = arena_alloc(binder->arena, sizeof *group);
    struct pipeline *pipeline = arena_alloc(binder->arena, sizeof *pipeline);
    *item = (struct item){.expr = expr, .name = {"until", expr->span}, .span = expr->span};
    *group = (struct stage){.word = word_find("group", strlen("group")),
                            .span = expr->span,
                            .word_span = expr->span,
                            .aggregates = item,
                            .aggregate_count = 1,
                            .call = r->stage->call};
    *pipeline = (struct pipeline){.source = {.kind = SOURCE_NAME, .span = expr->span, .name = {rows, expr->span}},
                                  .stages = group,
                                  .stage_count = 1,
                                  .span = expr->span};
    struct queue *outer = binder->queue;
    struct flow flow;
    const size_t errors = binder->errors;
    binder->queue = queue;
    bind_rows(binder, pipeline, &flow);
    if (binder->errors == errors && !flow.open && flow.columns[0].known &&
        (flow.columns[0].logical.kind != LOGICAL_NUMBER || type_table[flow.columns[0].type].kind != KIND_BOOL))
        bind_error(binder, expr->span, "compare it, as in `max(abs(x - before(x))) < 1e-6`",
                   "`until` takes a condition, not %s", repeat_type_noun(&flow.columns[0]));
    binder->queue = outer;
}

/* any(E) */
static struct expr *any_of(struct arena *arena, struct expr *condition)
{
    struct expr *call =
        ARENA_NEW(arena, struct expr, .kind = EXPR_CALL, .span = condition->span, .name = {"any", condition->span},
                  .arg_count = 1, .depth = condition->depth + 1, .nesting = condition->nesting);
    call->args = arena_array(arena, 1, sizeof *call->args);
    call->args[0] = condition;
    return call;
}

static void bind_until(struct repeat *r)
{
    struct expr *until = r->stage->until;
    if (!aggregates_any(r->binder, until)) {
        bind_error(r->binder, until->span, "as in `until max(x) > 10`; `while` takes a condition of each row",
                   "`until` takes a condition of aggregates");
        return;
    }
    r->rounds.until = true;
    bind_test(r, ROWS_AFTER_ROUND, until, &r->loop->until);
    r->loop->compares = r->rounds.compares;
    r->rounds.until = false;
}

/* ---- the stage ---- */

/* Checks that the body of a loop with `while` computes each row of itself. */
static bool check_row_wise(const struct repeat *r)
{
    const struct stage *stage = r->stage;
    if (stage->condition && stage->loop)
        return bind_error(r->binder, stage->loop->span, "leave out its source: `repeat while E: derive ...`",
                          "`while` is a condition of each row, so a round cannot begin with rows of its own");
    if (stage->condition && aggregates_any(r->binder, stage->condition))
        return bind_error(r->binder, stage->condition->span,
                          "`repeat until max(x) >= 5: ...` takes one, at which rounds end",
                          "`while` takes a condition of each row, not of aggregates");
    for (size_t i = 0; stage->condition && i < stage->body_count; i++) {
        if (stage_does(stage->body[i].word->stage, IS_ROW_WISE))
            continue;
        return bind_error_second(r->binder, stage->body[i].span, stage->condition->span,
                                 "each row has its own condition", "`until` takes a condition of all rows",
                                 "`%s` is a stage of all rows, but with `while` each row has rounds of its own",
                                 text_of_word(r->binder->arena, &stage->body[i]));
    }
    return true;
}

static void bind_body(struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    const struct stage *stage = r->stage;
    const struct pipeline *pipeline = stage->loop;
    if (!pipeline) {
        struct pipeline *stages = ARENA_NEW(
            binder->arena, struct pipeline,
            .source = {.kind = SOURCE_NAME, .span = stage->word_span, .name = {ROWS_BEFORE_ROUND, stage->word_span}},
            .stages = stage->body, .stage_count = stage->body_count, .span = stage->span);
        pipeline = stages;
    }
    bind_rows(binder, pipeline, flow);
}

/* Binds the queues of the loop. *again: more columns have to be nullable. False if it is of no use. */
static bool bind_round(struct repeat *r, bool *nullable, struct flow *flow, bool *open, bool *again)
{
    struct binder *binder = r->binder;
    struct rounds *outer = binder->rounds;
    struct queue *outer_queue = binder->queue;
    *again = *open = false;
    binder->rounds = &r->rounds;
    binder->queue = &r->loop->body;
    bind_body(r, flow);
    const bool good = repeat_check_round(r, flow, open);
    const bool varies = good && !r->rows_vary && flow->rows != r->entry.rows;
    r->rows_vary = r->rows_vary || varies;
    if (good && (repeat_find_nullable(r, flow, nullable) || varies)) {
        *again = true;
    } else if (good) {
        if (r->stage->condition) {
            repeat_leave_masked(r, flow);
            if (r->rows.keep != NO_VALUE) /* else its errors would be told twice */
                bind_test(r, ROWS_BEFORE_ROUND, any_of(binder->arena, r->stage->condition), &r->loop->active);
        } else {
            repeat_leave(r, flow);
            r->rows.after = flow->task;
        }
        if (r->stage->until)
            bind_until(r);
    }
    binder->queue = outer_queue;
    binder->rounds = outer;
    return good;
}

/* The operator whose outputs are the columns after the last round. */
static void add_operator(const struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    const size_t count = r->loop->count;
    *flow = r->entry;
    struct task *task = operator_new(binder, "repeat", r->stage->span, flow, OPERATOR_REPEAT, count);
    for (size_t k = 0; k < count; k++)
        task->column_op->keys[k] = k;
    task->column_op->loop = r->loop;
    task_pass_inputs(binder, task, flow);
    mark_fallible(task);
    if (r->rows_vary)
        flow->rows = -1;
}

/* The rows after the last round: of each row on its own where possible, at first. */
static void bind_loop(struct repeat *r, struct flow *flow)
{
    const int64_t rounds = r->loop->rounds;
    r->rows.loop = r->loop;
    r->rows.rounds = rounds < ROUNDS_IN_ROWS ? rounds : ROUNDS_IN_ROWS;
    /* Without `while`, an error names the first round: the statement is bound again for it, with all rows together. */
    const struct facts *facts = r->binder->facts;
    const bool whole = facts->careful && !facts->row_loops;
    const bool may = r->stage->condition || (!whole && rounds <= ROUNDS_IN_ROWS);
    if (may && !r->stage->until && loop_in_rows(r->binder, r->stage, &r->rows, &r->entry)) {
        r->loop->first = r->rows.rounds;
        r->binder->row_loops = r->binder->row_loops || !r->stage->condition;
        *flow = r->entry;
        if (rounds <= ROUNDS_IN_ROWS && r->loop->stated)
            return;
    }
    add_operator(r, flow);
}

/* The stated number of rounds; -1: none, or after an error. */
static int64_t stated_rounds(struct repeat *r)
{
    const struct stage *stage = r->stage;
    struct binder *binder = r->binder;
    int64_t rounds = -1;
    if (!stage->rounds) {
        if (!stage->condition && !stage->until)
            bind_error(binder, stage->word_span,
                       "as in `repeat 10: ...`, `repeat while x > 1: ...` or `repeat until max(x) < 1: ...`",
                       "`%s` needs a number of rounds or a condition", text_of_word(binder->arena, stage));
        return -1;
    }
    struct scope scope = scope_without_columns(binder, NULL, "the number of rounds is the same for all rows");
    if (bind_constant_int(&scope, stage->rounds, "the number of rounds", "as in `repeat 10: ...`", &rounds) ==
            KNOWN_VALUE &&
        rounds < 0)
        bind_error(binder, stage->rounds->span, "`repeat while` and `repeat until` need no number",
                   "the number of rounds is %lld", (long long)rounds);
    return rounds;
}

void bind_repeat(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct repeat r = {.binder = binder, .stage = stage};
    const size_t errors = binder->errors;
    const int64_t rounds = stated_rounds(&r);
    int depth = 0;
    for (const struct rounds *outer = binder->rounds; outer; outer = outer->outer)
        depth++;
    if (depth >= LIMIT_LOOPS)
        bind_error(binder, stage->span, NULL, "loops are nested more than %d deep", LIMIT_LOOPS);
    bool open = flow->open || !flow->task;
    for (size_t k = 0; k < flow->count; k++)
        open = open || !flow->columns[k].known;
    if (binder->errors > errors || !check_row_wise(&r) || open) {
        if (flow->task)
            task_unknown(binder, stage, flow);
        return;
    }
    bool *nullable = arena_array(binder->arena, flow->count + 1, sizeof *nullable);
    const size_t tasks = binder->queue->count, outputs = binder->outputs;
    /* What a round does to columns and rows turns up at its end. Each time at least one more column has come to have
     * missing values, or the number of rows to vary, so this ends. */
    for (bool again = true; again;) {
        struct flow after;
        binder->queue->count = tasks;
        binder->outputs = outputs;
        repeat_enter(&r, flow, nullable);
        const bool bound = begin_loop(&r, rounds) && bind_round(&r, nullable, &after, &open, &again);
        const bool good = bound && binder->errors == errors;
        again = good && again;
        if (again)
            continue;
        if (good)
            bind_loop(&r, flow);
        else
            task_unknown(binder, stage, flow);
    }
}
