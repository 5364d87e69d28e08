/* Values at other rows: `at(...)`; positions within a shape. */
#include "engine/expression/expression.h"
#include "engine/expression/texts.h"

#include <string.h>

/* Small enough that adding distances to row numbers never overflows. */
static const int64_t FARTHEST = INT64_C(1) << 30;

/* A constant distance, called `what` in errors; false after an error or if unknown. */
bool bind_distance(struct binder *binder, const struct expr *expr, const char *what, int64_t *distance)
{
    struct scope scope = scope_without_columns(binder, NULL, "distances are the same for all rows");
    if (bind_constant_int(&scope, expr, what, "as in `stencil -1..1 else 0: at(-1) + at(1)`", distance) != KNOWN_VALUE)
        return false;
    if (*distance >= -FARTHEST && *distance <= FARTHEST)
        return true;
    return bind_error(binder, expr->span, NULL, "a neighbour is at most %lld away", (long long)FARTHEST);
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
        return bind_error(binder, expr->span,
                          arena_printf(binder->arena, "name one, as in `at(%s, ...)`; the columns are %s",
                                       name_written(flow->columns[flow->count - 1].name, binder->arena),
                                       text_of_columns(binder->arena, flow)),
                          "`at` needs a column name: there are %zu columns", flow->count);
    }
    if (column->kind == EXPR_POSITION)
        return name_position(scope, column->integer, column->span, index);
    if (column->kind == EXPR_NAME && !column->definition) {
        struct resolved resolved = name_resolve(scope, &column->name);
        *index = resolved.index;
        if (resolved.meaning == MEANS_COLUMN || resolved.meaning == MEANS_UNKNOWN)
            return resolved.meaning == MEANS_COLUMN;
    }
    return bind_error(binder, column->span, "compute outside of `at`, as in `at(x, 1) + 1`",
                      "`%s` is not a column name", text_of_span(binder->arena, column->span, 40));
}

/* The neighbour's offset in rows; one beyond all rows if it does not fit in 64 bits. */
static int64_t offset_of(const struct neighbourhood *n, const int64_t *distance, const struct shape *shape)
{
    int64_t offset = distance[0];
    for (size_t i = 1; i < n->axes; i++) {
        if (__builtin_mul_overflow(offset, shape->extents[i], &offset) ||
            __builtin_add_overflow(offset, distance[i], &offset))
            return distance[0] < 0 ? -INT64_MAX : INT64_MAX;
    }
    return offset;
}

/* The value that an INPUT has `offset` rows further. */
static value neighbour(struct code *code, value here, int64_t offset, struct span span)
{
    const struct instr instr = code->at[here];
    const value there = code_input_at(code, instr.integer, offset, instr.kind, span);
    code->at[there].fallible = code->at[here].fallible;
    return there;
}

static bool is_here(const struct neighbourhood *n, const int64_t *distance)
{
    bool here = true;
    for (size_t i = 0; i < n->axes; i++)
        here = here && distance[i] == 0;
    return here;
}

/* A neighbour's value where rows stand beyond the ends. */
static struct term bordered_element(struct scope *scope, size_t index, const int64_t *distance, struct span span)
{
    struct arena *arena = scope->binder->arena;
    struct code *code = scope->code;
    const size_t axes = scope->neighbours->axes;
    int64_t *extents = arena_array(arena, axes, sizeof *extents), all = 1;
    int64_t *distances = arena_array(arena, axes, sizeof *distances);
    struct border *border = arena_alloc(arena, sizeof *border);
    memcpy(distances, distance, axes * sizeof *distances);
    for (size_t i = 0; i < axes && axes > 1; i++) {
        extents[i] = scope->shape.extents[i];
        all *= extents[i];
    }
    *border = (struct border){scope->neighbours->border, axes, extents, distances};
    const value rows = axes > 1 ? code_exact_int(code, all, span) : code_rows(code, span);
    const value position = border_position(code, border, code_row(code, span), rows, span);
    struct term term = term_at(scope, scope->flow, index, position, span);
    term.settled = true;
    return term;
}

/* The distance of a neighbour along an axis: a constant, or the index of a fold with constant ends. */
struct reach {
    int64_t first, last;
    value index; /* NO_VALUE: a constant, first == last */
};

