"""Makes the pages of docs/ that show the program, the workbooks they link to, and the pictures of
terminals: python docs/make_pages.py

Each page is one of docs/source with its marks filled in:
    {{run ARGUMENTS}}        a call of attn-xl and its output
    {{num TERM; DIGITS}}     a calculation with cells, rounded: pets.Q!B5*pets.K!B7
    {{table RANGE; DIGITS}}  cells as a table, the first row and column its labels
    {{formula CELL}}, {{shape SHEET}}
    {{cell CELL}}, {{sheet SHEET}}  links to them
Cells are those of the workbook mouse unless another one's name precedes them: masks:second.Mask!C5.
The pictures of workbooks are made by make_pictures.py, which needs LibreOffice.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import openpyxl
from examples import HERE, LINKED, QUOTED, call, workbook
from rich.text import Text

from attn_xl.views.terminal import picture, recording

SOURCE = HERE / "source"
WITH = f"typer {version('typer')} and rich {version('rich')}"
"""Other versions may draw frames and write types differently."""
MADE = "<!-- Made by docs/make_pages.py{how}. Edit the source, then run the script. -->\n"
WIDTH = 100
TERMINALS = {
    "explain": 'explain samples/mouse.xlsx "pets.Softmax[mouse, cat]" --depth 2',
    "help": "--help",
    "inspect": "inspect samples/projections.xlsx",
    "show": "show samples/mouse.xlsx --sheet pets --step Scores --step Softmax --step Output",
}
"""The pictures of terminals, by name, with the call that prints what they show."""
CELL = r"(?:([\w-]+):)?([A-Za-z_][\w.]*)!([A-Z]+\d+)"
PLACE = r"(?:([\w-]+):)?([A-Za-z_][\w.]*)(?:!([A-Z]+\d+(?::[A-Z]+\d+)?))?"
COLOURS = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}


def terminal(name: str) -> str:
    """A picture of a terminal, as SVG: a call and its output."""
    console = recording(WIDTH)
    console.print(Text(f"$ attn-xl {TERMINALS[name]}\n", "bold"))
    console.print(Text.from_ansi(_in_colour(*shlex.split(TERMINALS[name]))))
    return MADE.format(how=f", with {WITH}") + picture(console)


def _in_colour(*arguments: str) -> str:
    """The output of a call on a terminal. It runs in a process of its own, because rich keeps the
    colours of each style from the first terminal that it had."""
    kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    done = subprocess.run(
        [sys.executable, "-m", "attn_xl", *arguments],
        cwd=HERE.parent,
        env={**kept, "COLUMNS": str(WIDTH), "PYTHONUTF8": "1", **COLOURS},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def run(arguments: str) -> str:
    """A call and its output."""
    return f"```\n$ attn-xl {arguments}\n{call(*shlex.split(arguments))}\n```"


@cache
def book(name: str, values: bool = True) -> Any:
    """A workbook that the pages link to, with the values of its formulas, or with the formulas."""
    return openpyxl.load_workbook(LINKED / f"{name}.xlsx", data_only=values)


def found(place: str) -> tuple[str, str, str]:
    """The workbook, the sheet and the cells that a mark refers to."""
    name, sheet, cells = re.fullmatch(PLACE, place).groups()  # type: ignore[union-attr]
    return name or "mouse", sheet, cells or "A1"


def value(place: str) -> Any:
    """The value of a cell."""
    name, sheet, cell = found(place)
    return book(name)[sheet][cell].value


def num(term: str) -> str:
    """A calculation with the values of cells, rounded."""
    term, digits = term.rsplit(";", 1)
    said = re.sub(CELL, lambda cell: repr(value(cell[0])), term)
    return f"{eval(said, {'exp': math.exp, 'sqrt': math.sqrt}):.{int(digits)}f}"


def table(place: str) -> str:
    """Cells as a table, the numbers rounded."""
    place, digits = place.rsplit(";", 1)
    name, sheet, cells = found(place)
    rows = [
        [f"{cell:.{int(digits)}f}" if isinstance(cell, (int, float)) else f"**{cell}**" for cell in row]
        for row in ([cell.value for cell in row] for row in book(name)[sheet][cells])
    ]
    rows[0][0] = ""
    lines = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def formula(place: str) -> str:
    """The formula of a cell."""
    name, sheet, cell = found(place)
    written = book(name, False)[sheet][cell].value
    assert written.startswith("="), f"{place} has no formula"
    return f"`{written}`"


def shape(place: str) -> str:
    """Rows and columns of the matrix on a sheet."""
    name, sheet, _ = found(place)
    matrix = book(name).defined_names[sheet].attr_text.rpartition("!")[2].replace("$", "")
    return f"{len(book(name)[sheet][matrix])} × {len(book(name)[sheet][matrix][0])}"


def link(place: str, shown: str) -> str:
    name, sheet, cell = found(place)
    return f"[`{shown}`]({LINKED.name}/{name}.xlsx#{sheet}!{cell})"


FILLS: dict[str, Callable[[str], str]] = {
    "cell": lambda place: link(place, found(place)[2]),
    "formula": formula,
    "num": num,
    "run": run,
    "shape": shape,
    "sheet": lambda place: link(place, found(place)[1]),
    "table": table,
}


def page(source: Path) -> str:
    """A page, its marks filled in."""
    text = source.read_text(encoding="utf-8")
    filled = re.sub(r"\{\{(\w+) ?(.*?)\}\}", lambda mark: FILLS[mark[1]](mark[2]), text)
    return MADE.format(how=f" of docs/source/{source.name}") + f"\n{filled}"


def made() -> dict[Path, str]:
    """All that this script makes: the files, with what is to stand in them."""
    files = {HERE / source.name: page(source) for source in sorted(SOURCE.glob("*.md"))}
    return {**files, **{HERE / f"{name}.svg": terminal(name) for name in TERMINALS}}


def main() -> None:
    LINKED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in QUOTED:
            (LINKED / f"{name}.xlsx").write_bytes(workbook(name, Path(folder)).read_bytes())
    for path, text in made().items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
