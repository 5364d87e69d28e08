/// Counts of rows, and sums and means of floats, of each of few keys, in the rounds of a loop: from low on.
///
/// Strategy: a group of work-items takes one key, one column and some of the rows; it adds up the elements of the rows
/// that have this key as a compensated sum (join_terms.cl). Another kernel joins the parts of each sum and rounds it.
/// Where no row has a key, a row has another key, or a sum is uncertain, the round fails.
///
/// Filled in for `group a: mean(x), mean(y)`:
///   $key      int, $columns 2
///   $choose   in0 + from0; if (column == 1) in = in1 + from1;
///   $write    if (column == 0) out0[to0 + key] = sum / (double)count + 0.0; ...
enum { WORDS = 5 }; /* of a part: the sum's four, and how many rows */

/* `sums` and `parts` divide the groups; a part has `chunk` rows. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
    __global const $key *restrict keys, ulong first, long low,
$inputs
    __global ulong *slots, uint sums, uint parts, ulong chunk, ulong rows, __global int *flag, int round)
{
    __local ulong joined[4 * $group];
    __local uint total;
    const uint lane = get_local_id(0);
    const uint which = get_group_id(0) % sums, part = get_group_id(0) / sums;
    const uint column = which % $columns;
    const $key wanted = ($key)(low + which / $columns);
    const ulong count_of_keys = sums / $columns;
$begin
    __global const double *restrict in = $choose
    double high = 0, small = 0, rest = 0, weight = 0;
    uint count = 0;
    bool others = false;
    const ulong end = min((part + 1) * chunk, rows);
    ulong i = part * chunk + lane;
    keys += first;
    if (lane == 0)
        total = 0;
    for (; i + 7 * $group < end; i += 8 * $group) {
        #pragma unroll
        for (uint j = 0; j < 8; ++j) {
            const $key key = keys[i + j * $group];
            const bool same = key == wanted;
            others |= (ulong)((long)key - low) >= count_of_keys;
            add_float(&high, &small, &rest, &weight, same ? in[i + j * $group] : 0.0);
            count += same;
        }
    }
    for (; i < end; i += $group) {
        const $key key = keys[i];
        const bool same = key == wanted;
        others |= (ulong)((long)key - low) >= count_of_keys;
        add_float(&high, &small, &rest, &weight, same ? in[i] : 0.0);
        count += same;
    }
    if (others)
        atomic_cmpxchg(flag, 0, round);
    join_floats(joined, lane, $group, &high, &small, &rest, &weight);
    atomic_add(&total, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane > 0)
        return;
    slots += ((ulong)which * parts + part) * WORDS;
    slots[0] = as_ulong(high);
    slots[1] = as_ulong(small);
    slots[2] = as_ulong(rest);
    slots[3] = as_ulong(weight);
    slots[4] = total;
}

/* A group for each sum. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void finish(
$outputs
    __global const ulong *slots, uint parts, long low, __global int *flag, int round)
{
    __local ulong joined[4 * $group];
    __local uint total;
    const uint lane = get_local_id(0);
    const uint column = get_group_id(0) % $columns, key = get_group_id(0) / $columns;
$begin
    double high = 0, small = 0, rest = 0, weight = 0;
    uint count = 0;
    if (lane == 0)
        total = 0;
    slots += (ulong)get_group_id(0) * parts * WORDS;
    for (uint part = lane; part < parts; part += $group) {
        add_float(&high, &small, &rest, &weight, as_double(slots[part * WORDS]));
        add_float(&high, &small, &rest, &weight, as_double(slots[part * WORDS + 1]));
        add_float(&high, &small, &rest, &weight, as_double(slots[part * WORDS + 2]));
        weight += as_double(slots[part * WORDS + 3]);
        count += (uint)slots[part * WORDS + 4];
    }
    join_floats(joined, lane, $group, &high, &small, &rest, &weight);
    atomic_add(&total, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane > 0)
        return;
    count = total;
    int failed = count == 0;
    const double sum = rounded_sum(high, small, rest, weight, 0x1p40, &failed);
$write
    if (failed)
        atomic_cmpxchg(flag, 0, round);
}
