#!/usr/bin/env python3
"""Draws the tables of TPC-H and db-benchmark in docs/performance.md as docs/images/tpch.svg and db-benchmark.svg: a line for
each question, a dot for each contestant, time on a logarithmic axis. A panel holds what was timed on one machine, files and
memory apart, and the H200 has one of its own."""

import math
import os
import re

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(TREE, "docs")
COLORS = {"rql": "#0057b8", "DuckDB": "#d95f02", "Polars": "#1b9e77", "ClickHouse": "#a0a0a0"}

# Of each image: how its table begins, and its panels: a title, and the table's columns with who they are of.
IMAGES = {
    "tpch": (
        "| | file: rql |",
        [
            ("from files, processor time", {1: "rql", 2: "DuckDB", 3: "Polars"}),
            ("from memory, 2 threads", {4: "rql", 5: "DuckDB", 6: "Polars", 7: "ClickHouse"}),
            ("from memory, 16 threads", {8: "rql", 10: "DuckDB"}),
            ("H200", {9: "rql"}),
        ],
    ),
    "db-benchmark": (
        "| | | rql | DuckDB | Polars |",
        [
            ("10^7 rows, 2 threads", {2: "rql", 3: "DuckDB", 4: "Polars"}),
            ("10^8 rows, 16 threads", {5: "rql", 7: "DuckDB"}),
            ("10^8 rows, H200", {6: "rql"}),
        ],
    ),
}

PANEL, GAP, LABELS, LINE, HEAD, FOOT = 240, 20, 44, 18, 64, 30


def rows_of(text, beginning):
    """The cells of the table whose heading begins so, without the line of the sums."""
    lines = text[text.index(beginning):].split("\n\n")[0].split("\n")[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] != "all"]


def number(cell):
    return float(cell) if re.fullmatch(r"[\d.]+", cell) else None


class Axis:
    """Milliseconds to places, from the power of ten below the least to the one above the most."""

    def __init__(self, values):
        self.least = math.floor(math.log10(min(values)))
        self.most = math.ceil(math.log10(max(values)))

    def place(self, value):
        return PANEL * (math.log10(value) - self.least) / (self.most - self.least)


def text(x, y, content, anchor="middle", color="#333333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{content}</text>'


def power(exponent):
    """A power of ten as people write it."""
    return f"{10**exponent:,}".replace(",", " ") if exponent >= 0 else f"{10.0**exponent:g}"


def legend(names):
    out, x = [], LABELS
    for name in names:
        out += [f'<circle cx="{x + 5}" cy="16" r="4.5" fill="{COLORS[name]}"/>', text(x + 14, 20, name, "start")]
        x += 100
    return out


def panel(left, title, columns, rows, axis):
    bottom = HEAD + LINE * len(rows)
    out = [text(left + PANEL / 2, HEAD - 18, f"{title}; ms", color="#000000")]
    for exponent in range(axis.least, axis.most + 1):
        x = left + axis.place(10**exponent)
        out.append(f'<line x1="{x:.1f}" y1="{HEAD - 8}" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(text(x, bottom + 16, power(exponent)))
    for at, row in enumerate(rows):
        y = HEAD + LINE * at + LINE / 2
        out.append(f'<line x1="{left}" y1="{y}" x2="{left + PANEL}" y2="{y}" stroke="#f0f0f0"/>')
        # rql is drawn last, above the others.
        for column, name in sorted(columns.items(), key=lambda item: item[1] == "rql"):
            value = number(row[column])
            if value is not None:
                x = left + axis.place(value)
                out.append(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{COLORS[name]}"/>')
    return out


def draw(rows, panels):
    cells = [row[column] for row in rows for _, columns in panels for column in columns]
    axis = Axis([number(cell) for cell in cells if number(cell)])
    width = LABELS + (PANEL + GAP) * len(panels) + GAP
    height = HEAD + LINE * len(rows) + FOOT
    names = [name for name in COLORS if any(name in columns.values() for _, columns in panels)]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *legend(names),
    ]
    for at, row in enumerate(rows):
        out.append(text(LABELS - 12, HEAD + LINE * at + LINE / 2 + 4, row[0], "end"))
    for at, (title, columns) in enumerate(panels):
        out += panel(LABELS + (PANEL + GAP) * at, title, columns, rows, axis)
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    with open(os.path.join(DOCS, "performance.md"), encoding="utf-8") as file:
        page = file.read()
    for name, (beginning, panels) in IMAGES.items():
        with open(os.path.join(DOCS, "images", name + ".svg"), "w", encoding="utf-8") as out:
            out.write(draw(rows_of(page, beginning), panels))


if __name__ == "__main__":
    main()
