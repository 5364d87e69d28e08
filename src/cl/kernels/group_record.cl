/// Updates of the 32-bit words of a group's record in $space memory, for group_accumulate.cl.
///
/// Strategy: with $atomic the record is shared, and words are updated by 32-bit atomics, which every device has. The
/// carry of a sum into its next word follows from the previous value of the word, so the words are right once all
/// additions are done. With $digits there are sums of floats (digits.cl), of which `step` is from two words to the next. Minima and maxima read first: a record rarely changes once it has seen some rows. Without
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

/* Adds to a word and returns the carry out of it. */
static inline uint add_carry_$space(volatile __$space uint *cell, uint by, uint carry)
{
    const uint more = by + carry, wrapped = more < by;
    return more == 0 ? wrapped : wrapped + (atomic_add(cell, more) > 0xffffffffu - more);
}

/* Adds to two words and returns the carry out of them. */
static inline uint add_long_$space(volatile __$space uint *cell, ulong by)
{
    const uint low = (uint)by, carry = atomic_add(cell, low) > 0xffffffffu - low;
    return add_carry_$space(cell + 1, (uint)(by >> 32), carry);
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

static inline uint add_carry_$space(volatile __$space uint *cell, uint by, uint carry)
{
    const uint more = by + carry, wrapped = more < by;
    *cell += more;
    return wrapped + (*cell < more);
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
$if digits

/* Adds 128 bits << shift, or their negative. */
static inline void add_digits_$space(volatile __$space uint *cell, uint step, uint words, ulong high, ulong low, uint shift,
                                     uint negative)
{
    const uint flip = negative ? 0xffffffffu : 0;
    uint carry = negative;
    for (uint k = 0; k < words; ++k)
        carry = add_carry_$space(cell + k / 2 * step + k % 2, word_at(high, low, (int)(32 * k) - (int)shift) ^ flip, carry);
}

/* Adds a sum of local memory, other_step from two words to the next. */
static inline void add_words_$space(volatile __$space uint *cell, uint step, uint words, __local const uint *other,
                                    uint other_step)
{
    uint carry = 0;
    for (uint k = 0; k < words; ++k)
        carry = add_carry_$space(cell + k / 2 * step + k % 2, other[k / 2 * other_step + k % 2], carry);
}
$end
