/// Sums over the work-items of a group.
///
/// Filled in: $sum is uint; for counts of several bits packed in one number ulong2
/* The sum of the values of the work-items up to this one; *all: of all. `sums` has room for two of each. */
static inline $sum sum_up_to($sum value, __local $sum *sums, $sum *all)
{
    const uint lane = get_local_id(0);
    $sum sum = value;
    uint side = 0;
    barrier(CLK_LOCAL_MEM_FENCE); /* all have read the last one */
    sums[lane] = sum;
    for (uint distance = 1; distance < $group; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= distance)
            sum += sums[side + lane - distance];
        side ^= $group;
        sums[side + lane] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = sums[side + $group - 1];
    return sum;
}
