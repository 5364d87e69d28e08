"""The line editor in a terminal: completion, history, editing, and the state of the terminal afterwards. Run by
terminal.py; each step checks the screen."""

import os
import re

EDITOR = """#!/bin/sh
sed -i 's/1[.][.]3/1..4/; $a | sum x * 11' "$1"
"""


# The escape sequence for red.
ERROR_COLOUR = re.compile("\033\\[[0-9;]*31m")


def shown_after(terminal, *pieces):
    """Types pieces of text and keys (those in angle brackets) at a fresh prompt."""
    terminal.fresh()
    for piece in pieces:
        if piece.startswith("<"):
            terminal.keys(piece[1:-1])
        else:
            terminal.type(piece)


def completes(terminal, step, title, typed, pattern):
    shown_after(terminal, typed, "<Tab>")
    step(title, terminal.shows(r"^rql> " + pattern + r" ?$", prompt=False, patience=20))
    terminal.keys("C-c")
    terminal.wait(terminal.ready, 20)


def completion(terminal, step):
    terminal.fresh()
    terminal.enter("let trades = load ids.bin | zip amounts.bin")
    terminal.wait(terminal.ready, 20)
    completes(terminal, step, "completes-a-stage", "trades | rej", r"trades \| reject")
    completes(terminal, step, "completes-a-column", "trades | select ids == 42 && amo", r"trades \| select ids == 42 && amounts")
    completes(terminal, step, "completes-an-abbreviation", "trades | select amt", r"trades \| select amounts")
    completes(terminal, step, "completes-a-new-column", "trades | map ids as key | sort ke", r"trades \| map ids as key \| sort key")
    completes(terminal, step, "completes-a-let-name", "tra", r"trades")
    completes(terminal, step, "completes-a-function", "trades | map popc", r"trades \| map popcount\(")
    completes(terminal, step, "completes-a-path", "load ids.b", r"load ids\.bin")
    completes(terminal, step, "completes-a-quoted-path", "load two", r'load "two words\.i32"')
    completes(terminal, step, "completes-what-is-no-argument", "load $ca", r'load "\$cash\.i32"')
    completes(terminal, step, "completes-an-aggregate", "trades | group ids: cou", r"trades \| group ids: count\(")
    completes(terminal, step, "completes-a-command", ".tab", r"\.tables")
    completes(terminal, step, "completes-a-setting", ".set fus", r"\.set fusion")
    completes(terminal, step, "completes-a-value", ".set fusion of", r"\.set fusion off")
    shown_after(terminal, "trades | map ", "<Tab>", "<Tab>")
    step("lists-columns-first", terminal.shows(r"^ids +amounts$", prompt=False, patience=20))
    step("lists-what-there-is", terminal.shows(r"^abs\( +\w+\(", prompt=False, patience=20))
    terminal.keys("C-c")
    terminal.wait(terminal.ready, 20)


def history(terminal, step):
    terminal.fresh()
    terminal.enter("(1 +")
    step("continuation-shows-what-is-open", terminal.shows(r"^ *\(> ?$", prompt=False, patience=20))
    terminal.enter("2) * 37")
    step("continuation-ends", terminal.shows(r"^111$"))
    shown_after(terminal, "4 * 4", "<Enter>")
    terminal.shows(r"^16$")
    shown_after(terminal, "<Up>", "<Up>", "<Enter>")
    step("history-keeps-lines-together", terminal.shows(r"^111$"))
    shown_after(terminal, "<C-r>", "37")  # what is a pattern to libedit is left out
    terminal.shows(r"37", prompt=False, patience=20)
    terminal.keys("Enter")
    step("history-is-searched", terminal.shows(r"^111$"))
    shown_after(terminal, "8 * 8", "<Enter>")
    terminal.shows(r"^64$")
    shown_after(terminal, "9 * 9", "<Enter>")
    terminal.shows(r"^81$")
    shown_after(terminal, "8 * 8", "<Enter>")
    terminal.shows(r"^64$")
    shown_after(terminal, "<Up>", "<Up>", "<Up>", "<Enter>")
    step("history-has-each-once", terminal.shows(r"^111$"))


