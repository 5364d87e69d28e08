/* Aggregates that are combined in the order of rows: a group's chunk is contiguous, and so are in each of its tiles the
 * rows of a work-item, which follow those of its neighbour. */
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
$begin
        const ulong first = tile + lane * $tile;
        const ulong stop = min(first + $tile, end);
        for (ulong i = first; i < stop; ++i) {
$tail
        }
$join
    }
$finish
}
