/* The exact evaluator: the authority on what a query means.
 *
 * Runs a fused queue row by row and lazily: a value is computed only when something reads it, so exactly the failures
 * that matter are found, in the order of rows. Slow; used when a backend raised its conservative flag. */
#ifndef RQL_ENGINE_EXACT_EXACT_H
#define RQL_ENGINE_EXACT_EXACT_H

#include "engine/backend/backend.h"

struct result; /* result.h */

/* The result of the queue, or its error: the failing operation's span, its stage and the smallest failing 0-based row.
 */
enum status exact_run(const struct queue *fused, struct result *result, const atomic_int *cancel, struct diags *diags);

/* The value of code without inputs (a let expression, take's argument); stage names it in errors. */
enum status exact_constant(const struct code *code, value root, struct scalar *result, struct diags *diags);

#endif
