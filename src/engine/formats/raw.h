/* Raw columns: little-endian elements and nothing else. The functions are `read` and `write` of formats.h. */
#ifndef RQL_ENGINE_FORMATS_RAW_H
#define RQL_ENGINE_FORMATS_RAW_H

#include "engine/formats/formats.h"
#include "engine/formats/row_encode.h"
#include "engine/storage/column.h"

/* Maps the file's elements in place. An error unless its size is a multiple of theirs. */
enum status read_raw(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Writes the column as elements of the format's type. An error for the first value that the type cannot hold: an
 * integer out of range or without an exact float value, or a finite float beyond f32. Floats are never converted to
 * integers. */
enum status write_raw(const struct format_job *job, const struct relation *relation, struct writer *writer);

/* For standard output: the elements of the only column, as its type. */
extern const struct row_style style_raw;

/* Checks that all columns are numbers without missing values; `format` names the format in errors: ".i32 files". Dates,
 * timestamps and durations are the integers that they are stored as, which is noted. */
enum status check_plain_numbers(const struct relation *relation, const char *format, struct span span,
                                struct diags *diags);

#endif
