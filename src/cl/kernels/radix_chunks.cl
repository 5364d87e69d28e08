/// A pass of a radix sort on a CPU: count, offsets, move.
///
/// Strategy: each work-item counts the digits of a contiguous chunk; one work-item turns the counts of all chunks into
/// offsets, bin by bin; then each work-item moves its chunk, in order, every element to the next position of its bin.
///
/// Filled in for the first pass of a sort of i32 with a payload:
///   $readcode      { const uint row = i; { const uint key = encode_int(key0[keyat0 + row]);
///                  code |= (uint)((key ^ (uint)keys[0]) - (uint)keys[1]) << (uint)keys[3]; } }
///   $writecode     newcodes[p] = code;   (in the last pass: to0[toat0 + p] = (uint)decode_int(...);)
///   $readpayload   const ulong payload = 0 | (ulong)from1[fromat1 + i] << 0;
///   $writepayload  newpayloads[p] = payload;
///   $code, $payload, $position are unsigned types: of codes, of payloads and of row numbers
$if count
/* How often each digit occurs in a chunk: bin b of chunk c at b * chunks + c. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters)
{
    const $position begin = ($position)(get_group_id(0) * chunk);
    const $position end = ($position)min((get_group_id(0) + 1) * chunk, rows);
    $position bins[256];
    for (uint bin = 0; bin < 256; ++bin)
        bins[bin] = 0;
    for ($position i = begin; i < end; ++i) {
        $code code = 0;
$readcode
        ++bins[(uint)(code >> shift) & mask];
    }
    for (uint bin = 0; bin < 256; ++bin)
        counts[bin * get_num_groups(0) + get_group_id(0)] = bins[bin];
}
$end
$if offsets
/* Counts become offsets: where the first element of each bin of each chunk goes. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(__global $position *counts, ulong chunks)
{
    $position sum = 0;
    for (ulong i = 0; i < 256 * chunks; ++i) {
        const $position count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}
$end
$if move
/* Moves the elements of a chunk, in order, each to the next position of its bin. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters)
{
    const $position begin = ($position)(get_group_id(0) * chunk);
    const $position end = ($position)min((get_group_id(0) + 1) * chunk, rows);
    $position positions[256];
    for (uint bin = 0; bin < 256; ++bin)
        positions[bin] = counts[bin * get_num_groups(0) + get_group_id(0)];
    for ($position i = begin; i < end; ++i) {
        $code code = 0;
$readcode
        const $position p = positions[(uint)(code >> shift) & mask]++;
$writecode
$readpayload
$writepayload
    }
}
$end
