/* The same of two words at once. */
static inline void lower_long_$space(volatile __$space uint *cell, ulong to)
{
    atom_min((volatile __$space ulong *)cell, to);
}

static inline void raise_long_$space(volatile __$space uint *cell, ulong to)
{
    atom_max((volatile __$space ulong *)cell, to);
}
