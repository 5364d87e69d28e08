/// Aggregates with functions of the user, which combine rows in their order.
///
/// Strategy: a group's chunk is contiguous. In each tile of it a work-item combines $tile consecutive rows, which
/// follow those of its neighbour; a tree in local memory joins the work-items in order, and the tile joins what came
/// before.
///
/// Filled in for `reduce |x, y| x * 3 + y` of a:
///   $declare     long a0 = 0; uint a1 = 0; (value and count of a work-item)
///                __local long values0[256]; __local uint counts0[256]; long r0 = 0; uint r1 = 0; (of the group)
///   $tilebegin   a0 = 0; a1 = 0;
///   $row         const long v0 = in0[i]; { const long y = v0; if (a1) a0 = fold0(a0, y, c0, &err1); else a0 = y; ++a1;
///                }
///   $tilejoin    values0[lane] = a0; counts0[lane] = a1; ... the tree, then r0 = fold0(r0, y, c0, &err1)
///   $parameters, $scratch, $prologue and $finish as in rows_grid.cl
/* Combines the rows of a group's chunk in their order. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag)
{
$scratch
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
$prologue
$declare
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $tile) {
$tilebegin
        const ulong first = tile + lane * $tile;
        const ulong stop = min(first + $tile, end);
        for (ulong i = first; i < stop; ++i) {
$row
        }
$tilejoin
    }
$finish
}
