#!/usr/bin/env python3
"""Writes the tables of db-benchmark (https://github.com/duckdblabs/db-benchmark): groupby.parquet with N rows, and
x, small, medium and big.parquet for its joins. Needs NumPy and pyarrow.

    tables.py DIR [N]     N: 10 000 000 by default

The distributions are those of the benchmark's generators with 100 groups, without missing values and unsorted; the
numbers themselves differ, for theirs come from R."""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUPS = 100


def texts(numbers, width):
    """`id` and the number in `width` digits, as a column of text with a dictionary."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    names = pa.array([f"id{number:0{width}d}" for number in distinct])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def write(folder, name, columns):
    pq.write_table(pa.table(columns), os.path.join(folder, name + ".parquet"), compression="snappy")


def groupby(folder, rows, random):
    def keys(most):
        return random.randint(1, most + 1, rows).astype(np.int32)

    many = max(rows // GROUPS, 1)
    write(folder, "groupby", {
        "id1": texts(keys(GROUPS), 3),
        "id2": texts(keys(GROUPS), 3),
        "id3": texts(keys(many), 10),
        "id4": keys(GROUPS),
        "id5": keys(GROUPS),
        "id6": keys(many),
        "v1": keys(5),
        "v2": keys(15),
        "v3": np.round(random.uniform(0, 100, rows), 6),
    })


def sides(count, random):
    """Keys of the left and of the right: `count` each, nine in ten of them in both."""
    keys = random.permutation(np.arange(1, count + max(count // 10, 1) + 1)).astype(np.int32)
    common = count - max(count // 10, 1)
    left = keys[:count]
    right = np.concatenate([keys[:common], keys[count:count + count - common]])
    return left, right


def column(keys, rows, random):
    """Each key once, and others of them at random, shuffled."""
    extra = random.choice(keys, rows - len(keys)) if rows > len(keys) else keys[:0]
    return random.permutation(np.concatenate([keys, extra]))[:rows]


def joins(folder, rows, random):
    counts = {"small": max(rows // 1_000_000, 10), "medium": max(rows // 1_000, 10), "big": rows}
    left, right = {}, {}
    for name, count in counts.items():
        left[name], right[name] = sides(count, random)

    def table(rows_of, source, value):
        columns = {}
        names = [name for name in counts if counts[name] <= rows_of]
        for at, name in enumerate(names, 1):
            columns[f"id{at}"] = column(source[name], rows_of, random)
        for at in range(1, len(names) + 1):
            columns[f"id{at + 3}"] = texts(columns[f"id{at}"], 1)
        columns[value] = np.round(random.uniform(0, 100, rows_of), 6)
        return columns

    write(folder, "x", table(rows, left, "v1"))
    for name, count in counts.items():
        write(folder, name, table(count, right, "v2"))


def main():
    folder = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    os.makedirs(folder, exist_ok=True)
    groupby(folder, rows, np.random.RandomState(108))
    joins(folder, rows, np.random.RandomState(109))


if __name__ == "__main__":
    main()
