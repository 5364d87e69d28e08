/* Pipelines on tables of servers: the longest part from the source on that the server can run as one query. */
#ifndef RQL_ENGINE_SOURCE_BIND_REMOTE_H
#define RQL_ENGINE_SOURCE_BIND_REMOTE_H

#include "engine/bind/bind_internal.h"

/* What a server runs of a pipeline. */
struct remote_part {
    struct file_reader *reader;      /* of its result; NULL: nothing */
    size_t stages;                   /* the first ones */
    const struct pipeline *pipeline; /* of this one, in which a group is divided (split_group.h); NULL: as written */
    const char *refusal;             /* why not more, if that is known; or NULL */
    struct source_file **others;     /* tables that joins of these stages read */
    size_t other_count;
    struct source_file *file; /* the table; NULL: the source is none */
    bool unordered;           /* its rows can only be queried */
    const char *sent;         /* what goes up with the query; or NULL */
    struct bound bound;       /* of a value: the whole pipeline, with its queue released */
};

/* Finds the longest part, in the arena. The reader is the caller's. There is none if binder->needs has values, and if
 * needs->what is NEED_RELATIONS: rows that go up have to be evaluated first. */
const struct remote_part *remote_find(struct binder *binder);

/* Tells of it. */
enum status remote_describe(struct binder *binder, struct remote_description *description);

#endif
