/* The messages of an Arrow file or stream: its schema, dictionaries and record batches. */
#ifndef RQL_ENGINE_ARROW_ARROW_FILE_H
#define RQL_ENGINE_ARROW_ARROW_FILE_H

#include "engine/arrow/batch.h"

/* A batch of a dictionary. The values of all batches of one dictionary are numbered from 0 in their order. */
struct arrow_dictionary {
    int64_t id;
    bool delta; /* follows the values before it; otherwise replaces them */
    struct arrow_batch batch;
};

struct arrow_file {
    struct arena *arena;     /* borrowed; holds everything here */
    struct mapping *mapping; /* borrowed */
    struct arrow_schema schema;
    struct arrow_dictionary *dictionaries;
    size_t dictionary_count, dictionary_capacity;
    struct arrow_batch *batches;
    size_t batch_count, batch_capacity;
    int64_t rows;
};

/* Finds all messages and checks that each column that can be read has its buffers in each batch. `arena` and `mapping`
 * are set by the caller. */
enum status arrow_file_open(const struct format_job *job, struct arrow_file *file);

/* Values first..end-1 of dictionary `id` are those that the indices of a record batch, from 0, mean. */
struct arrow_window {
    int64_t first, end;
};
struct arrow_window arrow_dictionary_window(const struct arrow_file *file, int64_t id, const struct arrow_batch *batch);

/* binary.c: leaves out binary columns whose first values are not text. */
enum status arrow_check_binary(struct arrow_file *file, const struct format_job *job);

/* need.c: which bytes of an Arrow file are read, so that no others are fetched of one that is elsewhere. */

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