def refining(terminal, step):
    shown_after(terminal, "range 1..3", "<Enter>")
    terminal.shows(r"3 rows")
    shown_after(terminal, "_ | map x * 2", "<Enter>")
    step("last-relation", terminal.shows(r"^ *6$"))
    shown_after(terminal, "_ | sum", "<Enter>")
    step("last-relation-again", terminal.shows(r"^12$"))
    shown_after(terminal, "_ * 10", "<Enter>")
    step("last-value", terminal.shows(r"^120$"))
    shown_after(terminal, "| count", "<Enter>")
    step("pipe-goes-on-from-the-last-relation", terminal.shows(r"^3$"))
    shown_after(terminal, "range 1..3", "<Enter>")
    terminal.shows(r"3 rows")
    shown_after(terminal, ".edit", "<Enter>")
    step("edited-query-runs", terminal.shows(r"^110$"))


def looking(terminal, step):
    """What a relation looks like to a person, and what a query took."""
    shown_after(terminal, "range 1..20000 | map x, x * 100 as hundreds", "<Enter>")
    step("head-and-tail", terminal.shows(r"^25 of 20,000 rows"))
    step("thousands", terminal.shows(r"^20,000  2,000,000$"))
    shown_after(terminal, "| describe", "<Enter>")
    step("describes", terminal.shows(r"^hundreds +i64 +20,000 +100 +2,000,000 .*█"))
    shown_after(terminal, "| pick hundreds | hist 4", "<Enter>")
    step("draws-a-histogram", terminal.shows(r" 5000  █+$"))
    shown_after(terminal, "range 1..20000 | map x * 2 as twice | plot", "<Enter>")
    step("draws-a-plot", terminal.shows(r"^ +0 +row +19,999$"))
    shown_after(terminal, "explain run range 1..1000 | sum", "<Enter>")
    step("explains-a-run", terminal.shows(r"^1 task, .*the result is 500500$"))
    shown_after(terminal, "race range 1..1000 | sum", "<Enter>")
    step("races", terminal.shows(r"^times in ms; "))
    terminal.enter(".set messages normal")
    terminal.wait(terminal.ready, 20)
    shown_after(terminal, "range 1..400000000000 | select (x ^ x >> 3) % 7 == 1 | count", "<Enter>")
    step("shows-progress", terminal.shows(r"^ +\d+ % .*left +range\+select\+count", prompt=False))
    terminal.keys("C-c")
    step("clears-progress", terminal.shows(r"^interrupted$"))
    shown_after(terminal, ".timing 1000", "<Enter>")
    shown_after(terminal, "range 1..300000000 | select x % 7 == 3 | count", "<Enter>")
    step("repeats", terminal.shows(r"^42,857,143 ", prompt=False))
    terminal.keys("C-c")
    step("ends-repeating", terminal.shows(r"interrupted$"))
    step("tells-the-first-run", terminal.shows(r"^parsed +\d"))
    shown_after(terminal, ".timing off", "<Enter>")
    terminal.enter(".set messages quiet")
    terminal.wait(terminal.ready, 20)


# What is typed one after another, and a line that appears.
WORK = (
    ("load ids.bin | zip amounts.bin | top 2 by amounts", r"^444 +222$"),
    ("load ids.bin | count | assert _ == 10", r"^10$"),
    ("range 1..4 | sum | assert sum == 10 | assert _ > 10", r"^hint: `_` is 10$"),
    ("load ids.bin | zip amounts.bin | save rows.csv.gz", r"^rql> ?$"),
    ("load rows.csv.gz | save rows.npy", r"^rql> ?$"),
    ("load rows.npy | count ids == 42", r"^4$"),
    (".output counted.json", r"^rql> ?$"),
    ("range 1..3", r"^rql> ?$"),
    (".output", r"^rql> ?$"),
    (".cd", r"^/"),
    (".read asked.rql", r"^4242$"),
    (".history 2", r"^\.read asked\.rql$"),
    ("range 1..3 | map x * 2.5 as big", r"^ *7\.5$"),
    (".schema", r"^_ # big f64$"),
    (".timing 3", r"^rql> ?$"),
    ("range 1..1000 | sum", r"^median .* of 3 more runs$"),
    (".timing off", r"^rql> ?$"),
    (".set", r"^stats +on "),
    ("explain range 1..3 | sum | assert _ == 6", r"^then assert _ == 6$"),
    ("load amounts.bni", r"^hint: did you mean `amounts\.bin`"),
)


def working(terminal, step):
    terminal.sandbox.write("asked.rql", b"let asked = 42\nasked * 101\n")
    for typed, pattern in WORK:
        shown_after(terminal, typed, "<Enter>")
        step(f"working: {typed}", terminal.shows(pattern, patience=20))
    with open(terminal.sandbox.path("counted.json"), encoding="ascii") as file:
        text = file.read()
    step("working: what was sent to a file", "" if re.search(r"\b3\b", text) else text)


