"""Random typed expressions: generated, written as rql, and evaluated with NumPy as docs/language.md specifies.

A value is a pair of arrays: what it is in each row, and whether computing it fails there. What is not needed cannot
fail, so laziness is only a matter of which failures are passed on.
"""

import math
import re

import numpy as np

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
NOTHING = np.zeros(1, dtype=bool)

# Precedence of the binary operators.
LEVELS = {
    "||": 3,
    "or": 3,
    "&&": 4,
    "and": 4,
    "==": 5,
    "!=": 5,
    "in": 5,
    "<": 6,
    "<=": 6,
    ">": 6,
    ">=": 6,
    "^": 7,
    "&": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
}
UNARY_LEVEL = 12


class Place:
    """The rows of an expression: their numbers and their shape, if any."""

    def __init__(self, rows, shape=None):
        self.rows = rows
        self.shape = shape
        self.number = np.arange(rows)
        self.row = self.number // shape[1] if shape else self.number
        self.col = self.number % shape[1] if shape else None
        self.locals = {}  # the values of local names
        self.border = None  # what stands beyond the ends: None: nothing, else a mode of np.pad

    def inside(self, first, last):
        """Which rows have all neighbours from `first` to `last`, distances along each axis."""
        axes = [(self.row, self.shape[0]), (self.col, self.shape[1])] if self.shape else [(self.row, self.rows)]
        result = np.ones(self.rows, dtype=bool)
        for (position, count), low, high in zip(axes, first, last):
            result &= (position + low >= 0) & (position + high < count)
        return result

    def beyond(self, extent, distance):
        """The indices at a distance from those of an axis."""
        reach = abs(distance)
        padded = np.pad(np.arange(extent), reach, mode=self.border)
        return padded[reach + distance : reach + distance + extent]

    def neighbour(self, column, distances):
        """A column shifted by a distance; 0, without failing, outside it."""
        value, fails = (np.broadcast_to(part, self.rows) for part in column)
        if self.border and self.rows:
            axes = [self.beyond(*pair) for pair in zip(self.shape or (self.rows,), distances)]
            at = np.arange(self.rows).reshape(self.shape or (self.rows,))[np.ix_(*axes)].ravel()
            return value[at], fails[at]
        at = self.number + distances[0] * (self.shape[1] if self.shape else 1) + sum(distances[1:])
        there = (at >= 0) & (at < self.rows)
        at = np.where(there, at, 0)
        if not self.rows:
            return value, fails
        return np.where(there, value[at], np.zeros(1, dtype=value.dtype)), there & fails[at]


class Node:
    """An expression: op, kind ("int", "float" or "bool"), arguments, and other data of the op."""

    def __init__(self, op, kind, args=(), extra=None):
        self.op = op
        self.kind = kind
        self.args = list(args)
        self.extra = extra

    def walk(self):
        yield self
        for arg in self.args:
            yield from arg.walk()


# --- writing ----------------------------------------------------------------------------------------------------------


def number(value):
    if isinstance(value, float):
        return repr(value)
    return str(value)


