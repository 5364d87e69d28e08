/* Diagnostics: errors and notes with a place in the query.
 *
 * The one error idiom: a function that can fail returns an enum status; unless that is STATUS_OK, it has added at least
 * one record to the struct diags it was given. The shell renders them. */
#ifndef RQL_BASE_DIAG_H
#define RQL_BASE_DIAG_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK,
    STATUS_FAILED,    /* the query is wrong or cannot be run; an error was recorded */
    STATUS_CANCELLED, /* the user interrupted; nothing was recorded */
    STATUS_UNABLE     /* this backend cannot run it, another may; a note was recorded */
};

enum severity { SEVERITY_ERROR, SEVERITY_NOTE };

struct diag {
    enum severity severity;
    struct span span;   /* what the message refers to; may be empty */
    struct span second; /* a second place with its label; may be empty */
    const char *label;
    const char *message;   /* one sentence without a final full stop */
    const char *hint;      /* what to do about it, or NULL */
    struct span statement; /* of an error of syntax: the whole statement; may be empty */
    bool of_rows;          /* a value in a row is at fault, not how the query is written */
    bool of_memory;        /* there was not enough */
};

/* A list of diagnostics; records and texts live in `arena`. */
struct diags {
    struct arena *arena;
    struct diag *at;
    size_t count;
    size_t capacity;
};

void diags_init(struct diags *diags, struct arena *arena);

/* Records an error. Returns STATUS_FAILED, so callers can `return diag_error(...)`. */
enum status diag_error(struct diags *diags, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a hint. */
enum status diag_error_hint(struct diags *diags, struct span span, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* An error of lack of memory. At the end of the statement it is told why nothing was spilled (memory_limit.h). */
enum status diag_no_memory(struct diags *diags, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records a note. */
void diag_note(struct diags *diags, struct span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a hint or a second place to the last record. A hint returns STATUS_FAILED, for one that is an error. */
enum status diag_hint(struct diags *diags, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_second(struct diags *diags, struct span span, const char *label);

/* Appends a copy of a record of another list. */
void diags_add(struct diags *into, const struct diag *diag);

/* Appends the records of another list in the same arena. */
void diags_append(struct diags *into, const struct diags *from);

/* Appends copies of the errors, not the notes, of another list. */
void diags_add_errors(struct diags *into, const struct diags *from);

/* Drops the last record if an equal one precedes it, so a backend's reason is noted once. */
void diags_drop_repeated_note(struct diags *diags);

bool diags_have_errors(const struct diags *diags);

/* Whether `name` is the beginning of `longer` or of one of its words, as `tip` and `amount` of `tip_amount`. */
bool name_abbreviates(const char *name, const char *longer);

/* Whether `name` is made of letters of one word of `longer`, in order and with the first, as `amt` of `amounts`. */
bool name_shortens(const char *name, const char *longer);

/* Whether `shorter` has the same first letter as `longer` and its letters occur there in order, in any case. */
bool name_has_letters(const char *longer, const char *shorter);

/* Writes at most `max` of the candidates similar to `name` to `nearest`, best first, and returns their number. Similar:
 * an edit distance of at most a third of the name's length (at least 1) from it or one of its words, an abbreviation,
 * or letters. */
size_t nearest_names(const char *name, const char *const *candidates, size_t count, const char **nearest, size_t max);

/* "; did you mean `amounts` or `amount`?" for the candidates similar to `name`, or "": the end of a message. */
const char *did_you_mean(struct arena *arena, const char *name, const char *const *candidates, size_t count);

#endif
