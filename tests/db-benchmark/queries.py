"""The questions of db-benchmark in SQL and Polars; g01.rql to j05.rql have them in rql's language.

SQL reads tables groupby, x, small, medium and big; Polars is given them as lazy frames."""

import polars as pl


def join_sql(table, keys, how="join"):
    """All columns of x, then those of the other table but the key."""
    others = {"small": [1, 4], "medium": [1, 2, 4, 5], "big": [1, 2, 3, 4, 5, 6]}[table]
    columns = [f"r.id{k} as {table}_id{k}" for k in others if f"id{k}" != keys] + [f"r.v2 as {table}_v2"]
    return f"select x.*, {', '.join(columns)} from x {how} {table} r on x.{keys} = r.{keys}"


SQL = {
    "g01": "select id1, sum(v1) as v1 from groupby group by id1",
    "g02": "select id1, id2, sum(v1) as v1 from groupby group by id1, id2",
    "g03": "select id3, sum(v1) as v1, avg(v3) as v3 from groupby group by id3",
    "g04": "select id4, avg(v1) as v1, avg(v2) as v2, avg(v3) as v3 from groupby group by id4",
    "g05": "select id6, sum(v1) as v1, sum(v2) as v2, sum(v3) as v3 from groupby group by id6",
    "g06": "select id4, id5, quantile_cont(v3, 0.5) as median_v3, stddev(v3) as sd_v3 from groupby group by id4, id5",
    "g07": "select id3, max(v1) - min(v2) as range_v1_v2 from groupby group by id3",
    "g08": "select id6, unnest(max(v3, 2)) as v3 from groupby group by id6",
    "g09": "select id2, id4, pow(corr(v1, v2), 2) as r2 from groupby group by id2, id4",
    "g10": "select id1, id2, id3, id4, id5, id6, sum(v3) as v3, count(*) as count from groupby"
    " group by id1, id2, id3, id4, id5, id6",
    "j01": join_sql("small", "id1"),
    "j02": join_sql("medium", "id2"),
    "j03": join_sql("medium", "id2", "left join"),
    "j04": join_sql("medium", "id5"),
    "j05": join_sql("big", "id3"),
}


def total(*names):
    return [pl.col(name).sum() for name in names]


def mean(*names):
    return [pl.col(name).mean() for name in names]


def joined(tables, name, key, how="inner"):
    other = tables[name].rename({c: f"{name}_{c}" for c in tables[name].collect_schema().names() if c != key})
    return tables["x"].join(other, on=key, how=how)


POLARS = {
    "g01": lambda t: t["groupby"].group_by("id1").agg(total("v1")),
    "g02": lambda t: t["groupby"].group_by("id1", "id2").agg(total("v1")),
    "g03": lambda t: t["groupby"].group_by("id3").agg(total("v1") + mean("v3")),
    "g04": lambda t: t["groupby"].group_by("id4").agg(mean("v1", "v2", "v3")),
    "g05": lambda t: t["groupby"].group_by("id6").agg(total("v1", "v2", "v3")),
    "g06": lambda t: t["groupby"].group_by("id4", "id5").agg(
        pl.col("v3").median().alias("median_v3"), pl.col("v3").std().alias("sd_v3")),
    "g07": lambda t: t["groupby"].group_by("id3").agg((pl.col("v1").max() - pl.col("v2").min()).alias("range_v1_v2")),
    "g08": lambda t: t["groupby"].group_by("id6").agg(pl.col("v3").top_k(2)).explode("v3"),
    "g09": lambda t: t["groupby"].group_by("id2", "id4").agg((pl.corr("v1", "v2") ** 2).alias("r2")),
    "g10": lambda t: t["groupby"].group_by("id1", "id2", "id3", "id4", "id5", "id6").agg(
        total("v3") + [pl.len().alias("count")]),
    "j01": lambda t: joined(t, "small", "id1"),
    "j02": lambda t: joined(t, "medium", "id2"),
    "j03": lambda t: joined(t, "medium", "id2", "left"),
    "j04": lambda t: joined(t, "medium", "id5"),
    "j05": lambda t: joined(t, "big", "id3"),
}
