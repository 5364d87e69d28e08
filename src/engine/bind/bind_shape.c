/* Shapes: rows laid out along axes, row-major (engine/storage/shape.h). */
#include "engine/bind/bind_internal.h"

#include <string.h>

const struct shape shape_unknown = {.axes = AXES_UNKNOWN};

/* "`along i`, `along j`": what the stage may say. */
static const char *text_of_axes(struct arena *arena, const struct shape *shape)
{
    const char *text = shape->axes == 2 ? "`along rows`, `along cols`" : "";
    for (int i = 0; i < shape->axes; i++) {
        if (shape->names[i])
            text = arena_printf(arena, "%s%s`along %s`", text, *text != '\0' ? ", " : "", shape->names[i]);
    }
    return text;
}

bool bind_along(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t *axis)
{
    const char *name = stage->along.text;
    const struct shape *shape = &flow->shape;
    const bool rows = strcmp(name, "rows") == 0, cols = strcmp(name, "cols") == 0;
    if (shape_is_set(shape) && shape_find(shape, name, axis))
        return true;
    if (shape->axes == 2 && (rows || cols)) {
        *axis = rows ? 1 : 0; /* along a row it is the column that changes */
        return true;
    }
    if (flow->open || shape->axes == AXES_UNKNOWN)
        return false;
    if (!shape_is_set(shape) && (rows || cols))
        return bind_error(binder, stage->along.span,
                          "put `shape R C` before it to lay the rows out as R rows of C columns",
                          "there are no %s to aggregate along: the relation has no shape", rows ? "rows" : "columns");
    if (!shape_is_set(shape))
        return bind_error(
            binder, stage->along.span,
            "behind `shape 4 3` there is `along rows` and `along cols`, behind `shape i 4, j 3` also `along i`",
            "there is no axis `%s`: the relation has no shape", name);
    if (*text_of_axes(binder->arena, shape) == '\0')
        return bind_error(binder, stage->along.span,
                          "give the axes names before it, as in `shape i 4, j 3, k 2`, and write `along i`",
                          "the axes of the shape %s have no names", shape_text(shape, binder->arena));
    return bind_error(binder, stage->along.span,
                      arena_printf(binder->arena, "use %s", text_of_axes(binder->arena, shape)),
                      "there is no axis `%s` in the shape %s", name, shape_text(shape, binder->arena));
}

/* Binds a size; false after an error or if unknown. */
static bool bind_extent(struct binder *binder, const struct expr *expr, int64_t *extent)
{
    struct scope scope = scope_without_columns(
        binder, NULL, "a shape is the same for all rows; names of axes stand between commas, as in `shape i 4, j 3`");
    if (bind_constant_int(&scope, expr, "the size of a shape", "as in `shape 480 640`", extent) != KNOWN_VALUE)
        return false;
    if (*extent >= 1)
        return true;
    return bind_error(binder, expr->span, "as in `shape 480 640`",
                      "a shape has a size of at least 1 along each axis, not %lld", (long long)*extent);
}

/* Whether a name may be that of axis `number`, for which nothing else has the name. */
static bool check_name(struct binder *binder, const struct stage *stage, const struct flow *flow,
                       const struct shape *shape, size_t number)
{
    const struct name *name = &stage->items[number].name;
    const bool row = strcmp(name->text, "row") == 0, col = strcmp(name->text, "col") == 0;
    size_t other;
    if (strcmp(name->text, "rows") == 0 || strcmp(name->text, "cols") == 0 || strcmp(name->text, "along") == 0)
        return bind_error(binder, name->span, "give the axis another name",
                          "an axis cannot be named `%s`: `along %s` has a meaning of its own", name->text, name->text);
    if (stage->item_count == 2 && ((row && number == 1) || (col && number == 0)))
        return bind_error(binder, name->span, "give the axis another name",
                          "of two axes `row` is the first and `col` is the second");
    if (shape_find(shape, name->text, &other))
        return bind_error(binder, name->span, "give each axis a name of its own", "two axes are named `%s`",
                          name->text);
    if (flow_column(flow, name->text))
        return bind_error(binder, name->span, "give the axis another name, or `rename` the column",
                          "`%s` is the name of a column", name->text);
    return true;
}

/* Binds the axes. False after an error or if their sizes are unknown, their names are known anyhow. */
static bool bind_axes(struct binder *binder, const struct stage *stage, const struct flow *flow, struct shape *shape)
{
    *shape = shape_unknown;
    if (stage->item_count > MOST_AXES)
        return bind_error(binder, stage->items[MOST_AXES].span, NULL, "a shape has at most %d axes, not %zu", MOST_AXES,
                          stage->item_count);
    bool known = true;
    for (size_t i = 0; i < stage->item_count; i++) {
        const struct item *item = &stage->items[i];
        known = bind_extent(binder, item->expr, &shape->extents[i]) && known;
        if (item->name.text && check_name(binder, stage, flow, shape, i))
            shape->names[i] = item->name.text;
        else
            known = known && !item->name.text;
    }
    if (known)
        shape->axes = (int)stage->item_count;
    return known;
}

/* Creates a task of that many rows, to compare with where the flow's rows are unknown before running. */
static struct task *shape_of(struct binder *binder, const struct stage *stage, int64_t rows)
{
    struct task *task = task_new(binder, stage->word->canonical, stage->span, NULL);
    task->rows = rows;
    return task;
}

/* Whether the shape fits the flow; sets *rows to its number of elements, which the flow has then. */
static bool check_rows(struct binder *binder, const struct stage *stage, const struct flow *flow,
                       const struct shape *shape, int64_t *rows)
{
    bool fits = true;
    *rows = 1;
    for (int i = 0; i < shape->axes; i++)
        fits = fits && !__builtin_mul_overflow(*rows, shape->extents[i], rows);
    if (fits && (flow->rows < 0 || flow->rows == *rows))
        return true;
    return bind_error(binder, stage->span, "the product of the sizes must equal the number of rows",
                      "%s is not the shape of %s", shape_text(shape, binder->arena),
                      flow->rows >= 0 ? text_of_count(binder->arena, flow->rows, "row") : "any relation");
}

void bind_shape(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct shape shape;
    int64_t rows = 0;
    bool known = bind_axes(binder, stage, flow, &shape);
    if (known && !check_rows(binder, stage, flow, &shape, &rows)) {
        shape.axes = AXES_UNKNOWN;
        known = false;
    }
    struct task *expected = known && flow->rows < 0 ? shape_of(binder, stage, rows) : NULL;
    struct task *task = task_of_stage(binder, stage, flow);
    if (expected) {
        task->equals = arena_alloc(binder->arena, sizeof(struct task *));
        task->equals[0] = expected;
        task->equal_count = 1;
    }
    task_pass_inputs(binder, task, flow);
    if (shape.axes == 1)
        shape = (struct shape){0};
    flow->shape = shape;
}
