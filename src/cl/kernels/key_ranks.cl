/// Numbers the tuples of keys that rows have in the order of their places among all combinations of the keys' ranges, and
/// makes tables by these numbers, or by the places themselves.
///
/// Strategy: a bit for each combination, set by atomics. 32 of them are a word, beside the number of bits that are set
/// up to its end. Work-groups count the bits of tiles of words; the host adds these up.
///
/// Filled in for an i32 key whose rows are listed by number:
///   $parameters, $prologue and $index as in group_accumulate.cl; $each as in column_minmax.cl
///   $distinct    1: raise flags[0] if two rows have one tuple
///   $ranked      1: an id is the rank of a bit; else the place itself
///   $type        int
///   $rows        1: to[id] = row, and flags[1] is raised unless all rows are in the order of their ids
///   $members     1: to[id] = 1
///   $atomicload  *cell
/* A word that others may be changing: some recent value. */
static inline uint load_global(volatile __global uint *cell)
{
    return $atomicload;
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void clear(
    __global uint *words, uint with, ulong begin, ulong end, ulong chunk)
{
    $each
        words[i] = with;
}

/* Sets the bit of each row's tuple. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void mark(
$parameters
    volatile __global uint *words, volatile __global uint *flags, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$index
        const uint bit = 1u << (index & 31);
        volatile __global uint *word = words + 2 * (ulong)(index >> 5);
$if distinct
        if (atomic_or(word, bit) & bit)
            flags[0] = 1;
$else
        if (!(load_global(word) & bit))
            atomic_or(word, bit);
$end
    }
}

/* Counts the bits of each tile. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void count(
    __global const uint *words, __global uint *counts, ulong size, ulong tile)
{
    __local uint sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong begin = get_group_id(0) * tile, end = min(begin + tile, size);
    uint bits = 0, all;
    for (ulong i = begin + lane; i < end; i += $group)
        bits += popcount(words[2 * i]);
    (void)sum_up_to(bits, sums, &all);
    if (lane == 0)
        counts[get_group_id(0)] = all;
}

/* Writes how many bits there are up to each word's end. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void rank(
    __global uint *words, __global const uint *starts, ulong size, ulong tile)
{
    __local uint sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong begin = get_group_id(0) * tile, end = min(begin + tile, size);
    uint before = starts[get_group_id(0)];
    for (ulong base = begin; base < end; base += $group) {
        const ulong i = base + lane;
        uint all;
        const uint sum = sum_up_to(i < end ? popcount(words[2 * i]) : 0, sums, &all);
        if (i < end)
            words[2 * i + 1] = before + sum;
        before += all;
    }
}

/* Writes the table. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void put(
$parameters
    __global const uint *words, volatile __global $type *to, ulong first, volatile __global uint *flags,
    ulong begin, ulong end, ulong chunk)
{
$prologue
    to += first;
    $each {
$index
$if ranked
        const ulong word = 2 * (ulong)(index >> 5);
        const uint id = words[word + 1] - popcount(words[word] >> (index & 31));
$else
        const uint id = index;
$end
$if rows
$if ranked
        to[id] = ($type)i;
$else
        if (atomic_cmpxchg(&to[id], -1, ($type)i) != -1)
            flags[0] = 1;
$end
        if (id != (uint)i && load_global(&flags[1]) == 0)
            flags[1] = 1;
$else
$if members
        to[id] = 1;
$else
        to[i] = id;
$end
$end
    }
}
