/* What has been named: let relations and scalars, def functions, the last result. */
#ifndef RQL_ENGINE_BIND_ENV_H
#define RQL_ENGINE_BIND_ENV_H

#include "engine/formats/file_cache.h"
#include "engine/storage/column.h"
#include "parser/ast.h"

enum binding_kind { BINDING_SCALAR, BINDING_RELATION, BINDING_FUNCTION };

struct binding {
    char *name;
    enum binding_kind kind;
    struct scalar scalar;
    struct relation *relation;
    /* A function: its definition, whose tree and text live as long as the environment (see env_define). */
    const struct stmt *function;
    /* In a check before running: the value is not known yet, only its kind or columns. A relation's columns then have
     * no data and its row count is -1. */
    bool unknown;
};

/* The name that the last result has at the prompt. */
#define ENV_LAST "_"

/* What the command line says a name stands for, as it was written. */
struct argument {
    char *name;
    char *text;
};

struct env {
    struct binding *bindings;
    size_t count, capacity;
    struct relation *last; /* the last successful relation at the prompt, or NULL */
    bool keeps_last;       /* results are named ENV_LAST */
    bool files_settled;    /* in a check before running: no statement so far makes files, so what is missing stays so */
    struct argument *arguments;
    size_t argument_count;
    struct file_cache *file_cache;
};

struct env *env_new(struct file_cache *file_cache);
void env_free(struct env *env);
struct env *env_copy(const struct env *env); /* for checking a script before running it; shares relations */

struct binding *env_find(const struct env *env, const char *name);
void env_set_scalar(struct env *env, const char *name, struct scalar scalar);
void env_set_relation(struct env *env, const char *name, struct relation *relation); /* takes a reference */
void env_set_function(struct env *env, const char *name, const struct stmt *def);    /* tree must outlive env */
/* In a check before running: a binding of which only the kind is known. The caller fills in the scalar's kind, or the
 * columns if they are known; a relation without any may also be a scalar. */
struct binding *env_set_unknown(struct env *env, const char *name, enum binding_kind kind);
/* An argument's text, by its name of so many bytes; NULL if there is none such. */
void env_set_argument(struct env *env, const char *name, const char *text);
const char *env_argument(const struct env *env, const char *name, size_t length);

bool env_drop(struct env *env, const char *name);
/* What a line that begins with `|` goes on from. Takes a reference; NULL clears. */
void env_set_last(struct env *env, struct relation *relation);

#endif
