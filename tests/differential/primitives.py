"""Stages that read other rows: their meaning, their text, and a generator."""

from fractions import Fraction

import numpy as np

from expressions import INT64_MAX, INT64_MIN, NOTHING, Maker, evaluate, kind_of, write
from relations import (
    FUNCTIONS,
    OPERATORS,
    QueryError,
    aggregate,
    chains,
    ranks,
    scan,
    sorted_rows,
    starts_of,
)

AGGREGATES = ("sum", "sum", "count", "min", "max", "mean")


# --- meaning ----------------------------------------------------------------------------------------------------------


def as_number(value):
    return value.astype(np.int64) if value.dtype == bool else value


def as_operand(value, word, initial=None):
    """Extremes of bools are bools, unless they begin with a number; all else takes them for 1 and 0."""
    return value if word in ("min", "max") and initial is None else as_number(value)


def number_kind(kind):
    return "float" if kind == "float" else "int"


def kind_of_extreme(word, kind):
    """The kind of what the word makes of values of this kind."""
    return "bool" if kind == "bool" and word in ("min", "max") else number_kind(kind)


def read_all(relation, value, fails):
    """A column that is always read whole."""
    if relation.filtered and fails.any():
        relation.sure = False  # rows may be numbered before or after the filter
    relation.note(fails)
    relation.raise_if_failed()
    return value


def keys_of(relation, nodes):
    place = relation.place()
    return [read_all(relation, *relation.whole(evaluate(node, relation.columns, place))) for node in nodes]


def pass_breaker(relation):
    """Values not computed yet fail in rows as they were numbered before."""
    relation.raise_if_failed()
    if relation.pending():
        relation.sure = False


def move(relation, order, outside=None):
    """The rows at these positions; those `outside` fail."""
    pass_breaker(relation)
    relation.columns = [relation.whole(column) for column in relation.columns]
    if outside is None:
        relation.columns = [(value[order], fails[order]) for value, fails in relation.columns]
    else:
        order = np.where(outside, 0, order)
        relation.columns = [
            (value[order], fails[order] | outside) if relation.rows else (np.zeros(len(order), value.dtype), outside)
            for value, fails in relation.columns
        ]
    relation.rows = len(order)
    relation.shape = None
    relation.begin()


def apply_scan(relation, stage):
    if len(relation.columns) != 1 or (stage["along"] and not relation.shape):
        raise KeyError("column")  # only while shrinking
    relation.raise_if_failed()
    value = as_operand(read_all(relation, *relation.whole(relation.columns[0])), stage["op"], stage["initial"])
    made, fails = np.zeros_like(value), np.zeros(relation.rows, dtype=bool)
    for chain in chains(relation.rows, relation.shape, stage["along"]):
        made[chain], fails[chain] = scan(stage, value[chain])
    if stage["op"] in FUNCTIONS and fails.any():
        relation.sure = False  # the row where the function failed, not the row read
        relation.regrouped = True
    relation.columns = [(made, fails)]
    relation.begin()


def apply_sort(relation, stage):
    relation.raise_if_failed()
    nodes, descending = stage["nodes"], stage["descending"]
    keys = keys_of(relation, nodes) if nodes else [read_all(relation, *relation.whole(c)) for c in relation.columns]
    if not nodes:
        descending = [stage["down"]] * len(keys)
    move(relation, sorted_rows([ranks(key, down) for key, down in zip(keys, descending)]))


def apply_top(relation, stage):
    apply_sort(relation, stage)
    relation.keep(slice(0, stage["count"]))


def apply_distinct(relation, _):
    relation.raise_if_failed()
    keys = [ranks(read_all(relation, *relation.whole(column))) for column in relation.columns]
    order = sorted_rows(keys)
    move(relation, np.sort(order[starts_of(keys, order)]))
    relation.filtered = True


