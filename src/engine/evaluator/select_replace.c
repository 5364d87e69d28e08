#include "engine/evaluator/select_replace.h"

/* Whether a step that reads the value may write its result over it: nothing else does, and its vector is no other's. */
static bool may_overwrite(const struct builder *b, value v, reg vector)
{
    int32_t s = b->in_loop || !b->read_once[v] ? 0 : b->program->step_count;
    while (s > 0 && b->program->steps[s - 1].out != vector)
        s--;
    const struct step *step = s > 0 ? &b->program->steps[s - 1] : NULL;
    return step && step->dense && !step->border && step->progression.by == 0;
}

void select_replace(struct builder *b, const struct instr *instr, enum lane lane, struct step *step)
{
    for (int i = 1; i <= 2 && step->out == NO_REGISTER; i++) {
        if (!may_overwrite(b, instr->args[i], step->args[i]))
            continue;
        step->out = step->args[i];
        step->args[2] = step->args[3 - i];
        step->args[1] = NO_REGISTER;
        step->dense = vector_replace(lane, i == 2);
        b->of[b->scope][lane][instr->args[i]] = NO_REGISTER; /* guards, which read it later, compute it anew */
    }
}
