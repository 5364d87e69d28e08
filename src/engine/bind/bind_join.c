/* join and lookup: rows of another relation, found by their keys.
 *
 * The right side is evaluated before (evaluated.h), and its keys indexed. Where each key has one row, the columns of
 * the right are read at the place that the index gives: a join is typed code that fuses with what is around it. Else
 * there is an operator between: for each row of the left it has as many rows as match. */
#include "engine/bind/bind_internal.h"

#include "engine/expression/match.h"

#include <string.h>

enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI, JOIN_LOOKUP };

/* A join while it is bound. */
struct join {
    struct binder *binder;
    const struct stage *stage;
    enum join_kind kind;
    struct flow left;
    struct evaluated *right;
    struct flow unevaluated; /* the right in the first binding, if right->relation is NULL */
    size_t key_count;
    size_t *left_keys, *right_keys; /* columns */
    size_t *added;                  /* columns of the right that come along */
    size_t added_count;
    struct slot *slots; /* of the result: of the left, then those added */
};

/* Where the row of the right is. */
struct match {
    value row;   /* always inside of the right, if that has rows */
    value found; /* NO_VALUE: always */
};

static enum join_kind kind_of(const struct stage *stage)
{
    static const struct {
        const char *word;
        enum join_kind kind;
    } kinds[] = {{"left", JOIN_LEFT}, {"semi", JOIN_SEMI}, {"anti", JOIN_ANTI}};
    if (stage->word->stage == STAGE_LOOKUP)
        return JOIN_LOOKUP;
    for (size_t i = 0; stage->kind.text != NULL && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(stage->kind.text, kinds[i].word) == 0)
            return kinds[i].kind;
    }
    return JOIN_INNER;
}

static bool takes_columns(const struct join *join)
{
    return join->kind != JOIN_SEMI && join->kind != JOIN_ANTI;
}

static const char *source_text(const struct join *join)
{
    const struct source_node *source = &join->stage->sources[0];
    struct arena *arena = join->binder->arena;
    switch (source->kind) {
    case SOURCE_NAME:
        return text_of_span(arena, source->name.span, 40);
    case SOURCE_LOAD:
        return text_of_span(arena, source->paths[0].path.span, 40);
    case SOURCE_PIPELINE:
        return arena_printf(arena, "(%s)", text_of_span(arena, source->pipeline->span, 40));
    default:
        return text_of_span(arena, source->span, 40);
    }
}

/* Finds the right side, or binds and requests it. */
static void bind_right(struct join *join)
{
    struct binder *binder = join->binder;
    const struct source_node *source = &join->stage->sources[0];
    join->right = evaluated_find(binder, source);
    if (join->right != NULL && join->right->relation != NULL)
        return;
    bind_source(binder, source, &join->unevaluated);
    join->right =
        evaluated_request(binder, source, pipeline_of_source(binder->arena, source), &join->unevaluated, NULL);
}

/* The right's column of a key: of its own name, or of the left's. */
static bool right_key(const struct join *join, const struct item *item, size_t *index)
{
    struct arena *arena = join->binder->arena;
    const struct flow right = {
        .columns = join->right->columns, .count = join->right->count, .open = join->unevaluated.open};
    struct scope scope = {.binder = join->binder, .flow = &right};
    const struct expr *expr = item->expr;
    if (item->name.text != NULL) {
        struct expr *name = arena_alloc(arena, sizeof *name);
        *name = (struct expr){.kind = EXPR_NAME, .span = item->name.span, .name = item->name};
        expr = name;
    }
    return name_resolve_column(&scope, expr, index);
}

/* Finds the columns of the keys; false after an error, or if they are unknown. */
static bool find_keys(struct join *join)
{
    const struct stage *stage = join->stage;
    struct scope scope = {.binder = join->binder, .flow = &join->left};
    bool known = true;
    join->key_count = stage->item_count;
    join->left_keys = arena_array(join->binder->arena, join->key_count, sizeof *join->left_keys);
    join->right_keys = arena_array(join->binder->arena, join->key_count, sizeof *join->right_keys);
    for (size_t i = 0; i < join->key_count; i++) {
        const bool left = name_resolve_column(&scope, stage->items[i].expr, &join->left_keys[i]);
        const bool named = left || stage->items[i].name.text != NULL; /* else the same error twice */
        const bool right = named && right_key(join, &stage->items[i], &join->right_keys[i]);
        known = known && left && right;
        if (right)
            join->right->wanted[join->right_keys[i]] = true;
    }
    return known;
}

