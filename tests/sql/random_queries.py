"""Random queries: expressions over columns, and stages. What tests of tests/sql compare is written here."""

import re

INTEGERS = (0, 1, 2, 3, 5, 7, 10, -1, -2, 42, 63, 64, 100, 1000, 2**31, -(2**31), 2**40, 2**63 - 1, "-9223372036854775807 - 1")
NUMBERS = (0.5, 2.0, 1e300, 0.1, 3.0, 1e-310, 0.0, 1.5, -2.25)
WORDS = ("", "a", "AAPL", "MSFT", "ÄÖ", "a'b\\c", "Z")
ARITHMETIC = ("+", "-", "*", "/", "%", "//", "+", "-", "*", "<<", ">>", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
REGEXES = ("a", "^A", "S.T$", "[A-Z]{2}", "a|M.*T", "^$", "[^a-z]", "\\d+", "^\\w+$", "\\s", "(?i)aapl", "(a|b)+?c*", "Ä", "x?")
PATTERNS = ("%", "", "_", "__", "a%", "%a", "%a%", "a", "a_", "_a%", "%a%b%", "a%b", "%\\%%", "\\%%", "%\\_", "\\\\%", "%\\\\", "a\\b", "%_%", "%ü", "ü_", "%€%", "%_\\_", "%'%", "%.%", "a.%", "%\n%", "%\n_", "%$", "[%", "%aa%a%", "_\n%", "%%", "%a%%", "\\a%")
# Kinds whose columns can be keys of one join.
COMPARABLE = {"int": "int", "missing": "int", "text": "text", "float": "float", "bool": "bool", "date": "date", "time": "time"}
ASOF = ("int", "date", "time")
DAYS = ("1970-01-01", "2024-02-29", "2105-12-31", "1969-12-31")
TIMES = ("1970-01-01T00:00:00Z", "2024-02-29T12:30:59Z", "2024-02-29T12:30:59.123456Z", "1965-07-01T00:00:00.000001Z")


def quoted(text):
    """A text in rql."""
    table = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(table.get(c, f"\\u{{{ord(c):x}}}" if ord(c) < 32 else c) for c in text) + '"'


class Writer:
    """Writes expressions over columns, a dict of names and kinds: int, missing (an integer that may be), float, text, bool, date, time. Joins read
    `tables`, a dict of names and columns; {name} stands for one in what is written. With `functions` texts are computed, too."""

    def __init__(self, rng, columns, tables=None, words=WORDS, functions=True):
        self.rng, self.columns, self.tables, self.words, self.functions, self.joins = rng, dict(columns), tables or {}, words, functions, 0

    def of(self, *kinds):
        names = [name for name, its in self.columns.items() if its in kinds]
        return self.rng.choice(names) if names else None

    # --- expressions --------------------------------------------------------------------------------------------------

    def integer(self, depth):
        rng = self.rng
        choice = rng.random()
        one, two = (lambda: self.integer(depth - 1)), (lambda: self.integer(depth - 1))
        if depth <= 0 or choice < 0.15:
            name = self.of("int")
            return name if name and rng.random() < 0.75 else f"({rng.choice(INTEGERS)})"
        if choice < 0.6:
            return f"({one()} {rng.choice(ARITHMETIC)} ({two()}))"
        if choice < 0.67:
            return f"{rng.choice(('min', 'max', 'bitor'))}({one()}, {two()})"
        if choice < 0.77:
            return f"{rng.choice(('abs', 'sign', 'popcount', '-', '~'))}({one()})"
        if choice < 0.81:
            return f"int({self.real(depth - 1) if rng.random() < 0.5 else self.truth(depth - 1)})"
        if choice < 0.84:
            if self.of("time") and rng.random() < 0.3:
                return f"{rng.choice(('hour', 'minute', 'second'))}({self.of('time')})"
            return f"{rng.choice(('year', 'month', 'day', 'weekday'))}({self.of('date', 'time') or f'2000-01-01 + ({one()}) % 60000'})"
        if choice < 0.88 and self.functions and self.of("text"):
            return f"{rng.choice(('len', 'bytes'))}({self.text(depth - 1)})"
        if choice < 0.93 and self.of("missing"):
            return f"({self.of('missing')} ?? {one()})"
        return f"({self.truth(depth - 1)} ? {one()} : {two()})"

    def real(self, depth):
        rng = self.rng
        choice = rng.random()
        one, two = (lambda: self.real(depth - 1)), (lambda: self.real(depth - 1))
        if depth <= 0 or choice < 0.1:
            name = self.of("float")
            return name if name and rng.random() < 0.75 else f"({rng.choice(NUMBERS)!r})"
        if choice < 0.5:
            return f"({one()} {rng.choice('+ - * / + - * / %'.split())} {two()})"
        if choice < 0.6:
            return f"{rng.choice(('min', 'max'))}({one()}, {two()})"
        if choice < 0.85:
            return f"{rng.choice(('abs', 'sign', 'sqrt', 'floor', 'ceil', 'round', '-'))}({one()})"
        if choice < 0.93:
            return f"float({self.integer(depth - 1)})"
        return f"({self.truth(depth - 1)} ? {one()} : {two()})"

    def constant(self):
        return quoted("".join(self.rng.choice(self.words) for _ in range(self.rng.choice((0, 1, 1, 1, 2)))))

    def text(self, depth):
        rng = self.rng
        if depth <= 0 or not self.functions or rng.random() < 0.3:
            return self.of("text") or self.constant()
        choice = rng.random()
        one = self.text(depth - 1)
        if choice < 0.1:
            first, second, third = (self.constant() for _ in range(3))
            return f"({self.truth_of_text(0)} ? {first} : {self.truth_of_text(0)} ? {second} : {rng.choice((third, one))})"
        if choice < 0.3:
            return f"{rng.choice(('upper', 'lower', 'trim'))}({one})"
        if choice < 0.45:
            return f"substr({one}, {rng.choice((0, 1, 2, 5, 100))}{rng.choice(('', ', 0', ', 1', ', 3'))})"
        if choice < 0.55:
            return f"split({one}, {quoted(rng.choice(self.words) or 'a')}, {rng.choice((0, 0, 1, 2, -1, -2))})" if rng.random() < 0.4 else f"replace({one}, {quoted(rng.choice(self.words) or 'a')}, {self.constant()})"
        if choice < 0.75:
            other = self.constant() if rng.random() < 0.7 else self.of("text") or self.constant()
            return f"({one} + {other})" if rng.random() < 0.5 else f"({other} + {one})"
        if choice < 0.9:
            return f"({self.truth(depth - 1)} ? {one} : {self.constant() if rng.random() < 0.5 else self.text(depth - 1)})"
        return f"({one} ?? {self.constant()})"

    def truth_of_text(self, depth):
        rng = self.rng
        one, choice = self.text(depth), rng.random()
        if choice < 0.35 and self.functions:
            return f"({one} like {quoted(rng.choice(PATTERNS))})"
        if choice < 0.6 and self.functions:
            return f"{rng.choice(('starts', 'ends', 'contains'))}({one}, {self.constant()})"
        if choice < 0.65 and self.functions:
            return f"({one} {rng.choice(('~', '~', '!~'))} {quoted(rng.choice(REGEXES))})"
        if choice < 0.8:
            other = self.constant() if rng.random() < 0.7 else self.text(depth)
            return f"({one} {rng.choice(COMPARISONS)} {other})" if rng.random() < 0.7 else f"({other} {rng.choice(COMPARISONS)} {one})"
        return f"({one} in [{self.constant()}, {self.constant()}])" if choice < 0.95 else f"({one} is missing)"

    def truth_of_time(self):
        rng = self.rng
        one = self.of("date", "time")
        other = self.of(self.columns[one]) if rng.random() < 0.3 else f"date({quoted(rng.choice(DAYS))})" if self.columns[one] == "date" else f"timestamp({quoted(rng.choice(TIMES))})"
        return f"({one} {rng.choice(COMPARISONS)} {other})"

    def truth(self, depth):
        rng = self.rng
        choice = rng.random()
        if depth > 0 and choice < 0.27:
            return f"({self.truth(depth - 1)} {rng.choice(('&&', '||'))} {self.truth(depth - 1)})"
        if depth > 0 and choice < 0.32:
            return f"(!{self.truth(depth - 1)})"
        if choice < 0.5 and self.of("text"):
            return self.truth_of_text(min(depth, 2) - 1)
        if choice < 0.56 and self.of("missing"):
            return f"({self.of('missing')} is {rng.choice(('', 'not '))}missing)"
        if choice < 0.6 and self.of("bool"):
            return self.of("bool")
        if choice < 0.65 and self.tables:
            return self.member()
        if choice < 0.7 and self.of("date", "time"):
            return self.truth_of_time()
        kinds = rng.choice(((self.integer, self.integer), (self.integer, self.integer), (self.real, self.real), (self.integer, self.real), (self.real, self.integer)))
        return f"({kinds[0](depth - 1)} {rng.choice(COMPARISONS)} {kinds[1](depth - 1)})"

    # --- other tables -------------------------------------------------------------------------------------------------

    def inner(self):
        """A table with some stages, and its columns."""
        rng = self.rng
        name = rng.choice(list(self.tables))
        writer = Writer(rng, self.tables[name], words=self.words, functions=self.functions)
        stages = rng.choice(("", "", f"select {writer.truth(1)}", f"take {rng.randrange(20)}", f"derive more = {writer.integer(1)}"))
        if "derive" in stages:
            writer.columns["more"] = "int"
        return "{" + name + "}", stages, writer.columns

    def member(self):
        """Whether a value is in a column of another table."""
        source, stages, columns = self.inner()
        mine = self.of(*COMPARABLE)
        kinds = [name for name, kind in columns.items() if mine and COMPARABLE[kind] == COMPARABLE[self.columns[mine]]]
        if not kinds:
            return "true"
        return f"({mine} in (load {source}{' | ' + stages if stages else ''} | map {self.rng.choice(kinds)}))"

    def join(self):
        """A join with another table."""
        rng = self.rng
        source, stages, columns = self.inner()
        pairs = [(mine, other) for mine, kind in self.columns.items() for other, its in columns.items() if COMPARABLE[kind] == COMPARABLE[its]]
        kind = rng.choice(("join", "join", "left join", "left join", "semi join", "anti join", "full join", "full join", "asof join", "asof join", "lookup"))
        last = [(mine, other) for mine, other in pairs if COMPARABLE[self.columns[mine]] in ASOF]
        if not pairs or (kind == "asof join" and not last):
            return None
        keys = rng.sample(pairs, min(len(pairs), rng.choice((0, 1) if kind == "asof join" else (1, 1, 2))))
        if kind == "asof join":
            keys.append(rng.choice(last))
        if len({mine for mine, _ in keys}) < len(keys) or len({other for _, other in keys}) < len(keys):
            return None
        prefix, self.joins = f"q{self.joins}", self.joins + 1
        takes = kind not in ("semi join", "anti join")
        if takes:
            optional = kind != "join"
            if kind == "full join":
                self.columns = {name: "missing" if its == "int" else its for name, its in self.columns.items()}
            others = [other for _, other in keys]
            self.columns |= {f"{prefix}_{name}": "missing" if its == "int" and optional else its for name, its in columns.items() if name not in others}
        written = f"(load {source} | {stages})" if stages else source
        return f"{kind} {written}{f' as {prefix}' if takes else ''} on {', '.join(mine if mine == other else f'{mine} = {other}' for mine, other in keys)}"

    # --- stages -------------------------------------------------------------------------------------------------------

    def group(self):
        rng = self.rng
        keys = [name for name, kind in self.columns.items() if name != "pos"]
        if not keys:
            return None
        chosen = rng.sample(keys, min(len(keys), rng.choice((0, 1, 1, 2, 2))))
        kinds = [self.columns[name] for name in chosen]
        names = [f"k{k}" for k in range(len(chosen))]
        number = self.of("float") if rng.random() < 0.7 else self.real(1)
        of_float = f", {rng.choice(('sum', 'mean', 'min', 'max'))}({number}) as f" if number and rng.random() < 0.6 else ""
        measured = self.of("int", "missing", "float") or "1"
        of_values = f", {rng.choice((f'median({measured})', f'quantile(0.3, {measured})', f'distinct({measured})', f'distinct({rng.choice(list(self.columns))})', f'stddev({measured})', f'var({measured})', f'corr({measured}, {number or measured})'))} as d" if rng.random() < 0.4 else ""
        taken, least = rng.choice(list(self.columns)), rng.choice([name for name, kind in self.columns.items() if kind != "bool"] or ["1"])
        of_rows = f", {rng.choice((f'first({taken})', f'last({taken})', f'argmin({least}, {taken})', f'argmax({least}, {taken})', f'last({self.integer(1)})'))} as r" if rng.random() < 0.35 else ""
        of_truth = f", {rng.choice(('any', 'all', 'min', 'max'))}({self.truth(1)}) as t" if rng.random() < 0.3 else ""
        stage = "group " + ", ".join(f"{name} as {new}" for name, new in zip(chosen, names)) + f": count() as n, {rng.choice(('sum', 'min', 'max'))}({self.integer(1)}) as s{of_float}{of_truth}{of_values}{of_rows}"
        self.columns = dict(zip(names, kinds)) | {"n": "int", "s": "int" if chosen else "missing"} | ({"f": "float"} if of_float else {}) | ({"t": "bool"} if of_truth else {})
        return stage

    def sort(self):
        keys = [name for name, kind in self.columns.items() if kind != "missing" and name != "pos"]
        return "sort " + (f"{self.rng.choice(keys)}{self.rng.choice(('', ' desc'))}, " if keys else "") + "pos"

    def stage(self, number):
        """A stage, after which self.columns are those of its result; None: none was found."""
        rng, choice = self.rng, self.rng.random()
        if choice < 0.12 and self.tables:
            return self.join()
        if choice < 0.35:
            return f"{rng.choice(('select', 'select', 'reject'))} {self.truth(2)}"
        if choice < 0.48:
            makers = {"int": self.integer, "float": self.real} | ({"text": self.text} if self.functions and self.of("text") else {})
            kind = rng.choice(("int", *makers))
            stage = f"derive v{number} = {makers[kind](2)}"
            self.columns[f"v{number}"] = kind
            return stage
        if choice < 0.56 and "pos" in self.columns:
            stage = "map pos, " + ", ".join(f"{self.integer(2)} as m{k}" for k in range(2)) + f", {self.truth(1)} as b0, {self.real(2)} as x0"
            self.columns = {"pos": self.columns["pos"], "m0": "int", "m1": "int", "b0": "bool", "x0": "float"}
            return stage
        if choice < 0.65 and self.columns.get("pos") == "int":
            return self.sort()
        if choice < 0.75:
            return f"{rng.choice(('take', 'skip', 'take', 'tail'))} {rng.randrange(0, 60)}"
        if choice < 0.87:
            return self.group()
        if choice < 0.93:
            chosen = rng.sample(list(self.columns), min(len(self.columns), 2))
            self.columns = {name: self.columns[name] for name in chosen}
            return "pick " + ", ".join(chosen) + " | distinct"
        return "assert " + self.truth(1)

    def stages(self):
        made = [self.stage(number) for number in range(self.rng.randrange(1, 5))]
        return [stage for stage in made if stage] or ["select true"]

    def pipeline(self):
        rng = self.rng
        stages, end = self.stages(), rng.random()
        if end < 0.5:
            number = self.of("float") if rng.random() < 0.2 else None
            stages.append(f"{rng.choice(('sum', 'min', 'max', 'mean', 'sum'))} {number or self.integer(2)}")
        elif end < 0.65:
            stages.append("count")
        elif end < 0.7:
            stages.append(f"{rng.choice(('any', 'all', 'min', 'max'))} {self.truth(2)}")
        elif end < 0.78:
            number = self.of("float", "missing", "int") or self.integer(1)
            stages.append(rng.choice((f"hist {number} {rng.randrange(1, 60)}" if re.fullmatch("[a-z]\\w*", number) else f"mean {number}", "describe | drop type, distinct", f"sample {rng.randrange(1, 30)}{rng.choice(('', '%'))} seed {rng.randrange(9)}", f"var {number}", f"stddev {number}", f"corr {number}, {self.integer(1)}", f"corr {self.real(1)}, {number}")))
        return " | ".join(stages)


def filled(line, sources):
    """The line with what {name} stands for."""
    for name, source in sources.items():
        line = line.replace("{" + name + "}", source)
    return line
