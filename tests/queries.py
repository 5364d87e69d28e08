#!/usr/bin/env python3
"""The questions of TPC-H (tests/tpch) and db-benchmark (tests/db-benchmark) on small random tables: every script runs, and
prints the same fused and unfused. Their answers on the real tables are tested by `make tpch` and `make db-benchmark`."""

import datetime
import glob
import os
import random

import harness

ROWS = 400
FEW = ("--device", "host"), ("--device", "host", "--fusion", "off")


class Tables:
    """Columns are NAME: (type as in a load, or "", function of the row)."""

    def __init__(self, sandbox, seed):
        self.sandbox = sandbox
        self.random = random.Random(seed)

    def one_of(self, *values):
        return lambda row: self.random.choice(values)

    def key(self, most):
        return lambda row: self.random.randint(1, most)

    def money(self, most):
        return lambda row: f"{self.random.randint(0, 100 * most) / 100:.2f}"

    def day(self, first=1993, last=1998):
        begin = datetime.date(first, 1, 1)
        span = (datetime.date(last, 12, 31) - begin).days
        return lambda row: begin + datetime.timedelta(self.random.randint(0, span))

    def write(self, name, rows, columns):
        """As NAME.parquet, through a CSV file with stated types."""
        lines = [",".join(columns)]
        lines += [",".join(str(make(row)) for _, make in columns.values()) for row in range(1, rows + 1)]
        self.sandbox.write(name + ".csv", "\n".join(lines).encode() + b"\n")
        types = ", ".join(f"{column} {kind}" for column, (kind, _) in columns.items() if kind)
        result = harness.run(["-c", f"load {name}.csv {types} | save {name}.parquet"], self.sandbox.here, self.sandbox.home)
        assert result.status == 0, result.text()

    def tpch(self):
        dec, nations = "decimal(2)", ["FRANCE", "GERMANY", "BRAZIL", "CANADA", "SAUDI ARABIA", "CHINA"]
        regions = ["EUROPE", "ASIA", "AMERICA"]
        brands = self.one_of("Brand#12", "Brand#23", "Brand#34", "Brand#45")
        packs = self.one_of("SM CASE", "MED BOX", "MED BAG", "LG PACK")
        kinds = self.one_of("ECONOMY ANODIZED STEEL", "PROMO BRUSHED BRASS", "LARGE BRASS", "MEDIUM POLISHED TIN")
        words = self.one_of("forest green", "forest lace", "dark green", "blue", "special hot requests", "Customer x Complaints")
        phone = self.one_of("13-555", "31-555", "23-555", "29-555", "11-555")
        self.write("region", 3, {"r_regionkey": ("", lambda k: k), "r_name": ("text", lambda k: regions[k - 1])})
        self.write("nation", 6, {"n_nationkey": ("", lambda k: k), "n_name": ("text", lambda k: nations[k - 1]),
                                 "n_regionkey": ("", lambda k: (k - 1) % 3 + 1)})
        self.write("supplier", 20, {
            "s_suppkey": ("", lambda k: k), "s_name": ("text", lambda k: f"Supplier{k:03}"), "s_address": ("text", words),
            "s_nationkey": ("", self.key(6)), "s_phone": ("text", phone), "s_acctbal": (dec, self.money(1000)),
            "s_comment": ("text", words)})
        self.write("customer", 60, {
            "c_custkey": ("", lambda k: k), "c_name": ("text", lambda k: f"Customer{k:03}"), "c_address": ("text", words),
            "c_nationkey": ("", self.key(6)), "c_phone": ("text", phone), "c_acctbal": (dec, self.money(1000)),
            "c_mktsegment": ("text", self.one_of("BUILDING", "MACHINERY")), "c_comment": ("text", words)})
        self.write("part", 40, {
            "p_partkey": ("", lambda k: k), "p_name": ("text", words), "p_mfgr": ("text", words), "p_brand": ("text", brands),
            "p_type": ("text", kinds), "p_size": ("", self.one_of(1, 4, 9, 15, 49)), "p_container": ("text", packs)})
        self.write("partsupp", 120, {
            "ps_partkey": ("", lambda k: (k - 1) % 40 + 1), "ps_suppkey": ("", lambda k: (k - 1) // 40 * 7 % 20 + 1),
            "ps_availqty": ("", self.key(1000)), "ps_supplycost": (dec, self.money(100))})
        self.write("orders", 150, {
            "o_orderkey": ("", lambda k: 4 * k), "o_custkey": ("", self.key(40)), "o_orderstatus": ("text", self.one_of("F", "O")),
            "o_totalprice": (dec, self.money(9000)), "o_orderdate": ("date", self.day()),
            "o_orderpriority": ("text", self.one_of("1-URGENT", "2-HIGH", "3-MEDIUM")), "o_shippriority": ("", lambda k: 0),
            "o_comment": ("text", words)})
        self.write("lineitem", ROWS, {
            "l_orderkey": ("", lambda k: 4 * self.random.randint(1, 150)), "l_partkey": ("", self.key(40)),
            "l_suppkey": ("", self.key(20)), "l_linenumber": ("", lambda k: k), "l_quantity": (dec, self.key(50)),
            "l_extendedprice": (dec, self.money(9000)), "l_discount": (dec, self.one_of("0.05", "0.06", "0.07", "0.10")),
            "l_tax": (dec, self.one_of("0.00", "0.08")), "l_returnflag": ("text", self.one_of("R", "A", "N")),
            "l_linestatus": ("text", self.one_of("O", "F")), "l_shipdate": ("date", self.day()),
            "l_commitdate": ("date", self.day()), "l_receiptdate": ("date", self.day()),
            "l_shipinstruct": ("text", self.one_of("DELIVER IN PERSON", "NONE")),
            "l_shipmode": ("text", self.one_of("MAIL", "SHIP", "AIR", "AIR REG"))})

    def db_benchmark(self):
        def text(most):
            return "text", lambda row: f"id{self.random.randint(1, most):03}"

        def keys(most, of=None):
            return "", (lambda row: row) if of else self.key(most)

        self.write("groupby", ROWS, {
            "id1": text(5), "id2": text(5), "id3": text(50), "id4": keys(5), "id5": keys(5), "id6": keys(50),
            "v1": keys(5), "v2": keys(15), "v3": ("", lambda row: self.random.randint(0, 10**8) / 10**6)})
        value = ("", lambda row: self.random.randint(0, 10**8) / 10**6)
        self.write("x", ROWS, {"id1": keys(10), "id2": keys(40), "id3": keys(ROWS), "id4": text(10), "id5": text(40),
                               "id6": text(ROWS), "v1": value})
        self.write("small", 9, {"id1": keys(9, True), "id4": text(10), "v2": value})
        self.write("medium", 36, {"id1": keys(10), "id2": keys(36, True), "id4": text(10),
                                  "id5": ("text", lambda row: f"id{row:03}"), "v2": value})
        self.write("big", ROWS, {"id1": keys(10), "id2": keys(40), "id3": keys(ROWS, True), "id4": text(10), "id5": text(40),
                                 "id6": text(ROWS), "v2": value})


def main(sandbox):
    tally = harness.Tally("queries")
    seed = int(os.environ.get("SEED") or 1)
    tables = Tables(sandbox, seed)
    tables.tpch()
    tables.db_benchmark()
    full = 0
    for script in sorted(glob.glob(os.path.join(harness.TESTS, "tpch", "q*.rql")) +
                         glob.glob(os.path.join(harness.TESTS, "db-benchmark", "[gj]*.rql"))):
        runs = [harness.run([*flags, "--quiet", "--arg", "dir=" + sandbox.here, script], sandbox.here, sandbox.home)
                for flags in FEW]
        name = os.path.basename(script)
        tally.check(name, next((run.text() for run in runs if run.status or run.err), ""))
        tally.check(name + " unfused", harness.difference(runs[0].out.decode(), runs[1].out.decode(), "unfused"))
        full += runs[0].out not in (b"", b"0\n", b"0.00\n")
    # Empty answers would prove little.
    tally.check("answers", "" if full >= 30 else f"only {full} scripts have rows (seed {seed})")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
