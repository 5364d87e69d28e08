/* The bounds that the footer of a Parquet file tells of the columns in each row group. */
#ifndef RQL_ENGINE_PARQUET_BOUNDS_H
#define RQL_ENGINE_PARQUET_BOUNDS_H

#include "engine/parquet/reader.h"

/* Lists the row groups. */
void parquet_list_groups(struct parquet_reader *reader);

/* `bounds` of the reader. The file is believed, as other readers do, except where its bounds are malformed, beyond the
 * column's type, or NaN. */
void parquet_bounds(const struct file_reader *base, size_t group, size_t k, struct group_bounds *bounds);

#endif
