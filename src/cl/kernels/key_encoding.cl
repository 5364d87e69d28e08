/// Elements as unsigned integers that compare as the elements do, for group, distinct, hist and sort; floats are passed
/// as their bits. -0.0 encodes as 0.0, and NaN as the greatest integer of its width, which no other element has.
///
/// $decode is not empty in sorts, whose results are decoded from the codes.
/* Elements as unsigned integers in the same order. */
inline uint encode_int(int x)
{
    return (uint)x ^ 0x80000000u;
}

inline uint encode_uint(uint x)
{
    return x;
}

inline ulong encode_long(long x)
{
    return (ulong)x ^ 0x8000000000000000ul;
}

inline uint encode_float(uint bits)
{
    const uint magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0xffffffffu;
    return magnitude == 0 ? 0x80000000u : (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

inline ulong encode_double(ulong bits)
{
    const ulong magnitude = bits & 0x7ffffffffffffffful;
    if (magnitude > 0x7ff0000000000000ul)
        return 0xfffffffffffffffful;
    return magnitude == 0 ? 0x8000000000000000ul : (bits & 0x8000000000000000ul) ? ~bits : bits | 0x8000000000000000ul;
}

$if decode
/* And back to the bits of the element. */
uint decode_int(uint key)
{
    return key ^ 0x80000000u;
}

uint decode_uint(uint key)
{
    return key;
}

ulong decode_long(ulong key)
{
    return key ^ 0x8000000000000000ul;
}

uint decode_float(uint key)
{
    return key >> 31 ? key ^ 0x80000000u : ~key;
}

ulong decode_double(ulong key)
{
    return key >> 63 ? key ^ 0x8000000000000000ul : ~key;
}
$end
