/* Words of a record that nobody else changes meanwhile. */
static inline void count_up_$space(__$space uint *cell, uint by)
{
    *cell += by;
}

/* To two words; what is carried out of them. */
static inline uint add_$space(__$space uint *cell, ulong by)
{
    __$space ulong *sum = (__$space ulong *)cell;
    *sum += by;
    return *sum < by;
}

static inline void lower_$space(__$space uint *cell, uint to)
{
    *cell = min(*cell, to);
}

static inline void raise_$space(__$space uint *cell, uint to)
{
    *cell = max(*cell, to);
}

static inline void lower_long_$space(__$space uint *cell, ulong to)
{
    __$space ulong *least = (__$space ulong *)cell;
    *least = min(*least, to);
}

static inline void raise_long_$space(__$space uint *cell, ulong to)
{
    __$space ulong *most = (__$space ulong *)cell;
    *most = max(*most, to);
}
