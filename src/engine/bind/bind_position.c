/* Values at other rows: stencil and `at(...)`, NAME[E]. */
#include "engine/bind/bind_internal.h"

#include "engine/storage/residency.h"

/* Small enough that adding distances to row numbers never overflows. */
static const int64_t FARTHEST = INT64_C(1) << 30;

/* A constant distance, called `what` in errors; false after an error or if unknown. */
static bool bind_distance(struct binder *binder, const struct expr *expr, const char *what, int64_t *distance)
{
    struct code code;
    code_init(&code, binder->arena);
    struct scope scope = scope_without_columns(binder, &code, "distances are the same for all rows");
    if (bind_constant_int(&scope, expr, what, "as in `stencil -1..1 else 0: at(-1) + at(1)`", distance) != KNOWN_VALUE)
        return false;
    if (*distance >= -FARTHEST && *distance <= FARTHEST)
        return true;
    bind_error(binder, expr->span, NULL, "a neighbour is at most %lld away", (long long)FARTHEST);
    return false;
}

/* Finds the column that at(NAME, ...) names, or the only one; false after an error or if unknown. */
static bool column_of(struct scope *scope, const struct expr *expr, bool named, size_t *index)
{
    struct binder *binder = scope->binder;
    const struct flow *flow = scope->flow;
    const struct expr *column = expr->args[0];
    if (!named) {
        *index = 0;
        if (flow->open || flow->count == 1)
            return !flow->open;
        bind_error(binder, expr->span,
                   arena_printf(binder->arena, "name one, as in `at(%s, ...)`; the columns are %s",
                                name_written(flow->columns[flow->count - 1].name, binder->arena),
                                text_of_columns(binder->arena, flow)),
                   "`at` needs a column name: there are %zu columns", flow->count);
        return false;
    }
    if (column->kind == EXPR_POSITION)
        return name_position(scope, column->integer, column->span, index);
    if (column->kind == EXPR_NAME) {
        struct resolved resolved = name_resolve(scope, &column->name);
        *index = resolved.index;
        if (resolved.meaning == MEANS_COLUMN || resolved.meaning == MEANS_UNKNOWN)
            return resolved.meaning == MEANS_COLUMN;
    }
    bind_error(binder, column->span, "compute outside of `at`, as in `at(x, 1) + 1`", "`%s` is not a column name",
               text_of_span(binder->arena, column->span, 40));
    return false;
}

/* The neighbour's offset in rows; one beyond all rows if it does not fit in 64 bits. */
static int64_t offset_of(const struct neighbourhood *n, const int64_t *distance, struct shape shape)
{
    int64_t offset = distance[0];
    if (n->axes == 2 && (__builtin_mul_overflow(distance[0], shape.cols, &offset) ||
                         __builtin_add_overflow(offset, distance[1], &offset)))
        offset = distance[0] < 0 ? -INT64_MAX : INT64_MAX;
    return offset;
}

value bind_at(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct neighbourhood *n = scope->neighbours;
    bool named = expr->arg_count == n->axes + 1, known = n->known;
    int64_t distance[2] = {0};
    size_t index;
    scope->reads_row = true;
    if (!named && expr->arg_count != n->axes) {
        bind_error(binder, expr->span,
                   n->axes == 1 ? "usage: at(DISTANCE) or at(NAME, DISTANCE)"
                                : "usage: at(DOWN, RIGHT) or at(NAME, DOWN, RIGHT)",
                   "`at` takes an optional column name and %s, not %zu arguments",
                   text_of_count(binder->arena, (int64_t)n->axes, "distance"), expr->arg_count);
        return NO_VALUE;
    }
    for (size_t i = 0; i < n->axes; i++) {
        const struct expr *argument = expr->args[i + named];
        bool good = bind_distance(binder, argument, "the distance of a neighbour", &distance[i]);
        if (good && n->known && (distance[i] < n->first[i] || distance[i] > n->last[i])) {
            bind_error_second(binder, argument->span, n->span, "this",
                              "widen the neighbourhood, or use a distance within it",
                              "%lld is outside the neighbourhood %lld..%lld", (long long)distance[i],
                              (long long)n->first[i], (long long)n->last[i]);
            good = false;
        }
        known = known && good;
    }
    if (!column_of(scope, expr, named, &index) || !known || !scope->flow->columns[index].known)
        return NO_VALUE;
    enum kind kind = type_table[scope->flow->columns[index].type].kind;
    value here = code_input(scope->code, (int64_t)index, kind, expr->span);
    value there = code_input_at(scope->code, (int64_t)index, offset_of(n, distance, scope->shape), kind, expr->span);
    scope->code->at[there].fallible = scope->code->at[here].fallible;
    return there;
}

