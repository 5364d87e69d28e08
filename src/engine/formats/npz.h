/* .npz files: ZIP archives of NumPy arrays, as numpy.savez and numpy.savez_compressed write them. */
#ifndef RQL_ENGINE_FORMATS_NPZ_H
#define RQL_ENGINE_FORMATS_NPZ_H

#include "engine/formats/formats.h"

/* `open` of formats.h: a column for each one-dimensional array (npy.h) of the length that most of them have; others are
 * left out with a note. Arrays that are stored stay in the file if npy.h says so. Checksums of columns that are read
 * are checked. */
enum status open_npz(const struct format_job *job, struct mapping *mapping, struct file_reader **reader);

/* `write` of formats.h: an array for each column, stored at a multiple of 64 bytes. */
enum status write_npz(const struct format_job *job, const struct relation *relation, struct writer *writer);

#endif
