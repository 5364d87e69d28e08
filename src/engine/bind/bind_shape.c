/* Shapes: rows laid out in two dimensions, row-major: row R and column C is row R * cols + C. */
#include "engine/bind/bind_internal.h"

const struct shape shape_unknown = {-1, -1};

bool shape_is_kept(enum stage_kind stage)
{
    switch (stage) {
    case STAGE_MAP:
    case STAGE_BRAID:
    case STAGE_DERIVE:
    case STAGE_FSTS:
    case STAGE_SNDS:
    case STAGE_NTH:
    case STAGE_PICK:
    case STAGE_DROP:
    case STAGE_RENAME:
    case STAGE_ZIP:
    case STAGE_ASSERT:
    case STAGE_STENCIL:
    case STAGE_SCAN:
    case STAGE_SHAPE:
    case STAGE_REPEAT:
    case STAGE_DESCRIBE:
    case STAGE_PLOT:
    case STAGE_SHOW:
    case STAGE_SAVE:
        return true;
    default:
        return false;
    }
}

bool shape_check_axis(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (flow->shape.rows > 0)
        return true;
    if (!flow->open && flow->shape.rows == 0)
        bind_error(binder, stage->along.span, "put `shape R C` before it to lay the rows out as R rows of C columns",
                   "there are no %s to aggregate along: the relation has no shape",
                   stage->along.text[0] == 'r' ? "rows" : "columns");
    return false;
}

/* Binds R or C; false after an error or if unknown. */
static bool bind_extent(struct binder *binder, const struct expr *expr, int64_t *extent)
{
    struct code code;
    code_init(&code, binder->arena);
    struct scope scope = scope_without_columns(binder, &code, "a shape is the same for all rows");
    if (bind_constant_int(&scope, expr, "the size of a shape", "as in `shape 480 640`", extent) != KNOWN_VALUE)
        return false;
    if (*extent >= 1)
        return true;
    bind_error(binder, expr->span, "as in `shape 480 640`", "a shape has at least 1 row and 1 column, not %lld",
               (long long)*extent);
    return false;
}

/* Creates a task of that many rows, to compare with where the flow's rows are unknown before running. */
static struct task *shape_of(struct binder *binder, const struct stage *stage, int64_t rows)
{
    struct task *task = task_new(binder, stage->word->canonical, stage->span, NULL);
    task->rows = rows;
    return task;
}

void bind_shape(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct shape shape;
    int64_t rows = 0;
    bool known = bind_extent(binder, stage->items[0].expr, &shape.rows);
    known = bind_extent(binder, stage->items[1].expr, &shape.cols) && known;
    if (known && (__builtin_mul_overflow(shape.rows, shape.cols, &rows) || (flow->rows >= 0 && flow->rows != rows))) {
        bind_error(binder, stage->span, "rows times columns must equal the number of rows",
                   "%lld by %lld is not the shape of %s", (long long)shape.rows, (long long)shape.cols,
                   flow->rows >= 0 ? text_of_count(binder->arena, flow->rows, "row") : "any relation");
        known = false;
    }
    struct task *expected = known && flow->rows < 0 ? shape_of(binder, stage, rows) : NULL;
    struct task *task = task_of_stage(binder, stage, flow);
    if (expected != NULL) {
        task->equals = arena_alloc(binder->arena, sizeof(struct task *));
        task->equals[0] = expected;
        task->equal_count = 1;
    }
    task_pass_inputs(binder, task, flow);
    flow->shape = known ? shape : shape_unknown;
}