def manners(terminal, step):
    shown_after(terminal, "let größe = 21", "<Enter>")
    terminal.wait(terminal.ready, 20)
    shown_after(terminal, "größe * 2", "<Enter>")
    step("names-in-any-script", terminal.shows(r"^42$"))
    terminal.tmux("resize-window", "-x", "50", "-y", "20")
    shown_after(terminal, "1 + " * 30 + "1", "<Enter>")
    step("narrow-terminal", terminal.shows(r"^31$"))
    shown_after(terminal, "range 1..9 | map x as a, x * 1000003 as b | describe", "<Enter>")
    step("narrow-description", terminal.shows(r"^b +5,000,015 +9 +█"))
    terminal.tmux("resize-window", "-x", "120", "-y", "50")
    shown_after(terminal, "1 + " * 600 + "1", "<Enter>")
    step("very-long-line", terminal.shows(r"^601$"))
    terminal.fresh()
    terminal.enter("range 1..3 | bogus")
    terminal.shows(r"error")
    coloured = terminal.tmux("capture-pane", "-p", "-e")
    step("errors-have-colour", "" if ERROR_COLOUR.search(coloured) else coloured)


# What a newcomer types who knows of nothing but help, and what appears: the questions of docs/questions.md, asked as
# `help start` asks its own.
NEWCOMER = (
    ("help", r"^\.help start shows examples"),
    ("help start", r"^  t \| select ids == 42 \| sum amounts$"),
    ("help largest", r"^max \[E\] +the largest value$"),
    ("help even", r"^  true if n is even$"),
    ("let t = load ids.bin | zip amounts.bin", r"^rql> $|^rql>$"),
    ("t | count ids == 42", r"^4$"),
    ("t | count ids == 42 && amounts > 0", r"^2$"),
    ("t | select ids == 42 | sum amounts", r"^87$"),
    ("t | select ids == 42 && amounts < 0 && even(amounts) | sum amounts", r"^-20$"),
    ("t | count ids % 222 == 0 && amounts > 0 && amounts % 222 == 0", r"^2$"),
    (".tables", r"^t +10 +80 +file +ids i32, amounts i32$"),
)


def newcomer(terminal, step):
    for typed, pattern in NEWCOMER:
        shown_after(terminal, typed, "<Enter>")
        step(f"newcomer: {typed}", terminal.shows(pattern, patience=20))


def startup(make_terminal, sandbox, step):
    """rqlrc runs before the prompt, and --no-init leaves it out."""
    folder = os.path.join(sandbox.home, ".config", "rql")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(folder, "rqlrc")
    with open(script, "w", encoding="utf-8") as file:
        file.write("let one = \nload nosuch.bin\nlet favourite = 42\n.nosuch\nlet p = load '|touch made' csv\n")
    for option, pattern in [("--header", r"^42$"), ("--no-init", r"error: .*favourite")]:
        terminal = make_terminal(sandbox, ["--device", "host", option], {"NO_COLOR": "1"})
        terminal.start()
        try:
            terminal.wait(terminal.ready)
            shown_after(terminal, "favourite + 0", "<Enter>")
            step(f"rqlrc{option}", terminal.shows(pattern))
            plain = terminal.tmux("capture-pane", "-p", "-e")
            shown_after(terminal, "quit", "<Enter>")
            step(f"plain-quit{option}", terminal.shows(r"^left with 0$", prompt=False, patience=20))
        finally:
            terminal.stop()
    made = os.path.exists(os.path.join(sandbox.here, "made"))
    step("rqlrc-runs-nothing", "rqlrc has run a program" if made else "")
    step("no-color", plain if ERROR_COLOUR.search(plain) else "")
    os.remove(script)


def all_steps(make_terminal, sandbox, step):
    editor = sandbox.path("editor.sh")
    with open(editor, "w", encoding="utf-8") as file:
        file.write(EDITOR)
    os.chmod(editor, 0o755)
    sandbox.write("two words.i32", b"\1\0\0\0")
    sandbox.write("$cash.i32", b"\1\0\0\0")
    terminal = make_terminal(sandbox, ["--device", "host", "--quiet"], {"EDITOR": editor})
    terminal.start()
    try:
        if not terminal.wait(terminal.ready):
            step("prompt-for-editing", "no prompt")
            return
        for group in (completion, history, refining, looking, working, manners, newcomer):
            group(terminal, step)
    finally:
        terminal.stop()
    startup(make_terminal, sandbox, step)
