/* Counts become places: where each bin of a pass starts. A group for each pass. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void $name(__global $place *counts)
{
    __local $place sums[2][256];
    const uint lane = get_local_id(0);
    const $place count = counts[get_global_id(0)];
    $place sum = count;
    uint side = 0;
    sums[0][lane] = sum;
    for (uint distance = 1; distance < 256; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= distance)
            sum += sums[side][lane - distance];
        side ^= 1;
        sums[side][lane] = sum;
    }
    counts[get_global_id(0)] = sum - count;
}
