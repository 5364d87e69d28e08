/* Having a server run what it can of a pipeline. */
#ifndef RQL_ENGINE_RUN_ASK_SERVER_H
#define RQL_ENGINE_RUN_ASK_SERVER_H

#include "engine/bind/bind_remote.h"

/* Asks for the part, and closes its reader or has it adopted. Of a value, which is the whole pipeline, facts->answer is
 * set. Rows, which are not read yet, take the table's place as the source of facts->rest. STATUS_UNABLE: something in
 * the part fails, of which the pipeline without the server tells. */
enum status ask_server(struct facts *facts, const struct remote_part *part, struct arena *arena, struct diags *diags);

#endif
