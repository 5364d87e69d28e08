/* Reductions along an axis of a shape: a row's group is a function of its number, so no keys are read. Measured, Xeon
 * with two threads, 10^7 elements: along rows 10 to 15 times as fast as a group, floats along columns 1.8 to 3.8 times;
 * EPYC: integers along columns 3.6 to 6 times. */
#ifndef RQL_ENGINE_OPERATORS_AXIS_REDUCTION_H
#define RQL_ENGINE_OPERATORS_AXIS_REDUCTION_H

#include "engine/operators/operator.h"

/* Whether the job is such a group, of one aggregate of a kind supported here, without its keys. */
bool axis_supports(const struct operator_job *job);

/* Reserves and fills the result's column, job->results[1]. *flagged: a value may have failed, and the column is
 * invalid. STATUS_FAILED,
 * without an error: not enough memory. */
enum status axis_run(const struct operator_job *job, const struct workers *workers, _Atomic bool *flagged);

#endif
