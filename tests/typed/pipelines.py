"""Random pipelines over a table: generated, and written as rql."""

from expressions import Maker, Node, simpler, write
from values import BOOL, DURATION, FLOAT, INT, Type, literal

SUMMED = ("int", "float", "decimal", "duration")


# Those that sql.py does not write; it empties the list.
MORE_AGGREGATES = ["median", "first", "last", "distinct"]


class Stage:
    """A word; its items (name, expression, descending); numbers; for group the aggregates (name, word, expression)."""

    def __init__(self, word, items=(), number=None, aggregates=(), value=None):
        self.word = word
        self.items = list(items)
        self.number = number
        self.aggregates = list(aggregates)
        self.value = value

    def words(self):
        return [self.word, *(word for _, word, _ in self.aggregates)]

    def write(self):
        items = self.items
        if self.word in ("select", "reject"):
            return f"{self.word} {write(items[0][1])}"
        if self.word == "map":
            return "map " + ", ".join(f"{write(node)} as {name}" for name, node, _ in items)
        if self.word == "derive":
            return "derive " + ", ".join(f"{name} = {write(node)}" for name, node, _ in items)
        if self.word in ("pick", "drop"):
            return f"{self.word} {', '.join(name for name, _, _ in items)}"
        if self.word == "sort":
            return "sort " + ", ".join(write(node) + (" desc" if down else "") for _, node, down in items)
        if self.word == "top":
            keys = ", ".join(write(node) + ("" if down else " asc") for _, node, down in items)
            return f"top {self.number}" + (f" by {keys}" if keys else "")
        if self.word == "group":
            keys = ", ".join(f"{write(node)} as {name}" for name, node, _ in items)
            parts = [
                f"{word}({write(node) if node else ''}) as {name}" for name, word, node in self.aggregates
            ]
            return f"group {keys}: {', '.join(parts)}" if parts else f"group {keys}"
        if self.word in ("take", "skip", "tail"):
            return f"{self.word} {self.number}"
        if self.value is not None:
            return f"{self.word} {literal(*self.value)}"
        return self.word + (f" {write(items[0][1])}" if items else "")


class Case:
    """A table, stages and perhaps a terminal."""

    def __init__(self, table, stages, cut=None):
        self.table = table
        self.stages = stages
        # The `let` statements that come first: name, type, value, text.
        used = {node.extra for stage in stages for node in nodes_of(stage) if node.op == "scalar"}
        self.scalars = sorted(used)
        self.cut = cut  # a `let` names the relation after so many stages
        self.part = "part"  # that name

    def statements(self):
        """The statements after those that make the table; the last prints the result."""
        made = [text for _, _, _, text in self.scalars]
        words = [stage.write() for stage in self.stages]
        if self.cut is None:
            return [*made, " | ".join([self.table.name, *words])]
        first = " | ".join([self.table.name, *words[: self.cut]])
        return [*made, f"let {self.part} = {first}", " | ".join([self.part, *words[self.cut :]])]

    def with_stages(self, stages):
        return Case(self.table, stages)

    def simpler(self):
        """Smaller cases, for shrinking."""
        if self.cut is not None:
            yield Case(self.table, self.stages)
        for index in range(len(self.stages)):
            yield self.with_stages(self.stages[:index] + self.stages[index + 1 :])
        # Scalars are of the table: they become literals before it is cut.
        for table in self.table.smaller() if not self.scalars else ():
            yield Case(table, self.stages)
        for index, stage in enumerate(self.stages):
            for made in simpler_stage(stage):
                yield self.with_stages([*self.stages[:index], made, *self.stages[index + 1 :]])


def simpler_stage(stage):
    def remade(items=None, aggregates=None):
        return Stage(
            stage.word,
            stage.items if items is None else items,
            stage.number,
            stage.aggregates if aggregates is None else aggregates,
            stage.value,
        )

    for index, (name, node, down) in enumerate(stage.items):
        if len(stage.items) > 1:
            yield remade(items=[*stage.items[:index], *stage.items[index + 1 :]])
        for made in simpler(node) if node else ():
            yield remade(items=[*stage.items[:index], (name, made, down), *stage.items[index + 1 :]])
    for index, (name, word, node) in enumerate(stage.aggregates):
        yield remade(aggregates=[*stage.aggregates[:index], *stage.aggregates[index + 1 :]])
        for made in simpler(node) if node else ():
            yield remade(aggregates=[*stage.aggregates[:index], (name, word, made), *stage.aggregates[index + 1 :]])


