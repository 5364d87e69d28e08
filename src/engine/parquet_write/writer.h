/* Writing Parquet files. */
#ifndef RQL_ENGINE_PARQUET_WRITE_WRITER_H
#define RQL_ENGINE_PARQUET_WRITE_WRITER_H

#include "engine/storage/atomic_writer.h"
#include "engine/storage/file_reader.h"

/* `write` of the format: row groups of 1 048 576 rows, encoded by all threads. */
enum status write_parquet(const struct format_job *job, const struct relation *relation, struct writer *to);

#endif
