/* Fetches the rows that are listed. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
    __global const $store *from, ulong first, __global const $place *order, __global $store *to, ulong at, ulong rows,
    ulong chunk)
{
    const ulong stride = (ulong)get_num_groups(0) * ($group * $unroll);
    ulong start = (ulong)get_group_id(0) * ($group * $unroll) + get_local_id(0);
    for (; start + $group * ($unroll - 1) < rows; start += stride) {
        #pragma unroll
        for (uint j = 0; j < $unroll; ++j)
            to[at + start + j * $group] = from[first + order[start + j * $group]];
    }
    for (uint j = 0; j < $unroll && start + j * $group < rows; ++j)
        to[at + start + j * $group] = from[first + order[start + j * $group]];
}