/* Checks that the keys have the same types. */
static bool check_keys(const struct join *join, struct scope *scope)
{
    bool fit = true;
    for (size_t i = 0; i < join->key_count; i++) {
        const struct item *item = &join->stage->items[i];
        const struct slot *left = &join->left.columns[join->left_keys[i]];
        const struct slot *right = &join->right->columns[join->right_keys[i]];
        struct term term = term_of_column(scope->code, &join->left, join->left_keys[i], item->span);
        const char *name = arena_printf(join->binder->arena, "%s.%s", source_text(join), right->name);
        fit = match_check(scope, term, left->name, right, name, item->span) && fit;
    }
    return fit;
}

static bool is_key(const struct join *join, size_t column)
{
    for (size_t i = 0; i < join->key_count; i++) {
        if (join->right_keys[i] == column)
            return true;
    }
    return false;
}

/* Two columns would have the same name. */
static void refuse_names(const struct join *join, const char *const *names, size_t count)
{
    enum { SHOWN = 4 };
    struct arena *arena = join->binder->arena;
    const char *list = arena_printf(arena, "`%s`", names[0]);
    const char *renames = arena_printf(arena, "%s as ...", name_written(names[0], arena));
    for (size_t i = 1; i < count && i < SHOWN; i++) {
        list = arena_printf(arena, "%s, `%s`", list, names[i]);
        renames = arena_printf(arena, "%s, %s as ...", renames, name_written(names[i], arena));
    }
    const struct stage *stage = join->stage;
    const struct source_node *node = &stage->sources[0];
    const char *source = source_text(join);
    const char *inner = node->kind == SOURCE_PIPELINE ? text_of_span(arena, node->pipeline->span, 40) : source;
    bind_error(join->binder, stage->sources[0].span,
               arena_printf(arena,
                            "`%s %s as m on ...` names all columns of the right m_%s, ...; or `(%s | rename %s)`",
                            text_of_word(arena, stage), source, names[0], inner, renames),
               "both sides have %s%s", list, count > SHOWN ? ", ..." : "");
}

/* Names the columns of the result: those of the left, then those that the right adds. False after an error. */
static bool name_result(struct join *join)
{
    struct arena *arena = join->binder->arena;
    const struct evaluated *right = join->right;
    const size_t most = join->left.count + right->count;
    const char **equal = arena_array(arena, right->count + 1, sizeof *equal);
    size_t equal_count = 0, count = join->left.count;
    if (too_many_columns(join->binder, most, join->stage->span))
        return false;
    join->slots = arena_grow(arena, join->left.columns, count, most + 1, sizeof *join->slots);
    join->added = arena_array(arena, right->count + 1, sizeof *join->added);
    for (size_t k = 0; k < right->count && takes_columns(join); k++) {
        if (is_key(join, k))
            continue;
        struct slot *slot = &join->slots[count++];
        *slot = right->columns[k];
        if (join->stage->prefix.text != NULL)
            slot->name = arena_printf(arena, "%s_%s", join->stage->prefix.text, slot->name);
        join->added[join->added_count++] = k;
        for (size_t i = 0; i < join->left.count; i++) {
            if (strcmp(join->slots[i].name, slot->name) == 0)
                equal[equal_count++] = slot->name;
        }
    }
    if (equal_count > 0)
        refuse_names(join, equal, equal_count);
    return equal_count == 0;
}

/* Adds a column of the right as a whole input; returns its number. */
static size_t add_right_input(const struct join *join, struct task *task, size_t column, bool validity)
{
    const struct slot *slot = &join->right->columns[column];
    struct input input = {.whole = true, .name = validity ? "present" : slot->name};
    struct column *data = join->right->relation != NULL ? evaluated_column(join->right, column) : NULL;
    if (join->right->relation == NULL) { /* which never runs */
        input.task = join->unevaluated.task;
        input.output = validity ? slot->validity : column;
    } else {
        input.column = validity ? data->validity : data;
        queue_hold(join->binder->queue, column_ref(input.column));
    }
    input.type = validity ? TYPE_BOOL : slot->type;
    return task_add_input(task, &input, join->binder->arena);
}

