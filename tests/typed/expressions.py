"""Random typed expressions: generated, and written as rql."""

from values import BOOL, DATE, DAY, DURATION, FLOAT, INT, TEXT, TIMESTAMP, Type, literal, source

ORDERED = ["<", "<=", ">", ">="]
COMPARISONS = ["==", "!=", *ORDERED]


class Node:
    """An expression: op, type, operands, and other data of the op."""

    def __init__(self, op, kind, args=(), extra=None):
        self.op = op
        self.type = kind
        self.args = list(args)
        self.extra = extra

    def walk(self):
        yield self
        for arg in self.args:
            yield from arg.walk()

    def reads(self):
        return {node.extra for node in self.walk() if node.op == "column"}


def write(node):
    """The expression as rql's text, every operation in parentheses."""
    op = node.op
    if op == "column":
        return node.extra
    if op in ("literal", "scalar"):
        return literal(node.type, node.extra) if op == "literal" else node.extra[0]
    if op in ("missing-literal", "word"):
        return "missing" if op == "missing-literal" else node.extra
    args = [write(arg) for arg in node.args]
    if op == "zone":
        return readings.write_zoned(node, args[0])
    if op == "call" or (op == "rows" and node.extra not in ("+", "like")):
        return f"{node.extra}({', '.join(args)})"
    if op == "months":
        return f"({args[0]} {'-' if node.extra < 0 else '+'} {abs(node.extra)}mo)"
    if op == "?:":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if op in ("not", "neg"):
        return f"({'not ' if op == 'not' else '-'}{args[0]})"
    if op == "is-missing":
        return f"({args[0]} is {'' if node.extra else 'not '}missing)"
    if op in ("in-range", "in-list"):
        word = "in" if node.extra else "not in"
        return f"({args[0]} {word} {args[1]}..{args[2]})" if op == "in-range" else f"({args[0]} {word} [{', '.join(args[1:])}])"
    return f"({args[0]} {node.extra if op == 'rows' else op} {args[1]})"


def simpler(node):
    """Smaller expressions of the same type, for shrinking."""
    if node.op == "scalar":
        yield Node("literal", node.type, (), node.extra[2])
    for arg in node.args:
        if arg.type == node.type:
            yield arg
    for index, arg in enumerate(node.args):
        for made in simpler(arg):
            yield Node(node.op, node.type, [*node.args[:index], made, *node.args[index + 1 :]], node.extra)
    if node.op in ("in-list",) and len(node.args) > 2:
        yield Node(node.op, node.type, node.args[:-1], node.extra)


