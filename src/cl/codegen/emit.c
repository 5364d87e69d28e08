#include "cl/codegen/emit.h"

#include "cl/codegen/divide_const.h"
#include "cl/codegen/op_templates.h"
#include "cl/codegen/template.h"

#include "engine/plan/code_loop.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_literal(const struct instr *instr)
{
    return instr->op == OP_CONST && !instr->exact;
}

static enum lane widest(enum lane a, enum lane b)
{
    return a > b ? a : b;
}

/* The kind of an instruction's arguments, which selects its template. */
static enum kind argument_kind(const struct code *code, const struct instr *instr)
{
    return code->at[instr->args[instr->op == OP_SELECT ? 1 : 0]].kind;
}

/* Whether integers are divided by a literal: multiplication by its reciprocal. */
static bool divides_by_literal(const struct code *code, const struct instr *instr)
{
    return (instr->op == OP_DIV || instr->op == OP_MOD) && instr->kind == KIND_INT &&
           is_literal(&code->at[instr->args[1]]);
}

/* The lane of that division. */
static enum lane quotient_lane(const struct code *code, const struct instr *instr)
{
    return widest(LANE_I32, widest(code->at[instr->args[0]].lane, code->at[instr->args[1]].lane));
}

/* The lane an operation is computed in (WORK_MIXED: that of the result). */
static enum lane work_lane(const struct code *code, const struct instr *instr, const struct op_template *form)
{
    enum lane lane = LANE_I32;
    switch (form->work) {
    case WORK_MASK:
        return LANE_BOOL;
    case WORK_LONG:
    case WORK_MIXED:
        return LANE_I64;
    case WORK_DOUBLE:
        return LANE_F64;
    case WORK_WIDEST:
    case WORK_DIVIDE:
        lane = widest(lane, instr->lane);
        if (instr->checked && form->work == WORK_WIDEST)
            lane = LANE_I64;
        break;
    case WORK_COMPARE:
        break;
    }
    for (int k = instr->op == OP_SELECT ? 1 : 0; k < op_table[instr->op].arity; k++)
        lane = widest(lane, code->at[instr->args[k]].lane);
    return lane;
}

static int32_t add_literal(struct emitter *emitter, value constant, bool divisor, enum lane lane)
{
    struct literal *literal = &emitter->literals[emitter->literal_count];
    *literal = (struct literal){constant, divisor, lane};
    return (int32_t)(emitter->first_literal + emitter->literal_count++);
}

/* Numbers the columns that a value reads. */
static void number_columns(struct emitter *emitter, value v)
{
    const struct instr *instr = &emitter->task->code.at[v];
    emitter->total = emitter->total || instr->op == OP_ROWS;
    if (instr->op != OP_INPUT && instr->op != OP_GATHER)
        return;
    int32_t *column = &emitter->columns[instr->integer];
    if (*column < 0) {
        *column = (int32_t)emitter->column_count;
        emitter->inputs[emitter->column_count++] = (size_t)instr->integer;
    }
    if (instr->op == OP_GATHER)
        emitter->access[*column] = ACCESS_ANY;
    if (instr->offset == 0)
        return;
    emitter->access[*column] = ACCESS_NEIGHBOURS;
    emitter->operands[v][0] = (int32_t)emitter->neighbour_count;
    emitter->neighbours[emitter->neighbour_count++] = v;
}

