"""Random pipelines over random columns: generated, written as rql, and evaluated with NumPy as docs/language.md
specifies."""

import copy
import os

import harness
import numpy as np

from expressions import INT64_MAX, INT64_MIN, NOTHING, Maker, evaluate, kind_of, truth, write
from primitives import (
    APPLY,
    MAKE,
    Making,
    as_number,
    make_gather,
    random_combining,
    random_table,
    write_combining,
    write_primitive,
)
from relations import QueryError, Relation, aggregate, chains, fold

TYPES = harness.numpy_types(np)
LENGTHS = [0, 1, 2, 5, 17, 100, 2047, 2048, 2049, 5001]
LARGE = 1_500_001
LITERAL_ROWS = 8

NAMES = [
    "ids",
    "amounts",
    "price",
    "qty",
    "alpha",
    "beta",
    "gamma",
    "zeta",
    "count",
    "min",
    "desc",
    "take",
    "Mixed",
    "under_score",
]
ALIASES = {"select": ["select", "filter", "where"], "take": ["take", "head", "limit"]}


# --- columns ----------------------------------------------------------------------------------------------------------


def random_column(generator, kind, rows):
    """Values of a type: small, of its whole range, or mostly zero, and some extremes."""
    dtype = TYPES[kind]
    style = generator.integers(4)
    if kind.startswith("f"):
        with np.errstate(over="ignore"):
            values = [
                generator.normal(size=rows) * 100,
                np.round(generator.normal(size=rows) * 8) / 4,
                np.exp(generator.normal(size=rows) * 40),
                np.zeros(rows),
            ][style].astype(dtype)
        if style != 1 and rows:
            special = np.array(
                [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300 if kind == "f64" else 1e30, 5e-324, 0.5, 2.0**63],
                dtype=dtype,
            )
            where = generator.integers(0, rows, size=max(1, rows // (9 if style == 3 else 60)))
            values[where] = generator.choice(special, size=len(where))
        return values
    limits = np.iinfo(dtype)
    whole = generator.integers(limits.min, limits.max, size=rows, dtype=dtype, endpoint=True)
    small = generator.integers(0 if limits.min == 0 else -9, 30, size=rows).astype(dtype)
    values = [whole, small, small, np.where(generator.random(rows) < 0.7, 0, small).astype(dtype)][style]
    if style == 2 and rows:
        values[generator.integers(0, rows, size=max(1, rows // 50))] = generator.choice(
            np.array([limits.min, limits.max], dtype=dtype)
        )
    return values


class Data:
    """Files of all types and lengths in a folder; the same for every seed of queries."""

    def __init__(self, folder, large=True):
        self.files = {}
        generator = np.random.default_rng(20240229)
        for rows in LENGTHS + ([LARGE] if large else []):
            here = os.path.join(folder, f"d{rows}")
            os.makedirs(here, exist_ok=True)
            self.files[rows] = []
            for kind in TYPES:
                for number in range(1 if rows == LARGE else 3):
                    values = random_column(generator, kind, rows)
                    path = f"d{rows}/{'abc'[number]}.{kind}"
                    values.tofile(os.path.join(folder, path))
                    self.files[rows].append((path, values))


def widened(values):
    return values.astype(np.float64) if values.dtype.kind == "f" else values.astype(np.int64)


# --- stages -----------------------------------------------------------------------------------------------------------
# A stage is a dict of its word and arguments. apply_stage evaluates it and write_stage formats it.


def note_row(relation, stage):
    """A stage that reads other rows may become a task that numbers its rows anew."""
    ops = {each.op for node in stage.get("nodes", ()) for each in node.walk()}
    if stage["word"] == "stencil":
        ops.add("element")  # even without neighbours it reads its row number
    if relation.filtered and ops & {"row", "col", "at", "element"}:
        relation.sure = False
    if ops & {"at", "element"} and (relation.pending() or (relation.rows and relation.origin[0])):
        relation.sure = False


def apply_stage(relation, stage):
    word = stage["word"]
    place = relation.place()
    values = lambda node: relation.whole(evaluate(node, relation.columns, place))
    note_row(relation, stage)
    if word in ("select", "reject"):
        value, fails = values(stage["nodes"][0])
        relation.note(fails)
        relation.keep(~fails & (truth(value) == (word == "select")))
        relation.filtered = True
    elif word in ("map", "derive"):
        made = [values(node) for node in stage["nodes"]]
        if word == "map":
            relation.names, relation.columns = list(stage["names"]), made
        else:
            for name, column in zip(stage["names"], made):
                if name in relation.names:
                    relation.columns[relation.names.index(name)] = column
                else:
                    relation.names = [*relation.names, name]
                    relation.columns = [*relation.columns, column]
    elif word == "pick":
        relation.names = [relation.names[index] for index in stage["indices"]]
        relation.columns = [relation.columns[index] for index in stage["indices"]]
    elif word in ("take", "skip", "tail"):
        count = stage["count"]
        if relation.filtered or relation.uncounted:
            relation.sure = False
        window = {
            "take": slice(0, count),
            "skip": slice(count, None),
            "tail": slice(max(0, relation.rows - count), None),
        }[word]
        relation.keep(window)
    elif word == "zip":
        if relation.filtered or relation.rows != len(stage["column"]) or (relation.rows and relation.origin[0]):
            relation.sure = False
        if len(stage["column"]) != relation.rows:
            raise KeyError("lengths")  # only while shrinking
        relation.names = [*relation.names, stage["name"]]
        relation.columns = [*relation.columns, (stage["column"], NOTHING)]
    else:
        APPLY[word](relation, stage)


def spellings(relation_names, head, random, indexed):
    """How each column is written: by name, position, or a lambda's parameter. `indexed` columns need a name."""
    if head:
        return head
    spelled = []
    for index, name in enumerate(relation_names):
        forms = [name] * 5 + [f"`{name}`"] + ([] if indexed else [f"${index + 1}"])
        if index < 2 and not any(other in ("fst", "snd") or other[0] in "fs" for other in relation_names):
            forms.append("fst" if index == 0 else "snd")
        if len(relation_names) == 1:
            forms.append("x")
        spelled.append(random.choice(forms))
    return spelled


def write_stage(stage, relation_names, random):
    word = stage["word"]
    spelled = random.choice(ALIASES.get(word, [word]))
    head = None
    text = ""
    nodes = stage.get("nodes", ())
    if nodes and word != "derive" and random.random() < 0.12:
        head = [f"h{index}" for index in range(len(relation_names))]
        text = f"|{', '.join(head)}| "
    indexed = any(each.op == "element" for node in nodes for each in node.walk())
    names = spellings(relation_names, head, random, indexed)
    along = f" along {stage['along']}" if stage.get("along") else ""
    if word in APPLY:
        return write_primitive(stage, text, names, random, relation_names) + along
    if word == "fold":
        return f"{random.choice(['fold', 'reduce'])} {write_combining(stage)}{along}"
    if word in ("map", "derive"):
        items = []
        for name, node in zip(stage["names"], nodes):
            expression = write(node, names)
            items.append(f"{expression} as {name}" if word == "map" else f"{name} = {expression}")
        return f"{spelled} {text}{', '.join(items)}"
    if word == "pick":
        indices = stage["indices"]
        if len(indices) == 1 and random.random() < 0.5:
            forms = [f"nth {indices[0] + 1}"] + (["fsts"] if indices[0] == 0 else ["snds"] if indices[0] == 1 else [])
            return random.choice(forms)
        return f"pick {', '.join(relation_names[index] for index in indices)}"
    if word in ("take", "skip", "tail"):
        return f"{spelled} {stage['count']}"
    if word == "zip":
        return f"zip {stage['text']} as {stage['name']}"
    if word == "count" and "value" in stage:
        return f"count {stage['value']}{along}"
    return f"{spelled} {text}{', '.join(write(node, names) for node in nodes)}".rstrip() + along


# --- terminals --------------------------------------------------------------------------------------------------------


def terminal(relation, stage):
    """The answer: a number, or with `along` a list of one column."""
    word = stage["word"]
    note_row(relation, stage)
    shape = relation.shape
    if stage.get("along"):
        if not shape:
            raise KeyError("shape")
        relation.raise_if_failed()
        if relation.pending():
            relation.sure = False
    if "nodes" in stage:
        value, fails = relation.whole(evaluate(stage["nodes"][0], relation.columns, relation.place()))
    elif word == "count" and "value" not in stage:
        value, fails = np.ones(relation.rows, dtype=bool), np.zeros(relation.rows, dtype=bool)
    else:
        if len(relation.columns) != 1:
            raise KeyError("column")
        value, fails = relation.whole(relation.columns[0])
    if stage["word"] == "fold" and fails.any():
        relation.sure = False  # the function may fail in a row before
    relation.note(fails)
    relation.raise_if_failed()
    if "value" in stage:
        value = value == stage["value"]
    # The extreme of bools is a bool, unless it begins with a number.
    extreme = stage["op"] if word == "fold" and stage["initial"] is None else word
    kind = bool if value.dtype == bool and extreme in ("min", "max") else None
    value = as_number(truth(value) if word == "count" else value)
    if not stage.get("along"):
        answer = answer_of(stage, value)
        return bool(answer) if kind else answer
    try:
        answers = [answer_of(stage, value[chain]) for chain in chains(relation.rows, shape, stage["along"])]
    except QueryError as error:
        raise QueryError(0, False, True, error.regrouped) from None
    if not all(isinstance(each, float) or INT64_MIN <= each <= INT64_MAX for each in answers):
        raise QueryError(0, False, True)
    return [np.array(answers, dtype=kind)]


def answer_of(stage, value):
    if stage["word"] == "fold":
        return fold(stage, value)
    return aggregate("sum" if stage["word"] == "count" else stage["word"], value)


# --- cases ------------------------------------------------------------------------------------------------------------


class Case:
    """A query: source, stages, perhaps a terminal, and whether the source is bound by `let` after some stages."""

    def __init__(self):
        self.source = None  # (text, names, columns)
        self.loaded = None  # (paths, how they are zipped) where the source is files
        self.stages = []
        self.table = None  # of random_table: a relation that `let` binds before
        self.terminal = None
        self.let_after = None
        self.rough = False  # a function whose last digits may differ
        self.lenient = False  # see Relation
        self.spelling = 0  # seed of the spelling

    def begin(self):
        _, names, columns = self.source
        return Relation(list(names), [(column, NOTHING) for column in columns], len(columns[0]))

    def expected(self):
        """The answer: a number, or a list of columns. Raises QueryError."""
        try:
            return self.outcome()
        except QueryError as error:
            error.vague = error.vague or self.lenient  # a failure of a whole column may come first
            raise

    def outcome(self):
        relation = self.begin()
        self.lenient = False
        for index, stage in enumerate(self.stages):
            if index == self.let_after:
                relation = self.bound(relation)
            try:
                apply_stage(relation, stage)
            except QueryError as error:
                # Row counts that are known to differ are reported before anything runs.
                error.vague = error.vague or any(each["word"] in ("scatter", "shape") for each in self.stages[index + 1 :])
                raise
            self.lenient = self.lenient or relation.lenient
        if self.let_after == len(self.stages):
            relation = self.bound(relation)
        with np.errstate(all="ignore"):
            if self.terminal:
                return terminal(relation, self.terminal)
        return self.bound_columns(relation)

    @staticmethod
    def bound_columns(relation):
        for column in relation.columns:
            relation.note(relation.whole(column)[1])
        relation.raise_if_failed()
        return [relation.whole(column)[0] for column in relation.columns]

    def bound(self, relation):
        columns = self.bound_columns(relation)
        bound = Relation(relation.names, [(column, NOTHING) for column in columns], relation.rows)
        bound.shape = relation.shape
        return bound

    def statements(self, random_of):
        """The query as text, after its let if it has one."""
        random = random_of(self.spelling)
        relation = self.begin()
        parts = [self.source[0]]
        before = [f"let {self.table[0].split('.')[0]} = {self.table[2]}"] if self.table else []
        names = relation.names
        for index, stage in enumerate(self.stages):
            if index == self.let_after:
                before.append(f"let bound = {' | '.join(parts)}")
                parts = ["bound"]
            parts.append(write_stage(stage, names, random))
            names = names_after(names, stage)
        if self.let_after == len(self.stages):
            before.append(f"let bound = {' | '.join(parts)}")
            parts = ["bound"]
        if self.terminal:
            parts.append(write_stage(self.terminal, names, random))
        return [*before, random.choice([" | ", "|", "\n  | "]).join(parts)]


def names_after(names, stage):
    word = stage["word"]
    if word in ("map", "stencil", "group"):
        return list(stage["names"])
    if word == "hist":
        return ["lo", "hi", "count"]
    if word == "derive":
        return [*names, *(name for name in stage["names"] if name not in names)]
    if word == "pick":
        return [names[index] for index in stage["indices"]]
    if word == "zip":
        return [*names, stage["name"]]
    return names


def loading(chosen, names, between):
    """The source that loads these files (path, values), zipped one way or the other."""
    loads = [f"{path} as {name}" for (path, _), name in zip(chosen, names)]
    return f"load {between.join(loads)}", names, [widened(values) for _, values in chosen]


def random_source(random, data, large, case):
    choice = random.random()
    if large or choice < 0.75:
        rows = LARGE if large else random.choice(LENGTHS)
        chosen = random.sample(data.files[rows], random.randint(1, 3))
        names = random.sample(NAMES, len(chosen))
        case.loaded = [path for path, _ in chosen], random.choice([", ", " | zip "])
        return loading(chosen, names, case.loaded[1])
    if choice < 0.9:
        first = random.choice([0, 1, -7, 1000, 2**31 - 3, INT64_MAX - 600])
        step = random.choice([1, 1, 2, 5])
        rows = random.choice([1, 2, 10, 101])
        values = np.arange(rows, dtype=np.int64) * step + first
        by = f" by {step}" if step > 1 else ""
        return f"(range {first}..{first + step * (rows - 1)}{by} | map x as alpha)", ["alpha"], [values]
    rows = random.randint(1, LITERAL_ROWS)
    if random.random() < 0.5:
        values = np.array(
            [random.choice([random.randint(-9, 9), INT64_MIN, INT64_MAX]) for _ in range(rows)], dtype=np.int64
        )
    else:
        values = np.array([random.choice([0.5, 1.0, -2.25, 1e300, 0.1]) for _ in range(rows)])
    return f"([{', '.join(map(str, values.tolist()))}] | map x as beta)", ["beta"], [values]


def make_case(random, data, large=False):
    """A query that the reference can evaluate."""
    case = Case()
    case.spelling = random.randrange(2**32)
    case.source = random_source(random, data, large, case)
    state = Making(list(case.source[1]), [kind_of(column) for column in case.source[2]], len(case.source[2][0]), large)
    if random.random() < 0.2:
        case.table = state.table = random_table(random, data)
    depth = random.randint(1, 3)
    primitives = random.random() < 0.6
    for _ in range(random.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])):
        if primitives and random.random() < 0.5:
            word = random.choice([*MAKE, *(["scan", "stencil"] if state.shape else ["scan"])])
            made = make_gather(random, state, NAMES, data) if word == "gather" else MAKE[word](random, state, NAMES)
            case.stages += made
        else:
            stage = make_stage(random, state, depth)
            if stage:
                case.stages.append(stage)
    if large or random.random() < 0.6:
        case.terminal = random_terminal(random, state, depth)
    elif random.random() < 0.2:
        case.rough = True
        maker = state.maker(random)
        case.stages.append({"word": "map", "nodes": [maker.rough() for _ in range(2)], "names": ["alpha", "beta"]})
    if not large and random.random() < 0.12:
        case.let_after = random.randint(0, len(case.stages))
    return case


WORDS = ["select"] * 3 + ["reject"] + ["map"] * 3 + ["derive"] * 2 + ["pick", "take", "skip", "tail", "zip"]


def make_stage(random, state, depth):
    """A row-wise stage and the state after it; None if it does not fit."""
    maker = state.maker(random)
    word = random.choice(WORDS)
    stage = {"word": word}
    if word in ("select", "reject"):
        guarded = random.random() < 0.15
        stage["nodes"] = [
            maker.guarded() if guarded else maker.boolean(depth) if random.random() < 0.93 else maker.integer(depth)
        ]
        state.rows = state.shape = None
    elif word in ("map", "derive"):
        count = random.randint(1, 3) if word == "map" else random.randint(1, 2)
        stage["nodes"] = [maker.make(random.choice(["int", "int", "float", "bool"]), depth) for _ in range(count)]
        stage["names"] = random.sample(NAMES, count)
        made = [node.kind for node in stage["nodes"]]
        if word == "map":
            state.kinds = made
        else:
            state.kinds = list(state.kinds)
            for name, kind in zip(stage["names"], made):
                if name in state.names:
                    state.kinds[state.names.index(name)] = kind
                else:
                    state.kinds.append(kind)
    elif word == "pick":
        stage["indices"] = random.sample(range(len(state.names)), random.randint(1, len(state.names)))
        state.kinds = [state.kinds[index] for index in stage["indices"]]
    elif word in ("take", "skip", "tail"):
        stage["count"] = random.choice([0, 1, 3, 10, 50, 2000, 10**9])
        if state.rows is not None:
            count = min(stage["count"], state.rows)
            state.rows = state.rows - count if word == "skip" else count
        state.shape = None
    else:
        if not state.rows or len(state.names) > 4:
            return None
        first = random.randint(-5, 5)
        stage["column"] = np.arange(state.rows, dtype=np.int64) + first
        stage["text"] = f"(range {first}..{first + state.rows - 1})"
        stage["name"] = next(name for name in NAMES if name not in state.names)
        state.kinds = [*state.kinds, "int"]
    state.names = names_after(state.names, stage)
    return stage


def varied(random, node):
    """The expression with other numbers of similar size."""
    made = copy.copy(node)
    made.args = [varied(random, arg) for arg in node.args]
    if node.op == "literal" and random.random() < 0.7:
        if node.kind == "float":
            made.extra = random.choice([-1, 1]) * random.choice([0.0, 0.25, 1.0, 7.5, 1e10, 1e-300])
        elif not isinstance(node.extra, str):
            made.extra = node.extra + random.randint(-3, 3) if abs(node.extra) < 2**62 else node.extra
    return made


def variant(case, random, data):
    """The same stages over other columns of the same types and with other numbers, which need no new kernel."""
    made = copy.copy(case)
    if case.loaded:
        paths, between = case.loaded
        rows = len(case.source[2][0])
        # Stages that zip, scatter or reshape need sources of equal length, and the large one is alone.
        if rows != LARGE and not any(stage["word"] in ("zip", "scatter", "shape") for stage in case.stages):
            rows = random.choice(LENGTHS)
        kinds = [path.rpartition(".")[2] for path in paths]
        chosen = [random.choice([file for file in data.files[rows] if file[0].endswith("." + kind)]) for kind in kinds]
        made.source = loading(chosen, case.source[1], between)
    made.stages = [
        dict(stage, nodes=[varied(random, node) for node in stage["nodes"]]) if "nodes" in stage else stage
        for stage in case.stages
    ]
    if case.terminal and "nodes" in case.terminal:
        made.terminal = dict(case.terminal, nodes=[varied(random, node) for node in case.terminal["nodes"]])
    return made


def random_terminal(random, state, depth):
    maker, kinds = state.maker(random), state.kinds
    choice = random.random()
    if choice < 0.12:
        stage = {"word": "count"}
    elif choice < 0.18 and len(kinds) == 1 and kinds[0] == "int":
        stage = {"word": "count", "value": random.randint(-2, 5)}
    elif choice < 0.3:
        stage = {"word": "count", "nodes": [maker.guarded() if random.random() < 0.3 else maker.boolean(depth)]}
    elif choice < 0.5 and len(kinds) == 1:
        stage = {"word": "fold", **random_combining(random, kinds[0], state.large, True)}
    else:
        stage = {"word": random.choice(["sum", "sum", "sum", "min", "max", "mean", "product"])}
        if len(kinds) > 1 or random.random() < 0.5:
            stage["nodes"] = [maker.make(random.choice(["int", "int", "float", "bool"]), depth)]
            if stage["nodes"][0].kind == "bool" and stage["word"] != "sum":
                stage["word"] = "sum"
        elif kinds[0] == "bool":
            stage["word"] = "sum"
    if state.shape and random.random() < 0.6:
        stage["along"] = random.choice(["rows", "cols"])
    return stage


def simpler(case):
    """Smaller cases, for shrinking: one stage less, or an operation replaced by its operand."""
    if case.let_after is not None:
        smaller = copy.copy(case)
        smaller.let_after = None
        yield smaller
    for index in range(len(case.stages)):
        smaller = copy.copy(case)
        smaller.stages = case.stages[:index] + case.stages[index + 1 :]
        smaller.let_after = None
        yield smaller
    if case.terminal:
        smaller = copy.copy(case)
        smaller.terminal = None
        yield smaller
    places = [(("stages", index), stage) for index, stage in enumerate(case.stages)]
    if case.terminal:
        places.append((("terminal", None), case.terminal))
    for place, stage in places:
        for which, node in enumerate(stage.get("nodes", ())):
            for made in simpler_node(node):
                smaller = copy.copy(case)
                changed = dict(stage, nodes=[*stage["nodes"][:which], made, *stage["nodes"][which + 1 :]])
                if place[0] == "terminal":
                    smaller.terminal = changed
                else:
                    smaller.stages = [*case.stages[: place[1]], changed, *case.stages[place[1] + 1 :]]
                yield smaller


def simpler_node(node):
    for arg in node.args:
        if arg.kind == node.kind:
            yield arg
    for index, arg in enumerate(node.args):
        for made in simpler_node(arg):
            changed = copy.copy(node)
            changed.args = [*node.args[:index], made, *node.args[index + 1 :]]
            yield changed
