/* Writing many dates and times by one format: the text of a day is made once, and its clock is set in it. */
#ifndef RQL_BASE_TIME_TIME_WRITER_H
#define RQL_BASE_TIME_TIME_WRITER_H

#include "base/time/time_format.h"

struct time_writer; /* of one thread */

/* For a checked format, which has to stay. Never NULL. */
struct time_writer *time_writer_new(struct text format);
void time_writer_free(struct time_writer *writer); /* NULL is allowed */

/* Appends what time_format_write does. */
void time_writer_add(struct time_writer *writer, struct strbuf *out, const struct time_written *time);

#endif
