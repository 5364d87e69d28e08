#include "engine/loop/bind_repeat.h"

#include "engine/loop/loop_in_rows.h"
#include "engine/loop/rows_of_round.h"
#include "engine/lower/aggregates.h"
#include "engine/plan/loop.h"

#include <string.h>

enum {
    LIMIT_LOOPS = 8,        /* nested */
    LIMIT_ROUNDS = 1000000, /* in a script, where none is stated */
    ROUNDS_IN_ROWS = 10000, /* of each row on its own, which a device cannot interrupt; then all rows together */
};

struct repeat {
    struct binder *binder;
    const struct stage *stage;
    struct flow entry; /* the columns of the state: visible ones, then the validity of those that have one */
    struct loop *loop;
    struct rounds rounds;
    bool rows_vary;       /* from round to round */
    struct row_loop rows; /* while */
};

static void bind_rows(struct binder *binder, const struct pipeline *pipeline, struct flow *flow)
{
    const struct source_node node = {.kind = SOURCE_PIPELINE, .span = pipeline->span, .pipeline = (void *)pipeline};
    *flow = (struct flow){.rows = -1};
    binder->bind_source(binder, &node, flow);
}

/* ---- entering ---- */

/* The type of a column of the state: that of computed values. */
static enum type state_type(const struct slot *slot)
{
    if (slot->logical.kind == LOGICAL_TEXT)
        return slot->type;
    return slot->logical.kind == LOGICAL_NUMBER ? type_of_kind(type_table[slot->type].kind) : TYPE_I64;
}

/* Adds a task that brings the flow's columns into the form of the state; with nullable[k], values of column k may come
 * to be missing. */
static void enter(struct repeat *r, const struct flow *flow, const bool *nullable)
{
    struct binder *binder = r->binder;
    const size_t count = flow->count;
    struct task *task = task_reading(binder, "repeat", r->stage->span, flow);
    struct code *code = &task->code;
    struct slot *slots = arena_array(binder->arena, 2 * count + 1, sizeof *slots);
    value *values = arena_array(binder->arena, 2 * count + 1, sizeof *values);
    size_t hidden = 0;
    for (size_t k = 0; k < count; k++) {
        const struct slot *slot = &flow->columns[k];
        const struct term term = term_of_column(code, flow, k, r->stage->span);
        slots[k] = *slot;
        slots[k].type = state_type(slot);
        slots[k].validity = 0;
        values[k] = term.value;
        if (!slot->known || (slot->validity == 0 && !nullable[k]))
            continue;
        const size_t place = count + hidden++;
        slots[k].validity = place;
        slots[place] = (struct slot){
            .name = arena_printf(binder->arena, "%s present", slot->name), .type = TYPE_BOOL, .known = true};
        values[place] = term.present != NO_VALUE ? term.present : code_bool(code, true, r->stage->span);
    }
    r->entry = *flow;
    task_set_slots(binder, task, &r->entry, slots, values, count, hidden);
}

/* Creates the loop, and makes it the one that is bound. False after an error. */
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
    if (r->loop == NULL) {
        bind_error(binder, r->stage->span, NULL, "not enough memory");
        return false;
    }
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

/* ---- leaving a round ---- */

static const char *type_noun(const struct slot *slot)
{
    static const char *const nouns[] = {
        [KIND_BOOL] = "a condition", [KIND_INT] = "an integer", [KIND_FLOAT] = "a float"};
    if (slot->logical.kind == LOGICAL_NUMBER)
        return nouns[type_table[slot->type].kind];
    return logical_type_name(slot->logical, slot->type);
}

static void wrong_type(const struct repeat *r, const struct slot *before, const struct slot *after)
{
    struct binder *binder = r->binder;
    const bool numbers = before->logical.kind == LOGICAL_NUMBER && after->logical.kind == LOGICAL_NUMBER;
    const char *hint = NULL, *name = name_written(before->name, binder->arena);
    if (numbers && type_table[after->type].kind == KIND_FLOAT)
        hint = arena_printf(binder->arena, "begin with a float, such as 0.0, or `derive %s = float(%s)` before `%s`",
                            name, name, text_of_word(binder->arena, r->stage));
    else if (numbers)
        hint = arena_printf(binder->arena, "`int(...)` makes an integer, `... != 0` a condition");
    else if (before->logical.kind == LOGICAL_TEXT && after->logical.kind == LOGICAL_TEXT) {
        bind_error(binder, r->stage->span, "number the texts before, and look them up behind",
                   "the text `%s` changes within `repeat`, where it can only be read", before->name);
        return;
    }
    bind_error(binder, r->stage->span, hint, "`%s` begins as %s and becomes %s", before->name, type_noun(before),
               type_noun(after));
}

static bool fits(const struct slot *before, const struct slot *after)
{
    if (!logical_is_same(&before->logical, &after->logical))
        return false;
    return before->logical.kind != LOGICAL_NUMBER || type_table[before->type].kind == type_table[after->type].kind;
}

