/// Reads the listed rows of a column: the payload of a sort.
///
/// Strategy: a work-item has $unroll rows in flight, a group's width apart.
///
/// Filled in for a column of i32: $store is uint, $position uint, $unroll 4
/* Copies the listed rows. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void sort_gather(
    __global const $store *from, ulong first, __global const $position *order, __global $store *to, ulong at,
    ulong rows)
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
