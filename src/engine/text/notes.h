/* Lists in notes on a text file. */
#ifndef RQL_ENGINE_TEXT_NOTES_H
#define RQL_ENGINE_TEXT_NOTES_H

#include "base/strbuf.h"
#include "engine/text/table.h"

/* A list of at most eight parts. */
struct note_list {
    struct strbuf *out;
    size_t count;
    const char *separator; /* before the first */
};

/* Whether another part fits; writes what comes before it. */
bool note_next(struct note_list *list);

/* Notes in which ways columns with read[k] are read, and which are text since there are two. (note_ways.c) */
void note_ways(struct strbuf *out, const struct table *table, const bool *read, struct column *const *columns,
               struct arena *arena);

#endif
