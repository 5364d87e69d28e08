#include "engine/plan/border.h"

#include "base/text.h"

#include <assert.h>

static const char *const names[] = {[BORDER_WRAP] = "wrap", [BORDER_EDGE] = "edge", [BORDER_MIRROR] = "mirror"};

bool border_find(const char *name, enum border_kind *kind)
{
    const char *const *row = TABLE_ROW(names, name);
    if (row)
        *kind = (enum border_kind)(row - names);
    return row;
}

const char *border_name(enum border_kind kind)
{
    return names[kind];
}

int64_t border_index(enum border_kind kind, int64_t index, int64_t extent)
{
    assert(extent >= 1);
    const int64_t period = kind == BORDER_WRAP ? extent : extent > 1 ? 2 * extent - 2 : 1;
    if (index >= 0 && index < extent)
        return index;
    if (kind == BORDER_EDGE)
        return index < 0 ? 0 : extent - 1;
    const int64_t within = ((index % period) + period) % period;
    return within < extent ? within : period - within;
}

/* What is added to `index` for the one at this distance along an axis. Distances are constants and usually within the
 * extent, so that few operations remain. */
static value wrap(struct code *code, int64_t distance, value index, value extent, struct span span)
{
    const value step = code_binary(code, OP_MOD, code_exact_int(code, distance, span), extent, span);
    const value there = code_binary(code, OP_ADD, index, step, span);
    const bool down = distance < 0;
    const value beyond = down ? code_with(code, OP_LT, there, 0, span) : code_binary(code, OP_LE, extent, there, span);
    return code_op(code, OP_SELECT, beyond, code_binary(code, down ? OP_ADD : OP_SUB, step, extent, span), step, span);
}

static value edge(struct code *code, int64_t distance, value index, value extent, struct span span)
{
    const value step = code_exact_int(code, distance, span);
    if (distance < 0)
        return code_binary(code, OP_MAX, step, code_unary(code, OP_NEG, index, span), span);
    const value last = code_with(code, OP_SUB, extent, 1, span);
    return code_binary(code, OP_MIN, step, code_binary(code, OP_SUB, last, index, span), span);
}

static value mirror(struct code *code, int64_t distance, value index, value extent, struct span span)
{
    const value one = code_exact_int(code, 1, span);
    const value twice = code_with(code, OP_MUL, code_binary(code, OP_SUB, extent, one, span), 2, span);
    const value period = code_binary(code, OP_MAX, twice, one, span);
    const value step = code_binary(code, OP_MOD, code_exact_int(code, distance, span), period, span);
    const value there = code_unary(code, OP_ABS, code_binary(code, OP_ADD, index, step, span), span);
    const value back = code_unary(code, OP_ABS, code_binary(code, OP_SUB, period, there, span), span);
    const value within = code_binary(code, OP_LT, there, extent, span);
    return code_binary(code, OP_SUB, code_op(code, OP_SELECT, within, there, back, span), index, span);
}

value border_position(struct code *code, const struct border *border, value row, value rows, struct span span)
{
    static value (*const steps[])(struct code *, int64_t, value, value,
                                  struct span) = {[BORDER_WRAP] = wrap, [BORDER_EDGE] = edge, [BORDER_MIRROR] = mirror};
    value position = row;
    int64_t stride = 1;
    for (size_t a = border->axes; a-- > 0;) {
        const value extent = a > 0              ? code_exact_int(code, border->extents[a], span)
                             : border->axes > 1 ? code_with(code, OP_DIV, rows, stride, span)
                                                : code_with(code, OP_MAX, rows, 1, span);
        value index = code_with(code, OP_DIV, row, stride, span);
        if (a > 0)
            index = code_binary(code, OP_MOD, index, extent, span);
        if (border->distances[a] != 0) {
            value step = steps[border->kind](code, border->distances[a], index, extent, span);
            step = code_with(code, OP_MUL, step, stride, span);
            position = code_binary(code, OP_ADD, position, step, span);
        }
        stride *= a > 0 ? border->extents[a] : 1;
    }
    const struct instr near = {
        .op = OP_NEAR, .kind = KIND_INT, .args = {position, row, rows}, .border = border, .span = span};
    return code_add(code, &near);
}

const struct border *border_of_position(const struct code *code, value position, int64_t *row, int64_t *rows)
{
    const struct instr *near = &code->at[position];
    if (near->op != OP_NEAR)
        return NULL;
    const struct instr *of = &code->at[near->args[1]], *count = &code->at[near->args[2]];
    *row = 0;
    if (of->op == OP_ADD && code_is_const(code, of->args[1])) {
        *row = code->at[of->args[1]].integer;
        of = &code->at[of->args[0]];
    }
    *rows = count->op == OP_CONST ? count->integer : -1;
    return of->op == OP_ROW && (count->op == OP_CONST || count->op == OP_ROWS) ? near->border : NULL;
}
