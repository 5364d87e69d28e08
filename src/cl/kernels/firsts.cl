/* The first row with the keys of each row. A table holds for all rows with equal keys, in one place, the least of their
 * numbers so far; which place that is, slots tells. Whoever finds the place empty claims it with its own number, so no
 * key has to be stored, and a place belongs to the same keys for ever. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void find(
$parameters
    volatile __global uint *table, uint mask, __global uint *slots, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
        const uint row = (uint)i;
$slot
        slots[i] = at;
    }
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void empty(
    __global uint *table, ulong begin, ulong end, ulong chunk)
{
    $each
        table[i] = 0xffffffffu;
}

/* How many rows of a tile are first ones: a work-item has `share` rows of it, one after another. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void tally(
    __global const uint *table, __global const uint *slots, __global uint *counts, ulong rows, ulong share)
{
    __local uint sums[$group];
    const uint lane = get_local_id(0);
    const ulong begin = get_global_id(0) * share, end = min(begin + share, rows);
    uint count = 0;
    for (ulong i = begin; i < end; ++i)
        count += table[slots[i]] == (uint)i;
    sums[lane] = count;
    for (uint step = $group / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step)
            sums[lane] += sums[lane + step];
    }
    if (lane == 0)
        counts[get_group_id(0)] = sums[0];
}

/* Lists them in order, the tile's from starts on. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void list(
    __global const uint *table, __global const uint *slots, __global const uint *starts, __global uint *firsts,
    ulong first, ulong rows, ulong share)
{
    __local uint sums[2][$group];
    const uint lane = get_local_id(0);
    const ulong begin = get_global_id(0) * share, end = min(begin + share, rows);
    uint count = 0, side = 0;
    for (ulong i = begin; i < end; ++i)
        count += table[slots[i]] == (uint)i;
    uint sum = count;
    sums[0][lane] = sum;
    for (uint distance = 1; distance < $group; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= distance)
            sum += sums[side][lane - distance];
        side ^= 1;
        sums[side][lane] = sum;
    }
    ulong at = first + starts[get_group_id(0)] + sum - count;
    for (ulong i = begin; i < end; ++i)
        if (table[slots[i]] == (uint)i)
            firsts[at++] = (uint)i;
}

/* Puts into the table which of the listed ones each is, rather than its row. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void number(
    __global uint *table, __global const uint *slots, __global const uint *firsts, ulong first,
    ulong begin, ulong end, ulong chunk)
{
    $each
        table[slots[firsts[first + i]]] = (uint)i;
}
