#!/usr/bin/env python3
"""Nested JSON against Python's json module: random records of random schemas, by lines, as an array, and as objects one
after another over several lines, are loaded, written, and read again. What is absent is missing, a struct of which all is
missing is missing, lists are lists.

    nested_json.py [SEED]"""

import gzip
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

NAMES = ("a", "b", "id", "$type", "x y", "langs", "caf\u00e9", 'quo"te', "n", "deep", "k1", "k2")
TEXTS = ("", "x", "long text of several words, with } and ] and \\", '"quoted"', "\u3042\u308a", "tab\there", "7", "true")


MANY = "".join(f'{{{{"t":"{i}x","u":"\\t"}}}}\n' for i in range(8000)) + '{{"t":"last{}","u":"7999y"}}\n{}'

# A file, clauses, and what is printed as JSON lines or said.
CASES = (
    ("late-fault.jsonl", '{"a":1}\n' * 3000 + '{"a":2} x\n{"a":3}\n', "", "line 3001 is not a JSON object"),
    ("late-fault.jsonl", '{"a":1}\n' * 3000 + '{"a":2} x\n{"b":3}\n', "errors skip | pick a, b | skip 2999", '{"a":1,"b":null}\n{"a":null,"b":3}\n'),
    ("late-list.jsonl", '{"a":1}\n' * 3000 + '{"b":{"c":[1]}}\n', "| skip 3000", '{"a":null,"b":{"c":[1]}}\n'),
    ("blanks-in-array.json", "[" + '{"o":{"a":["s"]}},\n{"o":{"a":[ ]}},{"o":{"a":[\n"s"]}},' * 3000 + '{"o":{"a":[ ],"b":7}}]', "| pick o.b | tail 1", '{"o":{"b":7}}\n'),
    ("blanks-in-array.jsonl", '{"o":{"a":["s"]}}\n{"o":{"a":[ ]}}\n' * 3000 + '{"o":{"a":[ ],"b":7}}\n', "| pick o.b | tail 1", '{"o":{"b":7}}\n'),
    ("all-kinds.jsonl", '{"a":{"b":2},"c":1}\n' * 3000 + '{"a":1}\n{"a":[1]}\n', "| tail 2", '{"a":"1","c":null}\n{"a":"[1]","c":null}\n'),
    ("escapes.jsonl", '{"a":"\\n\\/\\""}\n{"a":"\\x41"}\n', "", "line 2, column `a`: the escape \\x is no character"),
    ("no-fields.jsonl", '{"a":[{"x":{}},{}]}\n', "", '{"a":["{\\"x\\":{}}","{}"]}\n'),
    ("no-objects.jsonl", '{"a":[]}\n{"a":null}\n', "", '{"a":[]}\n{"a":null}\n'),
    ("touching.json", '{"a":{\n"b":1}}{"a":{"b":2}}{"a":7}', "errors skip", '{"a":{"b":1}}\n{"a":{"b":2}}\n{"a":7}\n'),
    ("faults.json", '[{"a":1},{"a":[1}},\n{"a":3}]', "", "line 1: what begins here is not a JSON object"),
    ("both.jsonl", '{"v":{"x":1}}\n{"v":{"x":{"y":2}}}\n{"v":null}\n', "", '{"v":{"x":1}}\n{"v":{"x":{"y":2}}}\n{"v":null}\n'),
    ("both-deep.jsonl", '{"v":{"x":{"y":{"z":1}},"w":3}}\n{"v":{"x":2}}\n', "| pick v", '{"v":{"x":{"y":{"z":1}},"w":3}}\n{"v":{"x":2,"w":null}}\n'),
    ("both-saved.jsonl", '{"v":{"x":1}}\n{"v":{"x":{"y":2,"z":3}}}\n', "| save b.parquet\nload b.parquet", '{"v":{"x":1}}\n{"v":{"x":{"y":2,"z":3}}}\n'),
    ("both-top.jsonl", '{"o":1}\n{"o":{"y":2,"z":3}}\n{"p":4}\n{"p":{"y":5,"z":6}}\n', "| save t.arrow\nload t.arrow | pick o, p.y, p.z | skip 2", '{"o":null,"p.y":null,"p.z":null}\n{"o":null,"p.y":5,"p.z":6}\n'),
    ("both-note.jsonl", '{"v":1}\n' * 3000 + '{"v":{"x":2}}\n', "| skip 2999", "`v` has objects, too, the first in line 3001, whose fields are columns of their own"),
    ("both-empty.jsonl", '{"v":{"x":{}}}\n{"v":1}\n', "", "note: `both-empty.jsonl`: 1 missing in `v`\n"),
    # What is behind the last value that is read
    ("behind-twice.jsonl", '{"a":1,"b":2,"c":3}\n' * 3000 + '{"a":1,"b":2,"c":3,"b":4}\n', "| pick a", "line 3001 has the key `b` twice"),
    ("behind-deep.jsonl", '{"a":1,"o":{"x":1}}\n' * 3000 + '{"a":1,"o":{"x":1},"o":{"y":1}}\n', "| pick a", "line 3001 has the key `o` twice"),
    ("behind-fault.jsonl", '{"a":1,"o":{"x":1}}\n' * 3000 + '{"a":1,"o":{"x":1}\n', "| pick a", "line 3001 is not a JSON object"),
    ("behind-word.jsonl", '{"a":1,"b":2}\n' * 3000 + '{"a":1,"b":two}\n', "| pick a", "line 3001: `two` is no value of JSON"),
    ("plus.jsonl", '{"a":1}\n{"a":+2}\n', "", "line 2: `+2` is no value of JSON"),
    ("no-whole.jsonl", '{"a":1.5}\n{"a":-.5}\n', "", "line 2: `-.5` is no value of JSON"),
    ("no-fraction.jsonl", '{"a":1.5}\n{"a":2.e1}\n', "", "line 2: `2.e1` is no value of JSON"),
    ("ends-in-point.jsonl", '{"a":1.5}\n{"a":2.}\n', "errors skip", '{"a":1.5}\n'),
    ("leading-zero.jsonl", '{"a":1,"b":2}\n{"a":[{"c":01}],"b":2}\n', "| pick b", "line 2: `01` is no value of JSON"),
    ("zeros.jsonl", '{"a":0}\n{"a":-0.50}\n{"a":1E+05}\n{"a":0e0}\n{"a":NaN}\n{"a":1e05}\n', "", '{"a":0.0}\n{"a":-0.5}\n{"a":100000.0}\n{"a":0.0}\n{"a":null}\n{"a":100000.0}\n'),
    ("behind-array.json", '[{"a":1},\n{"a":2}]\njunk\n', "", "has text behind its array, in line 3"),
    ("two-arrays.json", '[{"a":1},\n{"a":2}]\n[{"a":3}]\n', "", "line 2: the array ends behind the object that begins here"),
    ("cut-array.json", '[{"a":1},\n{"a":2}', "", "a `]` is missing: the file may have been cut"),
    ("later-long.json", '{"a":1}\n{"a":2}\n\n{\n"a":3}\n{"a":4}', "", '{"a":1}\n{"a":2}\n{"a":3}\n{"a":4}\n'),
    ("later-long.jsonl", '{"a":1}\n{"a":2}\n{\n"a":3}\n', "", "line 3 is not a JSON object"),
    ("broken-line.json", '{"a":1}\n{"a":\n{"a":3}\n', "errors skip", '{"a":1}\n{"a":3}\n'),
    ("empty.jsonl", "\n", "", "a line should be an object"),
    ("both-in-list.jsonl", '{"a":[{"x":1,"y":2},{"xy":5}]}\n{"a":[{"x":{"z":5}},{"x":{"z":{"k":1}},"xy":3}]}\n', "", '{"a":[{"x":1,"y":2,"xy":null},{"x":null,"y":null,"xy":5}]}\n{"a":[{"x":{"z":5},"y":null,"xy":null},{"x":{"z":{"k":1}},"y":null,"xy":3}]}\n'),
    ("wide-mean.jsonl", '{"a":[9223372036854775807,9223372036854775807,-3]}\n{"a":[-9223372036854775808,-9223372036854775808]}\n{"a":[null,-7]}\n{"a":[]}\n', "| map mean(a) as m", '{"m":6.148914691236517e18}\n{"m":-9.223372036854776e18}\n{"m":-7.0}\n{"m":null}\n'),
    ("blank.jsonl", '{"a":1,"b":2}\n' * 3000 + '  \n\n{"b":4,"a":3}\n \n', "| pick a | skip 3000", '{"a":3}\n'),
    ("returns.jsonl", '{"a": 1, "b": "x"}\r\n' * 3000 + '{"a": 2, "o": {}}\r\n', "| pick a | skip 3000", '{"a":2}\n'),
    ("last.jsonl", '{"a":1,"o":[{"x":1}]}\n' * 3000 + '{"a":2,"o":[{"x":1},{"y":{"z":3}}]}', "| pick o | skip 3000", '{"o":[{"x":1,"y":null},{"x":null,"y":{"z":3}}]}\n'),
    ("retyped.jsonl", '{"o":[{"x":1}],"a":1}\n' * 3000 + '{"a":2,"o":[{"x":"t"}]}\n', "| pick a, o | skip 3000", '{"a":2,"o":[{"x":"t"}]}\n'),
    ("values-last.jsonl", '{"a":1,"o":null}\n' * 3000 + '{"a":2,"o":3}\n', "| pick a, o | skip 3000", '{"a":2,"o":3}\n'),
    # Texts of which so many are distinct that they are interned together
    ("many.jsonl", MANY.format("", ""), "| group t: count() | count", "8001"),
    ("many-2.jsonl", MANY.format("", ""), "| skip 7999 | pick t, u", '{"t":"7999x","u":"\\u0009"}\n{"t":"last","u":"7999y"}\n'),
    ("many-wrong.jsonl", MANY.format("\udcff", ""), "", "many-wrong.jsonl`, line 8001, column `t`"),
    ("many-wrong-first.jsonl", MANY.format("\udcff", "}"), "", "many-wrong-first.jsonl`, line 8001, column `t`"),
    ("many-skip.jsonl", MANY.format("\udcff", ""), "errors skip | group: count() as n, distinct(t) as d", '{"n":8000,"d":8000}'),
    ("many-missing.csv", "t,n\n" + "".join(f"{i}x,{i}\n" for i in range(8000)) + "\udcff,7\n", "errors missing | skip 7999", '{"t":"7999x","n":7999}\n{"t":null,"n":7}\n'),
    ("many-wrong.csv", "t,n\n" + "".join(f"{i}x,{i}\n" for i in range(8000)) + "\udcff,7\n", "", "many-wrong.csv`, line 8002, column `t`"),
    # The columns of a file that only a correction looks at
    ("peeked.jsonl", '{"foo":[{"sku":"a","qty":1}],"tags":["x"]}\n', "| select foo bar", "expected an operator"),
    ("peeked2.jsonl", '{"id":1,"tags":["x"]}\n', "| pick id, tags | distinct by id", "error"),
    ("deep.jsonl", '{"a":' + '{"a":' * 200 + "1" + "}" * 201 + "\n", "| count", "1\n"),
    ("deep-list.jsonl", '{"a":' + "[" * 200 + "1" + "]" * 200 + "}\n", "| count", "1\n"),
)


