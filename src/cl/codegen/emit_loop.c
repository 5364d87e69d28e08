#include "cl/codegen/emit.h"

#include "cl/codegen/loop_terms.h"

#include "engine/plan/code_loop.h"

#include <inttypes.h>

struct loop_text {
    const struct emitter *emitter;
    struct strbuf *out;
    value loop;
    struct loop_values values;
    int32_t number;
    enum loop_terms terms;
    struct loop_sums *sums; /* TERMS_TOGETHER */
};

/* The CARRY of state k. */
static value carry_at(const struct code *code, value loop, size_t k)
{
    value chain = code->at[loop].args[0];
    for (; k > 0; k--)
        chain = code->at[chain].args[2];
    return chain;
}

static enum lane lane_of(const struct loop_text *text, size_t k)
{
    return loop_state_lane(&text->emitter->task->code, text->loop, k, &text->values);
}

/* How many rounds to write one after another, so that those behind are loaded while one is added: a sum waits for the
 * one before. 1: it has many operations, or the rounds end by a condition. */
static int32_t rounds_at_once(const struct loop_text *text)
{
    enum { MOST_ROUNDS = 8, MOST_OPERATIONS = 192 };
    const struct code *code = &text->emitter->task->code;
    int32_t operations = 1;
    if (!loop_is_counted(code, text->loop))
        return 1;
    for (value v = 0; v < code->count; v++) {
        if (text->values.body[v] && code->at[v].op == OP_LOOP)
            return 1;
        operations += text->values.body[v];
    }
    for (size_t k = 0; k < text->values.carry_count; k++)
        operations += text->values.carries[k].part == 1 ? SUM_OPERATIONS : 0;
    const int32_t rounds = MOST_OPERATIONS / operations;
    return rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds > 1 ? rounds : 1;
}

/* Opens the range of a loop: nN is its number of rounds, but for one. */
static void open_range(const struct loop_text *text)
{
    const struct emitter *emitter = text->emitter;
    const value index = text->values.index;
    const int32_t number = text->number;
    const char *first = emit_argument(emitter, index, 0, LANE_I64);
    const char *last = emit_argument(emitter, index, 1, LANE_I64);
    strbuf_printf(text->out,
                  "        if (%s && %s <= %s) {\n        const ulong k%" PRId32 " = as_ulong(%s), n%" PRId32
                  " = as_ulong(%s) - k%" PRId32 ";\n",
                  emit_argument(emitter, index, 2, LANE_BOOL), first, last, number, first, number, last, number);
    if (text->terms == TERMS_ALONE)
        strbuf_printf(text->out,
                      "        if (n%" PRId32 " >= %d)\n            later |= n%" PRId32
                      " >= %d ? 2 : 1;\n        if (!later) {\n",
                      number, MANY_TERMS, number, VERY_MANY_TERMS);
    strbuf_printf(text->out, "        ulong j%" PRId32 " = %s;\n", number,
                  text->terms == TERMS_TOGETHER ? "member" : "0");
}

/* The index and the states of a round, which is `at`. */
static void open_round(const struct loop_text *text, const char *at)
{
    const struct emitter *emitter = text->emitter;
    const struct code *code = &emitter->task->code;
    const value index = text->values.index;
    const char *type = lane_cl_type(code->at[index].lane);
    strbuf_printf(text->out, "        const %s v%" PRId32 " = (%s)as_long(k%" PRId32 " + %s);\n", type,
                  emitter->numbers[index], type, text->number, at);
    for (size_t k = 0; k < text->values.carry_count; k++) {
        const value state = loop_state(code, text->loop, k, &text->values);
        if (state != NO_VALUE)
            strbuf_printf(text->out, "        const %s v%" PRId32 " = s%" PRId32 "_%zu;\n",
                          lane_cl_type(code->at[state].lane), emitter->numbers[state], text->number, k);
    }
}

