/* Sources of pipelines and stages. */
#ifndef RQL_ENGINE_SOURCE_BIND_SOURCE_H
#define RQL_ENGINE_SOURCE_BIND_SOURCE_H

#include "engine/expression/evaluated.h"

/* Binds a source of a pipeline or of a stage. Always fills in `flow`. */
void bind_source(struct binder *binder, const struct source_node *source, struct flow *flow);
/* The same source, without the rows in which its only column is missing. */
void bind_members(struct binder *binder, const struct source_node *source, struct flow *flow);
/* The columns of what `describe` says, behind those of its keys, whose values are unknown until that is evaluated. */
void bind_description(struct binder *binder, const struct stage *stage, const struct evaluated *evaluated,
                      const struct slot *keys, struct flow *flow);

/* What was evaluated, columns of these slots, as the stage's result. */
void bind_evaluated(struct binder *binder, const struct stage *stage, const struct evaluated *evaluated,
                    const struct slot *slots, size_t count, struct flow *flow);

#endif