def schema_of(rng, depth):
    """A schema: a struct of named schemas, a list of one, or the name of a scalar type."""
    draw = rng.random()
    if depth == 0 or (depth < 4 and draw < 0.3):
        names = rng.sample(NAMES, rng.randint(1, 5))
        return {name: schema_of(rng, depth + 1) for name in names}
    if depth < 4 and draw < 0.5:
        return [schema_of(rng, depth + 1)]
    return rng.choice(("int", "float", "text", "bool"))


def value_of(rng, schema, late):
    """A value of the schema, None where it is missing."""
    if rng.random() < 0.15:
        return None
    if isinstance(schema, dict):
        return {name: value_of(rng, inner, late) for name, inner in schema.items() if not (late and name[0] == "k")}
    if isinstance(schema, list):
        return [value_of(rng, schema[0], late) for _ in range(rng.choice((0, 1, 1, 2, 5)))]
    if schema == "int":
        return rng.choice((0, 1, -5, rng.randrange(10**12), -(2**53)))
    if schema == "float":
        return rng.randrange(-1000, 1000) / 8 + 0.0625
    return rng.random() < 0.5 if schema == "bool" else rng.choice(TEXTS)


def thinned(rng, value):
    """The same with some of what is missing left out, and keys in another order."""
    if isinstance(value, list):
        return [thinned(rng, element) for element in value]
    if not isinstance(value, dict):
        return value
    names = [name for name in value if value[name] is not None or rng.random() < 0.5]
    if rng.random() < 0.2:
        rng.shuffle(names)
    return {name: thinned(rng, value[name]) for name in names}