/* A column of the right at the place. */
static struct term right_term(const struct join *join, struct task *task, size_t column, struct match place)
{
    const struct slot *slot = &join->right->columns[column];
    const struct relation *relation = join->right->relation;
    const struct span span = join->stage->span;
    struct code *code = &task->code;
    enum kind kind = type_table[slot->type].kind;
    if (!slot->known)
        return unknown_term;
    if (relation != NULL && (relation->rows == 0 || !join->right->evaluated[column])) {
        /* Nothing is found, or nothing reads it. */
        value zero = kind == KIND_FLOAT  ? code_float(code, 0, span)
                     : kind == KIND_BOOL ? code_bool(code, false, span)
                                         : code_exact_int(code, 0, span);
        struct term term = term_of_type(zero, slot->logical);
        term.present = place.found;
        term.settled = true;
        return term;
    }
    size_t number = add_right_input(join, task, column, false);
    struct term term = term_of_type(code_lookup(code, (int64_t)number, kind, place.row, span), slot->logical);
    const bool nullable =
        relation != NULL ? evaluated_column(join->right, column)->validity != NULL : slot->validity != 0;
    if (nullable) {
        number = add_right_input(join, task, column, true);
        term.present = code_lookup(code, (int64_t)number, KIND_BOOL, place.row, span);
        term.settled = true;
    }
    if (place.found != NO_VALUE) {
        term.present = present_both(code, place.found, term.present, span);
        term.settled = false;
    }
    return term;
}

static void add_filter(struct binder *binder, struct task *task, value keep)
{
    task->filters = arena_alloc(binder->arena, sizeof *task->filters);
    task->filters[0] = (struct filter){keep, task->span};
    task->filter_count = 1;
}

/* Sets the outputs of the task: these columns of the left, and those of the right at the place. */
static void set_outputs(struct join *join, struct task *task, const struct term *left, struct match place,
                        struct flow *flow)
{
    const size_t count = join->left.count + join->added_count;
    struct arena *arena = join->binder->arena;
    struct term *terms = arena_array(arena, count + 1, sizeof *terms);
    struct evaluated *right = join->right;
    memcpy(terms, left, join->left.count * sizeof *terms);
    right->outputs = arena_array(arena, right->count + 1, sizeof *right->outputs);
    memset(right->outputs, 0xff, right->count * sizeof *right->outputs);
    for (size_t i = 0; i < join->added_count; i++) {
        right->outputs[join->added[i]] = join->left.count + i;
        terms[join->left.count + i] = right_term(join, task, join->added[i], place);
    }
    task_set_outputs(join->binder, task, flow, join->slots, terms, count);
    right->reader = task;
}

/* The terms of the left's columns, which are the inputs of a task. */
static struct term *left_terms(const struct join *join, struct code *code)
{
    struct term *terms = arena_array(join->binder->arena, join->left.count + 1, sizeof *terms);
    for (size_t k = 0; k < join->left.count; k++)
        terms[k] = term_of_column(code, &join->left, k, join->stage->span);
    return terms;
}

/* Indexes the keys of the right; false after an error. */
static bool make_index(struct join *join)
{
    struct binder *binder = join->binder;
    struct evaluated *right = join->right;
    struct column **keys = arena_array(binder->arena, join->key_count, sizeof(struct column *));
    for (size_t i = 0; i < join->key_count; i++)
        keys[i] = evaluated_column(right, join->right_keys[i]);
    enum status status = STATUS_OK;
    if (right->index == NULL)
        status = join_index_new(keys, join->key_count, !takes_columns(join), binder->workers, &right->index);
    binder->cancelled = binder->cancelled || status == STATUS_CANCELLED;
    if (status == STATUS_FAILED)
        bind_error(binder, join->stage->sources[0].span, NULL, "not enough memory for an index of %lld rows",
                   (long long)right->relation->rows);
    return status == STATUS_OK;
}

/* A lookup needs distinct keys. */
static bool check_distinct(const struct join *join)
{
    const struct join_index *index = join->right->index;
    struct arena *arena = join->binder->arena;
    struct strbuf key = {0};
    if (join->kind != JOIN_LOOKUP || index->doubles == 0)
        return true;
    for (size_t i = 0; i < join->key_count; i++) {
        const struct scalar part =
            column_get(evaluated_column(join->right, join->right_keys[i]), index->double_rows[0]);
        strbuf_puts(&key, i > 0 ? ", " : "");
        scalar_print(&key, &part);
    }
    const char *text = arena_text(arena, key.text, key.length);
    strbuf_free(&key);
    bind_error(join->binder, join->stage->span,
               "`left join` takes all of them; `distinct` or `group` before leaves one",
               "`lookup` needs distinct keys, but rows %lld and %lld of `%s` both have %s",
               (long long)index->double_rows[1], (long long)index->double_rows[0], source_text(join), text);
    return false;
}

