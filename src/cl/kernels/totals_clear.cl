__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void clear(
    __global uint *table, ulong first, ulong begin, ulong end, ulong chunk)
{
    $each {
        __global uint *cell = table + first + i * $stride;
$clear
    }
}
