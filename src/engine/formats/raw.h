/* Raw columns: little-endian elements and nothing else. The functions are the read and write of formats.h. */
#ifndef RQL_ENGINE_FORMATS_RAW_H
#define RQL_ENGINE_FORMATS_RAW_H

#include "engine/formats/formats.h"
#include "engine/formats/row_encode.h"

/* The file's elements in place, without a copy. An error unless the file is a whole number of elements. */
enum status read_raw(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* The column as elements of the format's type. An error for the first value that the type cannot hold: an integer
 * outside its range or not exact as a float, a finite float beyond f32; floats are never made integers. */
enum status write_raw(const struct format_job *job, const struct relation *relation, struct writer *writer);

/* For standard output: the elements of the one column, as its type. */
extern const struct row_style style_raw;

#endif