static const struct slot *find_slot(const struct flow *flow, const char *name, size_t *place)
{
    for (*place = 0; *place < flow->count; ++*place) {
        if (strcmp(flow->columns[*place].name, name) == 0)
            return &flow->columns[*place];
    }
    return NULL;
}

static void wrong_columns(const struct repeat *r, const struct flow *flow)
{
    struct arena *arena = r->binder->arena;
    bind_error(r->binder, r->stage->span,
               "the columns after a round are those before it: `map E as NAME` names them, `pick` chooses them",
               "`%s` begins with the columns %s, but a round gives %s", text_of_word(arena, r->stage),
               text_of_columns(arena, &r->entry), text_of_columns(arena, flow));
}

/* Checks the columns that the round gives. False after an error or, with *open, if they are not known. */
static bool check_round(const struct repeat *r, const struct flow *flow, bool *open)
{
    const struct flow *entry = &r->entry;
    bool good = true;
    size_t place;
    *open = flow->open || flow->task == NULL || entry->open;
    for (size_t k = 0; k < entry->count && !*open && good; k++)
        good = find_slot(flow, entry->columns[k].name, &place) != NULL;
    if (!*open && (!good || flow->count != entry->count)) {
        wrong_columns(r, flow);
        return false;
    }
    for (size_t k = 0; k < entry->count && !*open; k++) {
        const struct slot *before = &entry->columns[k], *after = find_slot(flow, before->name, &place);
        if (!before->known || !after->known) {
            *open = true;
        } else if (!fits(before, after)) {
            wrong_type(r, before, after);
            good = false;
        }
    }
    if (good && !*open && shape_is_set(&entry->shape) && !shape_equal(&flow->shape, &entry->shape)) {
        bind_error(r->binder, r->stage->span, "`shape` at the end of the round gives it back",
                   "the rows begin with a shape, which a round does not give");
        good = false;
    }
    return good && !*open;
}

/* Whether values may be missing in a column that began without. */
static bool find_nullable(const struct repeat *r, const struct flow *flow, bool *nullable)
{
    bool found = false;
    size_t place;
    for (size_t k = 0; k < r->entry.count; k++) {
        const struct slot *after = find_slot(flow, r->entry.columns[k].name, &place);
        if (after->validity == 0 || r->entry.columns[k].validity != 0)
            continue;
        nullable[k] = found = true;
    }
    return found;
}

/* Column `place` of the flow as column k of the state, and its validity; they have been checked. */
static void leave_column(const struct repeat *r, struct code *code, const struct flow *flow, size_t k, value *values)
{
    const struct slot *slot = &r->entry.columns[k];
    size_t place;
    (void)find_slot(flow, slot->name, &place);
    const struct term term = term_of_column(code, flow, place, r->stage->span);
    values[k] = term.value;
    if (slot->validity != 0)
        values[slot->validity] = term.present != NO_VALUE ? term.present : code_bool(code, true, r->stage->span);
}

/* Ends the round with the columns in the order of the state. */
static void leave_all(const struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    struct task *task = task_reading(binder, "round", r->stage->span, flow);
    value *values = arena_array(binder->arena, r->loop->count + 1, sizeof *values);
    for (size_t k = 0; k < r->entry.count; k++)
        leave_column(r, &task->code, flow, k, values);
    task_set_slots(binder, task, flow, r->entry.columns, values, r->entry.count, r->entry.hidden);
}

/* Ends the round of a loop with `while`: rows for which the condition fails stay as they were. */
static void leave_masked(struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    const struct span span = r->stage->condition->span;
    const size_t count = r->loop->count;
    struct flow before;
    leave_all(r, flow);
    r->rows.after = flow->task;
    bind_rows_before(binder, &r->rounds, span, &before);
    struct task *task = task_new(binder, "while", span, NULL);
    task_reserve_inputs(task, 2 * count + 1, binder->arena);
    task_add_inputs(task, &before);
    struct scope scope = scope_of_stage(binder, task, &before, NULL);
    const value keep = bind_condition(&scope, r->stage->condition);
    r->rows.mask = task;
    r->rows.keep = keep;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        const struct input input = {
            .task = flow->task, .output = k, .type = r->entry.columns[k].type, .name = r->entry.columns[k].name};
        const value now = input_value(&task->code, (int64_t)task_add_input(task, &input, binder->arena), &input, span);
        const value was = code_input(&task->code, (int64_t)k, task->code.at[now].kind, span);
        values[k] = keep != NO_VALUE ? code_op(&task->code, OP_SELECT, keep, now, was, span) : now;
    }
    task->rows = before.rows;
    if (task->rows < 0)
        task->rows_from = before.task;
    task_set_slots(binder, task, flow, r->entry.columns, values, r->entry.count, r->entry.hidden);
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
                   "`until` takes a condition, not %s", type_noun(&flow.columns[0]));
    binder->queue = outer;
}

