#include "engine/exact/exact_lazy.h"

#include "engine/backend/aggregate.h"
#include "engine/plan/code_loop.h"
#include "engine/plan/task_title.h"

#include <math.h>

/* A FOLD or LOOP that is running, or has run. */
struct loop_run {
    value *leaves; /* its COUNTER and STATEs, */
    size_t leaf_count;
    value *body; /* and what depends on them */
    size_t body_count;
    union datum *outer; /* the leaves' values in a loop around it that shares them, */
    int64_t *outer_for; /* and the row these are for */

    bool active;
    uint32_t failures; /* of the evaluator when it began */
    bool in_round;
    int64_t row, index, first, last;

    /* FOLD: the values so far. One within another adds to that one's. */
    struct loop_run *total;
    struct agg_state state;
    union datum best;
    int64_t place, rounds;
    bool decided;

    /* LOOP */
    struct carry *carries;
    union datum *states;
    size_t state_count;
};

static struct loop_run *new_run(const struct exact *exact, const struct lazy_task *lazy, value v)
{
    const struct code *code = &lazy->task->code;
    struct arena *arena = exact->arena;
    const size_t count = (size_t)code->count;
    struct loop_run *run = arena_alloc(arena, sizeof *run);
    bool *of = arena_array(arena, count, sizeof *of);
    loop_mark_body(code, v, code_levels(code, arena), of);
    run->leaves = arena_array(arena, count, sizeof *run->leaves);
    run->body = arena_array(arena, count, sizeof *run->body);
    const int64_t level = code->at[loop_index(code, v)].integer;
    for (value b = 0; b < code->count; b++) {
        const struct instr *instr = &code->at[b];
        if (!of[b])
            continue;
        run->body[run->body_count++] = b;
        if (b == loop_index(code, v) || (instr->op == OP_STATE && instr->integer == level))
            run->leaves[run->leaf_count++] = b;
    }
    run->outer = arena_array(arena, run->leaf_count + 1, sizeof *run->outer);
    run->outer_for = arena_array(arena, run->leaf_count + 1, sizeof *run->outer_for);
    run->carries = arena_array(arena, LOOP_STATES, sizeof *run->carries);
    run->state_count = loop_carries(code, v, run->carries);
    run->states = arena_array(arena, run->state_count + 1, sizeof *run->states);
    run->total = run;
    return run;
}

static struct loop_run *run_of(const struct exact *exact, struct lazy_task *lazy, value v)
{
    if (!lazy->loops[v])
        lazy->loops[v] = new_run(exact, lazy, v);
    struct loop_run *run = lazy->loops[v];
    run->active = run->active && run->row == lazy->row && run->failures == exact->failures;
    return run;
}

static void forget_body(struct lazy_task *lazy, const struct loop_run *run)
{
    for (size_t i = 0; i < run->body_count; i++)
        lazy->computed[run->body[i]] = 0;
}

/* Computes the range, and begins; false if the range has to be computed first. */
static bool begin(struct exact *exact, struct lazy_task *lazy, value v, struct loop_run *run)
{
    const struct code *code = &lazy->task->code;
    const struct instr *index = &code->at[loop_index(code, v)];
    const union datum *first = exact_demand(exact, lazy, index->args[0]);
    const union datum *last = first ? exact_demand(exact, lazy, index->args[1]) : NULL;
    if (!last)
        return false;
    for (size_t k = 0; k < run->state_count; k++) {
        const union datum *state = exact_demand(exact, lazy, run->carries[k].first);
        if (!state)
            return false;
        run->states[k] = *state;
    }
    for (size_t i = 0; i < run->leaf_count; i++) {
        run->outer[i] = lazy->memo[run->leaves[i]];
        run->outer_for[i] = lazy->computed[run->leaves[i]];
    }
    run->active = true;
    run->failures = exact->failures;
    run->row = lazy->row;
    run->first = run->index = first->integer;
    run->last = last->integer;
    run->in_round = run->decided = false;
    run->rounds = 0;
    return true;
}

static void end(struct lazy_task *lazy, struct loop_run *run)
{
    forget_body(lazy, run);
    for (size_t i = 0; i < run->leaf_count; i++) {
        lazy->memo[run->leaves[i]] = run->outer[i];
        lazy->computed[run->leaves[i]] = run->outer_for[i];
    }
    run->active = false;
}

static void begin_round(struct lazy_task *lazy, struct loop_run *run)
{
    forget_body(lazy, run);
    for (size_t i = 0; i < run->leaf_count; i++) {
        const struct instr *leaf = &lazy->task->code.at[run->leaves[i]];
        if (leaf->op == OP_COUNTER)
            lazy->memo[run->leaves[i]].integer = run->index;
        else
            lazy->memo[run->leaves[i]] = run->states[leaf->offset];
        lazy->computed[run->leaves[i]] = lazy->row + 1;
    }
    run->in_round = true;
}

/* Whether there are more rounds. */
static bool end_round(struct loop_run *run)
{
    run->in_round = false;
    if (run->index >= run->last)
        return false;
    run->index++;
    return true;
}

/* Whether the fold is an aggregate of values like one of rows. */
static bool joins(enum aggregate_kind kind)
{
    return aggregate_table[kind].folds == FOLD_JOINED || aggregate_table[kind].folds == FOLD_EXTREME;
}

/* Whether a value of the kind is better than the best so far. */
static bool is_better(enum aggregate_kind kind, enum kind type, union datum datum, union datum best)
{
    const bool least = kind == AGG_ARGMIN;
    if (type != KIND_FLOAT)
        return least ? datum.integer < best.integer : datum.integer > best.integer;
    return (least ? datum.number < best.number : datum.number > best.number) ||
           (isnan(best.number) && !isnan(datum.number));
}

