/// The rows of a task on a GPU: aggregates, the count of a filter, and outputs where nothing filters.
///
/// Strategy: neighbouring work-items take neighbouring rows, and each has $many independent rows in flight, which keeps
/// more loads outstanding: 1 G rows of two i32 columns on an H200 take 2.17 ms with one row at a time, 1.75 ms with
/// four. Groups take tiles of rows in turns; in a count ($tiles) each takes a contiguous chunk instead, a whole number
/// of tiles, because the rows that it keeps are then written from one start on (compact_tiles.cl).
///
/// Filled in for `sum(b)` of the rows with a == 42:
///   $scratch     __local ulong scratch[2][256];
///   $rows        row_block.cl
///   $row         const int v0 = in0[i]; ... const int keep = v2; a0 -= as_uint(keep); a1 += convert_long((keep & v1));
///   $finish      scratch[0][lane] = (ulong)a0; ... pairwise in local memory, then slots[...] = scratch[0][0];
///   $parameters, $prologue and $declare as in rows_chunks.cl, without the vectors
$if tiles
/* Each group counts the kept rows of its chunk. */
$else
/* Groups take tiles of rows in turns. */
$end
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag$round)
{
$scratch
    const uint lane = get_local_id(0);
$if tiles
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    ulong first = get_group_id(0) * chunk + lane;
$else
    const ulong stride = (ulong)get_num_groups(0) * ($group * $many);
    ulong first = (ulong)get_group_id(0) * ($group * $many) + lane;
$end
$prologue
$declare
$if tiles
    for (; first + $group * ($many - 1) < end; first += $group * $many) {
$else
    for (; first + $group * ($many - 1) < rows; first += stride) {
$end
$rows
    }
    for (uint j = 0; j < $many; ++j) {
        const ulong i = first + j * $group;
$if tiles
        if (i >= end)
$else
        if (i >= rows)
$end
            break;
$row
    }
$finish
}
