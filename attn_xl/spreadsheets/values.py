"""Reads the values of a spreadsheet's cells with calamine, in the format of any program."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError

from .engines import quiet
from .metadata import Marks
from .sandbox import Sandbox, SandboxStopped
from .unpack import damaged

Grid = list[list[Any]]
Grids = tuple[dict[str, Grid], frozenset[str]]

OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_NONE: Mapping[str, Grid] = {}


def values(path: Path, shown: Path, content: bytes, plain: Mapping[str, Grid] = _NONE) -> Grids:
    """The values of every sheet, and the names of the hidden sheets.

    Args:
        path: the file, or `-`; shown: as error messages name it; content: its bytes.
        plain: the values of parts that were already read.

    Raises:
        InputError: if the file cannot be read.
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
            except CalamineError:  # with the file extension, its message may be more precise
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
                raise CalamineError("it has no worksheet")
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


def sandboxed_values(path: Path, shown: Path, content: bytes) -> Grids:
    """The same as `values`, read in a separate process.

    Calamine allocates every cell up to the farthest one. If that distance was not checked before,
    calamine may exhaust the memory, and the system then kills the process.

    Raises:
        InputError: if the file cannot be read.
    """
    try:
        worker = Sandbox(__name__, len(content))
    except OSError:  # no process available: read without limits
        return values(path, shown, content)
    try:
        found: Grids = worker.ask("values", path, shown, content)
    except SandboxStopped as end:
        much = f"more than {end.timed_out_after:.0f} s" if end.timed_out_after else "too much memory"
        stopped = damaged(shown, f"it takes {much}: are there cells far away from the table?")
    else:
        return found
    finally:
        worker.close()
    raise stopped


ANSWERS = {"values": values}
