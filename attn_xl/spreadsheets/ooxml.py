"""The parts of a spreadsheet file: unpacked with limits, and parsed as XML."""

from __future__ import annotations

import io
import posixpath
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.parsers import expat

from attn_xl.errors import InputError
from attn_xl.outputs import no_such_file
from attn_xl.text import shortened

Attributes = dict[str, str]
Relations = dict[str, tuple[str, str]]
"""By id: the kind (`worksheet`) and the target part."""


class Malformed(ValueError):
    """The XML contains something no valid spreadsheet has."""


@dataclass
class Workbook:
    """The contents of the workbook part.

    Attributes:
        sheets: the attributes of each sheet; its `id` is the id of a relationship.
        names: the attributes and the text of each defined name.
    """

    sheets: list[Attributes] = field(default_factory=list)
    names: list[tuple[Attributes, str]] = field(default_factory=list)


class Package:
    """A package in a zip archive; each part is read on demand."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        """Take an archive that is open for reading and stays open."""
        self._archive = archive
        self.parts = set(archive.namelist())

    def read(self, part: str) -> bytes:
        """The bytes of a part.

        Raises:
            KeyError: if there is no such part.
        """
        return self._archive.read(part)

    def relations(self, part: str) -> Relations:
        """The internal relationships of a part; of the package itself for ""."""
        folder, file = posixpath.split(part)
        name = posixpath.join(folder, "_rels", f"{file}.rels")
        relations: Relations = {}

        def start(tag: str, attributes: Attributes) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))
                kind = posixpath.basename(attributes.get("Type", ""))
                relations[attributes["Id"]] = kind, target.lstrip("/")

        if name in self.parts:
            parse(self.read(name), start)
        return relations

    def tables(self, sheet: str) -> Iterator[tuple[Attributes, str]]:
        """The attributes of each table (Insert > Table) on a sheet, and its part."""
        for kind, part in self.relations(sheet).values():
            if kind == "table":
                yield tag_of(self.read(part), "table"), part

    @cached_property
    def main(self) -> str:
        """The name of the workbook part."""
        kinds = self.relations("").values()
        return next((part for kind, part in kinds if kind == "officeDocument"), "xl/workbook.xml")

    @cached_property
    def links(self) -> Relations:
        """The relationships of the workbook part."""
        return self.relations(self.main)

    @cached_property
    def workbook(self) -> Workbook:
        """The parsed workbook part.

        Raises:
            KeyError: if there is none.
        """
        book = Workbook()
        open_name: Attributes = {}

        def start(tag: str, attributes: Attributes) -> None:
            nonlocal open_name
            if tag == "sheet":
                book.sheets.append(attributes)
            elif tag == "definedName":
                open_name = attributes

        def end(tag: str, text: str) -> None:
            if tag == "definedName":
                book.names.append((open_name, text))

        parse(self.read(self.main), start, end)
        return book


def tag_of(xml: bytes, name: str) -> Attributes:
    """The attributes of the first tag called `name`; empty if there is none."""
    tags: list[Attributes] = []
    parse(xml, lambda tag, attributes: tags.append(attributes) if tag == name else None)
    return tags[0] if tags else {}


def parse(
    xml: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str, str], None] = lambda tag, text: None,
) -> None:
    """Parse the XML, calling `start` and `end` for each tag, with names without namespaces.

    `end` also gets the text before the closing tag.

    Raises:
        Malformed, expat.ExpatError: if it is not XML or has a document type.
    """
    parser = new_parser()
    text: list[str] = []

    def begin(tag: str, attributes: Attributes) -> None:
        text.clear()
        start(local(tag), {local(name): value for name, value in attributes.items()})

    def close(tag: str) -> None:
        end(local(tag), "".join(text))
        text.clear()

    parser.StartElementHandler = begin
    parser.EndElementHandler = close
    parser.CharacterDataHandler = text.append
    parser.Parse(xml, True)


def new_parser() -> Any:
    """An XML parser that rejects document types; it reports names as `namespace name`."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: object) -> None:  # no office program writes one; entity attacks need one
        raise Malformed("its XML has a document type, which no spreadsheet has")

    parser.StartDoctypeDeclHandler = refuse
    return parser


def local(name: str) -> str:
    """A name without its namespace."""
    return name[name.rfind(" ") + 1 :]


MOST_UNPACKED = 2_000_000_000
"""Bytes that all parts of a package may have together when unpacked."""
DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OSError, EOFError)


def content_of(path: Path) -> bytes:
    """The bytes of a file; `-` is standard input.

    Raises:
        InputError: if the file cannot be read, or is empty.
    """
    standard = str(path) == "-"
    shown = "standard input" if standard else path
    try:
        if standard and sys.stdin is None:
            raise OSError("it is closed")
        with nullcontext(sys.stdin.buffer) if standard else path.open("rb") as stream:
            content = stream.read()
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a spreadsheet.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{shown}: cannot be read ({reason}).") from None
    if not content:
        raise InputError(f"{shown}: the file is empty.")
    return content


def damaged(path: Path, detail: str = "") -> InputError:
    """The error for a file that cannot be parsed.

    Args:
        detail: what is wrong with the file, in the user's terms.
    """
    line = shortened(" ".join(detail.split()), 120)
    why = f" ({line})" if line else ""
    return InputError(
        f"{path}: is damaged or not a spreadsheet{why}. Open it in a spreadsheet program and "
        "save it again as .xlsx."
    )


def unpacked(
    path: Path, content: bytes, wanted: Callable[[str], bool] = lambda _: False
) -> dict[str, bytes]:
    """Unpack every part of a package, and return the wanted ones.

    Args:
        path: the file, as error messages name it; content: its bytes.
        wanted: whether to return the part with a given name.

    Raises:
        InputError: if the package or a part is damaged, password-protected, or too large unpacked.
    """
    parts: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_sizes(path, entries)
            for entry in entries:
                part = _part(path, archive, entry)
                if wanted(entry.filename):
                    parts[entry.filename] = part
    except DAMAGED:
        raise damaged(path, "its list of parts cannot be read") from None
    return parts


def _check_sizes(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise InputError(
            f"{path}: is larger than {MOST_UNPACKED / 1e9:g} GB when unpacked. Delete the data you do "
            "not need and save it again."
        )
    for entry in entries:
        if entry.flag_bits & 1:
            raise InputError(
                f"{path}: is protected by a password. Open it in a spreadsheet program, remove the "
                "password and save it."
            )


def _part(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a part, whose checksum `zipfile` compares."""
    try:
        return archive.read(entry)
    except DAMAGED:
        shown = shortened(entry.filename, 60)
        raise damaged(path, f"its part {shown!r} is incomplete or corrupt") from None


def _unreadable() -> tuple[type[BaseException], ...]:
    from xml.etree.ElementTree import ParseError
    from xml.parsers.expat import ExpatError

    return (*DAMAGED, LookupError, ParseError, ExpatError, TypeError)


UNREADABLE = _unreadable()
