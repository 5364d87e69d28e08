/* Pictures: .pgm (grey, one column) and .ppm (columns red, green, blue) of the netpbm family, a picture a file. The
 * functions are the read and write of formats.h. Format: the netpbm manual's pages pgm(5) and ppm(5). */
#ifndef RQL_ENGINE_FORMATS_NETPBM_H
#define RQL_ENGINE_FORMATS_NETPBM_H

#include "engine/formats/formats.h"

/* The pixels row by row, as u8 or, where the header's greatest value asks for two bytes, as u16; the relation has the
 * picture's shape. Binary (P5, P6) and plain (P2, P3) files are read. An error for a header that is none, for more or
 * fewer pixels than it says, and for a pixel above its greatest value. */
enum status read_image(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* A shaped relation of integers as a binary file of 0 to 255; a .pgm of 0 to 65535 if a value asks for it or the column
 * is u16, so that what was loaded stays what it was. An error for the first value outside, and for floats. */
enum status write_image(const struct format_job *job, const struct relation *relation, struct writer *writer);

#endif
