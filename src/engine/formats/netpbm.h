/* Images: .pgm (grey, one column) and .ppm (columns red, green, blue) of the netpbm family, one image per file. The
 * functions are `read` and `write` of formats.h. Format: the netpbm manual pages pgm(5) and ppm(5). */
#ifndef RQL_ENGINE_FORMATS_NETPBM_H
#define RQL_ENGINE_FORMATS_NETPBM_H

#include "engine/formats/formats.h"

/* Reads the pixels row by row, as u8, or as u16 if the header's maximum value needs two bytes; the relation has the
 * image's shape. Binary (P5, P6) and plain (P2, P3) files are supported. An error for an invalid header, for more or
 * fewer pixels than it states, and for a pixel above its maximum. */
enum status read_image(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Writes a shaped relation of integers as a binary file of values 0 to 255; a .pgm has values 0 to 65535 if one needs
 * it or the column is u16, so that loading and saving keeps the type. An error for the first value out of range, and
 * for floats. */
enum status write_image(const struct format_job *job, const struct relation *relation, struct writer *writer);

#endif
