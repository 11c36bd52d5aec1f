"""Finds, loads and checks a template workbook: its named styles and page setup."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

from attn_xl.errors import CallError, InputError
from attn_xl.spreadsheets.ooxml import content_of, unpacked

DEFAULT = "article"
MATRIX = "Matrix"
_STYLES = "xl/styles.xml"
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
STAND_INS = {
    "attn blank": "attn input",
    "attn echo": "attn value",
    "attn step": "attn label",
    "attn text": "attn note",
    "attn answer": "attn input",
    "attn right": "attn attention",
    "attn wrong": "attn weight",
    "attn page": "attn title",
    "attn sentence": "attn label",
    "attn chosen": "attn label",
    "attn dark": "attn attention",
}
"""Optional styles of a template, each with the style used in its place."""


def shipped() -> dict[str, Path]:
    """The shipped templates by name."""
    here = Path(__file__).parents[1]
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
        InputError: if it is not an .xlsx file, or lacks a required style or sheet.
    """
    return pickle.loads(_pickled(path, content_of(path)))


@lru_cache(maxsize=2)
def _pickled(path: Path, content: bytes) -> bytes:
    """A template, pickled: each workbook of a class begins as a copy, which takes a tenth of the time
    of reading the file."""
    from openpyxl.utils.bound_dictionary import BoundDictionary
    from openpyxl.worksheet.dimensions import DimensionHolder

    def reduced(sizes: Any) -> Any:
        state = vars(sizes), {"default_factory": sizes.default_factory}
        return copyreg.__newobj__, (type(sizes),), state, None, iter(sizes.items())  # type: ignore[attr-defined]

    pickled = io.BytesIO()
    pickler = pickle.Pickler(pickled, pickle.HIGHEST_PROTOCOL)
    # Widths and heights, whose dictionaries do not pickle themselves completely.
    pickler.dispatch_table = {BoundDictionary: reduced, DimensionHolder: reduced}
    pickler.dump(_read_template(path, content))
    return pickled.getvalue()


def _read_template(path: Path, content: bytes) -> Any:
    import warnings

    from openpyxl import load_workbook

    parts = unpacked(path, content, _is_styles) if content.startswith(b"PK") else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                book = load_workbook(io.BytesIO(content), keep_links=False, data_only=True)
            except ValueError:  # openpyxl reads shapes, too, and refuses some that Excel writes
                bare = _without_drawings(content)
                book = load_workbook(io.BytesIO(bare), keep_links=False, data_only=True)
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception:  # openpyxl raises many kinds of errors for damaged files
        raise InputError(
            f"{path}: cannot be read as a template: it is damaged or not an .xlsx workbook. Open it in "
            "a spreadsheet program and save it again as .xlsx."
        ) from None
    own = all(style in book.named_styles for style in STYLES)
    if not own or MATRIX not in book.sheetnames:
        article = shipped()[DEFAULT]
        return _looking_like(book, _read_template(article, content_of(article)))
    _keep_the_look(book)
    _renumber_styles(book, parts.get(_STYLES, b"").decode("utf-8", "replace"))
    return book


def _without_drawings(content: bytes) -> bytes:
    import re
    import zipfile

    from .xlsx.splice import packed

    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        links = [name for name in parts.namelist() if name.startswith("xl/worksheets/_rels/")]
        to_drawing = rb'<Relationship\b[^>]*/drawing"[^>]*/>'
        bare = {name: re.sub(to_drawing, b"", parts.read(name)) for name in links}
    return packed(content, bare, set())


def is_arrangement(path: Path) -> bool:
    """Whether a template says where matrices go, by tags, defined names or titles of frames."""
    content = content_of(path)
    if not content.startswith(b"PK") or b"attn title" in unpacked(path, content, _is_styles).get(
        _STYLES, b""
    ):
        return False
    from attn_xl.spreadsheets.drawn import read_drawn
    from attn_xl.tables.own_names import says_where

    return says_where(read_drawn(path, content))


def _is_styles(part: str) -> bool:
    return part == _STYLES


def _looking_like(book: Any, ours: Any) -> Any:
    """A template of ours with the looks of plain cells: the largest text, the texts above and left of
    numbers, any other text, the numbers."""
    found: dict[str, Any] = {}
    cells = {
        (cell.row, cell.column): cell for sheet in book.worksheets[:1] for cell in sheet._cells.values()
    }
    texts = {place: cell for place, cell in cells.items() if isinstance(cell.value, str)}
    numbers = [place for place, cell in cells.items() if isinstance(cell.value, (int, float))]
    if texts:
        found["attn title"] = max(
            texts.values(), key=lambda cell: (cell.font.sz or 0, bool(cell.font.b))
        )
    for name, down, across in (("attn heading", -1, 0), ("attn label", 0, -1)):
        near = (texts.get((row + down, column + across)) for row, column in numbers)
        found[name] = next((cell for cell in near if cell is not None), None)
    beside = {id(cell) for cell in found.values()}
    found["attn note"] = next((cell for cell in texts.values() if id(cell) not in beside), None)
    if numbers:
        found |= dict.fromkeys(("attn input", "attn weight", "attn value"), cells[numbers[0]])
    for name, cell in found.items():
        if cell is not None:
            style = next(one for one in ours._named_styles if one.name == name)
            style.font, style.fill, style.border = copy(cell.font), copy(cell.fill), copy(cell.border)
            if cell.number_format != "General":
                style.number_format = cell.number_format
    return ours


def _keep_the_look(book: Any) -> None:
    """Remove names, rules, tables, charts and links; formulas were already read as their values."""
    from openpyxl.formatting.formatting import ConditionalFormattingList
    from openpyxl.packaging.custom import CustomPropertyList
    from openpyxl.worksheet.datavalidation import DataValidationList

    book.defined_names.clear()
    book.custom_doc_props = CustomPropertyList()
    for sheet in book.worksheets:
        sheet.defined_names.clear()
        sheet.conditional_formatting = ConditionalFormattingList()
        sheet.data_validations = DataValidationList()
        sheet.tables.clear()
        sheet._charts, sheet._pivots, sheet._hyperlinks = [], [], []
        for cell in sheet._cells.values():
            if cell.hyperlink:
                cell.hyperlink = None


def _renumber_styles(book: Any, xml: str) -> None:
    """Update the style numbers of cells: openpyxl reorders the named styles, but cells keep the number
    from the file."""
    import re

    from openpyxl.utils.indexed_list import IndexedList

    styles = re.findall(r"<(?:\w+:)?cellStyle\s([^>]*)>", xml)
    names = [named.name for named in book._named_styles]
    numbers: dict[int, int] = {}
    for attributes in styles:
        name = re.search(r'\bname="([^"]*)"', attributes)
        number = re.search(r'\bxfId="(\d+)"', attributes)
        if name and number and name[1] in names:
            numbers[int(number[1])] = names.index(name[1])

    def renumbered(style: Any) -> Any:
        style = copy(style)
        style.xfId = numbers.get(style.xfId, 0)
        return style

    book._cell_styles = IndexedList([renumbered(style) for style in book._cell_styles])
    for sheet in book.worksheets:
        for cell in sheet._cells.values():
            cell._style = renumbered(cell._style)