def write(node, names, level=0):
    """The expression as text. `names` has each column's spelling; `level` is the precedence of the enclosing operator."""
    op, args = node.op, node.args

    def wrap(own, text):
        return f"({text})" if own < level else text

    if op == "column":
        return names[node.extra]
    if op in ("row", "col"):
        return op
    if op == "local":
        return node.extra
    if op == "let":
        return wrap(1, f"let {node.extra} = ({write(args[0], names, 2)}): {write(args[1], names, 1)}")
    if op == "at":
        index, distances = node.extra
        named = f"{names[index]}, " if len(names) > 1 or distances[0] % 2 else ""
        return f"at({named}{', '.join(map(str, distances))})"
    if op == "element":
        table = node.extra[0] if isinstance(node.extra, tuple) else names[node.extra]
        return f"{table}[{', '.join(write(arg, names) for arg in args)}]"
    if op == "literal":
        return wrap(UNARY_LEVEL, node.extra if isinstance(node.extra, str) else number(node.extra))
    if op in ("neg", "~", "!"):
        word = "-" if op == "neg" else op
        inner = write(args[0], names, UNARY_LEVEL)
        return wrap(UNARY_LEVEL, word + (" " if inner.startswith(word) else "") + inner)
    if op == "?:":
        return wrap(2, f"{write(args[0], names, 3)} ? {write(args[1], names, 2)} : {write(args[2], names, 2)}")
    if op == "|":
        first, second = write(args[0], names, 1), write(args[1], names, 2)
        # A word after the bar may be that of a stage, and a name before it that of a relation.
        return f"bitor({first}, {second})" if second[0].isalpha() or second[0] == "$" else f"({first} | {second})"
    if op == "in-range":
        low, high = node.extra
        return wrap(5, f"{write(args[0], names, 5)} in {low}..{high}")
    if op == "in-list":
        return wrap(5, f"{write(args[0], names, 5)} in [{', '.join(map(number, node.extra))}]")
    if op in LEVELS:
        own = LEVELS[op]
        first, second = write(args[0], names, own), write(args[1], names, own + 1)
        if op == "^":  # `x ^ 2` and `10 ^ x` of decimal digits are answered by a note that this is no power
            first = re.sub(r"(?<![\w.])10$", "0xa", first)
            second = re.sub(r"^\d+(?![\w.])", lambda found: hex(int(found[0])), second)
        return wrap(own, f"{first} {op} {second}")
    return f"{op}({', '.join(write(arg, names) for arg in args)})"


# --- evaluating -------------------------------------------------------------------------------------------------------


def overflowing_product(a, b):
    with np.errstate(all="ignore"):
        result = a * b
        safe = np.where(a == 0, 1, a)
        # INT64_MIN // -1 wraps, so check for that pair.
        wrong = (
            (result // safe != b)
            | (result % safe != 0)
            | ((a == -1) & (b == INT64_MIN))
            | ((b == -1) & (a == INT64_MIN))
        )
    return result, (a != 0) & wrong


def quotient(a, b):
    """a / b rounded towards zero, the remainder, and where each fails."""
    zero = b == 0
    extreme = (a == INT64_MIN) & (b == -1)
    safe_a = np.where(extreme, 0, a)
    safe_b = np.where(zero, 1, b)
    result = safe_a // safe_b
    rest = safe_a - result * safe_b
    result = result + ((rest != 0) & ((safe_a < 0) != (safe_b < 0)))
    return result, safe_a - result * safe_b, zero | extreme, zero


def integer_operation(op, a, b):
    """The result of an operation on integers and where it fails."""
    with np.errstate(all="ignore"):
        if op == "+":
            r = a + b
            return r, ((a ^ r) & (b ^ r)) < 0
        if op == "-":
            r = a - b
            return r, ((a ^ b) & (a ^ r)) < 0
        if op == "*":
            return overflowing_product(a, b)
        if op == "/":
            r, _, fails, _ = quotient(a, b)
            return r, fails
        if op == "%":
            _, r, _, fails = quotient(a, b)
            return r, fails
        if op in ("<<", ">>"):
            outside = (b < 0) | (b > 63)
            count = np.where(outside, 0, b)
            if op == ">>":
                return a >> count, outside
            r = a << count
            return r, outside | ((r >> count) != a)
    return {"&": a & b, "^": a ^ b, "|": a | b}[op], NOTHING


def float_operation(op, a, b):
    with np.errstate(all="ignore"):
        return {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "/": lambda: a / b,
            "%": lambda: np.fmod(a, b),
        }[op]()


def compare(op, a, b):
    if a.dtype != b.dtype:
        # An 80-bit float holds every 64-bit integer and every double.
        a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    return {
        "==": np.equal,
        "!=": np.not_equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }[op](a, b)


def kind_of(value):
    return {"b": "bool", "i": "int", "f": "float"}[value.dtype.kind]


def as_float(value):
    return value.astype(np.float64)


def truth(value):
    return value if value.dtype == bool else value != 0


def smaller(a, b):
    return np.where((a < b) | (b != b), a, b)


def larger(a, b):
    return np.where((a > b) | (b != b), a, b)


def popcount(a):
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(len(a), 8), axis=1)
    return bits.sum(axis=1).astype(np.int64)


