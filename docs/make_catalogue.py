"""Collects every message of the program and updates the catalogues of translations.

    python docs/make_catalogue.py

writes `attn_xl/locale/attn_xl.pot`, updates `attn_xl/locale/LANGUAGE/LC_MESSAGES/attn_xl.po`, whose
translations it keeps, and compiles each to `.mo`. Messages are the texts in calls of `translate`,
`translate_count` and `message`; the texts of all steps and recipes; and those on the covers of the
templates. Translators edit the `.po` files only.
"""

from __future__ import annotations

import ast
import importlib
import io
import pkgutil
import re
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from openpyxl import load_workbook

sys.path.insert(0, str(Path(__file__).parents[1]))  # the program of this checkout, installed or not

from attn_xl.graph.step import Recipe, Step
from attn_xl.languages import COMMA, ENGLISH, LANGUAGES, QUOTED

PACKAGE = Path(__file__).parents[1] / "attn_xl"
LOCALE = PACKAGE / "locale"
TEMPLATES = PACKAGE.parent / "templates"
CALLS = {"translate": 1, "message": 1, "translate_count": 2}
"""The functions whose first arguments are messages, and how many of them."""
TEXTS_OF_STEP = ("note", "purpose", "question", "answer")
PLACEHOLDER = re.compile(r"{(\w*)[^{}]*}")
COMMENTS = {
    "{part} layer {number}": 'part is "encoder", "decoder", "recurrent" or "logit lens after".',
    "{part} {number}": 'part is "expert", "new word" or "step".',
    "{part}, layer {number}": 'A heading, such as "Encoder, layer 1".',
    "{first} and {second}": "Joins two names or two parts of a list.",
    "{formula} in {places}": "places are layers (Enc) or sentences (sentence 1 and sentence 2).",
    "{formulas}, where {meanings}": 'meanings are such as "d_k = the number of columns of K".',
    "{name} is {meaning}": "meaning is a short note, without a capital or a period.",
    " ({how})": "A remark after a noun; keep the leading space where the language has one.",
}
"""Remarks for translators, by message."""
HEADER = """# {language} of attn-xl. English is the key; names in braces stay as they are.
# Names of sheets, matrices, settings and functions are not translated."""


class Found(NamedTuple):
    """A message, its plural form or "", the file it is from, and a remark for translators."""

    text: str
    plural: str
    file: str
    about: str


def is_message(text: str) -> bool:
    """Whether a text has letters besides the names in braces, or is punctuation of its own."""
    return text in (COMMA, QUOTED) or any(letter.isalpha() for letter in PLACEHOLDER.sub("", text))


