/* .npy files, NumPy arrays. Format: NumPy enhancement proposal 1 and the manual of numpy.lib.format, versions 1.0 to
 * 3.0. */
#ifndef RQL_ENGINE_NUMPY_NPY_H
#define RQL_ENGINE_NUMPY_NPY_H

#include "base/strbuf.h"
#include "engine/formats/formats.h"
#include "engine/formats/row_encode.h"
#include "engine/storage/column.h"

/* One column is an array of its type, with the shape of the rows if they have one; several columns are a structured
 * array with a field for each. Dates are datetime64[D], timestamps datetime64[us], durations timedelta64[us], text U.
 * Data begins at a multiple of 64 bytes, so that it can be mapped. An error if two columns have the same name, or an
 * array cannot hold one. */
extern const struct row_style style_npy;

/* `read` of formats.h. A one-dimensional array is a column, one of more dimensions a column with a shape, one without
 * dimensions a column of one row; a structured array is a column per field. Supported: bool, int8 to int64, uint8 to
 * uint64 (as i64, if all values fit), float32 and float64, datetime64 and timedelta64 of weeks to nanoseconds (NaT is a
 * missing value), and text (S, if it is UTF-8, and U), little-endian and row-major. Elements are mapped in place if
 * they are those of a column, except that those of structured arrays are copied; fields of other types are skipped with
 * a note. Defined in npy_read.c. */
enum status read_npy(const struct format_job *job, struct mapping *mapping, struct relation **relation);

/* Appends the header of a one-dimensional array of a column's elements of this width (npy_encode.c). */
void npy_add_column_header(struct strbuf *out, const struct column *column, size_t width);

/* Checks that arrays can hold the columns and that their names differ. */
enum status npy_check(const struct relation *relation, struct span span, struct diags *diags);

/* Appends the header of an array without dimensions: a single value. */
void npy_add_scalar_header(struct strbuf *out, enum type type);

/* .npz files: ZIP archives of NumPy arrays, as numpy.savez and numpy.savez_compressed write them. */

/* `open` of formats.h: a column for each one-dimensional array (npy.h) of the length that most of them have; others are
 * left out with a note. Arrays that are stored stay in the file if npy.h says so. Checksums of columns that are read
 * are checked. */
enum status open_npz(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* `write` of formats.h: an array for each column, stored at a multiple of 64 bytes. */
enum status write_npz(const struct format_job *job, const struct relation *relation, struct writer *writer);

/* npy_encode.c: columns as elements of NumPy arrays. */

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
