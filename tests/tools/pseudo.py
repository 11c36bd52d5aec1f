"""A language made for tests: every message of the catalogue with other letters, so that English that is
left in what is written shows.

    with pseudo_language():
        write(..., settings=Settings(language=PSEUDO))
    assert not left_in_english(path, own)
"""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from enum import Enum
from functools import cache
from gettext import NullTranslations
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
from conftest import ROOT

from attn_xl import languages
from attn_xl.settings import Settings
from attn_xl.teaching.lessons.function_names import NAMES

PSEUDO = "de"
"""The language whose catalogue is replaced: any but English."""
TEMPLATE = ROOT / "attn_xl" / "locale" / "attn_xl.pot"
PLACEHOLDER = re.compile(r"({\w*[^{}]*})")
WORD = re.compile(r"[A-Za-z][A-Za-z′']*")
SYMBOLS = {
    *("softmax", "norm", "RMS", "max", "ln", "e", "exp", "sin", "cos", "tanh", "arccos", "round"),
    *("GELU", "SiLU", "mod", "modulo", "t", "Attention", "Q", "K", "V", "attn", "xl", "TRUE", "FALSE"),
    *("on", "off", "PC", "IF", "E", "d", "k"),
}
"""Functions, symbols and values that are the same in every language."""


def other_letters(text: str) -> str:
    """A text as the language of tests says it: longer, without Latin letters; names in braces stay."""
    parts = PLACEHOLDER.split(text)
    return "".join(
        part if PLACEHOLDER.fullmatch(part) else WORD.sub(lambda word: _word(word[0]), part)
        for part in parts
    )


def _word(word: str) -> str:
    return TRANSLATED * (len(word) + 1 + len(word) // 4)


@cache
def catalogue() -> dict[str, str]:
    """The messages of the `.pot`, each with its plural form or ""."""
    found: dict[str, str] = {}
    for block in TEMPLATE.read_text(encoding="utf-8").split("\n\n"):
        texts: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line.startswith("msg"):
                key, _, line = line.partition(" ")
                texts[key] = ""
            texts[key] += ast.literal_eval(line)
        if texts.get("msgid"):
            found[texts["msgid"]] = texts.get("msgid_plural", "")
    return found


class _Catalogue(NullTranslations):
    def gettext(self, message: str) -> str:
        return other_letters(message) if message in catalogue() else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1) if n == 1 else other_letters(msgid2)


@contextmanager
def pseudo_language() -> Iterator[None]:
    """In the block, `PSEUDO` is the language of tests, for `Settings(language=...)` and `speaking`."""
    own = languages._catalogue
    languages._catalogue = lambda language: _Catalogue()  # type: ignore[assignment]
    try:
        yield
    finally:
        languages._catalogue = own


class Text(NamedTuple):
    """A text in a workbook and where it is."""

    where: str
    text: str


def texts_of(path: Path) -> Iterator[Text]:
    """Every text of a workbook that a reader sees: titles, tabs, headers and footers, cells, texts in
    formulas and number formats, comments, prompts, charts."""
    book = openpyxl.load_workbook(path, data_only=True)
    for name in ("title", "subject", "description", "keywords", "category"):
        if text := getattr(book.properties, name):
            yield Text(f"the document's {name}", text)
    for sheet in book.worksheets:
        yield Text(f"{sheet.title}, tab", sheet.title)
        for page in (sheet.oddHeader, sheet.oddFooter):
            for part in (page.left, page.center, page.right):
                yield Text(f"{sheet.title}, header or footer", re.sub("&[A-Z]", " ", part.text or ""))
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, str):
                    yield Text(f"{sheet.title}!{cell.coordinate}", cell.value)
                if cell.comment:
                    yield Text(f"{sheet.title}!{cell.coordinate}, comment", cell.comment.text)
                for text in LITERAL.findall(cell.number_format):
                    yield Text(f"{sheet.title}!{cell.coordinate}, format", text)
        for rule in sheet.data_validations.dataValidation:
            for text in (rule.promptTitle, rule.prompt, rule.errorTitle, rule.error):
                if text:
                    yield Text(f"{sheet.title}, prompt on {rule.sqref}", text)
    with zipfile.ZipFile(path) as parts:
        for name in parts.namelist():
            if re.fullmatch(r"xl/charts/chart\d+\.xml", name):
                xml = parts.read(name).decode()
                for text in re.findall(r"<(?:a:)?t>([^<]*)<|<(?:c:)?v>([^<]*)<", xml):
                    yield Text(name, unescape("".join(text)))
            if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name):
                xml = parts.read(name).decode()
                for formula in {*re.findall(r"<f[^>]*>([^<]*)<", xml)}:
                    # What shows is one text, whatever its formula puts together.
                    found = LITERAL.findall(unescape(formula))
                    yield Text(f"{name}, a formula", " ".join(found))


