/* Counts become sums: a group for each bin replaces the bin's counts by how many there are in the chunks before. The
 * bins' totals follow all counts. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(__global $place *counts, ulong chunks)
{
    __local $place sums[2 * $group];
    __local $place carry;
    const uint lane = get_local_id(0);
    __global $place *own = counts + get_group_id(0) * chunks;
    $place total = 0;
    for (ulong at = 0; at < chunks; at += $group) {
        const $place count = at + lane < chunks ? own[at + lane] : 0;
        const $place before = sum_before(count, sums);
        if (at + lane < chunks)
            own[at + lane] = total + before;
        if (lane == $group - 1)
            carry = before + count;
        barrier(CLK_LOCAL_MEM_FENCE);
        total += carry;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        counts[256 * chunks + get_group_id(0)] = total;
}