bool emitter_init(struct emitter *emitter, const struct task *task, const enum type *stores, size_t first_literal,
                  struct arena *arena)
{
    const struct code *code = &task->code;
    const size_t count = (size_t)code->count;
    const size_t uses = 3 * count + live_roots_count(task);
    int32_t number = 0;
    *emitter = (struct emitter){
        .arena = arena,
        .task = task,
        .stores = stores,
        .live = arena_array(arena, count + 1, sizeof(bool)),
        .numbers = arena_array(arena, count + 1, sizeof(int32_t)),
        .columns = arena_array(arena, task->input_count + 1, sizeof(int32_t)),
        .inputs = arena_array(arena, task->input_count + 1, sizeof(size_t)),
        .access = arena_array(arena, task->input_count + 1, sizeof(enum input_access)),
        .neighbours = arena_array(arena, count + 1, sizeof(value)),
        .operands = arena_array(arena, count + 1, sizeof *emitter->operands),
        .roots = arena_array(arena, live_roots_count(task) + 1, sizeof(int32_t)),
        .literals = arena_array(arena, uses + 1, sizeof(struct literal)),
        .first_literal = first_literal,
    };
    for (size_t k = 0; k < task->input_count; k++)
        emitter->columns[k] = -1;
    live_roots_mark(task, (struct live_roots){true, true, true}, emitter->live);
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (!emitter->live[v])
            continue;
        emitter->floats = emitter->floats || instr->lane == LANE_F64;
        if (instr->op == OP_CONST)
            continue;
        const int arity = op_table[instr->op].arity;
        if (arity > 0 && instr->op != OP_GATHER && instr->op < OP_COUNTER &&
            !op_template_of(instr->op, argument_kind(code, instr)))
            return false;
        emitter->loops = emitter->loops || instr->op == OP_LOOP;
        emitter->numbers[v] = number++;
        emitter->checks = emitter->checks || instr->checked;
        number_columns(emitter, v);
        for (int k = 0; k < arity; k++) {
            const bool literal = is_literal(&code->at[instr->args[k]]);
            const bool divisor = k == 1 && divides_by_literal(code, instr);
            const enum lane lane = divisor ? quotient_lane(code, instr) : code->at[instr->args[k]].lane;
            emitter->operands[v][k] = literal ? add_literal(emitter, instr->args[k], divisor, lane) : -1;
        }
    }
    for (size_t root = 0; root < live_roots_count(task); root++) {
        const value v = live_roots_value(task, root);
        emitter->roots[root] =
            v != NO_VALUE && is_literal(&code->at[v]) ? add_literal(emitter, v, false, code->at[v].lane) : -1;
    }
    /* A loop is long code. */
    emitter->operations = (size_t)number + (emitter->loops ? 64 : 0);
    return true;
}

static const char *constant_text(struct arena *arena, const struct instr *instr)
{
    if (instr->kind == KIND_FLOAT) {
        uint64_t bits;
        memcpy(&bits, &instr->number, sizeof bits);
        return isfinite(instr->number) ? arena_printf(arena, "%a", instr->number)
                                       : arena_printf(arena, "as_double(0x%" PRIx64 "UL)", bits);
    }
    if (instr->kind == KIND_BOOL)
        return instr->integer ? "-1" : "0";
    if (instr->integer == INT64_MIN)
        return "LONG_MIN";
    return arena_printf(arena, instr->lane == LANE_I64 ? "%" PRId64 "L" : "%" PRId64, instr->integer);
}

/* The operand `v` in `lane`; `literal` is the number of its kernel argument, or -1. */
static const char *operand(const struct emitter *emitter, value v, int32_t literal, enum lane lane)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const char *type = lane_cl_type(lane);
    if (literal >= 0 && instr->lane == lane)
        return arena_printf(emitter->arena, "c%" PRId32, literal);
    if (literal >= 0)
        return arena_printf(emitter->arena, "((%s)c%" PRId32 ")", type, literal);
    if (instr->op == OP_CONST)
        return arena_printf(emitter->arena, "((%s)%s)", type, constant_text(emitter->arena, instr));
    if (strcmp(lane_cl_type(instr->lane), type) == 0)
        return arena_printf(emitter->arena, "v%" PRId32, emitter->numbers[v]);
    return arena_printf(emitter->arena, "convert_%s(v%" PRId32 ")", type, emitter->numbers[v]);
}

const char *emit_argument(const struct emitter *emitter, value v, int k, enum lane lane)
{
    return operand(emitter, emitter->task->code.at[v].args[k], emitter->operands[v][k], lane);
}

static bool is_power(const struct instr *instr)
{
    return instr->integer > 1 && (instr->integer & (instr->integer - 1)) == 0;
}

