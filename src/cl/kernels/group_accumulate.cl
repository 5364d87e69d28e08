/// Adds rows to the records of their groups. A record is $stride words; a record whose $count word is 0 is empty.
///
/// Strategy, by the memory that the records take (group_accumulate.c):
///   $local   each work-group has a table in local memory, with several copies of each record where there are few, so
///            that work-items contend less; in the end it adds the table to the one of all groups
///   $chunks  each work-item has a table of its own in global memory, without atomics; a second kernel adds them up.
///            Copies keep a row from waiting for the one before it
///   neither  all work-items add to one table
///
/// Filled in for count and sum of a u8 b by an i32 key:
///   $parameters  __global const int *k0_data, ulong k0_first, uint k0_least, uint k0_codes,
///                __global const uchar *v0_data, ulong v0_first, uint v0_least,
///   $prologue    __global const int *k0_column = k0_data + k0_first; ...
///   $each        for (ulong i = begin + get_global_id(0); i < end; i += get_global_size(0))
///   $index       uint index = 0; const uint k0 = encode_int(k0_column[i]); index = index * k0_codes + (uint)(k0 -
///                k0_least);
///   $values      const uint v0 = (uint)(encode_uint(v0_column[i]) - v0_least);
///   $clear       cell[2] = 0; cell[0] = 0; cell[1] = 0;
///   $add         add_word_local(cell + 2, 1); add_long_local(cell + 0, v0);
///   $merge       add_word_global(cell + 2, other[2]); add_long_global(cell + 0, upsample(other[1], other[0]));
/* Empties the records. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void clear(
    __global uint *table, ulong first, ulong begin, ulong end, ulong chunk)
{
    $each {
        __global uint *cell = table + first + i * $stride;
$clear
    }
}

$if local
/* Adds rows to a table of each group, then the table to that of all. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *table, ulong first, __local ulong *space, uint records, uint copies,
    ulong begin, ulong end, ulong chunk)
{
    const uint lane = get_local_id(0);
    const uint copy = lane & (copies - 1);
    __local uint *own = (__local uint *)space;
$prologue
    for (uint record = lane; record < records * copies; record += $group) {
        __local uint *cell = own + record * $stride;
$clear
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    $each {
$index
$values
        __local uint *cell = own + (index * copies + copy) * $stride;
$add
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint record = lane; record < records * copies; record += $group) {
        __local const uint *other = own + record * $stride;
        __global uint *cell = table + first + (ulong)(record / copies) * $stride;
        if (other[$count] == 0)
            continue;
$merge
    }
}
$else
$if chunks
/* Adds rows to a table of each work-item. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *tables, uint records, uint copies, ulong begin, ulong end, ulong chunk)
{
    __global uint *own = tables + get_global_id(0) * records * copies * $stride;
$prologue
    $each {
$index
$values
        __global uint *cell = own + ((ulong)index * copies + (i & (copies - 1))) * $stride;
$add
    }
}

/* Adds up the tables, one work-item for each record. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void merge(
    __global uint *table, ulong first, __global const uint *tables, uint records, uint copies, uint count,
    ulong begin, ulong end, ulong chunk)
{
    $each {
        __global uint *cell = table + first + i * $stride;
        for (uint k = 0; k < count * copies; ++k) {
            __global const uint *other =
                tables + (((ulong)(k / copies) * records + i) * copies + k % copies) * $stride;
            if (other[$count] == 0)
                continue;
$merge
        }
    }
}
$else
/* Adds rows to one table. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void add(
$parameters
    __global uint *table, ulong first, ulong begin, ulong end, ulong chunk)
{
$prologue
    $each {
$index
$values
        __global uint *cell = table + first + (ulong)index * $stride;
$add
    }
}
$end
$end
