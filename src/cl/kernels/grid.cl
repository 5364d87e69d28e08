/* Work-items walk the rows side by side, a whole grid's width at a time, so that neighbours read neighbouring memory. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag)
{
$scratch
    const uint lane = get_local_id(0);
$prologue
$declare
    for (ulong i = get_global_id(0); i < rows; i += get_global_size(0)) {
$tail
    }
$finish
}
