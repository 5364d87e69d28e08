/* Errors for unknown names, and names that were taken for something else. */
#ifndef RQL_ENGINE_EXPRESSION_NAMES_UNKNOWN_H
#define RQL_ENGINE_EXPRESSION_NAMES_UNKNOWN_H

#include "engine/expression/expression.h"

/* Names among which similar ones are suggested; borrowed. */
struct candidates {
    const char **at;
    size_t count;
};

/* Whether columns have paths that begin with the name: it stands for all of them where columns are named. */
bool name_is_struct(const struct flow *flow, const char *name);

/* Reports such a name where one value is needed. */
void name_is_several(struct scope *scope, const struct name *name);

/* An empty list with room for `most` names. */
struct candidates candidates_new(struct arena *arena, size_t most);

/* Adds the names of this kind of the environment, for which there must be room. */
void candidates_add_bindings(struct candidates *names, const struct env *env, enum binding_kind kind);

/* Adds the names of the flow's columns, for which there must be room. */
void candidates_add_columns(struct candidates *names, const struct flow *flow);

/* Records it if this is a column of a file that cannot be read. */
bool name_is_unreadable(struct scope *scope, const struct name *name);

/* Records that a name which is no value here means something else: a relation, unless it `may_be_column`, a function,
 * an aggregate that is not known yet, a word of another language, or a column of later stages. False: it means nothing.
 */
bool name_means_other(struct scope *scope, const struct name *name, bool may_be_column);

/* Records that there is no value of this name, and which ones are similar. */
void name_unknown_value(struct scope *scope, const struct name *name);

/* A hint that lists the columns, or says why there are none. NULL: nothing is to be said. */
const char *name_hint_of_columns(const struct scope *scope);

/* Records that there is no function of this name. */
void name_unknown_function(struct scope *scope, const struct name *name);

/* Records that there is no relation of this name; the hint says how to load a file of that name. */
void name_unknown_relation(struct binder *binder, const struct name *name);

/* Records that $NAME stands for nothing. */
void name_unknown_argument(struct binder *binder, const struct name *name, const char *argument);

/* A hint how to write a column, for a text that names one of the flow. NULL: it names none. */
const char *name_hint_of_text(const struct binder *binder, const struct expr *expr, const struct flow *flow);

#endif
