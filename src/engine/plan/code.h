/* Expressions as typed code in SSA form: a list of instructions, each naming earlier ones as its arguments.
 *
 * Built by the binder, joined by fusion, annotated by range analysis, read by the evaluators and the kernel
 * generator. Equal instructions are one (common subexpressions are computed once); constants are folded as they are
 * added, unless folding would fail: 5 / 0 stays and fails only for a row that needs it. */
#ifndef RQL_ENGINE_PLAN_CODE_H
#define RQL_ENGINE_PLAN_CODE_H

#include "base/arena.h"
#include "base/source.h"
#include "base/strbuf.h"
#include "engine/values/logical_type.h"
#include "engine/values/types.h"

enum op {
#define OP(name, arity, result, can_fail, text) OP_##name,
#include "engine/plan/ops.def"
#undef OP
    OP_COUNT
};

/* The kind of an operation's result: that of its arguments (of ?: its branches), or fixed. */
enum op_result { OP_RESULT_SAME, OP_RESULT_BOOL, OP_RESULT_INT, OP_RESULT_FLOAT };

struct op_info {
    const char *name; /* "ADD" */
    int arity;
    enum op_result result;
    bool can_fail; /* unless the result is a float (GATHER: always) */
    const char *text;
};
extern const struct op_info op_table[OP_COUNT];

/* An instruction's number within its code; NO_VALUE for none. */
typedef int32_t value;
enum { NO_VALUE = -1 };

/* The machine type a value is computed in, decided by range analysis: narrow when the range proves it is enough. */
enum lane { LANE_BOOL, LANE_I32, LANE_I64, LANE_F64 };

struct border; /* border.h */

struct instr {
    enum op op;
    enum kind kind;
    value args[3];   /* NO_VALUE beyond the arity */
    int64_t integer; /* CONST of int or bool; INPUT and GATHER: which input; FOLD: an enum aggregate_kind; COUNTER,
                        STATE, LOOP: the loop's level; TEXT: which text_application of the queue */
    int64_t
        offset; /* STATE and FINAL: the state's number. INPUT: reads the element `offset` rows further; 0 (of its kind)
                   beyond the ends of the column. A SELECT on the bounds excludes elements beyond the task's own rows */
    double number; /* CONST of float */
    bool exact;    /* CONST: part of the query's shape (a generator's step), not a literal that may change. GATHER: the
                      position is inside of the input. FOLD: its values are added to those of the fold around it */
    bool fallible; /* it, or something it is computed from, can fail */
    const struct border *border; /* NEAR */
    struct span span;            /* for errors */
    int64_t shift;               /* row offset: fusion computes a neighbour's value where it is read */

    /* Filled in by range analysis (engine/optimize); until then the widest lane and every operation that can fail
     * checked. */
    enum lane lane;
    bool checked;   /* may fail for some arguments: evaluators must check */
    int64_t lo, hi; /* integers: the result's interval, if it did not fail */
    value guard;    /* checked only: fails the query only where this is true; NO_VALUE: always. May be a later
                       instruction */
};

struct code {
    struct arena *arena;
    struct instr *at;
    int32_t count;
    int32_t capacity;
    value *buckets; /* hash table of instructions, for sharing */
    int32_t bucket_count;
};

/* Empty code, whose memory is the arena's. */
void code_init(struct code *code, struct arena *arena);

/* Copies all instructions: changing or adding to the copy leaves `from` as it is. */
void code_clone(struct code *to, const struct code *from, struct arena *arena);

/* Each of these adds an instruction, or finds an equal one, and returns its value. `span` is what errors point at. */

/* A literal, which is an argument of compiled programs: another number gives the same program. */
value code_int(struct code *code, int64_t integer, struct span span);
/* An integer that is part of the program, such as a generator's step. */
value code_exact_int(struct code *code, int64_t integer, struct span span);
value code_bool(struct code *code, bool truth, struct span span);
value code_float(struct code *code, double number, struct span span);
/* The element of input number `input` in the task's own row, or `offset` rows further on. */
value code_input(struct code *code, int64_t input, enum kind kind, struct span span);
/* Offsets are clamped to a distance beyond any column. */
value code_input_at(struct code *code, int64_t input, int64_t offset, enum kind kind, struct span span);
/* The number of the row, from 0, and how many rows the task reads. */
value code_row(struct code *code, struct span span);
value code_rows(struct code *code, struct span span);
/* An element of a whole input; fails for positions outside of it. */
value code_gather(struct code *code, int64_t input, enum kind kind, value position, struct span span);

