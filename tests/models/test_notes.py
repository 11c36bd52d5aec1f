"""The line above a matrix says what it shows and what to look for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import SAMPLES

import attn_xl
from attn_xl.models import steps
from attn_xl.models.recipes import WORDS
from attn_xl.settings import Model

FILES = sorted(
    path for path in SAMPLES.glob("*.xlsx") if not path.stem.endswith(("-attention", "-similarity"))
)
LOOK_FOR = re.compile(r"[.:] (look|compare|watch|change|check|notice)\b", re.IGNORECASE)


def check(note: str) -> None:
    assert note.endswith("."), note
    assert len(note) <= 180, note
    assert 1 <= len(re.findall(r"\.(?: |$)", note)) <= 2, note
    assert LOOK_FOR.search(note), note


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_sheet_says_what_it_shows_and_what_to_look_for(path: Path) -> None:
    tables = attn_xl.read_tables(path)
    computations = [attn_xl.attend(tables)]
    if path.stem == "mouse":
        computations.append(attn_xl.attend(tables, attn_xl.Settings(model=Model.similarity)))
    for computation in computations:
        for graph in computation.values():
            for node in graph.values():
                if not (node.helper or node.scalar or node.sheet):
                    check(node.note)


def test_what_no_sample_has_says_it_too() -> None:
    for step in (steps.COMPARED, steps.OWN_MASK, steps.TEMPERED, steps.BIAS, *steps.BIASES):
        check(step.note)


def test_the_temperature_has_words_of_its_own() -> None:
    tables = attn_xl.read_tables(SAMPLES / "politics.xlsx")
    softened = attn_xl.attend(tables, attn_xl.Settings(temperature=2))["politics"]["Scaled"]
    assert softened.note == steps.TEMPERED.note != attn_xl.attend(tables)["politics"]["Scaled"].note


def test_every_entry_of_the_words_is_used() -> None:
    """By Python, or by another entry."""
    words = {path: path.read_text(encoding="utf-8") for path in WORDS.glob("*.toml")}
    code = "\n".join(p.read_text(encoding="utf-8") for p in WORDS.parents[1].rglob("*.py"))
    used = {*re.findall(r"\w+", code)}
    for text in words.values():
        used |= {*re.findall(r'^(?:like|recipe) = "(?:\w+\.)?(\w+)"$', text, re.MULTILINE)}
    for path, text in words.items():
        for name in re.findall(r"^\[(\w+)\]$", text, re.MULTILINE):
            assert name.removesuffix("_COPIED") in used, f"{path.name}: [{name}]"