/* Quotient or remainder by a literal. */
static void emit_quotient(const struct emitter *emitter, struct strbuf *out, value v)
{
    const struct instr *instr = &emitter->task->code.at[v];
    const enum lane work = quotient_lane(&emitter->task->code, instr);
    divide_const_emit(out, &(struct divide_const){
                               .number = arena_printf(emitter->arena, "%" PRId32, emitter->numbers[v]),
                               .dividend = emit_argument(emitter, v, 0, work),
                               .divisor = arena_printf(emitter->arena, "c%" PRId32, emitter->operands[v][1]),
                               .work = work,
                               .type = lane_cl_type(instr->lane),
                               .power = is_power(&emitter->task->code.at[instr->args[1]]),
                               .remainder = instr->op == OP_MOD,
                               .checked = instr->checked,
                           });
}

/* The argument of a product of longs that is an int; -1: none. */
static int narrow_factor(const struct code *code, const struct instr *instr, enum lane work)
{
    for (int k = 0; k < 2 && instr->op == OP_MUL && work == LANE_I64; k++) {
        if (code->at[instr->args[k]].lane == LANE_I32)
            return k;
    }
    return -1;
}

static void emit_operation(const struct emitter *emitter, struct strbuf *out, value v)
{
    const struct code *code = &emitter->task->code;
    const struct instr *instr = &code->at[v];
    const struct op_template *form = op_template_of(instr->op, argument_kind(code, instr));
    const enum lane work = work_lane(code, instr, form);
    struct arena *arena = emitter->arena;
    const char *number = arena_printf(arena, "%" PRId32, emitter->numbers[v]);
    const char *args[3] = {"", "", ""};
    for (int k = 0; k < op_table[instr->op].arity; k++) {
        const enum lane lane = instr->op == OP_SELECT && k == 0     ? LANE_BOOL
                               : form->work == WORK_MIXED && k == 1 ? LANE_F64
                                                                    : work;
        args[k] = emit_argument(emitter, v, k, lane);
    }
    const enum lane result = form->result == RESULT_INT      ? LANE_I32
                             : form->result == RESULT_LONG   ? LANE_I64
                             : form->result == RESULT_DOUBLE ? LANE_F64
                                                             : work;
    const int narrow = narrow_factor(code, instr, work);
    const bool wide = work == LANE_I64;
    const bool same = form->result == RESULT_COMPARE || strcmp(lane_cl_type(result), lane_cl_type(instr->lane)) == 0;
    const struct hole holes[] = {
        {"a", args[0]},
        {"b", args[1]},
        {"c", args[2]},
        {"x", narrow < 0 ? "" : args[1 - narrow]},
        {"y", narrow < 0 ? "" : args[narrow]},
        {"n", number},
        {"r", arena_printf(arena, same ? "v%s" : "w%s", number)},
        {"T", lane_cl_type(work)},
        {"U", wide ? "ulong" : "uint"},
        {"max", wide ? "63" : "31"},
        {"min", wide ? "LONG_MIN" : "INT_MIN"},
        {NULL, NULL},
    };
    struct strbuf text = {0};
    if (form->before) {
        template_expand(&text, form->before, holes);
        strbuf_printf(out, "        %s\n", text.text);
        strbuf_clear(&text);
    }
    template_expand(&text, form->expression, holes);
    if (form->result == RESULT_COMPARE)
        strbuf_printf(out, "        const int v%s = -(%s);\n", number, text.text);
    else
        strbuf_printf(out, "        const %s %s%s = %s;\n", lane_cl_type(result), same ? "v" : "w", number, text.text);
    if (!same)
        strbuf_printf(out, "        const %s v%s = convert_%s(w%s);\n", lane_cl_type(instr->lane), number,
                      lane_cl_type(instr->lane), number);
    if (instr->checked) {
        strbuf_clear(&text);
        const char *fails = form->fails ? form->fails : "($T)0 != ($T)0";
        template_expand(&text, narrow >= 0 ? narrow_product_fails : fails, holes);
        strbuf_printf(out, "        const int f%s = -(%s);\n", number, text.text);
    }
    strbuf_free(&text);
}

