/* Pipelines on tables of servers: the longest part from the source on that the server can run as one query. */
#ifndef RQL_ENGINE_BIND_BIND_REMOTE_H
#define RQL_ENGINE_BIND_BIND_REMOTE_H

#include "engine/bind/bind_internal.h"

/* Binds a pipeline as far as a server has to know it. */
typedef enum status bind_part(struct binder *binder, const struct bind_request *request, struct sources *sources,
                              struct bound *bound);

/* What a server runs of a pipeline. */
struct remote_part {
    struct file_reader *reader; /* of its result; NULL: nothing */
    size_t stages;              /* the first ones */
    const char *refusal;        /* why not more, if that is known; or NULL */
    struct source_file *file;   /* the table */
    struct bound bound;         /* of a value: the whole pipeline, with its queue released */
};

/* Finds the longest part. The reader is the caller's. */
struct remote_part remote_find(struct binder *binder, const struct bind_request *request, struct sources *sources,
                               bind_part *bind);

/* Has the rest of the pipeline, which becomes request->pipeline, read the part's result, which is not read yet, instead
 * of the table. The file cache takes the reader over. */
enum status remote_replace(struct binder *binder, struct bind_request *request, struct sources *sources,
                           const struct remote_part *part);

/* Runs a part that is a value: the result of the pipeline, as a constant. */
enum status remote_value(struct binder *binder, const struct bind_request *request, const struct remote_part *part,
                         struct bound *bound);

#endif