def apply_group(relation, stage):
    relation.raise_if_failed()
    nodes = stage["nodes"]
    keys = keys_of(relation, nodes[: stage["keys"]])
    order_keys = [ranks(key) for key in keys]
    order = sorted_rows(order_keys)
    starts = starts_of(order_keys, order)
    ends = np.append(starts[1:], len(order))
    columns = [(key[order[starts]], np.zeros(len(starts), dtype=bool)) for key in keys]
    place = relation.place()
    operands = iter(nodes[stage["keys"] :])
    pending = False
    for word, has_operand in stage["aggregates"]:
        if not has_operand:
            columns.append((ends - starts, np.zeros(len(starts), dtype=bool)))
            continue
        value, fails = relation.whole(evaluate(next(operands), relation.columns, place))
        pending = pending or fails.any()
        columns.append(aggregate_groups(word, as_operand(value, word)[order], fails, starts, ends))
    # A sum beyond 64 bits names the key; a failed value belongs to no group.
    relation.vague = relation.vague or pending or any(fails.any() for _, fails in columns)
    relation.lenient = relation.lenient or pending
    relation.names, relation.columns, relation.rows, relation.shape = list(stage["names"]), columns, len(starts), None
    relation.begin()
    relation.filtered = True


def aggregate_groups(word, value, fails, starts, ends):
    if word == "count":
        word = "sum"
    floating = value.dtype.kind == "f" or word == "mean"
    results = [aggregate(word, value[start:end]) for start, end in zip(starts, ends)]
    beyond = np.array([not floating and not INT64_MIN <= each <= INT64_MAX for each in results], dtype=bool)
    results = [0 if wrong else each for each, wrong in zip(results, beyond)]
    # All values of a column are computed or none.
    kind = np.float64 if floating else value.dtype if value.dtype == bool else np.int64
    return np.array(results, dtype=kind), beyond | fails.any()


def apply_reverse(relation, _):
    move(relation, np.arange(relation.rows)[::-1])


BORDERS = {"wrap": "wrap", "edge": "edge", "mirror": "reflect"}  # the modes of np.pad


def apply_stencil(relation, stage):
    if len(stage["reach"]) != (2 if relation.shape else 1):
        raise KeyError("shape")
    place = relation.place()
    first, last = zip(*stage["reach"])
    border = BORDERS.get(stage["otherwise"]) if isinstance(stage["otherwise"], str) else None
    inside = np.ones(relation.rows, dtype=bool) if border else place.inside(first, last)
    place.border = border
    made = []
    for node in stage["nodes"]:
        value, fails = relation.whole(evaluate(node, relation.columns, place))
        if border:
            otherwise, fails_outside = value, fails
        elif isinstance(stage["otherwise"], int):
            otherwise, fails_outside = np.array([stage["otherwise"]], dtype=value.dtype), False
        else:
            otherwise, fails_outside = relation.whole(evaluate(stage["otherwise"], relation.columns, place))
        made.append((np.where(inside, value, otherwise), np.where(inside, fails, fails_outside)))
    relation.names, relation.columns = list(stage["names"]), made


def apply_gather(relation, stage):
    positions = stage["positions"]
    outside = (positions < 0) | (positions >= relation.rows)
    move(relation, positions, outside)


def apply_scatter(relation, stage):
    positions, into = stage["positions"], stage["into"]
    relation.raise_if_failed()
    if relation.filtered and len(positions) != relation.rows:
        raise QueryError(None, True)
    if len(positions) != relation.rows:
        raise QueryError(None, True)
    rows = relation.rows if into is None else into
    taken = {}
    for row, position in enumerate(positions.tolist()):
        if not 0 <= position < rows or position in taken:
            raise QueryError(row, True, True)  # or lengths compared earlier
        taken[position] = row
    pass_breaker(relation)
    columns = []
    for value, fails in map(relation.whole, relation.columns):
        made, made_fails = np.zeros(rows, dtype=value.dtype), np.zeros(rows, dtype=bool)
        made[positions], made_fails[positions] = value, fails
        columns.append((made, made_fails))
    relation.columns, relation.rows, relation.shape = columns, rows, None
    relation.begin()


