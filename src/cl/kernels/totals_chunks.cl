/* Every work-item has a table of its own, of some copies of each record where records are few: adding to what the row
 * before has been added to would have to wait for it. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *tables, uint places, uint copies, ulong begin, ulong end, ulong chunk)
{
    __global uint *own = tables + get_global_id(0) * places * copies * $stride;
$prologue
    $each {
$place
$values
        __global uint *cell = own + ((ulong)place * copies + (i & (copies - 1))) * $stride;
$add
    }
}

/* Then they are added up, each record by one work-item. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void merge(
    __global uint *table, ulong first, __global const uint *tables, uint places, uint copies, uint count,
    ulong begin, ulong end, ulong chunk)
{
    $each {
        __global uint *cell = table + first + i * $stride;
        for (uint k = 0; k < count * copies; ++k) {
            __global const uint *other =
                tables + (((ulong)(k / copies) * places + i) * copies + k % copies) * $stride;
            if (other[$count] == 0)
                continue;
$merge
        }
    }
}
