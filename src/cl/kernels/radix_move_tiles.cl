/* Moves the elements of a group's chunk to the places of their bins, tile by tile. A tile is put in order in local
 * memory, by the lower and then by the upper half of the digit: work-items count their own neighbouring elements, and a
 * sum over all counts, bin by bin, tells where each goes. Then neighbours write to neighbouring places. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local $code tilecodes[$group * $items];
$tileloads
    __local ushort counters[16 * $group];
    __local $place sums[2 * $group];
    __local $place places[256];
    __local ushort begins[256], ends[256];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    /* As many work-items as bins. */
    const $place start = sum_before(counts[256 * get_num_groups(0) + lane], sums);
    places[lane] = start + counts[lane * get_num_groups(0) + get_group_id(0)];
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $items) {
        const uint count = (uint)min(end - tile, (ulong)($group * $items));
        begins[lane] = 0;
        ends[lane] = 0;
        for (uint j = 0; j < $items; ++j) {
            const uint slot = j * $group + lane;
            $code code = ~($code)0; /* what fills the last tile comes last in it */
            if (slot < count) {
                const $place i = ($place)(tile + slot);
                code = 0;
$readcode
$readload
$keepload
            }
            tilecodes[slot] = code;
        }
        for (uint round = 0; round < 2; ++round) {
            const uint part = mask >> 4 * round & 15;
            $code own[$items];
$ownloads
            ushort ranks[$items];
            for (uint k = 0; k < 16; ++k)
                counters[k * $group + lane] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint j = 0; j < $items; ++j) {
                own[j] = tilecodes[lane * $items + j];
$takeload
                ranks[j] = counters[((uint)(own[j] >> shift) >> 4 * round & part) * $group + lane]++;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint sum = 0;
            for (uint k = 0; k < 16; ++k)
                sum += counters[lane * 16 + k];
            sum = (uint)sum_before(sum, sums);
            for (uint k = 0; k < 16; ++k) {
                const uint here = counters[lane * 16 + k];
                counters[lane * 16 + k] = (ushort)sum;
                sum += here;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint j = 0; j < $items; ++j) {
                const uint slot = counters[((uint)(own[j] >> shift) >> 4 * round & part) * $group + lane] + ranks[j];
                tilecodes[slot] = own[j];
$putload
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (uint slot = lane; slot < count; slot += $group) {
            const uint bin = (uint)(tilecodes[slot] >> shift) & mask;
            if (slot == 0 || ((uint)(tilecodes[slot - 1] >> shift) & mask) != bin)
                begins[bin] = (ushort)slot;
            if (slot + 1 == count || ((uint)(tilecodes[slot + 1] >> shift) & mask) != bin)
                ends[bin] = (ushort)(slot + 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = lane; slot < count; slot += $group) {
            const $code code = tilecodes[slot];
            const uint bin = (uint)(code >> shift) & mask;
            const $place p = places[bin] + (slot - begins[bin]);
$writecode
$getload
$writeload
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        places[lane] += ends[lane] - begins[lane];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
