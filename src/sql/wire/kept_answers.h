/* What servers have answered about tables, for the statement that asks again: when it runs after it was checked, or
 * for another pipeline of it. */
#ifndef RQL_SQL_WIRE_KEPT_ANSWERS_H
#define RQL_SQL_WIRE_KEPT_ANSWERS_H

#include "sql/wire/query.h"

struct kept_answers;

struct kept_answers *kept_answers_new(void);
void kept_answers_free(struct kept_answers *kept);

/* Sets *texts, with references of its own; false: there is no answer, or it is too old. */
bool kept_answers_find(const struct kept_answers *kept, const char *key, struct query_texts *texts);
void kept_answers_add(struct kept_answers *kept, const char *key, const struct query_texts *texts);

/* The end of a statement: the next one asks anew. */
void kept_answers_forget(struct kept_answers *kept);

#endif
