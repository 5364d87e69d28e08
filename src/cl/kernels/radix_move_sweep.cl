/* One pass over one digit that reads and writes every element once: A. Adinets and D. Merrill, "Onesweep: A Faster
 * Least Significant Digit Radix Sort for GPUs", 2022; the look-back is that of D. Merrill and M. Garland, "Single-pass
 * Parallel Prefix Scan with Decoupled Look-back", 2016.
 *
 * Groups take tiles in order. Each tells how many elements of every bin its tile has, adds up what the tiles before
 * have told until one knows the sum of all before it, and tells that sum. Groups that wait rely on those before them to
 * go on, which they do, since they took their tiles earlier and run. A state is one word, count and what it counts
 * together, so that no order of writes matters. A group has a work-item for each bin. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local $wide exchange[$group * $items];
    __local uint counters[$group / 32 * 256];
    __local $place places[256];
    __local uint sums[8];
    __local uint taken;
    __local $code *const tilecodes = (__local $code *)exchange;
$tileloads
    const uint id = get_local_id(0), lane = id & 31, warp = id >> 5;
    volatile __local uint *const mine = counters + warp * 256;
    if (id == 0)
        taken = atomic_inc(&next[pass]);
    for (uint w = 0; w < $group / 32; ++w)
        counters[w * 256 + id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint tile = taken;
    const ulong first = (ulong)tile * ($group * $items);
    const uint count = (uint)min(rows - first, (ulong)($group * $items));
    const uint own = warp * (32 * $items) + lane; /* slots own, own + 32, .. */
    const uint lower = (1u << lane) - 1;

    $code held[$items];
    if (count == $group * $items) {
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            const $place i = ($place)(first + own + 32 * j);
            $code code = 0;
$readcode
            held[j] = code;
        }
    } else {
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            $code code = ~($code)0; /* what fills the last tile comes last in it */
            if (own + 32 * j < count) {
                const $place i = ($place)(first + own + 32 * j);
                code = 0;
$readcode
            }
            held[j] = code;
        }
    }

    /* How many elements of its bin come before each one in its warp's part of the tile. */
    uint slots[($items + 1) / 2]; /* two of 16 bits in each, as registers are what limits the groups at work */
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        const uint bin = (uint)(held[j] >> shift) & mask;
        const uint peers = warp_peers(bin);
        const uint before = popcount(peers & lower);
        const uint earlier = mine[bin];
        warp_barrier();
        if (before == 0)
            mine[bin] = earlier + popcount(peers);
        warp_barrier();
        slots[j / 2] = j % 2 == 0 ? earlier + before : slots[j / 2] | (earlier + before) << 16;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    /* The bins' counts in the tile, and where each warp's share of each bin starts there. */
    volatile __global $place *const told = states + ((size_t)pass * tiles + tile) * 256;
    uint total = 0;
    for (uint w = 0; w < $group / 32; ++w)
        total += counters[w * 256 + id];
    told[id] = (tile == 0 ? $sum : $share) | ($place)total;
    uint start = warp_sum_before(total, lane);
    if (lane == 31)
        sums[warp] = start + total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < warp; ++w)
        start += sums[w];
    for (uint w = 0, at = start; w < $group / 32; ++w) {
        const uint share = counters[w * 256 + id];
        counters[w * 256 + id] = at;
        at += share;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        slots[j / 2] += mine[(uint)(held[j] >> shift) & mask] << j % 2 * 16;
        tilecodes[slots[j / 2] >> j % 2 * 16 & 0xffff] = held[j];
    }

$fetchloads
    /* Four states are read at once, since each read takes long. What would be before the first tile is a sum of 0. */
    $place before = 0;
    bool known = tile == 0;
    for (uint back = 1; !known; back += 4) {
        $place seen[4];
        #pragma unroll
        for (uint k = 0; k < 4; ++k)
            seen[k] = back + k <= tile ? told[id - (long)(back + k) * 256] : $sum;
        #pragma unroll
        for (uint k = 0; k < 4; ++k) {
            while (!known && (seen[k] & ($share | $sum)) == 0)
                seen[k] = told[id - (long)(back + k) * 256];
            if (!known) {
                before += seen[k] & ($share - 1);
                known = (seen[k] & $sum) != 0;
            }
        }
    }
    if (tile > 0)
        told[id] = $sum | (before + total);
    places[id] = counts[256 * pass + id] + before - start;
    barrier(CLK_LOCAL_MEM_FENCE);
$places
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        const uint slot = j * $group + id;
        if (slot < count) {
            const $code code = tilecodes[slot];
            const $place p = places[(uint)(code >> shift) & mask] + slot;
$keepplace
$writecode
        }
    }
$moveloads
}
