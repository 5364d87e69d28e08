/// Joins what the work-items of a group have added up; all of them get the result. `joined` has 4 words for each of
/// them.
$if floats
void add_float(double *high, double *low, double *rest, double *weight, double term)
{
    const double sum = *high + term, part = sum - *high, lost = (*high - (sum - part)) + (term - part);
    const double small = *low + lost, small_part = small - *low;
    const double least = (*low - (small - small_part)) + (lost - small_part);
    *high = sum;
    *low = small;
    *rest += least;
    *weight += fabs(least);
}

/* Compensated sums: the weight of one that overflowed is NaN. */
void join_floats(__local ulong *joined, uint lane, double *high, double *low, double *rest, double *weight)
{
    for (uint step = $group / 2; step > 0; step /= 2) {
        joined[lane] = as_ulong(*high);
        joined[$group + lane] = as_ulong(*low);
        joined[2 * $group + lane] = as_ulong(*rest);
        joined[3 * $group + lane] = as_ulong(*weight);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) {
            const uint other = lane + step;
            const double more = as_double(joined[3 * $group + other]);
            add_float(high, low, rest, weight, as_double(joined[other]));
            add_float(high, low, rest, weight, as_double(joined[$group + other]));
            add_float(high, low, rest, weight, as_double(joined[2 * $group + other]));
            *weight += more;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) {
        joined[0] = as_ulong(*high);
        joined[1] = as_ulong(*low);
        joined[2] = as_ulong(*rest);
        joined[3] = as_ulong(*weight);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *high = as_double(joined[0]);
    *low = as_double(joined[1]);
    *rest = as_double(joined[2]);
    *weight = as_double(joined[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
}
$end

/* Sums of integers, and of their sizes, in two halves: the sum of these fits 63 bits, or else a sum in another order
 * may not fit. */
void join_ints(__local ulong *joined, uint lane, long *sum, ulong *low, ulong *high)
{
    ulong total = as_ulong(*sum);
    for (uint step = $group / 2; step > 0; step /= 2) {
        joined[lane] = total;
        joined[$group + lane] = *low;
        joined[2 * $group + lane] = *high;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) {
            total += joined[lane + step];
            *low += joined[$group + lane + step];
            *high += joined[2 * $group + lane + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) {
        joined[0] = total;
        joined[1] = *low;
        joined[2] = *high;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *sum = as_long(joined[0]);
    *low = joined[1];
    *high = joined[2];
    barrier(CLK_LOCAL_MEM_FENCE);
}
