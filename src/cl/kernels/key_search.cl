/// Where the rows of each place begin, of rows that are in the order of their places and then of another key.
///
/// Filled in for two keys of i32, of which the second is searched:
///   $parameters, $prologue and $index as in group_accumulate.cl; $each as in column_minmax.cl
///   $type        int, of the other key
///   $word        uint, of its encoding
///   $encode      encode_int
/* Raises flags[0] unless each row is behind the one before. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void check(
$parameters
    __global const $type *values, ulong values_first, volatile __global uint *flags,
    ulong begin, ulong end, ulong chunk)
{
$prologue
    values += values_first;
    $each {
        if (i == 0)
            continue;
        uint before;
        {
            const ulong row = i;
            const ulong i = row - 1;
$index
            before = index;
        }
$index
        const $word from = $encode(values[i - 1]), to = $encode(values[i]);
        if (before > index || (before == index && from >= to))
            flags[0] = 1;
    }
}

/* Finds the first row of each place or a later one. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void seek(
$parameters
    __global int *begins, ulong begins_first, ulong rows, ulong begin, ulong end, ulong chunk)
{
$prologue
    begins += begins_first;
    $each {
        const ulong place = i;
        ulong low = 0, high = rows;
        while (low < high) {
            const ulong i = low + (high - low) / 2;
$index
            if (index < place)
                low = i + 1;
            else
                high = i;
        }
        begins[place] = (int)low;
    }
}

/* Raises flags[1] to the most rows of a place. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void widest(
    __global const int *begins, ulong begins_first, volatile __global uint *flags, ulong begin, ulong end, ulong chunk)
{
    begins += begins_first;
    uint most = 0;
    $each
        most = max(most, (uint)(begins[i + 1] - begins[i]));
    if (most > 0)
        atomic_max(&flags[1], most);
}
