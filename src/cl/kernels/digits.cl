/// Floats, passed as their bits, as integers in some unit: digits << shift, or its negative. Bit k of a double's digits is
/// at place exponent + k, which is worth 2^(place - 1075), that of a float at one worth 2^(place - 150). No number has a
/// bit below the unit, which is such a place; so what does not fit is zeroes.
static inline ulong digits_at(ulong digits, int exponent, uint unit, uint *shift)
{
    const int above = exponent - (int)unit;
    *shift = digits == 0 || above < 0 ? 0 : (uint)above;
    return above >= 0 ? digits : above > -64 ? digits >> -above : 0;
}

static inline ulong digits_double(ulong bits, uint unit, uint *shift, uint *negative)
{
    const int exponent = (int)(bits >> 52) & 0x7ff;
    *negative = (uint)(bits >> 63);
    return digits_at((bits & 0xffffffffffffful) | (exponent > 0 ? 0x10000000000000ul : 0), max(exponent, 1), unit,
                     shift);
}

static inline ulong digits_float(uint bits, uint unit, uint *shift, uint *negative)
{
    const int exponent = (int)(bits >> 23) & 0xff;
    *negative = bits >> 31;
    return digits_at((bits & 0x7fffffu) | (exponent > 0 ? 0x800000u : 0), max(exponent, 1), unit, shift);
}

/* Whether a number is infinite, or none. */
static inline uint infinite_double(ulong bits)
{
    return (bits >> 52 & 0x7ff) == 0x7ff;
}

static inline uint infinite_float(uint bits)
{
    return (bits >> 23 & 0xff) == 0xff;
}

/* 32 bits of a number of 128, from bit `at` on. */
static inline uint word_at(ulong high, ulong low, int at)
{
    if (at < 0)
        return at > -32 ? (uint)(low << -at) : 0;
    if (at >= 64)
        return at < 128 ? (uint)(high >> (at - 64)) : 0;
    return (uint)(low >> at) | (at > 32 ? (uint)(high << (64 - at)) : 0);
}
