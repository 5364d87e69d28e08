    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        if (own + 32 * j < count)
            tileloads[slots[j / 2] >> j % 2 * 16 & 0xffff] = loadsheld[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        const uint slot = j * $group + id;
        if (slot < count) {
            const $place p = to[j];
            const $load load = tileloads[slot];
$writeload
        }
    }
