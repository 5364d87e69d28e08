/// The rows of a task on a GPU, where some have sums of many terms.
///
/// Strategy: a group takes tiles of `chunk` rows, at most as many as it has work-items. Each of these computes a row
/// that has few terms, or else puts it on a list, whose rows another kernel computes (rows_together.cl).
///
/// list[0] is the number of rows on the list; from list[LIST_BEGIN] on, rows of the launch, with VERY_LONG where they
/// have very many terms. The counts are 0 before the two launches, and after them.
///
/// Filled in for `sum(e in from[row]..to[row]: x[e])`:
///   $row     if (first <= last) { ... if (n7 >= 64) later |= ...; if (!later) { for (ulong j7 = 0; ...) { ... } } }
///   $write   out0[i] = v9;
enum { LIST_BEGIN = 2 }; /* TERMS_LIST_BEGIN of loop_terms.h */
#define VERY_LONG 0x80000000U

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag$round)
{
    __local uint waiting[$group], waiting_count, first;
    const uint lane = get_local_id(0);
$prologue
$declare
    for (ulong tile = get_group_id(0) * chunk; tile < rows; tile += get_num_groups(0) * chunk) {
        if (lane == 0)
            waiting_count = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < chunk && tile + lane < rows) {
            const ulong i = tile + lane;
            int later = 0;
$if checks
            const int before = err1;
$end
$row
            if (later) {
                waiting[atomic_inc(&waiting_count)] = (uint)i | (later > 1 ? VERY_LONG : 0);
$if checks
                err1 = before;
$end
            } else {
$write
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0 && waiting_count > 0)
            first = atomic_add(&list[0], waiting_count);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < waiting_count)
            list[LIST_BEGIN + first + lane] = waiting[lane];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
$finish
}
