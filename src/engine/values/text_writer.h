/* Texts of an unsorted dictionary, written by one thread: one behind the other, each behind its length, in blocks of a
 * pool. */
#ifndef RQL_ENGINE_VALUES_TEXT_WRITER_H
#define RQL_ENGINE_VALUES_TEXT_WRITER_H

#include "engine/values/text_bytes.h"

struct text_writer {
    struct buffer_pool *pool; /* or NULL. The rest begins as zeroes */
    char *at;                 /* in the last block, */
    size_t left;              /* which has as many bytes left */
    struct text_block *blocks;
    size_t count, capacity;
};

/* Adds a block with room for a text of this length. False: no memory. */
bool text_writer_grow(struct text_writer *writer, size_t length);

/* Copies a text of at most TEXT_MAX bytes, and says where it is: NULL: no memory. */
static inline const char *text_writer_add(struct text_writer *writer, struct text text)
{
    const uint32_t length = (uint32_t)text.length;
    if (writer->left < sizeof length + text.length && !text_writer_grow(writer, text.length))
        return NULL;
    char *at = writer->at + sizeof length;
    memcpy(writer->at, &length, sizeof length);
    copy_bytes(at, text.at, text.length);
    writer->at = at + text.length;
    writer->left -= sizeof length + text.length;
    return at;
}

/* Has an unsorted dictionary of the same pool keep the texts. NULL: nothing does, and they are released. */
void text_writer_finish(struct text_writer *writer, struct dictionary *dictionary);

/* Where an empty text is, of any unsorted dictionary: what missing values have. */
const char *text_nowhere(void);

#endif