/* Binds an index; false after an error or if unknown. */
static bool reach_of_index(struct scope *scope, const struct expr *expr, struct reach *reach)
{
    const struct term term = bind_term(scope, expr);
    const struct code *code = scope->code;
    if (!term_is_known(term))
        return false;
    const struct instr *counter = &code->at[term.value];
    const struct instr *first = &code->at[counter->args[0]], *last = &code->at[counter->args[1]];
    *reach = (struct reach){first->integer, last->integer, term.value};
    if (first->op == OP_CONST && last->op == OP_CONST)
        return true;
    return bind_error(scope->binder, expr->span, "as in `sum(k in -1..1: at(k))`",
                      "the range of `%s` is not constant, so it cannot be the distance of a neighbour",
                      expr->name.text);
}

/* Binds the distance along axis `axis`; false after an error or if unknown. */
static bool bind_reach(struct scope *scope, const struct expr *expr, size_t axis, struct reach *reach)
{
    const struct neighbourhood *n = scope->neighbours;
    bool known = true;
    *reach = (struct reach){.index = NO_VALUE};
    if (expr->kind == EXPR_NAME && is_fold_index(expr->definition)) {
        known = reach_of_index(scope, expr, reach);
    } else {
        known = bind_distance(scope->binder, expr, "the distance of a neighbour", &reach->first);
        reach->last = reach->first;
    }
    if (!known)
        return false;
    const bool within = reach->first >= n->first[axis];
    if (!n->known || (within && reach->last <= n->last[axis]))
        return n->known;
    return bind_error_second(
        scope->binder, expr->span, n->span, "this", "widen the neighbourhood, or use a distance within it",
        "%lld is outside the neighbourhood %lld..%lld", (long long)(within ? reach->last : reach->first),
        (long long)n->first[axis], (long long)n->last[axis]);
}

/* The column's value at these distances. */
static struct term element_at(struct scope *scope, size_t index, const int64_t *distance, struct span span)
{
    const struct neighbourhood *n = scope->neighbours;
    if (n->bordered && !is_here(n, distance))
        return bordered_element(scope, index, distance, span);
    const int64_t offset = offset_of(n, distance, &scope->shape);
    struct term term = term_of_column(scope->code, scope->flow, index, span);
    term.value = neighbour(scope->code, term.value, offset, span);
    if (term.present != NO_VALUE)
        term.present = neighbour(scope->code, term.present, offset, span);
    return term;
}

/* Likewise where the distances from `axis` on are those of `reaches`: a choice among neighbours by the indices. */
static struct term choose_element(struct scope *scope, size_t index, const struct reach *reaches, size_t axis,
                                  int64_t *distance, struct span span)
{
    struct code *code = scope->code;
    if (axis == scope->neighbours->axes)
        return element_at(scope, index, distance, span);
    const struct reach *reach = &reaches[axis];
    struct term chosen = unknown_term;
    for (int64_t k = reach->first; k <= reach->last; k++) {
        distance[axis] = k;
        struct term term = choose_element(scope, index, reaches, axis + 1, distance, span);
        if (k > reach->first && term_is_known(term)) {
            const value here = code_with(code, OP_EQ, reach->index, k, span);
            chosen.value = code_op(code, OP_SELECT, here, term.value, chosen.value, span);
            if (term.present != NO_VALUE)
                chosen.present = code_op(code, OP_SELECT, here, term.present, chosen.present, span);
        } else {
            chosen = term;
        }
    }
    return chosen;
}

/* Whether a choice among so many neighbours is not too much. */
static bool are_few(struct scope *scope, const struct reach *reaches, struct span span)
{
    enum { MOST = 256 };
    int64_t count = 1;
    for (size_t a = 0; a < scope->neighbours->axes; a++) {
        const int64_t here = reaches[a].last - reaches[a].first + 1;
        count = here < 1 ? 0 : here > MOST || count * here > MOST ? MOST + 1 : count * here;
    }
    if (count > 0 && count <= MOST)
        return true;
    if (count > MOST)
        bind_error(scope->binder, span, "`sum(E) over A..B` takes the rows around one, however many",
                   "indices as distances choose among at most %d neighbours", MOST);
    return false;
}

