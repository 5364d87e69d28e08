/* .npy files, NumPy's arrays. Format: NumPy's enhancement proposal 1 and the manual of numpy.lib.format, versions 1.0
 * to 3.0. */
#ifndef RQL_ENGINE_NPYFILE_H
#define RQL_ENGINE_NPYFILE_H

#include "encode.h"

/* One column is an array of its type, in two dimensions if the rows have a shape; several columns are a structured
 * array with a field for each, called as the column is. Data begins at a multiple of 64 bytes, so that it can be
 * mapped. An error if two columns have the same name. */
extern const struct row_style style_npy;

/* Appends what goes before a single value: the header of an array without dimensions. */
void npy_add_scalar_header(struct strbuf *out, enum type type);

#endif
