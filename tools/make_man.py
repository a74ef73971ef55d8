#!/usr/bin/env python3
"""Writes docs/layard.1 from what the binary says of itself and from docs/environment.md.

usage: make_man.py --layard BINARY [--check]

Without --check the page is rewritten. With it the committed page is compared, and looked through by
groff where it is installed; exit status 1 when either finds something.
"""

import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/layard.1"
ENVIRONMENT = ROOT / "docs/environment.md"
SECTIONS = ("Positionals", "Options", "Subcommands")
ENTRY = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
TYPED = re.compile(r"^(\S+)(?: (.*))?$")


def escape(text):
    """Text as roff: every character comes out as it is and can be copied."""
    for plain, roff in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"),
                        ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(plain, roff)
    return "\\&" + text if text.startswith(".") else text


class Help:
    """What `layard help WORDS` prints, in parts."""

    def __init__(self, binary, words):
        self.words = words
        done = subprocess.run([str(binary), "help", *words], capture_output=True, text=True,
                              check=True, timeout=60, env={})
        self.description, self.usage, self.footer = [], "", []
        self.entries = {name: [] for name in SECTIONS}
        part = self.description
        for line in done.stdout.splitlines():
            header = line.removesuffix(":")
            if line.startswith("Usage: "):
                self.usage, part = line.removeprefix("Usage: "), self.footer
            elif header in SECTIONS and line.endswith(":"):
                part = self.entries[header]
            elif any(part is one for one in self.entries.values()):
                part = self._entry(line, part)
            else:
                part.append(line)

    def _entry(self, line, part):
        """Adds a line to the entries of a section; an empty one ends it."""
        if not line:
            return self.footer
        if line.startswith("      "):
            part[-1][1] = f"{part[-1][1]} {line.strip()}".strip()
        else:
            name, text = ENTRY.match(line).groups()
            part.append([name, text or ""])
        return part


def paragraphs(lines):
    """Plain lines as roff; indented ones are kept as they are."""
    out, verbatim = [], False
    for line in [*lines, ""]:
        indented = line.startswith("  ")
        if indented != verbatim:
            out.append([".PP\n.nf\n.RS 4", ".RE\n.fi\n.PP"][verbatim])
            verbatim = indented
        if line:
            out.append(escape(line.strip() if not indented else line[2:]))
        elif out and not out[-1].endswith(".PP"):
            out.append(".PP")
    while out and out[-1] == ".PP":
        out.pop()
    return out


def entries(pairs):
    out = []
    for name, text in pairs:
        option, kind = TYPED.match(name).groups()
        out += [".TP", f"\\fB{escape(option)}\\fR" + (f" \\fI{escape(kind)}\\fR" if kind else ""),
                escape(text) if text else "\\&"]
    return out


def options_of(help_text):
    return [pair for pair in help_text.entries["Options"] if not pair[0].startswith("-h,")]


def command(binary, words):
    """The section of a command and those of its commands."""
    text = Help(binary, words)
    out = [f".SS \"layard {escape(' '.join(words))}\"", *paragraphs(text.description), ".PP",
           f"\\fB{escape(text.usage)}\\fR"]
    out += entries(text.entries["Positionals"]) + entries(options_of(text))
    footer = paragraphs(text.footer)
    out += [".PP", *footer] if footer else []
    for name, _ in text.entries["Subcommands"]:
        out += command(binary, [*words, name])
    return out


def plain(cell):
    """A cell of a Markdown table without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").strip()


def variables():
    """[(names, meaning, default)] of every table that tells users of variables."""
    found, wanted = [], False
    for line in ENVIRONMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            wanted = "building" not in line
        elif wanted and line.startswith("| `"):
            cells = [plain(cell) for cell in line.strip("|").split(" |")]
            found.append(tuple(cell.lstrip("| ") for cell in cells[:3]))
    return found


def environment():
    out = ["An option on the command line wins over its variable. An empty one counts as unset."]
    for names, meaning, default in variables():
        text = f"{meaning[0].upper()}{meaning[1:]}."
        if default not in ("", "none"):
            text += f" Default: {default}."
        out += [".TP", f"\\fB{escape(names)}\\fR", escape(text)]
    return out


FILES = (
    ("~/.cache/layard", "packed weights and what was verified; LAYARD_CACHE names another folder"),
    ("~/.cache/huggingface/hub", "fetched checkpoints; HF_HOME or HF_HUB_CACHE name others"),
    ("../share/layard/models/starter", "from the program's folder: the checkpoint that is found "
     "without a name"),
    ("/etc/layard/serve.env", "settings of the systemd service, as variables"),
)
STATUSES = (("0", "done"),
            ("1", "a check failed: parity, doctor, serve --check, a line of a batch"),
            ("2", "an error, told on standard error as: error: TYPE: text"))


def page(binary):
    version = subprocess.run([str(binary), "--version"], capture_output=True, text=True,
                             check=True, timeout=60, env={}).stdout.strip()
    if not version.startswith("layard"):
        version = f"layard {version}"
    root = Help(binary, [])
    out = ['.\\" Made by tools/make_man.py from the program; edits are lost.',
           f'.TH LAYARD 1 "" "{version}" "User Commands"', ".SH NAME",
           "layard \\- typed decisions about texts", ".SH SYNOPSIS",
           "\\fBlayard\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...",
           ".SH DESCRIPTION", *paragraphs(root.description),
           ".SH OPTIONS", "Before the command:", *entries(options_of(root)), ".SH COMMANDS"]
    for name, _ in root.entries["Subcommands"]:
        out += command(binary, [name])
    out += [".SH \"EXIT STATUS\"", *entries(STATUSES), ".SH ENVIRONMENT", *environment(),
            ".SH FILES", *entries(FILES)]
    return "\n".join(out) + "\n"


def lint(path):
    """What groff warns about; nothing where it is not installed."""
    if not shutil.which("groff"):
        print("groff is not installed: the page was not looked through")
        return ""
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-K", "utf8", str(path)],
                          capture_output=True, text=True, check=False, timeout=60)
    return done.stderr + ("" if done.returncode == 0 else f"groff: exit {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layard", type=pathlib.Path, required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    made = page(arguments.layard.resolve())
    if not arguments.check:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    committed = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    difference = "\n".join(difflib.unified_diff(committed.splitlines(), made.splitlines(),
                                                "docs/layard.1", "the program", lineterm=""))
    if difference:
        print(f"{difference}\nFAILED: run tools/make_man.py --layard {arguments.layard}")
        return 1
    warnings = lint(PAGE)
    if warnings:
        print(f"FAILED: {warnings}")
        return 1
    print("docs/layard.1 says what the program says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
