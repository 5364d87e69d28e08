/* random(k, ...): numbers that depend on the arguments alone, so they are the same on every device, in every run and
 * grouping. Threefry-2x32 of 20 rounds, from J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011). All words are held in 64-bit integers, so nothing can overflow. */
#include "engine/builtin/builtin.h"

enum { ROUNDS = 20, ROUNDS_OF_KEY = 4, FRACTION = 53 };

struct words {
    value low, high;
};

static const int64_t WORD = INT64_C(0xffffffff);
static const int64_t PARITY = INT64_C(0x1bd11bda);

static struct words split(struct code *code, value v, struct span span)
{
    const value high = code_with(code, OP_SHR, v, 32, span);
    return (struct words){code_with(code, OP_BITAND, v, WORD, span), code_with(code, OP_BITAND, high, WORD, span)};
}

static value add(struct code *code, value a, value b, struct span span)
{
    return code_with(code, OP_BITAND, code_binary(code, OP_ADD, a, b, span), WORD, span);
}

static value rotate(struct code *code, value v, int64_t bits, struct span span)
{
    const value left = code_with(code, OP_BITAND, code_with(code, OP_SHL, v, bits, span), WORD, span);
    return code_binary(code, OP_BITOR, left, code_with(code, OP_SHR, v, 32 - bits, span), span);
}

static struct words threefry(struct code *code, struct words key, struct words x, struct span span)
{
    static const int64_t rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    const value parity = code_binary(code, OP_XOR, key.low, key.high, span);
    const value keys[3] = {key.low, key.high, code_with(code, OP_XOR, parity, PARITY, span)};
    x.low = add(code, x.low, keys[0], span);
    x.high = add(code, x.high, keys[1], span);
    for (int round = 0; round < ROUNDS; round++) {
        x.low = add(code, x.low, x.high, span);
        x.high = code_binary(code, OP_XOR, rotate(code, x.high, rotations[round % 8], span), x.low, span);
        if (round % ROUNDS_OF_KEY != ROUNDS_OF_KEY - 1)
            continue;
        const int passed = round / ROUNDS_OF_KEY + 1;
        x.low = add(code, x.low, keys[passed % 3], span);
        const value next = add(code, x.high, keys[(passed + 1) % 3], span);
        x.high = add(code, next, code_exact_int(code, passed, span), span);
    }
    return x;
}

struct term bind_random(const struct builtin *call)
{
    struct code *code = call->scope->code;
    const struct span span = call->expr->span;
    bool integers = true;
    for (size_t i = 0; i < call->count; i++)
        integers = builtin_is_number(call, i, true) && integers;
    if (!integers)
        return unknown_term;
    const value zero = code_exact_int(code, 0, span);
    struct words state = split(code, call->arguments[0].value, span);
    if (call->count == 1)
        state = threefry(code, state, (struct words){zero, zero}, span);
    for (size_t i = 1; i < call->count; i++)
        state = threefry(code, state, split(code, call->arguments[i].value, span), span);
    const value high = code_with(code, OP_SHL, state.low, FRACTION - 32, span);
    const value low = code_with(code, OP_SHR, state.high, 64 - FRACTION, span);
    const value bits = code_binary(code, OP_BITOR, high, low, span);
    const value fraction = code_unary(code, OP_TO_FLOAT, bits, span);
    const double unit = 1.0 / (double)(INT64_C(1) << FRACTION);
    return builtin_result(call, code_binary(code, OP_MUL, fraction, code_float(code, unit, span), span),
                          (struct logical_type){0});
}
