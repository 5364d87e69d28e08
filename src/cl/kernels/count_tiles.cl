/* The first pass of a filter: every group counts the kept rows of its tile. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag)
{
$scratch
    const uint lane = get_local_id(0);
    const ulong first = get_group_id(0) * chunk + lane;
$prologue
$declare
    for (uint j = 0; j < $tile; ++j) {
        const ulong i = first + j * $group;
        if (i >= rows)
            break;
$tail
    }
$finish
}
