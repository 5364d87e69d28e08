#!/usr/bin/env python3
"""Documentation: every example of the help and the manual page runs on the sample data, completions offer all options,
and `make install` installs everything."""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess

import harness

HOST = ("--device", "host")
KINDS = ("statements", "stages", "functions", "commands", "settings", "formats", "operators", "topics")
TEXTS = ("start", "names", "values", "groups", "keys")
LONG_TEXTS = ("recipes", "sql", "pandas", "q")

# A line, a part of it, and its scope in an editor.
SCOPES = (
    ("let a = 1", "let", "keyword.control.rql"),
    ("load f.csv | sum count", "count", ""),
    ("t | take 3 # | sum", "| sum", "comment.line.rql"),
    ('t | select a == "sum(\\"x"', "sum", "string.quoted.rql"),
    ("t | select a == 'KO'", "KO", "string.quoted.rql"),
    ("d > 2024-01-02", "2024-01-02", "constant.numeric.rql"),
    ("d > 15min", "15min", "constant.numeric.rql"),
    ("`a sum` + 1", "`a", "variable.other.rql"),
    ("x == $who", "$who", "variable.other.rql"),
    ("group a: sum(b)", "sum", "support.function.rql"),
    (".timing on", ".timing", "keyword.control.rql"),
)
VIM_GROUPS = {
    "": "",
    "keyword.control.rql": "rqlStatement",
    "comment.line.rql": "rqlComment",
    "string.quoted.rql": "rqlString",
    "constant.numeric.rql": "rqlNumber",
    "variable.other.rql": "rqlIdentifier",
    "support.function.rql": "rqlFunction",
}


