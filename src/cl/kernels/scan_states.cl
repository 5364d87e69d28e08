/* What rows have come to so far: `state`; where chains begin anew, a chain knows as well whether one has. */
$define
#define JOIN(a, b) join(a, b, $pass &err)
#define ADD(a, x) advance(a, x, $pass &err)
#define START $start
#if EXCLUSIVE
#define STEP(running, x, y) { y = convert_$R(lower(running, $pass &err)); running = ADD(running, x); }
#else
#define STEP(running, x, y) { running = ADD(running, x); y = convert_$R(lower(running, $pass &err)); }
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

