#include "engine/evaluator/compile.h"

#include "base/integer.h"
#include "engine/plan/border.h"

enum { DEEPEST = 6 }; /* operations on row numbers; both arguments are looked at */

/* A position in the first row and in the last one: those between are at equal distances. */
struct ends {
    int64_t first, last;
};

/* Whether the position moves by the same number from each row to the next, and nothing that it is computed of fails. */
static bool is_progression(const struct builder *b, value v, int depth, struct ends *ends)
{
    const struct instr *instr = &b->code->at[v];
    const int64_t rows = b->program->job->rows;
    struct ends a, c = {0, 0};
    switch (instr->op) {
    case OP_CONST:
        *ends = (struct ends){instr->integer, instr->integer};
        return true;
    case OP_ROWS:
        *ends = (struct ends){rows, rows};
        return true;
    case OP_ROW:
        *ends = (struct ends){0, rows - 1};
        return true;
    case OP_NEG:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        return depth > 0 && instr->kind == KIND_INT && is_progression(b, instr->args[0], depth - 1, &a) &&
               (instr->op == OP_NEG || is_progression(b, instr->args[1], depth - 1, &c)) &&
               (instr->op != OP_MUL || a.first == a.last || c.first == c.last) &&
               int_op(instr->op, a.first, c.first, &ends->first) && int_op(instr->op, a.last, c.last, &ends->last);
    default:
        return false;
    }
}

/* A GATHER at positions that are all inside, of rows that are not selected: else they may be few. */
static bool find_progression(const struct builder *b, value v, struct step *step)
{
    const int64_t rows = b->program->job->rows;
    const struct column *whole = b->program->job->columns[b->code->at[v].integer];
    struct ends ends;
    if (rows < 2 || builder_selects(b) || !is_progression(b, b->code->at[v].args[0], DEEPEST, &ends) ||
        ends.first == ends.last || min_int64(ends.first, ends.last) < 0 ||
        max_int64(ends.first, ends.last) >= whole->rows)
        return false;
    step->progression = (struct progression){.first = ends.first, .by = (ends.last - ends.first) / (rows - 1)};
    return true;
}

/* A GATHER of the row's neighbour beyond or within the ends of a shape. */
static bool find_neighbour(const struct builder *b, value v, struct step *step)
{
    const struct instr *instr = &b->code->at[v];
    const struct job *job = b->program->job;
    int64_t rows;
    if (!instr->exact)
        return false;
    step->border = border_of_position(b->code, instr->args[0], &step->first, &rows);
    return step->border && job->columns[instr->integer]->rows == (rows < 0 ? job->rows : rows);
}

bool gather_order(const struct builder *b, value v, struct step *step)
{
    return b->code->at[v].op == OP_GATHER && !b->in_loop &&
           (find_neighbour(b, v, step) || find_progression(b, v, step));
}
