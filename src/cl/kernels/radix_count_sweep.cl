/* How often each digit of each pass occurs: bin b of pass k at 256 * k + b. Clears the states of all tiles on the
 * way. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local uint bins[256 * $passes];
    const uint lane = get_local_id(0);
    const ulong stride = (ulong)get_num_groups(0) * ($group * $items);
    const ulong words = (ulong)tiles * (256 * $passes);
    for (uint k = lane; k < 256 * $passes; k += $group)
        bins[k] = 0;
    for (ulong k = get_global_id(0); k < words; k += get_global_size(0))
        states[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong at = (ulong)get_group_id(0) * ($group * $items) + lane;
    for (; at + $group * ($items - 1) < rows; at += stride) {
        $code own[$items];
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            const $place i = ($place)(at + j * $group);
            $code code = 0;
$readcode
            own[j] = code;
        }
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            #pragma unroll
            for (uint k = 0; k < $passes; ++k)
                atomic_inc(&bins[256 * k + ((uint)(own[j] >> shift * k) & mask)]);
        }
    }
    for (uint j = 0; j < $items && at + j * $group < rows; ++j) {
        const $place i = ($place)(at + j * $group);
        $code code = 0;
$readcode
        for (uint k = 0; k < $passes; ++k)
            atomic_inc(&bins[256 * k + ((uint)(code >> shift * k) & mask)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lane; k < 256 * $passes; k += $group) {
        if (bins[k] > 0)
            $add(&counts[k], ($place)bins[k]);
    }
}