static void not_a_column(struct scope *scope, const struct expr *expr)
{
    bind_error(scope->binder, expr->name.span, "`NAME[E]` is an element of a column, or of a `let` relation of one",
               "`%s` is a single value: it has no elements", expr->name.text);
}

/* The `let` relation of this name, unless a column or parameter hides it; else NULL. */
static const struct binding *relation_named(const struct scope *scope, const char *name)
{
    const struct binding *binding = env_find(scope->binder->env, name);
    if (binding == NULL || binding->kind != BINDING_RELATION || name_is_taken(scope, name))
        return NULL;
    return binding->relation != NULL ? binding : NULL;
}

/* An element of a relation's only column where no rows are read: a constant. */
static value constant_element(struct scope *scope, const struct expr *expr, const struct binding *binding)
{
    struct binder *binder = scope->binder;
    const struct column *column = binding->relation->columns[0];
    enum kind kind = type_table[column->type].kind;
    int64_t index = 0;
    enum known known =
        bind_constant_int(scope, expr->args[0], "a position", "positions are integers, 0 for the first row", &index);
    if (known == KNOWN_NOTHING)
        return NO_VALUE;
    if (known == KNOWN_KIND || binding->unknown)
        return bind_unknown(scope, binding - binder->env->bindings, kind, expr->span);
    if (index < 0 || index >= column->rows) {
        bind_error(binder, expr->args[0]->span, "positions are counted from 0", "there is no row %lld: `%s` has %s",
                   (long long)index, expr->name.text, text_of_count(binder->arena, column->rows, "row"));
        return NO_VALUE;
    }
    if (!column_fetch(binding->relation->columns[0], index, index + 1)) {
        bind_error(binder, expr->span, "compute it and name it again", "the device lost the rows of `%s`",
                   expr->name.text);
        return NO_VALUE;
    }
    struct scalar element = column_get(column, index);
    return constant_of(scope->code, &element, expr->span);
}

/* Binds the element of an input, which is added to the task, at the expression's position. */
static value element(struct scope *scope, const struct expr *expr, const struct input *input)
{
    const struct expr *at = expr->args[0];
    value position = bind_value(scope, at);
    if (position == NO_VALUE ||
        !bind_is_integer(scope, position, at, arena_printf(scope->binder->arena, "`%s[...]`", expr->name.text), NULL))
        return NO_VALUE;
    size_t number = task_add_input(scope->binder, scope->task, input);
    return code_gather(scope->code, (int64_t)number, type_table[input->type].kind, position, expr->span);
}

static value element_of_relation(struct scope *scope, const struct expr *expr, const struct binding *binding)
{
    struct binder *binder = scope->binder;
    const struct relation *relation = binding->relation;
    if (relation->count != 1) {
        bind_error(binder, expr->name.span,
                   arena_printf(binder->arena, "`let NAME = %s | pick ...` names one of them", expr->name.text),
                   "only a relation of one column can be indexed, but `%s` has %zu", expr->name.text, relation->count);
        return NO_VALUE;
    }
    if (scope->task == NULL)
        return constant_element(scope, expr, binding);
    struct column *column = relation->columns[0];
    queue_hold(binder->queue, column_ref(column));
    const struct input input = {.column = column, .type = column->type, .name = expr->name.text, .whole = true};
    return element(scope, expr, &input);
}

value bind_index(struct scope *scope, const struct expr *expr)
{
    const struct binding *binding = relation_named(scope, expr->name.text);
    if (binding != NULL)
        return element_of_relation(scope, expr, binding);
    struct resolved resolved = name_resolve(scope, &expr->name);
    if (resolved.meaning == MEANS_COLUMN && scope->task != NULL && scope->flow->task != NULL) {
        const struct slot *slot = &scope->flow->columns[resolved.index];
        const struct input input = {
            .task = scope->flow->task, .output = resolved.index, .type = slot->type, .name = slot->name, .whole = true};
        value v = element(scope, expr, &input);
        return slot->known ? v : NO_VALUE;
    }
    if (resolved.meaning != MEANS_UNKNOWN)
        not_a_column(scope, expr);
    else
        bind_value(scope, expr->args[0]);
    return NO_VALUE;
}

/* stencil computes each row from itself and its neighbours. at(k) is the input at offset k; a SELECT around the result
 * takes the `else` value where a neighbour is missing. */

