/* The first pass of a filter: every group counts the kept rows of its chunk, a whole number of tiles. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag)
{
$scratch
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    ulong first = get_group_id(0) * chunk + lane;
$prologue
$declare
    for (; first + $group * ($many - 1) < end; first += $group * $many) {
$rows
    }
    for (uint j = 0; j < $many; ++j) {
        const ulong i = first + j * $group;
        if (i >= end)
            break;
$tail
    }
$finish
}
