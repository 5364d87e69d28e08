"""What one looks at: tables, completion, the history and the pager, on terminals of several widths and kinds. What is on the
screen in the end is recorded in recorded/NAME.txt; UPDATE=1 records it anew."""

import os
import re
import shutil

import harness

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
TERMINALS = {
    "40": (40, {}),
    "80": (80, {}),
    "200": (200, {}),
    "c": (80, {"LC_ALL": "C"}),
    "no-color": (80, {"NO_COLOR": "1"}),
    "dumb": (80, {"TERM": "dumb"}),
}
# Lines, and keys in angle brackets.
SESSION = (
    ["trades.csv | select qty > 50 | derive more = price * 1.5, part = qty / 7.0 | take 4", "<Enter>"],
    ["companies.csv | show 2", "<Enter>"],
    [".schema", "<Enter>"],
    ['range 1..3 | map x == 2 ? "größe" : "日本" as t, x / 4.0 as f', "<Enter>"],
    ["trades.csv | pick ", "<Tab>", "<Tab>", "<C-u>"],
    [".history 2", "<Enter>"],
    ["range 1..100 | show 40", "<Enter>"],
    ["(1 + 2", "<Enter>"],
    [") * 3", "<Enter>"],
)
# The first start, what others write, and settings.
START = (
    ["select sym, sum(qty) from trades.csv group by sym", "<Enter>"],
    ["trades.csv | select qty > 1,000", "<Enter>"],
    ["10 ^ 2", "<Enter>"],
    [".set", "<Enter>"],
    ["trades.csv | pick price | hist 4", "<Enter>"],
)
# What `browse` shows after each line of keys; text is typed as it stands.
BROWSED = (
    ["<Down>", "<Down>", "<Right>", "<Right>"],
    ["<NPage>", "<NPage>"],
    ["G"],
    ["g", "/", "xom", "<Enter>"],
    ["n"],
    ["N"],
    ["/", "500.1", "<Enter>"],
    ["/", "no such", "<BSpace>", "<BSpace>", "<Enter>"],
    ["/", "2024-03-01", "<Enter>"],
    ["S"],
    ["s"],
    ["u"],
    ["?"],
    ["<Home>", "f", "<End>"],
)
WIDE = "range 0..499 | map row as key, " + ", ".join(f"row * {k} / 7.0 as feature_{k}" for k in range(1, 40)) + " | browse"
PAGER = "head -n 2; echo 'the pager ends'"


def record(make_terminal, sandbox, width, variables, options, session):
    variables = {"RQL_PAGER": PAGER, **variables}
    terminal = make_terminal(sandbox, ["--device=host", *options, "--no-init"], variables, (width, 30))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        for pieces in session:
            for piece in pieces:
                if piece.startswith("<"):
                    terminal.keys(piece[1:-1])
                    terminal.settle()
                else:
                    terminal.type(piece)
        return terminal.tmux("capture-pane", "-p", "-S", "-2000"), terminal.tmux("capture-pane", "-p", "-e", "-S", "-2000")
    finally:
        terminal.stop()


def press(terminal, pieces):
    for piece in pieces:
        if piece.startswith("<"):
            terminal.keys(piece[1:-1])
        else:
            terminal.type(piece)
        terminal.settle()


def browsing(make_terminal, sandbox, step):
    """A table that scrolls: what is on the screen after each line of keys is recorded."""
    for width in (80, 200):
        terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], {}, (width, 14))
        terminal.start()
        shown = []
        try:
            terminal.wait(terminal.ready)
            for statement, lines in (("trades.csv | browse", BROWSED), (WIDE, BROWSED[:3] + BROWSED[-1:])):
                terminal.enter(statement)
                terminal.settle()
                for keys in ([], *lines):
                    press(terminal, keys)
                    screen = terminal.tmux("capture-pane", "-p")
                    shown.append(" ".join(["--", *keys]) + "\n" + "\n".join(line.rstrip() for line in screen.split("\n")))
                terminal.keys("q")
                step(f"browse-{width}-leaves", "" if terminal.wait(terminal.ready, 20) else screen)
        finally:
            terminal.stop()
        path = os.path.join(RECORDED, f"browse-{width}.txt")
        text = "".join(shown)
        if os.environ.get("UPDATE"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            step(f"browse-{width}", harness.difference(file.read(), text, f"browse-{width}"))


def browsing_on(make_terminal, sandbox, step):
    """Trillions of rows are computed as they are shown, Ctrl-C stops a search and not the grid, a terminal that changes its size
    is drawn again, and afterwards `_` is the table as it was seen. A terminal that cannot be drawn on shows a table."""
    terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], {}, (90, 12))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.enter("range 1..2000000000000 | map x * 3 as a, x % 1000003 as b | browse")
        terminal.settle()
        terminal.keys("G")
        step("browse-long", terminal.shows(r"^6,000,000,000,000 ", prompt=False, patience=20))
        terminal.type("g/5999999999999")
        terminal.keys("Enter")
        step("browse-searches", terminal.shows("^searching", prompt=False, patience=20))
        terminal.keys("C-c")
        step("browse-interrupted", terminal.shows("^interrupted", prompt=False, patience=20))
        terminal.tmux("resize-window", "-x", "60", "-y", "7")
        step("browse-resized", terminal.shows("^ +12 ", prompt=False, patience=20))
        terminal.keys("q")
        terminal.enter("trades.csv | browse")
        terminal.settle()
        press(terminal, ["<Right>", "<Right>", "S", "q"])
        terminal.enter("_ | take 1 | pick price")
        step("browse-leaves-what-was-seen", terminal.shows("^ *508.45$", patience=20))
        terminal.enter("range 1..3 | select x > 5 | browse")
        step("browse-nothing", terminal.shows("^no rows", prompt=False, patience=20))
        press(terminal, ["<Down>", "<NPage>", "G", "S", "q"])
        terminal.enter("60 + 6")
        step("browse-alive", terminal.shows("^66$", patience=20))
    finally:
        terminal.stop()
    terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], {"TERM": "dumb"}, (90, 12))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.enter("range 1..3 | browse")
        step("browse-dumb", terminal.shows("^ *3$", patience=20))
    finally:
        terminal.stop()