/* The round's values: those that its condition needs come first. */
static void emit_values_of_round(const struct loop_text *text, const struct statements *of)
{
    const struct emitter *emitter = text->emitter;
    const struct code *code = &emitter->task->code;
    const value holds = code->at[text->loop].args[1];
    const size_t count = (size_t)code->count;
    bool *first = arena_array(emitter->arena, count, sizeof *first);
    bool *rest = arena_array(emitter->arena, count, sizeof *rest);
    struct statements inner = *of;
    inner.within = of->levels[text->loop] | (uint32_t)1 << code->at[text->loop].integer;
    first[holds] = true;
    live_roots_close(code, first);
    for (value v = 0; v < code->count; v++) {
        first[v] = first[v] && text->values.body[v];
        rest[v] = !first[v] && text->values.body[v];
    }
    if (!loop_is_counted(code, text->loop)) {
        emit_statements(emitter, text->out, first, &inner);
        strbuf_printf(text->out, "        if (!%s)\n            break;\n",
                      emit_argument(emitter, text->loop, 1, LANE_BOOL));
    }
    emit_statements(emitter, text->out, rest, &inner);
}

/* ---- sums that several work-items share ---- */

static bool is_checked(const struct loop_text *text, const struct loop_sum *sum)
{
    return !sum->is_float && text->emitter->task->code.at[sum->addition].checked;
}

static void declare_sizes(const struct loop_text *text)
{
    for (size_t k = 0; k < text->sums->count; k++) {
        if (!text->sums->at[k].is_float)
            strbuf_printf(text->out, "        ulong w%" PRId32 "_%zu = 0, h%" PRId32 "_%zu = 0;\n", text->number,
                          text->sums->at[k].state, text->number, text->sums->at[k].state);
    }
}

/* Adds the sizes of terms: where their sum fits, no order of the terms fails. */
static void add_sizes(const struct loop_text *text)
{
    for (size_t k = 0; k < text->sums->count; k++) {
        const struct loop_sum *sum = &text->sums->at[k];
        if (is_checked(text, sum))
            strbuf_printf(text->out,
                          "        { const long term = %s; const ulong size = term < 0 ? 0 - as_ulong(term) : "
                          "as_ulong(term); w%" PRId32 "_%zu += size & 0xffffffffUL; h%" PRId32
                          "_%zu += size >> 32; }\n",
                          emit_argument(text->emitter, sum->addition, sum->term, LANE_I64), text->number, sum->state,
                          text->number, sum->state);
    }
}

static void join_sums(const struct loop_text *text)
{
    const int32_t n = text->number;
    for (size_t k = 0; k < text->sums->count; k++) {
        const struct loop_sum *sum = &text->sums->at[k];
        const size_t s = sum->state;
        if (sum->is_float) {
            strbuf_printf(text->out,
                          "        join_floats(joined, lane, team, &s%" PRId32 "_%zu, &s%" PRId32 "_%zu, &s%" PRId32
                          "_%zu, &s%" PRId32 "_%zu);\n",
                          n, s, n, s + 1, n, s + 2, n, s + 3);
            continue;
        }
        strbuf_printf(text->out,
                      "        { long sum = s%" PRId32 "_%zu; join_ints(joined, lane, team, &sum, &w%" PRId32
                      "_%zu, &h%" PRId32 "_%zu); s%" PRId32 "_%zu = (%s)sum; }\n",
                      n, s, n, s, n, s, n, s, lane_cl_type(lane_of(text, s)));
        if (is_checked(text, sum))
            strbuf_printf(text->out,
                          "        err1 |= h%" PRId32 "_%zu + (w%" PRId32 "_%zu >> 32) >= 0x80000000UL ? -1 : 0;\n", n,
                          s, n, s);
    }
}

/* One round: its values, and the states after it. */
static void emit_round(const struct loop_text *text, const struct statements *of, const char *at)
{
    const struct emitter *emitter = text->emitter;
    const struct code *code = &emitter->task->code;
    const int32_t number = text->number;
    open_round(text, at);
    emit_values_of_round(text, of);
    for (size_t k = 0; k < text->values.carry_count; k++) {
        if (text->values.carries[k].part == 0)
            strbuf_printf(text->out, "        const %s n%" PRId32 "_%zu = %s;\n", lane_cl_type(lane_of(text, k)),
                          number, k, emit_argument(emitter, carry_at(code, text->loop, k), 1, lane_of(text, k)));
    }
    for (size_t k = 0; k < text->values.carry_count; k++) {
        if (text->values.carries[k].part == 0)
            strbuf_printf(text->out, "        s%" PRId32 "_%zu = n%" PRId32 "_%zu;\n", number, k, number, k);
        else if (text->values.carries[k].part == 1)
            strbuf_printf(text->out,
                          "        add_float(&s%" PRId32 "_%zu, &s%" PRId32 "_%zu, &s%" PRId32 "_%zu, &s%" PRId32
                          "_%zu, %s);\n",
                          number, k, number, k + 1, number, k + 2, number, k + 3,
                          emit_argument(emitter, carry_at(code, text->loop, k), 1, LANE_F64));
    }
    if (text->terms == TERMS_TOGETHER)
        add_sizes(text);
}