class Manual:
    def __init__(self, sandbox, tally):
        self.sandbox = sandbox
        self.tally = tally
        self.sample = sandbox.path("sample")
        self.fresh_sample()

    def fresh_sample(self):
        """The sample data without the files that examples save."""
        shutil.rmtree(self.sample, ignore_errors=True)
        shutil.copytree(os.path.join(harness.TREE, "data", "sample"), self.sample)

    def run(self, *arguments, **more):
        return harness.run((*HOST, *arguments), self.sample, self.sandbox.home, **more)

    def help(self, *words):
        return self.run("-c", " ".join((".help", *words))).out.decode()

    def listed(self):
        """The names in the overview, by kind."""
        kind, names = None, {}
        for line in self.help().split("\n\n")[1].split("\n"):
            match = re.match(r"(\S+(?: \S+)?)? {2,}(.*)", line)
            kind = match[1] or kind
            names.setdefault(kind, []).extend(match[2].split())
        # The functions and formats are too many for the overview, which says where they are listed.
        functions = self.help("functions").rstrip("\n").split("\n\n")[0].split("\n")
        names["functions"] = [line.split("(")[0] for line in functions]
        formats = self.help("formats").rstrip("\n").split("\n\n")[0].split("\n")
        names["formats"] = [line.split()[0] for line in formats if line.startswith(".")]
        aggregates = self.help("aggregates").split("\n\n")[0].split("\n")
        names["aggregates"] = [line.split("(")[0] for line in aggregates]
        return names

    def runs(self, title, *queries, options=()):
        """Checks that all queries succeed with an empty stderr; returns what they print."""
        result = self.run(*options, *(part for query in queries for part in ("-c", query)))
        good = result.status == 0 and not result.err
        self.tally.check(title, "" if good else f"{queries}\n{result.text()}")
        return result.out.decode()

    def words(self):
        """All words of the help, including words inside a phrase and aliases of stages."""
        words = {name for names in self.listed().values() for name in names}
        with open(os.path.join(harness.TREE, "src", "parser", "words.def"), encoding="utf-8") as file:
            words |= set(re.findall(r'^WORD\("(\w+)"', file.read(), re.MULTILINE))
        return sorted(words)

    def examples(self):
        """Each example runs, and prints the value that it states."""
        seen = 0
        for word in [*self.words(), "row", "col", "step", "before"]:
            if word == "race":
                continue  # uses every device
            text = self.help(word)
            self.tally.check(f"help-{word}", "" if text else "nothing")
            for example in re.findall(r"^  example: (.*)$", text, re.MULTILINE):
                seen += 1
                claim = re.fullmatch(r"(.*) is (\S+)", example)
                # .drop needs a name to drop.
                before = ["let trades = load ids.bin | zip amounts.bin"] if example.startswith(".drop") else []
                if claim:
                    printed = self.runs(f"example-{word}", claim[1])
                    self.tally.check(f"value-{word}", harness.difference(f"{claim[2]}\n", printed, example))
                else:
                    printed = self.runs(f"example-{word}", *before, example)
                    quiet = re.match(r"\.|let |def ", example) or "| save " in example
                    self.tally.check(f"shows-{word}", "" if printed or quiet else f"{example}: nothing")
        self.tally.check("examples", "" if seen > 100 else f"only {seen}")
        kinds = ("statements", "stages", "functions", "aggregates", "operators")
        missing = [name for kind in kinds for name in self.listed()[kind] if "example" not in self.help(name)]
        self.tally.check("each-has-an-example", str(missing) if missing else "")

    def texts(self):
        """The queries in the help texts run; the texts fit 80 columns and, but for long ones, 24 lines."""
        self.fresh_sample()
        for title in TEXTS + LONG_TEXTS:
            lines = self.help(title).split("\n")
            typed = [re.split(r" {2,}", line[2:])[0] for line in lines if line.startswith("  ")]
            if typed:
                quiet = ["--quiet"] if title in LONG_TEXTS else []
                printed = self.runs(f"text-{title}", "\n".join(typed), options=quiet)
                self.tally.check(f"text-{title}-answers", "" if len(printed.split("\n")) > len(typed) / 2 else printed)
            wide = [line for line in lines if len(line) > 80]
            most = 24 if title in TEXTS else 48
            self.tally.check(f"text-{title}-fits", "\n".join(wide) or ("" if len(lines) <= most else f"{len(lines) - 1} lines"))
        self.tally.check("found-by-meaning", "" if "max [E]" in self.help("largest") else self.help("largest"))
        self.tally.check("found-by-its-summary", "" if "sum [E]" in self.help("total") else self.help("total"))
        overview = self.help()
        self.tally.check("overview-fits", "" if overview.count("\n") < 24 else overview)

    def kinds(self):
        for kind in KINDS:
            lines = self.help(kind).rstrip("\n").split("\n\n")[0].split("\n")
            names = [name for name in self.listed()[kind]]
            self.tally.check(f"help-{kind}", "" if len(lines) == len(names) else f"{names}\n" + "\n".join(lines))

    def page(self):
        """The manual page has no groff warnings, and its examples run."""
        page = os.path.join(harness.TREE, "docs", "rql.1")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True, check=False)
            self.tally.check("page-is-sound", done.stderr)
        with open(page, encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        examples = re.findall(r"^\.EX$(.*?)^\.EE$", text, re.MULTILINE | re.DOTALL)
        typed = re.findall(r"^    (.*)$", "".join(examples), re.MULTILINE)
        self.runs("page-queries", "\n".join(line for line in typed if not line.startswith("rql ")))
        self.run("-c", "range 99..102 | map x as price | save trades.csv")
        for line in typed:
            if line.startswith("rql "):
                result = self.run(*shlex.split(line)[1:])
                self.tally.check(line, "" if result.status == 0 and not result.err else result.text())

    def paths(self):
        """Every path of the tree that a document names exists."""
        documents = ["CONTRIBUTING.md", "README.md", *(os.path.join("docs", name) for name in os.listdir(os.path.join(harness.TREE, "docs")))]
        for document in sorted(name for name in documents if name.endswith(".md")):
            with open(os.path.join(harness.TREE, document), encoding="utf-8") as file:
                paths = set(re.findall(r"`((?:src|tests|docs|completions)/[\w./*-]+)`", file.read()))
            missing = sorted(path for path in paths if not glob.glob(os.path.join(harness.TREE, path)))
            self.tally.check(f"paths-{document}", " ".join(missing))

    def versions(self):
        """VERSION is the only version."""
        with open(os.path.join(harness.TREE, "VERSION"), encoding="utf-8") as file:
            version = file.read().strip()
        wanted = {
            "debian/changelog": f"rql ({version}) ",
            "contrib/jupyter/pyproject.toml": f'version = "{version}"',
            "contrib/jupyter/rql_kernel/__init__.py": f'"{version}"',
            "contrib/editors/vscode/package.json": f'"version": "{version}"',
        }
        for path, text in wanted.items():
            with open(os.path.join(harness.TREE, path), encoding="utf-8") as file:
                first = file.read()
            self.tally.check(f"version-of-{path}", "" if text in first else f"no {text}")

    def completes(self, *words):
        """What bash offers for the last word."""
        script = f"""
            source {shlex.quote(os.path.join(harness.TREE, "completions", "rql.bash"))}
            [[ $(complete -p rql) == *"-F _rql rql" ]] || echo "not set up"
            COMP_WORDS=(rql {shlex.join(words)}) COMP_CWORD={len(words)}
            _rql {shlex.quote(harness.RQL)}
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        env = harness.environment(self.sandbox.home)
        done = subprocess.run(
            ["bash", "--norc", "-c", script], cwd=self.sample, env=env, capture_output=True, text=True, check=False
        )
        return done.stderr.split("\n")[:-1] or [word for word in done.stdout.split("\n") if word]

    def completion(self):
        """Bash completes the options of --help and their choices, and otherwise files."""

        def offers(title, words, expected):
            offered = self.completes(*words)
            self.tally.check(f"bash-{title}", "" if offered == expected else f"{words}: {offered}, not {expected}")

        listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)(?: [A-Z=]+)? ", self.run("--help").out.decode(), re.MULTILINE)
        self.tally.check("help-has-options", "" if len(listed) > 10 else str(listed))
        offers("options", ["--"], listed)
        offers("option", ["--ver"], ["--verbose", "--version"])
        choices = self.run("--format", "tsv", "-c", ".set format").out.decode().split("\t")[3].strip().split("|")
        offers("choices", ["--format", ""], choices)
        offers("choice-behind-an-equals-sign", ["--fusion", "=", "of"], ["off"])
        offers("choices-behind-an-equals-sign", ["--fusion", "="], ["off", "on"])
        offers("no-number", ["--device", "N"], [])
        offers("no-query", ["-c", "i"], [])
        offers("files", ["--header", "bal"], ["balance.rql"])
        offers("arguments", ["balance.rql", "num"], ["numbers.txt"])
        if shutil.which("zsh"):
            self.zsh(listed)

    def zsh(self, options_of_help):
        """zsh completes the same options."""
        script = f"""
            _call_program() {{ shift; {shlex.quote(harness.RQL)} --help }}
            _arguments() {{ print -rl -- "$@" }}
            words=(rql)
            load() {{ source {shlex.quote(os.path.join(harness.TREE, "completions", "_rql"))} }}
            load
        """
        env = harness.environment(self.sandbox.home)
        done = subprocess.run(["zsh", "-f", "-c", script], env=env, capture_output=True, text=True, check=False)
        options = re.findall(r"^(--[\w-]+)=?\[", done.stdout, re.MULTILINE)
        good = options == options_of_help and not done.stderr and re.search(r"^--fusion=\[.*\]:WHICH:\(off on\)$", done.stdout, re.M)
        self.tally.check("zsh-options", "" if good else done.stdout + done.stderr)

    def editors(self):
        """The syntax files are made from the tables: words, functions and commands have their colours where they mean that."""
        build = os.path.relpath(os.path.dirname(harness.RQL), harness.TREE)
        made = subprocess.run(["make", "-s", "editors", f"B={build}"], cwd=harness.TREE, capture_output=True, text=True, check=False)
        self.tally.check("editors-are-made", made.stdout + made.stderr if made.returncode else "")
        folder = os.path.join(os.path.dirname(harness.RQL), "editors")
        with open(os.path.join(folder, "vscode", "rql.tmLanguage.json"), encoding="utf-8") as file:
            rules = [(rule["name"], re.compile(rule["match"])) for rule in json.load(file)["patterns"]]

        def scope(text, word):
            at = text.index(word)
            found = [(match.start(), place, name) for place, (name, rule) in enumerate(rules) for match in rule.finditer(text) if match.start() <= at < match.end()]
            return min(found, default=(0, 0, ""))[2]

        def expect(text, word, wanted):
            self.tally.check(f"scope of {word}", harness.difference(wanted, scope(text, word), text))

        for stage in self.listed()["stages"]:
            expect(f"t | {stage} 1", stage, "keyword.other.rql")
        for function in self.listed()["functions"]:
            expect(f"t | map {function}(x)", f"{function}(", "support.function.rql")
        for command in self.listed()["commands"]:
            expect(f"{command} a", command, "keyword.control.rql")
        for text, word, wanted in SCOPES:
            expect(text, word, wanted)
        if shutil.which("vim"):
            self.vim(os.path.join(folder, "vim"))

    def vim(self, folder):
        """vim loads its file for the extension, and gives the same words the same groups."""
        lines = [text for text, _, _ in SCOPES]
        asked = [(place + 1, text.index(word) + 1) for place, (text, word, _) in enumerate(SCOPES)]
        query, answer, script = (self.sandbox.path(name) for name in ("asked.rql", "answer", "ask.vim"))
        with open(query, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        with open(script, "w", encoding="utf-8") as file:
            groups = ", ".join(f"synIDattr(synID({line}, {column}, 1), 'name')" for line, column in asked)
            file.write(f"syntax on\nedit {query}\ncall writefile([{groups}], '{answer}')\nqa!\n")
        command = ["vim", "-es", "-u", "NONE", "-N", "--cmd", f"set rtp^={folder}", "--cmd", "filetype on", "-S", script]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
        groups = open(answer, encoding="utf-8").read().split("\n")[:-1] if os.path.exists(answer) else []
        wanted = [VIM_GROUPS[scope] if text[0] != "." else "rqlPreProc" for text, _, scope in SCOPES]
        self.tally.check("vim", "" if groups == wanted else f"{groups}, not {wanted}")

    def installed(self):
        """make install installs all files, and make uninstall removes them."""
        place = self.sandbox.path("place")
        build = os.path.relpath(os.path.dirname(harness.RQL), harness.TREE)

        def make(target):
            command = ["make", "-s", target, f"B={build}", f"DESTDIR={place}", "PREFIX=/opt"]
            done = subprocess.run(command, cwd=harness.TREE, capture_output=True, text=True, check=False)
            files = sorted(os.path.relpath(os.path.join(at, f), place) for at, _, found in os.walk(place) for f in found)
            return ("" if done.returncode == 0 else done.stdout + done.stderr), files

        problem, files = make("install")
        wanted = [
            "opt/bin/rql",
            "opt/share/bash-completion/completions/rql",
            "opt/share/man/man1/rql.1",
            *(f"opt/share/rql/sample/{name}" for name in os.listdir(os.path.join(harness.TREE, "data", "sample"))),
            *(f"opt/share/rql/vscode/{name}" for name in ("package.json", "language-configuration.json", "rql.tmLanguage.json")),
            *(f"opt/share/vim/vimfiles/{folder}/rql.vim" for folder in ("ftdetect", "syntax")),
            "opt/share/zsh/site-functions/_rql",
        ]
        self.tally.check("installed", problem or ("" if files == sorted(wanted) else str(files)))
        problem, files = make("uninstall")
        self.tally.check("uninstalled", problem or ("" if not files else str(files)))


def main(sandbox):
    tally = harness.Tally("manual")
    manual = Manual(sandbox, tally)
    return harness.run_groups(tally, (manual.examples, manual.texts, manual.kinds, manual.page, manual.paths, manual.versions, manual.completion, manual.editors, manual.installed))


if __name__ == "__main__":
    harness.main_program(main)
