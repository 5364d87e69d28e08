/* Interval arithmetic over typed code.
 *
 * Every interval says what a value is within if nothing it is computed from failed. The machine computes on after a
 * failure, though, with whatever the failed operation left, and a division by zero then would trap: so an operation
 * that can trap or is undefined for some arguments is only left unchecked if no failure can reach its arguments. (The
 * class of a column always holds zero, which is also what the pages of a file truncated meanwhile read as.) */
#include "range.h"

/* lo..hi before it is cut to 64 bits; fails: some arguments within their intervals have no result. */
struct interval {
    int128 lo, hi;
    bool fails;
};

static int128 least(int128 a, int128 b)
{
    return a < b ? a : b;
}

static int128 greatest(int128 a, int128 b)
{
    return a > b ? a : b;
}

static int128 power_of_two(int bits)
{
    return (int128)1 << bits;
}

/* The smallest 2^k - 1 that is at least n >= 0. */
static int128 mask_of(int128 n)
{
    int128 mask = 0;
    while (mask < n)
        mask = mask * 2 + 1;
    return mask;
}

/* The smallest class that holds lo..hi: 8, 16, 32 or 64 bits, of one sign or both. */
static struct interval column_class(int128 lo, int128 hi)
{
    for (int bits = 8; bits < 64; bits *= 2) {
        int128 half = power_of_two(bits - 1);
        if (lo >= 0 && hi < half)
            return (struct interval){.lo = 0, .hi = half - 1};
        if (lo >= 0 && hi < 2 * half)
            return (struct interval){.lo = 0, .hi = 2 * half - 1};
        if (lo >= -half && hi < half)
            return (struct interval){.lo = -half, .hi = half - 1};
    }
    return (struct interval){.lo = lo >= 0 ? 0 : INT64_MIN, .hi = INT64_MAX};
}

/* A literal's class keeps its sign and whether it is zero, but no more: the next literal is to find the same program.
 */
static struct interval literal_class(int64_t n)
{
    if (n == 0)
        return (struct interval){0};
    struct interval class = column_class(n, n);
    return (struct interval){.lo = n > 0 ? 1 : class.lo, .hi = n > 0 ? class.hi : -1};
}