class Pipeline:
    """Makes the stages of a case, keeping track of the columns."""

    def __init__(self, random, table, scalars):
        self.random = random
        self.scalars = scalars
        self.columns = [(column.name, column.type) for column in table.columns]
        self.samples = {}
        for column in table.columns:
            self.samples.setdefault(column.type, []).extend(column.values[:50])
        self.rows = table.rows
        self.made = 0
        self.ended = False

    def maker(self):
        return Maker(self.random, self.columns, self.samples, self.scalars)

    def name(self):
        self.made += 1
        return f"n{self.made}"

    def depth(self):
        return self.random.choice([1, 1, 2, 2, 3])

    def expression(self):
        """An expression of any type that reads a column."""
        maker = self.maker()
        kind = maker.any_type()
        if self.random.random() < 0.3:
            kind = self.random.choice([BOOL, INT, FLOAT])
        for _ in range(20):
            node = maker.make(kind, self.depth())
            if node.reads():
                return node
        return maker.column()

    def key(self):
        return self.maker().column() if self.random.random() < 0.75 else self.expression()

    def stage(self):
        random = self.random
        weights = [
            (self.filter, 30),
            (self.derive, 15),
            (self.map, 12),
            (self.pick, 6),
            (self.sort, 10),
            (self.top, 6),
            (self.group, 10),
            (self.distinct, 5),
            (self.window, 9),
            (self.reverse, 4),
        ]
        return random.choices([make for make, _ in weights], [weight for _, weight in weights])[0]()

    def filter(self):
        return Stage(self.random.choice(["select", "select", "reject"]), [("", self.maker().make(BOOL, self.depth() + 1), False)])

    def derive(self):
        random = self.random
        items = []
        for _ in range(random.choice([1, 1, 2])):
            taken = {name for name, _, _ in items}
            old = [name for name, _ in self.columns if name not in taken]
            name = random.choice(old) if old and random.random() < 0.2 else self.name()
            items.append((name, self.expression(), False))
        types = {name: node.type for name, node, _ in items}
        kept = [(name, types.pop(name, kind)) for name, kind in self.columns]
        self.columns = kept + list(types.items())
        return Stage("derive", items)

    def map(self):
        items = [(self.name(), self.expression(), False) for _ in range(self.random.choice([1, 2, 3]))]
        self.columns = [(name, node.type) for name, node, _ in items]
        return Stage("map", items)

    def pick(self):
        random = self.random
        if random.random() < 0.3 and len(self.columns) > 1:
            dropped = random.choice(self.columns)
            self.columns = [column for column in self.columns if column != dropped]
            return Stage("drop", [(dropped[0], None, False)])
        self.columns = random.sample(self.columns, random.randint(1, len(self.columns)))
        return Stage("pick", [(name, None, False) for name, _ in self.columns])

    def keys(self):
        return [("", self.key(), self.random.random() < 0.5) for _ in range(self.random.choice([1, 1, 2, 3]))]

    def sort(self):
        return Stage("sort", self.keys() if self.random.random() < 0.85 else [])

    def top(self):
        return Stage("top", self.keys() if self.random.random() < 0.85 else [], self.count())

    def count(self):
        return self.random.choice([0, 1, 2, 3, 5, 10, max(self.rows - 1, 0), self.rows // 2, self.rows + 3])

    def group(self):
        random = self.random
        keys = [(self.name(), self.key(), False) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        aggregates = [self.aggregate() for _ in range(random.choice([0, 1, 2, 3]))]
        self.columns = [(name, node.type) for name, node, _ in keys]
        self.columns += [(name, result_type(word, node)) for name, word, node in aggregates]
        return Stage("group", keys, aggregates=aggregates)

    def aggregate(self):
        random = self.random
        word = random.choice(["count", "sum", "min", "max", "mean", *MORE_AGGREGATES])
        if word == "count" and random.random() < 0.3:
            return self.name(), word, None
        return self.name(), word, self.aggregated(word)

    def aggregated(self, word):
        for _ in range(20):
            node = self.key()
            if word not in ("sum", "mean") or node.type.kind in SUMMED:
                if node.type.kind != "bool" or word in ("count", "first", "last", "distinct", "min", "max"):
                    return node
        return self.maker().make(INT, 1)

    def distinct(self):
        if len(self.columns) > 3:
            return self.pick()
        return Stage("distinct")

    def window(self):
        return Stage(self.random.choice(["take", "skip", "tail"]), number=self.count())

    def reverse(self):
        return Stage("reverse")

    def terminal(self):
        random = self.random
        self.ended = True
        choice = random.random()
        if choice < 0.25:
            return Stage("count")
        if choice < 0.45:
            return Stage("count", [("", self.maker().make(BOOL, self.depth()), False)])
        word = random.choice(["sum", "min", "max", "mean"])
        if len(self.columns) == 1:
            kind = self.columns[0][1]
            if choice < 0.6 and kind.kind not in ("bool",):
                value = self.maker().constant(kind)
                if value.op == "literal":
                    return Stage("count", value=(kind, value.extra))
            if kind.kind in SUMMED and choice < 0.75:
                return Stage(word)
        return Stage(word, [("", self.aggregated(word), False)])


def result_type(word, node):
    if word in ("count", "distinct"):
        return INT
    if word == "median" and node.type.kind in ("int", "float", "decimal"):
        return FLOAT
    if word in ("first", "last"):
        return node.type
    if word == "mean":
        return DURATION if node.type.kind == "duration" else FLOAT
    return INT if node.type.kind == "bool" and word not in ("min", "max") else node.type


def random_case(random, table, scalars):
    pipeline = Pipeline(random, table, scalars)
    stages = [pipeline.stage() for _ in range(random.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]))]
    if random.random() < 0.4 or not stages:
        stages.append(pipeline.terminal())
    cut = random.randint(0, len(stages) - 1) if random.random() < 0.15 else None
    return Case(table, stages, cut)


def nodes_of(stage):
    for _, node, _ in stage.items:
        if node:
            yield from node.walk()
    for _, _, node in stage.aggregates:
        if node:
            yield from node.walk()
