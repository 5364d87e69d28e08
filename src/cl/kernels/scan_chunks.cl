/// A scan on a CPU, in three kernels.
///
/// Strategy: each work-item combines a contiguous chunk of rows; one work-item scans the totals of the chunks; then
/// each work-item scans its chunk from the prefix of that. In a segmented scan the total of a chunk starts at the last
/// segment that begins in it. Tiles (scan_tiles.cl) in groups of one work-item take PoCL twice the time for sums of
/// floats, and 2.5 times the time to compile.
///
/// Holes, macros and types as in scan_state.cl.
/* Combines the rows of each chunk. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void scan_totals(
    __global const $V *restrict in, ulong from, __global chain *totals,
$parameters
    ulong base, ulong rows, ulong chunk, ulong segment, __global int *flag)
{
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    ulong i = get_group_id(0) * chunk;
    int err = 0;
    in += from;
    chain total = nothing();
#if SEGMENTED
    const ulong last = (base + end - 1) / segment * segment;
    if (last >= base + i) {
        i = last - base;
        total.at = START;
        total.head = 1;
    }
#endif
    state running = AT(total);
    for (; i < end; ++i)
        running = ADD(running, in[i]);
    AT(total) = running;
    totals[get_group_id(0)] = total;
    if (err)
        atomic_or(flag, 1);
}

/* Replaces the totals of chunks by their prefixes. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void scan_carries(
    __global chain *totals, __global state *carry,
$parameters
    int first, uint chunks, __global int *flag)
{
    int err = 0;
    state running = first ? START : carry[0];
    for (uint k = 0; k < chunks; ++k) {
        const chain total = totals[k];
        totals[k] = chain_of(running);
        running = AT(LINK(chain_of(running), total));
    }
    carry[0] = running;
    if (err)
        atomic_or(flag, 1);
}

/* Scans each chunk from its prefix. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void scan_rows(
    __global const $V *restrict in, ulong from, __global $R *restrict out, ulong to, __global const chain *carries,
$parameters
    ulong base, ulong rows, ulong chunk, ulong segment, __global int *flag)
{
    const ulong end = min((get_group_id(0) + 1) * chunk, rows);
    ulong i = get_group_id(0) * chunk;
    int err = 0;
    in += from;
    out += to;
    const chain before = carries[get_group_id(0)];
    state running = AT(before);
#if SEGMENTED
    ulong left = (segment - (base + i) % segment) % segment;
    while (i < end) {
        if (left == 0) {
            running = START;
            left = segment;
        }
        const ulong stop = min(end, i + left);
        left -= stop - i;
        for (; i < stop; ++i)
            STEP(running, in[i], out[i])
    }
#else
    for (; i < end; ++i)
        STEP(running, in[i], out[i])
#endif
    if (err)
        atomic_or(flag, 1);
}
