/* The sum of the values of the lanes before, for all work-items of a group; sums has room for two of each. */
$place sum_before($place value, __local $place *sums)
{
    const uint lane = get_local_id(0);
    $place sum = value;
    uint side = 0;
    sums[lane] = sum;
    for (uint distance = 1; distance < $group; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= distance)
            sum += sums[side + lane - distance];
        side ^= $group;
        sums[side + lane] = sum;
    }
    return sum - value;
}
