"""The answer of rql as what a notebook shows: Markdown tables become HTML, the rest stays text."""

import html
import re

FIRST, LAST = 40, 10  # rows of a long table that are shown

RULE = re.compile(r"\|(?: (?::---|---:) \|)+")


def cells(line):
    """The cells of a line `| a | b |`; `\\|` is a bar in a cell."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


class Table:
    """A table whose rows are added one by one; of a long one the rows between the first and the last are only counted."""

    def __init__(self, heading, rule):
        self.names = cells(heading)
        self.numbers = [cell.endswith(":") for cell in cells(rule)]
        self.first, self.last, self.count = [], [], 0

    def add(self, line):
        self.count += 1
        if len(self.first) < FIRST:
            self.first.append(cells(line))
        else:
            self.last.append(cells(line))
            if len(self.last) > LAST:
                self.last.pop(0)

    def left_out(self):
        return self.count - len(self.first) - len(self.last)

    def rows(self):
        dots = [["…"] * len(self.names)] if self.left_out() else []
        return self.first + dots + self.last

    def footer(self):
        rows = f"{self.count:,} row" + ("" if self.count == 1 else "s")
        return f"{len(self.first) + len(self.last)} of {rows}" if self.left_out() else rows

    def html(self):
        def row(tag, values):
            styles = ("right" if number else "left" for number in self.numbers)
            inner = "".join(f'<{tag} style="text-align: {style}">{html.escape(value)}</{tag}>' for value, style in zip(values, styles))
            return f"<tr>{inner}</tr>"

        body = "\n".join(row("td", values) for values in self.rows())
        return f"<table>\n<thead>{row('th', self.names)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<p>{self.footer()}</p>"

    def text(self):
        rows = [self.names, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.names))]
        lines = ("  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in zip(row, widths, self.numbers)) for row in rows)
        return "\n".join(line.rstrip() for line in lines) + f"\n{self.footer()}\n"


class Reader:
    """Takes lines and passes on tables and texts, each when it is complete."""

    def __init__(self, show_table, show_text):
        self.show_table, self.show_text = show_table, show_text
        self.table = self.heading = None

    def line(self, line):
        if self.table and line.startswith("| "):
            self.table.add(line)
            return
        self.finish_table()
        if self.heading is not None and RULE.fullmatch(line):
            self.table = Table(self.heading, line)
            self.heading = None
            return
        self.finish_heading()
        if line.startswith("| ") and line.endswith(" |"):
            self.heading = line
        else:
            self.show_text(line + "\n")

    def finish_heading(self):
        if self.heading is not None:
            self.show_text(self.heading + "\n")
            self.heading = None

    def finish_table(self):
        if self.table:
            self.show_table(self.table)
            self.table = None

    def finish(self):
        self.finish_table()
        self.finish_heading()
