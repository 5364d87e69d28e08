/* Fetches the rows that are listed. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
    __global const $store *from, ulong first, __global const $place *order, __global $store *to, ulong at, ulong rows,
    ulong chunk)
{
    const ulong begin = get_group_id(0) * chunk, end = min(begin + chunk, rows);
    for (ulong i = begin; i < end; ++i)
        to[at + i] = from[first + order[i]];
}