class Maker:
    """Makes expressions over these columns (name and type); `scalars` are names, types and values of `let`."""

    def __init__(self, random, columns, samples, scalars=()):
        self.random = random
        self.columns = columns
        self.samples = samples  # for each kind some values, or none
        self.scalars = [each for each in scalars if each[2] is not None]

    def of(self, fits):
        return [Node("column", kind, (), name) for name, kind in self.columns if fits(kind)]

    def column(self):
        name, kind = self.random.choice(self.columns)
        return Node("column", kind, (), name)

    def constant(self, kind):
        """A literal or a `let` scalar; text and numbers are often values of the table."""
        random = self.random
        named = [each for each in self.scalars if each[1] == kind]
        if named and random.random() < 0.3:
            return Node("scalar", kind, (), random.choice(named))
        samples = [value for value in self.samples.get(kind, ()) if value is not None]
        if samples and random.random() < 0.7:
            value = random.choice(samples)
        else:
            value = source(random, kind.kind, random.random() < 0.1)()
        return Node("literal", kind, (), value)

    def leaf(self, kind):
        columns = self.of(lambda other: other == kind)
        if columns and self.random.random() < 0.75:
            return self.random.choice(columns)
        return self.constant(kind)

    def any_type(self, but=()):
        kinds = {kind for _, kind in self.columns if kind.kind not in but}
        return self.random.choice(sorted(kinds)) if kinds else INT

    def make(self, kind, depth):
        """An expression of this type. Of a decimal the scale may differ."""
        random = self.random
        if kind.kind == "decimal":
            return self.decimal(depth)
        if depth <= 0 or random.random() < 0.15:
            return self.leaf(kind)
        if kind.kind != "bool" and random.random() < 0.25:
            return self.choice(kind, depth)
        return getattr(self, kind.kind)(*([kind.utc] if kind.kind == "timestamp" else []), depth)

    def choice(self, kind, depth):
        """?: and ??, with `missing` at times."""
        random = self.random
        a, b = self.make(kind, depth - 1), self.make(kind, depth - 1)
        if random.random() < 0.55:
            return Node("??", kind, [a, b])
        if random.random() < 0.3 and kind.kind != "bool":
            (a, b) = (a, Node("missing-literal", kind)) if random.random() < 0.5 else (Node("missing-literal", kind), b)
        return Node("?:", kind, [self.make(BOOL, depth - 1), a, b])

    # --- conditions ---

    def bool(self, depth):
        random = self.random
        choice = random.random()
        if choice < 0.02 and self.of(lambda kind: kind == TEXT):
            return functions.random_row_test(self, depth)
        if choice < 0.06 and self.of(lambda kind: kind == TEXT):
            return functions.random_test(random, self.make(TEXT, depth - 1))
        if choice < 0.4:
            return self.comparison(depth)
        if choice < 0.62:
            return Node(random.choice(["and", "or"]), BOOL, [self.make(BOOL, depth - 1), self.make(BOOL, depth - 1)])
        if choice < 0.7:
            return Node("not", BOOL, [self.make(BOOL, depth - 1)])
        if choice < 0.78:
            return self.in_range(depth)
        if choice < 0.86:
            return self.in_list(depth)
        if choice < 0.92:
            any_of = self.make(self.any_type(), depth - 1)
            if random.random() < 0.5:
                return Node("call", BOOL, [any_of], "missing")
            return Node("is-missing", BOOL, [any_of], random.random() < 0.5)
        if choice < 0.96:
            a, b = self.pair(depth)
            return Node(random.choice(["is", "is not"]), BOOL, [a, b])
        return self.choice(BOOL, depth)

    def pair(self, depth):
        """Two operands that can be compared."""
        random = self.random
        kind = self.any_type()
        a = self.make(kind, depth - 1)
        kind = a.type
        if kind.kind in ("int", "float", "decimal") and random.random() < 0.25:
            kind = random.choice([INT, FLOAT])
        elif kind.kind in ("date", "timestamp") and not kind.utc and random.random() < 0.35:
            kind = random.choice([DATE, TIMESTAMP])
        if kind.kind == "decimal":
            b = self.decimal(depth - 1) if random.random() < 0.5 else self.constant(kind)
        else:
            b = self.constant(kind) if random.random() < 0.6 else self.make(kind, depth - 1)
        if is_free(a) and is_free(b):
            a = self.column_like(a)
        return (a, b) if random.random() < 0.85 else (b, a)

    def column_like(self, node):
        columns = self.of(lambda kind: kind == node.type)
        return self.random.choice(columns) if columns else node

    def comparison(self, depth):
        a, b = self.pair(depth)
        ops = COMPARISONS[:2] if a.type.kind == "bool" else COMPARISONS
        return Node(self.random.choice(ops), BOOL, [a, b])

    def in_range(self, depth):
        random = self.random
        kind = self.any_type(but=["bool"])
        a = self.make(kind, depth - 1)
        kind = a.type
        if kind == TIMESTAMP and random.random() < 0.5:
            kind = DATE
        ends = [self.constant(kind), self.constant(kind)]
        if all(end.op == "literal" for end in ends) and random.random() < 0.85:
            ends.sort(key=lambda end: end.extra)
        return Node("in-range", BOOL, [a, *ends], random.random() < 0.7)

    def in_list(self, depth):
        random = self.random
        a = self.make(self.any_type(but=["bool"]), depth - 1)
        kind = DATE if a.type == TIMESTAMP and random.random() < 0.3 else a.type
        values = [self.constant(kind) for _ in range(random.choice([0, 1, 1, 2, 3, 5]))]
        return Node("in-list", BOOL, [a, *values], random.random() < 0.7)

    # --- values ---

    def int(self, depth):
        random = self.random
        choice = random.random()
        if choice < 0.08 and self.of(lambda kind: kind == TEXT):
            return functions.random_number_of_text(random, self.make(TEXT, depth - 1))
        if choice < 0.1 and self.times():
            return self.zoned(INT, depth) or self.leaf(INT)
        if choice < 0.16 and self.times():
            return functions.random_part(random, self.time(depth))
        if choice < 0.45:
            return Node(random.choice(["+", "-", "+", "-", "*"]), INT, [self.make(INT, depth - 1), self.make(INT, depth - 1)])
        if choice < 0.6:
            other = Node("literal", INT, (), random.choice([-7, -2, 2, 3, 10])) if random.random() < 0.85 else self.leaf(INT)
            return Node(random.choice(["/", "%", "//", "/?"]), INT, [self.make(INT, depth - 1), other])
        if choice < 0.7:
            return Node("-", INT, [self.make(DATE, depth - 1), self.make(DATE, depth - 1)])
        if choice < 0.76:
            dividend = self.make(DURATION, depth - 1)
            return Node("/", INT, [dividend, Node("literal", DURATION, (), random.choice([1000, 60 * 10**6, DAY, -3]))])
        if choice < 0.82:
            return Node("neg", INT, [self.make(INT, depth - 1)])
        if choice < 0.87:
            return Node("call", INT, [self.make(BOOL, depth - 1)], "int")
        name = random.choice(["abs", "sign", "min", "max"])
        args = [self.make(INT, depth - 1) for _ in range(2 if name in ("min", "max") else 1)]
        return Node("call", INT, args, name)

    def float(self, depth):
        random = self.random
        choice = random.random()
        if choice < 0.6:
            a = self.make(FLOAT, depth - 1)
            b = self.make(random.choice([FLOAT, INT]), depth - 1)
            if random.random() < 0.5:
                a, b = b, a
            if a.type == b.type == INT:
                a = Node("call", FLOAT, [a], "float")
            # Not by a float that is computed: the sign of a zero is nobody's concern.
            op = random.choice(["+", "-", "*", "/"])
            if op == "/" and b.type == FLOAT and not (b.op == "literal" and b.extra):
                b = Node("literal", FLOAT, (), random.choice([0.5, -2.0, 3.0]))
            return Node(op, FLOAT, [a, b])
        if choice < 0.7:
            return Node("neg", FLOAT, [self.make(FLOAT, depth - 1)])
        if choice < 0.8:
            return Node("call", FLOAT, [self.make(INT, depth - 1)], "float")
        name = random.choice(["abs", "floor", "ceil", "round", "min", "max"])
        args = [self.make(FLOAT, depth - 1) for _ in range(2 if name in ("min", "max") else 1)]
        return Node("call", FLOAT, args, name)

    def zoned(self, kind, depth):
        """What a zone's clocks show, if it is of this type."""
        for _ in range(10):
            made = readings.random_zoned(self.random, self.time(depth))
            if made.type == kind:
                return made
        return None

    def read(self, kind, depth):
        """What a format reads in a text."""
        time = self.time(depth) if self.times() else None
        made = readings.random_read(self.random, kind, self.column_like(self.make(TEXT, depth - 1)), time)
        return made if made.reads() else None

    def text(self, depth):
        if self.times() and self.random.random() < 0.3:
            made = self.zoned(TEXT, depth) if self.random.random() < 0.3 else readings.random_written(self.random, self.time(depth))
            if made:
                return made
        if self.random.random() < 0.3:
            return functions.random_of_rows(self, depth)
        if self.random.random() < 0.6:
            return functions.random_text(self.random, self.column_like(self.make(TEXT, depth - 1)))
        return self.choice(TEXT, depth)

    def times(self):
        return self.of(lambda kind: kind.kind in ("date", "timestamp"))

    def time(self, depth):
        """A date or timestamp that reads a column."""
        kind = self.random.choice(self.times()).type
        made = self.make(kind, depth - 1)
        return self.column_like(made) if is_free(made) else made

    def date(self, depth):
        random = self.random
        if random.random() < 0.3:
            made = self.zoned(DATE, depth) if self.times() and random.random() < 0.5 else self.read(DATE, depth)
            if made:
                return made
        if random.random() < 0.3 and self.times():
            return functions.random_date(random, self.time(depth))
        moved = self.make(DATE, depth - 1)
        if random.random() < 0.6:
            distance = self.leaf(INT) if random.random() < 0.3 else Node("literal", INT, (), random.randint(-40, 40))
        else:
            distance = Node("literal", DURATION, (), random.randint(-40, 40) * DAY)
        if distance.type == INT and distance.op == "literal" and random.random() < 0.2:
            return Node("+", DATE, [distance, moved])
        return Node(random.choice("+-"), DATE, [moved, distance])

    def timestamp(self, utc, depth):
        random = self.random
        kind = Type("timestamp", utc=utc)
        if random.random() < 0.35:
            made = self.zoned(kind, depth) if self.times() and random.random() < 0.6 else self.read(kind, depth)
            if made:
                return made
        if random.random() < 0.4 and self.times():
            made = functions.random_timestamp(random, self.time(depth))
            if made.type == kind:
                return made
        if not utc and random.random() < 0.3:
            odd = Node("literal", DURATION, (), random.randint(-90, 90) * DAY // 24 + random.choice([1, 5, -1]))
            return Node(random.choice("+-"), TIMESTAMP, [self.make(DATE, depth - 1), odd])
        if not utc and random.random() < 0.15:
            mixed = [self.make(DATE, depth - 1), self.make(TIMESTAMP, depth - 1)]
            random.shuffle(mixed)
            return Node("??", TIMESTAMP, mixed)
        distance = self.constant(DURATION) if random.random() < 0.5 else self.make(DURATION, depth - 1)
        return Node(random.choice("+-"), kind, [self.make(kind, depth - 1), distance])

    def duration(self, depth):
        random = self.random
        if random.random() < 0.15 and self.of(lambda kind: kind == TEXT):
            made = self.read(DURATION, depth)
            if made:
                return made
        choice = random.random()
        if choice < 0.3:
            return Node("-", DURATION, [self.make(TIMESTAMP, depth - 1), self.make(TIMESTAMP, depth - 1)])
        if choice < 0.4:
            mixed = [self.make(TIMESTAMP, depth - 1), self.make(DATE, depth - 1)]
            random.shuffle(mixed)
            return Node("-", DURATION, mixed)
        if choice < 0.65:
            return Node(random.choice("+-"), DURATION, [self.make(DURATION, depth - 1), self.make(DURATION, depth - 1)])
        if choice < 0.75:
            return Node("%", DURATION, [self.make(DURATION, depth - 1), Node("literal", DURATION, (), 3600 * 10**6)])
        if choice < 0.8:
            return Node("neg", DURATION, [self.make(DURATION, depth - 1)])
        number = Node("literal", INT, (), random.choice([-3, 2, 7]))
        return Node(random.choice("*/"), DURATION, [self.make(DURATION, depth - 1), number])

    def decimal(self, depth):
        random = self.random
        columns = self.of(lambda kind: kind.kind == "decimal")
        if not columns:
            return self.make(INT, depth)
        if depth <= 0 or random.random() < 0.3:
            return random.choice(columns)
        a = self.decimal(depth - 1)
        if random.random() < 0.15 and a.type.kind == "decimal":
            return functions.random_round(random, a)
        other = random.random()
        if other < 0.4:
            b = self.decimal(depth - 1)
        elif other < 0.7:
            b = Node("literal", Type("decimal", random.randint(1, 3)), (), random.randint(-500, 500))
        else:
            b = self.leaf(INT)
        scales = (a.type.scale, b.type.scale)
        op = random.choice(["+", "-", "*", "??", "?:"])
        if op == "*" and sum(scales) > 9:
            op = "+"
        kind = Type("decimal", sum(scales) if op == "*" else max(scales))
        if op == "?:":
            return Node(op, kind, [self.make(BOOL, depth - 1), a, b])
        if op == "??":
            return Node(op, kind, [a, b])
        if random.random() < 0.2:
            a, b = b, a
        return Node(op, kind, [a, b])


def is_free(node):
    """Whether it reads no column."""
    return not node.reads()


import functions  # noqa: E402 it makes nodes
import readings  # noqa: E402
