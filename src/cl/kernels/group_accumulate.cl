/// Adds rows to the records of their groups. A record is $stride words; a record whose $count word is 0 is empty.
///
/// Strategy, by the memory that the records take (group_accumulate.c):
///   $alone   each work-item has a table in local memory, to which it adds without atomics; in the end those of a
///            work-group are added in pairs, and the last one to the table of all groups
///   $local   each work-group has a table in local memory, with several copies of each record where there are few, so
///            that work-items contend less, or a row does not wait for the one before it; in the end it adds the table
///            to the one of all groups
///   else     all work-items add to one table
///
/// Where a table exceeds local memory, $several passes over the keys take some of the records each, from `from` on.
///
/// Filled in for count and sum of a u8 b by an i32 key:
///   $parameters  __global const int *k0_data, ulong k0_first, uint k0_least, uint k0_codes,
///                __global const uchar *v0_data, ulong v0_first, uint v0_least,
///   $prologue    __global const int *k0_column = k0_data + k0_first; ...
///   $each        for (ulong i = begin + get_group_id(0) * chunk + get_local_id(0), stop = min(end, begin +
///                (get_group_id(0) + 1) * chunk); i < stop; i += get_local_size(0))
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
/* Adds rows to tables of local memory, then these to that of all. */
__kernel __attribute__((reqd_work_group_size($lanes, 1, 1))) void add(
$parameters
    __global uint *table, ulong first, __local ulong *space, uint from, uint records, uint copies,
    ulong begin, ulong end, ulong chunk)
{
    const uint lane = get_local_id(0);
    __local uint *own = (__local uint *)space;
$prologue
    for (uint record = lane; record < records * copies; record += $lanes) {
        __local uint *cell = own + $own;
$empty
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    $each {
$index
$if several
        const uint place = index - from;
        if (place >= records)
            continue;
$else
        const uint place = index;
$end
$values
        __local uint *cell = own + $cell;
$add
    }
    barrier(CLK_LOCAL_MEM_FENCE);
$if alone
    for (uint pairs = $lanes / 2; pairs > 0; pairs /= 2) {
        for (uint k = lane; k < records * pairs; k += $lanes) {
            __local uint *cell = own + (k / pairs * ($stride / 2) * $lanes + k % pairs) * 2;
            __local const uint *other = cell + pairs * 2;
$join
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    copies = 1;
$end
    for (uint record = lane; record < records * copies; record += $lanes) {
        __local const uint *other = own + $merged;
        __global uint *cell = table + first + (ulong)(from + record / copies) * $stride;
        if (other[$count] == 0)
            continue;
$merge
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
