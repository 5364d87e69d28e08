/* Sources of pipelines and stages. */
#ifndef RQL_ENGINE_BIND_BIND_SOURCE_H
#define RQL_ENGINE_BIND_BIND_SOURCE_H

#include "engine/expression/expression.h"

/* Binds a source of a pipeline or of a stage. Always fills in `flow`. */
void bind_source(struct binder *binder, const struct source_node *source, struct flow *flow);
/* The same, without the rows where its only column has no value. */
void bind_members(struct binder *binder, const struct source_node *source, struct flow *flow);

#endif
