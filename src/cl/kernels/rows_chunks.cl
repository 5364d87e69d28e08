/// The rows of a task on a CPU: aggregates, the count of a filter, and outputs where nothing filters.
///
/// Strategy: each work-item takes one contiguous chunk, in vectors of $W rows and then row by row. No work-item waits
/// for another, so a CPU device runs it as one plain loop per thread. Accumulators exist twice, as vectors and as
/// scalars.
///
/// Filled in for `sum(b)` of the rows with a == 42:
///   $parameters  __global const int *restrict in0, ulong from0, (and in1, from1) int c0, __global ulong *slots,
///   $prologue    in0 += from0; in1 += from1;
///   $declare     uint a0 = 0; long a1 = 0; uint16 a0x16 = (uint16)(0); long16 a1x16 = (long16)(0);
///   $vectors     const int16 v0 = vload16(0, in0 + i); ... const int16 keep = v2;
///                a0x16 -= as_uint16(keep); a1x16 += convert_long16((keep & v1));
///   $lanes       uint8 h0x8; h0x8 = a0x16.lo + a0x16.hi; ... a0 = a0 + h0x1;
///   $row         const int v0 = in0[i]; ... a0 -= as_uint(keep); a1 += convert_long((keep & v1));
///   $finish      slots[0 * get_num_groups(0) + get_group_id(0)] = (ulong)a0; ...
/* One contiguous chunk of rows for each work-item. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag$round)
{
    const ulong item = get_group_id(0);
    const ulong end = min((item + 1) * chunk, rows);
    ulong i = item * chunk;
$prologue
$declare
    for (; i + $W <= end; i += $W) {
$vectors
    }
$lanes
    for (; i < end; ++i) {
$row
    }
$finish
}
