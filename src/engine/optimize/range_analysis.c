/* Interval analysis of typed code.
 *
 * An interval bounds a value if nothing it is computed from failed. After a failure, execution continues with arbitrary
 * values, and a division by zero would trap: an operation that can trap or is undefined for some arguments is only left
 * unchecked if no failure can reach its arguments. (A column's class always contains zero, which pages of a truncated
 * file read as.) */
#include "engine/optimize/passes.h"

#include "engine/plan/interval.h"

static int128 power_of_two(int bits)
{
    return (int128)1 << bits;
}

/* The smallest class that contains lo..hi: of one of the `count` numbers of bits, of one sign or both, or 64 bits. */
static struct interval class_of(const int *bits, size_t count, int128 lo, int128 hi)
{
    for (size_t k = 0; k < count; k++) {
        int128 half = power_of_two(bits[k] - 1);
        if (lo >= 0 && hi < half)
            return (struct interval){.lo = 0, .hi = half - 1};
        if (lo >= 0 && hi < 2 * half)
            return (struct interval){.lo = 0, .hi = 2 * half - 1};
        if (lo >= -half && hi < half)
            return (struct interval){.lo = -half, .hi = half - 1};
    }
    return (struct interval){.lo = lo >= 0 ? 0 : INT64_MIN, .hi = INT64_MAX};
}

static struct interval type_class(int128 lo, int128 hi)
{
    static const int bits[] = {8, 16, 32};
    return class_of(bits, sizeof bits / sizeof *bits, lo, hi);
}

/* Columns also have classes one bit below a lane's width: the sum of two such values fits the lane unchecked. */
static struct interval column_class(int128 lo, int128 hi)
{
    static const int bits[] = {8, 16, 31, 32, 63};
    return class_of(bits, sizeof bits / sizeof *bits, lo, hi);
}

/* A literal's class keeps its sign and whether it is zero, so that other literals give the same program. */
static struct interval literal_class(int64_t n)
{
    if (n == 0)
        return (struct interval){0};
    struct interval class = type_class(n, n);
    return (struct interval){.lo = n > 0 ? 1 : class.lo, .hi = n > 0 ? class.hi : -1};
}

static struct interval input_range(const struct input *input, const struct column *column)
{
    const struct type_info *info = &type_table[column != NULL ? column->store : input->type];
    int128 lo = info->lo, hi = info->hi;
    if (column != NULL && column->rows > 0 && column->range_known) {
        lo = max_int128(lo, column->lo);
        hi = min_int128(hi, column->hi);
    }
    if (input->range_known) {
        lo = max_int128(lo, input->lo);
        hi = min_int128(hi, input->hi);
    }
    return column_class(lo, hi);
}

/* 31 bits are enough for most queries; 47 leave room for unchecked arithmetic. The number of rows has the same
 * interval. */
static struct interval row_range(int64_t rows)
{
    int bits = rows <= INT32_MAX ? 31 : rows < (int64_t)1 << 47 ? 47 : 63;
    return (struct interval){.lo = 0, .hi = power_of_two(bits) - 1};
}

/* The interval of argument i. Shift counts decide what fits, so a literal count is not widened. */
static struct interval argument_range(const struct code *code, const struct instr *instr, int i)
{
    if (instr->args[i] == NO_VALUE)
        return (struct interval){0};
    const struct instr *arg = &code->at[instr->args[i]];
    bool count = i == 1 && (instr->op == OP_SHL || instr->op == OP_SHR);
    if (count && arg->op == OP_CONST)
        return (struct interval){.lo = arg->integer, .hi = arg->integer};
    return (struct interval){.lo = arg->lo, .hi = arg->hi};
}

/* Whether the operation would be undefined for arguments that are invalid after a failure. */
static bool relies_on_arguments(const struct code *code, const struct instr *instr, const bool *tainted)
{
    switch (instr->op) {
    case OP_DIV:
    case OP_MOD: {
        const struct instr *divisor = &code->at[instr->args[1]];
        bool minus_one = divisor->lo <= -1 && divisor->hi >= -1;
        return tainted[instr->args[1]] || (tainted[instr->args[0]] && minus_one);
    }
    case OP_SHL:
    case OP_SHR:
        return tainted[instr->args[1]];
    default:
        return false;
    }
}

static struct interval int_range(const struct task *task, const struct instr *instr, struct column *const *columns,
                                 int64_t rows)
{
    switch (instr->op) {
    case OP_INPUT:
        return input_range(&task->inputs[instr->integer], columns[instr->integer]);
    case OP_ROW:
    case OP_ROWS:
        return row_range(rows);
    case OP_GATHER: {
        struct interval elements = input_range(&task->inputs[instr->integer], columns[instr->integer]);
        elements.fails = !instr->exact;
        return elements;
    }
    case OP_CONST:
        if (!instr->exact)
            return literal_class(instr->integer);
        return (struct interval){.lo = instr->integer, .hi = instr->integer};
    default:
        return interval_of(instr->op, argument_range(&task->code, instr, 0), argument_range(&task->code, instr, 1),
                           argument_range(&task->code, instr, 2));
    }
}

void range_analyse(struct task *task, struct column *const *columns, int64_t rows)
{
    const struct code *code = &task->code;
    /* arbitrary after a failure */
    bool *tainted = arena_array(code->arena, (size_t)code->count + 1, sizeof *tainted);
    for (value v = 0; v < code->count; v++) {
        struct instr *instr = &code->at[v];
        instr->guard = NO_VALUE;
        instr->checked = code_can_fail(instr);
        if (instr->kind == KIND_INT) {
            struct interval range = int_range(task, instr, columns, rows);
            instr->lo = (int64_t)min_int128(max_int128(range.lo, INT64_MIN), INT64_MAX);
            instr->hi = (int64_t)min_int128(max_int128(range.hi, INT64_MIN), INT64_MAX);
            instr->lane = instr->lo >= INT32_MIN && instr->hi <= INT32_MAX ? LANE_I32 : LANE_I64;
            instr->checked = range.fails || range.lo != instr->lo || range.hi != instr->hi ||
                             relies_on_arguments(code, instr, tainted);
        }
        tainted[v] = instr->checked;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            tainted[v] = tainted[v] || tainted[instr->args[i]];
    }
}
