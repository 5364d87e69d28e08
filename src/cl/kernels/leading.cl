/// Whether a row's value is among the first of its group, from the largest on, or equals the last of these.
///
/// Strategy: in rounds, of which each finds the largest value below that of the round before and counts it, until there
/// are enough. A group has two codes, of which the first has been found, and the second bounds what is looked for.
///
/// Filled in for f64 values, the smallest first, with missing ones:
///   $parameters, $prologue and $index as in group_accumulate.cl; $each as in column_minmax.cl
///   $type        ulong, of the values; $word of their encoding
///   $encode      encode_double
///   $present     present[present_first + i] ? : before the code, or nothing
///   $smallest    1: the smallest is the first
///   $ones        0xfffffffffffffffful, the encoding of NaN, which is behind all numbers; or empty
///   $columns     __global const ulong *values, ulong values_first, __global const uchar *present, ulong present_first,
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
enum { FOUND, BOUND, CODES };

static inline ulong code_of($word image)
{
$if ones
    if (image == $ones)
        return 1;
$end
$if smallest
    image = ~image;
$end
    return min((ulong)image, 0xfffffffffffffffdul) + 2;
}

/* Empties the groups. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void clear(
    __global ulong *codes, __global uint *counts, ulong begin, ulong end, ulong chunk)
{
    $each {
        codes[CODES * i + FOUND] = 0;
        codes[CODES * i + BOUND] = 0xfffffffffffffffful;
        counts[i] = 0;
    }
}

/* Finds the largest code below each group's bound. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void find(
$parameters
$columns
    volatile __global ulong *codes, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$index
        const ulong code = $present code_of($encode(values[values_first + i]));
        volatile __global ulong *own = codes + CODES * (ulong)index;
        if (code < own[BOUND] && code > own[FOUND])
            atom_max(own + FOUND, code);
    }
}

/* Counts the rows with the code found. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void count(
$parameters
$columns
    __global const ulong *codes, volatile __global uint *counts, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$index
        const ulong code = $present code_of($encode(values[values_first + i]));
        __global const ulong *own = codes + CODES * (ulong)index;
        if (code != 0 && code == own[FOUND] && code < own[BOUND])
            atomic_inc(counts + index);
    }
}

/* Goes on to the next code where there are not enough yet. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void next(
    __global ulong *codes, __global const uint *counts, uint leading, __global uint *flag,
    ulong begin, ulong end, ulong chunk)
{
    $each {
        __global ulong *own = codes + CODES * i;
        if (own[BOUND] == 0)
            continue;
        const bool enough = own[FOUND] == 0 || counts[i] >= leading;
        own[BOUND] = enough ? 0 : own[FOUND];
        if (!enough) {
            own[FOUND] = 0;
            *flag = 1;
        }
    }
}

/* Marks the rows that are not behind the last code. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void mark(
$parameters
$columns
    __global const ulong *codes, __global uchar *marks, ulong marks_first, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$index
        const ulong code = $present code_of($encode(values[values_first + i]));
        marks[marks_first + i] = code >= codes[CODES * (ulong)index + FOUND];
    }
}
