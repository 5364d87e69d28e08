/// The second pass of a filter on a GPU: each group copies the kept rows of its chunk, tile by tile and in order, from
/// starts[group] on, which the first pass (rows_grid.cl) has counted.
///
/// Strategy: a work-item has $tile rows of a tile, a group's width apart. One scan in local memory finds how many rows
/// are kept before its own in each of these stripes, all eight at once with a 16-bit count each. Neighbours that keep
/// their rows then write to neighbouring addresses.
///
/// Filled in for `b + 1` of the rows with a < 42:
///   $rows        row_block.cl
///   $row         const int v0 = in0[i]; ... const int keep = v2; kept |= (uint)(keep & 1) << j;
///   $write       const int v1 = in1[i]; ... out0[at] = v3;
///   $parameters, $prologue, $declare and $finish as in rows_grid.cl
/* Copies the kept rows of a group's chunk. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    __global const ulong *starts,
    long row, ulong rows, ulong chunk, __global int *flag)
{
    __local ulong2 counts[2 * $group];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    ulong start = starts[get_group_id(0)];
$prologue
$declare
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $tile) {
        uint kept = 0;
        const ulong first = tile + lane;
        if (tile + $group * $tile <= end) {
$rows
        } else {
            for (uint j = 0; j < $tile; ++j) {
                const ulong i = first + j * $group;
                if (i >= end)
                    break;
$row
            }
        }
        const ulong2 own = (ulong2)(
            (ulong)(kept & 1) | (ulong)(kept & 2) << 15 | (ulong)(kept & 4) << 30 | (ulong)(kept & 8) << 45,
            (ulong)(kept & 16) >> 4 | (ulong)(kept & 32) << 11 | (ulong)(kept & 64) << 26 | (ulong)(kept & 128) << 41);
        ulong2 all;
        const ulong2 before = sum_up_to(own, counts, &all) - own;
        for (uint j = 0; j < $tile; ++j) {
            const uint shift = (j & 3) * 16;
            const ulong at = start + (((j < 4 ? before.x : before.y) >> shift) & 0xffff);
            start += ((j < 4 ? all.x : all.y) >> shift) & 0xffff;
            if ((kept >> j & 1) == 0)
                continue;
            const ulong i = tile + j * $group + lane;
$write
        }
    }
$finish
}
