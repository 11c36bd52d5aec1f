"""Makes the pages of docs/ that show the program, and the pictures of what it prints on a terminal:
python docs/make_pages.py

Each page is one of docs/source with its marks filled in:
    {{help COMMAND}}   what `attn-xl COMMAND --help` prints, to unfold
    {{run ARGUMENTS}}  a call of attn-xl, and what it prints
The pictures of workbooks are made by make_pictures.py, which needs LibreOffice.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

from rich.text import Text

from attn_xl.cli import main as attn_xl
from attn_xl.terminal import picture, recording

HERE = Path(__file__).parent
SOURCE = HERE / "source"
WITH = f"typer {version('typer')} and rich {version('rich')}"
"""Another version may draw frames and write types otherwise."""
MADE = "<!-- Made by docs/make_pages.py{source}, with {by}: change that, and run it. -->\n"
WIDTH = 100
TERMINALS = {
    "check": "check docs/slips.xlsx",
    "explain": 'explain samples/mouse.xlsx "cat.Softmax[mouse, cat]" --depth 2',
    "help": "--help",
    "inspect": "inspect samples/projections.xlsx",
    "show": "show samples/mouse.xlsx --sheet cat --step Scores --step Softmax --step Output",
}
"""The pictures of terminals, by name, with the call that prints what they show."""
COLOURS = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}


@contextmanager
def at_home() -> Iterator[None]:
    """In the folder of the repository, where the examples are called."""
    before = Path.cwd()
    os.chdir(HERE.parent)
    try:
        yield
    finally:
        os.chdir(before)


def printed(arguments: str, **environment: str) -> str:
    """What a call prints on standard output: as into a pipe, unless the environment says otherwise."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    out = io.StringIO()
    changed = patch.dict(os.environ, {**kept, **environment}, clear=True)
    with at_home(), changed, redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
        attn_xl(shlex.split(arguments))
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def terminal(name: str) -> str:
    """A picture of a terminal, as SVG: a call, and what it prints there."""
    console = recording(WIDTH)
    console.print(Text(f"$ attn-xl {TERMINALS[name]}\n", "bold"))
    console.print(Text.from_ansi(printed(TERMINALS[name], COLUMNS=str(WIDTH), **COLOURS)))
    return MADE.format(source="", by=WITH) + picture(console)


def help_of(command: str) -> str:
    """A command's help, to unfold."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(f"{command} --help", COLUMNS=str(WIDTH)))
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    summary = f"<summary><code>attn-xl {command} --help</code></summary>"
    return f"<details>\n{summary}\n\n```\n{lines}\n```\n\n</details>"


def run(arguments: str) -> str:
    """A call and its output."""
    return f"```\n$ attn-xl {arguments}\n{printed(arguments)}\n```"


FILLS: dict[str, Callable[[str], str]] = {"help": help_of, "run": run}


def page(source: Path) -> str:
    """A page, its marks filled in."""
    text = re.sub(
        r"\{\{(\w+) (.*?)\}\}",
        lambda mark: FILLS[mark[1]](mark[2]),
        source.read_text(encoding="utf-8"),
    )
    return MADE.format(source=f" of docs/source/{source.name}", by=WITH) + f"\n{text}"


def made() -> dict[Path, str]:
    """All that this script makes: the files, with what is to stand in them."""
    files = {HERE / source.name: page(source) for source in sorted(SOURCE.glob("*.md"))}
    return {**files, **{HERE / f"{name}.svg": terminal(name) for name in TERMINALS}}


def main() -> None:
    for path, text in made().items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
