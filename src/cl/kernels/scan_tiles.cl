/// A scan in three kernels, and one of columns side by side, such as those of a matrix, in three others.
///
/// Strategy: each group combines a contiguous chunk of rows; one group scans the totals of the chunks; then each group
/// scans its chunk from the prefix of that, tile by tile. Tiles pass through local memory, so that work-items access
/// neighbouring rows of memory but combine consecutive ones. Their number is odd, which avoids bank conflicts.
///
/// Holes, macros and types as in scan_state.cl; $stage is the larger of $V and $R as an unsigned type.
/* Returns the combination of the work-items before this one, and in *total that of all; a barrier for the group. */
chain scan_group(chain own, __local chain *sums,
$parameters
    chain *total, int *flagged)
{
    const uint lane = get_local_id(0);
    int err = 0;
    chain sum = own;
    uint side = 0;
    sums[lane] = sum;
    for (uint distance = 1; distance < $group; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= distance)
            sum = LINK(sums[side + lane - distance], sum);
        side ^= $group;
        sums[side + lane] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = sums[side + $group - 1];
    const chain before = lane > 0 ? sums[side + lane - 1] : nothing();
    barrier(CLK_LOCAL_MEM_FENCE);
    *flagged |= err;
    return before;
}

/* Combines the rows of each chunk: side by side if their order does not matter, otherwise by tiles in local memory. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_totals(
    __global const $V *restrict in, ulong from, __global chain *totals,
$parameters
    ulong base, ulong rows, ulong chunk, ulong segment, __global int *flag)
{
    __local chain sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    int err = 0;
    in += from;
    chain total = nothing(), own = nothing();
#if COMMUTES
    ulong i = get_group_id(0) * chunk + lane;
    for (; i + 7 * $group < end; i += 8 * $group) {
        $V x[8];
        #pragma unroll
        for (uint j = 0; j < 8; ++j)
            x[j] = in[i + j * $group];
        #pragma unroll
        for (uint j = 0; j < 8; ++j)
            own = ADD(own, x[j]);
    }
    for (; i < end; i += $group)
        own = ADD(own, in[i]);
    scan_group(own, sums, $pass &total, &err);
#else
    __local $V stage[$group * $items];
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $items) {
        const uint count = min((ulong)($group * $items), end - tile);
        for (uint k = lane; k < count; k += $group)
            stage[k] = in[tile + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        own = nothing();
        for (uint k = lane * $items; k < min(lane * $items + $items, count); ++k) {
            HEAD(own, base + tile + k)
            AT(own) = ADD(AT(own), stage[k]);
        }
        chain sum;
        scan_group(own, sums, $pass &sum, &err);
        total = LINK(total, sum);
    }
#endif
    if (lane == 0)
        totals[get_group_id(0)] = total;
    if (err)
        atomic_or(flag, 1);
}

/* Replaces the totals of chunks by their prefixes; one group. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_carries(
    __global chain *totals, __global state *carry,
$parameters
    int first, uint chunks, __global int *flag)
{
    __local chain sums[2 * $group];
    const uint lane = get_local_id(0);
    const uint each = (chunks + $group - 1) / $group;
    const uint begin = min(lane * each, chunks), end = min(begin + each, chunks);
    int err = 0;
    const state start = first ? START : carry[0];
    chain own = nothing(), all;
    for (uint k = begin; k < end; ++k)
        own = LINK(own, totals[k]);
    chain running = LINK(chain_of(start), scan_group(own, sums, $pass &all, &err));
    for (uint k = begin; k < end; ++k) {
        const chain total = totals[k];
        totals[k] = running;
        running = LINK(running, total);
    }
    if (lane == 0)
        carry[0] = AT(LINK(chain_of(start), all));
    if (err)
        atomic_or(flag, 1);
}

/* Scans each chunk from its prefix. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_rows(
    __global const $V *restrict in, ulong from, __global $R *restrict out, ulong to, __global const chain *carries,
$parameters
    ulong base, ulong rows, ulong chunk, ulong segment, __global int *flag)
{
    __local chain sums[2 * $group];
    __local $stage stage[$group * $items];
    __local $V *stagein = (__local $V *)stage;
    __local $R *stageout = (__local $R *)stage;
    const uint lane = get_local_id(0);
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    int err = 0;
    in += from;
    out += to;
    chain carry = carries[get_group_id(0)];
    for (ulong tile = get_group_id(0) * chunk; tile < end; tile += $group * $items) {
        const uint count = min((ulong)($group * $items), end - tile);
        $V x[$items];
        #pragma unroll
        for (uint j = 0; j < $items; ++j)
            if (j * $group + lane < count)
                stagein[j * $group + lane] = in[tile + j * $group + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        chain own = nothing(), sum;
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            if (lane * $items + j < count) {
                x[j] = stagein[lane * $items + j];
                HEAD(own, base + tile + lane * $items + j)
                AT(own) = ADD(AT(own), x[j]);
            }
        }
        chain running = LINK(carry, scan_group(own, sums, $pass &sum, &err));
        #pragma unroll
        for (uint j = 0; j < $items; ++j) {
            if (lane * $items + j < count) {
                HEAD(running, base + tile + lane * $items + j)
                STEP(AT(running), x[j], stageout[lane * $items + j])
            }
        }
        carry = LINK(carry, sum);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint j = 0; j < $items; ++j)
            if (j * $group + lane < count)
                out[tile + j * $group + lane] = stageout[j * $group + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (err)
        atomic_or(flag, 1);
}

/* Columns side by side: row i follows row i - width. A work-item takes some lines of a column. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_column_totals(
    __global const $V *restrict in, ulong from, __global state *totals,
$parameters
    ulong rows, ulong width, ulong lines, ulong items, __global int *flag)
{
    const ulong item = get_global_id(0);
    int err = 0;
    in += from;
    if (item < items) {
        const ulong end = min((item / width + 1) * lines * width, rows);
        state running = none();
        for (ulong i = item / width * lines * width + item % width; i < end; i += width)
            running = ADD(running, in[i]);
        totals[item] = running;
    }
    if (err)
        atomic_or(flag, 1);
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_column_carries(
    __global state *totals,
$parameters
    ulong width, ulong items, __global int *flag)
{
    int err = 0;
    if (get_global_id(0) < width) {
        state running = START;
        for (ulong k = get_global_id(0); k < items; k += width) {
            const state total = totals[k];
            totals[k] = running;
            running = JOIN(running, total);
        }
    }
    if (err)
        atomic_or(flag, 1);
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void scan_column_rows(
    __global const $V *restrict in, ulong from, __global $R *restrict out, ulong to, __global const state *carries,
$parameters
    ulong rows, ulong width, ulong lines, ulong items, __global int *flag)
{
    const ulong item = get_global_id(0);
    int err = 0;
    in += from;
    out += to;
    if (item < items) {
        const ulong end = min((item / width + 1) * lines * width, rows);
        state running = carries[item];
        for (ulong i = item / width * lines * width + item % width; i < end; i += width)
            STEP(running, in[i], out[i])
    }
    if (err)
        atomic_or(flag, 1);
}
