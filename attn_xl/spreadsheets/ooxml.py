"""Reads the structure of Office Open XML packages, whichever program wrote them: parts and
relationships, the workbook's sheets and names, shared strings. Other modules read the cells.

Parts are located through their relationships, wherever a program puts them. Names of tags and
attributes come without namespaces, because Strict Open XML uses different ones.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from xml.parsers import expat

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
