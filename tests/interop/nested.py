#!/usr/bin/env python3
"""Random nested tables that pyarrow writes to Parquet and Arrow files, read by rql; and saved by rql, read by pyarrow.

    tests/interop/nested.py [--dump build/dump_file] [--rounds N] [--seed N]

Needs pyarrow.
"""
import argparse
import datetime
import decimal
import json
import os
import random
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

MAX_DEPTH = 4
EPOCH = datetime.datetime(1970, 1, 1)


def scalar_type(rng):
    return rng.choice([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.float64(), pa.float32(),
                       pa.bool_(), pa.string(), pa.string(), pa.large_string(), pa.date32(), pa.timestamp("us"),
                       pa.decimal128(9, 2), pa.dictionary(pa.int32(), pa.string())])


def random_type(rng, depth, arrow):
    """Of at most this depth; with the types that only Arrow has."""
    kind = rng.choice(["scalar", "list", "list", "struct", "map"]) if depth > 0 else "scalar"
    if kind == "scalar":
        return scalar_type(rng)
    if kind == "struct":
        return pa.struct([pa.field(f"f{k}", random_type(rng, depth - 1, arrow)) for k in range(rng.randint(1, 3))])
    if kind == "map":
        key = rng.choice([pa.string(), pa.int32()])
        return pa.map_(key, random_type(rng, depth - 1, arrow))
    element = random_type(rng, depth - 1, arrow)
    makers = [pa.list_, pa.list_, pa.large_list, lambda kind: pa.list_(kind, rng.randint(1, 3))]
    if arrow and hasattr(pa, "list_view"):
        makers += [pa.list_view, pa.large_list_view]
    return rng.choice(makers)(element)


def random_value(rng, kind, missing):
    if rng.random() < missing:
        return None
    if pa.types.is_struct(kind):
        return {field.name: random_value(rng, field.type, missing) for field in kind}
    if pa.types.is_map(kind):
        keys = {random_value(rng, kind.key_type, 0) for _ in range(rng.choice([0, 0, 1, 2, 3]))}
        return [(key, random_value(rng, kind.item_type, missing)) for key in sorted(keys)]
    if pa.types.is_fixed_size_list(kind):
        return [random_value(rng, kind.value_type, missing) for _ in range(kind.list_size)]
    if is_list(kind):
        return [random_value(rng, kind.value_type, missing) for _ in range(rng.choice([0, 0, 1, 2, 3, 7]))]
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_unsigned_integer(kind):
        return rng.randrange(rng.choice([3, 1 << kind.bit_width]))
    if pa.types.is_integer(kind):
        return rng.randrange(-(1 << kind.bit_width - 1), 1 << kind.bit_width - 1) if rng.random() < 0.5 else rng.randrange(5)
    if pa.types.is_floating(kind):
        return rng.randrange(-1000, 1000) / 8
    if pa.types.is_date(kind):
        return datetime.date(2000, 1, 1) + datetime.timedelta(days=rng.randrange(10000))
    if pa.types.is_timestamp(kind):
        return EPOCH + datetime.timedelta(seconds=rng.randrange(2 * 10**9), microseconds=rng.randrange(10**6))
    if pa.types.is_decimal(kind):
        return decimal.Decimal(rng.randrange(-10**6, 10**6)).scaleb(-2)
    return rng.choice(["", "a", "b", "größe", 'quo"te', "x" * rng.randrange(30)])


def is_list(kind):
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)) or (
        hasattr(pa, "list_view") and (pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)))


def random_array(rng, kind, rows):
    missing = rng.choice([0, 0, 0.1, 0.4])
    values = [random_value(rng, kind, missing) for _ in range(rows)]
    return pa.array(values, kind)


def random_table(rng, arrow):
    rows = rng.choice([0, 1, 5, 40, 300])
    kinds = [random_type(rng, rng.randint(0, MAX_DEPTH), arrow) for _ in range(rng.randint(1, 4))]
    kinds[0] = pa.int32() if rng.random() < 0.5 else kinds[0]
    return pa.table({f"c{k}": random_array(rng, kind, rows) for k, kind in enumerate(kinds)})


def plain(kind, value):
    """A value within lists as dump_file prints it, of JSON: objects are lists of pairs, null where all their fields are missing."""
    if pa.types.is_struct(kind):
        fields = [(field.name, plain(field.type, None if value is None else value[field.name])) for field in kind]
        return fields if any(item is not None for _, item in fields) else None
    if value is None:
        return None
    if pa.types.is_map(kind) and pa.types.is_struct(kind.item_type):
        return [[("key", key), ("value", plain(kind.item_type, item))] for key, item in value]
    if pa.types.is_map(kind):
        return [(str(key), plain(kind.item_type, item)) for key, item in value]
    if is_list(kind):
        return [plain(kind.value_type, item) for item in value]
    if pa.types.is_decimal(kind):
        return float(value)
    if isinstance(value, bytes):
        return value.decode()
    if pa.types.is_date(kind):
        return str(value)
    if pa.types.is_timestamp(kind):
        return value.isoformat(timespec="milliseconds" if value.microsecond % 1000 == 0 else "microseconds").removesuffix(".000")
    return value


