"""Makes the pages of docs/ that show the program: python docs/make_pages.py

Each is one of docs/source with its marks filled in:
    {{help COMMAND}}   what `attn-xl COMMAND --help` prints, to unfold
    {{run ARGUMENTS}}  a call of attn-xl, and what it prints
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

from attn_xl.cli import main as attn_xl

HERE = Path(__file__).parent
SOURCE = HERE / "source"
MADE = "<!-- Made by docs/make_pages.py of docs/source/{name}: change that, and run it. -->\n\n"
WIDTH = "100"


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
    with at_home(), changed, redirect_stdout(out), suppress(SystemExit):
        attn_xl(shlex.split(arguments))
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def help_of(command: str) -> str:
    """A command's help, to unfold."""
    text = printed(f"{command} --help", COLUMNS=WIDTH).strip("\n")
    summary = f"<summary><code>attn-xl {command} --help</code></summary>"
    return f"<details>\n{summary}\n\n```\n{text}\n```\n\n</details>"


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
    return MADE.format(name=source.name) + text


def main() -> None:
    for source in sorted(SOURCE.glob("*.md")):
        (HERE / source.name).write_text(page(source), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
