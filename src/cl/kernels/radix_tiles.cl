/// A pass of a radix sort: count, offsets, move.
///
/// Strategy: a group has one work-item for each bin and takes a contiguous chunk of elements. It counts the digits of
/// its chunk in local memory; a group for each bin scans the counts of all chunks; then each group moves its chunk tile
/// by tile. A tile is first sorted in local memory, by the lower and then by the upper half of the digit: work-items
/// count their own neighbouring elements, and a scan over all counts, bin by bin, gives each element its position.
/// Neighbours then write to neighbouring addresses.
///
/// Filled in for the first pass of a sort of i32 with a payload:
///   $readcode      { const uint row = i; { const uint key = encode_int(key0[keyat0 + row]);
///                  code |= (uint)((key ^ (uint)keys[0]) - (uint)keys[1]) << (uint)keys[3]; } }
///   $writecode     newcodes[p] = code;   (in the last pass: to0[toat0 + p] = (uint)decode_int(...);)
///   $readpayload   const ulong payload = 0 | (ulong)from1[fromat1 + i] << 0;
///   $writepayload  newpayloads[p] = payload;
///   $code, $payload, $position are unsigned types: of codes, of payloads and of row numbers; lines under `$if
///   haspayload` move the payload
$if helpers
/* Exclusive sum over the work-items of a group; sums holds two values of each. */
$position sum_before($position value, __local $position *sums)
{
    const uint lane = get_local_id(0);
    $position sum = value;
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

$end
$if count
/* How often each digit occurs in the chunk of a group: bin b of group g at b * groups + g. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local uint bins[256];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    bins[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong at = get_group_id(0) * chunk + lane; at < end; at += $group) {
        const $position i = ($position)at;
        $code code = 0;
$readcode
        atomic_inc(&bins[(uint)(code >> shift) & mask]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[lane * get_num_groups(0) + get_group_id(0)] = bins[lane];
}
$end
$if offsets
/* Counts become sums over the chunks before, a group for each bin. The totals of all bins follow the counts. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(__global $position *counts, ulong chunks)
{
    __local $position sums[2 * $group];
    __local $position carry;
    const uint lane = get_local_id(0);
    __global $position *own = counts + get_group_id(0) * chunks;
    $position total = 0;
    for (ulong at = 0; at < chunks; at += $group) {
        const $position count = at + lane < chunks ? own[at + lane] : 0;
        const $position before = sum_before(count, sums);
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
$end
$if move
/* Moves the elements of a group's chunk to the positions of their bins, tile by tile. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters)
{
    __local $code tilecodes[$group * $items];
$if haspayload
    __local $payload tilepayloads[$group * $items];
$end
    __local ushort counters[16 * $group];
    __local $position sums[2 * $group];
    __local $position positions[256];
    __local ushort begins[256], ends[256];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    /* one work-item for each bin */
    const $position start = sum_before(counts[256 * get_num_groups(0) + lane], sums);
    positions[lane] = start + counts[lane * get_num_groups(0) + get_group_id(0)];
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $items) {
        const uint count = (uint)min(end - tile, (ulong)($group * $items));
        begins[lane] = 0;
        ends[lane] = 0;
        for (uint j = 0; j < $items; ++j) {
            const uint slot = j * $group + lane;
            $code code = ~($code)0; /* padding sorts to the end of the last tile */
            if (slot < count) {
                const $position i = ($position)(tile + slot);
                code = 0;
$readcode
$readpayload
$if haspayload
                tilepayloads[slot] = payload;
$end
            }
            tilecodes[slot] = code;
        }
        for (uint round = 0; round < 2; ++round) {
            const uint part = mask >> 4 * round & 15;
            $code own[$items];
$if haspayload
            $payload ownpayloads[$items];
$end
            ushort ranks[$items];
            for (uint k = 0; k < 16; ++k)
                counters[k * $group + lane] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint j = 0; j < $items; ++j) {
                own[j] = tilecodes[lane * $items + j];
$if haspayload
                ownpayloads[j] = tilepayloads[lane * $items + j];
$end
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
$if haspayload
                tilepayloads[slot] = ownpayloads[j];
$end
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
            const $position p = positions[bin] + (slot - begins[bin]);
$writecode
$if haspayload
            const $payload payload = tilepayloads[slot];
$end
$writepayload
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        positions[lane] += ends[lane] - begins[lane];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
$end
