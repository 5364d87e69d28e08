/// The state of a scan: the combination of the rows so far as a `state`, with none, lift, join, finish and advance;
/// where a segmented scan starts anew, a `chain` also records whether a segment starts in it. Precedes scan_tiles.cl
/// and scan_lookback.cl.
///
/// Strategy: kernels combine states by macros only, so one text serves all functions. A float sum is a compensated sum
/// (engine/values/compensated_sum.h); what is not finite is summed separately. A result whose rounding is not certain
/// raises the flag.
///
/// Filled in for a checked sum of i32 into i64:
///   $state       long
///   $none        0
///   $lift        x
///   $join        const long r = as_long(as_ulong(a) + as_ulong(b)); *err |= ((a ^ r) & (b ^ r)) < 0; return r;
///   $finish      return s;
///   $start       (given ? integer : none())
///   $parameters  long integer, int given,
///   $pass        integer, given,
///   $V, $R, $X   int, long, long: elements, results, and what a state is computed from
$if compensated
typedef struct { double high, low, rest, weight, special; } state;
state with(state a, double term)
{
    add_float(&a.high, &a.low, &a.rest, &a.weight, term);
    return a;
}
$else
typedef $state state;
$end
state none(void)
{
    return $none;
}
state lift_value($X x)
{
    return $lift;
}
state lift($V x)
{
    return lift_value(($X)x);
}
state join(state a, state b,
$parameters
    int *err)
{
$if compensated
    a = with(with(with(a, b.high), b.low), b.rest);
    a.weight += b.weight;
    a.special += b.special;
    return a;
$else
$join
$end
}
$X finish(state s,
$parameters
    int *err)
{
$if compensated
    if (s.special != 0.0)
        return s.special;
    if (s.weight == 0.0 && fabs(s.high) <= DBL_MAX)
        return s.high + s.low + 0.0;
    return rounded_sum(s.high, s.low, s.rest, s.weight, terms, err);
$else
$finish
$end
}
state advance(state a, $V value,
$parameters
    int *err)
{
    const $X x = ($X)value;
$if compensated
    if (fabs(x) <= DBL_MAX)
        return with(a, x);
    a.special += x;
    return a;
$else
    return join(a, lift_value(x), $pass err);
$end
}
#define EXCLUSIVE $exclusive
#define SEGMENTED $segmented
#define COMMUTES $commutes
#define JOIN(a, b) join(a, b, $pass &err)
#define ADD(a, x) advance(a, x, $pass &err)
#define START $start
#if EXCLUSIVE
#define STEP(running, x, y) { y = ($R)(finish(running, $pass &err)); running = ADD(running, x); }
#else
#define STEP(running, x, y) { running = ADD(running, x); y = ($R)(finish(running, $pass &err)); }
#endif
#if SEGMENTED
typedef struct { state at; int head; } chain;
#define AT(a) (a).at
#define LINK(a, b) link(a, b, $pass &err)
#define HEAD(a, row) if ((row) % segment == 0) { (a).at = START; (a).head = 1; }
chain link(chain a, chain b,
$parameters
    int *flagged)
{
    int err = 0;
    if (!b.head) {
        b.at = JOIN(a.at, b.at);
        b.head = a.head;
    }
    *flagged |= err;
    return b;
}
chain chain_of(state at)
{
    chain a;
    a.at = at;
    a.head = 0;
    return a;
}
#else
typedef state chain;
#define AT(a) (a)
#define LINK(a, b) JOIN(a, b)
#define HEAD(a, row)
chain chain_of(state at)
{
    return at;
}
#endif
chain nothing(void)
{
    return chain_of(none());
}

