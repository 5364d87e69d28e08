#!/usr/bin/env python3
"""Pictures of the terminal for the documents: plays a session in tmux and draws what is on the screen as SVG.

    tests/terminal/screenshot.py [NAME...]      all pictures below, or these, into docs/images/NAME.svg

Text stays text, so the pictures are small and a changed one shows what changed. They need data/ids.bin and
data/amounts.bin (make data). A session is a list of lines to be typed; `<Tab>` and the like are keys.
"""

import html
import os
import re
import sys
import tempfile
import time
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import harness  # noqa: E402
import terminal as terminals  # noqa: E402

IMAGES = os.path.join(harness.TREE, "docs", "images")
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 14

SESSIONS = {
    "main": [
        "load ids.bin | zip amounts.bin | select ids==42 && amounts>0",
        "| snds | sum",
        "_ / 1000.0",
    ],
    "errors": [
        "load ids.bin | zip amounts.bin | select idz == 42 | sum amounts",
        "load ids.bin | summarize sum(ids)",
        "load ids.bin | map 100 / (ids - ids)",
        "load ids.bin | assert ids > 100 | count",
    ],
    "looking": [
        "load ids.bin | zip amounts.bin | describe",
        "load amounts.bin | map (x * x / 10000) as energy | hist 5",
        "load ids.bin | zip amounts.bin | group ids: sum(amounts) as total, count() | top 3 by total",
    ],
    "plot": ["range 0..600 | map sin(x / 40.0) * exp(-x / 300.0) as swing | plot"],
    "knowing": [
        "load ids.bin | zip amounts.bin | select ids == 42 | sum amounts | assert _ == 665629",
        "explain run load ids.bin | zip amounts.bin | group ids: sum(amounts) as total | top 3 by total",
        ".timing 20",
        "load amounts.bin | count 42",
    ],
    "completion": [
        "let trades = load ids.bin | zip amounts.bin",
        ["trades | select ids == 42 && a", "<Tab>", "<Tab>"],
        ["mo", "<Tab>", "> 9000 | m", "<Tab>", "<Tab>"],
        ["ean amounts"],
    ],
}

# The colours that rql uses, on a dark ground; 30-37 and 90-97.
PALETTE = ["#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#cdd6f4"]
GROUND, TEXT, DIM = "#1e1e2e", "#cdd6f4", "#7f849c"
DOTS = re.compile("[\u2800-\u28ff]")
ESCAPE = re.compile("\033\\[([0-9;]*)m|\033[()][A-Z0-9]|[\x0e\x0f]")


class Style:
    """What escapes have asked for so far."""

    def __init__(self):
        self.colour, self.bold, self.dim = None, False, False

    def apply(self, codes):
        for code in [int(number or 0) for number in codes.split(";")]:
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code == 22:
                self.bold = self.dim = False
            elif code == 39:
                self.colour = None
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.colour = PALETTE[code % 10]

    def attributes(self):
        colour = self.colour or (DIM if self.dim else TEXT)
        return f'fill="{colour}"' + (' font-weight="bold"' if self.bold else "")


def cells_of(text):
    """How many cells of the terminal a text takes; wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def texts_of(line, style, y):
    """The line as SVG texts, one for each style, at the cells that they begin in."""
    texts, at, cell = [], 0, 0

    def add(text):
        nonlocal cell
        # Dots come from another font, whose width is its own: each gets its place.
        pattern = r"[^ ]" if DOTS.search(text) else r"\S(.*\S)?"
        for piece in re.finditer(pattern, text):
            x = MARGIN + (cell + cells_of(text[: piece.start()])) * CELL_WIDTH
            escaped = html.escape(piece.group(), quote=False)
            texts.append(f'<text x="{x:g}" y="{y}" {style.attributes()} xml:space="preserve">{escaped}</text>')
        cell += cells_of(text)

    for match in ESCAPE.finditer(line):
        add(line[at : match.start()])
        if match.group(1) is not None:
            style.apply(match.group(1))
        at = match.end()
    add(line[at:])
    return texts


def draw(lines, columns):
    style = Style()
    width, height = round(columns * CELL_WIDTH + 2 * MARGIN), len(lines) * LINE_HEIGHT + 2 * MARGIN
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="{GROUND}"/>',
        f'<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">',
    ]
    for number, line in enumerate(lines):
        svg += texts_of(line, style, MARGIN + (number + 1) * LINE_HEIGHT - 5)
    return "\n".join([*svg, "</g>", "</svg>", ""])


class Place:
    """Where a session is held: among the sample data, with a home of its own."""

    def __init__(self, folder):
        self.root = self.home = folder
        self.here = os.path.join(harness.TREE, "data")


def settle(terminal):
    """Waits until the screen has not changed for a while: a prompt may come at once or after a query."""
    before, since, end = None, time.monotonic(), time.monotonic() + 60
    while time.monotonic() - since < 1.0 and time.monotonic() < end:
        now = terminal.screen()
        if now != before:
            before, since = now, time.monotonic()
        time.sleep(0.1)


def play(name, columns=96, rows=22):
    """The lines of the screen after the session, escapes included."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Place(folder)
        terminal = terminals.Terminal(sandbox, ["--device", "host"])
        terminal.start()
        try:
            terminal.wait(terminal.ready)
            terminal.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            terminal.fresh()
            for line in SESSIONS[name]:
                for piece in [line] if isinstance(line, str) else line:
                    if piece.startswith("<"):
                        terminal.keys(piece[1:-1])
                    else:
                        terminal.type(piece)
                    time.sleep(0.3)
                if isinstance(line, str) or line is SESSIONS[name][-1]:
                    terminal.keys("Enter")
                settle(terminal)
            text = terminal.tmux("capture-pane", "-p", "-e", "-S", "-200").rstrip("\n")
        finally:
            terminal.stop()
    lines = text.split("\n")
    while lines and not ESCAPE.sub("", lines[-1]).strip():
        lines.pop()
    return lines


def main():
    os.makedirs(IMAGES, exist_ok=True)
    for name in sys.argv[1:] or SESSIONS:
        path = os.path.join(IMAGES, f"{name}.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(draw(play(name), 96))
        print(path)


if __name__ == "__main__":
    main()
