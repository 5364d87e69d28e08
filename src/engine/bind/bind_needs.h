/* The columns of sources that a bound pipeline turns out to need, which are read between one binding and the next. */
#ifndef RQL_ENGINE_BIND_BIND_NEEDS_H
#define RQL_ENGINE_BIND_BIND_NEEDS_H

#include "engine/bind/bind_internal.h"

/* Reads columns and evaluates sources that the pipeline, bound (`binding` is STATUS_OK) or not, turns out to need; the
 * errors of that binding, those from `diags_before` on, are dropped if so. *done: it needs nothing more, and the status
 * is that of the binding; else, after STATUS_OK, it is bound again. */
enum status provide_columns(const struct binder *binder, const struct bind_request *request, struct sources *sources,
                            enum status binding, const struct bound *bound, size_t diags_before, bool *done);

#endif
