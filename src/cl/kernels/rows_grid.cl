/// The rows of a task: aggregates, the count of a filter, and outputs where nothing filters.
///
/// Strategy: neighbouring work-items take neighbouring rows, and each has $many independent rows in flight, which keeps
/// more loads outstanding: 1 G rows of two i32 columns on an H200 take 2.17 ms with one row at a time, 1.75 ms with
/// four. Groups take tiles of rows in turns; in a count ($tiles) each takes a contiguous chunk instead, a whole number
/// of tiles, because the rows that it keeps are then written from one start on (compact_tiles.cl). On a CPU all groups
/// take chunks, and have one work-item, so that all is a plain loop for each thread.
///
/// Filled in for `sum(b)` of the rows with a == 42:
///   $scratch     __local ulong scratch[2][256];
///   $rows        row_block.cl
///   $row         const int v0 = in0[i]; ... const int keep = v2; a0 -= as_uint(keep); a1 += convert_long((keep & v1));
///   $finish      scratch[0][lane] = (ulong)a0; ... pairwise in local memory, then slots[...] = scratch[0][0];
///   $parameters  __global const int *restrict in0, ulong from0, (and in1, from1) int c0, __global ulong *slots,
///   $prologue    in0 += from0; in1 += from1;
///   $declare     uint a0 = 0; long a1 = 0;
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
    const ulong stride = $group * $many, end = min((get_group_id(0) + 1) * chunk, rows);
    ulong first = get_group_id(0) * chunk + lane;
$else
    const ulong stride = (ulong)get_num_groups(0) * ($group * $many), end = rows;
    ulong first = (ulong)get_group_id(0) * ($group * $many) + lane;
$end
$prologue
$declare
$if several
    for (; first + $group * ($many - 1) < end; first += stride) {
$rows
    }
    for (uint j = 0; j < $many; ++j) {
        const ulong i = first + j * $group;
        if (i >= end)
            break;
$row
    }
$else
    for (ulong i = first; i < end; i += stride) {
$row
    }
$end
$finish
}
