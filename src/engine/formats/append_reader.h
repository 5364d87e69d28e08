/* Several files read as one; private to append_reader.c, which opens them, and append_read.c, which reads them. */
#ifndef RQL_ENGINE_FORMATS_APPEND_READER_H
#define RQL_ENGINE_FORMATS_APPEND_READER_H

#include "engine/formats/append_column.h"
#include "engine/formats/open_file.h"
#include "engine/formats/partition.h"

struct appended {
    struct opened_file file; /* empty where the files are only listed */
    const char *path;        /* to open, and as shown in messages: */
    const char *shown;
    int64_t bytes;      /* when it was listed */
    size_t first_group; /* of those of the result, the first that is this part's */
    size_t *places;     /* of each column of the result in this file, or PLACE_ABSENT */
};

static const size_t PLACE_ABSENT = SIZE_MAX;

struct append_reader {
    struct file_reader base; /* its columns: those of files, then those of their folders */
    struct arena *arena;     /* owns all but opened files */
    struct partitions partitions;
    size_t own_count; /* columns of files */
    size_t file_count;
    struct appended *files;
    size_t *group_parts; /* of each group its part */
};

size_t appended_width(const struct appended *part);
int64_t appended_rows(const struct appended *part);
bool appended_is_provisional(const struct appended *part);
struct reader_column appended_column(const struct appended *part, size_t k);

enum status types_differ(const struct append_reader *reader, size_t p, size_t k, struct column_type type,
                         struct column_type other, const struct format_job *job);

/* Works on part p by the job's workers. */
typedef enum status part_step(void *context, size_t p, const struct format_job *job);

/* Runs the step for all parts from `first` on: long files one after another, each by all threads, others side by side.
 * Errors are those of the first part that has some; notes of a few parts are kept. */
enum status each_part(const struct append_reader *reader, size_t first, const struct format_job *job, part_step *step,
                      void *context);

enum status read_appended(struct file_reader *base, const struct format_job *job, const bool *wanted,
                          struct column **columns);
enum status read_appended_rows(struct file_reader *base, const struct format_job *job, const bool *wanted,
                               const struct row_set *rows, struct column **columns);

#endif
