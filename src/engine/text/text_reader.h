/* The reader of a text file. */
#ifndef RQL_ENGINE_TEXT_TEXT_READER_H
#define RQL_ENGINE_TEXT_TEXT_READER_H

#include "engine/text/table.h"

struct text_reader {
    struct file_reader base; /* its columns are the first ones of the table */
    struct arena *arena;     /* names, columns */
    struct mapping *mapping; /* one reference */
    struct dialect dialect;
    struct table table;
    bool malformed; /* the last pass found too many or few cells, or malformed quotes */
};

/* Brings base.columns[k] up to date with the table's. (open.c) */
void text_reader_describe(struct text_reader *reader, size_t k);

extern const struct file_reader_ops text_reader_ops; /* (read.c) */

#endif
