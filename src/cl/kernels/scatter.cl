/* A bit for each row of the result tells that it has been claimed. Rows are moved once it is known that none is claimed
 * twice: behind an atomic operation for each row, writes that miss the cache would not overlap on a CPU. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void claim(
    __global const $load *positions, ulong first, volatile __global uint *claimed, ulong into, __global int *flag,
    ulong begin, ulong end, ulong chunk)
{
    positions += first;
    $each {
        const ulong position = (ulong)(long)positions[i];
        const uint bit = 1u << (position & 31);
        if (position >= into || (atomic_or(&claimed[position >> 5], bit) & bit))
            *flag = 1;
    }
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void move(
    __global const $load *positions, ulong first,
$parameters
    ulong begin, ulong end, ulong chunk)
{
    positions += first;
$prologue
    $each {
        const ulong position = (ulong)(long)positions[i];
$move
    }
}

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void zero(
    __global uint *words, ulong begin, ulong end, ulong chunk)
{
    $each
        words[i] = 0;
}
