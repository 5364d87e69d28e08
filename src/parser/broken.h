/* What a statement with an error of syntax would have defined, so that its name is not reported again where it is used.
 */
#ifndef RQL_PARSER_BROKEN_H
#define RQL_PARSER_BROKEN_H

#include "base/arena.h"
#include "base/source.h"

#include <stdbool.h>

struct broken_definition {
    const char *name; /* in the arena */
    bool is_def;      /* else it is a `let` */
    bool is_stage;    /* of a `def` */
};

/* Whether the statement begins as a definition, by `let NAME` or `def NAME`, and not as a `let` within an expression.
 */
bool broken_definition(struct span statement, struct arena *arena, struct broken_definition *broken);

#endif