def texts_in(node: ast.expr | None, assigned: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The texts that an argument may be: a literal, either side of a choice, what a name was set to."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from texts_in(node.body, assigned)
        yield from texts_in(node.orelse, assigned)
    elif isinstance(node, ast.Name):
        for value in assigned.get(node.id, []):
            if not isinstance(value, ast.Name):
                yield from texts_in(value, {})


def called(file: Path) -> Iterator[Found]:
    """The messages in the calls of a module."""
    source = file.read_text(encoding="utf-8")
    if not any(f"{call}(" in source for call in CALLS):
        return
    tree = ast.parse(source)
    name = file.relative_to(PACKAGE.parent).as_posix()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    scope_of = {id(part): function for function in functions for part in ast.walk(function)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        count = CALLS.get(node.func.id, 0)
        if len(node.args) < count or not count:
            continue
        assigned: dict[str, list[ast.expr]] = {}
        if any(isinstance(argument, ast.Name) for argument in node.args[:count]):
            for part in ast.walk(scope_of.get(id(node), ast.Module([], []))):
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    assigned.setdefault(part.targets[0].id, []).append(part.value)
        if count == 2:
            one, many = (next(texts_in(part, assigned), "") for part in node.args[:2])
            yield Found(one, many, name, COMMENTS.get(one, ""))
            continue
        for text in texts_in(node.args[0], assigned):
            yield Found(text, "", name, COMMENTS.get(text, ""))


def modules() -> Iterator[ModuleType]:
    """All modules of the rooms that declare steps and recipes."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "attn_xl."):
        if found.name.split(".")[1] in ("graph", "models", "teaching"):
            yield importlib.import_module(found.name)


def records(value: Any) -> Iterator[Step | Recipe]:
    """The steps and recipes in a value of a module: itself, or in a collection."""
    if isinstance(value, (Step, Recipe)):
        yield value
    elif isinstance(value, dict):
        for one in (*value, *value.values()):
            yield from records(one)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from records(one)


def declared(module: ModuleType) -> Iterator[Found]:
    """The messages in the steps and recipes that a module declares."""
    file = f"{module.__name__.replace('.', '/')}.py"  # wherever it is installed
    for name, value in vars(module).items():
        for record in records(value):
            if isinstance(record, Step):
                where = record.symbol or name
                for field in TEXTS_OF_STEP:
                    yield Found(getattr(record, field), "", file, f"{where}: {field}")
                for choice in record.choices:
                    yield Found(choice, "", file, f"{where}: a choice for its question")
            recipe = record if isinstance(record, Recipe) else record.recipe
            for field, text in recipe._asdict().items() if recipe else ():
                yield Found(text, "", file, f"how a cell is computed by hand: {field}")


def on_covers() -> Iterator[Found]:
    """The texts on the covers of the templates."""
    for file in sorted(TEMPLATES.glob("*.xlsx")):
        for row in load_workbook(file)["Cover"].iter_rows():
            for cell in row:
                if isinstance(cell.value, str):
                    yield Found(cell.value, "", f"templates/{file.name}", "on the Overview")


@cache
def messages() -> dict[str, list[Found]]:
    """Every message with all its places, in the order of the files."""
    found: dict[str, list[Found]] = {}
    places = [*on_covers()]
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.name != "languages.py":
            places += called(file)
    places += called(PACKAGE / "languages.py")
    for module in modules():
        places += declared(module)
    for place in places:
        if is_message(place.text):
            found.setdefault(str(place.text), []).append(place)
    return found


def template() -> Catalog:
    """The catalogue of all messages, without translations."""
    catalogue = Catalog(project="attn-xl", charset="utf-8", creation_date=START, revision_date=START)
    for text, places in messages().items():
        plural = next((place.plural for place in places if place.plural), "")
        comments = [*dict.fromkeys(place.about for place in places if place.about)][:3]
        locations = [(file, None) for file in dict.fromkeys(place.file for place in places)]
        flags = ["python-brace-format"] if PLACEHOLDER.search(text) else []
        catalogue.add((text, plural) if plural else text, None, locations, flags, comments)
    for entry in catalogue:
        entry.flags.discard("python-format")
    return catalogue


START = datetime(2026, 1, 1, tzinfo=timezone.utc)
"""The dates in the catalogues: no clock, so that the same messages give the same files."""


def path_of(language: str) -> Path:
    """The `.po` of a language."""
    return LOCALE / language / "LC_MESSAGES" / "attn_xl.po"


def updated(language: str, pot: Catalog) -> Catalog:
    """The catalogue of a language with all messages, keeping its translations."""
    path = path_of(language)
    if path.exists():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=language)
    else:
        catalogue = Catalog(locale=language, project="attn-xl", charset="utf-8")
    catalogue.update(pot, no_fuzzy_matching=True)
    catalogue.creation_date = catalogue.revision_date = START
    catalogue.fuzzy = False
    catalogue.header_comment = HEADER.format(language=LANGUAGES[language])
    return catalogue


def template_texts(pot: str) -> Iterator[str]:
    """The messages in the text of a `.pot`."""
    for entry in read_po(io.BytesIO(pot.encode("utf-8"))):
        if entry.id:
            yield entry.id[0] if isinstance(entry.id, tuple) else str(entry.id)


def as_po(catalogue: Catalog) -> bytes:
    """The bytes of a `.po` or `.pot` file."""
    file = io.BytesIO()
    write_po(file, catalogue, width=0, include_lineno=False, ignore_obsolete=False)
    lines = file.getvalue().decode("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if "Generated-By:" not in line).encode("utf-8")


def main() -> None:
    """Write all catalogues."""
    pot = template()
    pot.header_comment = HEADER.format(language="Messages")
    LOCALE.mkdir(exist_ok=True)
    (LOCALE / "attn_xl.pot").write_bytes(as_po(pot))
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        path = path_of(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        catalogue = updated(language, pot)
        path.write_bytes(as_po(catalogue))
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, catalogue)
        done = sum(1 for entry in catalogue if entry.id and all(_forms(entry.string)))
        print(f"{language}: {done} of {len(catalogue)} messages")


def _forms(string: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return string if isinstance(string, tuple) else (string or "",)


if __name__ == "__main__":
    main()
