/* Every group has a table in local memory, of some copies of each record where records are few, so that its work-items
 * are not all after the same one; in the end it is added to the table of all. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *table, ulong first, __local ulong *space, uint places, uint copies,
    ulong begin, ulong end, ulong chunk)
{
    const uint lane = get_local_id(0);
    const uint copy = lane & (copies - 1);
    __local uint *own = (__local uint *)space;
$prologue
    for (uint record = lane; record < places * copies; record += $group) {
        __local uint *cell = own + record * $stride;
$clear
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    $each {
$place
$values
        __local uint *cell = own + (place * copies + copy) * $stride;
$add
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint record = lane; record < places * copies; record += $group) {
        __local const uint *other = own + record * $stride;
        __global uint *cell = table + first + (ulong)(record / copies) * $stride;
        if (other[$count] == 0)
            continue;
$merge
    }
}
