#include "engine/evaluator/arm.h"

#include "engine/plan/border.h"
#include "engine/plan/code_loop.h"

/* An arm's number: greater ones are around it, or apart. */
static int32_t arm_number(value select, int arm)
{
    return 2 * select + arm - 1;
}

static value select_of(int32_t arm)
{
    return arm / 2;
}

/* The innermost arm that both are in. */
static int32_t common_arm(const int32_t *arms, int32_t a, int32_t b)
{
    while (a != b) {
        if (a < b)
            a = arms[select_of(a)];
        else
            b = arms[select_of(b)];
    }
    return a;
}

/* Whether it can be computed for packed rows: it does not tell of the row's number or neighbours. */
static bool can_be_packed(const struct code *code, value v)
{
    const struct instr *instr = &code->at[v];
    int64_t first, rows;
    return op_table[instr->op].arity > 0 && instr->op < OP_COUNTER && instr->op != OP_NEAR &&
           !(instr->op == OP_GATHER && border_of_position(code, instr->args[0], &first, &rows));
}

/* About how many additions take as long. */
static int cost_of(const struct code *code, const struct instr *instr)
{
    enum { FUNCTION = 16, DIVISION = 8, GATHER = 4, DIVISION_BY_CONSTANT = 3, CHECKED = 2 };
    switch (instr->op) {
    case OP_GATHER:
    case OP_SQRT:
        return GATHER;
    case OP_DIV:
    case OP_MOD:
        return code->at[instr->args[1]].op == OP_CONST ? DIVISION_BY_CONSTANT
               : instr->kind == KIND_FLOAT             ? GATHER
                                                       : DIVISION;
    default:
        return instr->op > OP_SQRT && instr->op <= OP_LDEXP ? FUNCTION : instr->checked ? CHECKED : 1;
    }
}

/* Keeps arms that are worth it; what the others compute is of the arms around. */
static void keep_worthy(const struct code *code, const bool *live, int32_t *arms, struct arena *arena)
{
    enum { LEAST_COST = 6, CAPTURE_COST = 3, DEEPEST = 3 };
    const size_t numbers = 2 * (size_t)code->count + 2;
    int *costs = arena_array(arena, numbers, sizeof *costs), *least = arena_array(arena, numbers, sizeof *least);
    int *depths = arena_array(arena, (size_t)code->count + 1, sizeof *depths);
    int32_t *captured_by = arena_array(arena, (size_t)code->count + 1, sizeof *captured_by);
    for (value v = 0; v < code->count; v++) {
        const int cost = live[v] && arms[v] != NO_ARM ? cost_of(code, &code->at[v]) : 0;
        for (int32_t arm = arms[v]; cost > 0 && arm != NO_ARM; arm = arms[select_of(arm)])
            costs[arm] += cost;
        for (int i = 0; i < op_table[code->at[v].op].arity && cost > 0; i++) {
            const value arg = code->at[v].args[i];
            if (arms[arg] != arms[v] && !builder_is_constant(code, arg) && captured_by[arg] != arms[v]) {
                captured_by[arg] = arms[v];
                least[arms[v]] += CAPTURE_COST;
            }
        }
    }
    for (value v = code->count - 1; v >= 0; v--) {
        while (arms[v] != NO_ARM &&
               (costs[arms[v]] < LEAST_COST + least[arms[v]] || depths[select_of(arms[v])] == DEEPEST))
            arms[v] = arms[select_of(arms[v])];
        depths[v] = arms[v] == NO_ARM ? 0 : depths[select_of(arms[v])] + 1;
    }
}

int32_t *arms_find(const struct task *task, struct arena *arena)
{
    enum { UNREAD = -1, MOST_VALUES = 4096 };
    const struct code *code = &task->code;
    if (code->count > MOST_VALUES) /* each arm takes maps of all values */
        return NULL;
    const size_t size = (size_t)code->count + 1;
    const bool *live = task_live(task, arena);
    int32_t *arms = arena_array(arena, size, sizeof *arms);
    const uint32_t *levels = code_levels(code, arena);
    for (value v = 0; v < code->count; v++)
        arms[v] = UNREAD;
    for (size_t i = 0; i < task->filter_count; i++)
        arms[task->filters[i].keep] = NO_ARM;
    for (size_t i = 0; i < task->output_count; i++)
        arms[task->outputs[i].value] = NO_ARM;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        if (aggregate->value != NO_VALUE)
            arms[aggregate->value] = NO_ARM;
        if (aggregate_table[aggregate->kind].operands)
            arms[aggregate->other] = arms[aggregate->where] = NO_ARM;
    }
    for (value v = code->count - 1; v >= 0; v--) {
        const struct instr *instr = &code->at[v];
        if (arms[v] == UNREAD || !can_be_packed(code, v))
            arms[v] = NO_ARM;
        for (int i = 0; i < op_table[instr->op].arity && live[v]; i++) {
            int32_t reads = instr->op == OP_SELECT && i > 0 ? arm_number(v, i) : arms[v];
            int32_t *arg = &arms[instr->args[i]];
            if (levels[instr->args[i]] != levels[v]) /* a round reads what is computed once */
                reads = NO_ARM;
            *arg = *arg == UNREAD ? reads : common_arm(arms, *arg, reads);
        }
    }
    keep_worthy(code, live, arms, arena);
    return arms;
}

