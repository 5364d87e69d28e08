/* .npy files, NumPy's arrays. Format: NumPy's enhancement proposal 1 and the manual of numpy.lib.format, versions 1.0
 * to 3.0. */
#ifndef RQL_ENGINE_FORMATS_NPY_H
#define RQL_ENGINE_FORMATS_NPY_H

#include "engine/formats/formats.h"
#include "engine/formats/row_encode.h"

/* One column is an array of its type, in two dimensions if the rows have a shape; several columns are a structured
 * array with a field for each, called as the column is. Data begins at a multiple of 64 bytes, so that it can be
 * mapped. An error if two columns have the same name. */
extern const struct row_style style_npy;

/* An array in one dimension is a column, in two one whose rows have a shape, in none one of a single row; a structured
 * array is a column for each field. bool, int8 to int64, uint8 to uint64 (as i64, if all values fit), float32 and
 * float64, little-endian and row by row; elements are mapped in place, but those of structured arrays are copied, and
 * their fields of other types left out with a note. (npy_read.c) */
enum status read_npy(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Appends what goes before a single value: the header of an array without dimensions. */
void npy_add_scalar_header(struct strbuf *out, enum type type);

#endif
