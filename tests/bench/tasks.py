"""The tasks of the benchmark: each as a pipeline of rql, a query of the SQL peers, and expressions of the others.

The columns are ids 0..999 and amounts -10000..10000 (data/generate.c); x, 30 random bits, f, floats, and p, a
permutation of the rows (tests/bench/hand.c).
"""

from dataclasses import dataclass

GROUPS = ("rubicl", "questions", "columns", "primitives")

CROSS = "(at(-1, 0) + at(0, -1) + at(0, 1) + at(1, 0)) / 4"
THOUSANDS = "load x.i32 | shape {thousands} 1000"


@dataclass(frozen=True)
class Task:
    """`rql` has {thousands}, the number of rows in thousands, filled in. What is None, the peer cannot do as one query.
    ClickHouse's tables have no order, so what depends on it is not asked of them."""

    group: str
    name: str
    title: str
    rql: str
    sql: str = None  # after `select`, if DuckDB and ClickHouse agree,
    clickhouse: str = None  # or its own ("": none)
    numpy: object = None  # of the columns c
    polars: object = None  # of the lazy frame d and the module pl
    scalar: bool = False
    bytes: int = 0  # read and written per row

    @property
    def hand(self):
        """Whether hand.c implements it."""
        return self.group != "primitives"


IDS, BOTH = "load ids.bin", "load ids.bin | zip amounts.bin"

