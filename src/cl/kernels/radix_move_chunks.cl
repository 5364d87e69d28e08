/* Moves the elements of a chunk, in their order, each to the next place of its bin. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters)
{
    const $place begin = ($place)(get_group_id(0) * chunk), end = ($place)min((get_group_id(0) + 1) * chunk, rows);
    $place places[256];
    for (uint bin = 0; bin < 256; ++bin)
        places[bin] = counts[bin * get_num_groups(0) + get_group_id(0)];
    for ($place i = begin; i < end; ++i) {
        $code code = 0;
$readcode
        const $place p = places[(uint)(code >> shift) & mask]++;
$writecode
$readload
$writeload
    }
}
