/* How often each digit occurs in a chunk: bin b of chunk c at b * chunks + c. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters)
{
    const $place begin = ($place)(get_group_id(0) * chunk), end = ($place)min((get_group_id(0) + 1) * chunk, rows);
    $place bins[256];
    for (uint bin = 0; bin < 256; ++bin)
        bins[bin] = 0;
    for ($place i = begin; i < end; ++i) {
        $code code = 0;
$readcode
        ++bins[(uint)(code >> shift) & mask];
    }
    for (uint bin = 0; bin < 256; ++bin)
        counts[bin * get_num_groups(0) + get_group_id(0)] = bins[bin];
}
