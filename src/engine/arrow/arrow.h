/* Arrow IPC files (.arrow, .feather, .ipc) and streams (.arrows), read and written.
 *
 * Format: Apache Arrow columnar format, "Serialization and Interprocess Communication"; Feather version 2 is the same.
 * Which of the two a file is, is seen from its content. */
#ifndef RQL_ENGINE_ARROW_ARROW_H
#define RQL_ENGINE_ARROW_ARROW_H

#include "engine/storage/atomic_writer.h"
#include "engine/storage/file_reader.h"

/* `open` of formats.h. Read are bool, integers, floats, text and binary (if it is UTF-8), dictionaries of those two,
 * dates, times, timestamps, durations, decimals and nulls; columns of other types are left out with a note. Elements
 * stay in the mapped file if they are there as a column has them, not packed, in one record batch. */
enum status open_arrow(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* `write` of formats.h: as a file, or as a stream. */
enum status write_arrow_file(const struct format_job *job, const struct relation *relation, struct writer *writer);
enum status write_arrow_stream(const struct format_job *job, const struct relation *relation, struct writer *writer);

#endif