static void bind_bounds(struct binder *binder, const struct stage *stage, struct neighbourhood *n)
{
    n->axes = stage->bound_count / 2;
    n->known = true;
    n->span = span_join(stage->bounds[0]->span, stage->bounds[stage->bound_count - 1]->span);
    for (size_t i = 0; i < n->axes; i++) {
        const struct expr *first = stage->bounds[2 * i], *last = stage->bounds[2 * i + 1];
        bool known = bind_distance(binder, first, "the end of a neighbourhood", &n->first[i]);
        known = bind_distance(binder, last, "the end of a neighbourhood", &n->last[i]) && known;
        if (known && n->first[i] > n->last[i]) {
            bind_error(binder, span_join(first->span, last->span), "write the smaller distance first",
                       "the range %lld..%lld is empty", (long long)n->first[i], (long long)n->last[i]);
            known = false;
        }
        n->known = n->known && known;
    }
}

/* A relation with a shape takes distances in two directions, others in one. */
static bool fits_shape(struct binder *binder, const struct stage *stage, const struct flow *flow,
                       const struct neighbourhood *n)
{
    bool shaped = flow->shape.rows > 0;
    if (flow->open || flow->shape.rows < 0 || (n->axes == 2) == shaped)
        return true;
    if (shaped)
        bind_error(binder, n->span, "as in `stencil [-1..1, -1..1] else 0: at(0, -1) + at(0, 1)`",
                   "a relation of shape %lld by %lld needs distances in two directions", (long long)flow->shape.rows,
                   (long long)flow->shape.cols);
    else
        bind_error(binder, n->span, "put `shape R C` before it to lay them out as R rows of C columns",
                   "`%s` in two directions needs a relation with a shape", text_of_word(binder->arena, stage));
    return false;
}

static value binary(struct code *code, enum op op, value a, value b, struct span span)
{
    return code_op(code, op, a, b, NO_VALUE, span);
}

/* Whether position + first and position + last are both within 0..count-1. */
static value is_inside(struct code *code, value position, value count, int64_t first, int64_t last, struct span span)
{
    value inside = code_bool(code, true, span);
    if (first < 0)
        inside = binary(code, OP_LE, code_exact_int(code, -first, span), position, span);
    if (last > 0) {
        value end = binary(code, OP_ADD, position, code_exact_int(code, last, span), span);
        inside = binary(code, OP_AND, inside, binary(code, OP_LT, end, count, span), span);
    }
    return inside;
}

static value has_neighbours(struct code *code, struct shape shape, const struct neighbourhood *n, struct span span)
{
    if (n->axes == 1)
        return is_inside(code, code_row(code, span), code_rows(code, span), n->first[0], n->last[0], span);
    value rows = code_exact_int(code, shape.rows, span), cols = code_exact_int(code, shape.cols, span);
    value above = is_inside(code, shape_row(code, shape, span), rows, n->first[0], n->last[0], span);
    value beside = is_inside(code, shape_col(code, shape, span), cols, n->first[1], n->last[1], span);
    return binary(code, OP_AND, above, beside, span);
}

void bind_stencil(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t count = stage->item_count;
    struct neighbourhood n = {0};
    bind_bounds(binder, stage, &n);
    bool fits = fits_shape(binder, stage, flow, &n);
    n.known = n.known && fits && !flow->open;
    if (too_many_columns(binder, count, stage->span)) {
        flow->open = true;
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    struct scope ends = scope_without_columns(binder, &task->code, "the value after `else` is the same for all rows");
    value otherwise = bind_value(&ends, stage->otherwise);
    value inside = n.known ? has_neighbours(&task->code, flow->shape, &n, stage->span) : NO_VALUE;
    struct slot *columns = arena_array(binder->arena, count + 1, sizeof *columns);
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    scope.neighbours = &n;
    scope.given = stage->items;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &stage->items[i];
        scope.given_count = i;
        value v = bind_value(&scope, item->expr);
        v = bind_choice(&scope, inside, v, item->expr, otherwise, stage->otherwise, "beside a number, `stencil`",
                        item->expr->span);
        values[i] = v;
        columns[i] = (struct slot){item->name.text, TYPE_I64, v != NO_VALUE};
        if (v != NO_VALUE)
            columns[i].type = type_of_kind(task->code.at[v].kind);
    }
    name_columns(binder, columns, count);
    task_set_outputs(binder, task, flow, columns, values, count);
    flow->open = false;
}
