/* Words of a record in $space memory that others change at the same time. What a sum carries over from one word to the
 * next is known from what was there before, so the words add up to the sum once all have been added. */
static inline void count_up_$space(volatile __$space uint *cell, uint by)
{
    atomic_add(cell, by);
}

/* To two words; what is carried out of them. */
static inline uint add_$space(volatile __$space uint *cell, ulong by)
{
    const uint low = (uint)by, high = (uint)(by >> 32);
    const uint carry = atomic_add(cell, low) > 0xffffffffu - low;
    const uint more = high + carry;
    const uint wrapped = more < high;
    return more == 0 ? wrapped : wrapped + (atomic_add(cell + 1, more) > 0xffffffffu - more);
}

static inline void lower_$space(volatile __$space uint *cell, uint to)
{
    if (to < peek_$space(cell))
        atomic_min(cell, to);
}

static inline void raise_$space(volatile __$space uint *cell, uint to)
{
    if (to > peek_$space(cell))
        atomic_max(cell, to);
}
