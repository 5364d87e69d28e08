/* The environment: names of `let` and `def`, arguments of the command line, the last result; and in a check, the files
 * that the statements so far may make when they run (made_files.c). */
#ifndef RQL_ENGINE_ENV_ENV_H
#define RQL_ENGINE_ENV_ENV_H

#include "base/diag.h"
#include "engine/formats/file_cache.h"
#include "engine/storage/column.h"
#include "engine/storage/kept.h"
#include "parser/ast.h"

#include <stdbool.h>
#include <stddef.h>

struct made_files {
    char **paths; /* absolute; malloc'd */
    size_t count, capacity;
};

void made_files_add(struct made_files *made, const char *path);
void made_files_free(struct made_files *made);

/* Whether the path, a folder or a pattern may then stand for other files than now. */
bool made_files_have(const struct made_files *made, const char *path);

/* The environment. */

enum binding_kind { BINDING_SCALAR, BINDING_RELATION, BINDING_FUNCTION, BINDING_STAGE };

struct binding {
    char *name;
    enum binding_kind kind;
    struct scalar scalar; /* its text is the binding's own */
    struct relation *relation;
    /* The definition of a function or stage. Its tree and text live as long as the environment. */
    const struct stmt *function;
    /* During a check only the kind or the columns may be known. The columns then have no data, and the row count is -1.
     */
    bool unknown;
};

/* The name of the last result at the prompt. */
#define ENV_LAST "_"

/* An argument of the command line, its text as written. */
struct argument {
    char *name;
    char *text;
};

struct env {
    struct binding *bindings;
    size_t count, capacity;
    struct relation *last; /* the last successful relation at the prompt, or NULL */
    bool keeps_last;       /* results are named ENV_LAST */
    bool ends;             /* no statement follows: what is read need not be kept */
    bool abbreviates;      /* at the prompt: abbreviations of column names are taken, and told */
    /* Whether a check opens files, but for those that earlier statements may make. Otherwise a check opens nothing. */
    bool opens_files;
    bool peeks;          /* for completion: a check that opens no files reads their beginnings, to know their columns */
    struct diags *heard; /* takes the notes about files that a preview reads; NULL: they are lost */
    struct made_files made;
    struct argument *arguments;
    size_t argument_count;
    struct file_cache *file_cache;
    struct kept *kept; /* what was made of columns; or NULL. Borrowed */
};

struct env *env_new(struct file_cache *file_cache);
void env_free(struct env *env);
const atomic_int *env_cancel(const struct env *env); /* non-zero when the user interrupts; may be NULL */
struct env *env_copy(const struct env *env);         /* for a check; shares relations */

struct binding *env_find(const struct env *env, const char *name);
void env_set_scalar(struct env *env, const char *name, struct scalar scalar);
void env_set_relation(struct env *env, const char *name, struct relation *relation); /* adds a reference */
void env_set_definition(struct env *env, const struct stmt *def);                    /* the tree must outlive env */
/* In a check: binds a name of which only the kind is known. The caller sets the scalar's kind, or the columns if known;
 * a relation without columns may turn out to be a scalar. */
struct binding *env_set_unknown(struct env *env, const char *name, enum binding_kind kind);
/* An argument's text by its name, `length` bytes long; NULL if there is none. */
void env_set_argument(struct env *env, const char *name, const char *text);
const char *env_argument(const struct env *env, const char *name, size_t length);

bool env_drop(struct env *env, const char *name);
/* Sets the relation that a line beginning with `|` continues from; adds a reference. NULL clears it. */
void env_set_last(struct env *env, struct relation *relation);

/* If the column is unread, replaces it, with its reference, by the one that it stands for; if it is text without an
 * order, by one with it. */
enum status read_column(const struct env *env, struct column **column, struct span span, struct diags *diags);

/* Replaces a leading `$NAME` by the command line's argument, and then a leading `~` by the home directory. *meant has
 * the same span. Fails if there is no such argument. */
enum status path_substitute(const struct env *env, const struct name *written, struct arena *arena, struct name *meant,
                            struct diags *diags);

#endif