static struct interval input_range(const struct input *input, const struct column *column)
{
    const struct type_info *info = &type_table[column != NULL ? column->store : input->type];
    int128 lo = info->lo, hi = info->hi;
    if (column != NULL && column->rows > 0 && column->range_known) {
        lo = greatest(lo, column->lo);
        hi = least(hi, column->hi);
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

/* The interval of a function that is monotone in each argument, from its values at the corners. */
static struct interval hull(int128 a, int128 b, int128 c, int128 d)
{
    return (struct interval){.lo = least(least(a, b), least(c, d)), .hi = greatest(greatest(a, b), greatest(c, d))};
}

static struct interval join(struct interval a, struct interval b)
{
    return (struct interval){.lo = least(a.lo, b.lo), .hi = greatest(a.hi, b.hi)};
}

static struct interval multiply(struct interval a, struct interval b)
{
    return hull(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
}

/* Truncating division is monotone in each argument while the divisor keeps its sign. */
static struct interval divide(struct interval a, struct interval b)
{
    struct interval result = {.fails = true}; /* by nothing but zero */
    bool found = false;
    if (b.lo < 0) {
        int128 last = least(b.hi, -1);
        result = hull(a.lo / b.lo, a.lo / last, a.hi / b.lo, a.hi / last);
        found = true;
    }
    if (b.hi > 0) {
        int128 first = greatest(b.lo, 1);
        struct interval positive = hull(a.lo / first, a.lo / b.hi, a.hi / first, a.hi / b.hi);
        result = found ? join(result, positive) : positive;
    }
    result.fails = b.lo <= 0 && b.hi >= 0;
    return result;
}

/* Smaller than the divisor, no larger than the dividend, and of its sign. */
static struct interval remainder_of(struct interval a, struct interval b)
{
    int128 most = greatest(greatest(-b.lo, b.hi) - 1, 0);
    return (struct interval){
        .lo = a.lo < 0 ? -least(-a.lo, most) : 0,
        .hi = a.hi > 0 ? least(a.hi, most) : 0,
        .fails = b.lo <= 0 && b.hi >= 0,
    };
}

/* The counts that do not fail; `fails` if others are possible, lo > hi if none is left. */
static struct interval shift_counts(struct interval b)
{
    return (struct interval){.lo = greatest(b.lo, 0), .hi = least(b.hi, 63), .fails = b.lo < 0 || b.hi > 63};
}

static struct interval shift_left(struct interval a, struct interval b)
{
    struct interval counts = shift_counts(b);
    if (counts.lo > counts.hi)
        return (struct interval){.fails = true};
    struct interval factors = {.lo = power_of_two((int)counts.lo), .hi = power_of_two((int)counts.hi)};
    struct interval result = multiply(a, factors);
    result.fails = counts.fails;
    return result;
}

static struct interval shift_right(struct interval a, struct interval b)
{
    struct interval counts = shift_counts(b);
    if (counts.lo > counts.hi)
        return (struct interval){.fails = true};
    int low = (int)counts.lo, high = (int)counts.hi;
    struct interval result = hull(a.lo >> low, a.lo >> high, a.hi >> low, a.hi >> high);
    result.fails = counts.fails;
    return result;
}

static struct interval absolute(struct interval a)
{
    int128 nearest = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0;
    return (struct interval){.lo = nearest, .hi = greatest(-a.lo, a.hi)};
}

/* With a non-negative argument the result has no more bits than that one; with two negative ones no more than both. */
static struct interval bit_and(struct interval a, struct interval b)
{
    if (a.lo >= 0 && b.lo >= 0)
        return (struct interval){.lo = 0, .hi = least(a.hi, b.hi)};
    if (a.lo >= 0 || b.lo >= 0)
        return (struct interval){.lo = 0, .hi = a.lo >= 0 ? a.hi : b.hi};
    bool negative = a.hi < 0 && b.hi < 0;
    return (struct interval){
        .lo = -mask_of(-least(a.lo, b.lo) - 1) - 1,
        .hi = negative ? least(a.hi, b.hi) : greatest(a.hi, b.hi),
    };
}

static struct interval bit_not(struct interval a)
{
    return (struct interval){.lo = -a.hi - 1, .hi = -a.lo - 1};
}

static struct interval bit_xor(struct interval a, struct interval b)
{
    int128 mask = mask_of(greatest(greatest(a.hi, -a.lo - 1), greatest(b.hi, -b.lo - 1)));
    bool same = (a.lo >= 0 && b.lo >= 0) || (a.hi < 0 && b.hi < 0);
    bool opposite = (a.lo >= 0 && b.hi < 0) || (a.hi < 0 && b.lo >= 0);
    return (struct interval){.lo = same ? 0 : -mask - 1, .hi = opposite ? -1 : mask};
}

static int sign(int128 n)
{
    return (n > 0) - (n < 0);
}

static struct interval bits_set(struct interval a)
{
    if (a.lo < 0)
        return (struct interval){.lo = 0, .hi = 64};
    int64_t bits;
    int_op(OP_POPCOUNT, (int64_t)mask_of(a.hi), 0, &bits);
    return (struct interval){.lo = a.lo > 0, .hi = bits};
}

/* An integer operation's interval from those of its arguments. */
static struct interval operation_range(enum op op, struct interval a, struct interval b, struct interval c)
{
    switch (op) {
    case OP_ADD:
        return (struct interval){.lo = a.lo + b.lo, .hi = a.hi + b.hi};
    case OP_SUB:
        return (struct interval){.lo = a.lo - b.hi, .hi = a.hi - b.lo};
    case OP_MUL:
        return multiply(a, b);
    case OP_DIV:
        return divide(a, b);
    case OP_MOD:
        return remainder_of(a, b);
    case OP_NEG:
        return (struct interval){.lo = -a.hi, .hi = -a.lo};
    case OP_ABS:
        return absolute(a);
    case OP_BITAND:
        return bit_and(a, b);
    case OP_BITOR:
        return bit_not(bit_and(bit_not(a), bit_not(b)));
    case OP_XOR:
        return bit_xor(a, b);
    case OP_BITNOT:
        return bit_not(a);
    case OP_SHL:
        return shift_left(a, b);
    case OP_SHR:
        return shift_right(a, b);
    case OP_SELECT:
        return join(b, c);
    case OP_MIN:
        return (struct interval){.lo = least(a.lo, b.lo), .hi = least(a.hi, b.hi)};
    case OP_MAX:
        return (struct interval){.lo = greatest(a.lo, b.lo), .hi = greatest(a.hi, b.hi)};
    case OP_SIGN:
        return (struct interval){.lo = sign(a.lo), .hi = sign(a.hi)};
    case OP_POPCOUNT:
        return bits_set(a);
    case OP_BOOL_TO_INT:
        return (struct interval){.lo = a.lo, .hi = a.hi};
    case OP_CMP_INT_FLOAT:
        return (struct interval){.lo = -1, .hi = 2};
    default: /* TO_INT: nothing is known of floats */
        return (struct interval){.lo = INT64_MIN, .hi = INT64_MAX, .fails = true};
    }
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
        return operation_range(instr->op, argument_range(&task->code, instr, 0), argument_range(&task->code, instr, 1),
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
        instr->checked = instr->op == OP_GATHER;
        if (instr->kind == KIND_INT) {
            struct interval range = int_range(task, instr, columns, rows);
            instr->lo = (int64_t)least(greatest(range.lo, INT64_MIN), INT64_MAX);
            instr->hi = (int64_t)least(greatest(range.hi, INT64_MIN), INT64_MAX);
            instr->lane = instr->lo >= INT32_MIN && instr->hi <= INT32_MAX ? LANE_I32 : LANE_I64;
            instr->checked = range.fails || range.lo != instr->lo || range.hi != instr->hi ||
                             relies_on_arguments(code, instr, doubtful);
        }
        doubtful[v] = instr->checked;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            doubtful[v] = doubtful[v] || doubtful[instr->args[i]];
    }
}

enum type range_store(const struct task *task, const struct output *output, struct column *const *columns)
{
    const struct instr *instr = &task->code.at[output->value];
    if (instr->op == OP_INPUT || instr->op == OP_GATHER) {
        const struct column *column = columns[instr->integer];
        if (column != NULL && column->type == output->type)
            return column->store;
    }
    if (instr->kind == KIND_INT && instr->lane == LANE_I32)
        return TYPE_I32;
    return type_of_kind(instr->kind);
}
