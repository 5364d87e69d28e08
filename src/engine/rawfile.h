/* Raw columns: little-endian elements and nothing else. The functions are the read and write of formats.h. */
#ifndef RQL_ENGINE_RAWFILE_H
#define RQL_ENGINE_RAWFILE_H

#include "formats.h"

/* The file's elements in place, without a copy. An error unless the file is a whole number of elements. */
enum status read_raw(const struct format *format, struct mapping *mapping, struct span span, struct relation **relation,
                     struct diags *diags);

/* The column as elements of the format's type. An error for the first value that the type cannot hold: an integer
 * outside its range or not exact as a float, a finite float beyond f32; floats are never made integers. */
enum status write_raw(const struct format *format, const struct relation *relation, struct writer *writer,
                      struct span span, struct diags *diags);

#endif
