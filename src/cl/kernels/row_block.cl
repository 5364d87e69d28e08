/// $many rows of a work-item, $step apart, the first of them `first`: `$rows` in rows_grid.cl, compact_tiles.cl and
/// filter_lookback.cl.
///
/// Strategy: all loads of a block are issued before their values are used. With a leading filter (filter_order.h) the
/// columns that it needs are loaded for every row, the others for the rows that pass.
///
/// Filled in for `sum(b)` of the rows with a == 42:
///   $loaded      int x0[4]; int x1[4];
///   $load        x0[j] = in0[i];
///   $condition   const int v0 = x0[j]; const int v2 = -(v0 == c0); passed[j] = v2;
///   $loadrest    x1[j] = passed[j] ? in1[i] : (int)0;
///   $passing     const int v0 = x0[j]; const int v1 = x1[j]; ... a1 += convert_long((keep & v1));
///   $row         without a leading filter, as in rows_grid.cl
$if leading
$loaded
        int passed[$many];
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $step;
$load
        }
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $step;
$condition
$loadrest
        }
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $step;
            if (passed[j]) {
$passing
            }
        }
$else
        #pragma unroll
        for (uint j = 0; j < $many; ++j) {
            const ulong i = first + j * $step;
$row
        }
$end