def json_text(kind, value):
    """A value within lists as JSON without spaces, as rql prints it."""
    if pa.types.is_struct(kind):
        fields = (f'"{field.name}":' + json_text(field.type, None if value is None else value[field.name]) for field in kind)
        return "{" + ",".join(fields) + "}"
    if value is None:
        return "null"
    if pa.types.is_map(kind) and not pa.types.is_struct(kind.item_type):
        return "{" + ",".join(f'"{key}":{json_text(kind.item_type, item)}' for key, item in value) + "}"
    if pa.types.is_map(kind):
        return "[" + ",".join(f'{{"key":{json_text(kind.key_type, key)},"value":{json_text(kind.item_type, item)}}}'
                              for key, item in value) + "]"
    if is_list(kind):
        return "[" + ",".join(json_text(kind.value_type, item) for item in value) + "]"
    return json.dumps(plain(kind, value), ensure_ascii=False)


def printed(kind, value):
    """A value of a column as dump_file prints it."""
    if value is None:
        return None
    if is_list(kind) or pa.types.is_map(kind):
        return plain(kind, value)
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    if isinstance(value, decimal.Decimal):
        return int(value.scaleb(2))
    return value


def flatten(name, kind, values, columns):
    """The columns of a field: a struct has one for each of its fields."""
    if pa.types.is_struct(kind):
        for field in kind:
            flatten(f"{name}.{field.name}", field.type, [None if value is None else value[field.name] for value in values],
                    columns)
    else:
        columns[name] = (kind, values)


def values_of(column):
    return [pairs(column.type, value) for value in column.to_pylist()]


def pairs(kind, value):
    """Maps as lists of pairs, whatever pyarrow makes of them."""
    return list(value.items()) if pa.types.is_map(kind) and isinstance(value, dict) else value


def typed_columns(table):
    """The columns that rql makes of a table: types and values."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        flatten(name, column.type, values_of(column), columns)
    return columns


def expected_columns(table):
    return {name: [printed(kind, value) for value in values] for name, (kind, values) in typed_columns(table).items()}


def text(kind, value):
    """A value as dump_file prints it."""
    if value is None:
        return "-"
    if is_list(kind) or pa.types.is_map(kind):
        return json_text(kind, value)
    return str(printed(kind, value)) or "''"


def parse(line):
    if line == "-":
        return None
    return json.loads(line, object_pairs_hook=list) if line.startswith(("[", "{")) else line


def same(ours, theirs):
    if isinstance(theirs, (list, tuple)):
        return isinstance(ours, (list, tuple)) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if theirs is None or isinstance(theirs, bool):
        return ours is theirs or (theirs is not None and ours == str(int(theirs)))
    if isinstance(theirs, (int, float)):
        return ours is not None and not isinstance(ours, (list, tuple)) and float(ours) == float(theirs)
    return ours == theirs


def dump(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def sample_table(arrow=False):
    """Lists, maps and structs within each other, with values missing at every level; and the types that only Arrow has."""
    def column(kind, values):
        return pa.array([values[k % len(values)] for k in range(20)], kind)

    point = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])
    columns = {
        "ints": column(pa.list_(pa.int64()), [[1, 2], [], None, [None, 3], [5] * 7]),
        "texts": column(pa.list_(pa.list_(pa.string())), [[["a", "b"], []], None, [None, ["c", None]], [], [["d"]]]),
        "points": column(pa.list_(point), [[{"x": 1, "tags": ["p"]}, None], [], None, [{"x": None, "tags": []}]]),
        "in": column(pa.struct([("deep", pa.struct([("point", point)])), ("n", pa.int8())]),
                     [{"deep": {"point": {"x": 7, "tags": ["q", None]}}, "n": 1}, None, {"deep": None, "n": 2},
                      {"deep": {"point": None}, "n": None}]),
        "map": column(pa.map_(pa.string(), pa.float64()), [[("k", 1.5), ("j", None)], [], None]),
        "of_map": column(pa.map_(pa.int32(), pa.list_(pa.date32())), [[(1, [datetime.date(2024, 1, 31)]), (2, None)], [(3, [])]]),
        "of_points": column(pa.map_(pa.string(), point), [[("a", {"x": 1, "tags": None}), ("b", None)], None]),
        "plain": pa.array(list(range(20))),
    }
    if arrow:
        words = pa.dictionary(pa.int8(), pa.string())
        columns["large"] = column(pa.large_list(pa.float64()), [[0.5, None], None, []])
        columns["fixed"] = column(pa.list_(pa.int16(), 2), [[1, 2], None, [3, None]])
        columns["view"] = column(pa.list_view(pa.string()), [["x", "y"], [], None])
        columns["coded"] = column(pa.list_(words), [["x", "y", "x"], [None], None])
        columns["coded_field"] = column(pa.struct([("word", words)]), [{"word": "x"}, None, {"word": None}])
        columns["nothing"] = column(pa.list_(pa.null()), [[None, None], [], None])
    return pa.table(columns)


def compare(program, path, table):
    done = dump(program, path)
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr}"
    columns = {}
    for line in done.stdout.splitlines():
        name, colon, _ = line.rpartition(": ")
        if colon and not line.startswith(("[", "{")):
            columns[name] = values = []
        else:
            values.append(parse(line))
    expected = expected_columns(table)
    if list(columns) != list(expected):
        return f"columns {list(columns)} instead of {list(expected)}: {done.stderr}"
    for name, theirs in expected.items():
        if len(columns[name]) != len(theirs):
            return f"{name}: {len(columns[name])} rows instead of {len(theirs)}"
        for row, (mine, other) in enumerate(zip(columns[name], theirs)):
            if not same(mine, other):
                return f"{name}, row {row}: {mine} instead of {other}"
    return ""


def empty_is_missing(kind, value):
    """Structs whose fields are all missing are missing, dictionaries are their values."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        fields = {field.name: empty_is_missing(field.type, value[field.name]) for field in kind}
        return None if all(item is None for item in fields.values()) else fields
    if pa.types.is_map(kind):
        return [(key, empty_is_missing(kind.item_type, item)) for key, item in pairs(kind, value)]
    if is_list(kind):
        return [empty_is_missing(kind.value_type, item) for item in value]
    return value


