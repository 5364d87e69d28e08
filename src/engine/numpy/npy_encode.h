/* Columns as elements of NumPy arrays. */
#ifndef RQL_ENGINE_NUMPY_NPY_ENCODE_H
#define RQL_ENGINE_NUMPY_NPY_ENCODE_H

#include "base/strbuf.h"
#include "engine/storage/column.h"

/* Whether an array can hold the first `rows` rows of the column. Times may be missing; other values not. A note if it
 * loses that they are UTC.
 */
enum status npy_check_column(const struct column *column, int64_t rows, const char *name, struct span span,
                             struct diags *diags);

/* Bytes of an element. For text this looks at all strings. */
size_t npy_width(const struct column *column);

/* Appends the NumPy name of elements of this width: "<i4". */
void npy_add_type(struct strbuf *out, const struct column *column, size_t width);

/* Whether the column's data are the elements. */
bool npy_is_as_stored(const struct column *column);

/* Writes the element of a row. */
void npy_encode(const struct column *column, size_t width, int64_t row, char *to);

#endif
