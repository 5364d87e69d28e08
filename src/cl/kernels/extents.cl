/* The least and the greatest image of a column, NaN left out, and whether there is one (1) and a -0.0 (2): three numbers
 * of each group, joined to what it has found in earlier launches. */
__kernel __attribute__((reqd_work_group_size($group, 1, 1))) void extents(
    __global const $load *data, ulong first, __global ulong *found, ulong begin, ulong end, ulong chunk)
{
    __local $word least[$group], most[$group], nan[$group];
    const uint lane = get_local_id(0);
    __global const $load *column = data + first;
    $word low = $ones, high = 0, odd = 0;
    $each {
        const $word image = $image(column[i]);
        low = min(low, image);
$most
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