def apply_shape(relation, stage):
    if stage["extents"][0] * stage["extents"][1] != relation.rows:
        if relation.failed is not None:
            relation.vague = True
            relation.raise_if_failed()
        raise QueryError(None, True)
    relation.shape = stage["extents"]


def edges_of(low, high, bins):
    with np.errstate(over="ignore"):
        whole = high - low
        parts = np.arange(bins + 1) / bins
        if isinstance(low, int):
            return np.array([float(low + Fraction(whole * k, bins)) for k in range(bins + 1)])
        edges = low + whole * parts if np.isfinite(whole) else 2 * (low / 2 + (high / 2 - low / 2) * parts)
    edges = np.minimum(edges, high)
    if isinstance(low, float) and (high / 2 - low / 2) / bins > 100 * (abs(low) * 1e-14 + abs(high) * 1e-14):
        edges = np.array([float(f"{edge:.15g}") for edge in edges.tolist()])
    edges[0], edges[-1] = low, high
    return edges


def apply_hist(relation, stage):
    relation.raise_if_failed()
    bins = stage["bins"]
    value = as_number(read_all(relation, *relation.whole(relation.columns[0])))
    if len(relation.columns) != 1:
        raise KeyError("column")
    if value.dtype.kind == "f":
        value = value[~np.isnan(value)] + 0.0
    if not len(value) or (value.dtype.kind == "f" and not np.isfinite(value).all()):
        raise QueryError(0, False, True)
    low, high = value.min().item(), value.max().item()
    edges = edges_of(low, high, bins)
    if value.dtype.kind == "f":
        bin_of = np.searchsorted(edges[1:-1], value, side="right")
        bin_of[value == high] = bins - 1
    else:
        width = max(1, high - low)
        bin_of = [bins - 1 if each == high else (each - low) * bins // width for each in value.tolist()]
    counts = np.bincount(np.array(bin_of, dtype=np.int64), minlength=bins).astype(np.int64)
    none = np.zeros(bins, dtype=bool)
    relation.names = ["lo", "hi", "count"]
    relation.columns, relation.rows, relation.shape = (
        [(edges[:-1], none), (edges[1:], none), (counts, none)],
        bins,
        None,
    )
    relation.begin()


APPLY = {
    "scan": apply_scan,
    "sort": apply_sort,
    "top": apply_top,
    "distinct": apply_distinct,
    "group": apply_group,
    "reverse": apply_reverse,
    "stencil": apply_stencil,
    "gather": apply_gather,
    "scatter": apply_scatter,
    "shape": apply_shape,
    "hist": apply_hist,
}


# --- text -------------------------------------------------------------------------------------------------------------


def write_combining(stage):
    text = stage["op"]
    if stage.get("exclusive"):
        text += " exclusive"
    if stage["initial"] is not None:
        text += f" from {stage['initial']}"
    return text


def write_primitive(stage, head, names, random, columns):
    """The stage as text; `head` are the lambda's parameters for `columns`, spelled `names`."""
    word = stage["word"]
    nodes = [write(node, names) for node in stage.get("nodes", ())]
    if word == "scan":
        return f"scan {write_combining(stage)}"
    if word == "sort":
        keys = [
            text + (" desc" if down else random.choice(["", "", " asc"]))
            for text, down in zip(nodes, stage["descending"])
        ]
        word = random.choice(["sort", "order"])
        if not nodes and stage["down"] and "desc" in columns:
            return f"{word} {', '.join(f'${index + 1} desc' for index in range(len(columns)))}"
        if not nodes:
            return f"{word} desc" if stage["down"] else word
        return f"{word} {head}{', '.join(keys)}"
    if word == "top":
        keys = [text + (random.choice(["", " desc"]) if down else " asc") for text, down in zip(nodes, stage["descending"])]
        return f"top {stage['count']}" + (f" by {head}{', '.join(keys)}" if keys else "")
    if word == "group":
        operands = iter(nodes[stage["keys"] :])
        keys = [f"{text} as {name}" for text, name in zip(nodes[: stage["keys"]], stage["names"])]
        calls = [
            f"{each}({next(operands) if has_operand else ''}) as {name}"
            for (each, has_operand), name in zip(stage["aggregates"], stage["names"][stage["keys"] :])
        ]
        return f"group {head}{', '.join(keys)}" + (f": {', '.join(calls)}" if calls else "")
    if word == "stencil":
        reach = ", ".join(f"{low}..{high}" for low, high in stage["reach"])
        reach = f"[{reach}]" if len(stage["reach"]) > 1 else reach
        items = [f"{text} as {name}" for text, name in zip(nodes, stage["names"])]
        otherwise = stage["otherwise"]
        if not isinstance(otherwise, str):
            otherwise = f"else {otherwise if isinstance(otherwise, int) else write(otherwise, columns)}"
        return f"stencil {reach} {otherwise}: {head}{', '.join(items)}"
    if word == "gather":
        return f"gather {stage['text']}"
    if word == "scatter":
        return f"scatter {stage['text']}" + ("" if stage["into"] is None else f" into {stage['into']}")
    if word == "shape":
        return f"shape {stage['extents'][0]} {stage['extents'][1]}"
    if word == "hist":
        return f"hist {stage['bins']}" if stage["bins"] != 10 or random.random() < 0.5 else "hist"
    return word


# --- generating -----------------------------------------------------------------------------------------------------------


class Making:
    """The relation while stages are generated; rows is None if it depends on the data."""

    def __init__(self, names, kinds, rows, large):
        self.names = names
        self.kinds = kinds
        self.rows = rows
        self.shape = None
        self.large = large
        self.table = None

    def maker(self, random, reach=None):
        return Maker(random, self.kinds, self.shape is not None, self.table, reach)


def random_table(random, data):
    """A relation that `let` binds: (name of a column, values, text, columns of its shape)."""
    rows = random.choice([0, 1, 2, 5, 17, 17, 100, 100, 2049])
    path, values = random.choice(data.files[rows])
    wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    if random.random() < 0.4:
        return "lookup.second", wide, f"load {path} | map row as first, x as second", None
    if rows and random.random() < 0.5:
        cols = random.choice([each for each in (1, 2, 5, 17, 10, 683) if rows % each == 0])
        return "lookup", wide, f"load {path} | shape {rows // cols} {cols}", cols
    return "lookup", wide, f"load {path}", None


def random_positions(random, data, rows, large):
    """Positions as text and values, mostly all below `rows`."""
    choice = random.random()
    if choice < 0.25:
        values = [random.randint(0, max(0, rows - 1)) for _ in range(random.randint(1, 6))]
        if random.random() < 0.15:
            values[-1] = random.choice([-1, rows, rows + 3, INT64_MAX, INT64_MIN])
        return f"[{', '.join(map(str, values))}]", np.array(values, dtype=np.int64)
    if choice < 0.6 and rows:
        last = random.randint(0, rows - 1)
        return f"(range 0..{last})", np.arange(last + 1, dtype=np.int64)
    count = random.choice([each for each in data.files if large or each <= 5001])
    path, values = random.choice([each for each in data.files[count] if each[1].dtype.kind != "f"])
    size = rows if rows and random.random() < 0.9 else rows + 1
    return f"(load {path} | map (x % {size} + {size}) % {size})", np.mod(values.astype(np.int64), size)


def injective(random, rows, into):
    """A distinct position for each row: text and values."""
    if rows == 0:
        return "(load d0/a.i32)", np.arange(0, dtype=np.int64)
    factor = next(each for each in random.sample([1, 7, 11, 13, 101, 1009], 6) if np.gcd(each, into) == 1)
    shift = random.randint(0, 9)
    text = f"(range 0..{rows - 1} | map (x * {factor} + {shift}) % {into})"
    return text, (np.arange(rows, dtype=np.int64) * factor + shift) % into


def divisors(rows):
    return [each for each in range(1, rows + 1) if rows % each == 0] if rows <= 10_000 else [1, 3, rows]


def random_combining(random, kind, large, terminal):
    """op and initial value of a scan or fold over this kind."""
    floating = kind == "float"
    operators = ["+", "+", "*", "min", "max"] + ([] if floating else ["&", "^", "bitor", "or"])
    functions = [text for text, (_, floats) in FUNCTIONS.items() if floats or not floating]
    op = random.choice(operators if large or random.random() < 0.65 else functions)
    initial = None
    if random.random() < 0.35:
        initial = random.choice([0.5, -1.25, 1e10]) if floating else random.choice([0, 1, -3, 42, 2**40, INT64_MAX])
    stage = {"op": op, "initial": initial, "along": None}
    if not terminal:
        stage["exclusive"] = random.random() < 0.35 and (initial is not None or OPERATORS.get(op) is not None)
    return stage


def make_scan(random, state, names):
    stages = one_column(random, state, names)
    stage = {"word": "scan", **random_combining(random, state.kinds[0], state.large, False)}
    if state.shape and random.random() < 0.7:
        stage["along"] = random.choice(["rows", "cols"])
    state.kinds = [kind_of_extreme(stage["op"], state.kinds[0]) if stage["initial"] is None else number_kind(state.kinds[0])]
    return [*stages, stage]


def one_column(random, state, names):
    """Stages after which the relation has one column."""
    if len(state.kinds) == 1 and random.random() < 0.7:
        return []
    if state.large or random.random() < 0.5:
        index = random.randrange(len(state.kinds))
        state.names, state.kinds = [state.names[index]], [state.kinds[index]]
        return [{"word": "pick", "indices": [index]}]
    node = state.maker(random).make(random.choice(["int", "int", "float", "bool"]), 1)
    state.names, state.kinds = [random.choice(names)], [node.kind]
    return [{"word": "map", "nodes": [node], "names": list(state.names)}]


def random_key(random, maker):
    """A key, mostly with few values."""
    choice = random.random()
    column = maker.column("int")
    if choice < 0.35 and column:
        return type(column)("%", "int", [column, maker.small(1, 20)])
    if choice < 0.75:
        return maker.column(random.choice(["int", "float", "bool"])) or column or type(maker.small(0, 1))("row", "int")
    made = maker.make(random.choice(["int", "int", "float", "bool"]), 1)
    # A table element at a constant position is the same for all rows.
    constant = not any(each.op in ("column", "row", "col") for each in made.walk())
    return (column or type(made)("row", "int")) if constant else made


def sort_stage(random, state):
    maker = state.maker(random)
    nodes = [random_key(random, maker) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    state.shape = None
    descending = [random.random() < 0.4 for _ in nodes]
    return {"word": "sort", "nodes": nodes, "descending": descending, "down": random.random() < 0.3}


def make_sort(random, state, names):
    """Sometimes followed by a window, so that few rows need sorting."""
    stages = [sort_stage(random, state)]
    if random.random() < 0.3:
        stages.append({"word": "take", "count": random.choice([1, 3, 10, 100, 300])})
        if state.rows is not None:
            state.rows = min(stages[-1]["count"], state.rows)
    return stages


def make_top(random, state, names):
    stage = {**sort_stage(random, state), "word": "top", "down": True}
    stage["count"] = random.choice([0, 1, 3, 10, 2000])
    if state.rows is not None:
        state.rows = min(stage["count"], state.rows)
    return [stage]


def make_group(random, state, names):
    maker = state.maker(random)
    keys = [random_key(random, maker) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    if state.large:
        keys = [type(keys[0])("%", "int", [maker.column("int") or type(keys[0])("row", "int"), maker.small(1, 99)])]
    aggregates, operands = [], []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        word = random.choice(AGGREGATES)
        if word == "count":
            operand = maker.boolean(1) if random.random() < 0.4 else None
        elif random.random() < 0.6:
            operand = maker.column(random.choice(["int", "float"])) or maker.integer(1)
        else:
            operand = maker.make("int" if state.large else random.choice(["int", "int", "float", "bool"]), 1)
        aggregates.append((word, operand is not None))
        operands += [operand] if operand else []
    made = random.sample(names, len(keys) + len(aggregates))
    kinds = [key.kind for key in keys]
    rest = iter(operands)
    for word, has_operand in aggregates:
        kind = next(rest).kind if has_operand else "int"
        kinds.append("float" if word == "mean" else "int" if word == "count" else kind_of_extreme(word, kind))
    state.names, state.kinds, state.rows, state.shape = made, kinds, None, None
    stage = {"word": "group", "nodes": keys + operands, "keys": len(keys), "aggregates": aggregates, "names": made}
    return [stage]


def make_distinct(random, state, names):
    state.rows = state.shape = None
    return [{"word": "distinct"}]


def make_reverse(random, state, names):
    state.shape = None
    return [{"word": "reverse"}]


def make_stencil(random, state, names):
    if state.shape:
        reach = [(-random.randint(0, 2), random.randint(0, 2)) for _ in range(2)]
    else:
        low = random.choice([-1, -1, -2, 0, 1, -5, -300])
        reach = [(low, low + random.choice([0, 1, 2, 2, 3, 7, 400]))]
    maker = state.maker(random, reach)
    count = random.choice([1, 1, 2])
    nodes = [maker.make(random.choice(["int", "int", "float"]), random.randint(1, 2)) for _ in range(count)]
    otherwise = random.choice([0, -1, 7, *BORDERS])
    if random.random() < 0.2:
        otherwise = state.maker(random).column("int") or otherwise
    state.names, state.kinds = random.sample(names, count), [node.kind for node in nodes]
    stage = {"word": "stencil", "nodes": nodes, "names": list(state.names), "reach": reach, "otherwise": otherwise}
    return [stage]


def make_gather(random, state, names, data):
    rows = state.rows if state.rows is not None else random.choice([1, 5, 20])
    text, positions = random_positions(random, data, rows, state.large)
    state.rows, state.shape = len(positions), None
    return [{"word": "gather", "text": text, "positions": positions}]


def make_scatter(random, state, names):
    if state.rows is None:
        return []
    into = state.rows + random.choice([0, 0, 1, 5, 100])
    choice = random.random()
    if choice < 0.85:
        text, positions = injective(random, state.rows, into)
    else:
        last = max(state.rows - 1, 0) + random.choice([0, 0, 1])
        text, positions = f"(range 0..{last} | map x / 2 + 1)", np.arange(last + 1, dtype=np.int64) // 2 + 1
    state.shape = None
    stage = {"word": "scatter", "text": text, "positions": positions, "into": into}
    if into == state.rows and random.random() < 0.6:
        stage["into"] = None
    state.rows = into
    return [stage]


def make_shape(random, state, names):
    if not state.rows:
        return []
    down = random.choice(divisors(state.rows))
    extents = (down, state.rows // down)
    if random.random() < 0.03:
        extents = (down + 1, extents[1])
    state.shape = extents
    return [{"word": "shape", "extents": extents}]


def make_hist(random, state, names):
    stages = one_column(random, state, names)
    bins = random.choice([1, 2, 7, 10, 10, 64])
    state.names, state.kinds, state.rows, state.shape = ["lo", "hi", "count"], ["float", "float", "int"], bins, None
    return [*stages, {"word": "hist", "bins": bins}]


MAKE = {
    "scan": make_scan,
    "sort": make_sort,
    "top": make_top,
    "group": make_group,
    "distinct": make_distinct,
    "reverse": make_reverse,
    "stencil": make_stencil,
    "gather": make_gather,
    "scatter": make_scatter,
    "shape": make_shape,
    "hist": make_hist,
}
