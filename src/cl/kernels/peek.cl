/* A word that others change at the same time: what it was a moment ago. */
static inline uint peek_$space(volatile __$space uint *cell)
{
    return $peek;
}
