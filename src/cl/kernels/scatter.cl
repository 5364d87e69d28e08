/// Moves rows to the positions that a column lists, in two kernels.
///
/// Strategy: one bit for each row of the result, set by an atomic, finds positions that are out of bounds or used
/// twice; rows are moved only once all claims have succeeded. Claiming and moving in one kernel is slower on a CPU,
/// where the writes that miss the cache would wait behind an atomic per row.
///
/// Filled in for positions of i64 and one column of i32:
///   $type        long
///   $parameters  __global const uint *from0, ulong from0_first, __global uint *to0, ulong to0_first,
///   $prologue    from0 += from0_first; to0 += to0_first;
///   $move        to0[position] = from0[i];
///   $each        as in column_minmax.cl
/* Claims the position of each row. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void claim(
    __global const $type *positions, ulong first, volatile __global uint *claimed, ulong into, __global int *flag,
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

/* Moves the rows. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void move(
    __global const $type *positions, ulong first,
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

/* Clears words. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void zero(
    __global uint *words, ulong begin, ulong end, ulong chunk)
{
    $each
        words[i] = 0;
}
