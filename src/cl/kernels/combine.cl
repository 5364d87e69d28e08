/// The aggregates of a round of a loop, from the slots of the work-groups: one group reads them all, so that the host
/// need not, and writes the elements that the next tasks of the round read.
///
/// Filled in for `max(abs(x - before(x)))`:
///   $scratch   __local ulong scratch[2][256];
///   $declare   double a0 = -INFINITY; uint a1 = 0;
///   $slots     { const double other = as_double(slots[0 * count + j]); a0 = fmax(a0, other); } ...
///   $finish    as in rows_grid.cl, of this group alone: slots[0] and slots[1] have the result
///   $elements  element0[place0] = (uint)slots[1] == rows ? NAN : as_double(slots[0]) + 0.0;
///              and the code of the condition, which reads it as in0
///   $tail      the parameters of that code
///   $stop      round_text.h
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void combine(
$parameters
    __global ulong *slots, ulong count, ulong rows,
$tail
    __global int *flag$round)
{
$scratch
    const uint lane = get_local_id(0);
$begin
$declare
    for (ulong j = lane; j < count; j += $group) {
$slots
    }
$finish
    if (lane > 0)
        return;
    int failed = 0;
$elements
    if (failed)
        atomic_cmpxchg(flag, 0, round);
$stop
}
