"""The looks: named styles, a cover and a page out of a template workbook. Knows no matrix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .errors import CallError, InputError

DEFAULT = "article"
COVER, MATRIX = "Cover", "Matrix"
STYLES = (
    "attn title",
    "attn note",
    "attn link",
    "attn label",
    "attn heading",
    "attn input",
    "attn weight",
    "attn value",
    "attn attention",
    "attn scale low",
    "attn scale high",
)


def shipped() -> dict[str, Path]:
    """The templates that come with the program, by name."""
    here = Path(__file__).parent
    folder = here / "templates"  # in an installed package
    if not folder.is_dir():
        folder = here.parent / "templates"  # in a checkout
    return {path.stem: path for path in sorted(folder.glob("*.xlsx"))}


def find_template(template: str | os.PathLike[str] = DEFAULT) -> Path:
    """The file of a template: a path, or the name of a shipped one.

    Raises:
        CallError: if there is neither.
    """
    path = Path(template)
    if path.is_file():
        return path
    known = shipped()
    if str(template) in known:
        return known[str(template)]
    raise CallError(f"{template}: no such template. Give a file, or one of: {', '.join(known)}.")


def load_template(path: Path) -> Any:
    """The template as an openpyxl workbook, checked.

    Raises:
        InputError: if it is not an xlsx, or a style or sheet that is needed is not in it.
    """
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, keep_links=False)
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{path}: cannot be read as a template .xlsx ({error}).") from None
    missing = [style for style in STYLES if style not in book.named_styles]
    if missing:
        raise InputError(
            f"{path}: the template has no cell style named {', '.join(map(repr, missing))}. Start from "
            "a shipped template, whose styles have these names, and restyle it."
        )
    for sheet in (COVER, MATRIX):
        if sheet not in book.sheetnames:
            raise InputError(
                f"{path}: the template has no sheet {sheet!r}. It needs 'Cover', which becomes the "
                "Overview, and 'Matrix', whose page and header every matrix gets."
            )
    return book
