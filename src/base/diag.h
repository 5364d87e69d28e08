/* What is told to the user: errors and notes, as records with a place in the query.
 *
 * The one error idiom: a function that can fail returns an enum status and, unless it is STATUS_OK, has added
 * at least one record to the struct diags it was given. Rendering is the shell's business. */
#ifndef RQL_BASE_DIAG_H
#define RQL_BASE_DIAG_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK,
    STATUS_FAILED,    /* the query is at fault or cannot be done; an error was recorded */
    STATUS_CANCELLED, /* the user interrupted; nothing needs to be said */
    STATUS_UNABLE     /* this device cannot do it, another engine may; a note was recorded */
};

enum severity { SEVERITY_ERROR, SEVERITY_NOTE };

struct diag {
    enum severity severity;
    struct span span;   /* what it is about; may be empty */
    struct span second; /* another place worth showing, with its label; may be empty */
    const char *label;
    const char *message; /* one sentence without a full stop */
    const char *hint;    /* what to do about it, or NULL */
};

/* Records and their text live in `arena`. */
struct diags {
    struct arena *arena;
    struct diag *at;
    size_t count;
    size_t capacity;
};

void diags_init(struct diags *diags, struct arena *arena);

/* Records an error and returns STATUS_FAILED, so that callers can `return diag_error(...)`. */
enum status diag_error(struct diags *diags, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records a note. */
void diag_note(struct diags *diags, struct span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a hint, or a second place, to the record made last. */
void diag_hint(struct diags *diags, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_second(struct diags *diags, struct span span, const char *label);

/* Adds a copy of a record of another list. */
void diags_add(struct diags *into, const struct diag *diag);

/* Adds copies of the errors, not the notes, of another list. */
void diags_add_errors(struct diags *into, const struct diags *from);

/* Forgets the note made last if it was made before: one is told once why a device cannot do something. */
void diags_drop_repeated_note(struct diags *diags);

bool diags_have_errors(const struct diags *diags);

/* The candidates nearest to `name` (edit distance at most a third of its length, at least 1; abbreviations count
 * as near), best first, at most `max`; returns how many were written to `nearest`. */
size_t nearest_names(const char *name, const char *const *candidates, size_t count, const char **nearest, size_t max);

#endif
