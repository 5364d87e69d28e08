/* Every work-item takes one contiguous chunk of rows: vectors first, then what is left of it row by row. Nothing waits
 * for anything else, so a CPU device runs it as one plain loop for each thread. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag)
{
    const ulong item = get_group_id(0);
    const ulong end = min((item + 1) * chunk, rows);
    ulong i = item * chunk;
$prologue
$declare
    for (; i + $W <= end; i += $W) {
$body
    }
$fold
    for (; i < end; ++i) {
$tail
    }
$finish
}