/* An element of a whole input at a position that is known to be inside of it: cannot fail. */
value code_lookup(struct code *code, int64_t input, enum kind kind, value position, struct span span);

/* Adds an operation on earlier values, of the kinds that ops.def asks for, or finds an equal one. Arguments beyond the
 * arity are NO_VALUE. Folds constants, and identities that hold for all arguments, failing ones included (!!x, b &&
 * true, ...: const_fold.h). */
value code_op(struct code *code, enum op op, value a, value b, value c, struct span span);
static inline value code_unary(struct code *code, enum op op, value a, struct span span)
{
    return code_op(code, op, a, NO_VALUE, NO_VALUE, span);
}
static inline value code_binary(struct code *code, enum op op, value a, value b, struct span span)
{
    return code_op(code, op, a, b, NO_VALUE, span);
}
/* With an integer that is part of the program. */
static inline value code_with(struct code *code, enum op op, value a, int64_t b, struct span span)
{
    return code_binary(code, op, a, code_exact_int(code, b, span), span);
}

/* Adds an instruction with these fields, its arguments' kinds unchecked, or finds an equal one. For code_loop.h. */
value code_add(struct code *code, const struct instr *fields);

/* After instructions have been moved: finds equal ones again. */
void code_rehash(struct code *code);

/* Adds to `code` what `from` computes as `root`, with INPUT k replaced by inputs[k] and ROW by `row` (NO_VALUE: ROW
 * stays). `map` has from->count entries, NO_VALUE where not copied yet, and is kept between calls: what is to become
 * something else can be put there before. An INPUT at an offset needs that, or an INPUT as its inputs[k]; a GATHER's
 * inputs[k] is the INPUT of its new number. With `inputs` NULL, and all INPUTs in the map, GATHERs stay. `from` may be
 * `code` itself. */
value code_inline(struct code *code, const struct code *from, value root, const value *inputs, value row, value *map);

/* A map for code_inline, with nothing copied yet. */
value *code_map(struct arena *arena, const struct code *from);

bool code_is_const(const struct code *code, value v);

/* Whether it is an element of an input. */
static inline bool reads_input(const struct instr *instr)
{
    return instr->op == OP_INPUT || instr->op == OP_GATHER;
}

/* Whether the operation itself, not its arguments, can fail. */
bool code_can_fail(const struct instr *instr);

/* Marks in `live` (count entries) the root and everything it is computed from. */
void code_mark(const struct code *code, value root, bool *live);

/* Marks what the roots, marked in `live`, are computed from, in one pass. */
void code_mark_all(const struct code *code, bool *live);

/* Whether some marked instruction is checked. */
bool code_any_checked(const struct code *code, const bool *marks);

/* One operation on constants; false if it has no result (overflow, division by zero, ...) or is not an operation on
 * integers and bools. The single definition of integer arithmetic: folding and both evaluators use it. SELECT, with
 * its three arguments, is not among them. */
bool int_op(enum op op, int64_t a, int64_t b, int64_t *result);

/* One operation on floats with a float result; operations of one argument ignore b. min(a, b) is
 * `a < b || isnan(b) ? a : b`, max likewise: NaN loses. */
double float_op(enum op op, double a, double b);

/* EQ, NE, LT and LE of floats, as IEEE 754 has them. */
bool float_compare(enum op op, double a, double b);

int compare_int_float(int64_t a, double b);        /* -1, 0, 1; 2 if b is NaN */
int64_t float_bits(double number);                 /* those of 0.0 for -0.0, and the same ones for every NaN */
bool float_to_int(double number, int64_t *result); /* truncates; false for NaN and beyond 64 bits */

/* An expression as the user might have written it, with inputs by name: for explain. Long ones are cut with an
 * ellipsis (what is shared is printed wherever it is read, so the whole may be very long). */
void code_print(struct strbuf *out, const struct code *code, value root, const char *const *input_names);

/* The same text, with constants written as what they stand for, as far as the logical types of the inputs (`logicals`)
 * and of the whole tell: "AAPL", 2024-01-31. */
void code_print_as(struct strbuf *out, const struct code *code, value root, const char *const *input_names,
                   const struct logical_type *logicals, struct logical_type as);

/* What operand `i` of a comparison stands for, as far as that is seen. */
struct logical_type code_operand_logical(const struct code *code, const struct instr *comparison, int i,
                                         const struct logical_type *logicals);

/* The instructions marked in `live`, one a line, with lanes, ranges, checks and guards. */
void code_list(struct strbuf *out, const struct code *code, const bool *live, const char *const *input_names);

#endif
