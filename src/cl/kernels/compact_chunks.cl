/// The second pass of a filter on a CPU: each work-item copies the kept rows of its chunk, from starts[item] on, which
/// the first pass (rows_chunks.cl) has counted.
///
/// Strategy: write every row where the next kept one belongs and let only the position depend on the filter; a branch
/// would be mispredicted on every other row. AVX-512 compresses a vector of rows at once. Where fewer than $W rows of
/// space remain, lanes are written one by one under their condition, because the space behind belongs to the next
/// chunk. Whether a vector keeps any row is tested only where writing takes a step per lane: with 1 row in 20 kept, the
/// test itself is unpredictable. 10 M i32 on PoCL 3.1, 2 cores, half of them kept, this pass alone: with a branch 19.8
/// ms, one row at a time without one 2.5 ms, lanes of a vector 2.8 ms, AVX-512's compress 0.9 ms.
///
/// Filled in for `b + 1` of the rows with a < 42:
///   $vectors     const int16 v0 = vload16(0, in0 + i); ... const int16 keep = v2; const long16 o0 = v3;
///   $compressed  put_long((__global long *)(out0 + at), as_long16(o0), bits);
///   $advance     out0[at] = o0.s0; at += keep.s0 & 1; ... for all lanes
///   $bounded     if (keep.s0) { out0[at] = o0.s0; ++at; } ... for all lanes
///   $row         const int v0 = in0[i]; ... const int keep = v2;
///   $write       out0[at] = v3;
///   $parameters, $prologue, $declare, $lanes and $finish as in rows_chunks.cl
#ifdef __AVX512DQ__
/* One bit for each lane of a mask. */
inline uint kept_lanes(int16 keep)
{
    return (ushort)__builtin_ia32_cvtd2mask512(keep);
}

/* The kept lanes in order, at the front. */
inline int16 pack_int(int16 v, uint bits)
{
    return __builtin_ia32_compresssi512_mask(v, (int16)0, (ushort)bits);
}

/* Writes sixteen elements; those behind the kept ones are overwritten later. */
inline void put_int(__global int *out, int16 v, uint bits)
{
    vstore16(pack_int(v, bits), 0, out);
}

inline void put_short(__global short *out, short16 v, uint bits)
{
    vstore16(convert_short16(pack_int(convert_int16(v), bits)), 0, out);
}

inline void put_char(__global char *out, char16 v, uint bits)
{
    vstore16(convert_char16(pack_int(convert_int16(v), bits)), 0, out);
}

inline void put_long(__global long *out, long16 v, uint bits)
{
    const long8 zero = (long8)0;
    vstore8(__builtin_ia32_compressdi512_mask(v.lo, zero, (uchar)bits), 0, out);
    vstore8(__builtin_ia32_compressdi512_mask(v.hi, zero, (uchar)(bits >> 8)), 0, out + popcount(bits & 255));
}
#endif

/* Copies the kept rows of a chunk. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void $name(
$parameters
    __global const ulong *starts,
    long row, ulong rows, ulong chunk, __global int *flag)
{
    const ulong item = get_group_id(0);
    const ulong end = min((item + 1) * chunk, rows);
    ulong i = item * chunk;
    ulong at = starts[item];
    const ulong stop = starts[item + 1];
$prologue
$declare
    for (; i + $W <= end && at < stop; i += $W) {
$vectors
#ifdef __AVX512DQ__
        const bool some = true;
#else
        const bool some = any(keep);
#endif
        if (some && at + $W <= stop) {
#ifdef __AVX512DQ__
            const uint bits = kept_lanes(keep);
$compressed
            at += popcount(bits);
#else
$advance
#endif
        } else if (any(keep)) {
$bounded
        }
    }
$lanes
    for (; i < end && at < stop; ++i) {
$row
        if (keep) {
$write
            ++at;
        }
    }
$finish
}
