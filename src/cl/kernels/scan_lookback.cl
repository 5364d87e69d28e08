/// A scan on NVIDIA GPUs that reads and writes each row once, with the decoupled look-back of D. Merrill and M.
/// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
///
/// Strategy: a group combines its tile and publishes the total, combines what earlier tiles have published back to one
/// that has published its prefix, and publishes its own prefix. Groups are started in the order of their numbers and
/// make progress once they have started, so a group waits for running ones only. It needs states of 64 bits that
/// commute. The word of a tile is the state, what it covers and the number of the launch, written and read at once:
/// words of earlier launches need not be cleared. Each warp moves its rows through its own part of local memory.
///
/// Sums of 1 G i32 into i64 on an H200: 3.33 ms, and 2.95 without the sums of other tiles. Groups sleep before they look
/// back, as in filter_lookback.cl: 3.46 without that, 3.28 with 3 us, 4.04 with 5. Groups of 128 with 23 rows of a
/// work-item 3.51 (without sleep), of 256 with 15 rows 3.82, and 3.72 where all of the group looks back; 5.2 without
/// local memory, where work-items load four rows each.
///
/// Holes, macros and types as in scan_state.cl; $stage as in scan_tiles.cl.
enum { PUBLISHED_TILE = 1, PUBLISHED_PREFIX = 2, EPOCH_SHIFT = 2 };

void publish(__global ulong2 *word, state s, ulong published)
{
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(word), "l"(as_ulong(s)), "l"(published) : "memory");
}

ulong2 observe(__global ulong2 *word)
{
    ulong x, y;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(word) : "memory");
    return (ulong2)(x, y);
}

state warp_up(state s, uint distance)
{
    const uint2 x = as_uint2(s);
    uint2 y;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(y.x) : "r"(x.x), "r"(distance));
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(y.y) : "r"(x.y), "r"(distance));
    return as_$X(y);
}

state warp_across(state s, uint mask)
{
    const uint2 x = as_uint2(s);
    uint2 y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y.x) : "r"(x.x), "r"(mask));
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y.y) : "r"(x.y), "r"(mask));
    return as_$X(y);
}

/* One bit for each work-item of the warp. */
uint warp_votes(int vote)
{
    uint votes;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(votes)
                 : "r"(vote));
    return votes;
}

void warp_barrier(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}

/* Returns the combination of all rows before a tile: the first warp. */
state look_back(__global ulong2 *words, ulong tile, ulong epoch,
$parameters
    int *flagged)
{
    const uint lane = get_local_id(0);
    int err = 0;
    uint votes = 0;
    state before = none();
    asm volatile("nanosleep.u32 2000;");
    for (long at = (long)tile - 1 - lane; !votes; at -= 32) {
        ulong2 word = (ulong2)(0, PUBLISHED_PREFIX);
        if (at >= 0) {
            do
                word = observe(words + at);
            while (word.y >> EPOCH_SHIFT != epoch);
        }
        votes = warp_votes((word.y & 3) == PUBLISHED_PREFIX);
        const uint nearest = votes ? 31 - clz(votes & -votes) : 31;
        state s = at >= 0 && lane <= nearest ? as_$X(word.x) : none();
        for (uint mask = 16; mask > 0; mask >>= 1)
            s = JOIN(s, warp_across(s, mask));
        before = JOIN(s, before);
    }
    *flagged |= err;
    return before;
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_lookback(
    __global const $V *restrict in, ulong from, __global $R *restrict out, ulong to, __global ulong2 *words,
    ulong epoch, __global state *carry,
$parameters
    int first, ulong rows, __global int *flag)
{
    __local state sums[$group / 32];
    __local state start;
    __local $stage stage[$group * $items];
    const uint lane = get_local_id(0) % 32, warp = get_local_id(0) / 32;
    const ulong tile = get_group_id(0), end = (tile + 1) * ($group * $items);
    const ulong begin = tile * ($group * $items) + warp * (32 * $items);
    const uint count = begin < rows ? min((ulong)(32 * $items), rows - begin) : 0;
    const int full = end <= rows;
    __local $V *stagein = (__local $V *)(stage + warp * (32 * $items));
    __local $R *stageout = (__local $R *)(stage + warp * (32 * $items));
    int err = 0;
    in += from + begin;
    out += to + begin;
    $V x[$items];
    if (full) {
        #pragma unroll
        for (uint j = 0; j < $items; ++j)
            x[j] = in[j * 32 + lane];
        #pragma unroll
        for (uint j = 0; j < $items; ++j)
            stagein[j * 32 + lane] = x[j];
    } else {
        for (uint k = lane; k < count; k += 32)
            stagein[k] = in[k];
    }
    warp_barrier();
    state own = none();
    #pragma unroll
    for (uint j = 0; j < $items; ++j) {
        if (full || lane * $items + j < count) {
            x[j] = stagein[lane * $items + j];
            own = ADD(own, x[j]);
        }
    }
    state sum = own;
    #pragma unroll
    for (uint distance = 1; distance < 32; distance <<= 1) {
        const state other = warp_up(sum, distance);
        if (lane >= distance)
            sum = JOIN(other, sum);
    }
    if (lane == 31)
        sums[warp] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    state running = none(), total = none();
    #pragma unroll
    for (uint k = 0; k < $group / 32; ++k) {
        if (k == warp)
            running = total;
        total = JOIN(total, sums[k]);
    }
    const state up = warp_up(sum, 1);
    if (lane > 0)
        running = JOIN(running, up);
    if (warp == 0) {
        if (tile > 0 && lane == 0)
            publish(words + tile, total, epoch << EPOCH_SHIFT | PUBLISHED_TILE);
        const state before = tile > 0 ? look_back(words, tile, epoch, $pass &err) : first ? START : carry[0];
        if (lane == 0) {
            const state all = JOIN(before, total);
            publish(words + tile, all, epoch << EPOCH_SHIFT | PUBLISHED_PREFIX);
            start = before;
            if (end >= rows)
                carry[0] = all;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    running = JOIN(start, running);
    #pragma unroll
    for (uint j = 0; j < $items; ++j)
        if (full || lane * $items + j < count)
            STEP(running, x[j], stageout[lane * $items + j])
    warp_barrier();
    if (full) {
        #pragma unroll
        for (uint j = 0; j < $items; ++j)
            out[j * 32 + lane] = stageout[j * 32 + lane];
    } else {
        for (uint k = lane; k < count; k += 32)
            out[k] = stageout[k];
    }
    if (err)
        atomic_or(flag, 1);
}
