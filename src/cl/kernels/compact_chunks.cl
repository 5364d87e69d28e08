/* The second pass of a filter: every work-item copies the kept rows of its chunk to where the first pass has found that
 * they go. Kept or not, a row is written where the next kept one belongs, and only the position depends on the filter:
 * a branch would be mispredicted on every other row. Where fewer than a vector's lanes of room are left, rows are
 * written with care, as the space behind belongs to the next chunk. Whether a vector has any row to keep is asked only
 * where writing it takes a step for each lane: of 16 rows of which each is kept one time in 20, that is a guess.
 * 10 M i32 on PoCL 3.1, 2 cores, half of them kept, this pass alone: with a branch 19.8 ms, one row at a time without
 * one 2.5 ms, lanes of a vector 2.8 ms, AVX-512's compress 0.9 ms. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters
    __global const ulong *starts,
    long row, ulong rows, ulong chunk, __global int *flag)
{
    const ulong item = get_group_id(0);
    const ulong end = min((item + 1) * chunk, rows);
    ulong i = item * chunk;
    ulong at = starts[item];
    const ulong stop = starts[item + 1];
$prologue
$declare
    for (; i + $W <= end && at < stop; i += $W) {
$body
#ifdef __AVX512DQ__
        const bool some = true;
#else
        const bool some = any(keep);
#endif
        if (some && at + $W <= stop) {
#ifdef __AVX512DQ__
            const uint bits = kept_lanes(keep);
$packed
            at += popcount(bits);
#else
$free
#endif
        } else if (any(keep)) {
$careful
        }
    }
$fold
    for (; i < end && at < stop; ++i) {
$tail
        if (keep) {
$single
            ++at;
        }
    }
$finish
}
