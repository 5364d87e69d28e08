/* Sources whose rows go up with a query of a server: those of joins and of `x in (SOURCE)` that are no tables there.
 * They are evaluated here (evaluated.h) once it is known that the server can run what reads them. */
#ifndef RQL_ENGINE_SOURCE_BIND_SENT_H
#define RQL_ENGINE_SOURCE_BIND_SENT_H

#include "engine/bind/bind_internal.h"
#include "engine/formats/open_file.h"

struct sent_source {
    const struct source_node *node;
    struct flow flow; /* as it was bound, for the names and types of its columns */
    struct sent_rows rows;
    struct table_columns from;
    struct column **columns; /* that stand for its own, one reference each */
};

struct sent_sources {
    struct sent_source *at;
    size_t count, capacity;
};

/* Adds a source. False: its columns are not known, or cannot be sent. */
bool sent_add(struct binder *binder, const struct source_node *node, struct sent_sources *sent);

/* NULL: its rows do not go up. `sent` NULL: none do. */
const struct sent_source *sent_find(const struct sent_sources *sent, const struct source_node *node);

/* Makes the columns that stand for theirs, and links them into the list that begins with `first`. */
void sent_stand_in(const struct binder *binder, const struct sent_sources *sent, struct table_columns *first);
void sent_release(const struct sent_sources *sent);

/* What is to be done once the query is known that reads them. */
enum sent_state {
    SENT_READY,
    SENT_LACKS,    /* they have to be evaluated first: that is requested */
    SENT_TOO_LARGE /* *refusal says what */
};
enum sent_state sent_check(struct binder *binder, const struct sent_sources *sent, const char **refusal);

/* What goes up, a line for each; NULL: nothing. */
const char *sent_description(const struct binder *binder, const struct sent_sources *sent);

/* Whether the file is one that only such a source names. */
bool sent_reads(const struct sent_sources *sent, const struct source_file *file);

#endif
