"""The values of a spreadsheet's cells, in any program's format, by calamine. Knows nothing of what they
are for."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError

from .engines import quiet
from .metadata import Marks
from .sandbox import Apart, Stopped
from .unpack import damaged

Grid = list[list[Any]]
Grids = tuple[dict[str, Grid], frozenset[str]]

OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_NONE: Mapping[str, Grid] = {}


def values(path: Path, shown: Path, content: bytes, plain: Mapping[str, Grid] = _NONE) -> Grids:
    """The values of every sheet, and which sheets are hidden.

    Args:
        path: the file, or `-`; shown: as errors name it; content: its bytes.
        plain: the values of some parts, where they are known.

    Raises:
        InputError: if it cannot be read.
    """
    from python_calamine import (
        CalamineError,
        CalamineWorkbook,
        PasswordError,
        SheetTypeEnum,
        SheetVisibleEnum,
    )

    try:
        if content.startswith(OLE) and _ENCRYPTED in content:
            raise PasswordError
        with quiet():
            try:
                book = CalamineWorkbook.from_filelike(io.BytesIO(content))
            except CalamineError:  # by its ending, it may know better what is wrong
                if str(path) == "-":
                    raise
                book = CalamineWorkbook.from_path(str(path))
            sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
            known = Marks(content).sheets() if plain else {}
            grids: dict[str, Grid] = {}
            for sheet in sheets:
                rows = plain.get(known.get(sheet.name, ""))
                if rows is None:
                    rows = book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
                grids[sheet.name] = rows
            if not grids:
                raise CalamineError("it has no sheet of cells")
            hidden = (sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible)
            return grids, frozenset(hidden)
    except PasswordError:
        raise InputError(
            f"{shown}: is protected by a password. Open it in a spreadsheet program, remove the "
            "password and save it."
        ) from None
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in the reader is not an Exception
        if content.startswith((b"PK", OLE)):
            raise damaged(shown, str(error) if isinstance(error, CalamineError) else "") from None
        raise InputError(
            f"{shown}: is not a spreadsheet. Save the table as .xlsx (or .xls, .xlsb, .ods, .csv)."
        ) from None


def values_apart(path: Path, shown: Path, content: bytes) -> Grids:
    """The same, in a process of its own. Calamine holds every cell up to the farthest one: where nobody
    looked before how far that is, it may ask for all memory, and the system then stops it.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        worker = Apart(__name__, len(content))
    except OSError:  # no more processes: as it was before there were limits
        return values(path, shown, content)
    try:
        found: Grids = worker.ask("values", path, shown, content)
    except Stopped as end:
        much = f"more than {end.late:.0f} s" if end.late else "too much memory"
        said = damaged(shown, f"it takes {much}: are there cells far away from the table?")
    else:
        return found
    finally:
        worker.close()
    raise said


ANSWERS = {"values": values}
