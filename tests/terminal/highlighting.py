"""The colours of the line being typed: they are drawn over what the line editor draws, so a terminal with them must at all
times show the same characters, and the cursor at the same place, as one without."""

import random
import time

WIDTH, HEIGHT = 37, 16
RESIZE = 0.5  # seconds until tmux has told what runs in it
WIDTHS = ("24", "37", "58")
OPTIONS = ["--device=host", "--quiet", "--no-init"]
TEXTS = (
    "load ids.bin | zip amounts.bin",
    " | select (ids == 42 && amounts > 0)",
    "| group ids: sum(amounts) as total # all",
    "größe ",
    "日本 ",
    '"text" ',
    "))]([(",
    "1.5 2024-01-02 90min ",
    "x",
)
KEYS = ("Left", "Right", "Home", "End", "BSpace", "DC", "C-w", "C-u", "C-y", "M-b", "M-f", "C-t", "Up", "Down", "C-r", "C-g", "C-l")
# What is typed, what is looked for, and the escape sequence before it; tmux writes sequences in its own way.
COLOURS = (
    ("range 1..20 | sel", "range", "\033[1m\033[34m"),
    ("range 1..20 | sel", "20", "\033[35m"),
    ('trades.csv | select s == "KO', '"KO', "\033[32m"),
    ("load ids.bin | map abs(ids)", "abs", "\033[36m"),
    ("1 + 2) # why", ")", "\033[1m\033[31m"),
    ("1 + 2) # why", "# why", "\033[2m"),
    ("(1 + [2])", "(", "\033[1;7m"),
    (".set fusion", ".set", "\033[1m\033[34m"),
)


def state(terminal):
    return terminal.tmux("capture-pane", "-p"), terminal.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}")


def agree(terminals, patience=5):
    """Waits until both show the same; returns what differs."""
    end = time.monotonic() + patience
    while True:
        plain, coloured = (state(terminal) for terminal in terminals)
        if plain == coloured:
            return ""
        if time.monotonic() > end:
            return f"without colours, cursor at {plain[1]}{plain[0]}\nwith colours, cursor at {coloured[1]}{coloured[0]}"
        time.sleep(0.02)


def resized(terminals, width):
    """The line is drawn anew at once when the width changes, so that what is typed then is where it should be."""
    for terminal in terminals:
        terminal.keys("C-u", "C-k", "C-l")
        terminal.type("range 1..30 | select (x % 3 == 1) | map größe=x | take 5")
    agree(terminals)
    for terminal in terminals:
        terminal.tmux("resize-window", "-x", width)
    time.sleep(RESIZE)
    for terminal in terminals:
        terminal.keys("C-l", "Left")
        terminal.type("+")


def same_screens(make_terminal, sandbox, step, seed, count, locale="C.UTF-8"):
    chance = random.Random(seed)
    terminals = [
        make_terminal(sandbox, OPTIONS, {"LC_ALL": locale, **variables}, (WIDTH, HEIGHT)) for variables in ({"NO_COLOR": "1"}, {})
    ]
    for terminal in terminals:
        terminal.start()
    problem, done = "", []
    try:
        for terminal in terminals:
            terminal.wait(terminal.ready)
            for line in ("range 1..3 | map (x +", "  1) * 2", "range 1..9 | sum # größe"):
                terminal.enter(line)
            terminal.fresh()
        problem = agree(terminals)
        while not problem and len(done) < count:
            what = chance.choice(TEXTS) if chance.random() < 0.4 else chance.choice(KEYS)
            done.append(what)
            for terminal in terminals:
                (terminal.type if what in TEXTS else terminal.keys)(what)
            problem = agree(terminals)
        for width in WIDTHS if not problem else ():
            resized(terminals, width)
            done.append(width)
            problem = problem or agree(terminals)
    finally:
        for terminal in terminals:
            terminal.stop()
    step(f"colours-change-no-character-{seed}-{locale}", problem and f"after {done[-12:]}:\n{problem}")


def colours(make_terminal, sandbox, step):
    for variables, wanted in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        terminal = make_terminal(sandbox, OPTIONS, variables)
        terminal.start()
        try:
            terminal.wait(terminal.ready)
            for typed, part, escape in COLOURS if wanted else COLOURS[:1]:
                terminal.keys("C-u")
                terminal.type(typed)
                terminal.wait(lambda lines, typed=typed: any(line.endswith(typed) for line in lines), 20)
                there = terminal.wait(lambda _: escape + part in terminal.tmux("capture-pane", "-p", "-e"), 5 if wanted else 0.5)
                problem = "" if there == wanted else repr(terminal.tmux("capture-pane", "-p", "-e").strip())
                step(f"colour of {part} in {typed} {variables}", problem)
            terminal.keys("Enter")
            done = terminal.wait(lambda _: "\033[1;7m" not in terminal.tmux("capture-pane", "-p", "-e"), 5)
            step(f"no-bracket-stands-out-after-enter {variables}", "" if done else "it does")
        finally:
            terminal.stop()


def all_steps(make_terminal, sandbox, step):
    colours(make_terminal, sandbox, step)
    same_screens(make_terminal, sandbox, step, 1, 50)
    same_screens(make_terminal, sandbox, step, 2, 50, "C")
