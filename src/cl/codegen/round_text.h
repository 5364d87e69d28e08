/* Kernels of the rounds of a loop, which the host enqueues in batches without synchronising between rounds. They have
 * the number of the round as a parameter, from 1 on within a batch, and a flag says where the batch has ended: 0: not
 * yet; r > 0: a value may have failed in round r; -r < 0: the rounds before r are done, and the loop's condition ends
 * it there. Kernels of later rounds return at once; those of round r continue, so that control flow is uniform within a
 * work-group. */
#ifndef RQL_CL_CODEGEN_ROUND_TEXT_H
#define RQL_CL_CODEGEN_ROUND_TEXT_H

#include "cl/codegen/accumulate.h"

struct kernel_round {
    bool stops;      /* output 0 of the task, of one row, is a condition: */
    bool before;     /* that a round begins; else, that this one was the last */
    int64_t rows;    /* of the task */
    size_t validity; /* the output that says whether it is known, else it does not hold; 0: it is */
    /* Of tasks with aggregates: */
    const struct task *elements; /* the task whose outputs they are: of SINK_ROWS with aggregates, another one */
    const enum type *stores;     /* of these outputs */
    const struct emitter *tail;  /* what is then computed of the elements, whose output 0 is the condition; or NULL */
};

extern const char round_parameter[], round_begin[], round_failed[];

/* A program whose kernel `convert` writes elements of one of OpenCL's types as another: input, its first element,
 * output, its first element, rows. */
const char *round_convert(const char *from, const char *to, struct arena *arena);

/* Appends the statement that sets the flag, if the condition says so. The texts are the elements; `validity` or NULL.
 */
void round_stop(const struct kernel_round *round, const char *condition, const char *validity, struct strbuf *out);

/* Appends the kernel `combine` of an aggregating task (accumulators_combine_alone): parameters are the needed elements
 * (pointer, first element), slots, the groups that wrote them, rows; of the tail columns, literals and the number of
 * the first row; flag, round. */
void round_combine(const struct accumulators *accumulators, const struct emitter *emitter,
                   const struct kernel_round *round, const struct kernel_config *config, struct strbuf *out);

#endif