def is_missing(value):
    return value is None or (isinstance(value, dict) and all(is_missing(inner) for inner in value.values()))


def seen(schema, values):
    """The schema as far as values tell: keys with something in them. None: nothing but missing values."""
    values = [value for value in values if value is not None]
    if isinstance(schema, dict):
        fields = {}
        for name, inner in schema.items():
            found = seen(inner, [value[name] for value in values if name in value])
            if found is not None:
                fields[name] = found
        return fields or None
    if isinstance(schema, list):
        inner = seen(schema[0], [element for value in values for element in value])
        return [inner] if values else None
    return schema if values else None


def expected(schema, value, element=False):
    """What is written of a value."""
    if isinstance(schema, dict):
        if is_missing({} if value is None else {name: value.get(name) for name in schema}) and not element:
            return None
        return {name: expected(inner, (value or {}).get(name)) for name, inner in schema.items()}
    if isinstance(schema, list) and value is not None:
        return [expected(schema[0], inner, True) for inner in value]
    return value


def same(a, b):
    """Equal, whatever the order of keys; a struct without values is null, or where no element has any, a text."""
    if isinstance(a, str) and isinstance(b, dict) and is_missing(b):
        a = json.loads(a)
    if isinstance(a, dict) or isinstance(b, dict):
        a, b = a or {}, b or {}
        return all(same(a.get(name), b.get(name)) for name in set(a) | set(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def written(rows, form):
    if form == "lines":
        return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    if form == "array":
        return json.dumps(rows, ensure_ascii=False)
    if form == "pretty":
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    return "".join(json.dumps(row, indent=1) + "\n" for row in rows)


def check_subsets(rng, sandbox, tally):
    """Records with some of many keys in any order, so that keys follow each other in many ways, of which some are read."""
    keys = [f"k{i}" for i in range(40)] + ["o", 'quo"te']
    rows = []
    for number in range(12000):
        row = {"id": number}
        for key in rng.sample(keys, rng.randint(0, 12)):
            row[key] = {"x": rng.randrange(9), "t": "a\\"}
        if rng.random() < 0.5:
            row = dict(rng.sample(sorted(row.items()), len(row)))
        rows.append(row)
    for separators in ((",", ":"), (", ", ": ")):
        sandbox.write("subsets.jsonl", "".join(json.dumps(row, separators=separators) + "\n" for row in rows).encode())
        asked = "load subsets.jsonl | derive y = k3.x + k39.x, t = `quo\"te`.t | group: count(), sum(id), sum(y), count(t)"
        result = harness.run(["--device", "host", "--format", "tsv", "-c", asked], sandbox.here, sandbox.home)
        both = [row["k3"]["x"] + row["k39"]["x"] for row in rows if "k3" in row and "k39" in row]
        wanted = [len(rows), sum(row["id"] for row in rows), sum(both), sum('quo"te' in row for row in rows)]
        tally.check("subsets", "" if result.out.decode().split() == [str(value) for value in wanted] else f"{wanted} {result.text()}")


# Of records as check_unpacked makes them; each is asked of the lines, and of the compressed lines by itself and after
# the others, which have left out what it reads.
UNPACKED = (
    "group kind: count() as n, sum(o.n) as s | sort kind",
    "group: sum(len(tags)), sum(sum(items.q)), count(o.t)",
    "select o.n > 40 | pick o.t, late.x | distinct | sort o.t, late.x",
    "group `a.b`: count() as n | sort n, `a.b`",
    "pick mixed | distinct | sort mixed | take 20",
    "map items[0].q | sum",
    "count",
    "pick c3, `o.c3` | group c3, `o.c3`: count() as n | sort n, c3, `o.c3`",
    "pick o | tail 3",
    "tail 3",
)


def check_unpacked(rng, sandbox, tally):
    """Of compressed lines only what a statement mentions is kept: of several blocks, with late keys, keys that have
    points or are empty, blank lines, and values of other types than those before."""
    lines = []
    for number in range(45000):
        row = {"id": number, "kind": rng.choice(("x", "y", None)), "": rng.randrange(3)}
        row["o"] = {"n": rng.randrange(100), "t": rng.choice(TEXTS), "": rng.randrange(3), "pad": "p" * rng.randrange(200)}
        row["a.b"] = rng.randrange(5)
        row["tags"] = rng.sample(["s", "t", "u"], rng.randrange(4))
        row["items"] = [{"p": "z", "q": rng.randrange(9)} for _ in range(rng.randrange(3))]
        row["mixed"] = rng.choice((number, "text", number / 2, [number], {"z": number})) if number > 30000 else number % 7
        if number > 20000 and rng.random() < 0.01:
            row["late"] = {"x": number % 11, f"rare{number % 3}": None}
        if number > 0 and rng.random() < 0.3:
            row = dict(rng.sample(sorted(row.items()), len(row)))
        lines.append(json.dumps(row) + ("\r\n" if number % 9 == 0 else "\n") + ("\n" if number % 5000 == 4999 else ""))
    content = "".join(lines).encode()
    sandbox.write("plain.jsonl", content)
    sandbox.write("packed.jsonl.gz", gzip.compress(content, 1))
    arguments = ["--quiet", "--device", "host", "--format", "jsonl"]
    apart = []
    for stages in UNPACKED:
        for name in ("plain.jsonl", "packed.jsonl.gz"):
            apart.append(harness.run([*arguments, "-c", f"load {name} | {stages}"], sandbox.here, sandbox.home).text())
        tally.check("unpacked", "" if apart[-1].replace("packed.jsonl.gz", "plain.jsonl") == apart[-2] else f"{stages}: {apart[-2:]}")
    sandbox.write("all.rql", "".join(f"load packed.jsonl.gz | {stages}\n" for stages in UNPACKED).encode())
    together = harness.run([*arguments, "all.rql"], sandbox.here, sandbox.home)
    sandbox.write("plain.rql", "".join(f"load plain.jsonl | {stages}\n" for stages in UNPACKED).encode())
    wanted = harness.run([*arguments, "plain.rql"], sandbox.here, sandbox.home)
    tally.check("unpacked-together", "" if together.out == wanted.out and not together.status else together.text()[-600:])


def check_folder(sandbox, tally):
    """Fields of objects in lists that come in several files, and first as null: a key is written once."""
    rows = ({"a": [{"p": {"p": "b"}, "z": 1}]}, {"a": [{"p": None}]}, {"a": [{"p": {"q": "c"}}]})
    for number, row in enumerate(rows):
        sandbox.write(f"part{number}.jsonl", (json.dumps(row) + "\n").encode())
    result = harness.run(["--device", "host", "--format", "jsonl", "-c", "load 'part*.jsonl'"], sandbox.here, sandbox.home)
    wanted = (
        '{"a":[{"p":{"p":"b","q":null},"z":1}]}', '{"a":[null]}', '{"a":[{"p":{"p":null,"q":"c"},"z":null}]}'
    )
    tally.check("folder", "" if result.out.decode().split() == list(wanted) else result.text())
    for order, (one, two) in enumerate(((0, 1), (1, 0))):
        contents = ('{"a":[{},{}]}\n{"a":[null]}\n', '{"a":[{"x":1}]}\n')
        sandbox.write(f"bare{order}0.jsonl", contents[one].encode())
        sandbox.write(f"bare{order}1.jsonl", contents[two].encode())
        result = harness.run(["--device", "host", "--format", "jsonl", "-c", f"load 'bare{order}?.jsonl'"], sandbox.here, sandbox.home)
        wanted = (['{"a":[null,null]}', '{"a":[null]}'], ['{"a":[{"x":1}]}'])
        tally.check("bare-objects", "" if result.out.decode().split() == wanted[one] + wanted[two] else result.text())


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(10**6)
    print(f"nested_json: seed {seed}", flush=True)
    rng = random.Random(seed)
    tally = harness.Tally("nested-json")
    with harness.Sandbox() as sandbox:
        for name, content, clauses, told in CASES:
            sandbox.write(name, content.encode("utf-8", "surrogateescape"))
            result = harness.run(["--device", "host", "--format", "jsonl", "-c", f"load {name} {clauses}"], sandbox.here, sandbox.home)
            shown = (result.out + result.err).decode()
            tally.check(name + clauses[:12], "" if told in shown else f"no {told!r} in {result.text()}")
            if not name.endswith(".jsonl") or name.startswith("peeked"):
                continue
            sandbox.write(f"{name}.gz", gzip.compress(content.encode("utf-8", "surrogateescape"), 1))
            result = harness.run(["--device", "host", "--format", "jsonl", "-c", f"load {name}.gz {clauses}"], sandbox.here, sandbox.home)
            shown = (result.out + result.err).decode().replace(".gz", "")
            tally.check(f"{name}.gz{clauses[:12]}", "" if told in shown else f"no {told!r} in {result.text()}")
        check_unpacked(random.Random(seed + 2), sandbox, tally)
        check_subsets(random.Random(seed + 1), sandbox, tally)
        check_folder(sandbox, tally)
        for number in range(60):
            schema = schema_of(rng, 0)
            count = rng.choice((1, 2, 10, 50, 1500)) if number > 2 else 20000
            rows = [value_of(rng, schema, index < count * 3 // 4) or {} for index in range(count)]
            rows = [thinned(rng, row) for row in rows]
            form = rng.choice(("lines", "array", "pretty", "objects")) if number > 2 else ("lines", "array", "objects")[number]
            found = seen(schema, rows)
            title = f"{number}-{form}-{count}"
            if found is None:
                continue
            name = f"t{number}." + ("jsonl" if form == "lines" else "json")
            sandbox.write(name, written(rows, form).encode())
            script = f"load {name} | save u{number}.jsonl\nload u{number}.jsonl | save v{number}.json\n"
            sandbox.write("s.rql", script.encode())
            result = harness.run(["--quiet", "--device", "host", "s.rql"], sandbox.here, sandbox.home)
            if result.status != 0:
                tally.check(title, f"seed {seed}: {result.text()}")
                continue
            with open(sandbox.path(f"u{number}.jsonl"), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            with open(sandbox.path(f"v{number}.json"), encoding="utf-8") as file:
                array = json.load(file)
            wanted = [expected(found, row) for row in rows]
            wrong = [index for index in range(count) if index >= len(lines) or not same(lines[index], wanted[index])]
            problem = None
            if len(lines) != count or wrong:
                at = wrong[0] if wrong else 0
                problem = f"seed {seed}, row {at}: {lines[at] if at < len(lines) else None} for {wanted[at]}"
            elif lines != array:
                problem = f"seed {seed}: not the same when it is read again"
            tally.check(title, problem)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
