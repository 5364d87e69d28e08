/* Counts become places: where the first element of each bin of each chunk goes. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(__global $place *counts, ulong chunks)
{
    $place sum = 0;
    for (ulong i = 0; i < 256 * chunks; ++i) {
        const $place count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}
