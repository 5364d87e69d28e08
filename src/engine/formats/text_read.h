/* Text files of numbers: .csv, .tsv, .jsonl and .txt. The functions are the read of formats.h.
 *
 * The first line names the columns unless every value in it is a number. A column is of i64 if all of its values are
 * integers, of f64 if they are numbers, of bool if they are true or false. One that begins with text is left out, which
 * a note tells. White space around values, \r before newlines and blank lines at the end are passed over, as is a byte
 * order mark. Everything else is an error with its line and column: missing values, integers beyond 64 bits, lines of
 * more or fewer values than the first, quotes that do not close. */
#ifndef RQL_ENGINE_FORMATS_TEXT_READ_H
#define RQL_ENGINE_FORMATS_TEXT_READ_H

#include "engine/formats/formats.h"

/* Commas between values, which may be quoted, as RFC 4180 has it. */
enum status read_csv(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Tabs between values, which are never quoted; names as style_tsv writes them. */
enum status read_tsv(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* A JSON object a line, each with the keys of the first in their order; null is a missing value. Strings, arrays and
 * objects are text. */
enum status read_jsonl(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* One number a line, without a name. An empty file is a column of no rows. */
enum status read_text(const struct format_job *job, struct mapping *mapping, struct relation **relation);

#endif
