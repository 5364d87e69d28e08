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

/* Writes sixteen elements, of which those behind the kept ones are of no account. */
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

