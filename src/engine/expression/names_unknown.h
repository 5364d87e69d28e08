/* Errors for unknown names, and names that were taken for something else. */
#ifndef RQL_ENGINE_EXPRESSION_NAMES_UNKNOWN_H
#define RQL_ENGINE_EXPRESSION_NAMES_UNKNOWN_H

#include "engine/expression/expression.h"

/* Names among which similar ones are suggested. */
struct candidates {
    const char **at;
    size_t count;
};
struct candidates candidates_new(struct arena *arena, size_t most);
void candidates_add_bindings(struct candidates *names, const struct env *env, enum binding_kind kind);

/* Records that there is no function of this name. */
void name_unknown_function(struct scope *scope, const struct name *name);

/* Records that there is no relation of this name; the hint says how to load a file of that name. */
void name_unknown_relation(struct binder *binder, const struct name *name);

/* Records that $NAME stands for nothing. */
void name_unknown_argument(struct binder *binder, const struct name *name, const char *argument);

/* Of a text that names a column of the flow: a hint how the column is written. NULL: it names none. */
const char *name_hint_of_text(const struct binder *binder, const struct expr *expr, const struct flow *flow);

#endif
