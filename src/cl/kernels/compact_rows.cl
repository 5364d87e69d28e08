/// The second pass of a filter on a CPU: each work-item copies the kept rows of its chunk, from starts[item] on, which
/// the first pass (rows_grid.cl) has counted.
///
/// Strategy: write every row where the next kept one belongs and let only the position depend on the filter; a branch,
/// as in compact_tiles.cl, would be mispredicted on every other row. 10 M i32 on PoCL 3.1, 2 cores, half of them kept,
/// this pass alone: with a branch 17.5 ms, without one 2.5 ms. Nothing is written behind the last kept row, because the
/// space there belongs to the next chunk.
///
/// Filled in for `b + 1` of the rows with a < 42:
///   $row    const int v0 = in0[i]; ... const int keep = v2;
///   $write  out0[at] = v3;
///   $parameters, $prologue, $declare and $finish as in rows_grid.cl
/* Copies the kept rows of a chunk. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters
    __global const ulong *starts,
    long row, ulong rows, ulong chunk, __global int *flag)
{
    const ulong end = min((get_group_id(0) + 1) * chunk, rows), stop = starts[get_group_id(0) + 1];
    ulong at = starts[get_group_id(0)];
$prologue
$declare
    for (ulong i = get_group_id(0) * chunk; i < end && at < stop; ++i) {
$row
$write
        at += keep & 1;
    }
$finish
}