static value op(struct code *code, enum op which, value a, value b, struct span span)
{
    return code_op(code, which, a, b, NO_VALUE, span);
}

/* Tells explain how the rows are found. */
static void describe_join(const struct join *join, struct task *task)
{
    const struct join_index *index = join->right->index;
    struct arena *arena = join->binder->arena;
    const char *rows = !takes_columns(join) ? "" : index->doubles > 0 ? ", rows expanded" : ", a gather";
    const char *on =
        text_of_span(arena, span_join(join->stage->items[0].span, join->stage->items[join->key_count - 1].span), 40);
    task->stages[0].how = arena_printf(arena, "on %s %s in %s%s", on, index->dense ? "by address" : "by perfect hash",
                                       source_text(join), rows);
}

static value index_id(const struct join *join, struct scope *scope)
{
    struct arena *arena = join->binder->arena;
    struct term *keys = arena_array(arena, join->key_count, sizeof *keys);
    struct logical_type *logical = arena_array(arena, join->key_count, sizeof *logical);
    for (size_t i = 0; i < join->key_count; i++) {
        keys[i] = term_of_column(scope->code, &join->left, join->left_keys[i], join->stage->span);
        logical[i] = join->right->columns[join->right_keys[i]].logical;
    }
    describe_join(join, scope->task);
    return match_id(scope, join->right->index, keys, logical, join->stage->span);
}

/* The row of the right for each of the left, where there is at most one. */
static struct match single_place(const struct join *join, struct scope *scope)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    value id = index_id(join, scope), last = code_int(code, index->rows - 1, span);
    if (index->in_order)
        return (struct match){.row = op(code, OP_MIN, id, last, span), .found = op(code, OP_LE, id, last, span)};
    value zero = code_exact_int(code, 0, span);
    value row = match_table(scope, index->row_of, KIND_INT, id, "rows", span);
    return (struct match){.row = op(code, OP_MAX, row, zero, span), .found = op(code, OP_LE, zero, row, span)};
}

/* In the first binding: some place. */
static struct match any_place(const struct join *join, struct scope *scope)
{
    const struct span span = join->stage->span;
    value row = code_row(scope->code, span);
    return (struct match){.row = row, .found = op(scope->code, OP_EQ, row, code_int(scope->code, 0, span), span)};
}

/* Keeps the rows that match something, or nothing. */
static void keep_matching(const struct join *join, struct scope *scope, struct flow *flow)
{
    const struct span span = join->stage->span;
    value found = any_place(join, scope).found;
    if (join->right->relation != NULL)
        found = match_table(scope, join->right->index->members, KIND_BOOL, index_id(join, scope), "members", span);
    if (join->kind == JOIN_ANTI)
        found = op(scope->code, OP_NOT, found, NO_VALUE, span);
    add_filter(join->binder, scope->task, found);
    flow->rows = -1;
    task_pass_inputs(join->binder, scope->task, flow);
}

/* One row of the result for each of the left, or none. */
static void join_single(struct join *join, struct scope *scope, struct flow *flow)
{
    struct task *task = scope->task;
    struct match place = join->right->relation != NULL ? single_place(join, scope) : any_place(join, scope);
    const struct term *left = left_terms(join, &task->code);
    if (join->kind == JOIN_INNER) {
        add_filter(join->binder, task, place.found);
        place.found = NO_VALUE;
        flow->rows = -1;
    }
    set_outputs(join, task, left, place, flow);
}

