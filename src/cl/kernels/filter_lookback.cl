/// A filter in one pass, with the decoupled look-back of D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan
/// with Decoupled Look-back", 2016: each group copies the kept rows of its tile to behind those of all earlier tiles.
///
/// Strategy: of a tile, 32 work-items have 32 * $many consecutive rows. A group counts those that it keeps, publishes
/// the count, adds what earlier tiles have published back to one that knows the sum of all before it, and publishes its
/// own sum. Groups are started in the order of their numbers and make progress once they have started, so a group waits
/// for running ones only. The word of a tile is the count, what it counts, and the number of the launch, written and
/// read at once: no order of writes matters, and words of earlier launches need not be cleared. tiles[0] receives the
/// number of kept rows; the word of tile k is tiles[k + 1].
///
/// The rows are read again when they are written, from the cache; keeping them in registers took 2.6 instead of 2.3 ms
/// (1 G i32 on an H200, half of them kept), and collecting them in local memory, taking tiles by a counter and looking
/// at 64 or 128 tiles at once gained nothing. Latency takes most of the time, so tiles are large: groups of 512 with 8
/// rows of a work-item take 3.5 ms, 12 rows 2.75, 16 rows 2.46, 24 rows 2.39; groups of 256 with 24 rows 2.55, 32 2.81.
/// A group sleeps before it looks back: until it wakes up most of the tiles before it know their sums, and it does not
/// load words over and over meanwhile. Without that 2.25 ms, with 1 us 2.12, 2 us 2.04, 4 us 2.00, but 5 % kept 1.83,
/// 1.69, 1.65 and 1.87; sleeping between loads instead gains nothing.
///
/// Without $warps, votes go through local memory, for tests on devices that are none of NVIDIA's.
///
/// Filled in for `b + 1` of the rows with a < 42:
///   $rows        row_block.cl, with $step 32
///   $row         const int v0 = in0[i]; ... const int keep = v2; kept |= (uint)(keep & 1) << j;
///   $write       const int v1 = in1[i]; ... out0[at] = v3;
///   $parameters, $prologue, $declare and $finish as in rows_grid.cl
#define OF_TILE 1u /* what a count counts: the tile's rows, */
#define OF_ALL 2u  /* or all rows up to its end */
#define SHIFT 34   /* of the number of the launch */

$if warps
void publish(__global ulong *word, ulong epoch, uint what, uint count)
{
    const ulong value = epoch << SHIFT | (ulong)what << 32 | count;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/* Waits for the word of this launch. */
ulong observe(__global ulong *word, ulong epoch)
{
    ulong value;
    do
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    while (value >> SHIFT != epoch);
    return value;
}

/* One bit for each work-item of the warp. */
uint warp_votes(uint vote)
{
    uint votes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(votes)
                 : "r"(vote));
    return votes;
}

uint warp_sum(uint value)
{
    for (uint mask = 16; mask > 0; mask >>= 1) {
        uint other;
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(value), "r"(mask));
        value += other;
    }
    return value;
}

/* Returns the kept rows before a tile: 32 work-items together. */
uint look_back(__global ulong *words, long tile, ulong epoch)
{
    const uint lane = get_local_id(0);
    uint before = 0;
    asm volatile("nanosleep.u32 2000;");
    for (long at = tile - 1 - lane;; at -= 32) {
        const ulong word = at >= 0 ? observe(words + at, epoch) : (ulong)OF_ALL << 32;
        const uint votes = warp_votes((word >> 32 & 3) == OF_ALL);
        const uint nearest = votes ? 31 - clz(votes & -votes) : 31;
        before += warp_sum(lane <= nearest ? (uint)word : 0);
        if (votes)
            return before;
    }
}

$else
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
void publish(volatile __global ulong *word, ulong epoch, uint what, uint count)
{
    atom_xchg(word, epoch << SHIFT | (ulong)what << 32 | count);
}

ulong observe(volatile __global ulong *word, ulong epoch)
{
    ulong value;
    do
        value = atom_add(word, 0);
    while (value >> SHIFT != epoch);
    return value;
}

uint look_back(__global ulong *words, long tile, ulong epoch)
{
    uint before = 0;
    for (;;) {
        const ulong word = observe(words + --tile, epoch);
        before += (uint)word;
        if ((word >> 32 & 3) == OF_ALL)
            return before;
    }
}

$end
/* Copies the kept rows of a tile. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    __global ulong *tiles,
    long row, ulong rows, ulong epoch, __global int *flag)
{
    __local uint counts[$group / 32];
    __local uint start;
$if warps
$else
    __local uint ballots[$many][$group / 32];
$end
    const uint lane = get_local_id(0), warp = lane / 32, bit = 1u << lane % 32;
    const ulong tile = get_group_id(0) * ($group * $many), end = tile + $group * $many;
    const ulong first = tile + warp * (32 * $many) + lane % 32;
    uint kept = 0;
$prologue
$declare
    if (end <= rows) {
$rows
    } else {
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * 32;
            if (i >= rows)
                break;
$row
        }
    }
$if warps
    const uint count = warp_sum(popcount(kept));
$else
    uint count = 0;
    for (uint j = lane / 32; j < $many; j += $group / 32)
        ballots[j][lane % ($group / 32)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < $many; ++j)
        if (kept >> j & 1)
            atomic_or(&ballots[j][warp], bit);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < $many; ++j)
        count += popcount(ballots[j][warp]);
$end
    if (lane % 32 == 0)
        counts[warp] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0, tile_count = 0;
    for (uint k = 0; k < $group / 32; ++k) {
        before += k < warp ? counts[k] : 0;
        tile_count += counts[k];
    }
$if warps
    if (warp == 0) {
$else
    if (lane == 0) {
$end
        const long number = get_group_id(0);
        __global ulong *words = tiles + 1;
        if (number > 0 && lane == 0)
            publish(words + number, epoch, OF_TILE, tile_count);
        const uint all = number > 0 ? look_back(words, number, epoch) : 0;
        if (lane == 0) {
            publish(words + number, epoch, OF_ALL, all + tile_count);
            start = all;
            if (end >= rows)
                tiles[0] = all + tile_count;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint next = start + before;
    $unroll
    for (uint j = 0; j < $many; ++j) {
$if warps
        const uint votes = warp_votes(kept >> j & 1);
$else
        const uint votes = ballots[j][warp];
$end
        if (votes & bit) {
            const ulong at = next + popcount(votes & (bit - 1)), i = first + j * 32;
$write
        }
        next += popcount(votes);
    }
$finish
}
