/* Shapes: the row and column of a row number, and which stages keep a shape. */
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
    case STAGE_ZIP:
    case STAGE_ASSERT:
    case STAGE_STENCIL:
    case STAGE_SCAN:
    case STAGE_SHAPE:
    case STAGE_DESCRIBE:
    case STAGE_PLOT:
    case STAGE_SHOW:
    case STAGE_SAVE:
        return true;
    default:
        return false;
    }
}

value shape_row(struct code *code, struct shape shape, struct span span)
{
    value row = code_row(code, span);
    return shape.rows == 0 ? row : code_op(code, OP_DIV, row, code_exact_int(code, shape.cols, span), NO_VALUE, span);
}

value shape_col(struct code *code, struct shape shape, struct span span)
{
    return code_op(code, OP_MOD, code_row(code, span), code_exact_int(code, shape.cols, span), NO_VALUE, span);
}

bool shape_along(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (flow->shape.rows > 0)
        return true;
    if (!flow->open && flow->shape.rows == 0)
        bind_error(binder, stage->along.span, "`shape R C` before lays the rows out as R rows of C columns",
                   "there are no %s to go along: the relation has no shape",
                   stage->along.text[0] == 'r' ? "rows" : "columns");
    return false;
}