/* The task that computes, for each row of the left, where its rows are in the index, and how many there are. */
static void set_spans(const struct join *join, struct scope *scope, struct flow *spans)
{
    const struct join_index *index = join->right->index;
    const struct span span = join->stage->span;
    struct code *code = scope->code;
    value one = code_exact_int(code, 1, span);
    value id = index_id(join, scope);
    value begin = match_table(scope, index->starts, KIND_INT, id, "starts", span);
    value end = match_table(scope, index->starts, KIND_INT, op(code, OP_ADD, id, one, span), "starts", span);
    value count = op(code, OP_SUB, end, begin, span);
    if (join->kind == JOIN_LEFT) {
        value none = op(code, OP_EQ, count, code_exact_int(code, 0, span), span);
        begin = code_op(code, OP_SELECT, none, code_exact_int(code, -1, span), begin, span);
        count = op(code, OP_MAX, count, one, span);
    }
    struct slot *slots = arena_array(join->binder->arena, 2, sizeof *slots);
    slots[0] = (struct slot){.name = "begin", .type = TYPE_I64, .known = true};
    slots[1] = (struct slot){.name = "count", .type = TYPE_I64, .known = true};
    const value values[] = {begin, count};
    *spans = join->left;
    task_set_slots(join->binder, scope->task, spans, slots, values, 2, 0);
}

/* A column of the left at a row of it. */
static struct term left_term(const struct join *join, struct task *task, size_t column, value row)
{
    const struct slot *slot = &join->left.columns[column];
    struct input input = {
        .task = join->left.task, .output = column, .type = slot->type, .name = slot->name, .whole = true};
    struct term term = term_of_type(task_element(task, &input, row, join->binder->arena), slot->logical);
    if (slot->validity != 0) {
        input = (struct input){
            .task = join->left.task, .output = slot->validity, .type = TYPE_BOOL, .name = "present", .whole = true};
        term.present = task_element(task, &input, row, join->binder->arena);
        term.settled = true;
    }
    return term;
}

/* Makes of the flow, begin and count, as many rows as the counts say: the row's number, and begin, begin + 1, ...,
 * below `most`. */
static void expand_rows(struct binder *binder, const struct stage *stage, struct flow *flow, int64_t most)
{
    struct task *task = operator_new(binder, stage->word->canonical, stage->span, flow, OPERATOR_EXPAND, 2);
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    value values[2];
    for (size_t k = 0; k < 2; k++) {
        task->column_op->keys[k] = k;
        values[k] = code_input(&task->code, (int64_t)k, KIND_INT, stage->span);
        slots[k] = (struct slot){.name = k == 0 ? "row" : "match", .type = TYPE_I64, .known = true};
    }
    task->column_op->into = most;
    flow->rows = -1;
    task_set_slots(binder, task, flow, slots, values, 2, 0);
}

/* As many rows for each of the left as match. */
static void join_expanded(struct join *join, struct scope *scope, struct flow *flow)
{
    const struct span span = join->stage->span;
    struct binder *binder = join->binder;
    const struct join_index *index = join->right->index;
    struct flow spans;
    set_spans(join, scope, &spans);
    expand_rows(binder, join->stage, &spans, index->rows);
    struct task *task = task_of_stage(binder, join->stage, &spans);
    struct scope expanded = {.binder = binder, .code = &task->code, .task = task};
    struct code *code = &task->code;
    value row = code_input(code, 0, KIND_INT, span), at = code_input(code, 1, KIND_INT, span);
    value zero = code_exact_int(code, 0, span);
    struct match place = {.row = at, .found = NO_VALUE};
    if (join->kind == JOIN_LEFT) {
        place.found = op(code, OP_LE, zero, at, span);
        place.row = op(code, OP_MAX, at, zero, span);
    }
    if (!index->in_order)
        place.row = match_table(&expanded, index->row_of, KIND_INT, place.row, "rows", span);
    struct term *left = arena_array(binder->arena, join->left.count + 1, sizeof *left);
    for (size_t k = 0; k < join->left.count; k++)
        left[k] = left_term(join, task, k, row);
    flow->rows = -1;
    set_outputs(join, task, left, place, flow);
}

void bind_join(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct join join = {.binder = binder, .stage = stage, .kind = kind_of(stage), .left = *flow};
    bind_right(&join);
    if (bind_gave_up(binder))
        return;
    if (flow->open || join.unevaluated.open || !find_keys(&join)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, &join.left, NULL);
    const bool named = name_result(&join);
    if (!check_keys(&join, &scope) || !named || (join.right->relation != NULL && !make_index(&join)) ||
        (join.right->relation != NULL && !check_distinct(&join))) {
        task_set_slots(binder, task, flow, NULL, NULL, 0, 0);
        flow->open = true;
    } else if (!takes_columns(&join)) {
        keep_matching(&join, &scope, flow);
    } else if (join.right->relation != NULL && join.right->index->doubles > 0) {
        join_expanded(&join, &scope, flow);
    } else {
        join_single(&join, &scope, flow);
    }
}