/* any(E) */
static struct expr *any_of(struct arena *arena, struct expr *condition)
{
    struct expr *call = arena_alloc(arena, sizeof *call);
    *call = (struct expr){.kind = EXPR_CALL,
                          .span = condition->span,
                          .name = {"any", condition->span},
                          .arg_count = 1,
                          .depth = condition->depth + 1,
                          .nesting = condition->nesting};
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
    static const enum stage_kind allowed[] = {STAGE_MAP,  STAGE_DERIVE, STAGE_BRAID, STAGE_PICK,  STAGE_DROP,
                                              STAGE_FSTS, STAGE_SNDS,   STAGE_NTH,   STAGE_RENAME};
    const struct stage *stage = r->stage;
    if (stage->condition != NULL && stage->loop != NULL) {
        bind_error(r->binder, stage->loop->span, "leave out its source: `repeat while E: derive ...`",
                   "`while` is a condition of each row, so a round cannot begin with rows of its own");
        return false;
    }
    if (stage->condition != NULL && aggregates_any(r->binder, stage->condition)) {
        bind_error(r->binder, stage->condition->span, "`repeat until max(x) >= 5: ...` takes one, at which rounds end",
                   "`while` takes a condition of each row, not of aggregates");
        return false;
    }
    for (size_t i = 0; stage->condition != NULL && i < stage->body_count; i++) {
        size_t k = 0;
        while (k < sizeof allowed / sizeof *allowed && allowed[k] != stage->body[i].word->stage)
            k++;
        if (k < sizeof allowed / sizeof *allowed)
            continue;
        bind_error_second(r->binder, stage->body[i].span, stage->condition->span, "each row has its own condition",
                          "`until` takes a condition of all rows",
                          "`%s` is a stage of all rows, but with `while` each row has rounds of its own",
                          text_of_word(r->binder->arena, &stage->body[i]));
        return false;
    }
    return true;
}

static void bind_body(struct repeat *r, struct flow *flow)
{
    struct binder *binder = r->binder;
    const struct stage *stage = r->stage;
    const struct pipeline *pipeline = stage->loop;
    if (pipeline == NULL) {
        struct pipeline *stages = arena_alloc(binder->arena, sizeof *stages);
        *stages = (struct pipeline){
            .source = {.kind = SOURCE_NAME, .span = stage->word_span, .name = {ROWS_BEFORE_ROUND, stage->word_span}},
            .stages = stage->body,
            .stage_count = stage->body_count,
            .span = stage->span};
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
    bool good = check_round(r, flow, open);
    const bool varies = good && !r->rows_vary && flow->rows != r->entry.rows;
    r->rows_vary = r->rows_vary || varies;
    if (good && (find_nullable(r, flow, nullable) || varies)) {
        *again = true;
    } else if (good) {
        if (r->stage->condition != NULL) {
            leave_masked(r, flow);
            if (r->rows.keep != NO_VALUE) /* else its errors would be told twice */
                bind_test(r, ROWS_BEFORE_ROUND, any_of(binder->arena, r->stage->condition), &r->loop->active);
        } else {
            leave_all(r, flow);
            r->rows.after = flow->task;
        }
        if (r->stage->until != NULL)
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
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        task->column_op->keys[k] = k;
        values[k] = code_input(&task->code, (int64_t)k, type_table[flow->columns[k].type].kind, r->stage->span);
    }
    task->column_op->loop = r->loop;
    task_set_slots(binder, task, flow, r->entry.columns, values, r->entry.count, r->entry.hidden);
    for (size_t k = 0; k < count; k++)
        task->code.at[values[k]].fallible = true;
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
    const bool may = r->stage->condition != NULL || (!r->binder->whole && rounds <= ROUNDS_IN_ROWS);
    if (may && r->stage->until == NULL && loop_in_rows(r->binder, r->stage, &r->rows, &r->entry)) {
        r->loop->first = r->rows.rounds;
        r->binder->row_loops = r->binder->row_loops || r->stage->condition == NULL;
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
    struct code code;
    int64_t rounds = -1;
    if (stage->rounds == NULL) {
        if (stage->condition == NULL && stage->until == NULL)
            bind_error(binder, stage->word_span,
                       "as in `repeat 10: ...`, `repeat while x > 1: ...` or `repeat until max(x) < 1: ...`",
                       "`%s` needs a number of rounds or a condition", text_of_word(binder->arena, stage));
        return -1;
    }
    code_init(&code, binder->arena);
    struct scope scope = scope_without_columns(binder, &code, "the number of rounds is the same for all rows");
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
    for (const struct rounds *outer = binder->rounds; outer != NULL; outer = outer->outer)
        depth++;
    if (depth >= LIMIT_LOOPS)
        bind_error(binder, stage->span, NULL, "loops are nested more than %d deep", LIMIT_LOOPS);
    bool open = flow->open || flow->task == NULL;
    for (size_t k = 0; k < flow->count; k++)
        open = open || !flow->columns[k].known;
    if (binder->errors > errors || !check_row_wise(&r) || open) {
        if (flow->task != NULL)
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
        enter(&r, flow, nullable);
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
