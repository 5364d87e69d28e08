/// A radix sort on NVIDIA GPUs that reads and writes each element once per pass: A. Adinets and D. Merrill, "Onesweep:
/// A Faster Least Significant Digit Radix Sort for GPUs", 2022, with the decoupled look-back of D. Merrill and M.
/// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
///
/// Strategy: one kernel counts the digits of all passes at once. In each pass groups take tiles in order; a group
/// publishes how many elements of every bin its tile has, sums what earlier tiles have published back to one that knows
/// its prefix, and publishes its own prefix. A waiting group relies on earlier ones to make progress; they do, because
/// they took their tiles earlier and are running. A state is one word that holds both a count and what it counts, so no
/// order of writes matters. A group has a work-item for each bin. Warps exchange bits by PTX: NVIDIA's OpenCL has no
/// subgroup functions.
///
/// Holes as in radix_tiles.cl; lines under `$if haspayload` move the payload. $share and $sum are the two upper bits
/// of a state: a tile's count, or the sum of all tiles up to it; $add is atomic_add or atom_add.
$if helpers
/* Warps of 32 work-items. */
uint warp_shuffle_up(uint value, uint distance)
{
    uint other;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(other) : "r"(value), "r"(distance));
    return other;
}

void warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}

/* Of some lanes, those with the same bits under the mask as this one. */
uint warp_same(uint lanes, uint value, uint mask)
{
    uint same;
    asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0;"
                 " vote.sync.ballot.b32 t, p, 0xffffffff; @!p not.b32 t, t; and.b32 %0, %3, t; }"
                 : "=r"(same)
                 : "r"(value), "r"(mask), "r"(lanes));
    return same;
}

/* The lanes with the same digit of eight bits. */
uint warp_peers(uint digit)
{
    uint peers = 0xffffffffu;
    #pragma unroll
    for (uint b = 0; b < 8; ++b)
        peers = warp_same(peers, digit, 1u << b);
    return peers;
}

uint warp_sum_before(uint value, uint lane)
{
    uint sum = value;
    #pragma unroll
    for (uint distance = 1; distance < 32; distance <<= 1) {
        const uint other = warp_shuffle_up(sum, distance);
        sum += lane >= distance ? other : 0;
    }
    return sum - value;
}

$end
$if count
/* How often each digit of each pass occurs: bin b of pass k at 256 * k + b. Also clears the states of all tiles. */
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
            const $position i = ($position)(at + j * $group);
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
        const $position i = ($position)(at + j * $group);
        $code code = 0;
$readcode
        for (uint k = 0; k < $passes; ++k)
            atomic_inc(&bins[256 * k + ((uint)(code >> shift * k) & mask)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lane; k < 256 * $passes; k += $group) {
        if (bins[k] > 0)
            $add(&counts[k], ($position)bins[k]);
    }
}
$end
$if offsets
/* Counts become offsets: where each bin of a pass starts. A group for each pass. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void $name(__global $position *counts)
{
    __local $position sums[2][256];
    const uint lane = get_local_id(0);
    const $position count = counts[get_global_id(0)];
    $position sum = count;
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
$end
$if move
/* One pass over one digit. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local $wide exchange[$group * $items];
    __local uint counters[$group / 32 * 256];
    __local $position positions[256];
    __local uint sums[8];
    __local uint taken;
    __local $code *const tilecodes = (__local $code *)exchange;
$if haspayload
    __local $payload *const tilepayloads = (__local $payload *)exchange;
$end
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
            const $position i = ($position)(first + own + 32 * j);
            $code code = 0;
$readcode
            held[j] = code;
        }
    } else {
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            $code code = ~($code)0; /* padding sorts to the end of the last tile */
            if (own + 32 * j < count) {
                const $position i = ($position)(first + own + 32 * j);
                code = 0;
$readcode
            }
            held[j] = code;
        }
    }

    /* The rank of each element among those of its bin in the warp's part of the tile. */
    uint slots[($items + 1) / 2]; /* two of 16 bits in each: registers limit occupancy */
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

    /* Counts of the bins in the tile, and where each warp's share of each bin starts in it. */
    volatile __global $position *const published = states + ((size_t)pass * tiles + tile) * 256;
    uint total = 0;
    for (uint w = 0; w < $group / 32; ++w)
        total += counters[w * 256 + id];
    published[id] = (tile == 0 ? $sum : $share) | ($position)total;
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

$if haspayload
    $payload heldpayloads[$items];
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        if (own + 32 * j < count) {
            const $position i = ($position)(first + own + 32 * j);
$readpayload
            heldpayloads[j] = payload;
        }
    }
$end
    /* Look back, four states at a time to overlap their latency. Before the first tile the sum is 0. */
    $position before = 0;
    bool known = tile == 0;
    for (uint back = 1; !known; back += 4) {
        $position seen[4];
        #pragma unroll
        for (uint k = 0; k < 4; ++k)
            seen[k] = back + k <= tile ? published[id - (long)(back + k) * 256] : $sum;
        #pragma unroll
        for (uint k = 0; k < 4; ++k) {
            while (!known && (seen[k] & ($share | $sum)) == 0)
                seen[k] = published[id - (long)(back + k) * 256];
            if (!known) {
                before += seen[k] & ($share - 1);
                known = (seen[k] & $sum) != 0;
            }
        }
    }
    if (tile > 0)
        published[id] = $sum | (before + total);
    positions[id] = counts[256 * pass + id] + before - start;
    barrier(CLK_LOCAL_MEM_FENCE);
$if haspayload
    $position to[$items];
$end
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        const uint slot = j * $group + id;
        if (slot < count) {
            const $code code = tilecodes[slot];
            const $position p = positions[(uint)(code >> shift) & mask] + slot;
$if haspayload
            to[j] = p;
$end
$writecode
        }
    }
$if haspayload
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        if (own + 32 * j < count)
            tilepayloads[slots[j / 2] >> j % 2 * 16 & 0xffff] = heldpayloads[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        const uint slot = j * $group + id;
        if (slot < count) {
            const $position p = to[j];
            const $payload payload = tilepayloads[slot];
$writepayload
        }
    }
$end
}
$end
