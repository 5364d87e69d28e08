/* The order of stages: rows are chosen before texts are made of them. */
#ifndef RQL_ENGINE_BIND_STAGE_ORDER_H
#define RQL_ENGINE_BIND_STAGE_ORDER_H

#include "engine/env/env.h"
#include "parser/ast.h"

/* The pipeline with each stage that chooses or orders rows (`select n > 5`, `top 10 by n`, `take 10`) before stages
 * that make texts of each row, where it reads nothing that they make and they look at no other rows: texts of rows that
 * are left out are then not made. The pipeline itself if nothing moves. */
const struct pipeline *rows_before_texts(const struct env *env, const struct pipeline *pipeline, struct arena *arena);

#endif
