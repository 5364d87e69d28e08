/* Pipelines on tables of servers: the longest part from the source on that the server can run as one query. */
#ifndef RQL_ENGINE_BIND_BIND_REMOTE_H
#define RQL_ENGINE_BIND_BIND_REMOTE_H

#include "engine/bind/bind_internal.h"

/* Binds a pipeline as far as a server has to know it. */
typedef enum status bind_part(struct binder *binder, const struct bind_request *request, struct sources *sources,
                              struct bound *bound);

/* Has a server run what it can of the pipeline. *done: all of it, and `bound` is the value. Of a part, the
 * result, which is not read yet, takes the table's place as the source of request->pipeline, the rest; *narrowed:
 * errors of the rest say more if the pipeline is bound without the server. STATUS_UNABLE: something in it fails, of
 * which the pipeline without the server tells. */
enum status bind_remotely(struct binder *binder, struct bind_request *request, struct sources *sources, bind_part *bind,
                          struct bound *bound, bool *narrowed, bool *done);

/* Whether some are columns of a table that has to be read later: all at once, and which of them are needed is known
 * when the sources of joins have been evaluated. */
bool tables_wait(const struct binder *binder, const struct bind_request *request, const struct needed_column *needed,
                 size_t count);

/* remote_describe, by a binder. */
enum status remote_tell(struct binder *binder, const struct bind_request *request, bind_part *bind,
                        struct remote_description *description);

#endif