/* All rounds. Some at once have no exit between them, so that what they read is loaded before it is waited for. */
static void emit_rounds(const struct loop_text *text, const struct statements *of)
{
    struct arena *arena = text->emitter->arena;
    struct strbuf *out = text->out;
    const int32_t at_once = rounds_at_once(text);
    const char *step = text->terms == TERMS_TOGETHER ? "team" : "1",
               *at = arena_printf(arena, "j%" PRId32, text->number),
               *last = arena_printf(arena, "n%" PRId32, text->number);
    if (at_once > 1) {
        strbuf_printf(out,
                      "        for (; %s <= %s && %s - %s >= %" PRId32 "UL * %s; %s += %" PRId32
                      "UL * %s) {\n        #pragma unroll\n        for (ulong u%" PRId32 " = 0; u%" PRId32 " < %" PRId32
                      "; ++u%" PRId32 ") {\n",
                      at, last, last, at, at_once - 1, step, at, at_once, step, text->number, text->number, at_once,
                      text->number);
        emit_round(text, of, arena_printf(arena, "%s + u%" PRId32 " * %s", at, text->number, step));
        strbuf_puts(out, "        }\n        }\n");
        strbuf_printf(out, "        for (; %s <= %s; %s += %s) {\n", at, last, at, step);
        emit_round(text, of, at);
        strbuf_puts(out, "        }\n");
        return;
    }
    /* The last index may be the last integer. */
    strbuf_printf(out, "        %sfor (;; %s += %s) {\n",
                  text->terms == TERMS_TOGETHER ? arena_printf(arena, "if (%s <= %s)\n        ", at, last) : "", at,
                  step);
    emit_round(text, of, at);
    strbuf_printf(out, "        if (%s - %s < %s)\n            break;\n        }\n", last, at, step);
}

void emit_loop(const struct emitter *emitter, struct strbuf *out, value loop, const struct statements *of)
{
    const struct code *code = &emitter->task->code;
    struct loop_text text = {.emitter = emitter, .out = out, .loop = loop, .number = emitter->numbers[loop]};
    loop_find_values(code, loop, of->levels, &text.values, emitter->arena);
    if (of->within == 0)
        text.terms = emitter->terms;
    if (text.terms == TERMS_TOGETHER) {
        text.sums = arena_alloc(emitter->arena, sizeof *text.sums);
        loop_sums_find(code, loop, of->levels, text.sums, emitter->arena);
        declare_sizes(&text);
    }
    for (size_t k = 0; k < text.values.carry_count; k++)
        strbuf_printf(out, "        %s s%" PRId32 "_%zu = %s;\n", lane_cl_type(lane_of(&text, k)), text.number, k,
                      emit_argument(emitter, carry_at(code, loop, k), 0, lane_of(&text, k)));
    open_range(&text);
    emit_rounds(&text, of);
    strbuf_puts(out, text.terms == TERMS_ALONE ? "        }\n        }\n" : "        }\n");
    if (text.terms == TERMS_TOGETHER)
        join_sums(&text);
}

void emit_final(const struct emitter *emitter, struct strbuf *out, value final)
{
    const struct code *code = &emitter->task->code;
    const struct instr *instr = &code->at[final];
    const char *type = lane_cl_type(instr->lane);
    const int32_t loop = emitter->numbers[instr->args[0]];
    strbuf_printf(out, "        const %s v%" PRId32 " = convert_%s(s%" PRId32 "_%" PRId64 ");\n", type,
                  emitter->numbers[final], type, loop, instr->offset);
}
