"""Reads the values of a spreadsheet's cells with calamine, in the format of any program."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError

from .unpack import damaged

Grid = list[list[Any]]
Grids = tuple[dict[str, Grid], frozenset[str]]

OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress whatever an engine prints to standard output and standard error."""
    kept = []
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # earlier output still reaches its stream
    for number in (1, 2):
        try:
            kept.append((number, os.dup(number)))
        except OSError:  # the stream does not exist
            continue
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), number)
    try:
        yield
    finally:
        for number, own in kept:
            os.dup2(own, number)
            os.close(own)


def values(path: Path, shown: Path, content: bytes) -> Grids:
    """The values of every sheet, and the names of the hidden sheets.

    Args:
        path: the file, or `-`; shown: as error messages name it; content: its bytes.

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
            grids = {
                sheet.name: book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
                for sheet in sheets
            }
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
