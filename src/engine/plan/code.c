/* Building typed code: equal instructions are found by hashing and shared. */
#include "engine/plan/code.h"

#include "engine/plan/const_fold.h"

#include <assert.h>
#include <string.h>

const struct op_info op_table[OP_COUNT] = {
#define OP(name, arity, result, can_fail, text) {#name, arity, OP_RESULT_##result, can_fail, text},
#include "engine/plan/ops.def"
#undef OP
};

enum { PENDING = -2, FIRST_CAPACITY = 16 };

void code_init(struct code *code, struct arena *arena)
{
    *code = (struct code){.arena = arena};
}

void code_clone(struct code *to, const struct code *from, struct arena *arena)
{
    const size_t count = (size_t)from->count, buckets = (size_t)from->bucket_count;
    *to = *from;
    to->arena = arena;
    to->at = arena_grow(arena, from->at, count, (size_t)from->capacity, sizeof *to->at);
    to->buckets = arena_grow(arena, from->buckets, buckets, buckets, sizeof *to->buckets);
}

bool code_can_fail(const struct instr *instr)
{
    if (instr->op == OP_GATHER)
        return !instr->exact;
    if (instr->op == OP_FOLD)
        return true;
    return op_table[instr->op].can_fail && instr->kind != KIND_FLOAT;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    /* The multiplier of a 64-bit linear congruential generator (Knuth, MMIX); the shift brings high bits down. */
    hash = (hash ^ word) * UINT64_C(6364136223846793005);
    return hash ^ (hash >> 29);
}

static uint64_t hash_instr(const struct instr *instr)
{
    uint64_t hash = mix((uint64_t)instr->op * 4 + (uint64_t)instr->kind, (uint64_t)instr->integer);
    for (int i = 0; i < 3; i++)
        hash = mix(hash, (uint32_t)instr->args[i]);
    return mix(mix(mix(hash, (uint64_t)double_bits(instr->number)), instr->exact), (uint64_t)instr->offset);
}

/* Floats are compared by their bits: 0.0 is not -0.0 here, and a NaN is itself. */
static bool same_instr(const struct instr *a, const struct instr *b)
{
    return a->op == b->op && a->kind == b->kind && a->args[0] == b->args[0] && a->args[1] == b->args[1] &&
           a->args[2] == b->args[2] && a->integer == b->integer && double_bits(a->number) == double_bits(b->number) &&
           a->exact == b->exact && a->offset == b->offset;
}

/* The bucket of the equal instruction, or the empty one where it belongs. */
static value *find_bucket(const struct code *code, const struct instr *instr)
{
    const uint32_t mask = (uint32_t)code->bucket_count - 1;
    uint32_t at = (uint32_t)hash_instr(instr) & mask;
    while (code->buckets[at] != NO_VALUE && !same_instr(&code->at[code->buckets[at]], instr))
        at = (at + 1) & mask;
    return &code->buckets[at];
}

void code_rehash(struct code *code)
{
    code->buckets = arena_array(code->arena, (size_t)code->bucket_count, sizeof *code->buckets);
    for (int32_t i = 0; i < code->bucket_count; i++)
        code->buckets[i] = NO_VALUE;
    for (value v = 0; v < code->count; v++)
        *find_bucket(code, &code->at[v]) = v;
}

static void make_room(struct code *code)
{
    if (code->count < code->capacity)
        return;
    const int32_t capacity = code->capacity == 0 ? FIRST_CAPACITY : code->capacity * 2;
    code->at = arena_grow(code->arena, code->at, (size_t)code->count, (size_t)capacity, sizeof *code->at);
    code->capacity = capacity;
    code->bucket_count = capacity * 2;
    code_rehash(code);
}

static struct instr new_instr(enum op op, enum kind kind, struct span span)
{
    return (struct instr){
        .op = op,
        .kind = kind,
        .args = {NO_VALUE, NO_VALUE, NO_VALUE},
        .span = span,
        .lane = kind == KIND_BOOL  ? LANE_BOOL
                : kind == KIND_INT ? LANE_I64
                                   : LANE_F64,
        .lo = kind == KIND_INT ? INT64_MIN : 0,
        .hi = kind == KIND_INT ? INT64_MAX : kind == KIND_BOOL,
        .guard = NO_VALUE,
    };
}

static value add(struct code *code, const struct instr *instr)
{
    make_room(code);
    value *bucket = find_bucket(code, instr);
    if (*bucket == NO_VALUE) {
        *bucket = code->count;
        code->at[code->count++] = *instr;
    }
    return *bucket;
}

