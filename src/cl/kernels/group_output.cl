/// Writes the groups of a table of records to the columns of the result, in the order of their keys, without those that
/// no row has.
///
/// Strategy: a work-group takes the records of a tile, first to count them, then, once the host has added up the counts,
/// to write them: each time as many as it has work-items.
///
/// With $floats there are sums of floats (group_record.cl), or means.
///
/// Filled in for the key, the count and the sum of an i32 column:
///   $parameters  __global int *t0, ulong t0_first, long t0_base, uint t0_step, uint t0_codes,
///                __global long *t1, ulong t1_first, __global long *t2, ulong t2_first, long t2_base,
///   $write       t0[t0_first + row] = (int)(t0_base + (long)((uint)i / t0_step % t0_codes));
///                t1[t1_first + row] = (long)record[2];
///                t2[t2_first + row] = (long)sum_of(record, 0, t2_base, record[2], flag);
/* Counts the records of each tile. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void filled(
    __global const uint *table, ulong first, __global uint *counts, ulong records, ulong tile)
{
    __local uint sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong begin = get_group_id(0) * tile, end = min(begin + tile, records);
    uint count = 0, all;
    for (ulong i = begin + lane; i < end; i += $group)
        count += table[first + i * $stride + $count] != 0;
    (void)sum_up_to(count, sums, &all);
    if (lane == 0)
        counts[get_group_id(0)] = all;
}

/* A sum of offsets, two words and perhaps a third, above `base`; raises the flag if it does not fit. */
static inline long sum_of(ulong offsets, uint top, long base, uint count, __global int *flag)
{
    const ulong bases = (ulong)base * count, low = bases + offsets;
    const long high = mul_hi(base, (long)count) + top + (low < offsets);
    if (high != ((long)low < 0 ? -1 : 0))
        *flag = 1;
    return (long)low;
}

$if floats
/* A number of `count` words in two's complement, times 2^exponent, rounded to nearest even. Of its 64 bits from the
 * highest one on, the lowest stands for all that follow, too: so it is rounded once. */
static inline double float_of(__global const uint *words, uint count, int exponent)
{
    const uint negative = words[count - 1] >> 31;
    uint size[$words], carry = negative, top = 0;
    for (uint k = 0; k < count; ++k) {
        size[k] = (words[k] ^ (negative ? 0xffffffffu : 0)) + carry;
        carry = carry && size[k] == 0;
        top = size[k] ? k : top;
    }
    const uint shift = (uint)clz(size[top]), next = top > 1 ? size[top - 2] : 0;
    ulong bits = upsample(size[top], top > 0 ? size[top - 1] : 0);
    uint rest = shift < 32 ? next << shift : 0;
    if (shift > 0 && shift < 32)
        bits = bits << shift | next >> (32 - shift);
    for (uint k = 0; k + 2 < top; ++k)
        rest |= size[k];
    const double number = (double)(bits | (rest != 0));
    return ldexp(negative ? -number : number, exponent + 32 * ((int)top - 1) - (int)shift);
}

$end
/* Writes them. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void put(
    __global const uint *table, ulong first, __global const uint *starts, __global int *flag,
$parameters
    ulong records, ulong tile)
{
    __local uint sums[2 * $group];
    const uint lane = get_local_id(0);
    const ulong begin = get_group_id(0) * tile, end = min(begin + tile, records);
    ulong at = starts[get_group_id(0)];
    for (ulong base = begin; base < end; base += $group) {
        const ulong i = base + lane;
        __global const uint *record = table + first + i * $stride;
        const uint count = i < end ? record[$count] : 0;
        uint all;
        const uint sum = sum_up_to(count != 0, sums, &all);
        const ulong row = at + sum - 1;
        at += all;
        if (count != 0) {
$write
        }
    }
}
