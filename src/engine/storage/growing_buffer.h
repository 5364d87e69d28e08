/* A buffer that grows as it is written. */
#ifndef RQL_ENGINE_STORAGE_GROWING_BUFFER_H
#define RQL_ENGINE_STORAGE_GROWING_BUFFER_H

#include "base/parallel.h"

/* Memory that grows as it is written: for what is unpacked, or comes through a pipe. It is from mmap. */
struct growing_buffer {
    char *data;
    size_t used, size;
    size_t most; /* bytes: what needs more is an error */
};

/* Makes room for `more` bytes behind what is used; false if there is none. */
bool growing_buffer_reserve(struct growing_buffer *room, size_t more);

/* For those who unpack: tells how far it is. */
void decompression_report(const struct workers *workers, size_t done, size_t length);

#endif
