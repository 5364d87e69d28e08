/* stencil: each row computed from itself and its neighbours. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/texts.h"

/* stencil computes each row from itself and its neighbours. at(k) is the input at offset k; a SELECT around the result
 * takes the `else` value where a neighbour is missing. Where rows stand beyond the ends, at(k) is a GATHER. */

/* False, with an error, if there are too many. */
static bool bind_bounds(struct binder *binder, const struct stage *stage, struct neighbourhood *n)
{
    n->axes = stage->bound_count / 2;
    n->span = span_join(stage->bounds[0]->span, stage->bounds[stage->bound_count - 1]->span);
    if (n->axes > MOST_AXES)
        return bind_error(binder, n->span, NULL, "a shape has at most %d axes, not %zu", MOST_AXES, n->axes);
    n->known = true;
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
    return true;
}

/* A relation with a shape takes distances along each axis, others along one. */
static bool fits_shape(struct binder *binder, const struct stage *stage, const struct flow *flow,
                       const struct neighbourhood *n)
{
    const struct shape *shape = &flow->shape;
    const size_t axes = shape_is_set(shape) ? (size_t)shape->axes : 1;
    if (flow->open || shape->axes == AXES_UNKNOWN || n->axes == axes)
        return true;
    if (axes == 2)
        return bind_error(binder, n->span, "as in `stencil [-1..1, -1..1] else 0: at(0, -1) + at(0, 1)`",
                          "a relation of shape %s needs distances in two directions", shape_text(shape, binder->arena));
    if (axes > 2)
        return bind_error(binder, n->span,
                          "write a range for each axis, as in `stencil [0..0, 0..0, -1..1] else 0: ...`",
                          "a relation of shape %s needs distances along %zu axes, not %zu",
                          shape_text(shape, binder->arena), axes, n->axes);
    return bind_error(binder, n->span,
                      n->axes == 2 ? "put `shape R C` before it to lay them out as R rows of C columns"
                                   : "put `shape` before it, as in `shape 4 3 2`, to lay them out along axes",
                      n->axes == 2 ? "`%s` in two directions needs a relation with a shape"
                                   : "`%s` along several axes needs a relation with a shape",
                      text_of_word(binder->arena, stage));
}

/* Whether position + first and position + last are both within 0..count-1. */
static value is_inside(struct code *code, value position, value count, int64_t first, int64_t last, struct span span)
{
    value inside = code_bool(code, true, span);
    if (first < 0)
        inside = code_binary(code, OP_LE, code_exact_int(code, -first, span), position, span);
    if (last > 0) {
        const value end = code_with(code, OP_ADD, position, last, span);
        inside = code_binary(code, OP_AND, inside, code_binary(code, OP_LT, end, count, span), span);
    }
    return inside;
}

static value has_neighbours(struct code *code, const struct shape *shape, const struct neighbourhood *n,
                            struct span span)
{
    if (n->axes == 1)
        return is_inside(code, code_row(code, span), code_rows(code, span), n->first[0], n->last[0], span);
    value all = code_bool(code, true, span);
    for (size_t i = 0; i < n->axes; i++) {
        const value extent = code_exact_int(code, shape->extents[i], span);
        const value index = axis_index(code, shape, i, span);
        all = code_binary(code, OP_AND, all, is_inside(code, index, extent, n->first[i], n->last[i], span), span);
    }
    return all;
}

/* What stands beyond the ends, if the stage says it. */
static void bind_border(struct binder *binder, const struct stage *stage, const struct flow *flow,
                        struct neighbourhood *n)
{
    n->bordered = stage->border.text && border_find(stage->border.text, &n->border);
    if (!n->bordered || flow->group == 0)
        return;
    bind_error(binder, stage->border.span, "as in `stencil -1..1 else missing: at(1) - at(-1)`",
               "within `per`, a stencil has `else E`, not `%s`", stage->border.text);
    n->known = false;
}

void bind_stencil(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const size_t count = stage->item_count;
    struct neighbourhood n = {0};
    const bool few = bind_bounds(binder, stage, &n);
    bind_border(binder, stage, flow, &n);
    const bool fits = few && fits_shape(binder, stage, flow, &n);
    n.known = n.known && fits && !flow->open && flow->shape.axes != AXES_UNKNOWN;
    if (!few || too_many_columns(binder, count, stage->span)) {
        flow->open = true;
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    struct scope ends = scope;
    ends.head = NULL;
    struct term otherwise = n.bordered ? unknown_term : bind_term(&ends, stage->otherwise);
    value inside = n.known && !n.bordered ? has_neighbours(&task->code, &flow->shape, &n, stage->span) : NO_VALUE;
    struct slot *columns = arena_array(binder->arena, count + 1, sizeof *columns);
    struct term *terms = arena_array(binder->arena, count + 1, sizeof *terms);
    if (inside != NO_VALUE && scope.group != 0) {
        inside = code_binary(&task->code, OP_AND, inside, group_has_row(&scope, n.first[0], stage->span), stage->span);
        inside = code_binary(&task->code, OP_AND, inside, group_has_row(&scope, n.last[0], stage->span), stage->span);
    }
    bool open = false;
    scope.neighbours = &n;
    scope.given = stage->items;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &stage->items[i];
        scope.given_count = i;
        size_t column;
        struct term term = bind_term(&scope, item->expr);
        terms[i] = n.bordered ? term_as_column(binder, term)
                              : bind_choice(&scope, inside, term, item->expr, otherwise, stage->otherwise,
                                            "beside a number, `stencil`", item->expr->span);
        columns[i] = slot_of_term(&scope, terms[i]);
        columns[i].name = item->name.text;
        const bool bare = !item->name.text && item->expr->kind == EXPR_NAME;
        if (bare && bind_is_column(&scope, item->expr, term, &column))
            columns[i].name = flow->columns[column].name;
        open = open || (bare && !term_is_known(term)); /* its full name is not known */
    }
    name_columns(binder, columns, count);
    task_set_outputs(binder, task, flow, columns, terms, count);
    flow->open = open;
}
