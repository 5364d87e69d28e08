/* A reader of what a queue of tasks gives that the server of a table runs as one SELECT. */
#ifndef RQL_SQL_REMOTE_READER_H
#define RQL_SQL_REMOTE_READER_H

#include "engine/formats/open_file.h"

struct file_reader *remote_reader_new(const struct queue *queue, const struct table_columns *from,
                                      const char **refusal);

#endif
