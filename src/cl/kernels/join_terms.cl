/// Joins what the work-items of each team have added up; all of them get the result. A team is `team` neighbouring
/// work-items of the group, a power of two. `joined` has 4 words for each work-item of the group.
$if floats
/* Compensated sums: the weight of one that overflowed is NaN. */
void join_floats(__local ulong *joined, uint lane, uint team, double *high, double *low, double *rest, double *weight)
{
    const uint begin = lane & ~(team - 1);
    for (uint step = team / 2; step > 0; step /= 2) {
        joined[lane] = as_ulong(*high);
        joined[$group + lane] = as_ulong(*low);
        joined[2 * $group + lane] = as_ulong(*rest);
        joined[3 * $group + lane] = as_ulong(*weight);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane - begin < step) {
            const uint other = lane + step;
            const double more = as_double(joined[3 * $group + other]);
            add_float(high, low, rest, weight, as_double(joined[other]));
            add_float(high, low, rest, weight, as_double(joined[$group + other]));
            add_float(high, low, rest, weight, as_double(joined[2 * $group + other]));
            *weight += more;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == begin) {
        joined[begin] = as_ulong(*high);
        joined[$group + begin] = as_ulong(*low);
        joined[2 * $group + begin] = as_ulong(*rest);
        joined[3 * $group + begin] = as_ulong(*weight);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *high = as_double(joined[begin]);
    *low = as_double(joined[$group + begin]);
    *rest = as_double(joined[2 * $group + begin]);
    *weight = as_double(joined[3 * $group + begin]);
    barrier(CLK_LOCAL_MEM_FENCE);
}
$end

/* Sums of integers, and of their sizes, in two halves: the sum of these fits 63 bits, or else a sum in another order
 * may not fit. */
void join_ints(__local ulong *joined, uint lane, uint team, long *sum, ulong *low, ulong *high)
{
    const uint begin = lane & ~(team - 1);
    ulong total = as_ulong(*sum);
    for (uint step = team / 2; step > 0; step /= 2) {
        joined[lane] = total;
        joined[$group + lane] = *low;
        joined[2 * $group + lane] = *high;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane - begin < step) {
            total += joined[lane + step];
            *low += joined[$group + lane + step];
            *high += joined[2 * $group + lane + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == begin) {
        joined[begin] = total;
        joined[$group + begin] = *low;
        joined[2 * $group + begin] = *high;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *sum = as_long(joined[begin]);
    *low = joined[$group + begin];
    *high = joined[2 * $group + begin];
    barrier(CLK_LOCAL_MEM_FENCE);
}
