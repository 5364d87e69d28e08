/// Updates of the 32-bit words of a group's record in $space memory, for group_accumulate.cl.
///
/// Strategy: with $atomic the record is shared, and words are updated by 32-bit atomics, which every device has. The
/// carry of a sum into its next word follows from the previous value of the word, so the words are right once all
/// additions are done. Minima and maxima read first: a record rarely changes once it has seen some rows. Without
/// $atomic the record belongs to one work-item, as where a group has no more.
///
/// Filled in for local memory: $space is local, $atomicload *cell (or atomic_or(cell, 0) where races are to be found);
/// $wide is not empty where minima or maxima have 64 bits.
$if atomic
/* A word that others may be changing: some recent value. */
static inline uint load_$space(volatile __$space uint *cell)
{
    return $atomicload;
}
static inline void add_word_$space(volatile __$space uint *cell, uint by)
{
    atomic_add(cell, by);
}

/* Adds to two words and returns the carry out of them. */
static inline uint add_long_$space(volatile __$space uint *cell, ulong by)
{
    const uint low = (uint)by, high = (uint)(by >> 32);
    const uint carry = atomic_add(cell, low) > 0xffffffffu - low;
    const uint more = high + carry;
    const uint wrapped = more < high;
    return more == 0 ? wrapped : wrapped + (atomic_add(cell + 1, more) > 0xffffffffu - more);
}

static inline void min_word_$space(volatile __$space uint *cell, uint to)
{
    if (to < load_$space(cell))
        atomic_min(cell, to);
}

static inline void max_word_$space(volatile __$space uint *cell, uint to)
{
    if (to > load_$space(cell))
        atomic_max(cell, to);
}
$if wide

static inline void min_long_$space(volatile __$space uint *cell, ulong to)
{
    atom_min((volatile __$space ulong *)cell, to);
}

static inline void max_long_$space(volatile __$space uint *cell, ulong to)
{
    atom_max((volatile __$space ulong *)cell, to);
}
$end
$else
static inline void add_word_$space(__$space uint *cell, uint by)
{
    *cell += by;
}

/* Adds to two words and returns the carry out of them. */
static inline uint add_long_$space(__$space uint *cell, ulong by)
{
    __$space ulong *sum = (__$space ulong *)cell;
    *sum += by;
    return *sum < by;
}

static inline void min_word_$space(__$space uint *cell, uint to)
{
    *cell = min(*cell, to);
}

static inline void max_word_$space(__$space uint *cell, uint to)
{
    *cell = max(*cell, to);
}

static inline void min_long_$space(__$space uint *cell, ulong to)
{
    __$space ulong *least = (__$space ulong *)cell;
    *least = min(*least, to);
}

static inline void max_long_$space(__$space uint *cell, ulong to)
{
    __$space ulong *most = (__$space ulong *)cell;
    *most = max(*most, to);
}
$end
