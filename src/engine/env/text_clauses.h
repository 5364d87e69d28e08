/* What a `load` states about a text file: types of columns, words for missing values, how it is written. */
#ifndef RQL_ENGINE_ENV_TEXT_CLAUSES_H
#define RQL_ENGINE_ENV_TEXT_CLAUSES_H

#include "base/diag.h"
#include "parser/ast.h"

struct text_options; /* engine/storage/text_options.h */

/* Sets *text, in the diags' arena, to what follows the path; leaves it if nothing does. */
enum status text_options_of(const struct path_item *item, const struct text_options **text, struct diags *diags);

#endif
