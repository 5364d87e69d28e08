/// The rows of a task that have sums of many terms: those on the list of rows_terms.cl, or all, without a list.
///
/// Strategy: a group takes some rows at once, each of which a team of its work-items computes: each adds up every
/// team-th term, and the sums are joined in local memory (join_terms.cl). A row with very many terms has the whole
/// group. The rows of a group are far apart on the list, because neighbours may be alike. The last group empties it.
///
/// Filled in for `sum(e in from[row]..to[row]: x[e])`:
///   $row     if (first <= last) { ... for (ulong j7 = member; ...; j7 += team) { ... } }
///            join_ints(joined, lane, team, &s7_0, &w7_0, &h7_0);
///   $write   out0[i] = v9;
enum { TEAM = 32, TEAMS = $group / TEAM };

__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void $name(
$parameters
    long row, ulong rows, ulong chunk, __global int *flag$round)
{
    __local ulong joined[4 * $group];
    __local uint taken[2 * TEAMS], few, many; /* rows with fewer terms, then those with very many */
    const uint lane = get_local_id(0);
    if (rows == 0)
        return;
$prologue
$declare
$if listed
    const uint count = list[0];
$else
    const uint count = (uint)rows;
$end
    const uint most = min(max(count / (uint)get_num_groups(0), 1u), (uint)TEAMS);
    const uint batches = (count + most - 1) / most;
    for (uint batch = get_group_id(0); batch < batches; batch += get_num_groups(0)) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            few = many = 0;
            for (uint at = batch; at < count; at += batches) {
$if listed
                const uint entry = list[LIST_BEGIN + at];
                if (entry & VERY_LONG)
                    taken[TEAMS + many++] = entry & ~VERY_LONG;
                else
                    taken[few++] = entry;
$else
                taken[few++] = at;
$end
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint turn = 0; turn < many + (few > 0); ++turn) {
            const bool alone = turn < many;
            uint team = $group;
            while (!alone && few * team > $group)
                team /= 2;
            const uint member = lane & (team - 1), place = min(lane / team, alone ? 0 : few - 1);
            const ulong i = taken[alone ? TEAMS + turn : place];
$row
            if (member == 0 && lane / team == place) {
$write
            }
        }
    }
$if listed
    if (lane == 0 && atomic_inc(&list[1]) == get_num_groups(0) - 1)
        list[0] = list[1] = 0;
$end
$finish
}
