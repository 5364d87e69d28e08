/* Which bytes of an Arrow file are read, so that no others are fetched of one that is elsewhere. */
#ifndef RQL_ENGINE_ARROW_NEED_H
#define RQL_ENGINE_ARROW_NEED_H

#include "engine/arrow/arrow_file.h"

struct arrow_need {
    struct byte_range *ranges; /* freed by arrow_need_run */
    size_t count, capacity;
};

/* Adds the buffers of a field in a batch, or in one of its dictionary. */
void arrow_need_array(struct arrow_need *need, const struct arrow_file *file, const struct arrow_batch *batch,
                      const struct arrow_field *field, bool values);

/* Adds all that is read of a column: its rows, and the values of its dictionary. */
void arrow_need_column(struct arrow_need *need, const struct arrow_file *file, const struct arrow_field *field);

/* Returns when these bytes can be read; empties the list. */
enum status arrow_need_run(struct arrow_need *need, const struct arrow_file *file, const struct format_job *job);

#endif