struct term bind_at(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct neighbourhood *n = scope->neighbours;
    bool named = expr->arg_count == n->axes + 1, known = n->known;
    struct reach *reaches = arena_array(binder->arena, n->axes, sizeof *reaches);
    int64_t *distance = arena_array(binder->arena, n->axes, sizeof *distance);
    size_t index;
    scope->reads_row = true;
    if (!named && expr->arg_count != n->axes)
        return term_error(binder, expr->span,
                          n->axes == 1   ? "usage: at(DISTANCE) or at(NAME, DISTANCE)"
                          : n->axes == 2 ? "usage: at(DOWN, RIGHT) or at(NAME, DOWN, RIGHT)"
                                         : "usage: a distance along each axis, perhaps behind a name",
                          "`at` takes an optional column name and %s, not %zu arguments",
                          text_of_count(binder->arena, (int64_t)n->axes, "distance"), expr->arg_count);
    for (size_t i = 0; i < n->axes; i++)
        known = bind_reach(scope, expr->args[i + named], i, &reaches[i]) && known;
    if (!column_of(scope, expr, named, &index) || !known || !scope->flow->columns[index].known ||
        !are_few(scope, reaches, expr->span))
        return unknown_term;
    return choose_element(scope, index, reaches, 0, distance, expr->span);
}

/* The value `offset` rows further on. */
static value value_further(struct scope *scope, value v, int64_t offset, struct span span)
{
    struct code *code = scope->code;
    struct arena *arena = scope->binder->arena;
    bool *live = arena_array(arena, (size_t)code->count, sizeof *live);
    value *map = code_map(arena, code);
    code_mark(code, v, live);
    const int32_t count = code->count;
    for (value i = 0; i < count; i++) {
        const struct instr instr = code->at[i];
        if (!live[i] || instr.op != OP_INPUT)
            continue;
        const bool row = bind_reads_rows(scope, i);
        map[i] = row ? code_input_at(code, instr.integer, instr.offset + offset, instr.kind, span) : i;
        code->at[map[i]].fallible = instr.fallible;
    }
    const value row = code_with(code, OP_ADD, code_row(code, span), offset, span);
    return code_inline(code, code, v, NULL, row, map);
}

value group_has_row(const struct scope *scope, int64_t offset, struct span span)
{
    struct code *code = scope->code;
    value row = code_row(code, span), there;
    if (offset < 0) {
        there = code_binary(code, OP_LE, code_exact_int(code, -offset, span), row, span);
    } else {
        row = code_with(code, OP_ADD, row, offset, span);
        there = code_binary(code, OP_LT, row, code_rows(code, span), span);
    }
    if (scope->group == 0)
        return there;
    if (scope->scattered)
        scope->binder->needs_order = true;
    const value here = code_input(code, (int64_t)scope->group, KIND_INT, span);
    const value other = code_input_at(code, (int64_t)scope->group, offset, KIND_INT, span);
    return code_binary(code, OP_AND, there, code_binary(code, OP_EQ, here, other, span), span);
}

struct term bind_at_row(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct term term = unknown_term;
    int64_t offset = 0;
    size_t index = 0;
    scope->reads_row = true;
    if (!scope->has_rows)
        return term_error(binder, expr->span, scope->no_columns, "`at` needs rows, and there are none here");
    if (expr->arg_count > 2 || expr->arg_count < (!scope->flow ? 2 : 1))
        return term_error(binder, expr->span, "usage: at(E, DISTANCE), as in `price - at(price, -1)`",
                          "`at` takes a value and a distance, not %zu arguments", expr->arg_count);
    const bool known = bind_distance(binder, expr->args[expr->arg_count - 1], "the distance of a neighbour", &offset);
    if (expr->arg_count == 2)
        term = bind_term(scope, expr->args[0]);
    else if (column_of(scope, expr, false, &index))
        term = term_of_column(scope->code, scope->flow, index, expr->span);
    if (!known || !term_is_known(term) || offset == 0)
        return known ? term : unknown_term;
    term = term_as_column(binder, term);
    value there = group_has_row(scope, offset, expr->span);
    term.value = value_further(scope, term.value, offset, expr->span);
    if (term.present != NO_VALUE)
        there =
            code_binary(scope->code, OP_AND, there, value_further(scope, term.present, offset, expr->span), expr->span);
    term.present = there;
    term.settled = false;
    term.decimal = false;
    return term;
}

value axis_index(struct code *code, const struct shape *shape, size_t axis, struct span span)
{
    const struct lines lines = shape_lines(shape, axis);
    value index = code_row(code, span);
    if (lines.inner > 1)
        index = code_with(code, OP_DIV, index, lines.inner, span);
    if (axis > 0)
        index = code_with(code, OP_MOD, index, lines.length, span);
    return index;
}