TASKS = (
    # RubiCL's five. Half of the rows pass the dense filter, 5 % the sparse one.
    Task(
        "rubicl",
        "map",
        "map x + 1",
        "load x.i32 | map x + 1",
        "x + 1 as r from t",
        numpy=lambda c: c.x + 1,
        polars=lambda d, pl: d.select(pl.col("x") + 1),
        bytes=8,
    ),
    Task(
        "rubicl",
        "dense",
        "filter, 50 % kept",
        "load x.i32 | select x % 2 == 0",
        "x from t where x % 2 = 0",
        numpy=lambda c: c.x[c.x % 2 == 0],
        polars=lambda d, pl: d.select("x").filter(pl.col("x") % 2 == 0),
        bytes=6,
    ),
    Task(
        "rubicl",
        "sparse",
        "filter, 5 % kept",
        "load x.i32 | select x % 20 == 0",
        "x from t where x % 20 = 0",
        numpy=lambda c: c.x[c.x % 20 == 0],
        polars=lambda d, pl: d.select("x").filter(pl.col("x") % 20 == 0),
        bytes=4,
    ),
    Task(
        "rubicl",
        "mapfilter",
        "map and filter",
        "load x.i32 | map x + 1 as y | select y % 2 == 0",
        "y from (select x + 1 as y from t) as m where y % 2 = 0",
        numpy=lambda c: (lambda y: y[y % 2 == 0])(c.x + 1),
        polars=lambda d, pl: d.select((pl.col("x") + 1).alias("y")).filter(pl.col("y") % 2 == 0),
        bytes=6,
    ),
    Task(
        "rubicl",
        "sort",
        "sort",
        "load x.i32 | sort",
        "x from t order by x",
        numpy=lambda c: c.np.sort(c.x),
        polars=lambda d, pl: d.select("x").sort("x"),
        bytes=8,
    ),
    # The questions of docs/questions.md.
    Task(
        "questions",
        "q1",
        "1: count one user",
        f"{IDS} | count 42",
        "count(*) from t where ids = 42",
        numpy=lambda c: c.np.count_nonzero(c.ids == 42),
        polars=lambda d, pl: d.select((pl.col("ids") == 42).sum()),
        scalar=True,
        bytes=4,
    ),
    Task(
        "questions",
        "q2",
        "2: of those, deposits",
        f"{BOTH} | count id == 42 && amt > 0",
        "count(*) from t where ids = 42 and amounts > 0",
        numpy=lambda c: c.np.count_nonzero((c.ids == 42) & (c.amounts > 0)),
        polars=lambda d, pl: d.select(((pl.col("ids") == 42) & (pl.col("amounts") > 0)).sum()),
        scalar=True,
        bytes=8,
    ),
    Task(
        "questions",
        "q3",
        "3: change in balance",
        f"{BOTH} | select id == 42 | sum amt",
        "coalesce(sum(amounts), 0) from t where ids = 42",
        numpy=lambda c: c.amounts[c.ids == 42].sum(),
        polars=lambda d, pl: d.filter(pl.col("ids") == 42).select(pl.col("amounts").cast(pl.Int64).sum()),
        scalar=True,
        bytes=8,
    ),
    Task(
        "questions",
        "q4",
        "4: even withdrawals",
        f"{BOTH} | select id == 42 && amt < 0 && even(amt) | sum amt",
        "coalesce(sum(amounts), 0) from t where ids = 42 and amounts < 0 and amounts % 2 = 0",
        numpy=lambda c: c.amounts[(c.ids == 42) & (c.amounts < 0) & (c.amounts % 2 == 0)].sum(),
        polars=lambda d, pl: d.filter(
            (pl.col("ids") == 42) & (pl.col("amounts") < 0) & (pl.col("amounts") % 2 == 0)
        ).select(pl.col("amounts").cast(pl.Int64).sum()),
        scalar=True,
        bytes=8,
    ),
    Task(
        "questions",
        "q5",
        "5: multiples of 222",
        f"{BOTH} | count id % 222 == 0 && amt > 0 && amt % 222 == 0",
        "count(*) from t where ids % 222 = 0 and amounts > 0 and amounts % 222 = 0",
        numpy=lambda c: c.np.count_nonzero((c.ids % 222 == 0) & (c.amounts > 0) & (c.amounts % 222 == 0)),
        polars=lambda d, pl: d.select(
            ((pl.col("ids") % 222 == 0) & (pl.col("amounts") > 0) & (pl.col("amounts") % 222 == 0)).sum()
        ),
        scalar=True,
        bytes=8,
    ),
    Task(
        "columns",
        "group",
        "group: sum, count",
        f"{BOTH} | group id: sum(amt), count()",
        "ids, sum(amounts) as s, count(*) as n from t group by ids order by ids",
        numpy=lambda c: (lambda n: (c.np.flatnonzero(n), c.sums()[n > 0], n[n > 0]))(c.np.bincount(c.ids)),
        polars=lambda d, pl: d.group_by("ids")
        .agg(pl.col("amounts").cast(pl.Int64).sum(), pl.len().alias("n"))
        .sort("ids"),
        bytes=8,
    ),
    Task(
        "columns",
        "scan",
        "scan +",
        "load x.i32 | scan +",
        "sum(x) over (rows unbounded preceding)::bigint as r from t",
        clickhouse="",
        numpy=lambda c: c.np.cumsum(c.x, dtype=c.np.int64),
        polars=lambda d, pl: d.select(pl.col("x").cast(pl.Int64).cum_sum()),
        bytes=12,
    ),
    # The other primitives: make bench-primitives.
    Task(
        "primitives",
        "divide",
        "map x / 3 + 1",
        "load x.i32 | map x / 3 + 1",
        "x // 3 + 1 as r from t",
        clickhouse="intDiv(x, 3) + 1 as r from t",
        numpy=lambda c: c.x // 3 + 1,
        polars=lambda d, pl: d.select(pl.col("x") // 3 + 1),
        bytes=8,
    ),
    Task(
        "primitives",
        "most",
        "filter, 99 % kept",
        "load x.i32 | select x % 100 != 0",
        "x from t where x % 100 <> 0",
        numpy=lambda c: c.x[c.x % 100 != 0],
        polars=lambda d, pl: d.select("x").filter(pl.col("x") % 100 != 0),
        bytes=8,
    ),
    Task(
        "primitives",
        "scan-floats",
        "scan +, floats",
        "load f.f64 | scan +",
        "sum(f) over (rows unbounded preceding) as r from t",
        clickhouse="",
        numpy=lambda c: c.np.cumsum(c.f),
        polars=lambda d, pl: d.select(pl.col("f").cum_sum()),
        bytes=16,
    ),
    Task(
        "primitives",
        "scan-max",
        "scan max",
        "load x.i32 | scan max",
        "max(x) over (rows unbounded preceding) as r from t",
        clickhouse="",
        numpy=lambda c: c.np.maximum.accumulate(c.x),
        polars=lambda d, pl: d.select(pl.col("x").cum_max()),
        bytes=8,
    ),
    Task(
        "primitives",
        "fold",
        "fold ^",
        "load x.i32 | fold ^",
        "bit_xor(x) as r from t",
        clickhouse="groupBitXor(x) as r from t",
        numpy=lambda c: c.np.bitwise_xor.reduce(c.x),
        polars=lambda d, pl: d.select(pl.col("x").bitwise_xor()),
        scalar=True,
        bytes=4,
    ),
    Task(
        "primitives",
        "fold-function",
        "reduce by a function",
        "load x.i32 | reduce |a, b| (a + b) & 65535",
        scalar=True,
        bytes=4,
    ),
    Task(
        "primitives",
        "sum-floats",
        "sum, floats",
        "load f.f64 | sum",
        "sum(f) as r from t",
        numpy=lambda c: c.f.sum(),
        polars=lambda d, pl: d.select(pl.col("f").sum()),
        scalar=True,
        bytes=8,
    ),
    Task(
        "primitives",
        "sort-rows",
        "sort two columns",
        "load ids.bin, x.i32 | sort id, x desc",
        "ids, x from t order by ids, x desc",
        numpy=lambda c: (lambda order: (c.ids[order], c.x[order]))(c.np.lexsort((-c.x, c.ids))),
        polars=lambda d, pl: d.select("ids", "x").sort("ids", "x", descending=[False, True]),
        bytes=16,
    ),
    Task(
        "primitives",
        "sort-floats",
        "sort, floats",
        "load f.f64 | sort",
        "f from t order by f",
        numpy=lambda c: c.np.sort(c.f),
        polars=lambda d, pl: d.select("f").sort("f"),
        bytes=16,
    ),
    Task(
        "primitives",
        "top",
        "top 10 rows",
        "load ids.bin, x.i32 | top 10 by x",
        "ids, x from t order by x desc limit 10",
        numpy=lambda c: c.top(10),
        polars=lambda d, pl: d.select("ids", "x").top_k(10, by="x").sort("x", descending=True),
        bytes=4,
    ),
    Task(
        "primitives",
        "group-many",
        "group, many keys",
        "load x.i32, ids.bin | group x / 1024: sum(id)",
        "x // 1024 as k, sum(ids) as s from t group by k order by k",
        clickhouse="intDiv(x, 1024) as k, sum(ids) as s from t group by k order by k",
        polars=lambda d, pl: d.group_by((pl.col("x") // 1024).alias("k"))
        .agg(pl.col("ids").cast(pl.Int64).sum())
        .sort("k"),
        bytes=8,
    ),
    Task(
        "primitives",
        "distinct",
        "distinct",
        "load ids.bin | distinct | sort",
        "distinct ids from t order by ids",
        numpy=lambda c: c.np.unique(c.ids),
        polars=lambda d, pl: d.select("ids").unique().sort("ids"),
        bytes=4,
    ),
    Task(
        "primitives",
        "stencil",
        "mean of 3 neighbours",
        "load x.i32 | stencil -1..1 else 0: (at(-1) + at(0) + at(1)) / 3",
        "coalesce((lag(x::bigint) over () + x + lead(x) over ()) // 3, 0) as r from t",
        clickhouse="",
        numpy=lambda c: c.blur(),
        polars=lambda d, pl: d.select(
            ((pl.col("x").shift(1).cast(pl.Int64) + pl.col("x") + pl.col("x").shift(-1)) // 3).fill_null(0)
        ),
        bytes=8,
    ),
    Task(
        "primitives",
        "stencil-2d",
        "mean of 4 around",
        f"{THOUSANDS} | stencil [-1..1, -1..1] else 0: {CROSS}",
        bytes=8,
    ),
    Task(
        "primitives",
        "gather",
        "gather at random",
        "load x.i32 | gather (load p.i32)",
        numpy=lambda c: c.x[c.p],
        polars=lambda d, pl: d.select(pl.col("x").gather(pl.col("p"))),
        bytes=12,
    ),
    Task(
        "primitives",
        "scatter",
        "scatter at random",
        "load x.i32 | scatter (load p.i32)",
        numpy=lambda c: c.scattered(),
        bytes=12,
    ),
    Task(
        "primitives",
        "reverse",
        "reverse",
        "load x.i32 | reverse",
        numpy=lambda c: c.x[::-1].copy(),
        polars=lambda d, pl: d.select(pl.col("x").reverse()),
        bytes=8,
    ),
    Task(
        "primitives",
        "along-rows",
        "sum along rows",
        f"{THOUSANDS} | sum along rows",
        numpy=lambda c: c.x.reshape(-1, 1000).sum(axis=1, dtype=c.np.int64),
        bytes=8,
    ),
    Task(
        "primitives",
        "along-cols",
        "sum along cols",
        f"{THOUSANDS} | sum along cols",
        numpy=lambda c: c.x.reshape(-1, 1000).sum(axis=0, dtype=c.np.int64),
        bytes=4,
    ),
    Task(
        "primitives",
        "hist",
        "histogram of 100",
        "load x.i32 | hist 100 | nth 3",
        numpy=lambda c: c.np.histogram(c.x, 100)[0],
        bytes=4,
    ),
)