def compare_saved(program, path, saved, table, read):
    done = dump(program, "--save", saved, path)
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr}"
    ours = read(saved)
    if ours.column_names != table.column_names or ours.num_rows != table.num_rows:
        return f"saved {ours.num_rows} rows of {ours.column_names} instead of {table.num_rows} of {table.column_names}"
    ours.validate(full=True)
    for name in table.column_names:
        mine = [empty_is_missing(ours.column(name).type, value) for value in ours.column(name).to_pylist()]
        theirs = [empty_is_missing(table.column(name).type, value) for value in table.column(name).to_pylist()]
        for row, (one, other) in enumerate(zip(mine, theirs)):
            if one != other:
                return f"saved {name}, row {row}: {one} instead of {other} of {table.column(name).type}"
    return ""


def write_parquet(rng, table, path):
    """With options that decide on pages, levels and encodings."""
    options = {"compression": rng.choice(["none", "snappy", "gzip", "zstd", "brotli", "lz4"]),
               "use_dictionary": rng.random() < 0.5, "data_page_version": rng.choice(["1.0", "2.0"]),
               "row_group_size": rng.choice([7, 100, 1000]), "data_page_size": rng.choice([20, 300, 1 << 20]),
               "write_batch_size": rng.choice([1, 10, 1024]), "store_schema": rng.random() < 0.5,
               "use_compliant_nested_type": rng.random() < 0.7, "write_page_checksum": rng.random() < 0.3}
    pq.write_table(table, path, **options)


def write_arrow(rng, table, path):
    options = ipc.IpcWriteOptions(compression=rng.choice([None, "lz4", "zstd"]))
    make = ipc.new_stream if path.endswith(".arrows") else ipc.new_file
    with make(path, table.schema, options=options) as writer:
        writer.write_table(table.unify_dictionaries(), max_chunksize=rng.choice([7, 100, 1000]))


def read_arrow(path):
    with pa.memory_map(path) as file:
        return (ipc.open_stream(file) if path.endswith(".arrows") else ipc.open_file(file)).read_all()


def read_parquet(path):
    return pq.ParquetFile(path).read()


def check(program, number, here, formats, saved):
    rng = random.Random(number)
    ending = rng.choice(formats)
    path = os.path.join(here, f"nested.{ending}")
    table = random_table(rng, ending != "parquet")
    (write_parquet if ending == "parquet" else write_arrow)(rng, table, path)
    problem = compare(program, path, table)
    if problem or not saved:
        return problem
    to = rng.choice(saved)
    return compare_saved(program, path, os.path.join(here, f"saved.{to}"), table,
                         read_parquet if to == "parquet" else read_arrow)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", default="parquet,arrow,arrows")
    parser.add_argument("--saved", default="parquet,arrow,arrows")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as here:
        for number in range(arguments.seed, arguments.seed + arguments.rounds):
            problem = check(arguments.dump, number, here, arguments.formats.split(","), arguments.saved.split(",") if arguments.saved else [])
            if problem:
                failed += 1
                print(f"table {number}: {problem}")
                if failed == 10:
                    break
    print(f"nested: {arguments.rounds} tables, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
