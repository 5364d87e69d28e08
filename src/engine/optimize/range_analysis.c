/* Intervals of typed code.
 *
 * Every interval says what a value is within if nothing it is computed from failed. The machine computes on after a
 * failure, though, with whatever the failed operation left, and a division by zero then would trap: so an operation
 * that can trap or is undefined for some arguments is only left unchecked if no failure can reach its arguments. (The
 * class of a column always holds zero, which is also what the pages of a file truncated meanwhile read as.) */
#include "engine/optimize/passes.h"

#include "engine/plan/interval.h"

static int128 power_of_two(int bits)
{
    return (int128)1 << bits;
}

/* The smallest class that holds lo..hi: as many bits as one of the `count` says, of one sign or both, or 64. */
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

/* Columns' classes have one more below a lane's width: then the sum of two still fits the lane, and needs no check. */
static struct interval column_class(int128 lo, int128 hi)
{
    static const int bits[] = {8, 16, 31, 32, 63};
    return class_of(bits, sizeof bits / sizeof *bits, lo, hi);
}

/* A literal's class keeps its sign and whether it is zero, but no more: the next literal is to find the same program.
 */
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

/* Row numbers of 31 bits are all most queries have; 47 bits leave room to compute with them unchecked. How many rows
 * there are has the same range. */
static struct interval row_range(int64_t rows)
{
    int bits = rows <= INT32_MAX ? 31 : rows < (int64_t)1 << 47 ? 47 : 63;
    return (struct interval){.lo = 0, .hi = power_of_two(bits) - 1};
}

/* What is known of argument i. Shift counts are few and decide by themselves what fits: there a literal is what it is.
 */
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

/* Whether the machine would be asked for something it does not define if a failure got into the arguments. */
static bool relies_on_arguments(const struct code *code, const struct instr *instr, const bool *doubtful)
{
    switch (instr->op) {
    case OP_DIV:
    case OP_MOD: {
        const struct instr *divisor = &code->at[instr->args[1]];
        bool minus_one = divisor->lo <= -1 && divisor->hi >= -1;
        return doubtful[instr->args[1]] || (doubtful[instr->args[0]] && minus_one);
    }
    case OP_SHL:
    case OP_SHR:
        return doubtful[instr->args[1]];
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
        elements.fails = true;
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
    /* Which values are arbitrary once something failed. */
    bool *doubtful = arena_array(code->arena, (size_t)code->count + 1, sizeof *doubtful);
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
                             relies_on_arguments(code, instr, doubtful);
        }
        doubtful[v] = instr->checked;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            doubtful[v] = doubtful[v] || doubtful[instr->args[i]];
    }
}