static value add_int(struct code *code, int64_t integer, bool exact, struct span span)
{
    struct instr instr = new_instr(OP_CONST, KIND_INT, span);
    instr.integer = integer;
    instr.exact = exact;
    return add(code, &instr);
}

value code_int(struct code *code, int64_t integer, struct span span)
{
    return add_int(code, integer, false, span);
}

value code_exact_int(struct code *code, int64_t integer, struct span span)
{
    return add_int(code, integer, true, span);
}

/* Bools decide the program's shape by the identities of && and ||, so they always count as exact. */
value code_bool(struct code *code, bool truth, struct span span)
{
    struct instr instr = new_instr(OP_CONST, KIND_BOOL, span);
    instr.integer = truth;
    instr.exact = true;
    return add(code, &instr);
}

value code_float(struct code *code, double number, struct span span)
{
    struct instr instr = new_instr(OP_CONST, KIND_FLOAT, span);
    instr.number = number;
    return add(code, &instr);
}

value code_input_at(struct code *code, int64_t input, int64_t offset, enum kind kind, struct span span)
{
    const int64_t farthest = (int64_t)1 << 61; /* two can be added */
    struct instr instr = new_instr(OP_INPUT, kind, span);
    instr.integer = input;
    instr.offset = offset > farthest ? farthest : offset < -farthest ? -farthest : offset;
    return add(code, &instr);
}

value code_input(struct code *code, int64_t input, enum kind kind, struct span span)
{
    return code_input_at(code, input, 0, kind, span);
}

value code_row(struct code *code, struct span span)
{
    struct instr instr = new_instr(OP_ROW, KIND_INT, span);
    return add(code, &instr);
}

value code_rows(struct code *code, struct span span)
{
    struct instr instr = new_instr(OP_ROWS, KIND_INT, span);
    return add(code, &instr);
}

value code_gather(struct code *code, int64_t input, enum kind kind, value position, struct span span)
{
    struct instr instr = new_instr(OP_GATHER, kind, span);
    instr.integer = input;
    instr.args[0] = position;
    instr.checked = instr.fallible = true;
    return add(code, &instr);
}

value code_lookup(struct code *code, int64_t input, enum kind kind, value position, struct span span)
{
    struct instr instr = new_instr(OP_GATHER, kind, span);
    instr.integer = input;
    instr.args[0] = position;
    instr.exact = true;
    instr.fallible = code->at[position].fallible;
    return add(code, &instr);
}

static enum kind result_kind(const struct code *code, enum op op, const value args[3])
{
    switch (op_table[op].result) {
    case OP_RESULT_BOOL:
        return KIND_BOOL;
    case OP_RESULT_INT:
        return KIND_INT;
    case OP_RESULT_FLOAT:
        return KIND_FLOAT;
    case OP_RESULT_SAME:
        break;
    }
    return code->at[args[op == OP_SELECT ? 1 : 0]].kind;
}

static bool commutes(enum op op)
{
    return op == OP_ADD || op == OP_MUL || op == OP_BITAND || op == OP_BITOR || op == OP_XOR || op == OP_EQ ||
           op == OP_NE || op == OP_AND || op == OP_OR;
}

/* The instruction with swapped arguments, if there is one and the order cannot matter. It is looked up rather than
 * normalised, so that explain shows what was written. Arguments that can fail keep their order: it decides what is
 * evaluated, and which failure is found first. */
static value find_swapped(const struct code *code, const struct instr *instr)
{
    if (!commutes(instr->op) || code->at[instr->args[0]].fallible || code->at[instr->args[1]].fallible)
        return NO_VALUE;
    struct instr swapped = *instr;
    swapped.args[0] = instr->args[1];
    swapped.args[1] = instr->args[0];
    return *find_bucket(code, &swapped);
}