static void add_value(struct loop_run *total, enum aggregate_kind kind, enum kind type, union datum datum,
                      int64_t index)
{
    const bool first = total->rounds++ == 0;
    if (joins(kind)) {
        const struct scalar scalar = datum_scalar(datum, type);
        agg_add(&total->state, &scalar);
    } else if (aggregate_table[kind].folds == FOLD_TEST) {
        total->decided = (datum.integer != 0) == (kind == AGG_ANY);
    } else if (aggregate_table[kind].folds == FOLD_PLACE && (first || is_better(kind, type, datum, total->best))) {
        total->best = datum;
        total->place = index;
    }
}

/* Whether the folded values have a result. */
static bool fold_result(const struct loop_run *run, enum aggregate_kind kind, union datum *result)
{
    const struct aggregate aggregate = {.kind = kind};
    struct scalar scalar = {0};
    bool certain;
    if (joins(kind)) {
        if (!agg_value(&run->state, &aggregate, &scalar, &certain) ||
            (scalar.kind != KIND_FLOAT && !scalar_fits(&scalar)))
            return false;
        *result = datum_of_scalar(&scalar);
        return true;
    }
    const enum fold_form form = aggregate_table[kind].folds;
    const bool tests = form == FOLD_TEST;
    result->integer = tests ? run->decided == (kind == AGG_ANY) : form == FOLD_PLACE ? run->place : run->rounds;
    return tests || run->rounds > 0;
}

static void begin_values(struct loop_run *run, enum aggregate_kind kind, value body, const struct code *code)
{
    const struct aggregate aggregate = {.kind = kind, .value = body};
    if (joins(kind))
        agg_init(&run->state, &aggregate, code);
}

/* The values of a fold within this one are added to this one's. */
static void join_inner(struct exact *exact, struct lazy_task *lazy, struct loop_run *run, value body)
{
    const struct instr *instr = &lazy->task->code.at[body];
    if (instr->op != OP_FOLD || !instr->exact)
        return;
    run_of(exact, lazy, body)->total = run->total;
    lazy->computed[body] = 0;
}

enum status exact_run_fold(struct exact *exact, struct lazy_task *lazy, value v, union datum *result, bool *ready)
{
    const struct code *code = &lazy->task->code;
    const struct instr *fold = &code->at[v];
    const enum aggregate_kind kind = (enum aggregate_kind)fold->integer;
    const value body = fold->args[1];
    const bool contains = code->at[body].op == OP_FOLD && code->at[body].exact;
    struct loop_run *run = run_of(exact, lazy, v);
    bool more = true;
    *ready = false;
    if (!run->active) {
        if (!begin(exact, lazy, v, run))
            return STATUS_OK;
        if (!fold->exact)
            begin_values(run, kind, body, code);
        more = run->first <= run->last && !run->total->decided;
    }
    while (more) {
        if (!run->in_round) {
            if (exact_cancelled(exact))
                return STATUS_CANCELLED;
            begin_round(lazy, run);
            join_inner(exact, lazy, run, body);
        }
        const union datum *datum = exact_demand(exact, lazy, body);
        if (!datum)
            return STATUS_OK;
        if (!contains)
            add_value(run->total, kind, code->at[body].kind, *datum, run->index);
        more = end_round(run) && !run->total->decided;
    }
    const int64_t first = run->first, last = run->last;
    end(lazy, run);
    *ready = true;
    if (fold->exact)
        return STATUS_OK;
    if (fold_result(run, kind, result))
        return STATUS_OK;
    const bool empty = run->rounds == 0;
    return exact_fail(exact, lazy, fold, (union datum){.integer = empty && first <= last ? last + 1 : first},
                      (union datum){.integer = last});
}

enum status exact_run_loop(struct exact *exact, struct lazy_task *lazy, value v, bool *ready)
{
    const struct instr *loop = &lazy->task->code.at[v];
    struct loop_run *run = run_of(exact, lazy, v);
    bool more = true;
    *ready = false;
    if (!run->active) {
        if (!begin(exact, lazy, v, run))
            return STATUS_OK;
        more = run->first <= run->last;
    }
    while (more) {
        if (!run->in_round) {
            if (exact_cancelled(exact))
                return STATUS_CANCELLED;
            begin_round(lazy, run);
        }
        const union datum *holds = exact_demand(exact, lazy, loop->args[1]);
        if (!holds)
            return STATUS_OK;
        if (!holds->integer)
            break;
        for (size_t k = 0; k < run->state_count; k++) {
            if (!exact_demand(exact, lazy, run->carries[k].next))
                return STATUS_OK;
        }
        for (size_t k = 0; k < run->state_count; k++)
            run->states[k] = lazy->memo[run->carries[k].next];
        more = end_round(run);
    }
    end(lazy, run);
    *ready = true;
    return STATUS_OK;
}

/* A round also reads values of stages before the loop, which fail there; functions are in no stage. */
static bool is_in_stage_of(const struct task *task, const struct instr *loop, const struct instr *instr)
{
    const struct stage_mark *stage = stage_of_span(task, instr->span);
    return !stage || stage == stage_of_span(task, loop->span);
}

int64_t exact_round(const struct lazy_task *lazy, const struct instr *instr)
{
    const struct code *code = &lazy->task->code;
    for (value v = 0; lazy->loops && v < code->count; v++) {
        const struct loop_run *run = lazy->loops[v];
        if (run && code->at[v].op == OP_LOOP && run->active && run->in_round && run->row == lazy->row &&
            is_in_stage_of(lazy->task, &code->at[v], instr))
            return run->index;
    }
    return -1;
}

union datum exact_final(const struct lazy_task *lazy, const struct instr *final)
{
    return lazy->loops[final->args[0]]->states[final->offset];
}
