/// The first row of each distinct key, for group and distinct.
///
/// Strategy: a table holds, in one slot for all rows with equal keys, the least of their row numbers so far; `slots`
/// records the slot of each row. Where keys are few ($dense), the slot is the key's code. Otherwise it is found by
/// hashing with linear probing: the row that finds a slot empty claims it with its own number, so no key is stored, and
/// a slot never changes its key.
///
/// Filled in for an i32 key, hashed:
///   $parameters, $prologue, $each and $index as in group_accumulate.cl
///   $keys        const uint k0 = encode_int(k0_column[i]);
///   $hash        ulong h = 0; h = (h ^ k0) * 0xff51afd7ed558ccdul; h ^= h >> 32; ...
///   $same        encode_int(k0_column[there]) == k0
///   $atomicload  *cell
/* A word that others may be changing: some recent value. */
static inline uint load_global(volatile __global uint *cell)
{
    return $atomicload;
}

/* Finds the slot of each row. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void find(
$parameters
    volatile __global uint *table, uint mask, __global uint *slots, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
        const uint row = (uint)i;
$if dense
$index
        const uint at = index;
        if (row < load_global(&table[at]))
            atomic_min(&table[at], row);
$else
$keys
$hash
        uint at = (uint)h & mask;
        for (;;) {
            uint there = load_global(&table[at]);
            if (there == 0xffffffffu) {
                there = atomic_cmpxchg(&table[at], 0xffffffffu, row);
                if (there == 0xffffffffu)
                    break;
            }
            if ($same) {
                if (row < there)
                    atomic_min(&table[at], row);
                break;
            }
            at = (at + 1) & mask;
        }
$end
        slots[i] = at;
    }
}

/* Empties the table. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void empty(
    __global uint *table, ulong begin, ulong end, ulong chunk)
{
    $each
        table[i] = 0xffffffffu;
}

/* Counts the first rows of each tile; a work-item has `share` consecutive rows of it. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void count(
    __global const uint *table, __global const uint *slots, __global uint *counts, ulong rows, ulong share)
{
    __local uint sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong begin = get_global_id(0) * share, end = min(begin + share, rows);
    uint count = 0, all;
    for (ulong i = begin; i < end; ++i)
        count += table[slots[i]] == (uint)i;
    (void)sum_up_to(count, sums, &all);
    if (lane == 0)
        counts[get_group_id(0)] = all;
}

/* Lists the first rows in order, those of a tile from its start on. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void list(
    __global const uint *table, __global const uint *slots, __global const uint *starts, __global uint *listed,
    ulong first, ulong rows, ulong share)
{
    __local uint sums[2 * $group];
    const ulong begin = get_global_id(0) * share, end = min(begin + share, rows);
    uint count = 0, all;
    for (ulong i = begin; i < end; ++i)
        count += table[slots[i]] == (uint)i;
    ulong at = first + starts[get_group_id(0)] + sum_up_to(count, sums, &all) - count;
    for (ulong i = begin; i < end; ++i)
        if (table[slots[i]] == (uint)i)
            listed[at++] = (uint)i;
}

/* Replaces the row numbers in the table by positions in the list. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void number(
    __global uint *table, __global const uint *slots, __global const uint *listed, ulong first,
    ulong begin, ulong end, ulong chunk)
{
    $each
        table[slots[listed[first + i]]] = (uint)i;
}
