/* Elements as unsigned numbers in their order; of floats the bits are read. */
inline uint image_int(int x)
{
    return (uint)x ^ 0x80000000u;
}

inline uint image_uint(uint x)
{
    return x;
}

inline ulong image_long(long x)
{
    return (ulong)x ^ 0x8000000000000000ul;
}

inline uint image_float(uint bits)
{
    const uint magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0xffffffffu;
    return magnitude == 0 ? 0x80000000u : (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

inline ulong image_double(ulong bits)
{
    const ulong magnitude = bits & 0x7ffffffffffffffful;
    if (magnitude > 0x7ff0000000000000ul)
        return 0xfffffffffffffffful;
    return magnitude == 0 ? 0x8000000000000000ul : (bits & 0x8000000000000000ul) ? ~bits : bits | 0x8000000000000000ul;
}