def away_from_zero(a):
    whole = np.trunc(a)
    return np.copysign(whole + np.where(np.abs(a - whole) >= 0.5, np.sign(a), 0.0), a)  # also -0.0


def gamma(x):
    """Of x >= 0; math.gamma raises errors."""
    if x == 0 or math.isnan(x):
        return math.inf if x == 0 else x
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


FLOAT_FUNCTIONS = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": away_from_zero,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "cbrt": np.cbrt,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "gamma": np.vectorize(gamma, otypes=[np.float64]),
}
EXACT_FLOAT_FUNCTIONS = ("sqrt", "floor", "ceil", "round")
BINARY_FUNCTIONS = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}
ROUGH_FUNCTIONS = tuple(BINARY_FUNCTIONS) + tuple(name for name in FLOAT_FUNCTIONS if name not in EXACT_FLOAT_FUNCTIONS)


def evaluate(node, columns, place):
    """Value and failure of the rows at `place`; an array of one element stands for all rows."""
    op = node.op
    if op == "column":
        return columns[node.extra]
    if op in ("row", "col"):
        return getattr(place, op), NOTHING
    if op == "local":
        return place.locals[node.extra]
    if op == "let":
        place.locals[node.extra] = evaluate(node.args[0], columns, place)
        return evaluate(node.args[1], columns, place)
    if op == "at":
        return place.neighbour(columns[node.extra[0]], node.extra[1])
    if op == "literal":
        value = node.extra
        if isinstance(value, str):
            value = int(value.replace("_", ""), 0)
        return np.array([value], dtype=np.float64 if isinstance(value, float) else np.int64), NOTHING
    parts = [evaluate(arg, columns, place) for arg in node.args]
    values = [part[0] for part in parts]
    failures = [part[1] for part in parts]
    a = values[0]
    if op == "element":
        table = (node.extra[1], NOTHING) if isinstance(node.extra, tuple) else columns[node.extra]
        count = len(table[0]) if isinstance(node.extra, tuple) else place.rows
        if len(values) == 2:
            cols = node.extra[3]
            fails = failures[0] | failures[1] | (a < 0) | (a >= count // cols) | (values[1] < 0) | (values[1] >= cols)
            return element_at(np.where(fails, 0, a) * cols + np.where(fails, 0, values[1]), fails, table, count)
        return element_at(a, failures[0], table, count)
    if op in ("&&", "and", "||", "or"):
        first, second = truth(a), truth(values[1])
        if op in ("&&", "and"):
            return first & second, failures[0] | (first & failures[1])
        return first | second, failures[0] | (~first & failures[1])
    if op == "?:":
        chosen = truth(a)
        return np.where(chosen, values[1], values[2]), failures[0] | np.where(chosen, failures[1], failures[2])
    fails = failures[0]
    for failure in failures[1:]:
        fails = fails | failure
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return compare(op, a, values[1]), fails
    if op == "in-range":
        low, high = (np.array([bound], dtype=np.int64) for bound in node.extra)
        return compare(">=", a, low) & compare("<=", a, high), fails
    if op == "in-list":
        found = np.zeros(len(a), dtype=bool)
        for element in node.extra:
            found = found | compare("==", a, np.array([element], dtype=np.int64))
        return found, fails
    if op == "!":
        return ~truth(a), fails
    if op in LEVELS or op == "|":
        if node.kind == "float":
            return float_operation(op, as_float(a), as_float(values[1])), fails
        result, wrong = integer_operation(op, a, values[1])
        return result, fails | wrong
    return function(node, values, fails)


def element_at(position, fails, table, count):
    """The table's elements at these positions, of `count`."""
    value, table_fails = (np.broadcast_to(part, count) for part in table)
    outside = (position < 0) | (position >= count)
    if count == 0:
        return np.zeros(len(position), dtype=value.dtype), fails | outside
    at = np.where(outside | fails, 0, position)
    return value[at], fails | outside | table_fails[at]


def function(node, values, fails):
    op, a = node.op, values[0]
    if op == "neg":
        return -a if node.kind == "float" else np.negative(a), (
            fails if node.kind == "float" else fails | (a == INT64_MIN)
        )
    if op == "~":
        return ~a, fails
    if op == "bitor":
        return a | values[1], fails
    if op in ("min", "max", "clamp"):
        if node.kind == "float":
            values = [as_float(value) for value in values]
        if op == "clamp":
            return smaller(larger(values[0], values[1]), values[2]), fails
        return (smaller if op == "min" else larger)(values[0], values[1]), fails
    if op == "abs":
        return np.abs(a), fails if node.kind == "float" else fails | (a == INT64_MIN)
    if op == "sign":
        return np.sign(a), fails
    if op == "popcount":
        return popcount(a), fails
    if op in ("even", "odd"):
        return (a & 1) == (op == "odd"), fails
    if op == "float":
        return as_float(a), fails
    if op == "int":
        if a.dtype == np.float64:
            outside = ~((a >= -(2.0**63)) & (a < 2.0**63))
            return np.where(outside, 0.0, a).astype(np.int64), fails | outside
        return a.astype(np.int64), fails
    with np.errstate(all="ignore"):
        if op == "ldexp":
            return np.ldexp(as_float(a), np.clip(values[1], -5000, 5000)), fails
        if op in BINARY_FUNCTIONS:
            return BINARY_FUNCTIONS[op](as_float(a), as_float(values[1])), fails
        return FLOAT_FUNCTIONS[op](as_float(a)), fails


# --- generating -----------------------------------------------------------------------------------------------------------

INTERESTING = [0, 1, 2, 3, 5, 7, 10, 42, 63, 64, 100, 127, 128, 222, 255, 256, 1000, 32767, 32768, 65536]
INTERESTING += [2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, INT64_MAX]
SPELLED = ["0xff", "0b1011", "1_000", "0x7fff_ffff", "65_536"]
FLOATS = [0.0, 0.5, 1.0, 1.5, 2.0, 0.1, 3.25, 100.0, 1e6, 1e-3, 9007199254740993.0, 9223372036854775808.0, 1e300]


class Maker:
    """Generates expressions over columns of known kinds. `kinds` is a list of "int", "float" and "bool".

    What else they may be made of: `shaped` rows, a relation bound by `let` (name, values), and the neighbours within
    `reach`, one pair of distances an axis.
    """

    def __init__(self, random, kinds, shaped=False, table=None, reach=None):
        self.random = random
        self.kinds = kinds
        self.shaped = shaped
        self.table = table
        self.reach = reach
        self.locals = []  # names and kinds that may be used
        self.named = 0

    def column(self, kind):
        of_kind = [index for index, each in enumerate(self.kinds) if each == kind]
        return Node("column", kind, extra=self.random.choice(of_kind)) if of_kind else None

    def integer_literal(self):
        random = self.random
        if random.random() < 0.06:
            return Node("literal", "int", extra=random.choice(SPELLED))
        value = random.choice(INTERESTING) if random.random() < 0.4 else random.randint(0, 12)
        if random.random() < 0.3:
            value = -value - (1 if value == INT64_MAX and random.random() < 0.5 else 0)
        return Node("literal", "int", extra=value)

    def small(self, low, high):
        return Node("literal", "int", extra=self.random.randint(low, high))

    def make(self, kind, depth):
        makers = {"int": self.integer, "float": self.floating, "bool": self.boolean}
        if depth < 2 or self.random.random() >= 0.08:
            return makers[kind](depth)
        defined = self.random.choice(("int", "int", "float", "bool"))
        definition = makers[defined](depth - 1)
        self.named += 1
        self.locals.append((f"local{self.named}", defined))
        body = self.make(kind, depth)
        return Node("let", kind, [definition, body], self.locals.pop()[0])

    def local(self, kind):
        names = [name for name, of in self.locals if of == kind]
        return Node("local", kind, extra=self.random.choice(names)) if names and self.random.random() < 0.5 else None

    def leaf(self, kind):
        random = self.random
        local = self.local(kind)
        if local:
            return local
        found = self.column(kind)
        if found and self.reach and random.random() < 0.75:
            return Node("at", kind, extra=(found.extra, tuple(random.randint(*axis) for axis in self.reach)))
        if random.random() < 0.05:
            return self.element(kind) or self.leaf(kind)
        if kind == "bool":
            return (
                found
                if found and random.random() < 0.5
                else Node(
                    random.choice(["<", ">", "==", "!=", "<=", ">="]), "bool", [self.leaf("int"), self.leaf("int")]
                )
            )
        if found and random.random() < 0.8:
            return found
        if kind == "int":
            place = random.choice(["row", "col"]) if self.shaped else "row"
            return Node(place, "int") if random.random() < 0.08 else self.integer_literal()
        value = random.choice(FLOATS)
        return Node("literal", "float", extra=-value if random.random() < 0.3 else value)

    def element(self, kind):
        """An element of a column or of the table, mostly in range; None if neither has this kind."""
        random = self.random
        row = Node("row", "int")
        if self.table and kind_of(self.table[1]) == kind and random.random() < 0.7:
            position = random.choice([row, self.column("int") or row, self.integer_literal()])
            if self.table[3]:
                cols = self.table[3]
                side = random.choice([position, self.small(0, cols - 1), Node("&", "int", [row, self.small(0, cols - 1)])])
                return Node("element", kind, [Node("&", "int", [position, self.small(0, 3)]), side], self.table)
            if random.random() < 0.9 and len(self.table[1]):
                position = Node("&", "int", [position, self.small(0, 2 ** (len(self.table[1]).bit_length() - 1) - 1)])
            return Node("element", kind, [position], self.table)
        found = self.column(kind)
        if not found:
            return None
        position = random.choice(
            [
                row,
                Node("/", "int", [row, self.small(1, 5)]),
                Node("max", "int", [Node("-", "int", [row, self.small(1, 3)]), self.small(0, 0)]),
                Node("-", "int", [row, self.small(0, 1)]),
            ]
        )
        return Node("element", kind, [position], found.extra)

    def integer(self, depth):
        random = self.random
        if depth <= 0 or random.random() < 0.12:
            return self.leaf("int")
        sub = lambda: self.integer(depth - 1 - random.randrange(2))
        choice = random.random()
        if choice < 0.42:
            return Node(random.choice("+-*+-"), "int", [sub(), sub()])
        if choice < 0.54:
            divisor = self.small(1, 300) if random.random() < 0.6 else sub()
            return Node(random.choice("/%"), "int", [sub(), divisor])
        if choice < 0.64:
            return Node(random.choice("&^|"), "int", [sub(), sub()])
        if choice < 0.72:
            count = self.small(0, 20) if random.random() < 0.85 else sub()
            return Node(random.choice(["<<", ">>", ">>"]), "int", [sub(), count])
        if choice < 0.82:
            return Node("?:", "int", [self.boolean(depth - 1), sub(), sub()])
        if choice < 0.87:
            return Node(random.choice(["neg", "~", "abs"]), "int", [sub()])
        if choice < 0.93:
            return Node(random.choice(["min", "max", "bitor"]), "int", [sub(), sub()])
        if choice < 0.95:
            return Node("clamp", "int", [sub(), self.small(-300, 0), self.small(0, 300)])
        if choice < 0.97:
            return Node(random.choice(["sign", "popcount"]), "int", [sub()])
        if choice < 0.985:
            return Node("int", "int", [self.boolean(depth - 1)])
        return Node("int", "int", [self.floating(depth - 1)])

    def floating(self, depth):
        random = self.random
        if depth <= 0 or random.random() < 0.15:
            return self.leaf("float")
        sub = lambda: self.floating(depth - 1)
        other = lambda: self.integer(depth - 1) if random.random() < 0.3 else sub()
        choice = random.random()
        if choice < 0.55:
            pair = [sub(), other()]
            random.shuffle(pair)
            return Node(random.choice("+-*/%*+"), "float", pair)
        if choice < 0.65:
            return Node("?:", "float", [self.boolean(depth - 1), sub(), sub()])
        if choice < 0.72:
            return Node(random.choice(["neg", "abs", "sign"]), "float", [sub()])
        if choice < 0.82:
            return Node(random.choice(["min", "max"]), "float", [sub(), sub()])
        if choice < 0.9:
            name = random.choice(EXACT_FLOAT_FUNCTIONS)
            return Node(name, "float", [sub() if name == "round" else other()])  # that of an integer is one
        if choice < 0.93:
            return Node("ldexp", "float", [other(), self.integer(depth - 1)])
        return Node("float", "float", [self.integer(depth - 1)])

    def boolean(self, depth):
        random = self.random
        if depth <= 0:
            return self.leaf("bool")
        choice = random.random()
        if choice < 0.45:
            pair = [self.integer(depth - 1), self.integer(depth - 1)]
            return Node(random.choice(["<", "<=", ">", ">=", "==", "!="]), "bool", pair)
        if choice < 0.58:
            pair = [self.floating(depth - 1), self.make(random.choice(["int", "float"]), depth - 1)]
            random.shuffle(pair)
            return Node(random.choice(["<", "<=", ">", ">=", "==", "!="]), "bool", pair)
        if choice < 0.8:
            left = self.boolean(depth - 1) if random.random() < 0.85 else self.integer(depth - 1)
            return Node(random.choice(["&&", "||", "and", "or"]), "bool", [left, self.boolean(depth - 1)])
        if choice < 0.86:
            return Node("!", "bool", [self.boolean(depth - 1)])
        if choice < 0.91:
            low = random.randint(-50, 50)
            return Node("in-range", "bool", [self.integer(depth - 1)], (low, low + random.randint(-2, 100)))
        if choice < 0.95:
            listed = [random.randint(-3, 50) for _ in range(random.randrange(5))]
            return Node("in-list", "bool", [self.integer(depth - 1)], listed)
        return Node(random.choice(["even", "odd"]), "bool", [self.integer(depth - 1)])

    def guarded(self):
        """A division guarded by the condition that makes it safe."""
        random = self.random
        divisor = self.column("int") or self.integer_literal()
        zero = Node("literal", "int", extra=0)
        quotient_ = Node(random.choice("/%"), "int", [self.small(-500, 500), divisor])
        test = Node(random.choice(["<", ">", "=="]), "bool", [quotient_, self.small(-5, 5)])
        if random.random() < 0.5:
            return Node("&&", "bool", [Node("!=", "bool", [divisor, zero]), test])
        return Node("||", "bool", [Node("==", "bool", [divisor, zero]), test])

    def rough(self):
        """A function that devices may round differently; never an operand."""
        random = self.random
        name = random.choice(ROUGH_FUNCTIONS)
        inner = self.column("float") or self.column("int") or Node("literal", "float", extra=0.5)
        scaled = Node("/", "float", [inner, Node("literal", "float", extra=random.choice([1.0, 3.0, 100.0]))])
        if name in ("pow", "gamma"):
            scaled = Node("abs", "float", [scaled])
        if name in BINARY_FUNCTIONS:
            return Node(name, "float", [scaled, Node("literal", "float", extra=random.choice([0.5, 2.0, -1.0]))])
        return Node(name, "float", [scaled])
