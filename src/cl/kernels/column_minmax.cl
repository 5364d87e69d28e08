/// The least and greatest encoding (key_encoding.cl) of a column, NaN left out, and whether it has a NaN (1) or a -0.0
/// (2). With $digits, of floats the place of the lowest bit and the one behind the highest (digits.cl), of those that
/// are not 0, and whether one is not finite (1).
///
/// Strategy: each work-item reduces its rows, then a tree in local memory each group. A group combines its three
/// numbers with those that it has found in earlier launches; the host combines the groups.
///
/// Filled in for i32: $type is int, $word uint, $encode encode_int, $ones 0xffffffffu, $float empty, and $each is
///   for (ulong i = begin + get_global_id(0); i < end; i += get_global_size(0))
/* Three numbers of each group: minimum, maximum, and marks of NaN and -0.0. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void minmax(
    __global const $type *data, ulong first, __global ulong *found, ulong begin, ulong end, ulong chunk)
{
    __local $word least[$group], most[$group], nan[$group];
    const uint lane = get_local_id(0);
    __global const $type *column = data + first;
    $word low = $ones, high = 0, odd = 0;
    $each {
$if digits
        uint place, negative;
        const ulong number = $read(column[i], 1, &place, &negative);
        if (number == 0)
            continue;
        low = min(low, ($word)(place + 64 - (uint)clz(number & -number)));
        high = max(high, ($word)(place + 65 - (uint)clz(number)));
        odd |= $infinite(column[i]);
$else
        const $word key = $encode(column[i]);
        low = min(low, key);
$if float
        if (key == $ones)
            odd |= 1;
        else
            high = max(high, key);
        odd |= column[i] == $sign ? 2 : 0;
$else
        high = max(high, key);
$end
$end
    }
    least[lane] = low;
    most[lane] = high;
    nan[lane] = odd;
    for (uint step = $group / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) {
            least[lane] = min(least[lane], least[lane + step]);
            most[lane] = max(most[lane], most[lane + step]);
            nan[lane] |= nan[lane + step];
        }
    }
    if (lane == 0) {
        __global ulong *own = found + get_group_id(0) * 3;
        own[0] = min(own[0], (ulong)least[0]);
        own[1] = max(own[1], (ulong)most[0]);
        own[2] |= (ulong)nan[0];
    }
}