value code_op(struct code *code, enum op op, value a, value b, value c, struct span span)
{
    const value args[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        assert(i < op_table[op].arity ? args[i] >= 0 && args[i] < code->count : args[i] == NO_VALUE);
    const value folded = fold_op(code, op, args, span);
    if (folded != NO_VALUE)
        return folded;

    struct instr instr = new_instr(op, result_kind(code, op, args), span);
    instr.checked = code_can_fail(&instr);
    instr.fallible = instr.checked;
    for (int i = 0; i < op_table[op].arity; i++) {
        instr.args[i] = args[i];
        instr.fallible |= code->at[args[i]].fallible;
    }
    const value swapped = find_swapped(code, &instr);
    return swapped != NO_VALUE ? swapped : add(code, &instr);
}

value code_add(struct code *code, const struct instr *fields)
{
    struct instr instr = new_instr(fields->op, fields->kind, fields->span);
    instr.integer = fields->integer;
    instr.offset = fields->offset;
    instr.exact = fields->exact;
    instr.border = fields->border;
    instr.checked = code_can_fail(&instr);
    instr.fallible = instr.checked;
    for (int i = 0; i < op_table[instr.op].arity; i++) {
        instr.args[i] = fields->args[i];
        instr.fallible |= code->at[instr.args[i]].fallible;
    }
    return add(code, &instr);
}

static value copy_input(struct code *code, const struct instr *instr, const value *inputs)
{
    const value input = inputs[instr->integer];
    if (instr->offset == 0)
        return input;
    const struct instr at = code->at[input];
    const value moved = code_input_at(code, at.integer, at.offset + instr->offset, at.kind, instr->span);
    code->at[moved].fallible = at.fallible;
    return moved;
}

static value copy_leaf_or_op(struct code *code, struct instr instr, const value *inputs, value row, const value *map)
{
    value args[3] = {NO_VALUE, NO_VALUE, NO_VALUE};
    switch (instr.op) {
    case OP_INPUT:
        return copy_input(code, &instr, inputs);
    case OP_ROWS:
        return code_rows(code, instr.span);
    case OP_GATHER: {
        const int64_t input = inputs ? code->at[inputs[instr.integer]].integer : instr.integer;
        return (instr.exact ? code_lookup : code_gather)(code, input, instr.kind, map[instr.args[0]], instr.span);
    }
    case OP_ROW:
        return row != NO_VALUE ? row : code_row(code, instr.span);
    case OP_CONST: {
        struct instr constant = new_instr(OP_CONST, instr.kind, instr.span);
        constant.integer = instr.integer;
        constant.number = instr.number;
        constant.exact = instr.exact;
        return add(code, &constant);
    }
    case OP_NEAR:
    case OP_TEXT:
    case OP_COUNTER:
    case OP_STATE:
    case OP_FOLD:
    case OP_CARRY:
    case OP_LOOP:
    case OP_FINAL:
        for (int i = 0; i < op_table[instr.op].arity; i++)
            instr.args[i] = map[instr.args[i]];
        return code_add(code, &instr);
    default:
        for (int i = 0; i < op_table[instr.op].arity; i++)
            args[i] = map[instr.args[i]];
        return code_op(code, instr.op, args[0], args[1], args[2], instr.span);
    }
}

static value copy_instr(struct code *code, struct instr instr, const value *inputs, value row, const value *map)
{
    const int32_t before = code->count;
    const value copy = copy_leaf_or_op(code, instr, inputs, row, map);
    for (value v = before; v < code->count; v++)
        code->at[v].shift = instr.shift;
    return copy;
}

value *code_map(struct arena *arena, const struct code *from)
{
    value *map = arena_array(arena, (size_t)from->count + 1, sizeof *map);
    for (value v = 0; v < from->count; v++)
        map[v] = NO_VALUE;
    return map;
}

/* Arguments come before their readers, so one walk down finds what to copy and one walk up copies it: no recursion,
 * however deep the expression. */
value code_inline(struct code *code, const struct code *from, value root, const value *inputs, value row, value *map)
{
    assert(root >= 0 && root < from->count);
    if (map[root] != NO_VALUE)
        return map[root];
    map[root] = PENDING;
    value lowest = root;
    for (int32_t pending = 1; pending > 0; lowest--) {
        if (map[lowest] != PENDING)
            continue;
        pending--;
        const value *args = from->at[lowest].args;
        for (int i = 0; i < op_table[from->at[lowest].op].arity; i++) {
            if (map[args[i]] == NO_VALUE) {
                map[args[i]] = PENDING;
                pending++;
            }
        }
    }
    for (value v = lowest + 1; v <= root; v++) {
        if (map[v] == PENDING)
            map[v] = copy_instr(code, from->at[v], inputs, row, map);
    }
    return map[root];
}

bool code_is_const(const struct code *code, value v)
{
    return code->at[v].op == OP_CONST;
}

void code_mark_all(const struct code *code, bool *live)
{
    for (value v = code->count - 1; v >= 0; v--) {
        if (!live[v])
            continue;
        for (int i = 0; i < op_table[code->at[v].op].arity; i++)
            live[code->at[v].args[i]] = true;
    }
}

bool code_any_checked(const struct code *code, const bool *marks)
{
    bool any = false;
    for (value v = 0; v < code->count && !any; v++)
        any = marks[v] && code->at[v].checked;
    return any;
}

void code_mark(const struct code *code, value root, bool *live)
{
    assert(root >= 0 && root < code->count);
    live[root] = true;
    code_mark_all(code, live);
}
