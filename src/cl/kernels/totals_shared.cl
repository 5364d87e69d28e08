/* All work-items add to one table. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *table, ulong first, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$place
$values
        __global uint *cell = table + first + (ulong)place * $stride;
$add
    }
}