LITERAL = re.compile(r'"((?:[^"]|"")*)"')
"""A text in a formula or a number format."""
SHEETS = {
    *("Overview", "Settings", "Controls", "Compare", "Canvas", "Gallery", "Diagram", "Text"),
    *("Lesson", "Hints", "Feedback", "Grades", "Cells", "Predictions", "Answers", "Inputs"),
    *("Options", "Heads", "Jacobian", "Distances", "Gradient", "check", "Kept"),
}
"""Sheets by which programs know what a workbook holds: named the same in every language."""


def names_of(path: Path) -> set[str]:
    """The names that stay the same in every language: matrices, settings and their values."""
    names = matrices_of(path)
    for setting in fields(Settings):
        names |= {setting.name, setting.name.replace("_", "-"), str(setting.metadata["cell"])}
        if isinstance(kind := setting.metadata["kind"], type) and issubclass(kind, Enum):
            names |= {value.value for value in kind}
    names |= {name for own in (NAMES[PSEUDO], NAMES[PSEUDO].values()) for name in own}
    return {word for name in names for word in WORD.findall(name)} | SHEETS


def matrices_of(path: Path) -> set[str]:
    """The names of matrices, which are those of ranges."""
    book = openpyxl.load_workbook(path, read_only=True)
    return {word for name in (*book.defined_names, *SYMBOLS) for word in WORD.findall(name)}


def left_in_english(
    path: Path,
    own: Iterable[str] = (),
    texts: Iterable[Text] | None = None,
    record: str = "Settings",
) -> list[Text]:
    """The texts of a workbook with words that are neither in the language of tests nor names.

    A text without a word in the language of tests has to consist of names of matrices: names of
    settings and their values, which are English words, count within a sentence only.

    Args:
        own: texts of the input: sentences, words, dimensions, the name of its file.
        texts: the texts to look at, such as those of a page; those of the workbook if None.
        record: the sheet whose lines are names, values and addresses, for programs.
    """
    recorded = re.compile(rf"{record}!\w+?(?:[5-9]|\d\d+)$")
    known, matrices = names_of(path), matrices_of(path) | SHEETS
    phrases = sorted({str(text) for text in own if text}, key=len, reverse=True)
    found = []
    for text in texts_of(path) if texts is None else texts:
        if recorded.match(text.where):
            continue
        rest = text.text
        rest = re.sub(r"\b[0-9a-f]{16}\b", " ", rest)  # a digest
        for phrase in phrases:
            rest = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ", rest)
        rest = re.sub(r"\b(?:[a-z]\d+|\d+[ab]|dim \d+|[A-Z]{1,3}\d+)\b", " ", rest)  # labels, cells
        names = known if TRANSLATED in rest else matrices
        if left := [word for word in WORD.findall(rest) if word not in names]:
            found.append(Text(text.where, f"{' '.join(left)} <- {text.text}"))
    return found


TRANSLATED = "ж"


def own_texts(tables: Any) -> set[str]:
    """The texts of an input: its file, its sentences and weights, their words and dimensions."""
    found = {tables.path.name}
    for name, table in (*tables.sentences.items(), *tables.weights.items()):
        found |= {name, *table.rows, *table.columns}
    return found
