/* How often each digit occurs in the chunk of a group, which has a work-item for each bin: bin b of group g at
 * b * groups + g. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local uint bins[256];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    bins[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = get_group_id(0) * chunk + lane; at < end; at += $group) {
        const $place i = ($place)at;
        $code code = 0;
$readcode
        atomic_inc(&bins[(uint)(code >> shift) & mask]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[lane * get_num_groups(0) + get_group_id(0)] = bins[lane];
}