static void emit_statement(const struct emitter *emitter, struct strbuf *out, value v, const struct statements *of)
{
    const struct code *code = &emitter->task->code;
    switch (code->at[v].op) {
    case OP_CONST:
    case OP_COUNTER: /* these three by their loop */
    case OP_STATE:
    case OP_CARRY:
        break;
    case OP_INPUT:
        emit_input(emitter, out, v, of->from);
        break;
    case OP_ROW:
        emit_row(emitter, out, v);
        break;
    case OP_ROWS:
        emit_rows(emitter, out, v);
        break;
    case OP_GATHER:
        emit_gather(emitter, out, v);
        break;
    case OP_LOOP:
        emit_loop(emitter, out, v, of);
        break;
    case OP_FINAL:
        emit_final(emitter, out, v);
        break;
    default:
        if (divides_by_literal(code, &code->at[v]))
            emit_quotient(emitter, out, v);
        else
            emit_operation(emitter, out, v);
    }
}

void emit_statements(const struct emitter *emitter, struct strbuf *out, const bool *wanted, const struct statements *of)
{
    const struct code *code = &emitter->task->code;
    for (value v = 0; v < code->count; v++) {
        if (wanted[v] && (!of->levels || (of->levels[v] & ~of->within) == 0))
            emit_statement(emitter, out, v, of);
    }
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (!wanted[v] || !instr->checked || (of->levels && (of->levels[v] & ~of->within) != 0))
            continue;
        strbuf_printf(out, "        err1 |= f%" PRId32, emitter->numbers[v]);
        if (instr->guard != NO_VALUE)
            strbuf_printf(out, " & %s", operand(emitter, instr->guard, -1, LANE_BOOL));
        strbuf_puts(out, ";\n");
    }
}

void emit_values(const struct emitter *emitter, struct strbuf *out, const bool *wanted, enum input_source from)
{
    struct statements of = {.from = from};
    if (emitter->loops)
        of.levels = code_levels(&emitter->task->code, emitter->arena);
    emit_statements(emitter, out, wanted, &of);
}

void emit_body(const struct emitter *emitter, struct strbuf *out, struct live_roots needs)
{
    bool *live = arena_array(emitter->arena, (size_t)emitter->task->code.count + 1, sizeof(bool));
    live_roots_mark(emitter->task, needs, live);
    emit_values(emitter, out, live, FROM_COLUMNS);
}

static const char *root_text(const struct emitter *emitter, size_t root, enum lane lane)
{
    const value v = live_roots_value(emitter->task, root);
    const char *text = operand(emitter, v, emitter->roots[root], lane);
    const bool mask = emitter->task->code.at[v].lane == LANE_BOOL && lane != LANE_BOOL;
    return mask ? arena_printf(emitter->arena, "(-%s)", text) : text;
}

void emit_conditions(const struct emitter *emitter, struct strbuf *out, const value *conditions, size_t count)
{
    for (size_t k = 0; k < count; k++)
        strbuf_printf(out, "%s%s", k == 0 ? "" : " & ", operand(emitter, conditions[k], -1, LANE_BOOL));
}

void emit_keep(const struct emitter *emitter, struct strbuf *out)
{
    strbuf_puts(out, "        const int keep = ");
    for (size_t k = 0; k < emitter->task->filter_count; k++)
        strbuf_printf(out, "%s%s", k == 0 ? "" : " & ", root_text(emitter, k, LANE_BOOL));
    strbuf_puts(out, ";\n");
}

const char *emit_output(const struct emitter *emitter, size_t output, enum lane lane)
{
    return root_text(emitter, emitter->task->filter_count + output, lane);
}

const char *emit_aggregate(const struct emitter *emitter, size_t aggregate, enum lane lane)
{
    return root_text(emitter, emitter->task->filter_count + emitter->task->output_count + aggregate, lane);
}
