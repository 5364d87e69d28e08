/* An open object: what fills its mapping. */
#ifndef RQL_ENGINE_REMOTE_OBJECT_H
#define RQL_ENGINE_REMOTE_OBJECT_H

#include "engine/remote/transfer.h"

struct object {
    struct mapping_source source;
    struct remote *remote;
    struct arena *arena; /* of the address */
    const char *path;    /* as given */
    struct address address;
    struct block_file *file; /* NULL: nothing has come */
    int64_t size;            /* known at the end of an answer without a length */
    bool encoded, any_type, moved;
    bool strong;           /* its validators are those of just this content */
    const char *directory; /* NULL: there is no place on the disk */
    bool kept;             /* for the next load */
    _Atomic bool changed;
};

/* Takes bytes of an answer. */
bool object_received(void *context, struct piece *piece, const char *bytes, size_t length);

/* Judges the head of the answer to the first request, and of those to others. */
enum verdict object_answered_first(void *context, struct piece *piece);
enum verdict object_answered(void *context, struct piece *piece);

/* need.c: `need` of the mapping. */
enum status object_need(struct mapping_source *source, const struct byte_range *ranges, size_t count,
                        const struct workers *workers, struct span span, struct diags *diags);

#endif
