/* Text files of numbers: .csv, .tsv, .jsonl and .txt. The functions are `read` of formats.h.
 *
 * The first line names the columns unless all its values are numbers. A column is i64 if all values are integers, f64
 * if they are numbers, bool if they are true or false; one that begins with text is skipped with a note. White space
 * around values, \r before newlines, blank lines at the end and a byte order mark are ignored. Everything else is an
 * error with its line and column: missing values, integers beyond 64 bits, lines with more or fewer values than the
 * first, unbalanced quotes. */
#ifndef RQL_ENGINE_FORMATS_TEXT_READ_H
#define RQL_ENGINE_FORMATS_TEXT_READ_H

#include "engine/formats/formats.h"

/* Comma-separated values, optionally quoted, as in RFC 4180. */
enum status read_csv(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Tab-separated values, never quoted; names as in style_tsv. */
enum status read_tsv(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* One JSON object per line, with the keys of the first in the same order; null is a missing value. Strings, arrays and
 * objects are text. */
enum status read_jsonl(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* One number per line, without a name. An empty file is a column without rows. */
enum status read_text(const struct format_job *job, struct mapping *mapping, struct relation **relation);

#endif