def recordings(make_terminal, sandbox, step):
    for name in ("trades.csv", "companies.csv"):
        shutil.copy(os.path.join(harness.TREE, "data", "sample", name), sandbox.here)
    sessions = [("", ["--quiet"], SESSION), ("start-", [], START)]
    for prefix, options, session in sessions:
        for kind, (width, variables) in TERMINALS.items():
            # Each begins without a history.
            shutil.rmtree(os.path.join(sandbox.home, "state"), ignore_errors=True)
            plain, escaped = record(make_terminal, sandbox, width, variables, options, session)
            plain = "\n".join(line.rstrip() for line in plain.rstrip("\n").split("\n")) + "\n"
            plain = re.sub(r"^rql \d[\d.]*:", "rql VERSION:", plain)
            name = prefix + kind
            path = os.path.join(RECORDED, f"{name}.txt")
            if os.environ.get("UPDATE"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(plain)
            with open(path, encoding="utf-8") as file:
                step(f"recorded-{name}", harness.difference(file.read(), plain, name))
            colours = bool(re.search("\033\\[[0-9;]*m", escaped))
            step(f"colours-{name}", "" if colours == (kind not in ("no-color", "dumb")) else escaped)


def pager(make_terminal, sandbox, step):
    """Leaving it early is no error, Ctrl-C is its own, and what fits the screen or goes elsewhere is not paged."""
    counted = sandbox.path("counted")
    variables = {"RQL_PAGER": f"head -n 3; echo once >> {counted}"}
    terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], variables, (60, 20))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        for title, typed, pattern in (
            ("shows-the-beginning", "range 1..1000000 | show 1000000", r"^ *1$"),
            ("alive-after-it", "20 + 2", r"^22$"),
            ("fits", "range 1..5 | show 5", r"^ *5$"),
            ("wide", "range 1..2 | map 1111111111111 as a, 2111111111111 as b, 3 as c, 41111111111111111 as d | show 2", r"^ *1,111,111,111,111 "),
            ("saved", "range 1..100 | save hundred.csv", r"^rql> ?$"),
        ):
            terminal.fresh()
            terminal.enter(typed)
            step(f"pager-{title}", terminal.shows(pattern, patience=20))
        with open(counted, encoding="ascii") as file:
            step("pager-runs-where-it-must", harness.difference("once\n" * 2, file.read(), "runs"))
    finally:
        terminal.stop()
    variables = {"RQL_PAGER": "cat >/dev/null; trap 'echo interrupted pager' INT; echo waiting; read line </dev/tty; read line </dev/tty"}
    terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], variables, (60, 20))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.enter(".help functions")
        step("pager-waits", terminal.shows(r"^waiting$", prompt=False, patience=20))
        terminal.keys("C-c", "Enter", "Enter")
        step("pager-interrupted", terminal.shows(r"interrupted pager$", patience=20))
        terminal.enter("30 + 3")
        step("pager-left-the-shell-fine", terminal.shows(r"^33$", patience=20))
    finally:
        terminal.stop()
    terminal = make_terminal(sandbox, ["--device=host", "--quiet", "--no-init"], {"RQL_PAGER": "no-such-pager"}, (60, 20))
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.enter(".help functions")
        step("pager-missing", terminal.shows(r"^error: the pager could not be run$", patience=20))
    finally:
        terminal.stop()


def all_steps(make_terminal, sandbox, step):
    recordings(make_terminal, sandbox, step)
    browsing(make_terminal, sandbox, step)
    browsing_on(make_terminal, sandbox, step)
    pager(make_terminal, sandbox, step)
