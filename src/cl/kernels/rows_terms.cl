/// The rows of a task on a GPU, where some have sums of many terms.
///
/// Strategy: a group takes tiles of `chunk` rows, at most as many as it has work-items. Each of these computes a row
/// that has few terms. Then all work-items together compute one row with many terms after another: each adds up every
/// $group-th term, and the sums are joined in local memory (join_terms.cl).
///
/// Filled in for `sum(e in from[row]..to[row]: x[e])`:
///   $row     if (first <= last) { ... if (n7 >= 64) later = 1; if (!later) { for (ulong j7 = 0;; ++j7) { ... } } }
///   $together  if (first <= last) { ... if (lane <= n7) { for (ulong j7 = lane;; j7 += get_local_size(0)) { ... } } }
///              join_ints(joined, lane, &s7_0, &w7_0, &h7_0);
///   $write     out0[i] = v9;
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag$round)
{
    __local ulong joined[4 * $group];
    __local uint waiting[$group], waiting_count;
    const uint lane = get_local_id(0);
$prologue
$declare
    for (ulong tile = get_group_id(0) * chunk; tile < rows; tile += get_num_groups(0) * chunk) {
        if (lane == 0)
            waiting_count = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < chunk && tile + lane < rows) {
            const ulong i = tile + lane;
            int later = 0;
$if checks
            const int before = err1;
$end
$row
            if (later) {
                waiting[atomic_inc(&waiting_count)] = lane;
$if checks
                err1 = before;
$end
            } else {
$write
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint count = waiting_count;
        for (uint k = 0; k < count; ++k) {
            const ulong i = tile + waiting[k];
$together
            if (lane == 0) {
$write
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
$finish
}