/* Whether the value is computed by the arm. */
static bool is_in(const struct builder *b, value v, int32_t arm)
{
    int32_t of = b->arms[v];
    while (of < arm)
        of = b->arms[select_of(of)];
    return of == arm;
}

static bool is_separate(const struct builder *b, value v, int arm)
{
    return is_in(b, b->code->at[v].args[arm], arm_number(v, arm));
}

bool arms_has(const struct builder *b, value v)
{
    return b->arms && !b->ignore_failures && b->code->at[v].op == OP_SELECT &&
           (is_separate(b, v, 1) || is_separate(b, v, 2));
}

/* Marks what the arm reads from outside: by the builder of its steps, which may read less than all arguments. */
static bool *find_captures(const struct builder *b, value v, int arm)
{
    struct builder inside = *b;
    bool *captured = arena_array(b->arena, (size_t)b->code->count + 1, sizeof *captured);
    inside.wanted = arena_array(b->arena, (size_t)b->code->count + 1, sizeof *inside.wanted);
    inside.in_loop = true;
    inside.wanted[b->code->at[v].args[arm]] = true;
    for (value u = v; u >= 0; u--) {
        if (!inside.wanted[u] || builder_is_constant(b->code, u))
            continue;
        if (is_in(b, u, arm_number(v, arm)))
            builder_want_arguments(&inside, u);
        else
            captured[u] = true;
    }
    return captured;
}

void arms_want_arguments(struct builder *b, value v)
{
    b->wanted[b->code->at[v].args[0]] = true;
    for (int arm = 1; arm <= 2; arm++) {
        if (!is_separate(b, v, arm)) {
            b->wanted[b->code->at[v].args[arm]] = true;
            continue;
        }
        const bool *captured = find_captures(b, v, arm);
        for (value u = 0; u < v; u++)
            b->wanted[u] = b->wanted[u] || captured[u];
    }
}

/* Adds the steps of an arm; returns the vector with its result in the rows that take it. */
static reg emit_arm(struct builder *b, value v, int number, reg other)
{
    const struct code *code = b->code;
    struct program *program = b->program;
    enum { SPREADING_COST = 3, PACKING_COST = 2 };
    const bool *captured = find_captures(b, v, number);
    struct builder inside = builder_of_loop(b);
    struct arm *arm = arena_alloc(b->arena, sizeof *arm);
    inside.scope = SCOPE_FILTERS;
    inside.check_of = b->check_of;
    inside.arms = b->arms;
    *arm = (struct arm){
        .number = program->arm_count++,
        .condition = builder_vector(b, code->at[v].args[0], LANE_BOOL),
        .negated = number == 2,
        .other = other,
        .out = builder_lane_vector(b, code->at[v].lane),
        .lane = code->at[v].lane,
        .captures.at = arena_array(b->arena, (size_t)v + 1, sizeof *arm->captures.at),
    };
    for (value u = 0; u < v; u++) {
        if (captured[u])
            builder_capture(b, &inside, &arm->captures, u);
    }
    builder_add_step(b, (struct step){
                            .op = OP_SELECT,
                            .out = arm->out,
                            .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER},
                            .check = CHECK_NONE,
                            .arm = arm,
                        });
    arm->overhead = SPREADING_COST + PACKING_COST * (int)arm->captures.count;
    for (value u = 0; u < v; u++)
        arm->cost += is_in(b, u, arm_number(v, number)) ? cost_of(code, &code->at[u]) : 0;
    arm->begin = program->step_count;
    inside.wanted[code->at[v].args[number]] = true;
    builder_emit_wanted(&inside);
    arm->result = builder_vector(&inside, code->at[v].args[number], arm->lane);
    arm->end = program->step_count;
    return arm->out;
}

void arms_emit(struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    reg out = NO_REGISTER;
    for (int arm = 1; arm <= 2; arm++) {
        if (!is_separate(b, v, arm))
            out = builder_vector(b, instr->args[arm], instr->lane);
    }
    for (int arm = 1; arm <= 2; arm++) {
        if (is_separate(b, v, arm))
            out = emit_arm(b, v, arm, out);
    }
    b->of[b->scope][instr->lane][v] = out;
}

void arm_vectors(const struct arm *arm, void (*use)(void *context, reg vector, bool own), void *context)
{
    use(context, arm->out, true);
    use(context, arm->condition, false);
    use(context, arm->result, false);
    if (arm->other != NO_REGISTER)
        use(context, arm->other, false);
    captures_vectors(&arm->captures, use, context);
}
